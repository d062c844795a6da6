//! Clearing up after a shim that was itself killed.

use std::time::Duration;

use loopgate_api::ids::LoopId;
use tokio::time::sleep;

use super::remains::{Ending, carriers};

/// How often those that were signalled are looked at.
const POLL: Duration = Duration::from_millis(50);

/// What a sweep found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were running.
    pub found: usize,
    /// Processes that would not go.
    pub left: usize,
}

/// Ends every process of this user that carries the loop's mark in its environment, and what
/// descends from it: SIGTERM, the grace period, SIGKILL. Only for a loop whose shim is gone.
pub async fn sweep(loop_id: LoopId, grace: Duration) -> Swept {
    let mut ending = Ending::within(grace);
    let mut found = None;
    loop {
        let looked = tokio::task::spawn_blocking(move || {
            let mut running = carriers(loop_id);
            running.retain(|process| process.running);
            ending.signal(&running);
            (running.len(), ending)
        });
        let Ok((running, back)) = looked.await else { return Swept { found: 0, left: 0 } };
        ending = back;
        let found = *found.get_or_insert(running);
        if running == 0 || ending.hopeless() {
            return Swept { found, left: running };
        }
        sleep(POLL).await;
    }
}
