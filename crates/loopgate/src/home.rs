//! Opens the data directory with what is in it, in the order that a start needs.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use loopgate_home::{
    Credentials, DataDir, DataDirError, Overrides, Repos, Sandbox, Settings, SettingsStore, normalize_origin,
};

use crate::args::{CommonArgs, DesktopArgs};

/// The settings file, in the data directory.
pub const SETTINGS_FILE: &str = "settings.toml";

/// The opened data directory and everything in it that more than one room shares.
pub struct DesktopHome {
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

impl DesktopHome {
    /// Opens what is in the directory; flags are over its settings. A sandbox that reaches the
    /// directory is refused.
    pub fn open(dir: DataDir, desktop: &DesktopArgs) -> anyhow::Result<Self> {
        let settings = Arc::new(settings(&dir, desktop)?);
        if let Some(base) = &settings.get().sandbox_base_directory {
            dir.keep_apart(base)?;
        }
        let sandbox = Arc::new(Sandbox::new(settings.clone(), dir.path()));
        let repos = Arc::new(Repos::new(settings.clone(), sandbox.clone()));
        let credentials = Arc::new(Credentials::open(&dir).context("cannot read the keys of this desktop")?);
        Ok(Self { dir, settings, sandbox, repos, credentials })
    }
}

/// Opens and locks the data directory that flag, environment or platform name.
///
/// # Errors
/// See [`DataDirError`].
pub fn open_dir(common: &CommonArgs) -> Result<DataDir, DataDirError> {
    DataDir::open(&common.home.data_dir()?)
}

/// The settings of the directory alone, before any flag.
pub fn stored_settings(dir: &DataDir) -> anyhow::Result<Arc<Settings>> {
    Ok(SettingsStore::open(&dir.file(SETTINGS_FILE), Overrides::default())?.get())
}

/// The settings of the directory, with what flags and environment say over them.
pub fn settings(dir: &DataDir, desktop: &DesktopArgs) -> anyhow::Result<SettingsStore> {
    let absolute = |path: &PathBuf| {
        std::path::absolute(path).context("--sandbox (LOOPGATE_SANDBOX) must be the path of a directory")
    };
    let relay_origin = std::env::var("LOOPGATE_RELAY_ORIGIN").ok();
    for (origin, named) in [
        (&desktop.api_origin, "--api-origin (LOOPGATE_AUTH_API_ORIGIN)"),
        (&desktop.web_origin, "--web-origin (LOOPGATE_WEB_APP_ORIGIN)"),
        (&relay_origin, "LOOPGATE_RELAY_ORIGIN"),
    ] {
        origin.as_deref().map(|origin| normalize_origin(origin, named)).transpose()?;
    }
    let overrides = Overrides {
        sandbox_base_directory: desktop.sandbox.as_ref().map(absolute).transpose()?,
        api_origin: desktop.api_origin.clone(),
        relay_origin,
        web_app_origin: desktop.web_origin.clone(),
        max_loops: desktop.max_loops,
        min_free_memory_mb: desktop.min_free_memory,
        wait_for_limits: desktop.wait_for_limits,
        max_spend_usd: desktop.max_spend_usd,
        notify_desktop: desktop.notify_desktop,
        notify_command: desktop.notify_command.clone(),
        prod_origins_only: flag_variable("LOOPGATE_LOCAL_GATEWAY_PROD_ORIGINS_ONLY"),
    };
    Ok(SettingsStore::open(&dir.file(SETTINGS_FILE), overrides)?)
}

/// Only the exact value `1` switches a mode on.
pub fn flag_variable(name: &str) -> Option<bool> {
    std::env::var(name).ok().filter(|value| value == "1").map(|_| true)
}
