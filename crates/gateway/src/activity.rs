//! What was asked of the gateway lately: a ring in memory, filled after each answer has gone, and
//! kept in one private file across restarts.
//!
//! Never holds a body or a header; secrets in a path and sensitive values of a query are replaced
//! before anybody sees an event or it is written. That is not done with each answer: most events of a
//! busy gateway are pushed out unseen.

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

/// File of the events, in the data directory.
const FILE: &str = "desktop-activity-log.json";
/// The file is written at most this often while the gateway serves.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// Events kept.
const CAPACITY: usize = 200;
/// Members of a query whose values are never written.
const SENSITIVE: [&str; 9] =
    ["token", "secret", "password", "passwd", "key", "signature", "sig", "credential", "auth"];

/// What an event says about the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActivityKind {
    /// Any answer.
    Request,
    /// A refusal that protects the machine.
    Security,
}

/// One answered request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestRecord {
    /// Id of the event.
    pub id: Uuid,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: ActivityKind,
    /// When the request began.
    pub timestamp: String,
    /// Upper case.
    pub method: String,
    /// Path and query, cleaned.
    pub path: String,
    /// Status of the answer.
    pub status_code: u16,
    /// To the end of the answer; for a stream its whole life.
    pub duration_ms: u64,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Bytes of the body that were read; absent when it was refused unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_size_bytes: Option<u64>,
    /// Bytes of the answer's body.
    pub response_size_bytes: u64,
    /// The caller left before the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
}

/// The ring and its file.
#[derive(Debug)]
pub struct ActivityLog {
    path: PathBuf,
    events: Mutex<VecDeque<ActivityEvent>>,
    changed: Notify,
}

/// An event of the ring.
#[derive(Debug, Clone)]
enum ActivityEvent {
    /// Read from the file.
    Stored(RequestRecord),
    /// As it came.
    New(RequestEvent),
}

/// A request that was answered.
#[derive(Debug, Clone)]
struct RequestEvent {
    id: Uuid,
    kind: ActivityKind,
    began: Timestamp,
    method: Method,
    /// Path and query, as they were sent. A copy: the request's own hangs on the buffer that it was
    /// read into.
    target: Box<str>,
    status: u16,
    duration: Duration,
    /// Cleaned.
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
    /// Reads what the data directory holds of former runs. Events that cannot be read are left out.
    pub(crate) fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(FILE);
        let stored = std::fs::read(&path).ok();
        let stored = stored.and_then(|bytes| serde_json::from_slice::<ActivityFile<Vec<Value>>>(&bytes).ok());
        let events = stored.map_or_else(Vec::new, |file| file.events);
        let events = events.into_iter().filter_map(|event| serde_json::from_value(event).ok());
        let events = events.map(ActivityEvent::Stored);
        Self { path, events: Mutex::new(events.take(CAPACITY).collect()), changed: Notify::new() }
    }

    /// Keeps the file up to date, until it is dropped.
    pub(crate) async fn keep_written(self: Arc<Self>) {
        loop {
            self.changed.notified().await;
            tokio::time::sleep(WRITE_PAUSE).await;
            self.clone().write().await;
        }
    }

    /// Writes the file. One that cannot be written costs nothing but the memory of former runs.
    pub(crate) async fn write(self: Arc<Self>) {
        let written = tokio::task::spawn_blocking(move || {
            let json = serde_json::to_vec(&ActivityFile { events: self.list() })?;
            loopgate_home::files::write_private(&self.path, &json)
        });
        if let Ok(Err(error)) = written.await {
            tracing::warn!(%error, "the activity log could not be written");
        }
    }

    /// Events, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<RequestRecord> {
        let events: Vec<ActivityEvent> = self.lock().iter().cloned().collect();
        events.into_iter().map(ActivityEvent::into_activity).collect()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.lock().clear();
        self.changed.notify_one();
    }

    fn push(&self, event: RequestEvent) {
        let mut events = self.lock();
        let forgotten = if events.len() < CAPACITY { None } else { events.pop_back() };
        events.push_front(ActivityEvent::New(event));
        drop(events);
        // Freed after the lock is released.
        drop(forgotten);
        self.changed.notify_one();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<ActivityEvent>> {
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

/// The event of a request that is still being answered.
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

    /// No event comes of it: what pages ask every few seconds would push out everything else.
    pub(crate) fn discard(&mut self) {
        self.discarded = true;
    }

    /// Marks the event as a refusal that protects the machine.
    pub(crate) fn security(&mut self, detail: impl Into<String>) {
        self.kind = ActivityKind::Security;
        self.detail = Some(detail.into());
    }

    /// Wraps the answer, so that the event is written when its last byte has gone.
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

/// A body that reports its end, also when it is dropped before.
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
            let aborted = !self.ended && !self.inner.is_end_stream();
            recorder.finish(self.status, self.sent, aborted);
        }
    }
}

/// Path and query as they were sent.
fn target_of(target: &Uri) -> &str {
    target.path_and_query().map_or("/", PathAndQuery::as_str)
}

/// Path and query without secrets.
fn redact_target(target: &str) -> String {
    match target.split_once('?') {
        None => loopgate_api::redact::target(target),
        Some((path, query)) => loopgate_api::redact::target(&format!("{path}?{}", redact_query(query))),
    }
}

/// A query without the values of its sensitive members.
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
    fn sensitive_members_lose_their_values() {
        assert_eq!(
            redact_target("/api/gateway/repos?path=%2Fx&accessToken=abc&X-Amz-Signature=def"),
            "/api/gateway/repos?path=%2Fx&accessToken=[REDACTED]&X-Amz-Signature=[REDACTED]"
        );
    }

    #[test]
    fn paths_lose_their_secrets_also_encoded_ones() {
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
    fn activity_log_keeps_the_newest() {
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
    async fn events_outlive_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(ActivityLog::open(folder.path()));
        let target = "/api/gateway/repos?token=abc".parse().unwrap();
        let mut recorder = ActivityRecorder::start(&log, &Method::GET, &target);
        recorder.security("no credential provided");
        recorder.finish(401, 12, true);
        log.clone().write().await;
        let again = ActivityLog::open(folder.path());
        assert_eq!(again.list(), log.list());
        std::fs::write(folder.path().join(FILE), r#"{"events":[{"id":5},{}]}"#).unwrap();
        assert!(ActivityLog::open(folder.path()).list().is_empty());
    }
}
