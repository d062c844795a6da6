//! Extractors of bodies, queries and ids.

use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::error::{ApiError, ApiResult, ValidationIssues, bad_request};
use crate::nul;

/// Largest body of a route that names no limit of its own, in bytes.
pub const BODY_LIMIT: usize = 10 * 1024 * 1024;

/// A JSON body of at most `LIMIT` bytes that has been read into its type.
pub struct Body<T, const LIMIT: usize = BODY_LIMIT>(pub T);

impl<T: DeserializeOwned, S: Send + Sync, const LIMIT: usize> FromRequest<S> for Body<T, LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        parse(&bytes(request, LIMIT).await?).map(Self)
    }
}

/// A JSON body, or the default of its type when none was sent.
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        let bytes = bytes(request, BODY_LIMIT).await?;
        if bytes.is_empty() { Ok(Self(T::default())) } else { parse(&bytes).map(Self) }
    }
}

/// Reads a body of at most `limit` bytes.
pub async fn bytes(request: Request, limit: usize) -> ApiResult<Bytes> {
    axum::body::to_bytes(request.into_body(), limit)
        .await
        .map_err(|_| ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "Request body too large"))
}

/// Reads JSON into its type; what does not fit is named by its path.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> ApiResult<T> {
    let bytes = nul::without_nul(bytes);
    let mut json = serde_json::Deserializer::from_slice(&bytes);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let inner = error.inner();
        if inner.is_data() {
            let mut issues = ValidationIssues::default();
            let path = error.path().to_string();
            // serde_json appends the position in the text, which says nothing to a client.
            let message = inner.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            issues.push(if path == "." { String::new() } else { path }, message);
            issues.into_result().err().unwrap_or_else(|| bad_request("Invalid JSON body"))
        } else {
            bad_request("Invalid JSON body").code("invalid_json_body")
        }
    })
}

/// Query parameters that have been read into their type.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|error| bad_request(format!("Invalid query parameters: {}", error.body_text())))
    }
}

/// The id in a path. Something that is no id is answered like an unknown one.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Id(pub Option<Uuid>);

impl Id {
    /// Reads the text of a path segment.
    pub fn of(text: &str) -> Self {
        Self(Uuid::try_parse(text).ok())
    }

    /// The id, or the answer for an unknown `entity`.
    pub fn or_unknown(self, entity: &str) -> ApiResult<Uuid> {
        self.0.ok_or_else(|| crate::error::not_found(entity))
    }
}

/// One segment of the path, `{id}`.
impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let path = axum::extract::RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| bad_request("malformed path").code("malformed_path"))?;
        let id = path.iter().find(|(name, _)| *name == "id").map(|(_, value)| Self::of(value));
        Ok(id.unwrap_or(Self(None)))
    }
}
