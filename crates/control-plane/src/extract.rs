//! Extractors for request bodies, query parameters and ids.

use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::request::Parts;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use loopgate_api::json_size::count_values;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer as _};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::error::{ApiError, ApiResult, ValidationIssues, bad_request};
use crate::nul;

/// Time that a client has for a request body in any case.
const BODY_GRACE: Duration = Duration::from_secs(10);
/// Rate in bytes per second that a client must reach beyond [`BODY_GRACE`]. Together with the size limit of the
/// route, it bounds the total time of a body: 10 seconds for the smallest, 15 minutes for a file of 50 MiB.
const MIN_BODY_RATE: usize = 64 * 1024;
/// JSON values in the largest and smallest bodies, and bytes of the limit per value in others. A value occupies up to a
/// hundred times its text, so that a body of small values would need far more memory than the size limit suggests.
const MAX_VALUES: usize = 250_000;
const MIN_VALUES: usize = 2_000;
const BYTES_PER_VALUE: usize = 64;

/// Size limit of the request bodies of a route, in bytes. The route table sets it. Bodies are buffered in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteBodyLimit(pub usize);

impl RouteBodyLimit {
    /// Returns the largest number of JSON values in a body.
    fn values(self) -> usize {
        (self.0 / BYTES_PER_VALUE).clamp(MIN_VALUES, MAX_VALUES)
    }
}

/// A JSON request body, deserialized.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        let limit = body_limit(&request);
        parse(&bytes(request).await?, limit).map(Self)
    }
}

/// A JSON request body, or the default of its type when the body is empty.
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        let limit = body_limit(&request);
        let bytes = bytes(request).await?;
        if bytes.is_empty() { Ok(Self(T::default())) } else { parse(&bytes, limit).map(Self) }
    }
}

/// Returns the size limit of a request's route. A route without one accepts no body.
pub fn body_limit(request: &Request) -> RouteBodyLimit {
    request.extensions().get().copied().unwrap_or(RouteBodyLimit(0))
}

/// Reads a request body. Returns 413 when it is larger than the route's limit, and 408 when it arrives too
/// slowly.
pub async fn bytes(request: Request) -> ApiResult<Bytes> {
    let RouteBodyLimit(limit) = body_limit(&request);
    let too_large = || ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "Request body too large");
    let mut body = request.into_body();
    // A declared length is rejected before the body is read.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let started = Instant::now();
    let mut received = BytesMut::new();
    loop {
        let due = started + BODY_GRACE + Duration::from_secs((received.len() / MIN_BODY_RATE) as u64);
        let frame = timeout_at(due, body.frame()).await.map_err(|_| {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "Request body timed out").code("request_timeout")
        })?;
        let Some(frame) = frame else { return Ok(received.freeze()) };
        let frame = frame.map_err(|_| bad_request("Request body could not be read"))?;
        // Trailers are ignored.
        let Ok(data) = frame.into_data() else { continue };
        if received.len() + data.len() > limit {
            return Err(too_large());
        }
        received.extend_from_slice(&data);
    }
}

/// Deserializes the JSON of a request body. Returns a 400 that names the path of the first value that does not match
/// its type, or for more values than the limit of the route allows.
pub fn parse<T: DeserializeOwned>(bytes: &[u8], limit: RouteBodyLimit) -> ApiResult<T> {
    if count_values(bytes) > limit.values() {
        return Err(bad_request("Request body has too many JSON values").code("too_many_values"));
    }
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

/// Deserializes a query parameter that contains several values, separated by commas.
pub fn separated<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.split(',')
        .filter(|item| !item.is_empty())
        .map(|item| {
            let item: StrDeserializer<'_, D::Error> = item.into_deserializer();
            T::deserialize(item)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream::{self, StreamExt as _};

    use super::*;

    fn request(limit: usize, body: axum::body::Body) -> Request {
        let mut request = Request::new(body);
        request.extensions_mut().insert(RouteBodyLimit(limit));
        request
    }

    /// A body that sends a chunk of this size every second, and never ends.
    fn endless(chunk: usize) -> axum::body::Body {
        axum::body::Body::from_stream(stream::repeat(()).then(move |()| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, Infallible>(vec![b' '; chunk])
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn body_must_arrive_within_its_time() {
        let started = Instant::now();
        let silent = axum::body::Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let error = bytes(request(4096, silent)).await.unwrap_err();
        assert_eq!((error.status, started.elapsed()), (StatusCode::REQUEST_TIMEOUT, BODY_GRACE));

        // Half of the minimum rate buys half a second per second: the body ends after twice the grace period.
        let started = Instant::now();
        let error = bytes(request(usize::MAX, endless(MIN_BODY_RATE / 2))).await.unwrap_err();
        assert_eq!(error.status, StatusCode::REQUEST_TIMEOUT);
        assert!((BODY_GRACE..=BODY_GRACE * 2).contains(&started.elapsed()), "{:?}", started.elapsed());

        // At the minimum rate, the size limit ends the body.
        let error = bytes(request(100 * MIN_BODY_RATE, endless(MIN_BODY_RATE))).await.unwrap_err();
        assert_eq!(error.status, StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[tokio::test]
    async fn body_is_limited_by_its_route() {
        let body = |size: usize| axum::body::Body::from(vec![b' '; size]);
        assert_eq!(bytes(request(10, body(10))).await.unwrap().len(), 10);
        assert_eq!(bytes(request(10, body(11))).await.unwrap_err().status, StatusCode::PAYLOAD_TOO_LARGE);
        let unlimited = Request::new(body(1));
        assert_eq!(bytes(unlimited).await.unwrap_err().status, StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[test]
    fn bodies_of_many_small_values_are_rejected() {
        for limit in [RouteBodyLimit(4096), RouteBodyLimit(usize::MAX)] {
            let nested = format!("[{}]", vec!["[]"; limit.values()].join(","));
            let error = parse::<serde_json::Value>(nested.as_bytes(), limit).unwrap_err();
            assert_eq!(error.body.code, "too_many_values");
            let text = serde_json::to_vec(&"[{,".repeat(limit.values())).unwrap();
            assert!(parse::<String>(&text, limit).is_ok());
        }
    }
}
