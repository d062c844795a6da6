//! What goes back: the one error shape, and a body type that costs nothing for ready answers.
//!
//! Every refusal of the pipeline and every failure of a handler is a [`Failure`]; nothing else in
//! this crate writes an error body.

use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use loopgate_api::error::{ErrorBody, says_outside_sandbox};
use loopgate_home::Denied;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::idle::Busy;

/// `content-type` of every JSON answer; without a charset.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const CLOSE: HeaderValue = HeaderValue::from_static("close");
/// All but what a component of a URL may hold as it is.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// What a handler answers.
pub(crate) type Answer<T> = Result<Json<T>, Failure>;

/// Marks an answer that refuses a path outside of the sandbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutsideSandbox;

/// A refusal or a failure on its way to the caller.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) body: Box<ErrorBody>,
    /// The rest of the request will not be read.
    pub(crate) close: bool,
    /// Must not be kept by a cache.
    pub(crate) no_store: bool,
}

impl Failure {
    /// A failure whose `code` follows from its text and status.
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        let body = Box::new(ErrorBody::new(status.as_u16(), error));
        Self { status, body, close: false, no_store: false }
    }

    pub(crate) fn bad_request(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub(crate) fn forbidden(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    pub(crate) fn directory_not_allowed() -> Self {
        Self::forbidden("directory not allowed")
    }

    pub(crate) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// A failed handler, in the route's own words.
    pub(crate) fn failed(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    pub(crate) fn not_configured() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "Server not configured — complete onboarding")
    }

    pub(crate) fn internal() -> Self {
        Self::failed("internal error")
    }

    pub(crate) fn route_not_found() -> Self {
        Self::not_found("route not found")
    }

    pub(crate) fn not_implemented(method: &Method, path: &str) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, "operation not implemented")
            .with("method", method.as_str())
            .with("path", path)
    }

    /// A failed handler: the route's own text, followed by a cleaned cause.
    pub(crate) fn operation(what: &str, cause: &dyn std::fmt::Display) -> Self {
        let cause = loopgate_api::redact::cause(&cause.to_string());
        Self::failed(format!("{what}: {cause}"))
    }

    /// Another code than the one that follows from text and status.
    pub(crate) fn with_code(mut self, code: &str) -> Self {
        code.clone_into(&mut self.body.code);
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        *self.body = self.body.with(name, value);
        self
    }

    pub(crate) fn closing(mut self, close: bool) -> Self {
        self.close |= close;
        self
    }

    pub(crate) fn no_store(mut self) -> Self {
        self.no_store = true;
        self
    }

    /// The whole answer, without the headers that the pipeline adds to everything.
    pub(crate) fn into_reply(self) -> Response<ReplyBody> {
        let mut reply = json(serde_json::to_vec(&self.body).unwrap_or_default().into());
        *reply.status_mut() = self.status;
        if says_outside_sandbox(self.status.as_u16(), &self.body.error) {
            reply.extensions_mut().insert(OutsideSandbox);
        }
        if self.no_store {
            reply.headers_mut().insert(CACHE_CONTROL, NO_STORE);
        }
        if self.close {
            reply.headers_mut().insert(CONNECTION, CLOSE);
        }
        reply
    }
}

/// What the sandbox refuses is refused in the same words everywhere.
impl From<Denied> for Failure {
    fn from(_: Denied) -> Self {
        Self::directory_not_allowed()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        self.into_reply().map(Body::new)
    }
}

/// A path as answers show it.
pub(crate) fn shown(path: impl AsRef<Path>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

/// A text as one component of a URL.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// A 200 with a JSON document that must not be cached.
pub(crate) fn json_no_store<T: serde::Serialize>(document: &T) -> Response<ReplyBody> {
    let mut reply = json(serde_json::to_vec(document).unwrap_or_default().into());
    reply.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    reply
}

/// A JSON document that is written already, as a 200.
pub(crate) fn json(document: Bytes) -> Response<ReplyBody> {
    // With room for what the pipeline adds.
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, JSON);
    prepared(headers, document)
}

/// An answer that is ready: shared bytes and headers prepared beforehand.
pub(crate) fn prepared(headers: HeaderMap, body: Bytes) -> Response<ReplyBody> {
    let mut reply = Response::new(ReplyBody::Ready(Some(body)));
    *reply.headers_mut() = headers;
    reply
}

/// Body of an answer: bytes at hand, or a stream.
#[derive(Debug)]
pub enum ReplyBody {
    /// Everything is there; taken once.
    Ready(Option<Bytes>),
    /// Anything else; the connection counts as busy until it has gone.
    Streamed(Body, Option<InFlight>),
}

/// Keeps the connection of a streamed answer busy.
#[derive(Debug)]
pub struct InFlight(#[expect(dead_code, reason = "held for what its end does")] Busy);

impl ReplyBody {
    /// Keeps the guard until the body has gone.
    pub(crate) fn keeping(self, busy: Busy) -> Self {
        match self {
            Self::Streamed(body, _) => Self::Streamed(body, Some(InFlight(busy))),
            ready @ Self::Ready(_) => ready,
        }
    }

    /// Nothing at all.
    pub(crate) const EMPTY: Self = Self::Ready(None);
}

impl HttpBody for ReplyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.get_mut() {
            Self::Ready(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Streamed(body, _) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ready(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Self::Streamed(body, _) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ready(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            Self::Streamed(body, _) => body.size_hint(),
        }
    }
}
