//! `loopgate gateway`: the desktop half alone.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::{Common, DesktopArgs};
use crate::commands;
use crate::desktop::Desktop;
use crate::home::{Home, open_dir, stored_settings};
use crate::screen::{self, Ready};
use crate::shutdown::Shutdown;

/// Run the desktop half alone: the gateway on loopback, and the runtime behind it.
///
/// It connects to the control plane that `--api-origin` names, when this desktop has a key for it.
#[derive(Debug, Args)]
pub struct Gateway {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    desktop: DesktopArgs,
    /// Write the gateway's port to this file, as JSON, once it answers.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
}

impl Gateway {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let dir = open_dir(&self.common)?;
        // Before anything is opened, so that what is wrong with it can be told.
        let _log = commands::start_log(&dir, &self.common, stored_settings(&dir)?.as_ref())?;
        let home = Home::open(dir, &self.desktop)?;
        commands::block_on(async {
            let shutdown = Shutdown::on_signals(&home.dir)?;
            let desktop = Desktop::open(&home, &self.desktop).await?;
            if let Some(file) = &self.ready_file {
                screen::write_ready(file, &Ready { gateway_port: desktop.port(), ..Ready::default() })?;
            }
            println!("gateway listening on 127.0.0.1:{}", desktop.port());
            shutdown.clone().bound(desktop.serve(&home, &shutdown)).await
        })
    }
}
