//! Forwards requests without a matching route to another gateway, if the owner configured one.
//!
//! Forwarded requests have passed all checks of the pipeline. Credentials of this gateway are stripped.

use std::time::Duration;

use axum::body::Body;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CONNECTION, CONTENT_LENGTH, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Response, StatusCode};
use loopgate_api::names::{GATEWAY_TOKEN_HEADER, SESSION_TOKEN_HEADER};
use loopgate_http_client::LazyClient;

use crate::error::HttpError;

/// Timeout for connecting to the other gateway.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// Timeout between two reads of the response. Generous, because event streams may be silent for minutes.
const SILENCE_LIMIT: Duration = Duration::from_secs(300);
/// Hop-by-hop headers (RFC 9110, section 7.6.1), which a proxy must not forward.
const HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The other gateway.
#[derive(Debug)]
pub(crate) struct Fallback {
    origin: String,
    client: LazyClient,
}

impl Fallback {
    pub(crate) fn new(origin: String) -> Self {
        let client = LazyClient::new(|builder| {
            builder
                .connect_timeout(CONNECT_LIMIT)
                .read_timeout(SILENCE_LIMIT)
                // Redirects are passed on to the caller instead of being followed with its headers.
                .redirect(reqwest::redirect::Policy::none())
        });
        Self { origin, client }
    }

    /// Forwards a request and streams the response. Responds with 502 when the gateway is unreachable.
    pub(crate) async fn forward(&self, request: &Parts, body: Bytes) -> Response<Body> {
        let client = match self.client.get() {
            Ok(client) => client,
            Err(error) => return unreachable(&error.to_string()),
        };
        match self.send(client, request, body).await {
            Ok(answer) => relayed(answer),
            Err(error) => unreachable(&format!("{error:?}")),
        }
    }

    async fn send(
        &self,
        client: &reqwest::Client,
        request: &Parts,
        body: Bytes,
    ) -> reqwest::Result<reqwest::Response> {
        let target = request.uri.path_and_query().map_or("/", |target| target.as_str());
        let mut headers = end_to_end(&request.headers);
        // Set by the client for the new connection.
        for own in [HOST, CONTENT_LENGTH] {
            headers.remove(own);
        }
        for secret in [GATEWAY_TOKEN_HEADER, SESSION_TOKEN_HEADER] {
            headers.remove(secret);
        }
        let onward = client.request(request.method.clone(), format!("{}{target}", self.origin));
        let onward = onward.headers(headers);
        // A body of GET or HEAD has no defined semantics, and some servers reject it.
        let bodiless = matches!(request.method, Method::GET | Method::HEAD);
        if bodiless { onward } else { onward.body(body) }.send().await
    }
}

fn unreachable(cause: &str) -> Response<Body> {
    let cause = loopgate_api::redact::message(cause);
    tracing::warn!(cause, "fallback gateway unreachable");
    HttpError::new(StatusCode::BAD_GATEWAY, "fallback gateway unreachable")
        .with_code("fallback_unreachable")
        .into_response()
}

fn relayed(answer: reqwest::Response) -> Response<Body> {
    let mut reply = Response::new(());
    *reply.status_mut() = answer.status();
    *reply.headers_mut() = end_to_end(answer.headers());
    // Set by this gateway according to its own origin policy.
    reply.headers_mut().remove(ACCESS_CONTROL_ALLOW_ORIGIN);
    reply.map(|()| Body::from_stream(answer.bytes_stream()))
}

/// Removes the hop-by-hop headers, including those that the `Connection` header names.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut forwarded = headers.clone();
    let listed = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    for name in
        listed.flat_map(|names| names.split(',')).filter_map(|name| name.trim().parse::<HeaderName>().ok())
    {
        forwarded.remove(name);
    }
    for name in HOP_BY_HOP {
        forwarded.remove(name);
    }
    forwarded
}
