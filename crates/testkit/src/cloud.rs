//! A fake control plane that records requests and returns scripted responses.
//!
//! For errors that the real control plane cannot be made to return. It implements the runner's routes only
//! and deduplicates events by their nonce.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use loopgate_api::ids::LoopId;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Far above the largest event or artifact of a runner.
const BODY_LIMIT: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Last segment of the path, for example `events`.
    pub route: String,
    pub loop_id: String,
    /// Bearer token of the request.
    pub token: String,
    /// Nonce of an event, or idempotency key of a token refresh. Empty without one.
    pub nonce: String,
    /// JSON body; null when the body is not JSON.
    pub body: Value,
    /// HTTP status of the response.
    pub status: u16,
}

/// State of a loop's runner token, which is rotated as the real control plane does.
#[derive(Debug)]
struct RunnerToken {
    current: String,
    /// All tokens so far, oldest first.
    issued: Vec<String>,
    /// Token and idempotency key of the last refresh. A repeated refresh with both returns the same response.
    refreshed: Option<(String, String)>,
    state: TokenState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenState {
    Valid,
    /// Only a refresh is accepted.
    RefreshOnly,
    /// The token has expired and the loop is `TIMED_OUT`. A heartbeat with the desktop's key revives it.
    TimedOut,
}

#[derive(Debug, Default)]
struct CloudState {
    requests: Vec<ReceivedRequest>,
    nonces: HashSet<String>,
    /// Responses that are returned once each, by route.
    scripted: HashMap<String, VecDeque<(u16, Value)>>,
    /// Responses that are returned until [`Cloud::answer_successfully`], by route.
    fixed: HashMap<String, (u16, Value)>,
    /// Runner tokens by loop id. Loops without an entry accept any token.
    tokens: HashMap<String, RunnerToken>,
    /// Number of responses still to be dropped, by route.
    lost: HashMap<String, u32>,
    /// Notified after each request.
    arrivals: watch::Sender<()>,
}

/// A fake control plane. The server stops when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Cloud {
    address: std::net::SocketAddr,
    inner: Arc<Mutex<CloudState>>,
    _stop: Arc<tokio_util::sync::DropGuard>,
}

