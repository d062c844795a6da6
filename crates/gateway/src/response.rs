//! JSON answers, and how paths and texts are in them.

use std::path::Path;

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// `content-type` of every JSON answer; without a charset.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// All but what a component of a URL may hold as it is.
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

/// A path as answers show it.
pub(crate) fn path_text(path: impl AsRef<Path>) -> String {
    path.as_ref().to_string_lossy().into_owned()
}

/// A text as one component of a URL.
pub(crate) fn encode_component(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// A 200 with a JSON document that must not be cached.
pub(crate) fn json_no_store<T: serde::Serialize>(document: &T) -> Response {
    ([(CACHE_CONTROL, NO_STORE)], Json(document)).into_response()
}
