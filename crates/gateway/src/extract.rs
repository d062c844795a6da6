//! What handlers take: query members, JSON bodies and ids, read by the contract's rules.
//!
//! No handler parses a header, a query or a path by hand.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use http::header::{CONTENT_TYPE, IF_RANGE, RANGE};
use http::request::Parts;
use loopgate_api::ids::TicketId;
use loopgate_files::{FormError, MultipartForm};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::HttpError;

/// Who a handler works for; the pipeline adds it to every request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requester {
    /// The request came over the link: said by a caller with the gateway token.
    pub(crate) over_link: bool,
}

/// What is before the ticket in the path of an attachment.
pub(crate) const ATTACHMENTS: &str = "/api/gateway/orchestrator/attachments/";

/// The members of a query. The first value of a repeated name counts; a broken percent sign stays
/// as it is.
#[derive(Debug)]
pub(crate) struct QueryMembers(Vec<(String, String)>);

impl QueryMembers {
    /// The first value, also when it is empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first value, when it holds anything; else the route's text as 400 `missing_field`.
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

/// A JSON body, read into the type that describes it. An empty body has no members; a body that is no
/// object has none either, unless it says nothing at all, as `null`, `false`, `0` and `""` do.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> JsonBody<T> {
    /// # Errors
    /// 400 `invalid_json_body`.
    pub(crate) fn read(body: &[u8]) -> Result<Self, HttpError> {
        let members = members(body).ok_or_else(HttpError::invalid_json)?;
        serde_path_to_error::deserialize(Value::Object(members)).map(Self).map_err(|error| {
            tracing::debug!(path = %error.path(), "a body does not fit its type");
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

/// A form that was not read yet, when the body says that it is one.
pub(crate) struct FormBody(pub(crate) Result<MultipartForm, FormError>);

impl<S: Send + Sync> FromRequest<S> for FormBody {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        Ok(Self(MultipartForm::new(&kind, request.into_body().into_data_stream())))
    }
}

/// The ticket and the path that follow `attachments/`. Each is decoded once and by itself, so that
/// an encoded slash in the ticket stays part of the ticket.
#[derive(Debug)]
pub(crate) struct AttachmentPath {
    pub(crate) ticket: TicketId,
    /// As it is written; `None` when nothing follows the ticket.
    pub(crate) path: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for AttachmentPath {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpError> {
        let rest = parts.uri.path().strip_prefix(ATTACHMENTS).unwrap_or_default();
        let decoded = |text: &str| {
            let text = percent_encoding::percent_decode_str(text).decode_utf8();
            text.map(std::borrow::Cow::into_owned).map_err(|_| HttpError::malformed_path())
        };
        let (ticket, path) = match rest.split_once('/') {
            Some((ticket, path)) => (decoded(ticket)?, Some(decoded(path)?)),
            None => (decoded(rest)?, None),
        };
        Ok(Self { ticket: TicketId::new(ticket), path })
    }
}

/// One range of bytes that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteRange {
    /// From this byte to that one, or to the end.
    From(u64, Option<u64>),
    /// So many bytes at the end.
    Last(u64),
}

impl ByteRange {
    /// The first byte and the number of bytes in a file of this size; `None` when there are none.
    pub(crate) fn within(self, size: u64) -> Option<(u64, u64)> {
        let (first, end) = match self {
            Self::From(first, last) => (first, last.map_or(size, |last| last.saturating_add(1).min(size))),
            Self::Last(count) => (size.saturating_sub(count), size),
        };
        (first < end).then(|| (first, end - first))
    }
}

/// The range that is asked for. Several at once, and anything else that is not understood, count as
/// none: the whole is a right answer to them.
#[derive(Debug)]
pub(crate) struct RequestedRange(pub(crate) Option<ByteRange>);

impl RequestedRange {
    fn read(text: &str) -> Option<ByteRange> {
        let (first, last) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
        let number = |text: &str| {
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
        // Answers carry nothing to compare with, so a condition never holds.
        let conditional = parts.headers.contains_key(IF_RANGE);
        let text = parts.headers.get(RANGE).filter(|_| !conditional).and_then(|text| text.to_str().ok());
        Ok(Self(text.and_then(Self::read)))
    }
}

/// A request that did not come over the link; one that did is refused.
#[derive(Debug)]
pub(crate) struct LocalRequest;

impl<S: Send + Sync> FromRequestParts<S> for LocalRequest {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpError> {
        match parts.extensions.get::<Requester>() {
            Some(requester) if !requester.over_link => Ok(Self),
            _ => Err(HttpError::forbidden("not available over relay").with_code("not_available_over_relay")),
        }
    }
}

/// The ticket that a path names, decoded once.
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
    fn ranges_are_read_and_fitted() {
        let within = |text: &str| RequestedRange::read(text).map(|range| range.within(10));
        for (text, wanted) in [
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
            assert_eq!(within(text), wanted, "{text}");
        }
    }

    #[test]
    fn bodies_are_read_by_the_table() {
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
