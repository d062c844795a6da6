//! `loopgate shim`: supervises one process of a loop.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

/// Supervise one process of a loop. Started by the runtime, never by hand.
#[derive(Debug, Args)]
pub struct ShimArgs {
    /// File that says what to start.
    spec: PathBuf,
}

impl ShimArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        Ok(loopgate_tools::shim::main(&self.spec))
    }
}
