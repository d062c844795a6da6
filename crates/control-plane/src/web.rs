//! The embedded web app: its files, and `index.html` for every path that a browser navigates to.
//!
//! Handles only paths without an API route, and serves nothing but embedded files. The build compresses all texts, and
//! only the compressed form is embedded.

use std::io;
use std::sync::LazyLock;

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use loopgate_api::names::GATEWAY_PORTS;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::app::ControlPlaneState;
use crate::conditional;
use crate::credentials::header::header;
use crate::error::{ApiError, not_implemented};

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[include = "*.gz"]
#[include = "*.woff2"]
#[include = "*.png"]
#[include = "*.ico"]
// Compile without a built web app; `UNBUILT` explains how to build it.
#[allow_missing = true]
struct WebAssets;

const INDEX: &str = "index.html";

/// Page of the sandboxed frame in which diagrams are rendered, by a library that creates style elements without a nonce.
const DIAGRAM_FRAME: &str = "/diagram.html";
const DIAGRAM_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
/// What `index.html` contains in place of the nonce and of the ports of gateways.
const NONCE_PLACEHOLDER: &str = "__CSP_NONCE__";
const PORTS_PLACEHOLDER: &str = "__GATEWAY_PORTS__";

/// Returns the ports of loopback that a page may connect to. A server for several machines does not know the ports of
/// their gateways: it allows those that gateways bind by default. The others are reached through the desktop's
/// connection.
fn gateway_ports(gateway: Option<u16>) -> Vec<u16> {
    gateway.map_or(GATEWAY_PORTS.to_vec(), |port| vec![port])
}

/// Returns the policy of a page: the app's own files, the API on the same origin, and gateways on loopback.
///
/// Style elements need the nonce: diagrams and diffs have some. Style attributes are allowed, because diffs and diagrams
/// consist of elements that have them; they cannot select other elements, and load only what `img-src` allows.
fn policy(nonce: Option<&str>, ports: &[u16]) -> String {
    let nonce = nonce.map(|nonce| format!(" 'nonce-{nonce}'")).unwrap_or_default();
    let gateways: String = ports.iter().map(|port| format!(" http://127.0.0.1:{port}")).collect();
    format!(
        "default-src 'self'; script-src 'self'; style-src 'self'{nonce}; style-src-attr 'unsafe-inline'; \
         img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self'; \
         connect-src 'self'{gateways}; object-src 'none'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'"
    )
}

// First segments of API paths. Unknown paths below them return 501 instead of the app, so that a client never
// mistakes a page for a response.
const API: [&str; 37] = [
    "agent-proposals",
    "agents",
    "api-keys",
    "attachments",
    "audit-log",
    "auth",
    "catalog",
    "change-requests",
    "compute-targets",
    "cron",
    "custom-fields",
    "desktop",
    "desktop-gateway",
    "documents",
    "feature-flags",
    "gateway-auth",
    "health",
    "integrations",
    "internal",
    "invitations",
    "judge-scores",
    "loops",
    "me",
    "members",
    "openapi.json",
    "organization",
    "organizations",
    "projects",
    "public-keys",
    "repositories",
    "sessions",
    "storage",
    "tags",
    "teams",
    "tickets",
    "users",
    "webhooks",
];

// API paths whose first segment is also a page of the app.
const API_PATHS: [&str; 3] = ["/onboarding", "/onboarding/complete-wizard", "/onboarding/dismiss-checklist"];

// First segments of the app's own pages and files; every other segment is an organization's slug.
const PAGES: [&str; 8] = [
    "assets",
    "implementation-plans",
    "join",
    "onboarding",
    "reset-password",
    "settings",
    "sign-in",
    "signed-out",
];

/// Returns whether a slug is used by pages or routes, and so not available to organizations.
pub fn is_reserved(slug: &str) -> bool {
    API.contains(&slug) || PAGES.contains(&slug)
}

/// Returns whether a path is that of a file whose name contains a hash of its content.
pub fn is_asset(path: &str) -> bool {
    path.starts_with("/assets/")
}

/// Returns whether a path belongs to the API.
pub fn is_api(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    API.contains(&first) || API_PATHS.contains(&path)
}

/// Handles requests that match no route.
pub async fn fallback(
    State(app): State<ControlPlaneState>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let path = uri.path();
    if is_api(path) {
        return not_implemented().into_response();
    }
    if !matches!(method, Method::GET | Method::HEAD) {
        return not_found();
    }
    let file = Some(path.trim_start_matches('/')).filter(|name| *name != INDEX).and_then(Asset::find);
    if let Some(file) = file {
        return file.serve(path, &headers);
    }
    if !is_navigation(&headers) {
        return not_found();
    }
    page(&gateway_ports(app.config.gateway_port))
}

