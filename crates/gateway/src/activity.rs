//! Log of recent requests: a ring buffer in memory, filled when a response ends, and persisted to one private
//! file.
//!
//! Records contain neither bodies nor headers. Secrets in paths and queries are redacted when records are
//! read or written to the file. Redaction is deferred until then because most records of a busy gateway are
//! evicted before anyone reads them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{Method, Uri};
use http_body::{Body as HttpBody, Frame, SizeHint};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;
use uuid::Uuid;

/// Name of the file in the data directory.
const FILE: &str = "desktop-activity-log.json";
/// Minimum time between two writes of the file, so that a busy gateway does not rewrite it for each request.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// Number of records in the ring. Older records are evicted.
const CAPACITY: usize = 200;
/// Query members whose values are redacted. A name matches when it contains one of these words.
const SENSITIVE: [&str; 9] =
    ["token", "secret", "password", "passwd", "key", "signature", "sig", "credential", "auth"];

/// Class of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActivityKind {
    Request,
    /// A request that was refused in order to protect the machine.
    Security,
}

/// Any request that is not a security refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestRecord {
    /// UUIDv7 of the record.
    pub id: Uuid,
    #[serde(rename = "type")]
    pub kind: ActivityKind,
    /// ISO 8601 timestamp of the start of the request.
    pub timestamp: String,
    /// HTTP method in upper case.
    pub method: String,
    /// Path and query with secrets redacted.
    pub path: String,
    /// Status code of the response.
    pub status_code: u16,
    /// Milliseconds until the end of the response; for a stream, until it ends.
    pub duration_ms: u64,
    /// Reason of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Bytes of the request body that were read. Absent when the request was refused before its body was
    /// read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_size_bytes: Option<u64>,
    /// Bytes of the response body.
    pub response_size_bytes: u64,
    /// The client disconnected before the end of the response.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
}

/// Ring of recent requests and the file that persists it.
#[derive(Debug)]
pub struct ActivityLog {
    path: PathBuf,
    events: Mutex<VecDeque<ActivityEvent>>,
    changed: Notify,
}

/// An element of the ring.
#[derive(Debug, Clone)]
enum ActivityEvent {
    /// Loaded from the file, already redacted.
    Stored(RequestRecord),
    /// Recorded by this process, not yet redacted.
    New(RequestEvent),
}

/// A finished request, not yet redacted.
#[derive(Debug, Clone)]
struct RequestEvent {
    id: Uuid,
    kind: ActivityKind,
    began: Timestamp,
    method: Method,
    /// Path and query as received. Copied, because a slice of the `Uri` would keep the whole read buffer of
    /// the connection allocated.
    target: Box<str>,
    status: u16,
    duration: Duration,
    /// Reason of a refusal, already redacted.
    detail: Option<String>,
    request_size: Option<u64>,
    sent: u64,
    aborted: bool,
}

#[derive(Serialize, Deserialize)]
struct ActivityFile<T> {
    events: T,
}

