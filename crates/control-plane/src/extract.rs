//! Extractors for request bodies, query parameters and ids.

use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::error::{ApiError, ApiResult, ValidationIssues, bad_request};
use crate::nul;

/// Default limit of a request body, in bytes. Bodies are buffered in memory.
pub const BODY_LIMIT: usize = 10 * 1024 * 1024;

/// A JSON request body of at most `LIMIT` bytes, deserialized.
pub struct Body<T, const LIMIT: usize = BODY_LIMIT>(pub T);

impl<T: DeserializeOwned, S: Send + Sync, const LIMIT: usize> FromRequest<S> for Body<T, LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        parse(&bytes(request, LIMIT).await?).map(Self)
    }
}

/// A JSON request body, or the default of its type when the body is empty.
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        let bytes = bytes(request, BODY_LIMIT).await?;
        if bytes.is_empty() { Ok(Self(T::default())) } else { parse(&bytes).map(Self) }
    }
}

/// Reads a request body. Returns 413 when it is larger than `limit` bytes.
pub async fn bytes(request: Request, limit: usize) -> ApiResult<Bytes> {
    axum::body::to_bytes(request.into_body(), limit)
        .await
        .map_err(|_| ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "Request body too large"))
}

/// Deserializes the JSON of a request body. Returns a 400 that names the path of the first value that does not match its type.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> ApiResult<T> {
    // PostgreSQL rejects U+0000 in text and JSON, so replace it before anything is stored.
    let bytes = nul::without_nul(bytes);
    let mut json = serde_json::Deserializer::from_slice(&bytes);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let inner = error.inner();
        if inner.is_data() {
            let mut issues = ValidationIssues::default();
            let path = error.path().to_string();
            // serde_json appends line and column, which mean nothing to a client that sent a JSON value.
            let message = inner.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            issues.push(if path == "." { String::new() } else { path }, message);
            issues.into_result().err().unwrap_or_else(|| bad_request("Invalid JSON body"))
        } else {
            bad_request("Invalid JSON body").code("invalid_json_body")
        }
    })
}

/// Query parameters, deserialized; a mismatch is a 400.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|error| bad_request(format!("Invalid query parameters: {}", error.body_text())))
    }
}

/// The id in a path. Malformed ids are handled as unknown ids (404), so clients need no case for them.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Id(pub Option<Uuid>);

impl Id {
    /// Parses a path segment.
    pub fn of(text: &str) -> Self {
        Self(Uuid::try_parse(text).ok())
    }

    /// Returns the id, or a 404 for `entity` when it is malformed.
    pub fn or_unknown(self, entity: &str) -> ApiResult<Uuid> {
        self.0.ok_or_else(|| crate::error::not_found(entity))
    }
}

/// Reads the path segment `{id}`.
impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        // Fails when a segment is not valid UTF-8 after percent-decoding.
        let path = axum::extract::RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| bad_request("malformed path").code("malformed_path"))?;
        let id = path.iter().find(|(name, _)| *name == "id").map(|(_, value)| Self::of(value));
        Ok(id.unwrap_or(Self(None)))
    }
}
