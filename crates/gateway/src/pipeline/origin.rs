//! Origin policy and the CORS headers that it results in.
//!
//! The policy does not authenticate. It selects headers, and in production-origins-only mode it also refuses
//! foreign origins.

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

/// Blocks `no-cors` loads such as `<img>` and `<script>` from other origins. They would reveal that a gateway
/// listens on this port.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");
const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const METHODS: HeaderValue = HeaderValue::from_static("GET,POST,PUT,PATCH,DELETE,OPTIONS");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Content-Type,Authorization,X-Desktop-Gateway-Token,X-Desktop-Session-Token,X-Desktop-Source,\
     X-Desktop-Force-Approval,X-Desktop-Approval-Reason",
);
const VARIES: HeaderValue =
    HeaderValue::from_static("Origin,Access-Control-Request-Headers,Access-Control-Request-Private-Network");
const FALSE: HeaderValue = HeaderValue::from_static("false");
const TRUE: HeaderValue = HeaderValue::from_static("true");

/// Decides which origins may read responses.
#[derive(Debug, Clone, Default)]
pub(crate) struct OriginPolicy {
    web_app: Option<WebApp>,
    /// Treats loopback origins as foreign, too.
    production_only: bool,
}

#[derive(Debug, Clone)]
struct WebApp {
    header: HeaderValue,
    parts: OriginParts,
}

/// Scheme, host and port (with the scheme's default port filled in).
type OriginParts = (String, String, Option<u16>);

impl OriginPolicy {
    pub(crate) fn new(web_app_origin: Option<&str>, production_only: bool) -> Self {
        let web_app = web_app_origin.and_then(|text| {
            Some(WebApp { header: HeaderValue::from_str(text).ok()?, parts: parts_of(text)? })
        });
        Self { web_app, production_only }
    }

    /// Whether the origin of the web app is configured. Otherwise foreign origins cannot be distinguished
    /// from it.
    pub(crate) const fn knows_web_app(&self) -> bool {
        self.web_app.is_some()
    }

    /// Whether pages of this origin may read responses. Requests without an origin do not come from a page.
    pub(crate) fn allows(&self, origin: Option<&HeaderValue>) -> bool {
        let Some(origin) = origin else { return true };
        if let Some(web_app) = &self.web_app
            // Fast path: the header is byte-identical to the configured origin.
            && web_app.header == origin
        {
            return true;
        }
        origin.to_str().is_ok_and(|text| self.allows_text(text))
    }

    fn allows_text(&self, origin: &str) -> bool {
        let Some(parts) = parts_of(origin) else { return false };
        if self.web_app.as_ref().is_some_and(|web_app| web_app.parts == parts) {
            return true;
        }
        !self.production_only && is_loopback(&parts.1)
    }

    /// Returns the CORS headers for the response to a request.
    pub(crate) fn headers_for(&self, request: &HeaderMap) -> CorsHeaders {
        let origin = request.get(ORIGIN);
        let allowed = self.allows(origin);
        let private_network = allowed
            && request
                .get(REQUEST_PRIVATE_NETWORK)
                .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true"));
        let granted = origin.filter(|_| allowed).or(self.web_app.as_ref().map(|web_app| &web_app.header));
        CorsHeaders { origin: granted.cloned(), private_network }
    }
}

/// CORS headers of one response.
#[derive(Debug, Clone, Default)]
pub(crate) struct CorsHeaders {
    origin: Option<HeaderValue>,
    private_network: bool,
}

impl CorsHeaders {
    pub(crate) fn apply(self, headers: &mut HeaderMap) {
        // Seven is the number of headers below: avoids reallocating the map.
        headers.reserve(7);
        if let Some(origin) = self.origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
        headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, FALSE);
        headers.insert(VARY, VARIES);
        headers.insert(RESOURCE_POLICY, SAME_ORIGIN);
        if self.private_network {
            headers.insert(ALLOW_PRIVATE_NETWORK, TRUE);
        }
    }
}

/// Returns the origin of a request. `null` counts as absent: sandboxed frames and files of any site share it.
pub(crate) fn named_origin(headers: &HeaderMap) -> Option<&str> {
    headers.get(ORIGIN)?.to_str().ok().filter(|text| !text.is_empty() && *text != "null")
}

fn parts_of(origin: &str) -> Option<OriginParts> {
    let url = Url::parse(origin).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty())?.to_ascii_lowercase();
    Some((url.scheme().to_owned(), host, url.port_or_known_default()))
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.ends_with(".localhost")
        || matches!(host, "::1" | "[::1]")
        || is_loopback_quad(host)
}

/// Whether the host is an address in 127.0.0.0/8. A prefix match does not suffice: `127.0.0.1.example.com` is
/// a name.
fn is_loopback_quad(host: &str) -> bool {
    let parts: Vec<&str> = host.split('.').collect();
    parts.len() == 4
        && parts[0] == "127"
        && parts.iter().all(|part| {
            part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()) && part.parse::<u8>().is_ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(policy: &OriginPolicy, origin: &'static str) -> bool {
        policy.allows(Some(&HeaderValue::from_static(origin)))
    }

    #[test]
    fn web_app_and_loopback_origins_are_allowed() {
        let policy = OriginPolicy::new(Some("https://app.example.test"), false);
        for origin in [
            "https://app.example.test",
            "https://app.example.test:443",
            "http://localhost:3000",
            "http://x.localhost",
            "http://127.0.0.2:8080",
            "http://[::1]:5",
            "capacitor://localhost",
        ] {
            assert!(allowed(&policy, origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "https://app.example.test:444",
            "http://app.example.test",
            "http://127.example.com",
            "http://127.evil.test:8080",
            "http://localhost.evil.test",
            "file:///x",
        ] {
            assert!(!allowed(&policy, origin), "{origin}");
        }
        assert!(policy.allows(None));
    }

    #[test]
    fn production_only_allows_the_web_app_alone() {
        let policy = OriginPolicy::new(Some("https://app.example.test"), true);
        assert!(allowed(&policy, "https://app.example.test"));
        assert!(!allowed(&policy, "http://localhost:3000"));
    }
}
