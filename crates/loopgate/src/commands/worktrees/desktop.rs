//! The Loopgate whose worktrees are meant: one that runs, else its records.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use loopgate_gateway::CONTROL_SOCKET;
use loopgate_home::{Credentials, DataDir, Overrides, Repos, Sandbox, SettingsStore};
use loopgate_runtime::{Runtime, RuntimeConfig, RuntimeTiming};
use loopgate_tools::programs::Programs;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::HomeArgs;
use crate::commands;
use crate::control_client::ControlClient;
use crate::home::SETTINGS_FILE;

/// Time to measure and to remove: both walk whole trees.
const WALK_LIMIT: Duration = Duration::from_secs(600);

/// Which desktop is meant.
#[derive(Debug, Args)]
pub(super) struct DesktopSelection {
    #[command(flatten)]
    home: HomeArgs,
    /// The directory that repositories and worktrees are in, while no Loopgate runs. Default: that of
    /// the settings.
    #[arg(long, env = "LOOPGATE_SANDBOX", value_name = "DIR", global = true, help_heading = "Settings")]
    sandbox: Option<PathBuf>,
}

impl DesktopSelection {
    /// Asks the Loopgate that runs; while none does, `here` answers from its records.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        verb: &str,
        params: &Value,
        here: impl AsyncFnOnce(Arc<Runtime>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let data_dir = self.home.data_dir()?;
        if data_dir.join(CONTROL_SOCKET).exists()
            && let Ok(mut client) = ControlClient::connect(&data_dir)
        {
            return client.ask_slowly(verb, params, WALK_LIMIT);
        }
        commands::block_on(async {
            let (_lock, runtime) = self.open().await?;
            here(runtime).await
        })
    }

    /// Opens the records exclusively.
    async fn open(&self) -> anyhow::Result<(DataDir, Arc<Runtime>)> {
        let dir = DataDir::open(&self.home.data_dir()?)?;
        let sandbox = self.sandbox.as_ref().map(std::path::absolute).transpose();
        let sandbox_base_directory = sandbox.context("the sandbox is no usable path")?;
        let overrides = Overrides { sandbox_base_directory, ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&dir.file(SETTINGS_FILE), overrides)?);
        let sandbox = Arc::new(Sandbox::new(settings.clone(), dir.path()));
        ensure!(
            sandbox.base().is_some(),
            "no Loopgate has run with the data directory {}; start one with loopgate up",
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
            loopgate_exe: std::env::current_exe().context("cannot tell where this program lies")?,
            plugin_dirs: PathBuf::new(),
            version: loopgate_api::DESKTOP_VERSION.to_owned(),
            timing: RuntimeTiming::default(),
        });
        let runtime = runtime.await.context("cannot open the records of this desktop")?;
        Ok((dir, runtime))
    }
}
