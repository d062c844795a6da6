//! Opens the data directory and its files, in the order that a start requires.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use loopgate_home::{
    Credentials, DataDir, DataDirError, Overrides, Repos, SETTINGS_FILE, Sandbox, Settings, SettingsStore,
    normalize_origin,
};

use crate::args::{CommonArgs, DesktopArgs};

/// The open data directory, and the services on its files that several components share.
pub struct DesktopHome {
    /// The directory, locked until this value is dropped.
    pub dir: DataDir,
    /// Effective settings, with overrides by flags and environment variables.
    pub settings: Arc<SettingsStore>,
    /// Restricts paths in requests to the base directory.
    pub sandbox: Arc<Sandbox>,
    /// Managed repositories of this desktop.
    pub repos: Arc<Repos>,
    /// Identity, API key and signing key of the gateway.
    pub credentials: Arc<Credentials>,
}

impl DesktopHome {
    /// Opens the files of the directory. Flags override stored settings. Fails when the sandbox and the data
    /// directory overlap.
    pub fn open(dir: DataDir, desktop: &DesktopArgs) -> anyhow::Result<Self> {
        let settings = Arc::new(settings(&dir, desktop)?);
        if let Some(base) = &settings.get().sandbox_base_directory {
            dir.check_no_overlap(base)?;
        }
        let sandbox = Arc::new(Sandbox::new(settings.clone(), dir.path()));
        let repos = Arc::new(Repos::new(settings.clone(), sandbox.clone()));
        let credentials = Arc::new(Credentials::open(&dir).context("cannot read the keys of this desktop")?);
        Ok(Self { dir, settings, sandbox, repos, credentials })
    }
}

/// Opens and locks the data directory given by flag, environment variable or platform default.
///
/// # Errors
/// Fails with [`DataDirError::InUse`] when another Loopgate holds the lock.
pub fn open_dir(common: &CommonArgs) -> Result<DataDir, DataDirError> {
    DataDir::open(&common.home.data_dir()?)
}

/// Returns the stored settings, without overrides.
pub fn stored_settings(dir: &DataDir) -> anyhow::Result<Arc<Settings>> {
    Ok(SettingsStore::open(&dir.file(SETTINGS_FILE), Overrides::default())?.get())
}

/// Opens the settings with the overrides of flags and environment variables.
pub fn settings(dir: &DataDir, desktop: &DesktopArgs) -> anyhow::Result<SettingsStore> {
    let absolute = |path: &PathBuf| {
        std::path::absolute(path).context("--sandbox (LOOPGATE_SANDBOX) must be the path of a directory")
    };
    let relay_origin = std::env::var("LOOPGATE_RELAY_ORIGIN").ok();
    // Validated here, so that the error names the flag and the variable.
    for (origin, setting) in [
        (&desktop.api_origin, "--api-origin (LOOPGATE_AUTH_API_ORIGIN)"),
        (&desktop.web_origin, "--web-origin (LOOPGATE_WEB_APP_ORIGIN)"),
        (&relay_origin, "LOOPGATE_RELAY_ORIGIN"),
    ] {
        origin.as_deref().map(|origin| normalize_origin(origin, setting)).transpose()?;
    }
    let overrides = Overrides {
        sandbox_base_directory: desktop.sandbox.as_ref().map(absolute).transpose()?,
        api_origin: desktop.api_origin.clone(),
        relay_origin,
        web_app_origin: desktop.web_origin.clone(),
        max_loops: desktop.max_loops,
        min_free_memory_mb: desktop.min_free_memory,
        wait_for_limits: desktop.wait_for_limits,
        loop_model: desktop.loop_model.clone(),
        loop_effort: desktop.loop_effort.clone(),
        max_spend_usd: desktop.max_spend_usd,
        notify_desktop: desktop.notify_desktop,
        notify_command: desktop.notify_command.clone(),
        prod_origins_only: flag_variable("LOOPGATE_LOCAL_GATEWAY_PROD_ORIGINS_ONLY"),
    };
    Ok(SettingsStore::open(&dir.file(SETTINGS_FILE), overrides)?)
}

/// Reads an environment variable that enables a mode. Only the exact value `1` does.
pub fn flag_variable(name: &str) -> Option<bool> {
    std::env::var(name).ok().filter(|value| value == "1").map(|_| true)
}