impl ActivityLog {
    /// Loads the records of previous processes. Records that cannot be parsed are skipped.
    pub(crate) fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(FILE);
        let content = std::fs::read(&path).ok();
        let file = content.and_then(|bytes| serde_json::from_slice::<ActivityFile<Vec<Value>>>(&bytes).ok());
        let events = file.map_or_else(Vec::new, |file| file.events);
        let events = events.into_iter().filter_map(|event| serde_json::from_value(event).ok());
        let events = events.map(ActivityEvent::Stored);
        Self { path, events: Mutex::new(events.take(CAPACITY).collect()), changed: Notify::new() }
    }

    /// Writes changes to the file until the future is dropped.
    pub(crate) async fn persist_changes(self: Arc<Self>) {
        loop {
            self.changed.notified().await;
            // Changes within the pause are written together.
            tokio::time::sleep(WRITE_PAUSE).await;
            self.clone().write().await;
        }
    }

    /// Writes the file. Best-effort: a failed write only loses the log at the next start.
    pub(crate) async fn write(self: Arc<Self>) {
        let result = tokio::task::spawn_blocking(move || {
            let json = serde_json::to_vec(&ActivityFile { events: self.list() })?;
            loopgate_home::files::write_private(&self.path, &json)
        });
        if let Ok(Err(error)) = result.await {
            tracing::warn!(%error, "failed to write the activity log");
        }
    }

    /// Returns the records, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<RequestRecord> {
        // Cloned under the lock, redacted outside of it: redaction is slow and requests wait for the lock.
        let events: Vec<ActivityEvent> = self.lock().iter().cloned().collect();
        events.into_iter().map(ActivityEvent::into_activity).collect()
    }

    pub fn clear(&self) {
        self.lock().clear();
        self.changed.notify_one();
    }

    fn push(&self, event: RequestEvent) {
        let mut events = self.lock();
        let evicted = if events.len() < CAPACITY { None } else { events.pop_back() };
        events.push_front(ActivityEvent::New(event));
        drop(events);
        // Deallocated after the lock is released, to keep the critical section short.
        drop(evicted);
        self.changed.notify_one();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<ActivityEvent>> {
        // Each change under the lock is a single call, so a panic leaves the ring consistent.
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActivityEvent {
    fn into_activity(self) -> RequestRecord {
        match self {
            Self::Stored(event) => event,
            Self::New(event) => event.into_activity(),
        }
    }
}

impl RequestEvent {
    fn into_activity(self) -> RequestRecord {
        RequestRecord {
            id: self.id,
            kind: self.kind,
            timestamp: loopgate_api::time::iso(self.began),
            method: self.method.to_string(),
            path: redact_target(&self.target),
            status_code: self.status,
            duration_ms: u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            detail: self.detail,
            request_size_bytes: self.request_size,
            response_size_bytes: self.sent,
            aborted: self.aborted,
        }
    }
}

/// Collects the record of a request that is in flight.
#[derive(Debug)]
pub(crate) struct ActivityRecorder {
    log: Arc<ActivityLog>,
    began: Instant,
    timestamp: Timestamp,
    method: Method,
    target: Uri,
    pub(crate) kind: ActivityKind,
    pub(crate) detail: Option<String>,
    pub(crate) request_size: Option<u64>,
    discarded: bool,
}

impl ActivityRecorder {
    pub(crate) fn start(log: &Arc<ActivityLog>, method: &Method, target: &Uri) -> Self {
        Self {
            log: log.clone(),
            began: Instant::now(),
            timestamp: Timestamp::now(),
            method: method.clone(),
            target: target.clone(),
            kind: ActivityKind::Request,
            detail: None,
            request_size: None,
            discarded: false,
        }
    }

    /// Records nothing. Used for endpoints that pages poll every few seconds: they would evict all other
    /// records.
    pub(crate) fn discard(&mut self) {
        self.discarded = true;
    }

    /// Marks the record as a security refusal.
    pub(crate) fn security(&mut self, detail: impl Into<String>) {
        self.kind = ActivityKind::Security;
        self.detail = Some(detail.into());
    }

    /// Wraps the response body, so that the record is written after its last byte.
    pub(crate) fn record_response(self, reply: http::Response<Body>) -> http::Response<Body> {
        if self.discarded {
            return reply;
        }
        let status = reply.status().as_u16();
        reply.map(|inner| {
            let recorded = RecordedBody { inner, recorder: Some(self), status, sent: 0, ended: false };
            Body::new(recorded)
        })
    }

    fn finish(self, status: u16, sent: u64, aborted: bool) {
        self.log.push(RequestEvent {
            id: Uuid::now_v7(),
            kind: self.kind,
            began: self.timestamp,
            method: self.method,
            target: target_of(&self.target).into(),
            status,
            duration: self.began.elapsed(),
            detail: self.detail.map(|detail| loopgate_api::redact::message(&detail)),
            request_size: self.request_size,
            sent,
            aborted,
        });
    }
}

/// Body that finishes the record on drop, whether it ended or the connection was closed early.
struct RecordedBody {
    inner: Body,
    recorder: Option<ActivityRecorder>,
    status: u16,
    sent: u64,
    ended: bool,
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => self.sent += frame.data_ref().map_or(0, |data| data.len() as u64),
            Some(Err(_)) => {}
            None => self.ended = true,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for RecordedBody {
    fn drop(&mut self) {
        if let Some(recorder) = self.recorder.take() {
            // hyper does not poll a body past its end when it knows the length, so `None` may never be seen.
            let aborted = !self.ended && !self.inner.is_end_stream();
            recorder.finish(self.status, self.sent, aborted);
        }
    }
}

fn target_of(target: &Uri) -> &str {
    target.path_and_query().map_or("/", PathAndQuery::as_str)
}

fn redact_target(target: &str) -> String {
    match target.split_once('?') {
        None => loopgate_api::redact::target(target),
        Some((path, query)) => loopgate_api::redact::target(&format!("{path}?{}", redact_query(query))),
    }
}

/// Replaces the values of sensitive members of a query by `[REDACTED]`.
pub(crate) fn redact_query(query: &str) -> String {
    query.split('&').map(redact_member).collect::<Vec<_>>().join("&")
}

fn redact_member(member: &str) -> String {
    let Some((name, _)) = member.split_once('=') else { return member.to_owned() };
    let lower = name.to_ascii_lowercase();
    if SENSITIVE.iter().any(|word| lower.contains(word)) {
        format!("{name}=[REDACTED]")
    } else {
        member.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_sensitive_query_members_are_redacted() {
        assert_eq!(
            redact_target("/api/gateway/repos?path=%2Fx&accessToken=abc&X-Amz-Signature=def"),
            "/api/gateway/repos?path=%2Fx&accessToken=[REDACTED]&X-Amz-Signature=[REDACTED]"
        );
    }

    #[test]
    fn secrets_in_paths_are_redacted_even_when_encoded() {
        for (target, shown) in [
            ("/api/gateway/x/sq0csp-a1B2c3D4e5F6g7H8i9J0k1L2/y", "/api/gateway/x/[REDACTED_TOKEN]/y"),
            ("/api/gateway/x/ghp%5Fa1B2c3D4e5F6g7H8i9J0k1L2", "/api/gateway/x/[REDACTED_GH_TOKEN]"),
            ("/x?q=ghp%255Fa1B2c3D4e5F6g7H8i9J0k1L2%250A", "/x?q=[REDACTED_GH_TOKEN] "),
            ("/x?%74oken=abc", "/x?token=[REDACTED]"),
            ("/x?url=https%3A%2F%2Fsam%3Aabc%40h%2Fy", "/x?url=https%3A%2F%2F[REDACTED]%40h%2Fy"),
            (
                "/api/gateway/repos?path=%2Fhome%2Fsam%2Fa%20b",
                "/api/gateway/repos?path=%2Fhome%2Fsam%2Fa%20b",
            ),
            (
                "/loops/0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b?sha=0123456789abcdef0123456789abcdef01234567",
                "/loops/0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b?sha=0123456789abcdef0123456789abcdef01234567",
            ),
        ] {
            assert_eq!(redact_target(target), shown);
        }
    }

    #[test]
    fn oldest_records_are_evicted() {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(ActivityLog::open(folder.path()));
        for n in 0..205 {
            let target = format!("/{n}").parse().unwrap();
            ActivityRecorder::start(&log, &Method::GET, &target).finish(200, 0, false);
        }
        let events = log.list();
        assert_eq!(events.len(), CAPACITY);
        assert_eq!(events[0].path, "/204");
        log.clear();
        assert!(log.list().is_empty());
    }

    #[tokio::test]
    async fn records_survive_a_restart_and_malformed_ones_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(ActivityLog::open(folder.path()));
        let target = "/api/gateway/repos?token=abc".parse().unwrap();
        let mut recorder = ActivityRecorder::start(&log, &Method::GET, &target);
        recorder.security("no credential provided");
        recorder.finish(401, 12, true);
        log.clone().write().await;
        let reopened = ActivityLog::open(folder.path());
        assert_eq!(reopened.list(), log.list());
        // Objects that are not records, as an incompatible version could have written them.
        std::fs::write(folder.path().join(FILE), r#"{"events":[{"id":5},{}]}"#).unwrap();
        assert!(ActivityLog::open(folder.path()).list().is_empty());
    }
}
