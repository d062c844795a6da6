//! Server-sent events over anything that is appended and announced.
//!
//! A stream subscribes first and reads the store after, batch by batch, so it neither misses nor
//! repeats an event. It ends after the last event, with its reader, with the session or key that
//! opened it, after half an hour, or with the control plane.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::Stream;
use http::{HeaderMap, StatusCode};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use crate::app::ControlPlaneState;
use crate::auth::Caller;
use crate::bus::Topic;
use crate::credentials::header::header;
use crate::error::ApiError;
use crate::store::Store;

/// A comment is sent this often, so that no proxy takes the stream for dead.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// The longest life of a stream.
const MAX_LIFE: Duration = Duration::from_secs(30 * 60);
/// Time between two polls of the store, in addition to those after a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Events between the store and a slow reader.
const CHANNEL_CAPACITY: usize = 64;

/// What a source has read after a position.
pub struct EventBatch {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// Position after them.
    pub position: i64,
    /// Whether nothing follows.
    pub ended: bool,
}

/// Reads what comes after a position.
pub trait EventReader: Send + 'static {
    /// The next batch; empty when there is nothing yet.
    fn read(&mut self, after: i64) -> impl Future<Output = Result<EventBatch, sea_orm::DbErr>> + Send;
}

/// Answers `caller` with a stream of everything after a position.
pub fn follow(
    app: &ControlPlaneState,
    caller: Caller,
    wake: watch::Receiver<()>,
    source: impl EventReader,
    after: i64,
) -> Response {
    let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
    let shutdown = app.shutdown.clone();
    let credential = credential_end(app.store.clone(), caller, app.bus.subscribe(Topic::Credentials));
    app.tasks.spawn(async move {
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = credential => {}
            _ = tokio::time::timeout(MAX_LIFE, pump(sender, wake, source, after)) => {}
        }
    });
    respond(ReceiverStream::new(receiver))
}

/// Waits until the caller's credential no longer counts.
async fn credential_end(store: Store, caller: Caller, mut wake: watch::Receiver<()>) {
    loop {
        match caller.is_current(&store).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(%error, "the credential of a stream could not be checked"),
        }
        // Another instance of the control plane may have revoked it, or its time has come.
        let _ = tokio::time::timeout(POLL_INTERVAL, wake.changed()).await;
    }
}

async fn pump(
    sender: mpsc::Sender<Result<Event, Infallible>>,
    mut wake: watch::Receiver<()>,
    mut source: impl EventReader,
    mut after: i64,
) {
    loop {
        match source.read(after).await {
            Ok(batch) => {
                let idle = batch.events.is_empty();
                after = batch.position;
                for event in batch.events {
                    if sender.send(Ok(event)).await.is_err() {
                        return;
                    }
                }
                if batch.ended {
                    return;
                }
                if !idle {
                    continue;
                }
            }
            Err(error) => {
                tracing::error!(%error, "a stream could not be read");
                let failure = r#"{"type":"error","code":"replay_failed","message":"The events could not be read. Reload to try again."}"#;
                let _ = sender.send(Ok(Event::default().data(failure))).await;
                return;
            }
        }
        tokio::select! {
            () = sender.closed() => return,
            changed = wake.changed() => if changed.is_err() { return },
            // Another instance of the control plane may have appended.
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}

fn respond(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let keepalive = KeepAlive::new().interval(KEEPALIVE).text("keepalive");
    // Proxies must neither store nor collect the stream.
    let headers = [("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no")];
    (headers, Sse::new(events).keep_alive(keepalive)).into_response()
}

/// The error response of a stream: plain text, because `EventSource` shows no body to a page.
pub fn plain(error: &ApiError) -> Response {
    let text = match error.status {
        StatusCode::UNAUTHORIZED => "Unauthorized",
        StatusCode::FORBIDDEN => "Forbidden",
        StatusCode::INTERNAL_SERVER_ERROR => "Internal Server Error",
        _ => error.body.error.as_str(),
    };
    (error.status, text.to_owned()).into_response()
}

/// Where a reader that comes back has stopped.
pub fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    header(headers, "last-event-id").map(str::trim).filter(|id| !id.is_empty())
}
