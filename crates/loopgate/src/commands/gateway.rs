//! `loopgate gateway`: the desktop half alone.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::args::{CommonArgs, DesktopArgs};
use crate::banner::{self, ReadyFile};
use crate::desktop::Desktop;
use crate::home::{DesktopHome, SETTINGS_FILE, open_dir, stored_settings};
use crate::shutdown::Shutdown;
use crate::{commands, sandbox_choice};

/// Run the desktop half alone: the gateway on loopback, and the runtime behind it.
///
/// It connects to the control plane that `--api-origin` names, when this desktop has a key for it.
/// Requests are refused until set-up is complete: with a sandbox and a key (`loopgate connect` gets one of a
/// control plane elsewhere, `loopgate up` makes one, LOOPGATE_API_KEY gives one), or with
/// `onboarding_completed = true` in settings.toml.
#[derive(Debug, Args)]
pub struct GatewayArgs {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    desktop: DesktopArgs,
    /// Write the gateway's port to this file, as JSON, once it answers.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
}

impl GatewayArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let dir = open_dir(&self.common)?;
        // Before anything is opened, so that an error in it can be reported.
        let _log = commands::start_log(&dir, &self.common, stored_settings(&dir)?.as_ref())?;
        sandbox_choice::named(&dir, &self.desktop)?;
        let home = DesktopHome::open(dir, &self.desktop)?;
        commands::block_on(async {
            let shutdown = Shutdown::on_signals(&home.dir)?;
            let desktop = Desktop::open(&home, &self.desktop).await?;
            if let Some(file) = &self.ready_file {
                banner::write_ready(
                    file,
                    &ReadyFile { gateway_port: desktop.port(), ..ReadyFile::default() },
                )?;
            }
            println!("gateway listening on 127.0.0.1:{}", desktop.port());
            if !home.settings.get().setup_complete(home.credentials.api_key().is_some()) {
                println!("{}", not_set_up(&home.dir.file(SETTINGS_FILE)));
            }
            shutdown.clone().bound(desktop.serve(&home, &shutdown)).await
        })
    }
}

/// What is missing for any request to be let in.
fn not_set_up(settings: &Path) -> String {
    format!(
        "It refuses all requests until set-up is complete. One of these completes it:\n\
         - start with --sandbox DIR, after the `loopgate connect` that the page of the control plane shows, or with \
         one of its keys in LOOPGATE_API_KEY;\n\
         - run `loopgate up --sandbox DIR` once with the same data directory: it makes a key for this desktop;\n\
         - write `onboarding_completed = true` to {}, and start again.",
        settings.display()
    )
}
