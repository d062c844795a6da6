//! Detects requests that a page of another site can make a browser send without a CORS preflight.
//!
//! HTML forms and `fetch` with mode `no-cors` can send a body of three media types, or without one, to any
//! address. None of our pages sends such a body, so a browser request with one is cross-site request forgery.

use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, StatusCode};

use crate::error::HttpError;

/// Added to requests by all current browsers. Pages cannot set or remove it.
const FETCH_MODE: &str = "sec-fetch-mode";

/// Whether the request has a body that a page of another site could have sent. `form` exempts multipart
/// forms, for routes that accept them.
pub(crate) fn is_forgeable(headers: &HeaderMap, form: bool) -> bool {
    let Some(kind) = headers.get(CONTENT_TYPE) else { return headers.contains_key(FETCH_MODE) };
    // No browser header: a program, which cannot be tricked by a page.
    if !headers.contains_key(ORIGIN) && !headers.contains_key(FETCH_MODE) {
        return false;
    }
    let kind = kind.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let is = |name: &str| kind.eq_ignore_ascii_case(name.as_bytes());
    is("text/plain")
        || is("application/x-www-form-urlencoded")
        || (!form && is("multipart/form-data"))
        || kind.is_empty()
}

/// 415 for a body that a page of another site could have sent.
pub(super) fn unsupported_media_type() -> HttpError {
    let error = "content type not supported, send application/json";
    HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error).closing(true)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn forgeable(headers: &[(&'static str, &'static str)], form: bool) -> bool {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        is_forgeable(&pairs.collect(), form)
    }

    #[test]
    fn bodies_that_need_no_preflight_are_forgeable() {
        let page = ("origin", "https://evil.test");
        for kind in [
            "text/plain",
            "Text/Plain;charset=UTF-8",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "",
        ] {
            assert!(forgeable(&[page, ("content-type", kind)], false), "{kind}");
            assert!(forgeable(&[("sec-fetch-mode", "no-cors"), ("content-type", kind)], false), "{kind}");
            assert!(!forgeable(&[("content-type", kind)], false), "not sent by a browser: {kind}");
        }
        assert!(forgeable(&[page, ("sec-fetch-mode", "no-cors")], false), "no content type");
        for kind in [
            "application/json",
            "application/json; charset=utf-8",
            "application/octet-stream",
            "text/plainer",
        ] {
            assert!(!forgeable(&[page, ("content-type", kind)], false), "{kind}");
        }
        assert!(!forgeable(&[page], false), "a program that forwards an Origin header");
        assert!(!forgeable(&[page, ("content-type", "multipart/form-data; boundary=x")], true));
        assert!(forgeable(&[page, ("content-type", "text/plain")], true));
    }
}
