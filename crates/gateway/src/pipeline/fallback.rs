//! Hands requests that no handler here takes to another gateway, when the owner names one.
//!
//! They have passed every check by then. The gateway's own credentials are not forwarded.

use std::sync::OnceLock;
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

use crate::error::HttpError;

/// For reaching the other gateway.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// For the next bytes of its answer; streams are silent for a while.
const SILENCE_LIMIT: Duration = Duration::from_secs(300);
/// Headers that are about one connection, not about the message.
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

/// The other gateway. Its client is made with the first request.
#[derive(Debug)]
pub(crate) struct Fallback {
    origin: String,
    client: OnceLock<reqwest::Client>,
}

impl Fallback {
    /// The gateway at an origin.
    pub(crate) fn new(origin: String) -> Self {
        Self { origin, client: OnceLock::new() }
    }

    /// The other gateway's answer, as it comes.
    pub(crate) async fn forward(&self, request: &Parts, body: Bytes) -> Response<Body> {
        match self.ask(request, body).await {
            Ok(answer) => relayed(answer),
            Err(error) => {
                let cause = loopgate_api::redact::message(&format!("{error:?}"));
                tracing::warn!(cause, "the fallback gateway gave no answer");
                HttpError::new(StatusCode::BAD_GATEWAY, "fallback gateway unreachable")
                    .with_code("fallback_unreachable")
                    .into_response()
            }
        }
    }

    async fn ask(&self, request: &Parts, body: Bytes) -> reqwest::Result<reqwest::Response> {
        let target = request.uri.path_and_query().map_or("/", |target| target.as_str());
        let mut headers = end_to_end(&request.headers);
        for own in [HOST, CONTENT_LENGTH] {
            headers.remove(own);
        }
        for secret in [GATEWAY_TOKEN_HEADER, SESSION_TOKEN_HEADER] {
            headers.remove(secret);
        }
        let onward = self.client()?.request(request.method.clone(), format!("{}{target}", self.origin));
        let onward = onward.headers(headers);
        let bodiless = matches!(request.method, Method::GET | Method::HEAD);
        if bodiless { onward } else { onward.body(body) }.send().await
    }

    fn client(&self) -> reqwest::Result<&reqwest::Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .read_timeout(SILENCE_LIMIT)
            // Where it leads is for the caller to decide.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(self.client.get_or_init(|| client))
    }
}

fn relayed(answer: reqwest::Response) -> Response<Body> {
    let mut reply = Response::new(());
    *reply.status_mut() = answer.status();
    *reply.headers_mut() = end_to_end(answer.headers());
    // Which pages may read it is said here.
    reply.headers_mut().remove(ACCESS_CONTROL_ALLOW_ORIGIN);
    reply.map(|()| Body::from_stream(answer.bytes_stream()))
}

/// The headers without those of the connection, which it may name itself.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    for name in
        named.flat_map(|names| names.split(',')).filter_map(|name| name.trim().parse::<HeaderName>().ok())
    {
        kept.remove(name);
    }
    for name in HOP_BY_HOP {
        kept.remove(name);
    }
    kept
}
