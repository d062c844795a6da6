//! Extractors for query members, JSON bodies, forms and ids.
//!
//! Handlers do not parse headers, queries or paths themselves.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use http::header::{CONTENT_TYPE, IF_RANGE, RANGE};
use http::request::Parts;
use loopgate_api::ids::TicketId;
use loopgate_files::{FormError, MultipartForm};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::HttpError;

/// Source of a request; the pipeline adds it to the extensions of every request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestOrigin {
    /// The request came over the link. Only callers with the gateway token can claim that.
    pub(crate) over_link: bool,
}

/// Path prefix of attachments; a ticket id and a path follow.
pub(crate) const ATTACHMENTS: &str = "/api/gateway/orchestrator/attachments/";

/// Decoded members of a query. Lookups return the first value of a repeated name. An invalid percent escape
/// is left undecoded.
#[derive(Debug)]
pub(crate) struct QueryMembers(Vec<(String, String)>);

impl QueryMembers {
    /// Returns the first value, which may be empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first value, or 400 `missing_field` with the message `otherwise` when it is absent or
    /// empty.
    pub(crate) fn required(&self, name: &str, otherwise: &str) -> Result<&str, HttpError> {
        self.get(name).filter(|value| !value.is_empty()).ok_or_else(|| HttpError::missing_field(otherwise))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryMembers {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
    }
}

/// A deserialized JSON body. An empty body, and a body that is neither an object nor falsy, counts as `{}`.
/// Falsy JSON (`null`, `false`, `0`, `""`) is rejected.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> JsonBody<T> {
    /// # Errors
    /// Fails with 400 `invalid_json_body` when the body is not JSON, is falsy, or does not fit `T`.
    pub(crate) fn read(body: &[u8]) -> Result<Self, HttpError> {
        let members = members(body).ok_or_else(HttpError::invalid_json)?;
        // All mismatches get the same response; the path in the log helps to debug a client.
        serde_path_to_error::deserialize(Value::Object(members)).map(Self).map_err(|error| {
            tracing::debug!(path = %error.path(), "request body does not match its schema");
            HttpError::invalid_json()
        })
    }
}

fn members(body: &[u8]) -> Option<Map<String, Value>> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Some(Map::new());
    }
    match serde_json::from_slice(body).ok()? {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(false) => None,
        Value::String(text) if text.is_empty() => None,
        Value::Number(number) if number.as_f64() == Some(0.0) => None,
        _ => Some(Map::new()),
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = HttpError;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpError> {
        let body = Bytes::from_request(request, state).await.map_err(|_| HttpError::internal())?;
        Self::read(&body)
    }
}

/// A multipart form that has not been read yet, or the reason why the body is not a form.
pub(crate) struct FormBody(pub(crate) Result<MultipartForm, FormError>);

impl<S: Send + Sync> FromRequest<S> for FormBody {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        Ok(Self(MultipartForm::new(&kind, request.into_body().into_data_stream())))
    }
}

/// The ticket id and the path after `attachments/`. Both are decoded separately, so that an encoded slash in
/// the ticket id does not split it.
#[derive(Debug)]
pub(crate) struct AttachmentPath {
    pub(crate) ticket: TicketId,
    /// Path below the attachments of the ticket, not normalized; `None` without a path.
    pub(crate) path: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for AttachmentPath {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpError> {
        let suffix = parts.uri.path().strip_prefix(ATTACHMENTS).unwrap_or_default();
        let decoded = |text: &str| {
            let text = percent_encoding::percent_decode_str(text).decode_utf8();
            text.map(std::borrow::Cow::into_owned).map_err(|_| HttpError::malformed_path())
        };
        let (ticket, path) = match suffix.split_once('/') {
            Some((ticket, path)) => (decoded(ticket)?, Some(decoded(path)?)),
            None => (decoded(suffix)?, None),
        };
        Ok(Self { ticket: TicketId::new(ticket), path })
    }
}

/// A single byte range of a `Range` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteRange {
    /// From the first to the last byte (inclusive), or to the end.
    From(u64, Option<u64>),
    /// The last n bytes.
    Last(u64),
}

