//! The error type of the HTTP interface and its JSON shape.
//!
//! Every refusal of the pipeline and every failure of a handler is an [`HttpError`]. No other code in this
//! crate writes an error body.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONNECTION};
use http::{HeaderValue, Method, StatusCode};
use loopgate_api::error::{DIRECTORY_NOT_ALLOWED, ErrorBody, INVALID_JSON_BODY};
use loopgate_home::AccessDenied;
use serde_json::Value;

use crate::response::NO_STORE;

/// Result of a handler that responds with JSON.
pub(crate) type JsonResult<T> = Result<Json<T>, HttpError>;

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// Response extension that marks the refusal of a path outside of the sandbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutsideSandbox;

/// An error response, before it is serialized.
#[derive(Debug, Clone)]
pub(crate) struct HttpError {
    pub(crate) status: StatusCode,
    pub(crate) body: Box<ErrorBody>,
    /// Close the connection: the remainder of the request will not be read.
    pub(crate) close: bool,
    /// Forbid caches from storing the response.
    pub(crate) no_store: bool,
    /// Count the response as a blocked access (see [`OutsideSandbox`]).
    outside_sandbox: bool,
}

impl HttpError {
    /// Creates an error with the default code of its status.
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self::with_body(status, ErrorBody::new(status.as_u16(), error))
    }

    pub(crate) fn with_body(status: StatusCode, body: ErrorBody) -> Self {
        let outside_sandbox = body.code == DIRECTORY_NOT_ALLOWED;
        Self { status, body: Box::new(body), close: false, no_store: false, outside_sandbox }
    }

    /// 400 for a missing member, parameter or file.
    pub(crate) fn missing_field(error: impl Into<String>) -> Self {
        Self::with_body(StatusCode::BAD_REQUEST, ErrorBody::missing_field(error))
    }

    /// 400 for a body that cannot be parsed.
    pub(crate) fn invalid_json() -> Self {
        Self::bad_request("Invalid JSON body").with_code(INVALID_JSON_BODY)
    }

    /// 403 for a process that was not started by Loopgate.
    pub(crate) fn process_not_managed() -> Self {
        Self::forbidden("process not managed by this gateway").with_code("process_not_managed")
    }

    /// 400 for a path that cannot be percent-decoded.
    pub(crate) fn malformed_path() -> Self {
        Self::bad_request("malformed path").with_code("malformed_path")
    }

    pub(crate) fn bad_request(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub(crate) fn forbidden(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    pub(crate) fn directory_not_allowed() -> Self {
        Self::with_body(StatusCode::FORBIDDEN, ErrorBody::directory_not_allowed())
    }

    pub(crate) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// 500 with a message of the route.
    pub(crate) fn failed(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    pub(crate) fn not_configured() -> Self {
        Self::with_body(StatusCode::SERVICE_UNAVAILABLE, ErrorBody::not_configured())
    }

    pub(crate) fn internal() -> Self {
        Self::failed("internal error").with_code("internal_error")
    }

    pub(crate) fn route_not_found() -> Self {
        Self::not_found("route not found").with_code("route_not_found")
    }

    pub(crate) fn not_implemented(method: &Method, path: &str) -> Self {
        Self::with_body(StatusCode::NOT_IMPLEMENTED, ErrorBody::not_implemented())
            .with("method", method.as_str())
            .with("path", path)
    }

    /// 500 with a message of the route, followed by the cause with secrets redacted.
    pub(crate) fn operation(message: &str, cause: &dyn std::fmt::Display) -> Self {
        let cause = loopgate_api::redact::cause(&cause.to_string());
        Self::failed(format!("{message}: {cause}"))
    }

    /// Overrides the default code of the status.
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
}

/// All refusals of the sandbox produce the same response.
impl From<AccessDenied> for HttpError {
    fn from(_: AccessDenied) -> Self {
        Self::directory_not_allowed()
    }
}

/// The pipeline adds the CORS headers later.
impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let mut reply = (self.status, Json(&self.body)).into_response();
        if self.outside_sandbox {
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
