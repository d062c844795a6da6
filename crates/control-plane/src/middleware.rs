//! What every request passes first: our own host name, a trusted page, and the headers of answers:
//! a renewed session cookie, and what lets trusted pages of another origin read ours.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, ORIGIN, SET_COOKIE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Method, StatusCode};

use crate::app::ControlPlaneState;
use crate::credentials::cookie::RenewedCookie;
use crate::error::{ApiError, bad_request, forbidden};

/// Routes that refuse a foreign page with an answer of their own.
const OWN_ORIGIN_CHECK: [&str; 2] = ["/desktop/onboarding-attempt", "/compute-targets/local-auth/challenge"];

/// Refuses foreign host names and foreign pages on every route.
pub async fn check(State(app): State<ControlPlaneState>, mut request: Request, next: Next) -> Response {
    if !app.origins.accepts_host(request.headers(), request.uri()) {
        return ApiError::new(StatusCode::FORBIDDEN, "host not allowed")
            .code("host_not_allowed")
            .into_response();
    }
    // The database stores it nowhere, so nothing has it in its name.
    if request.uri().path_and_query().is_some_and(|address| address.as_str().contains("%00")) {
        return bad_request("The address must not contain U+0000").code("malformed_address").into_response();
    }
    let origin = request.headers().get(ORIGIN).cloned();
    let trusted =
        origin.as_ref().is_none_or(|origin| origin.to_str().is_ok_and(|origin| app.origins.trusts(origin)));
    if !trusted && !OWN_ORIGIN_CHECK.contains(&request.uri().path()) {
        return forbidden().into_response();
    }
    let preflight = request.method() == Method::OPTIONS && origin.is_some();
    let renewed = RenewedCookie::default();
    request.extensions_mut().insert(renewed.clone());
    let mut response =
        if preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    if let Some(cookie) = renewed.get().filter(|_| !response.headers().contains_key(SET_COOKIE)) {
        response.headers_mut().insert(SET_COOKIE, cookie.clone());
    }
    if let Some(origin) = origin.filter(|_| trusted) {
        allow(&mut response, origin, preflight);
    }
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn allow(response: &mut Response, origin: HeaderValue, preflight: bool) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if preflight {
        let methods = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        let allowed =
            HeaderValue::from_static("authorization, content-type, x-org-slug, x-session-key, last-event-id");
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
}
