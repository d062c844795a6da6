//! A control plane that writes down what it hears and answers as it is told.
//!
//! Stands where no test could make the real one refuse, and knows of loops only what a runner tells
//! it: each event once, by its nonce.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use loopgate_api::ids::LoopId;
use serde_json::{Value, json};
use tokio::sync::watch;

/// More than any runner sends.
const BODY_LIMIT: usize = 64 * 1024 * 1024;

/// A request that arrived.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Last segment of the path, for example `events`.
    pub route: String,
    /// The loop that it is about.
    pub loop_id: String,
    /// Bearer token that came with it.
    pub token: String,
    /// Nonce of an event, or key of a refresh.
    pub nonce: String,
    /// Its JSON; null when it was none.
    pub body: Value,
    /// What was answered.
    pub status: u16,
}

/// Token of a loop, as a control plane rotates it.
#[derive(Debug)]
struct RunnerToken {
    /// The one in force.
    current: String,
    /// Every one so far.
    issued: Vec<String>,
    /// The token and the key of the last refresh: asked again with both, it is answered as before.
    refreshed: Option<(String, String)>,
    state: TokenState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenState {
    Valid,
    /// Good for a refresh alone.
    ToRefresh,
    /// Expired, and the loop was given up; a heartbeat with the key of the desktop revives it.
    GivenUp,
}

#[derive(Debug, Default)]
struct CloudState {
    requests: Vec<ReceivedRequest>,
    nonces: HashSet<String>,
    /// Answers to come, by route.
    scripted: HashMap<String, VecDeque<(u16, Value)>>,
    /// Answers until further notice, by route.
    fixed: HashMap<String, (u16, Value)>,
    /// Tokens of the loops whose tokens are checked.
    tokens: HashMap<String, RunnerToken>,
    /// How many of the next answers of a route are lost.
    lost: HashMap<String, u32>,
    /// Tells that something arrived.
    arrivals: watch::Sender<()>,
}

/// A control plane of one test. It ends with the last of its clones.
#[derive(Debug, Clone)]
pub struct Cloud {
    address: std::net::SocketAddr,
    inner: Arc<Mutex<CloudState>>,
    /// Ends the server with its owner.
    _stop: Arc<tokio_util::sync::DropGuard>,
}

impl Cloud {
    /// Starts it on a free port of loopback.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn start() -> anyhow::Result<Self> {
        let inner = Arc::new(Mutex::new(CloudState::default()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let stop = tokio_util::sync::CancellationToken::new();
        let app = Router::new()
            .route("/loops/{id}", axum::routing::any(answer))
            .route("/loops/{id}/{route}", axum::routing::any(answer))
            .with_state(inner.clone());
        let ended = stop.clone();
        tokio::spawn(async move {
            let serving = axum::serve(listener, app).with_graceful_shutdown(ended.cancelled_owned());
            if let Err(error) = serving.await {
                tracing::error!(%error, "the control plane of a test ended");
            }
        });
        Ok(Self { address, inner, _stop: Arc::new(stop.drop_guard()) })
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where it is reached.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next answer of a route.
    pub fn answer_once(&self, route: &str, status: u16, body: Value) {
        self.lock().scripted.entry(route.to_owned()).or_default().push_back((status, body));
    }

    /// Every answer of a route from now on.
    pub fn answer_always(&self, route: &str, status: u16, body: Value) {
        self.lock().fixed.insert(route.to_owned(), (status, body));
    }

    /// The usual answers again.
    pub fn answer_well(&self) {
        let mut inner = self.lock();
        inner.fixed.clear();
        inner.scripted.clear();
    }

    /// Checks the tokens of a loop from now on, and refuses the present one for everything but a refresh.
    pub fn require_refresh(&self, id: LoopId, token: &str) {
        self.track_token(id, token, TokenState::ToRefresh);
    }

    /// Checks the tokens of a loop from now on: the present one has expired, and the loop is `TIMED_OUT`
    /// until the desktop is heard of.
    pub fn give_up(&self, id: LoopId, token: &str) {
        self.track_token(id, token, TokenState::GivenUp);
    }

    fn track_token(&self, id: LoopId, token: &str, state: TokenState) {
        let token =
            RunnerToken { current: token.to_owned(), issued: vec![token.to_owned()], refreshed: None, state };
        self.lock().tokens.insert(id.to_string(), token);
    }

    /// Every token of a loop whose tokens are checked, oldest first.
    #[must_use]
    pub fn tokens(&self, id: LoopId) -> Vec<String> {
        self.lock().tokens.get(&id.to_string()).map(|token| token.issued.clone()).unwrap_or_default()
    }

    /// Carries out the next requests of a route, and drops the connection in place of the answer.
    pub fn lose_answers(&self, route: &str, count: u32) {
        self.lock().lost.insert(route.to_owned(), count);
    }

    /// Tells of everything that arrives from now on.
    #[must_use]
    pub fn arrivals(&self) -> watch::Receiver<()> {
        self.lock().arrivals.subscribe()
    }

    /// Waits until there is something to see among what arrived.
    pub async fn seen<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let mut arrivals = self.arrivals();
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            if arrivals.changed().await.is_err() {
                // Cannot be: this value itself holds the sender.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Everything that arrived, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.lock().requests.clone()
    }

    /// The accepted calls of a route, in order.
    #[must_use]
    pub fn accepted(&self, id: LoopId, route: &str) -> Vec<ReceivedRequest> {
        let id = id.to_string();
        let received = self.requests();
        received.into_iter().filter(|h| h.loop_id == id && h.route == route && h.status == 200).collect()
    }

    /// The accepted events of a type, in order.
    #[must_use]
    pub fn events(&self, id: LoopId, kind: &str) -> Vec<Value> {
        self.accepted(id, "events").into_iter().map(|h| h.body).filter(|b| b["type"] == kind).collect()
    }

    /// Everything that a loop's own process showed to people, line by line. What was done before it
    /// was started is left out.
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

async fn answer(
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
        // Whoever asked went away in the middle.
        return StatusCode::BAD_REQUEST.into_response();
    };
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let route = path.get("route").cloned().unwrap_or_else(|| "loop".to_owned());
    let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
    let loop_id = path.get("id").cloned().unwrap_or_default();
    let scripted = inner.scripted.get_mut(&route).and_then(VecDeque::pop_front);
    let fixed = scripted.or_else(|| inner.fixed.get(&route).cloned());
    let checked = fixed.or_else(|| inner.tokens.get_mut(&loop_id)?.check(&route, &token, &key));
    let (status, answer) = checked.unwrap_or_else(|| usual(&route, &nonce, &mut inner.nonces));
    let is_lost = inner.lost.get_mut(&route).is_some_and(|count| {
        let is_lost = *count > 0;
        *count = count.saturating_sub(1);
        is_lost
    });
    let nonce = if nonce.is_empty() { key } else { nonce };
    inner.requests.push(ReceivedRequest { route, loop_id, token, nonce, body, status });
    inner.arrivals.send_replace(());
    if is_lost {
        // A body that fails at once: the server closes the connection.
        let broken =
            futures_util::stream::once(async { Err::<bytes::Bytes, _>(std::io::Error::other("lost")) });
        return axum::body::Body::from_stream(broken).into_response();
    }
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Json(answer)).into_response()
}

impl RunnerToken {
    /// The answer to a request with a token; `None` when it is accepted and the usual one is due.
    fn check(&mut self, route: &str, token: &str, key: &str) -> Option<(u16, Value)> {
        let is_by_desktop = route == "heartbeat" && token.starts_with("lgk_");
        if is_by_desktop && self.state == TokenState::GivenUp {
            return Some(self.rotate(&json!({"bumped": true, "revived": true})));
        }
        if route == "refresh-token" && self.state != TokenState::GivenUp {
            let asked = (token.to_owned(), key.to_owned());
            if self.refreshed.as_ref() == Some(&asked) {
                return Some(self.answer(&json!({})));
            }
            if token == self.current {
                self.refreshed = Some(asked);
                return Some(self.rotate(&json!({})));
            }
        }
        if route == "loop" && self.state == TokenState::GivenUp {
            return Some((200, json!({"success": true, "data": {"status": "TIMED_OUT"}})));
        }
        let is_accepted = self.state == TokenState::Valid && token == self.current;
        let refused = json!({"success": false, "error": "Invalid or expired runner token"});
        (!is_accepted && !is_by_desktop).then_some((401, refused))
    }

    /// Puts a new token in force.
    fn rotate(&mut self, members: &Value) -> (u16, Value) {
        self.current = format!("a-runner-token-that-was-issued-as-number-{}", self.issued.len() + 1);
        self.issued.push(self.current.clone());
        self.state = TokenState::Valid;
        self.answer(members)
    }

    fn answer(&self, members: &Value) -> (u16, Value) {
        let mut data =
            json!({"token": self.current, "expiresAt": "2040-01-01T00:00:00.000Z", "jti": self.current});
        if let (Some(data), Some(members)) = (data.as_object_mut(), members.as_object()) {
            data.extend(members.clone());
        }
        (200, json!({"success": true, "data": data}))
    }
}

fn usual(route: &str, nonce: &str, nonces: &mut HashSet<String>) -> (u16, Value) {
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
