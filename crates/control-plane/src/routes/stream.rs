//! Server-sent events for append-only tables with change notifications.
//!
//! A stream subscribes to notifications before it reads the table in batches, so that it neither misses nor
//! repeats an event. It ends after the last event, when the client disconnects, when the credential that
//! opened it is revoked or expires, after half an hour, or on shutdown.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::Stream;
use http::{HeaderMap, StatusCode};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use uuid::Uuid;

use crate::app::ControlPlaneState;
use crate::auth::Caller;
use crate::bus::Topic;
use crate::credentials::header::header;
use crate::error::ApiError;
use crate::store::Store;

// Interval of keep-alive comments. Below the idle timeout of common proxies (30 to 60 seconds); pages consider a stream
// without any as lost after two and a half intervals.
const KEEPALIVE: Duration = Duration::from_secs(10);
// Longest lifetime of a stream. Clients reconnect with `Last-Event-ID`; the limit releases connections of
// clients that have silently disappeared.
const MAX_LIFE: Duration = Duration::from_secs(30 * 60);
// Interval between two reads without a notification: other instances of the control plane share the table,
// but not the notifications.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
// Events buffered for a slow client. The reader waits while the buffer is full (backpressure).
const CHANNEL_CAPACITY: usize = 64;

// Concurrent streams of one person. Each stream reads the database every few seconds; without a limit, the
// streams of one person could use all of its connections. A browser opens at most six connections to a host.
const MAX_STREAMS: usize = 64;

/// Number of open streams by identity, so that one person counts once in all organizations.
#[derive(Debug, Clone, Default)]
pub struct OpenStreams(Arc<Mutex<HashMap<Uuid, usize>>>);

/// An open stream, until it is dropped.
struct OpenStream {
    streams: OpenStreams,
    identity: Uuid,
}

impl OpenStreams {
    fn open(&self, identity: Uuid) -> Option<OpenStream> {
        let mut streams = self.lock();
        let open = streams.entry(identity).or_default();
        if *open >= MAX_STREAMS {
            return None;
        }
        *open += 1;
        Some(OpenStream { streams: self.clone(), identity })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, usize>> {
        // A panic under this lock leaves the map consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut streams = self.streams.lock();
        if let Some(open) = streams.get_mut(&self.identity) {
            *open -= 1;
            if *open == 0 {
                streams.remove(&self.identity);
            }
        }
    }
}

/// Events read after a position.
pub struct EventBatch {
    /// Events in order, oldest first.
    pub events: Vec<Event>,
    /// Position of the last event.
    pub position: i64,
    /// Whether no further events can follow.
    pub ended: bool,
}

/// Source of the events of one stream.
pub trait EventReader: Send + 'static {
    /// Reads the next batch after a position; empty when there are no new events.
    fn read(&mut self, after: i64) -> impl Future<Output = Result<EventBatch, sea_orm::DbErr>> + Send;
}

/// Responds with a stream of all events after a position, or with 429 when the caller has too many streams.
/// The caller subscribes `wake` before it determines the position.
pub fn follow(
    app: &ControlPlaneState,
    caller: Caller,
    wake: watch::Receiver<()>,
    source: impl EventReader,
    after: i64,
) -> Response {
    let Some(open) = app.streams.open(caller.user.identity_id) else {
        return plain(&ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "Too many open streams; close some of them",
        ));
    };
    let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
    let end = app.streams_end.clone();
    let credential = credential_end(app.store.clone(), caller, app.bus.subscribe(Topic::Credentials));
    app.tasks.spawn(async move {
        let _open = open;
        tokio::select! {
            () = end.cancelled() => {}
            () = credential => {}
            _ = tokio::time::timeout(MAX_LIFE, pump(sender, wake, source, after)) => {}
        }
    });
    respond(ReceiverStream::new(receiver))
}

/// Waits until the caller's credential is revoked or has expired.
async fn credential_end(store: Store, caller: Caller, mut wake: watch::Receiver<()>) {
    loop {
        match caller.is_current(&store).await {
            Ok(true) => {}
            Ok(false) => return,
            // A failed check keeps the stream open: a short database outage must not disconnect all clients.
            Err(error) => tracing::warn!(%error, "failed to check the credential of a stream"),
        }
        // The result is irrelevant: a timeout re-checks for expiry and for revocation by another instance.
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
                let is_empty = batch.events.is_empty();
                after = batch.position;
                for event in batch.events {
                    if sender.send(Ok(event)).await.is_err() {
                        return;
                    }
                }
                if batch.ended {
                    return;
                }
                // There may be more events than one batch: read again before waiting.
                if !is_empty {
                    continue;
                }
            }
            Err(error) => {
                tracing::error!(%error, "failed to read the events of a stream");
                let failure = r#"{"type":"error","code":"replay_failed","message":"The events could not be read. Reload to try again."}"#;
                // Best-effort: the client may have disconnected already.
                let _ = sender.send(Ok(Event::default().data(failure))).await;
                return;
            }
        }
        tokio::select! {
            () = sender.closed() => return,
            changed = wake.changed() => if changed.is_err() { return },
            // Another instance of the control plane may have appended events.
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}

fn respond(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let keepalive = KeepAlive::new().interval(KEEPALIVE).text("keepalive");
    // `no-transform` and `X-Accel-Buffering: no` keep proxies from compressing or buffering the stream.
    let headers = [("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no")];
    (headers, Sse::new(events).keep_alive(keepalive)).into_response()
}

/// Returns the error response of a stream. Plain text, because `EventSource` does not expose the body to the
/// page.
pub fn plain(error: &ApiError) -> Response {
    let text = match error.status {
        StatusCode::UNAUTHORIZED => "Unauthorized",
        StatusCode::FORBIDDEN => "Forbidden",
        StatusCode::INTERNAL_SERVER_ERROR => "Internal Server Error",
        _ => error.body.error.as_str(),
    };
    (error.status, text.to_owned()).into_response()
}

/// Returns the id of the last event that a reconnecting client received.
pub fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    header(headers, "last-event-id").map(str::trim).filter(|id| !id.is_empty())
}
