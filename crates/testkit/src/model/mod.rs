//! A model server on loopback that says what a script says, to both command-line programs.
//!
//! It speaks the Messages API (the assistant's) and the Responses API (the reviewer's), as events
//! and as one object, records every request, and lets a test wait for a request or hold an answer
//! back at a gate, so that a program can be killed at a known moment. It thinks nothing up: what
//! no conversation answers gets the script's one default sentence.

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
pub use script::{Conversation, Failure, Script, Step, Turn, Usage};

/// How long a test waits for a request or a gate before it fails.
const WAIT_LIMIT: Duration = Duration::from_secs(60);
/// Requests carry whole conversations, with every file that was read.
const BODY_LIMIT: usize = 256 * 1024 * 1024;

/// A running model server. It ends when this value is dropped.
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<Shared>,
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Shared {
    inner: Mutex<ModelState>,
    /// Bumped on each change of `inner`; everyone who waits listens here.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct ModelState {
    script: Script,
    requests: Vec<ModelRequest>,
    gates: HashMap<String, Gate>,
    /// Answers begun for (conversation, turn): failures that end after some attempts count here.
    attempts: HashMap<(usize, usize), u32>,
}

#[derive(Debug, Default)]
struct Gate {
    arrived: usize,
    open: bool,
}

impl ModelServer {
    /// Starts the server on a free port of loopback.
    ///
    /// # Errors
    /// When no port is free, or an expression of the script does not compile.
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
            .fallback(async || axum::Json(json!({})))
            .layer(DefaultBodyLimit::max(BODY_LIMIT))
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.context("bind the model server")?;
        let port = listener.local_addr()?.port();
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "model server ended");
            }
        });
        Ok(Self { shared, port, _serving: AbortOnDropHandle::new(serving) })
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Where the assistant finds it: the value for `ANTHROPIC_BASE_URL`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Replaces the script; conversations that run go on with the new one.
    ///
    /// # Errors
    /// When an expression does not compile.
    pub fn play(&self, script: Script) -> anyhow::Result<()> {
        script.check()?;
        self.shared.change(|inner| {
            inner.script = script;
            inner.attempts.clear();
        });
        Ok(())
    }

    /// Every request so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.lock().requests.clone()
    }

    /// The requests that one conversation answered.
    #[must_use]
    pub fn requests_of(&self, conversation: &str) -> Vec<ModelRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.conversation.as_deref() == Some(conversation));
        requests
    }

    /// Waits until the requests fulfil the condition.
    ///
    /// # Errors
    /// After a minute, with a list of the conversations that were asked.
    pub async fn wait_for(&self, condition: impl Fn(&[ModelRequest]) -> bool) -> anyhow::Result<()> {
        self.wait("the requests that the test waits for", |inner| condition(&inner.requests)).await
    }

    /// Waits until an answer is held at the gate.
    ///
    /// # Errors
    /// After a minute, with a list of the conversations that were asked.
    pub async fn held(&self, gate: &str) -> anyhow::Result<()> {
        let what = format!("an answer held at {gate:?}");
        self.wait(&what, |inner| inner.gates.get(gate).is_some_and(|gate| gate.arrived > 0)).await
    }

    /// Waits until that many answers have come to the gate, counted from the server's start: the
    /// way to meet a program again that was started anew.
    ///
    /// # Errors
    /// After a minute, with a list of the conversations that were asked.
    pub async fn held_times(&self, gate: &str, times: usize) -> anyhow::Result<()> {
        let what = format!("answer {times} held at {gate:?}");
        self.wait(&what, |inner| inner.gates.get(gate).is_some_and(|gate| gate.arrived >= times)).await
    }

    /// Opens the gate for the answers that wait there and for all later ones.
    pub fn release(&self, gate: &str) {
        self.shared.change(|inner| inner.gates.entry(gate.to_owned()).or_default().open = true);
    }

    async fn wait(&self, what: &str, condition: impl Fn(&ModelState) -> bool) -> anyhow::Result<()> {
        let mut changes = self.shared.changes.subscribe();
        let met = async {
            while !condition(&self.shared.lock()) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        if tokio::time::timeout(WAIT_LIMIT, met).await.is_ok() {
            return Ok(());
        }
        let seen: Vec<String> = self
            .requests()
            .iter()
            .map(|r| format!("{}#{}", r.conversation.as_deref().unwrap_or("(none)"), r.turn))
            .collect();
        bail!("{what} did not come within {WAIT_LIMIT:?}; answered so far: {}", seen.join(", "))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ModelState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut ModelState) -> T) -> T {
        let result = change(&mut self.lock());
        self.changes.send_modify(|version| *version += 1);
        result
    }

    /// Waits at a gate until it is opened; no limit, since the program's own limits apply.
    async fn pass(&self, gate: &str) {
        let mut changes = self.changes.subscribe();
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
    axum::Json(json!({"input_tokens": body.len() / 4}))
}

async fn answer_to(api: Api, shared: &Arc<Shared>, body: &[u8]) -> Response {
    match serde_json::from_slice(body) {
        Ok(body) => answer::answer(api, shared, body).await,
        Err(error) => (axum::http::StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}
