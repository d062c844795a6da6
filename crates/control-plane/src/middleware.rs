//! Middleware for every request: host and origin checks, CORS headers, the renewed session cookie, and compression.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONTENT_TYPE, ORIGIN, SET_COOKIE,
    VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Version};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};

use crate::app::ControlPlaneState;
use crate::credentials::cookie::RenewedCookie;
use crate::credentials::header::header;
use crate::error::{ApiError, bad_request, forbidden};
use crate::web;

// Size in bytes above which responses are compressed: below, a packet holds them anyway.
const COMPRESSED_ABOVE: u16 = 1024;

// Routes that check the origin themselves, because their error body differs from the usual one.
const OWN_ORIGIN_CHECK: [&str; 2] = ["/desktop/onboarding-attempt", "/compute-targets/local-auth/challenge"];

/// Rejects requests with an unknown `Host` or an untrusted `Origin`, and adds the common response headers.
pub async fn check(State(app): State<ControlPlaneState>, mut request: Request, next: Next) -> Response {
    // Protects against DNS rebinding: a page whose host name resolves to this machine.
    if !app.origins.accepts_host(request.headers(), request.uri()) {
        return ApiError::new(StatusCode::FORBIDDEN, "host not allowed")
            .code("host_not_allowed")
            .into_response();
    }
    // PostgreSQL cannot store U+0000, so no path or query parameter of the API can match anything. Addresses of pages are
    // read by the app.
    let uri = request.uri();
    let has_nul = uri.path_and_query().is_some_and(|address| address.as_str().contains("%00"));
    if has_nul && web::is_api(uri.path()) {
        return bad_request("The URL must not contain U+0000").code("malformed_address").into_response();
    }
    // Requests without `Origin` come from programs, or are same-origin GETs; the authentication decides about
    // them.
    let origin = request.headers().get(ORIGIN).cloned();
    let trusted =
        origin.as_ref().is_none_or(|origin| origin.to_str().is_ok_and(|origin| app.origins.trusts(origin)));
    // The sandboxed frame of diagrams has an opaque origin. Files of the app are public.
    let is_public = OWN_ORIGIN_CHECK.contains(&request.uri().path()) || web::is_asset(request.uri().path());
    if !trusted && !is_public {
        return forbidden().into_response();
    }
    let preflight = request.method() == Method::OPTIONS && origin.is_some();
    // The extractor of the session runs inside `next` and has no access to the response.
    let renewed = RenewedCookie::default();
    request.extensions_mut().insert(renewed.clone());
    let mut response =
        if preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    // A handler that sets the cookie itself, for example at sign-out, takes precedence.
    if let Some(cookie) = renewed.get().filter(|_| !response.headers().contains_key(SET_COOKIE)) {
        response.headers_mut().insert(SET_COOKIE, cookie.clone());
    }
    if let Some(origin) = origin.filter(|_| trusted) {
        allow(&mut response, origin, preflight);
    }
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Returns the layer that compresses texts of more than 1 KB. Streams of events are sent as they arrive, and secrets
/// uncompressed: the length of a compressed response can reveal its content.
pub fn compression() -> CompressionLayer<impl Predicate> {
    let is_text = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        let content_type = header(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
        let text = content_type.starts_with("application/json") || content_type.starts_with("text/");
        let is_secret = header(headers, CACHE_CONTROL.as_str()).is_some_and(|value| value == "no-store");
        text && !content_type.starts_with("text/event-stream") && !is_secret
    };
    CompressionLayer::new().compress_when(SizeAbove::new(COMPRESSED_ABOVE).and(is_text))
}

fn allow(response: &mut Response, origin: HeaderValue, preflight: bool) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    // The response depends on `Origin`, so caches must not share it between origins.
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if preflight {
        let methods = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        let allowed = HeaderValue::from_static(
            "authorization, content-type, x-org-slug, x-session-key, last-event-id, idempotency-key, if-none-match",
        );
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
}
