//! An HTTP client of the service under test, and its responses.

use std::net::{IpAddr, SocketAddr};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;
use uuid::Uuid;

/// A client that calls the router in process, with headers that it sends on every request.
#[derive(Clone)]
pub struct TestClient {
    router: Router,
    headers: Vec<(String, String)>,
    address: Option<IpAddr>,
}

/// A response whose body was read completely.
#[derive(Debug)]
pub struct TestResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
    /// The parsed body, or null when it is not JSON.
    pub json: Value,
}

impl TestResponse {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns a member of `data`.
    pub fn data(&self, name: &str) -> &Value {
        &self.json["data"][name]
    }

    /// Returns status, error text and code of an error response.
    pub fn failure(&self) -> (u16, &str, &str) {
        assert_eq!(self.json["success"], false, "{}", self.text);
        let text = |name: &str| self.json[name].as_str().unwrap_or_default();
        (self.status.as_u16(), text("error"), text("code"))
    }

    /// Returns status and error text of an error response.
    pub fn refused(&self) -> (u16, &str) {
        let (status, error, _) = self.failure();
        (status, error)
    }
}

impl TestClient {
    pub fn new(router: Router) -> Self {
        Self { router, headers: vec![("host".to_owned(), "127.0.0.1:19440".to_owned())], address: None }
    }

    /// Returns a copy that sends the header with this value instead of an earlier one.
    pub fn with_header(&self, name: &str, value: &str) -> Self {
        let mut client = self.without(name);
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    /// Returns a copy that does not send the header.
    pub fn without(&self, name: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(own, _)| own != name);
        client
    }

    /// Returns the value of a header that is sent on every request, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// Returns a copy that calls the service of another client.
    pub fn at(&self, other: &Self) -> Self {
        Self { router: other.router.clone(), ..self.clone() }
    }

    /// Returns a copy with the session cookie and key that a sign-in returned.
    pub fn signed_in(&self, reply: &TestResponse) -> Self {
        assert_eq!(reply.status, 200, "{}", reply.text);
        let cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap();
        let key = reply.data("sessionKey").as_str().unwrap();
        self.with_header("cookie", cookie).with_header("x-session-key", key)
    }

    /// Returns a copy whose requests come from this peer address.
    pub fn with_address(&self, address: &str) -> Self {
        Self { address: Some(address.parse().unwrap()), ..self.clone() }
    }

    pub fn with_bearer(&self, token: &str) -> Self {
        self.with_header("authorization", &format!("Bearer {token}"))
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        self.send("GET", path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> TestResponse {
        self.send("POST", path, Some(body.to_string())).await
    }

    pub async fn put(&self, path: &str, body: Value) -> TestResponse {
        self.send("PUT", path, Some(body.to_string())).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> TestResponse {
        self.send("PATCH", path, Some(body.to_string())).await
    }

    pub async fn delete(&self, path: &str) -> TestResponse {
        self.send("DELETE", path, None).await
    }

    /// Posts an event with a new idempotency key.
    pub async fn event(&self, loop_id: Uuid, body: Value) -> TestResponse {
        self.event_with(loop_id, Uuid::new_v4(), body).await
    }

    pub async fn event_with(&self, loop_id: Uuid, nonce: Uuid, body: Value) -> TestResponse {
        let client = self.with_header("x-loop-event-nonce", &nonce.to_string());
        client.post(&format!("/loops/{loop_id}/events"), body).await
    }

    pub async fn send(&self, method: &str, path: &str, body: Option<String>) -> TestResponse {
        let response = self.response(method, path, body).await;
        let (parts, body) = response.into_parts();
        let text = String::from_utf8_lossy(&body.collect().await.unwrap().to_bytes()).into_owned();
        let json = serde_json::from_str(&text).unwrap_or_default();
        TestResponse { status: parts.status, headers: parts.headers, text, json }
    }

    /// Sends a request and returns the response with an unread body, for streams.
    pub async fn response(&self, method: &str, path: &str, body: Option<String>) -> http::Response<Body> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        // Axum's `into_make_service_with_connect_info` adds this in production; an in-process call has no
        // connection.
        if let Some(address) = self.address {
            request = request.extension(ConnectInfo(SocketAddr::from((address, 50000))));
        }
        let request = request.body(Body::from(body.unwrap_or_default())).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }
}
