//! The error type of the HTTP handlers, and its envelope `{"success": false, "error", "code", …}`.
//!
//! The constructors are named for the failure. Causes of internal errors are not sent to the client: they are
//! logged with a request id, and the response carries the id.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use loopgate_api::job::LoopStatus;
use sea_orm::DbErr;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{IntoResponses, ToSchema};

/// Body of every error response, except those of the desktop onboarding.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Failure)]
pub struct FailureBody {
    /// Always `false` in an error response.
    #[schema(value_type = bool, example = false)]
    pub success: bool,
    /// Description of the error for people; its wording may change.
    pub error: String,
    /// Stable identifier of the error, for programs.
    pub code: String,
    /// Details of the error by name, for example `issues` of an invalid request body.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    #[schema(value_type = Option<Object>)]
    pub details: Map<String, Value>,
    /// The conflicting resource, when the client can resolve the conflict.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub data: Option<Value>,
}

/// The error type of handlers: a status and a body.
#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub body: Box<FailureBody>,
    // `true` until `ResultExt::context` has replaced the generic message.
    internal: bool,
}

pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// Creates an error with the default code of its status.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        let (error, code) = (error.into(), default_code(status).to_owned());
        let body = FailureBody { success: false, error, code, details: Map::new(), data: None };
        Self { status, body: Box::new(body), internal: false }
    }

    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.body.code = code.into();
        self
    }

    /// Adds a member to `details`.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body.details.insert(name.to_owned(), value.into());
        self
    }

    /// Creates a 409 that a client can resolve; `data.error` names the kind of conflict.
    pub fn typed_conflict(error: &str, discriminant: &str, mut data: Value) -> Self {
        if let Some(members) = data.as_object_mut() {
            members.insert("error".to_owned(), discriminant.into());
        }
        let mut failure = Self::new(StatusCode::CONFLICT, error).code(discriminant);
        failure.body.data = Some(data);
        failure
    }

    /// Creates a 500. Logs the cause, which is not sent to the client.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        let request_id = uuid::Uuid::now_v7().to_string();
        // Database and HTTP errors may quote a connection string or a token.
        tracing::error!(%request_id, cause = %loopgate_api::redact::credentials(&cause.to_string()), "request failed");
        let mut failure =
            Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error").code("internal_error");
        failure.internal = true;
        failure.detail("requestId", request_id)
    }

    /// Returns whether this is an internal error.
    pub const fn is_internal(&self) -> bool {
        self.internal
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}

impl From<DbErr> for ApiError {
    fn from(cause: DbErr) -> Self {
        Self::internal(cause)
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(cause: serde_json::Error) -> Self {
        Self::internal(cause)
    }
}

/// Adds the failed operation to internal errors.
pub trait ResultExt {
    /// Replaces the generic message of an internal error, in the form `Failed to <verb> <noun>`. Other errors
    /// are unchanged.
    #[must_use]
    fn context(self, text: &str) -> Self;
}

impl<T> ResultExt for ApiResult<T> {
    fn context(self, text: &str) -> Self {
        self.map_err(|mut failure| {
            if failure.internal {
                text.clone_into(&mut failure.body.error);
            }
            failure
        })
    }
}

// The code of an error that does not set one.
const fn default_code(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "invalid_request",
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::NOT_FOUND => "not_found",
        StatusCode::CONFLICT => "conflict",
        StatusCode::GONE => "gone",
        StatusCode::PAYLOAD_TOO_LARGE => "request_body_too_large",
        StatusCode::TOO_MANY_REQUESTS => "too_many_requests",
        StatusCode::NOT_IMPLEMENTED => "operation_not_implemented",
        StatusCode::SERVICE_UNAVAILABLE => "unavailable",
        _ => "operation_failed",
    }
}

/// Returns a 401 for missing or invalid credentials.
pub fn unauthorized() -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "Unauthorized")
}

/// Returns a 403 for missing permissions.
pub fn forbidden() -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "Forbidden")
}

/// Returns a 404 with the message `<entity> not found`.
pub fn not_found(entity: &str) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, format!("{entity} not found"))
}

/// Returns a 400 with the given message.
pub fn bad_request(error: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, error)
}

/// Returns the 400 of a desktop that accepts only signed commands.
pub fn signing_required() -> ApiError {
    bad_request("Command signing is required for this compute target").code("missing_field")
}

/// Returns the 429 of a desktop whose queue of commands is full.
pub fn too_many_commands() -> ApiError {
    ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "Too many queued commands for this compute target; retry later",
    )
    .code("too_many_commands")
}

/// Returns the 403 for a command that was signed with a key that the caller has not registered.
pub fn browser_key_unregistered() -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "browser_key_unregistered").code("browser_key_unregistered")
}

/// Returns the 409 for a change that a loop's status does not allow.
pub fn invalid_transition(from: LoopStatus) -> ApiError {
    conflict(format!("Invalid status transition from {}", from.as_str()))
}

/// Returns a 409 with the given message.
pub fn conflict(error: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, error)
}

/// Returns the 501 of API paths that are reserved but have no handler.
pub fn not_implemented() -> ApiError {
    ApiError::new(StatusCode::NOT_IMPLEMENTED, "operation not implemented")
}

/// Validation errors of a request body, collected into one response.
#[derive(Debug, Default)]
pub struct ValidationIssues(Vec<(String, String)>);

impl ValidationIssues {
    /// Adds an issue. `path` is dotted, and empty for the body as a whole.
    pub fn push(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push((path.into(), message.into()));
    }

    /// Adds an issue when the condition is false.
    pub fn require(&mut self, holds: bool, path: &str, message: &str) {
        if !holds {
            self.push(path, message);
        }
    }

    /// Adds an issue when the text is shorter than `min` or longer than `max` characters.
    pub fn length(&mut self, path: &str, text: &str, min: usize, max: usize) {
        let length = text.chars().count();
        if length < min {
            self.push(path, format!("must have at least {min} character(s)"));
        } else if length > max {
            self.push(path, format!("must have at most {max} character(s)"));
        }
    }

    /// Returns a 400 that lists all issues, or `Ok` when there are none.
    pub fn into_result(self) -> ApiResult<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let line = |(path, message): &(String, String)| {
            if path.is_empty() { message.clone() } else { format!("{path}: {message}") }
        };
        let text = self.0.iter().map(line).collect::<Vec<_>>().join(", ");
        let issues: Vec<Value> =
            self.0.iter().map(|(path, message)| json!({"path": path, "message": message})).collect();
        Err(bad_request(text).code("invalid_request").detail("issues", issues))
    }
}

/// Error responses that every documented route may return.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes the answers in the OpenAPI document; never built")]
pub enum ErrorResponses {
    /// The request is invalid; `code` and `details` say why.
    #[response(status = 400)]
    Invalid(FailureBody),
    /// Credentials are missing, expired or revoked.
    #[response(status = 401)]
    Unauthorized(FailureBody),
    /// The caller lacks the required role or scope.
    #[response(status = 403)]
    Forbidden(FailureBody),
    /// The resource does not exist, or belongs to another organization.
    #[response(status = 404)]
    NotFound(FailureBody),
    /// The request conflicts with the current state of the resource.
    #[response(status = 409)]
    Conflict(FailureBody),
    /// Internal error; `details.requestId` identifies its log entry.
    #[response(status = 500)]
    Failed(FailureBody),
}
