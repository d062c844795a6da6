//! `loopgate connect`: obtains a key of a remote control plane for this desktop.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use loopgate_home::{Credentials, Overrides, SettingsStore, normalize_origin};

use crate::args::CommonArgs;
use crate::home::{SETTINGS_FILE, open_dir};
use crate::{commands, onboarding};

/// Connect this desktop to your team's control plane.
///
/// The control plane's page shows the complete command: Settings, Desktops, "Connect a desktop". The key that
/// this desktop receives is bound to it and cannot be used elsewhere. Afterwards, start the desktop with
/// `loopgate gateway`.
#[derive(Debug, Args)]
pub struct ConnectArgs {
    /// Origin of the control plane, for example https://loopgate.example.com.
    origin: String,
    /// Onboarding attempt that the page created for this desktop; valid once, for one hour.
    // An id is base64url, so one in 64 begins with a hyphen.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    attempt: String,
    /// Origin of the web app, if it differs from the control plane's.
    #[arg(long, value_name = "URL")]
    web_origin: Option<String>,
    #[command(flatten)]
    common: CommonArgs,
}

impl ConnectArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let origin = normalize_origin(&self.origin, "the origin of the control plane")?;
        let web_origin = self.web_origin.map(|page| normalize_origin(&page, "--web-origin")).transpose()?;
        let dir = open_dir(&self.common)?;
        let settings = SettingsStore::open(&dir.file(SETTINGS_FILE), Overrides::default())?;
        let credentials = Credentials::open(&dir).context("cannot read the keys of this desktop")?;
        let page = web_origin.as_deref().unwrap_or(&origin);
        // Settings are written after the claim: a failed attempt leaves an existing connection unchanged.
        commands::block_on(onboarding::claim(&origin, page, &self.attempt, &credentials))?;
        settings.update(|settings| {
            settings.api_origin = Some(origin.clone());
            // Both default to the control plane's origin.
            settings.web_app_origin.clone_from(&web_origin);
            settings.relay_origin = None;
            settings.cloud_connection_enabled = true;
        })?;
        println!("This desktop now has a key of {origin}, and is connected while `loopgate gateway` runs.");
        if settings.get().sandbox_base_directory.is_none() {
            println!(
                "Pass the directory that contains your repositories at the start: loopgate gateway --sandbox ~/src"
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::cli::Cli;

    #[test]
    fn attempt_id_may_begin_with_a_hyphen() {
        for id in ["-Ab3", "--Ab3"] {
            let arguments = ["loopgate", "connect", "https://loopgate.example.com", "--attempt", id];
            assert!(Cli::try_parse_from(arguments).is_ok(), "{id}");
        }
    }
}
