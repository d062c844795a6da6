//! Sub-commands, one file each, and functions that several of them share.

#[cfg(unix)]
pub mod activity;
pub mod agent_turn;
#[cfg(unix)]
pub mod approvals;
pub mod connect;
pub mod control_plane;
pub mod gateway;
#[cfg(unix)]
pub mod inbox;
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

/// Threads of the async runtime. Two are enough for Loopgate's own work, and leave the machine to the
/// programs that it runs.
const WORKER_THREADS: usize = 2;
/// Upper bound of threads for blocking work, such as disk I/O and starting programs. Further work is queued.
const BLOCKING_THREADS: usize = 64;
/// Time that blocking work without a waiting task has to finish at exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

fn start_log(dir: &DataDir, common: &CommonArgs, settings: &Settings) -> anyhow::Result<WorkerGuard> {
    let format = common.log_format.or(settings.log_format).unwrap_or(LogFormat::Text);
    logging::start(&dir.logs(), format).context("cannot write logs")
}

/// Runs a future to completion on a new async runtime.
fn block_on<T>(service: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    // Connections and running programs take file descriptors; the soft limit is 256 on macOS and usually
    // 1,024 on Linux.
    loopgate_gateway::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    let result = runtime.block_on(service);
    runtime.shutdown_timeout(EXIT_TIMEOUT);
    result
}

/// Asks for confirmation. Fails without a terminal, where an option has to confirm.
#[cfg(unix)]
fn is_confirmed(question: &str) -> anyhow::Result<bool> {
    crate::terminal::confirm(question)?.context("no terminal to confirm on; pass --yes to confirm")
}

/// Formats a number of bytes in decimal units with one fraction digit, rounded up.
#[cfg(unix)]
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    // Tenths of the unit as an integer: floating-point rounding could print "1000.0 kB".
    let (mut tenths, mut unit) = (bytes.div_ceil(100), 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn size_is_formatted_in_decimal_units() {
        let sizes = [0, 1, 999, 4_096, 999_949, 1_500_000, 83_250_000_000, u64::MAX];
        let formatted = sizes.map(size);
        let expected =
            ["0.0 kB", "0.1 kB", "1.0 kB", "4.1 kB", "1.0 MB", "1.5 MB", "83.2 GB", "18446744.0 TB"];
        assert_eq!(formatted, expected);
    }
}
