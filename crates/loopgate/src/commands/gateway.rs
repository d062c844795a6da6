//! `loopgate gateway`: the desktop without a control plane in the same process.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use loopgate_home::SETTINGS_FILE;

use crate::args::{CommonArgs, DesktopArgs};
use crate::banner::{self, ReadyFile};
use crate::desktop::Desktop;
use crate::home::{DesktopHome, open_dir, stored_settings};
use crate::shutdown::Shutdown;
use crate::{commands, sandbox_choice};

/// Run only the desktop: the gateway on loopback and the runtime.
///
/// Connects to the control plane of `--api-origin` if this desktop has a key for it. All requests are
/// rejected until setup is complete: with a sandbox and a key (from `loopgate connect` for a remote control
/// plane, from `loopgate up`, or in LOOPGATE_API_KEY), or with `onboarding_completed = true` in
/// settings.toml.
#[derive(Debug, Args)]
pub struct GatewayArgs {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    desktop: DesktopArgs,
    /// Write the gateway's port to this file, as JSON, once the gateway listens.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
}

impl GatewayArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let dir = open_dir(&self.common)?;
        // Logging starts before the files of the data directory are opened, so that errors in them are
        // logged.
        let _log = commands::start_log(&dir, &self.common, stored_settings(&dir)?.as_ref())?;
        sandbox_choice::configured(&dir, &self.desktop)?;
        let home = DesktopHome::open(dir, &self.desktop)?;
        commands::block_on(async {
            let shutdown = Shutdown::on_signals(&home.dir, Shutdown::DESKTOP_LIMIT)?;
            let desktop = Desktop::open(&home, &self.desktop).await?;
            if let Some(file) = &self.ready_file {
                banner::write_ready(
                    file,
                    &ReadyFile { gateway_port: desktop.port(), ..ReadyFile::default() },
                )?;
            }
            println!("gateway listening on 127.0.0.1:{}", desktop.port());
            if !home.settings.get().setup_complete(home.credentials.api_key().is_some()) {
                println!("{}", setup_instructions(&home.dir.file(SETTINGS_FILE)));
            }
            shutdown.clone().bound(desktop.serve(&home, &shutdown)).await
        })
    }
}

/// Returns instructions for completing the setup.
fn setup_instructions(settings: &Path) -> String {
    format!(
        "All requests are rejected until setup is complete. Complete it in one of these ways:\n\
         - start with --sandbox DIR, after running the `loopgate connect` command that the control plane's page shows, \
         or with one of its keys in LOOPGATE_API_KEY;\n\
         - run `loopgate up --sandbox DIR` once with the same data directory, which creates a key for this desktop;\n\
         - add `onboarding_completed = true` to {} and restart.",
        settings.display()
    )
}