/// Returns the page of the app, with a nonce of its own. Not cached: a stored page would have another nonce than the
/// policy of the response that confirms it.
fn page(ports: &[u16]) -> Response {
    let Some(text) = INDEX_TEXT.as_deref() else {
        return protect(Html(UNBUILT).into_response(), None, ports);
    };
    let nonce = STANDARD.encode(rand::random::<[u8; 16]>());
    let named_ports = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
    let page = Html(text.replace(NONCE_PLACEHOLDER, &nonce).replace(PORTS_PLACEHOLDER, &named_ports));
    protect(([(CACHE_CONTROL, "no-cache")], page).into_response(), Some(&nonce), ports)
}

/// Text of the page. `None` without a built web app.
static INDEX_TEXT: LazyLock<Option<String>> = LazyLock::new(|| {
    let text = Asset::find(INDEX)?.text();
    text.inspect_err(|error| tracing::error!(%error, "the web app is damaged")).ok()
});

fn not_found() -> Response {
    ApiError::new(StatusCode::NOT_FOUND, "route not found").code("route_not_found").into_response()
}

// Browsers accept HTML when they navigate. A missing script or image must be a 404, not a page with status
// 200.
fn is_navigation(headers: &HeaderMap) -> bool {
    header(headers, ACCEPT.as_str()).is_some_and(|accept| accept.contains("text/html"))
}

/// An embedded file.
struct Asset {
    file: EmbeddedFile,
    is_compressed: bool,
}

impl Asset {
    fn find(path: &str) -> Option<Self> {
        let compressed = WebAssets::get(&format!("{path}.gz"));
        let file = compressed.map(|file| Self { file, is_compressed: true });
        file.or_else(|| WebAssets::get(path).map(|file| Self { file, is_compressed: false }))
    }

    fn serve(self, path: &str, headers: &HeaderMap) -> Response {
        let tag = format!("\"{}\"", hex::encode(&self.file.metadata.sha256_hash()[..16]));
        // The build adds a content hash to the names in this directory, so these files never change.
        let cache = if is_asset(path) { "public, max-age=31536000, immutable" } else { "no-cache" };
        let is_compressed = self.is_compressed;
        let mut response = if conditional::is_current(headers, &tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let mut response = self.content(headers);
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
            response
        };
        let set = response.headers_mut();
        set.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        if is_compressed {
            set.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            set.insert(ETAG, tag);
        }
        if is_asset(path) {
            set.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
        if path == DIAGRAM_FRAME {
            return with_policy(response, DIAGRAM_POLICY);
        }
        protect(response, None, &[])
    }

    /// Returns the file compressed to the clients that accept it: to all browsers.
    fn content(self, headers: &HeaderMap) -> Response {
        let accepted = header(headers, ACCEPT_ENCODING.as_str()).unwrap_or_default();
        let accepts_gzip = accepted.split(',').any(|coding| {
            let coding = coding.trim();
            coding.starts_with("gzip") && !coding.ends_with("q=0")
        });
        if !self.is_compressed {
            return self.file.data.into_response();
        }
        if accepts_gzip {
            return ([(CONTENT_ENCODING, "gzip")], self.file.data).into_response();
        }
        match self.text() {
            Ok(text) => text.into_response(),
            Err(error) => ApiError::internal(error).into_response(),
        }
    }

    /// Returns the text of a file.
    fn text(&self) -> io::Result<String> {
        let data = &*self.file.data;
        if self.is_compressed { io::read_to_string(GzDecoder::new(data)) } else { io::read_to_string(data) }
    }
}

fn protect(response: Response, nonce: Option<&str>, ports: &[u16]) -> Response {
    with_policy(response, &policy(nonce, ports))
}

fn with_policy(mut response: Response, policy: &str) -> Response {
    // `no-referrer` also keeps one-time tokens in the URL out of requests to other sites.
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "ttf" => "font/ttf",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

const UNBUILT: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Loopgate</title></head>\
<body><h1>Loopgate is running</h1><p>Its web app is not part of this build. Build it with \
<code>npm ci &amp;&amp; npm run build</code> in <code>web/</code>, or start everything with \
<code>cargo xtask up</code>.</p></body></html>";
