//! Starts queued loops in order when capacity becomes available.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Launcher;
use super::launch_queue::ANNOUNCE_INTERVAL;
use super::queue::QueueEntry;
use crate::error::LoopRequestError;
use crate::request::LoopRequest;

// No event reports that memory has become free, so it is polled while loops are queued.
const MEMORY_POLL_INTERVAL: Duration = Duration::from_secs(5);

impl Launcher {
    /// Starts queued loops in order when capacity becomes available, until the runtime stops. Must be called
    /// after recovery has counted the loops of the previous process.
    pub async fn run_queue(self: &Arc<Self>) {
        let mut reservations = self.reservations.subscribe();
        let mut settings = self.settings.subscribe();
        self.refuse_unapproved().await;
        // Renew the tokens of loops that were queued by the previous process.
        for id in self.queue.entries.ids() {
            if let Some(alive) = self.queue.entries.alive(id) {
                self.queue.keep_alive(id, alive);
            }
        }
        self.queue.entries.ready.store(true, Ordering::Release);
        loop {
            // One loop at a time: `pop` counts it as running, which the next check of the capacity includes.
            while !self.queue.entries.is_empty() && self.queue.has_capacity(0).await {
                let Some(waiting) = self.queue.entries.pop() else { break };
                self.start_queued(waiting);
            }
            for position in self.queue.entries.unannounced(ANNOUNCE_INTERVAL) {
                self.queue.announce_position(&position).await;
            }
            let poll = async {
                if self.queue.entries.is_empty() {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(MEMORY_POLL_INTERVAL).await;
            };
            tokio::select! {
                () = self.tasks.stop.cancelled() => return,
                _ = reservations.changed() => {}
                _ = settings.changed() => {}
                () = self.queue.entries.changed.notified() => {}
                () = poll => {}
            }
        }
    }

    fn start_queued(self: &Arc<Self>, waiting: QueueEntry) {
        let launcher = self.clone();
        self.tasks.spawn(async move {
            let id = waiting.id;
            let reservation = waiting.into_reservation();
            let stored = launcher.jobs.store.launch_request(id).await.unwrap_or_else(|error| {
                tracing::error!(loop_id = %id, %error, "failed to read the stored launch request");
                None
            });
            let request = stored.and_then(|stored| {
                LoopRequest::parse(stored.body.as_bytes()).ok().map(|request| (request, stored.headers))
            });
            let started = match request {
                Some((mut request, headers)) => {
                    // The token may have been renewed while the loop was queued.
                    if let Ok(token) = launcher.tokens.current(id).await {
                        request.token = token;
                    }
                    // Boxed: the future of a whole start is large.
                    let prepared =
                        Box::pin(launcher.prepare_and_spawn(&request, &headers, reservation)).await;
                    prepared.map(drop).map_err(|(refusal, reserved)| (refusal, Some(request.token), reserved))
                }
                None => Err((
                    LoopRequestError::new(500, "The stored request of the loop could not be read").into(),
                    None,
                    reservation,
                )),
            };
            if let Err((refusal, token, reserved)) = started {
                launcher.queue.refuse(id, token, &refusal).await;
                // Reserved until the end is stored: recovery must not take the loop for one that no task follows.
                drop(reserved);
            }
            launcher.queue.delete_request(id).await;
        });
    }
}
