//! One file a sub-command, and what several of them share.

#[cfg(unix)]
pub mod activity;
pub mod agent_turn;
#[cfg(unix)]
pub mod approvals;
pub mod connect;
pub mod control_plane;
pub mod gateway;
pub mod keys;
pub mod learnings;
pub mod openapi;
pub mod plugins;
pub mod shim;
#[cfg(unix)]
pub mod status;
#[cfg(unix)]
pub mod support_bundle;
#[cfg(unix)]
pub mod trust;
pub mod up;
#[cfg(unix)]
pub mod worktrees;

use std::future::Future;
use std::time::Duration;

use anyhow::Context as _;
use loopgate_home::{DataDir, LogFormat, Settings};
use tracing_appender::non_blocking::WorkerGuard;

use crate::args::CommonArgs;
use crate::logging;

/// Loopgate shares the machine with what it runs; two threads carry its own work.
const WORKER_THREADS: usize = 2;
/// Threads that wait for the disk or for a program to start; what is beyond waits for one of them.
const BLOCKING_THREADS: usize = 64;
/// Time limit at shutdown for disk work without a waiter.
const LAST_WORK: Duration = Duration::from_secs(1);

/// Starts logging into the data directory.
fn start_log(dir: &DataDir, common: &CommonArgs, settings: &Settings) -> anyhow::Result<WorkerGuard> {
    let format = common.log_format.or(settings.log_format).unwrap_or(LogFormat::Text);
    logging::start(&dir.logs(), format).context("cannot write logs")
}

/// Runs a service, or a question, to its end.
fn block_on<T>(service: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    loopgate_gateway::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start")?;
    let ended = runtime.block_on(service);
    runtime.shutdown_timeout(LAST_WORK);
    ended
}

/// Asks the person at the terminal; without one, the answer has to be an option.
#[cfg(unix)]
fn agrees(question: &str) -> anyhow::Result<bool> {
    crate::terminal::confirm(question)?.context("there is nobody to ask; agree with --yes")
}

/// Bytes in the unit that leaves up to three digits before the point.
#[cfg(unix)]
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let (mut rest, mut unit) = (bytes.div_ceil(100), 0);
    while rest >= 10_000 && unit + 1 < UNITS.len() {
        rest /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", rest / 10, rest % 10, UNITS[unit])
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        let sizes = [0, 1, 999, 4_096, 999_949, 1_500_000, 83_250_000_000, u64::MAX];
        let said = sizes.map(size);
        let expected =
            ["0.0 kB", "0.1 kB", "1.0 kB", "4.1 kB", "1.0 MB", "1.5 MB", "83.2 GB", "18446744.0 TB"];
        assert_eq!(said, expected);
    }
}
