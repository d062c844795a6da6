//! `loopgate shim`: supervises one process of a loop.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

/// Supervise one process of a loop. Started by the runtime, not for manual use.
#[derive(Debug, Args)]
pub struct ShimArgs {
    /// File that describes the process to start.
    spec: PathBuf,
}

impl ShimArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        Ok(loopgate_tools::shim::main(&self.spec))
    }
}