impl ByteRange {
    /// Returns offset and length within a file of `size` bytes, or `None` when the range is not satisfiable.
    pub(crate) fn within(self, size: u64) -> Option<(u64, u64)> {
        let (first, end) = match self {
            // Saturating: the last byte of a range may be `u64::MAX`.
            Self::From(first, last) => (first, last.map_or(size, |last| last.saturating_add(1).min(size))),
            Self::Last(count) => (size.saturating_sub(count), size),
        };
        (first < end).then(|| (first, end - first))
    }
}

/// The range of a request. Multiple ranges and malformed headers are ignored, so that the response is the
/// whole file, as RFC 9110 permits.
#[derive(Debug)]
pub(crate) struct RequestedRange(pub(crate) Option<ByteRange>);

impl RequestedRange {
    fn read(text: &str) -> Option<ByteRange> {
        let (first, last) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
        let number = |text: &str| {
            // `parse` alone would accept a leading `+`.
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten()
        };
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Some(ByteRange::From(first, Some(last))),
            (Some(first), None) if last.is_empty() => Some(ByteRange::From(first, None)),
            (None, Some(count)) if first.is_empty() => Some(ByteRange::Last(count)),
            _ => None,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestedRange {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        // Responses have neither an ETag nor a modification date, so `If-Range` can never match.
        let conditional = parts.headers.contains_key(IF_RANGE);
        let text = parts.headers.get(RANGE).filter(|_| !conditional).and_then(|text| text.to_str().ok());
        Ok(Self(text.and_then(Self::read)))
    }
}

/// Guard for routes that are not available over the link. Fails with 403 `not_available_over_relay`.
#[derive(Debug)]
pub(crate) struct LocalRequest;

impl<S: Send + Sync> FromRequestParts<S> for LocalRequest {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpError> {
        match parts.extensions.get::<RequestOrigin>() {
            Some(requester) if !requester.over_link => Ok(Self),
            _ => Err(HttpError::forbidden("not available over relay").with_code("not_available_over_relay")),
        }
    }
}

/// The ticket id in a path, percent-decoded once.
#[derive(Debug)]
pub(crate) struct TicketPath(pub(crate) TicketId);

impl<S: Send + Sync> FromRequestParts<S> for TicketPath {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| HttpError::malformed_path())?;
        Ok(Self(TicketId::new(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_ranges_are_parsed_and_clamped_to_the_file() {
        let within = |text: &str| RequestedRange::read(text).map(|range| range.within(10));
        for (text, expected) in [
            ("bytes=0-3", Some(Some((0, 4)))),
            ("bytes=4-", Some(Some((4, 6)))),
            ("bytes=-3", Some(Some((7, 3)))),
            ("bytes=-30", Some(Some((0, 10)))),
            ("bytes=8-100", Some(Some((8, 2)))),
            ("bytes=9-9", Some(Some((9, 1)))),
            ("bytes=10-", Some(None)),
            ("bytes=-0", Some(None)),
            ("bytes=0-18446744073709551615", Some(Some((0, 10)))),
            ("bytes=3-1", None),
            ("bytes=0-1,3-4", None),
            ("bytes=", None),
            ("bytes=-", None),
            ("bytes=+1-2", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(within(text), expected, "{text}");
        }
    }

    #[test]
    fn non_object_json_is_an_empty_object_and_falsy_json_is_rejected() {
        let members = |body: &str| {
            let read = JsonBody::<Map<String, Value>>::read(body.as_bytes());
            read.map(|JsonBody(members)| members.len())
        };
        for (body, expected) in [
            ("", 0),
            (" \n", 0),
            ("{}", 0),
            (r#"{"a":1}"#, 1),
            ("[1]", 0),
            ("5", 0),
            ("true", 0),
            ("\"x\"", 0),
        ] {
            assert_eq!(members(body).unwrap(), expected, "{body}");
        }
        for body in ["{", "null", "false", "0", "0.0", "\"\"", "{}x"] {
            assert_eq!(members(body).unwrap_err().body.error, "Invalid JSON body", "{body}");
        }
    }
}
