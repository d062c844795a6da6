//! `loopgate connect`: gives this desktop a key of a control plane elsewhere.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use loopgate_home::{Credentials, Overrides, SettingsStore, normalize_origin};

use crate::args::CommonArgs;
use crate::home::{SETTINGS_FILE, open_dir};
use crate::{commands, onboarding};

/// Connect this desktop to the control plane of your team.
///
/// The page of the control plane shows the whole command: Settings, Desktops, "Connect a desktop". The key that this
/// desktop gets is bound to it: nobody else can use it. Start the desktop with `loopgate gateway` afterwards.
#[derive(Debug, Args)]
pub struct ConnectArgs {
    /// Origin of the control plane, for example https://loopgate.example.com.
    origin: String,
    /// What the page gave out for this desktop. Good for an hour, and once.
    #[arg(long, value_name = "ID")]
    attempt: String,
    /// Origin of the page, where it is not the control plane's.
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
        commands::block_on(onboarding::claim(&origin, page, &self.attempt, &credentials))?;
        settings.update(|settings| {
            settings.api_origin = Some(origin.clone());
            // Both follow the control plane's where nothing else is said.
            settings.web_app_origin.clone_from(&web_origin);
            settings.relay_origin = None;
            settings.cloud_connection_enabled = true;
        })?;
        println!("This desktop has a key of {origin}, and stays connected while `loopgate gateway` runs.");
        if settings.get().sandbox_base_directory.is_none() {
            println!(
                "Name the directory of your repositories at its start: loopgate gateway --sandbox ~/src"
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
