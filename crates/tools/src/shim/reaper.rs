//! Termination of processes by a variable in their environment: those of a loop whose shim was killed, and those
//! that left the process group of a command.

use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::names::env;
use tokio::time::sleep;

use super::descendants::{Termination, marked_processes};

/// Interval between checks of the processes that were signalled.
const POLL: Duration = Duration::from_millis(50);

/// The result of [`reap`] and [`reap_marked`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReapReport {
    /// Number of processes that were running at the first check.
    pub running: usize,
    /// Number of processes that survived SIGKILL.
    pub survivors: usize,
}

/// Terminates every process of this user with the loop id in its environment, and its descendants: SIGTERM,
/// the grace period, SIGKILL. A running shim has the id in its environment as well, and is terminated too.
pub async fn reap(loop_id: LoopId, grace: Duration) -> ReapReport {
    reap_marked(env::LOOP_ID, &loop_id.to_string(), grace).await
}

/// Terminates every process of this user with `name=value` in its environment, and its descendants, except this
/// process: SIGTERM, the grace period, SIGKILL.
pub async fn reap_marked(name: &'static str, value: &str, grace: Duration) -> ReapReport {
    let mut termination = Termination::within(grace);
    let mut initially_running = None;
    loop {
        // Reads the environment of every process, which blocks. The state moves to the blocking thread and
        // back.
        let value = value.to_owned();
        let signalled = tokio::task::spawn_blocking(move || {
            let mut running = marked_processes(name, &value);
            running.retain(|process| process.running);
            termination.signal(&running);
            (running.len(), termination)
        });
        let Ok((running, returned)) = signalled.await else { return ReapReport { running: 0, survivors: 0 } };
        termination = returned;
        let initially_running = *initially_running.get_or_insert(running);
        if running == 0 || termination.timed_out() {
            return ReapReport { running: initially_running, survivors: running };
        }
        sleep(POLL).await;
    }
}
