//! What a page of another site can make a browser send without being asked first.
//!
//! A form, or a `fetch` in the mode `no-cors`, sends a body of one of three types, or of none, to any
//! address. Nothing of ours is sent like that, so a browser that does it was made to.

use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, StatusCode};

use crate::error::HttpError;

/// Sent by every browser beside a request, and settable by none of its pages.
const FETCH_MODE: &str = "sec-fetch-mode";

/// Whether the request has a body that a foreign page could have sent. `form` says that the route
/// takes forms.
pub(crate) fn is_forgeable(headers: &HeaderMap, form: bool) -> bool {
    let Some(kind) = headers.get(CONTENT_TYPE) else { return headers.contains_key(FETCH_MODE) };
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

/// The refusal of a body that a foreign page could have sent.
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
    fn request_with_preflight_is_no_forgery() {
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
            assert!(!forgeable(&[("content-type", kind)], false), "a program may say what it likes: {kind}");
        }
        assert!(forgeable(&[page, ("sec-fetch-mode", "no-cors")], false), "a body of no type");
        for kind in [
            "application/json",
            "application/json; charset=utf-8",
            "application/octet-stream",
            "text/plainer",
        ] {
            assert!(!forgeable(&[page, ("content-type", kind)], false), "{kind}");
        }
        assert!(!forgeable(&[page], false), "a program that passes an origin on");
        assert!(!forgeable(&[page, ("content-type", "multipart/form-data; boundary=x")], true));
        assert!(forgeable(&[page, ("content-type", "text/plain")], true));
    }
}
