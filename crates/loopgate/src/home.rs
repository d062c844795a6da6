//! Opens the data directory with what lies in it, in the order that a start needs.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use loopgate_home::{Credentials, DataDir, Overrides, Repos, Sandbox, SettingsStore, default_data_dir};

use crate::cli::{Common, DesktopArgs};

/// The opened data directory and everything in it that more than one room shares.
pub struct Home {
    /// The directory; its lock is held while this lives.
    pub dir: DataDir,
    /// Settings in force.
    pub settings: Arc<SettingsStore>,
    /// The sandbox around paths from outside.
    pub sandbox: Arc<Sandbox>,
    /// Managed repositories.
    pub repos: Arc<Repos>,
    /// Identity and keys.
    pub credentials: Arc<Credentials>,
}

impl Home {
    /// Opens the directory that flags, environment or platform name. `defaults` are origins that
    /// hold where neither flag nor file says otherwise.
    pub fn open(common: &Common, desktop: &DesktopArgs, defaults: &Overrides) -> anyhow::Result<Self> {
        let dir = open_dir(common)?;
        let absolute = |path: &PathBuf| std::path::absolute(path).context("the sandbox is no usable path");
        let sandbox = desktop.sandbox.as_ref().map(absolute).transpose()?;
        let overrides = Overrides {
            sandbox_base_directory: sandbox,
            api_origin: desktop.api_origin.clone().or_else(|| defaults.api_origin.clone()),
            relay_origin: std::env::var("LOOPGATE_RELAY_ORIGIN")
                .ok()
                .or_else(|| defaults.relay_origin.clone()),
            web_app_origin: desktop.web_origin.clone().or_else(|| defaults.web_app_origin.clone()),
            prod_origins_only: flag_variable("LOOPGATE_LOCAL_GATEWAY_PROD_ORIGINS_ONLY"),
        };
        let settings = Arc::new(SettingsStore::open(&dir.file("settings.toml"), overrides)?);
        let sandbox = Arc::new(Sandbox::new(settings.clone(), dir.path()));
        let repos = Arc::new(Repos::new(settings.clone()));
        let credentials = Arc::new(Credentials::open(&dir).context("cannot read the keys of this desktop")?);
        Ok(Self { dir, settings, sandbox, repos, credentials })
    }
}

/// Opens and locks the data directory alone.
pub fn open_dir(common: &Common) -> anyhow::Result<DataDir> {
    let path = match &common.home {
        Some(path) => path.clone(),
        None => default_data_dir()?,
    };
    Ok(DataDir::open(&path)?)
}

/// Only the exact value `1` switches a mode on.
fn flag_variable(name: &str) -> Option<bool> {
    std::env::var(name).ok().filter(|value| value == "1").map(|_| true)
}
