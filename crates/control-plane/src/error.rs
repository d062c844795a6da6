//! The one failure of the HTTP edge, and its envelope `{"success": false, "error", "code", …}`.
//!
//! Small constructors are named for what went wrong. A cause that the caller must not see is
//! logged here, under an id that the answer carries.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use loopgate_api::job::LoopStatus;
use sea_orm::DbErr;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{IntoResponses, ToSchema};

/// Body of every failure, except those of the desktop's onboarding.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Failure)]
pub struct FailureBody {
    /// Always `false`.
    #[schema(value_type = bool, example = false)]
    pub success: bool,
    /// What went wrong, for a person.
    pub error: String,
    /// Stable identifier of the case.
    pub code: String,
    /// Members that the case lists; `issues` for a body that does not fit.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    #[schema(value_type = Option<Object>)]
    pub details: Map<String, Value>,
    /// The conflicting resource, for a conflict that a client can resolve.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub data: Option<Value>,
}

/// A failure on its way to the caller.
#[derive(Debug)]
pub struct ApiError {
    /// Status of the answer.
    pub status: StatusCode,
    /// Its body.
    pub body: Box<FailureBody>,
    /// Whether the text still is the general one, to be replaced by the route's.
    internal: bool,
}

/// Result of a handler.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// A failure with the code of its status.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        let (error, code) = (error.into(), default_code(status).to_owned());
        let body = FailureBody { success: false, error, code, details: Map::new(), data: None };
        Self { status, body: Box::new(body), internal: false }
    }

    /// Replaces the code by that of the case.
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

    /// A conflict that a client can resolve: `data.error` says which.
    pub fn typed_conflict(error: &str, discriminant: &str, mut data: Value) -> Self {
        if let Some(members) = data.as_object_mut() {
            members.insert("error".to_owned(), discriminant.into());
        }
        let mut failure = Self::new(StatusCode::CONFLICT, error).code(discriminant);
        failure.body.data = Some(data);
        failure
    }

    /// An internal error, 500; the cause is logged and not sent.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        let request_id = uuid::Uuid::now_v7().to_string();
        tracing::error!(%request_id, cause = %loopgate_api::redact::credentials(&cause.to_string()), "request failed");
        let mut failure =
            Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error").code("internal_error");
        failure.internal = true;
        failure.detail("requestId", request_id)
    }

    /// Whether it is an internal error.
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

/// Gives an internal failure the text of its route.
pub trait ResultExt {
    /// `Failed to <verb> <noun>` instead of the general text.
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

/// The code of a failure that names none of its own.
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

/// 401.
pub fn unauthorized() -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "Unauthorized")
}

/// 403.
pub fn forbidden() -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "Forbidden")
}

/// 404 `<entity> not found`.
pub fn not_found(entity: &str) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, format!("{entity} not found"))
}

/// 400.
pub fn bad_request(error: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, error)
}

/// 400 of a desktop that takes signed commands only.
pub fn signing_required() -> ApiError {
    bad_request("Command signing is required for this compute target").code("missing_field")
}

/// 429 of a desktop that has not worked off what it was asked before.
pub fn too_many_commands() -> ApiError {
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "Too many commands wait for this compute target")
        .code("too_many_commands")
}

/// 403: the caller has not registered the key that signed.
pub fn browser_key_unregistered() -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "browser_key_unregistered").code("browser_key_unregistered")
}

/// 409 of a change that the status of a loop does not allow.
pub fn invalid_transition(from: LoopStatus) -> ApiError {
    conflict(format!("Invalid status transition from {}", from.as_str()))
}

/// 409.
pub fn conflict(error: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, error)
}

/// 501, for a route that exists on paper only.
pub fn not_implemented() -> ApiError {
    ApiError::new(StatusCode::NOT_IMPLEMENTED, "operation not implemented")
}

/// Validation errors of a body, collected for one response.
#[derive(Debug, Default)]
pub struct ValidationIssues(Vec<(String, String)>);

impl ValidationIssues {
    /// Adds an issue; `path` is dotted, and empty for the body as a whole.
    pub fn push(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push((path.into(), message.into()));
    }

    /// Adds an issue unless the condition holds.
    pub fn require(&mut self, holds: bool, path: &str, message: &str) {
        if !holds {
            self.push(path, message);
        }
    }

    /// Adds an issue unless a text has between `min` and `max` characters.
    pub fn length(&mut self, path: &str, text: &str, min: usize, max: usize) {
        let length = text.chars().count();
        if length < min {
            self.push(path, format!("must have at least {min} character(s)"));
        } else if length > max {
            self.push(path, format!("must have at most {max} character(s)"));
        }
    }

    /// The refusal, when there is an issue.
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

/// The failures that every documented route shares.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes the answers in the OpenAPI document; never built")]
pub enum ErrorResponses {
    /// The request does not fit.
    #[response(status = 400)]
    Invalid(FailureBody),
    /// No credential, or one that is not accepted.
    #[response(status = 401)]
    Unauthorized(FailureBody),
    /// Not allowed.
    #[response(status = 403)]
    Forbidden(FailureBody),
    /// Unknown, or another organization's.
    #[response(status = 404)]
    NotFound(FailureBody),
    /// In conflict with the present state.
    #[response(status = 409)]
    Conflict(FailureBody),
    /// Failed here.
    #[response(status = 500)]
    Failed(FailureBody),
}
