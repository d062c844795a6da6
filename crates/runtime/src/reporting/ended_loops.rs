//! Loops that the control plane has ended while their processes run, for example because a user cancelled
//! them and the command that kills them was lost.

use std::sync::Arc;

use loopgate_api::ids::LoopId;
use tokio::sync::mpsc;

use crate::stop::{StopMode, Stopper};

/// Sends the ids of loops that the control plane has ended to [`stop_ended`].
#[derive(Clone)]
pub(crate) struct EndedLoops(mpsc::UnboundedSender<LoopId>);

impl EndedLoops {
    pub fn new() -> (Self, mpsc::UnboundedReceiver<LoopId>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    pub fn report(&self, id: LoopId) {
        // The receiver is dropped only at shutdown; the next process learns of it from the next event.
        let _ = self.0.send(id);
    }
}

/// Stops the processes of reported loops, until all senders are dropped.
pub(crate) async fn stop_ended(mut ended: mpsc::UnboundedReceiver<LoopId>, stopper: Arc<Stopper>) {
    while let Some(id) = ended.recv().await {
        match stopper.stop_loop(id, StopMode::Cancel, stopper.timing.kill_grace).await {
            Ok(outcome) => {
                tracing::info!(loop_id = %id, ?outcome, "stopped a loop that the control plane has ended");
            }
            Err(error) => {
                tracing::warn!(loop_id = %id, %error, "cannot stop a loop that the control plane has ended");
            }
        }
    }
}
