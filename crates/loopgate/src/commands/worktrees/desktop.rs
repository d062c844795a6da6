//! Access to a desktop's worktrees: through the running Loopgate, or through the database if none is running.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use loopgate_gateway::CONTROL_SOCKET;
use loopgate_home::{Credentials, DataDir, Overrides, Repos, SETTINGS_FILE, Sandbox, SettingsStore};
use loopgate_runtime::{Runtime, RuntimeConfig, RuntimeTiming};
use loopgate_tools::programs::Programs;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::HomeArgs;
use crate::commands;
use crate::control_client::ControlClient;

/// Timeout of measuring and of removing worktrees: both walk whole directory trees.
const WALK_TIMEOUT: Duration = Duration::from_secs(600);

/// Options that select a desktop.
#[derive(Debug, Args)]
pub(super) struct DesktopSelection {
    #[command(flatten)]
    home: HomeArgs,
    /// Directory that contains repositories and worktrees; used only if Loopgate is not running. Default: the
    /// sandbox of the settings.
    #[arg(long, env = "LOOPGATE_SANDBOX", value_name = "DIR", global = true, help_heading = "Settings")]
    sandbox: Option<PathBuf>,
}

impl DesktopSelection {
    /// Sends a request to the running Loopgate. If none is running, calls `offline` with a runtime on the
    /// database.
    pub(super) fn call<T: DeserializeOwned>(
        &self,
        verb: &str,
        params: &Value,
        offline: impl AsyncFnOnce(Arc<Runtime>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let data_dir = self.home.data_dir()?;
        // A process that was killed leaves its socket behind, so a failed connection means that none is
        // running.
        if data_dir.join(CONTROL_SOCKET).exists()
            && let Ok(mut client) = ControlClient::connect(&data_dir)
        {
            return client.call_with_timeout(verb, params, WALK_TIMEOUT);
        }
        commands::block_on(async {
            // The lock is held until the work is done: a Loopgate started in the meantime would use the same
            // worktrees.
            let (_lock, runtime) = self.open().await?;
            offline(runtime).await
        })
    }

    /// Opens the database and locks the data directory.
    async fn open(&self) -> anyhow::Result<(DataDir, Arc<Runtime>)> {
        let dir = DataDir::open(&self.home.data_dir()?)?;
        let sandbox = self.sandbox.as_ref().map(std::path::absolute).transpose();
        let sandbox_base_directory = sandbox.context("the path of the sandbox is invalid")?;
        let overrides = Overrides { sandbox_base_directory, ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&dir.file(SETTINGS_FILE), overrides)?);
        let sandbox = Arc::new(Sandbox::new(settings.clone(), dir.path()));
        ensure!(
            sandbox.base().is_some(),
            "no sandbox is configured in the data directory {}; start Loopgate with loopgate up, or pass --sandbox",
            dir.path().display()
        );
        let credentials = Credentials::open(&dir).context("cannot read the keys of this desktop")?;
        let runtime = Runtime::open(RuntimeConfig {
            data_dir: dir.path().to_owned(),
            repos: Arc::new(Repos::new(settings.clone(), sandbox.clone())),
            credentials: Arc::new(credentials),
            programs: Arc::new(Programs::new(settings.clone())),
            settings,
            sandbox,
            api_origin: None,
            loopgate_exe: std::env::current_exe().context("cannot determine the path of this executable")?,
            plugin_dirs: PathBuf::new(),
            timing: RuntimeTiming::default(),
        });
        let runtime = runtime.await.context("cannot open the database of this desktop")?;
        Ok((dir, runtime))
    }
}
