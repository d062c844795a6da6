//! `loopgate connect`: obtains a key of a remote control plane for this desktop.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use loopgate_home::{Credentials, Overrides, SETTINGS_FILE, SettingsStore, normalize_origin};
use secrecy::{ExposeSecret as _, SecretString};

use crate::args::CommonArgs;
use crate::home::open_dir;
use crate::{commands, onboarding};

/// Connect this desktop to your team's control plane.
///
/// The control plane's page shows the command and a one-time code: Settings, Desktops, "Connect a desktop". The
/// command asks for the code; without a terminal, it reads the code from standard input or from
/// LOOPGATE_CONNECT_CODE. The key that this desktop receives is bound to it and cannot be used elsewhere.
/// Afterwards, start the desktop with `loopgate gateway`.
#[derive(Debug, Args)]
pub struct ConnectArgs {
    /// Origin of the control plane, for example https://loopgate.example.com.
    origin: String,
    // Only to explain why it is refused: all users of the machine can read command lines.
    #[arg(long, hide = true, allow_hyphen_values = true)]
    attempt: Option<String>,
    /// Origin of the web app, if it differs from the control plane's.
    #[arg(long, value_name = "URL")]
    web_origin: Option<String>,
    #[command(flatten)]
    common: CommonArgs,
}

impl ConnectArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.attempt.is_some() {
            bail!(
                "a code on the command line can be read by other users of this machine. Create a new one on the page, and \
                 run `loopgate connect {}`, which asks for it",
                self.origin
            );
        }
        let origin = normalize_origin(&self.origin, "the origin of the control plane")?;
        let web_origin = self.web_origin.map(|page| normalize_origin(&page, "--web-origin")).transpose()?;
        let dir = open_dir(&self.common)?;
        let settings = SettingsStore::open(&dir.file(SETTINGS_FILE), Overrides::default())?;
        let credentials = Credentials::open(&dir).context("cannot read the keys of this desktop")?;
        let page = web_origin.as_deref().unwrap_or(&origin);
        let code = code()?;
        // Settings are written after the claim: a failed attempt leaves an existing connection unchanged.
        commands::block_on(onboarding::claim(&origin, page, code.expose_secret(), &credentials))?;
        settings.update(|settings| {
            settings.api_origin = Some(origin.clone());
            // Both default to the control plane's origin.
            settings.web_app_origin.clone_from(&web_origin);
            settings.relay_origin = None;
            settings.cloud_connection_enabled = true;
        })?;
        println!("This machine now has a key of {origin}, and is connected while `loopgate gateway` runs.");
        if settings.get().sandbox_base_directory.is_none() {
            println!(
                "Pass the directory that contains your repositories at the start: loopgate gateway --sandbox ~/src"
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Environment variable with the one-time code.
const CODE_VARIABLE: &str = "LOOPGATE_CONNECT_CODE";

/// Returns the code that the page shows: from the environment, from a prompt without echo, or from standard input
/// if that is no terminal.
fn code() -> anyhow::Result<SecretString> {
    let code = match std::env::var(CODE_VARIABLE) {
        Ok(code) => code,
        Err(_) if io::stdin().is_terminal() => {
            rpassword::prompt_password("Code: ").context("cannot read the code")?
        }
        Err(_) => {
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).context("cannot read the code from standard input")?;
            line
        }
    };
    let code = code.trim();
    if code.is_empty() {
        bail!("no code: copy it from the control plane's page (Settings, Machines, \"Connect a machine\")");
    }
    Ok(code.into())
}
