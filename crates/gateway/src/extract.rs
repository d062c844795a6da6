//! What handlers take: query members, JSON bodies and ids, read by the gateway's own rules.
//!
//! No handler parses a header, a query or a path by hand.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use http::request::Parts;
use loopgate_api::ids::TicketId;
use serde_json::{Map, Value};

use crate::answer::Failure;

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
    pub(crate) fn required(&self, name: &str, otherwise: &str) -> Result<&str, Failure> {
        self.get(name).filter(|value| !value.is_empty()).ok_or_else(|| Failure::bad_request(otherwise))
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

    /// A member that is a boolean.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    fn read(body: &[u8]) -> Result<Self, Failure> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(Map::new()));
        }
        let invalid = || Failure::bad_request("Invalid JSON body");
        match serde_json::from_slice(body).map_err(|_| invalid())? {
            Value::Object(members) => Ok(Self(members)),
            Value::Null | Value::Bool(false) => Err(invalid()),
            Value::String(text) if text.is_empty() => Err(invalid()),
            Value::Number(number) if number.as_f64() == Some(0.0) => Err(invalid()),
            _ => Ok(Self(Map::new())),
        }
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonMembers {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let body = Bytes::from_request(request, state).await.map_err(|_| Failure::internal())?;
        Self::read(&body)
    }
}

/// The ticket that a path names, decoded once.
#[derive(Debug)]
pub(crate) struct TicketPath(pub(crate) TicketId);

impl<S: Send + Sync> FromRequestParts<S> for TicketPath {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| Failure::bad_request("malformed path"))?;
        Ok(Self(TicketId::new(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
