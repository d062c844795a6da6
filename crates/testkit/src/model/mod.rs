//! A scripted model server on loopback for the assistant and the reviewer.
//!
//! Implements the Messages API (assistant) and the Responses API (reviewer), streamed or as one object. It
//! records every request and lets a test wait for a request or hold a response at a gate, for example to kill
//! a program at a defined moment. Requests that match no conversation get the script's default text.

mod answer;
mod request;
mod script;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

pub use request::{Api, ModelRequest};
pub use script::{Conversation, Failure, ModelStep, ModelTurn, ModelUsage, Script};

/// Upper bound of a wait for a request or a gate. Far above the start-up of the assistant on a loaded
/// machine.
const WAIT_LIMIT: Duration = Duration::from_secs(60);
/// Requests contain the whole conversation, including every file that was read.
const BODY_LIMIT: usize = 256 * 1024 * 1024;

/// A running model server. Stops when dropped.
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<Shared>,
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Shared {
    inner: Mutex<ModelState>,
    /// Incremented on each change of `inner`; waiting tests and gates subscribe to it.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct ModelState {
    script: Script,
    requests: Vec<ModelRequest>,
    gates: HashMap<String, Gate>,
    /// Attempts by conversation and turn. Failures with a limited number of attempts count these.
    attempts: HashMap<(usize, usize), u32>,
}

#[derive(Debug, Default)]
struct Gate {
    arrived: usize,
    open: bool,
}

impl ModelServer {
    /// Starts the server on a free loopback port. Fails when a regular expression of the script does not
    /// compile.
    pub async fn start(script: Script) -> anyhow::Result<Self> {
        script.check()?;
        let shared = Arc::new(Shared {
            inner: Mutex::new(ModelState { script, ..ModelState::default() }),
            changes: watch::Sender::new(0),
        });
        let router = Router::new()
            .route("/v1/messages", post(messages))
            .route("/v1/responses", post(responses))
            .route("/v1/messages/count_tokens", post(count_tokens))
            // The programs also probe other endpoints; an empty object satisfies them.
            .fallback(async || axum::Json(json!({})))
            .layer(DefaultBodyLimit::max(BODY_LIMIT))
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.context("bind the model server")?;
        let port = listener.local_addr()?.port();
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "model server failed");
            }
        });
        Ok(Self { shared, port, _serving: AbortOnDropHandle::new(serving) })
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the base URL, the value of `ANTHROPIC_BASE_URL`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Replaces the script, also for conversations in progress.
    pub fn play(&self, script: Script) -> anyhow::Result<()> {
        script.check()?;
        self.shared.change(|inner| {
            inner.script = script;
            // Attempts are counted by index, which refers to other conversations in the new script.
            inner.attempts.clear();
        });
        Ok(())
    }

    /// Returns all requests so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.lock().requests.clone()
    }

    /// Returns the requests that were answered by this conversation.
    #[must_use]
    pub fn requests_of(&self, conversation: &str) -> Vec<ModelRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.conversation.as_deref() == Some(conversation));
        requests
    }

    /// Waits until the recorded requests satisfy a condition. The error of a timeout lists the recorded
    /// requests.
    pub async fn wait_for(&self, condition: impl Fn(&[ModelRequest]) -> bool) -> anyhow::Result<()> {
        self.wait("the awaited requests", |inner| condition(&inner.requests)).await
    }

    /// Waits until a response is held at the gate.
    pub async fn held(&self, gate: &str) -> anyhow::Result<()> {
        let awaited = format!("a response held at gate {gate:?}");
        self.wait(&awaited, |inner| inner.gates.get(gate).is_some_and(|gate| gate.arrived > 0)).await
    }

    /// Waits until `times` responses have reached the gate since the server's start. A program that was
    /// restarted reaches the gate once more.
    ///
    /// # Errors
    /// Fails after a minute; the error lists the recorded requests.
    pub async fn held_times(&self, gate: &str, times: usize) -> anyhow::Result<()> {
        let awaited = format!("response {times} held at gate {gate:?}");
        self.wait(&awaited, |inner| inner.gates.get(gate).is_some_and(|gate| gate.arrived >= times)).await
    }

    /// Opens a gate for the responses that are held there, and for all later ones.
    pub fn release(&self, gate: &str) {
        self.shared.change(|inner| inner.gates.entry(gate.to_owned()).or_default().open = true);
    }

    async fn wait(&self, awaited: &str, condition: impl Fn(&ModelState) -> bool) -> anyhow::Result<()> {
        // Subscribed before the first check, so that no change between the two is missed.
        let mut changes = self.shared.changes.subscribe();
        let poll = async {
            while !condition(&self.shared.lock()) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        if tokio::time::timeout(WAIT_LIMIT, poll).await.is_ok() {
            return Ok(());
        }
        let requests: Vec<String> = self
            .requests()
            .iter()
            .map(|r| format!("{}#{}", r.conversation.as_deref().unwrap_or("(none)"), r.turn))
            .collect();
        bail!(
            "timed out after {WAIT_LIMIT:?} waiting for {awaited}; requests so far: {}",
            requests.join(", ")
        )
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ModelState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut ModelState) -> T) -> T {
        // The lock is released before the notification, so that waiters do not block on it.
        let result = change(&mut self.lock());
        self.changes.send_modify(|version| *version += 1);
        result
    }

    /// Holds a response until the gate is opened. Has no timeout: those of the program under test apply.
    async fn pass(&self, gate: &str) {
        let mut changes = self.changes.subscribe();
        // Subscribed before the arrival is published: a test may open the gate at once.
        self.change(|inner| inner.gates.entry(gate.to_owned()).or_default().arrived += 1);
        while !self.lock().gates.get(gate).is_some_and(|gate| gate.open) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

async fn messages(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    answer_to(Api::Messages, &shared, &body).await
}

async fn responses(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    answer_to(Api::Responses, &shared, &body).await
}

async fn count_tokens(body: Bytes) -> axum::Json<Value> {
    // The usual estimate of four characters a token. The assistant only compares it with its context limit.
    axum::Json(json!({"input_tokens": body.len() / 4}))
}

async fn answer_to(api: Api, shared: &Arc<Shared>, body: &[u8]) -> Response {
    match serde_json::from_slice(body) {
        Ok(body) => answer::answer(api, shared, body).await,
        Err(error) => (axum::http::StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}