impl Cloud {
    /// Starts the server on a free loopback port.
    pub async fn start() -> anyhow::Result<Self> {
        let inner = Arc::new(Mutex::new(CloudState::default()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let stop = tokio_util::sync::CancellationToken::new();
        let app = Router::new()
            .route("/loops/{id}", axum::routing::any(respond))
            .route("/loops/{id}/{route}", axum::routing::any(respond))
            .with_state(inner.clone());
        let stopped = stop.clone();
        tokio::spawn(async move {
            let serving = axum::serve(listener, app).with_graceful_shutdown(stopped.cancelled_owned());
            if let Err(error) = serving.await {
                tracing::error!(%error, "fake control plane failed");
            }
        });
        Ok(Self { address, inner, _stop: Arc::new(stop.drop_guard()) })
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues a response that is returned once for a route.
    pub fn answer_once(&self, route: &str, status: u16, body: Value) {
        self.lock().scripted.entry(route.to_owned()).or_default().push_back((status, body));
    }

    /// Sets the response for all further requests of a route.
    pub fn answer_always(&self, route: &str, status: u16, body: Value) {
        self.lock().fixed.insert(route.to_owned(), (status, body));
    }

    /// Removes all scripted responses.
    pub fn answer_successfully(&self) {
        let mut inner = self.lock();
        inner.fixed.clear();
        inner.scripted.clear();
    }

    /// Enables token checks for a loop. The given token is accepted for a refresh only.
    pub fn require_refresh(&self, id: LoopId, token: &str) {
        self.track_token(id, token, TokenState::RefreshOnly);
    }

    /// Enables token checks for a loop whose token has expired. The loop is `TIMED_OUT` until a heartbeat of
    /// the desktop revives it.
    pub fn time_out(&self, id: LoopId, token: &str) {
        self.track_token(id, token, TokenState::TimedOut);
    }

    fn track_token(&self, id: LoopId, token: &str, state: TokenState) {
        let token =
            RunnerToken { current: token.to_owned(), issued: vec![token.to_owned()], refreshed: None, state };
        self.lock().tokens.insert(id.to_string(), token);
    }

    /// Returns all tokens of a loop with token checks, oldest first.
    #[must_use]
    pub fn tokens(&self, id: LoopId) -> Vec<String> {
        self.lock().tokens.get(&id.to_string()).map(|token| token.issued.clone()).unwrap_or_default()
    }

    /// Processes the next `count` requests of a route, but closes the connection instead of responding.
    pub fn lose_answers(&self, route: &str, count: u32) {
        self.lock().lost.insert(route.to_owned(), count);
    }

    /// Returns a receiver that is notified after each further request.
    #[must_use]
    pub fn arrivals(&self) -> watch::Receiver<()> {
        self.lock().arrivals.subscribe()
    }

    /// Waits until the recorded requests satisfy a condition, and returns its value.
    pub async fn wait_for<T>(&self, mut condition: impl FnMut(&Self) -> Option<T>) -> T {
        let mut arrivals = self.arrivals();
        loop {
            if let Some(value) = condition(self) {
                return value;
            }
            if arrivals.changed().await.is_err() {
                // Unreachable: `self` holds the sender.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Returns all requests in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.lock().requests.clone()
    }

    /// Returns the requests of a route that were answered with status 200, in order.
    #[must_use]
    pub fn accepted(&self, id: LoopId, route: &str) -> Vec<ReceivedRequest> {
        let id = id.to_string();
        let received = self.requests();
        received.into_iter().filter(|r| r.loop_id == id && r.route == route && r.status == 200).collect()
    }

    /// Returns the accepted events of a type, in order.
    #[must_use]
    pub fn events(&self, id: LoopId, kind: &str) -> Vec<Value> {
        self.accepted(id, "events").into_iter().map(|r| r.body).filter(|b| b["type"] == kind).collect()
    }

    /// Lines of the loop program's output. Output of the preparation before the program's start is excluded.
    #[must_use]
    pub fn output(&self, id: LoopId) -> Vec<String> {
        let chunks = self.events(id, "output");
        let text = |event: &Value| event["data"]["chunk"].as_str().unwrap_or_default().to_owned();
        chunks
            .iter()
            .map(text)
            .filter(|chunk| !chunk.starts_with("[bootstrap-"))
            .flat_map(|chunk| chunk.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, CloudState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn respond(
    State(inner): State<Arc<Mutex<CloudState>>>,
    Path(path): Path<HashMap<String, String>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let header =
        |name: &str| parts.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let (nonce, key) = (header("x-loop-event-nonce"), header("idempotency-key"));
    let token = header("authorization").trim_start_matches("Bearer ").to_owned();
    let Ok(bytes) = axum::body::to_bytes(body, BODY_LIMIT).await else {
        // The client closed the connection while sending the body.
        return StatusCode::BAD_REQUEST.into_response();
    };
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let route = path.get("route").cloned().unwrap_or_else(|| "loop".to_owned());
    let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
    let loop_id = path.get("id").cloned().unwrap_or_default();
    // Scripted responses take precedence over token checks, so that a test can simulate any failure.
    let scripted = inner.scripted.get_mut(&route).and_then(VecDeque::pop_front);
    let fixed = scripted.or_else(|| inner.fixed.get(&route).cloned());
    let token_response = fixed.or_else(|| inner.tokens.get_mut(&loop_id)?.check(&route, &token, &key));
    let (status, response) =
        token_response.unwrap_or_else(|| default_response(&route, &nonce, &mut inner.nonces));
    let is_lost = inner.lost.get_mut(&route).is_some_and(|count| {
        let is_lost = *count > 0;
        *count = count.saturating_sub(1);
        is_lost
    });
    let nonce = if nonce.is_empty() { key } else { nonce };
    // Recorded also when the response is dropped: the request was processed, only its response is lost.
    inner.requests.push(ReceivedRequest { route, loop_id, token, nonce, body, status });
    inner.arrivals.send_replace(());
    if is_lost {
        // An error in the body stream makes the server close the connection without a response.
        let broken =
            futures_util::stream::once(async { Err::<bytes::Bytes, _>(std::io::Error::other("lost")) });
        return axum::body::Body::from_stream(broken).into_response();
    }
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Json(response))
        .into_response()
}

impl RunnerToken {
    /// Returns the response to a request with a token; `None` when the token is accepted and the default
    /// response applies.
    fn check(&mut self, route: &str, token: &str, key: &str) -> Option<(u16, Value)> {
        let is_by_desktop = route == "heartbeat" && token.starts_with("lgk_");
        if is_by_desktop && self.state == TokenState::TimedOut {
            return Some(self.rotate(&json!({"bumped": true, "revived": true})));
        }
        if route == "refresh-token" && self.state != TokenState::TimedOut {
            let refresh = (token.to_owned(), key.to_owned());
            // The first refresh's response may have been lost: the retry with the same key must not rotate
            // again.
            if self.refreshed.as_ref() == Some(&refresh) {
                return Some(self.token_response(&json!({})));
            }
            if token == self.current {
                self.refreshed = Some(refresh);
                return Some(self.rotate(&json!({})));
            }
        }
        if route == "loop" && self.state == TokenState::TimedOut {
            return Some((200, json!({"success": true, "data": {"status": "TIMED_OUT"}})));
        }
        let is_valid = self.state == TokenState::Valid && token == self.current;
        let unauthorized = json!({"success": false, "error": "Invalid or expired runner token"});
        (!is_valid && !is_by_desktop).then_some((401, unauthorized))
    }

    /// Issues a new token and returns it with additional members.
    fn rotate(&mut self, members: &Value) -> (u16, Value) {
        self.current = format!("a-runner-token-that-was-issued-as-number-{}", self.issued.len() + 1);
        self.issued.push(self.current.clone());
        self.state = TokenState::Valid;
        self.token_response(members)
    }

    fn token_response(&self, members: &Value) -> (u16, Value) {
        let mut data =
            json!({"token": self.current, "expiresAt": "2040-01-01T00:00:00.000Z", "jti": self.current});
        if let (Some(data), Some(members)) = (data.as_object_mut(), members.as_object()) {
            data.extend(members.clone());
        }
        (200, json!({"success": true, "data": data}))
    }
}

fn default_response(route: &str, nonce: &str, nonces: &mut HashSet<String>) -> (u16, Value) {
    let ok = |data: Value| (200, json!({"success": true, "data": data}));
    match route {
        "events" if nonce.is_empty() => {
            (401, json!({"success": false, "error": "Missing runner event nonce"}))
        }
        "events" if !nonces.insert(nonce.to_owned()) => {
            (409, json!({"success": false, "error": "Replay detected"}))
        }
        "events" => ok(json!({"received": true})),
        "refresh-token" => {
            ok(json!({"token": "token-2", "expiresAt": "2040-01-01T00:00:00.000Z", "jti": "j2"}))
        }
        "heartbeat" => ok(json!({"bumped": true})),
        "loop" => ok(json!({"status": "RUNNING"})),
        _ => ok(json!({"stored": true})),
    }
}
