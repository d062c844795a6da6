//! Ends the processes of a loop whose shim was itself killed.

use std::time::Duration;

use loopgate_api::ids::LoopId;
use tokio::time::sleep;

use super::descendants::{Termination, processes_of_loop};

/// How often those that were signalled are looked at.
const POLL: Duration = Duration::from_millis(50);

/// What [`reap`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReapReport {
    /// Processes that were running.
    pub found: usize,
    /// Processes that did not end.
    pub left: usize,
}

/// Ends every process of this user that carries the loop's mark in its environment, and what
/// descends from it: SIGTERM, the grace period, SIGKILL. Only for a loop whose shim is gone.
pub async fn reap(loop_id: LoopId, grace: Duration) -> ReapReport {
    let mut ending = Termination::within(grace);
    let mut found = None;
    loop {
        let looked = tokio::task::spawn_blocking(move || {
            let mut running = processes_of_loop(loop_id);
            running.retain(|process| process.running);
            ending.signal(&running);
            (running.len(), ending)
        });
        let Ok((running, back)) = looked.await else { return ReapReport { found: 0, left: 0 } };
        ending = back;
        let found = *found.get_or_insert(running);
        if running == 0 || ending.hopeless() {
            return ReapReport { found, left: running };
        }
        sleep(POLL).await;
    }
}
