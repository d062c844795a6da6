//! Starts the loops that wait, in their order, as places become free.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Launcher;
use super::launch_queue::ANNOUNCE_INTERVAL;
use super::queue::QueueEntry;
use crate::error::LoopRequestError;
use crate::request::LoopRequest;

/// How often memory is looked at while loops wait for it.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Launcher {
    /// Starts loops that wait, in order, as places become free. Goes on until the runtime stops;
    /// recovery must have counted the loops of an earlier process before.
    pub async fn run_queue(self: &Arc<Self>) {
        let mut given_back = self.reservations.subscribe();
        let mut settings = self.settings.subscribe();
        self.refuse_unapproved().await;
        for id in self.queue.entries.ids() {
            if let Some(alive) = self.queue.entries.alive(id) {
                self.queue.keep_alive(id, alive);
            }
        }
        self.queue.entries.ready.store(true, Ordering::Release);
        loop {
            while !self.queue.entries.is_empty() && self.queue.has_capacity(0).await {
                let Some(waiting) = self.queue.entries.pop() else { break };
                self.start_waiting(waiting);
            }
            for position in self.queue.entries.unannounced(ANNOUNCE_INTERVAL) {
                self.queue.announce_position(&position).await;
            }
            let look = async {
                if self.queue.entries.is_empty() {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            };
            tokio::select! {
                () = self.tasks.stop.cancelled() => return,
                _ = given_back.changed() => {}
                _ = settings.changed() => {}
                () = self.queue.entries.changed.notified() => {}
                () = look => {}
            }
        }
    }

    fn start_waiting(self: &Arc<Self>, waiting: QueueEntry) {
        let launcher = self.clone();
        self.tasks.spawn(async move {
            let id = waiting.id;
            let reservation = waiting.into_reservation();
            let stored = launcher.jobs.store.launch_request(id).await.unwrap_or_else(|error| {
                tracing::error!(loop_id = %id, %error, "the request of a loop could not be read");
                None
            });
            let request = stored.and_then(|stored| {
                LoopRequest::parse(stored.body.as_bytes()).ok().map(|request| (request, stored.headers))
            });
            let started = match request {
                Some((mut request, headers)) => {
                    // It may have been renewed while the loop waited.
                    if let Ok(token) = launcher.tokens.current(id).await {
                        request.token = token;
                    }
                    let prepared =
                        Box::pin(launcher.prepare_and_spawn(&request, &headers, reservation)).await;
                    prepared.map(drop).map_err(|refusal| (refusal, Some(request.token)))
                }
                None => Err((
                    LoopRequestError::new(500, "The request of the loop cannot be read any more").into(),
                    None,
                )),
            };
            if let Err((refusal, token)) = started {
                launcher.queue.refuse(id, token, &refusal).await;
            }
            launcher.queue.delete_request(id).await;
        });
    }
}
