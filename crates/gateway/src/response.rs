//! JSON responses, and the formatting of paths and URL components in them.

use std::path::Path;

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// `content-type` of every JSON response. Without a charset parameter, because JSON is always UTF-8.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
// The characters that JavaScript's `encodeURIComponent` leaves as they are, so that both sides build the same
// URLs.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// Formats a path for a response; invalid UTF-8 is replaced.
pub(crate) fn path_text(path: impl AsRef<Path>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

/// Percent-encodes text as one component of a URL.
pub(crate) fn encode_component(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// Creates a 200 response with a JSON document that must not be cached.
pub(crate) fn json_no_store<T: serde::Serialize>(document: &T) -> Response {
    ([(CACHE_CONTROL, NO_STORE)], Json(document)).into_response()
}
