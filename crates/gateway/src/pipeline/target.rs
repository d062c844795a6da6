//! Normalizes request targets like a browser's URL parser: resolves dot segments and treats backslashes as
//! slashes. All later checks see the normalized path.

use http::Uri;
use http::uri::PathAndQuery;
use url::Url;

/// A target that is not a path below the origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MalformedTarget;

/// Normalizes a target. Returns `None` when it is normalized already, the usual case, so that no `Uri` is
/// allocated.
pub(crate) fn normalized(uri: &Uri) -> Result<Option<Uri>, MalformedTarget> {
    let path = uri.path();
    if !path.starts_with('/') || names_an_authority(path) {
        return Err(MalformedTarget);
    }
    if !path.contains('\\') && !path.split('/').any(is_dot_segment) {
        return Ok(None);
    }
    let text = uri.path_and_query().map_or(path, PathAndQuery::as_str);
    let url = Url::parse(&format!("http://loopback{text}")).map_err(|_| MalformedTarget)?;
    if names_an_authority(url.path()) {
        return Err(MalformedTarget);
    }
    let text = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    text.parse().map(Some).map_err(|_| MalformedTarget)
}

/// Whether a path starts with an authority: URL parsers read `//host/path` as a path on another host.
fn names_an_authority(path: &str) -> bool {
    path.starts_with("//") || path.starts_with("/\\")
}

fn is_dot_segment(segment: &str) -> bool {
    matches!(segment, "." | "..")
        // "%2e%2e", the longest spelling, has six characters.
        || (segment.len() <= 6
            && segment.contains('%')
            && matches!(segment.to_ascii_lowercase().as_str(), "%2e" | "%2e%2e" | ".%2e" | "%2e."))
}

/// Whether a path is percent-decodable to valid UTF-8.
pub(crate) fn decodes(path: &str) -> bool {
    if !path.contains('%') {
        return true;
    }
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|b| char::from(b).to_digit(16));
        let (Some(high), Some(low)) = (digit(bytes.next()), digit(bytes.next())) else { return false };
        #[expect(clippy::cast_possible_truncation, reason = "two hex digits are one byte")]
        decoded.push((high * 16 + low) as u8);
    }
    std::str::from_utf8(&decoded).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(target: &str) -> Result<String, MalformedTarget> {
        let uri: Uri = target.parse().unwrap();
        Ok(normalized(&uri)?.unwrap_or(uri).to_string())
    }

    #[test]
    fn dot_segments_and_backslashes_are_normalized() {
        assert_eq!(normal("/api/gateway/version?a=..").unwrap(), "/api/gateway/version?a=..");
        assert_eq!(normal("/x/../api/./gateway/version").unwrap(), "/api/gateway/version");
        assert_eq!(normal("/x/%2E%2e/health?q=1").unwrap(), "/health?q=1");
        assert_eq!(normal("/api\\gateway\\version").unwrap(), "/api/gateway/version");
        assert_eq!(normal("/../../health").unwrap(), "/health");
    }

    #[test]
    fn target_with_an_authority_is_malformed() {
        for target in ["//", "//evil/health", "/\\evil/health", "/.//evil", "*"] {
            assert_eq!(normal(target), Err(MalformedTarget), "{target}");
        }
    }

    #[test]
    fn percent_escapes_must_decode_to_utf8() {
        assert!(decodes("/a/%41%C3%A4/b"));
        for path in ["/%", "/%4", "/%zz", "/%E0%A4%A", "/%ff"] {
            assert!(!decodes(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn normal_target_is_stable(path in "/[a-c./\\\\%2eE]{0,20}") {
            if let Ok(uri) = path.parse::<Uri>()
                && let Ok(Some(normal)) = normalized(&uri)
            {
                prop_assert_eq!(normalized(&normal), Ok(None));
                prop_assert!(!normal.path().split('/').any(is_dot_segment));
            }
        }
    }
}
