//! Termination of processes by a variable in their environment: those of a loop whose shim was killed, and those
//! that left the process group of a command or of a deployment.

use std::io;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::names::env;
use tokio::time::sleep;

use super::descendants::{Termination, marked_processes};

/// Interval between checks of the processes that were signalled.
const POLL: Duration = Duration::from_millis(50);

/// The result of [`reap`] and [`reap_marked`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReapReport {
    /// Number of processes that were running at the first check.
    pub running: usize,
    /// Pids of the processes that survived SIGKILL.
    pub survivors: Vec<u32>,
    /// Whether the last check succeeded. Otherwise, processes may be running that are not in `survivors`.
    pub verified: bool,
}

impl ReapReport {
    /// Returns whether no process is running.
    #[must_use]
    pub fn all_ended(&self) -> bool {
        self.verified && self.survivors.is_empty()
    }
}

/// Terminates every process of this user with the loop id in its environment, and its descendants: SIGTERM,
/// the grace period, SIGKILL. A running shim has the id in its environment as well, and is terminated too.
pub async fn reap(loop_id: LoopId, grace: Duration) -> ReapReport {
    reap_marked(env::LOOP_ID, &loop_id.to_string(), grace).await
}

/// Terminates every process of this user with `name=value` in its environment, and its descendants, except this
/// process: SIGTERM, the grace period, SIGKILL. Processes that survive, and a check that fails, are also logged.
pub async fn reap_marked(name: &'static str, value: &str, grace: Duration) -> ReapReport {
    let report = terminate_marked(name, value, grace).await;
    if !report.all_ended() {
        tracing::warn!(
            mark = name,
            value,
            survivors = ?report.survivors,
            verified = report.verified,
            "processes may still be running"
        );
    }
    report
}

async fn terminate_marked(name: &'static str, value: &str, grace: Duration) -> ReapReport {
    let mut termination = Termination::within(grace);
    let mut initially_running = None;
    let mut survivors = Vec::new();
    loop {
        // Reads the environment of every process, which blocks. The state moves to the blocking thread and
        // back.
        let value = value.to_owned();
        let check = tokio::task::spawn_blocking(move || {
            let running = marked_processes(name, &value).map(|mut running| {
                running.retain(|process| process.running);
                // A descendant without the mark is not found any more when its parent has exited.
                running.extend(termination.remaining());
                running.sort_unstable_by_key(|process| process.pid);
                running.dedup();
                termination.signal(&running);
                running
            });
            (running, termination)
        });
        let checked = check.await;
        let verified = matches!(checked, Ok((Ok(_), _)));
        if let Ok((Ok(running), _)) = &checked {
            survivors = running.iter().map(|process| process.pid).collect();
        }
        let running = *initially_running.get_or_insert(survivors.len());
        match checked {
            // The runtime shuts down, or the check panicked and took the state with it.
            Err(_) => return ReapReport { running, survivors, verified },
            Ok((_, returned)) if (verified && survivors.is_empty()) || returned.timed_out() => {
                return ReapReport { running, survivors, verified };
            }
            Ok((_, returned)) => termination = returned,
        }
        sleep(POLL).await;
    }
}

/// Returns the pids of the running processes of this user with `name=value` in their environment, and of their
/// descendants, except this process. Blocks.
///
/// # Errors
/// Fails when the process table cannot be read.
pub fn marked_pids(name: &str, value: &str) -> io::Result<Vec<u32>> {
    let processes = marked_processes(name, value)?;
    Ok(processes.into_iter().filter(|process| process.running).map(|process| process.pid).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_check_does_not_report_that_processes_have_ended() {
        // A runtime that has shut down does not run the blocking task of the check.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let handle = runtime.handle().clone();
        drop(runtime);
        let _entered = handle.enter();
        let reaping = reap_marked("PATH", "no process has this value", Duration::ZERO);
        let report = futures_util::FutureExt::now_or_never(reaping).unwrap();
        assert!(!report.verified && !report.all_ended(), "{report:?}");
    }
}
