//! What handlers take: query members, JSON bodies and ids, read by the gateway's own rules.
//!
//! No handler parses a header, a query or a path by hand.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use http::header::{CONTENT_TYPE, IF_RANGE, RANGE};
use http::request::Parts;
use loopgate_api::ids::TicketId;
use loopgate_files::{Form, FormError};
use serde_json::{Map, Value};

use crate::error::HttpError;

/// Who a handler works for; the pipeline adds it to every request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requester {
    /// The request came over the link: said by a caller with the gateway token.
    pub(crate) over_link: bool,
}

/// What stands before the ticket in the path of an attachment.
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

    /// The first value, when it holds anything; else the route's text as 400.
    pub(crate) fn required(&self, name: &str, otherwise: &str) -> Result<&str, HttpError> {
        self.get(name).filter(|value| !value.is_empty()).ok_or_else(|| HttpError::bad_request(otherwise))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryMembers {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Self(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()))
    }
}

/// The members of a JSON body. An empty body has none; a body that is no object has none either,
/// unless it says nothing at all.
#[derive(Debug)]
pub(crate) struct JsonMembers(Map<String, Value>);

impl JsonMembers {
    /// A member that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A member of any kind.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The strings of a member that is an array; other elements are passed over.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let elements = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        elements.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// A member that is a boolean.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// A member that is a string with something in it; the value is not trimmed.
    pub(crate) fn words(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|text| !text.trim().is_empty())
    }

    /// A member that is a whole number above 0, or a string of its digits.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        let number = match self.0.get(name)? {
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => {
                let digits = text.trim();
                digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
            }
            _ => None,
        };
        number.filter(|number| *number > 0)
    }

    fn read(body: &[u8]) -> Result<Self, HttpError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(Map::new()));
        }
        let invalid = || HttpError::bad_request("Invalid JSON body");
        match serde_json::from_slice(body).map_err(|_| invalid())? {
            Value::Object(members) => Ok(Self(members)),
            Value::Null | Value::Bool(false) => Err(invalid()),
            Value::String(text) if text.is_empty() => Err(invalid()),
            Value::Number(number) if number.as_f64() == Some(0.0) => Err(invalid()),
            _ => Ok(Self(Map::new())),
        }
    }
}

/// A number that was written with a fraction of nothing, such as `7.0`.
fn whole(number: f64) -> Option<u64> {
    let exact = number >= 0.0 && number.fract() == 0.0 && number < 9_007_199_254_740_992.0;
    exact.then(|| format!("{number:.0}").parse().ok())?
}

impl<S: Send + Sync> FromRequest<S> for JsonMembers {
    type Rejection = HttpError;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpError> {
        let body = Bytes::from_request(request, state).await.map_err(|_| HttpError::internal())?;
        Self::read(&body)
    }
}

/// A form that was not read yet, when the body says that it is one.
pub(crate) struct FormBody(pub(crate) Result<Form, FormError>);

impl<S: Send + Sync> FromRequest<S> for FormBody {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        Ok(Self(Form::new(&kind, request.into_body().into_data_stream())))
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
            text.map(std::borrow::Cow::into_owned).map_err(|_| HttpError::bad_request("malformed path"))
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
pub(crate) struct WantedRange(pub(crate) Option<ByteRange>);

impl WantedRange {
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

impl<S: Send + Sync> FromRequestParts<S> for WantedRange {
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
pub(crate) struct Direct;

impl<S: Send + Sync> FromRequestParts<S> for Direct {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpError> {
        match parts.extensions.get::<Requester>() {
            Some(requester) if !requester.over_link => Ok(Self),
            _ => Err(HttpError::forbidden("not available over relay")),
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
            .map_err(|_| HttpError::bad_request("malformed path"))?;
        Ok(Self(TicketId::new(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_fitted() {
        let within = |text: &str| WantedRange::read(text).map(|range| range.within(10));
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
    fn counts_are_whole_and_above_nothing() {
        let count =
            |value: &str| JsonMembers::read(format!("{{\"n\":{value}}}").as_bytes()).unwrap().count("n");
        for (value, expected) in
            [("7", 7), ("7.0", 7), ("\"7\"", 7), ("\" 07 \"", 7), ("4294967296", 4_294_967_296)]
        {
            assert_eq!(count(value), Some(expected), "{value}");
        }
        for value in [
            "0",
            "-7",
            "7.5",
            "1e400",
            "\"12abc\"",
            "\"-1\"",
            "\"+1\"",
            "\"\"",
            "\" \"",
            "null",
            "true",
            "[7]",
        ] {
            let body = format!("{{\"n\":{value}}}");
            let read = JsonMembers::read(body.as_bytes());
            assert_eq!(read.ok().and_then(|members| members.count("n")), None, "{value}");
        }
    }

    #[test]
    fn bodies_are_read_by_the_table() {
        let members =
            |body: &str| JsonMembers::read(body.as_bytes()).map(|JsonMembers(members)| members.len());
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
