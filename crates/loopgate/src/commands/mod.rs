//! One file a sub-command, and what the services among them share.

#[cfg(unix)]
pub mod activity;
#[cfg(unix)]
pub mod approvals;
pub mod control_plane;
pub mod gateway;
pub mod openapi;
pub mod plugins;
pub mod shim;
#[cfg(unix)]
pub mod status;
pub mod up;
#[cfg(unix)]
pub mod worktrees;

use std::future::Future;
use std::process::ExitCode;

use anyhow::Context as _;
use loopgate_home::{DataDir, LogFormat, Settings};
use tokio_util::sync::CancellationToken;
use tracing_appender::non_blocking::WorkerGuard;

use crate::cli::Common;
use crate::{logging, shutdown};

/// Loopgate shares the machine with what it runs; two threads carry its own work.
const WORKER_THREADS: usize = 2;
/// Threads that wait for the disk or for a program to start; what is beyond waits for one of them.
const BLOCKING_THREADS: usize = 64;

/// Starts logging into the data directory.
fn start_log(dir: &DataDir, common: &Common, settings: &Settings) -> anyhow::Result<WorkerGuard> {
    let format = common.log_format.or(settings.log_format).unwrap_or(LogFormat::Text);
    logging::start(&dir.logs(), format).context("cannot write logs")
}

/// Runs a service to its end.
fn block_on(service: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start")?
        .block_on(service)
}

/// Waits for the service; once the stop has begun, a failsafe bounds how long it may take.
async fn serve(
    stop: CancellationToken,
    service: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<ExitCode> {
    let failsafe = tokio::spawn(async move {
        stop.cancelled().await;
        shutdown::arm_failsafe();
    });
    service.await?;
    failsafe.abort();
    Ok(ExitCode::SUCCESS)
}
