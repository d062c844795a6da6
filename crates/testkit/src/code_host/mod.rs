//! The code host's API over a unix socket, for the real command-line program.
//!
//! `gh` sends every request there when its setting `http_unix_socket` says so. Users, pull
//! requests, comments, reviews and labels live in memory (and in a JSON file when one is given);
//! branches and commits are read from the bare repositories. A test looks at it as at a story:
//! `host.pull_requests("acme/shop")[0].commits()`.

mod app;
mod graph;
mod graphql;
mod objects;
mod page;
mod rest;
mod server;
mod state;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

pub use app::HostedApp;
pub use server::LoopbackServer;
pub use state::{
    HostState, HostedComment, HostedInlineComment, HostedPull, HostedRepository, HostedReview, Label,
    PullState,
};

use crate::git::{Commit, FileChange, GitRemotes};

/// How long a test waits for the host to reach a state before it fails.
const WAIT_LIMIT: Duration = Duration::from_secs(60);
/// Largest request body that is read.
const BODY_LIMIT: usize = 16 * 1024 * 1024;

/// A running code host. It ends when this value is dropped.
#[derive(Debug)]
pub struct CodeHost {
    host: Arc<HostHandle>,
    socket: PathBuf,
    _folder: TempDir,
    _serving: AbortOnDropHandle<()>,
}

/// What handlers share.
#[derive(Debug)]
pub(crate) struct HostHandle {
    state: Mutex<HostState>,
    remotes: GitRemotes,
    file: Option<PathBuf>,
    calls: Mutex<Vec<Call>>,
    faults: Mutex<Vec<HostFault>>,
    app: Mutex<Option<HostedApp>>,
    /// Bumped on each change and each call; waiting tests listen here.
    changes: watch::Sender<u64>,
}

/// A request that the host got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// HTTP method.
    pub method: String,
    /// Path, or `graphql <operation>`.
    pub what: String,
}

/// An answer that the host gives instead of its own.
#[derive(Debug, Clone)]
pub struct HostFault {
    /// Part of the path, or of the name of the GraphQL operation.
    pub on: String,
    /// HTTP status.
    pub status: u16,
    /// `message` of the body.
    pub message: String,
    /// How many calls it spoils; `None` means all.
    pub times: Option<u32>,
}

/// A pull request with the means to ask git about it.
#[derive(Debug, Clone)]
pub struct HostedPullRequest {
    full_name: String,
    remotes: GitRemotes,
    pull: HostedPull,
}

impl CodeHost {
    /// Starts the host for the repositories of `remotes`, with `octo-dev` logged in.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub async fn start(remotes: &GitRemotes) -> anyhow::Result<Self> {
        Self::start_with(remotes, HostState::new("octo-dev"), None).await
    }

    /// Starts the host with the state of a file, which every change is written back to.
    ///
    /// # Errors
    /// When the file holds no state, or the socket cannot be made.
    pub async fn with_file(remotes: &GitRemotes, file: &Path) -> anyhow::Result<Self> {
        let state = if file.exists() {
            let text = std::fs::read_to_string(file)?;
            serde_json::from_str(&text).with_context(|| format!("{} holds no state", file.display()))?
        } else {
            HostState::new("octo-dev")
        };
        Self::start_with(remotes, state, Some(file.to_owned())).await
    }

    async fn start_with(
        remotes: &GitRemotes,
        state: HostState,
        file: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("loopgate-host-").tempdir()?;
        let socket = folder.path().join("api.sock");
        let host = Arc::new(HostHandle {
            state: Mutex::new(state),
            remotes: remotes.clone(),
            file,
            calls: Mutex::default(),
            faults: Mutex::default(),
            app: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        let router = api(&host);
        let listener = tokio::net::UnixListener::bind(&socket).context("bind the code host's socket")?;
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "code host ended");
            }
        });
        Ok(Self { host, socket, _folder: folder, _serving: AbortOnDropHandle::new(serving) })
    }

    /// Refuses every connection, as a host does whose server is down.
    ///
    /// # Errors
    /// When the socket cannot be moved.
    pub fn disconnect(&self) -> anyhow::Result<()> {
        std::fs::rename(&self.socket, self.moved_socket()).context("move the code host's socket")?;
        // Its file stays, and nobody listens.
        drop(std::os::unix::net::UnixListener::bind(&self.socket).context("bind a socket that is closed")?);
        Ok(())
    }

    /// Accepts connections again after [`Self::disconnect`].
    ///
    /// # Errors
    /// When the socket cannot be moved.
    pub fn reconnect(&self) -> anyhow::Result<()> {
        std::fs::rename(self.moved_socket(), &self.socket).context("move the code host's socket back")
    }

    fn moved_socket(&self) -> PathBuf {
        self.socket.with_extension("moved")
    }

    /// The value for `gh config set http_unix_socket`.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Shows the pull requests to a person, on a free port of loopback.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn page(&self) -> anyhow::Result<LoopbackServer> {
        LoopbackServer::start(page::router(Arc::clone(&self.host))).await
    }

    /// Serves the API on a free port of loopback too, for clients that know no socket.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn api(&self) -> anyhow::Result<LoopbackServer> {
        LoopbackServer::start(api(&self.host)).await
    }

    /// Knows an App from now on, with its installations.
    pub fn register(&self, app: HostedApp) {
        *lock(&self.host.app) = Some(app);
    }

    /// Makes a repository known; its bare repository must exist.
    ///
    /// # Errors
    /// When the remotes hold no such repository.
    pub fn add_repository(&self, full_name: &str) -> anyhow::Result<()> {
        if !self.host.remotes.bare(full_name).exists() {
            bail!("make {full_name} with GitRemotes::create first");
        }
        self.host.write(|state| {
            state.repositories.entry(full_name.to_owned()).or_insert_with(|| HostedRepository {
                default_branch: "main".to_owned(),
                description: String::new(),
                private: false,
                labels: ["orchestrator", "bug"].map(label).to_vec(),
                pulls: Vec::new(),
            });
        });
        Ok(())
    }

    /// Gives a repository another name, to which the old one leads from now on.
    ///
    /// # Errors
    /// When its bare repository cannot be moved.
    pub fn rename(&self, full_name: &str, new: &str) -> anyhow::Result<()> {
        let (from, to) = (self.host.remotes.bare(full_name), self.host.remotes.bare(new));
        std::fs::create_dir_all(to.parent().context("a bare repository has a folder")?)?;
        std::fs::rename(from, to)?;
        self.host.write(|state| {
            if let Some(repository) = state.repositories.remove(full_name) {
                state.repositories.insert(new.to_owned(), repository);
            }
            state.moved.insert(full_name.to_owned(), new.to_owned());
        });
        Ok(())
    }

    /// Pull requests of a repository, oldest first.
    #[must_use]
    pub fn pull_requests(&self, full_name: &str) -> Vec<HostedPullRequest> {
        let pulls =
            self.host.read(|s| s.repositories.get(full_name).map(|r| r.pulls.clone()).unwrap_or_default());
        pulls
            .into_iter()
            .map(|pull| HostedPullRequest {
                full_name: full_name.to_owned(),
                remotes: self.host.remotes.clone(),
                pull,
            })
            .collect()
    }

    /// Waits until the pull requests of a repository fulfil the condition.
    ///
    /// # Errors
    /// After a minute.
    pub async fn wait_for(
        &self,
        full_name: &str,
        condition: impl Fn(&[HostedPullRequest]) -> bool,
    ) -> anyhow::Result<()> {
        let mut changes = self.host.changes.subscribe();
        let met =
            async { while !condition(&self.pull_requests(full_name)) && changes.changed().await.is_ok() {} };
        tokio::time::timeout(WAIT_LIMIT, met)
            .await
            .with_context(|| format!("{full_name} has {:?}", self.pull_requests(full_name)))
    }

    /// Somebody opens a pull request for a branch, which need not exist. Answers its number.
    #[must_use]
    pub fn open(&self, full_name: &str, head: &str, title: &str) -> Option<u64> {
        let (head, title, base) = (head.to_owned(), title.to_owned(), "main".to_owned());
        let new = state::NewPull { title, head, base, ..state::NewPull::default() };
        self.host.write(|state| state.open_pull(full_name, new)).ok()
    }

    /// The same, and somebody merges it.
    #[must_use]
    pub fn merged(&self, full_name: &str, head: &str, title: &str) -> Option<u64> {
        let number = self.open(full_name, head, title)?;
        self.merge(full_name, number).then_some(number)
    }

    /// Somebody merges a pull request; its branches stay as they are. `false` when there is none.
    #[must_use]
    pub fn merge(&self, full_name: &str, number: u64) -> bool {
        let merged = |state: &mut HostState| {
            state.pull_mut(full_name, number).map(|pull| pull.state = PullState::Merged)
        };
        self.host.write(merged).is_some()
    }

    /// Someone comments on a pull request. Answers the comment's number.
    #[must_use]
    pub fn comment(&self, full_name: &str, number: u64, author: &str, body: &str) -> Option<u64> {
        self.host.write(|state| state.comment(full_name, number, author, body))
    }

    /// Someone reviews a pull request, with `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`.
    #[must_use]
    pub fn review(&self, full_name: &str, number: u64, author: &str, state: &str, body: &str) -> Option<u64> {
        self.host.write(|s| s.review(full_name, number, author, state, body))
    }

    /// Someone comments on a line. Answers the comment's number.
    #[must_use]
    pub fn comment_line(
        &self,
        full_name: &str,
        number: u64,
        author: &str,
        (path, line): (&str, u64),
        body: &str,
    ) -> Option<u64> {
        let new = state::NewInline {
            author: author.to_owned(),
            body: body.to_owned(),
            path: path.to_owned(),
            line: Some(line),
            ..state::NewInline::default()
        };
        self.host.write(|state| state.inline(full_name, number, new))
    }

    /// Spoils calls from now on.
    pub fn fail(&self, fault: HostFault) {
        lock(&self.host.faults).push(fault);
    }

    /// Ends every fault.
    pub fn heal(&self) {
        lock(&self.host.faults).clear();
    }

    /// Every call so far, oldest first.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.host.calls).clone()
    }

    /// A copy of everything that the host keeps.
    #[must_use]
    pub fn state(&self) -> HostState {
        self.host.read(HostState::clone)
    }
}

impl HostedPullRequest {
    /// Commits that it brings, oldest first.
    ///
    /// # Errors
    /// When its branch is gone.
    pub fn commits(&self) -> anyhow::Result<Vec<Commit>> {
        self.remotes.commits(&self.full_name, &self.pull.base, &self.pull.head)
    }

    /// Files that it changes.
    ///
    /// # Errors
    /// When its branch is gone.
    pub fn files(&self) -> anyhow::Result<Vec<FileChange>> {
        self.remotes.changes(&self.full_name, &self.pull.base, &self.pull.head)
    }

    /// The text of a file on its branch.
    ///
    /// # Errors
    /// When branch or file are gone.
    pub fn file(&self, path: &str) -> anyhow::Result<String> {
        self.remotes.file(&self.full_name, &self.pull.head, path)
    }

    /// Its address on the web.
    #[must_use]
    pub fn url(&self) -> String {
        objects::pull_url(&self.full_name, self.pull.number)
    }
}

impl std::ops::Deref for HostedPullRequest {
    type Target = HostedPull;

    fn deref(&self) -> &HostedPull {
        &self.pull
    }
}

impl HostHandle {
    fn read<T>(&self, read: impl FnOnce(&HostState) -> T) -> T {
        read(&lock(&self.state))
    }

    fn write<T>(&self, write: impl FnOnce(&mut HostState) -> T) -> T {
        let mut state = lock(&self.state);
        let result = write(&mut state);
        if let Some(file) = &self.file
            && let Err(error) = keep(file, &state)
        {
            tracing::error!(%error, "the code host's state was not written");
        }
        drop(state);
        self.changes.send_modify(|version| *version += 1);
        result
    }

    fn note(&self, method: &str, what: &str) -> Option<HostFault> {
        lock(&self.calls).push(Call { method: method.to_owned(), what: what.to_owned() });
        self.changes.send_modify(|version| *version += 1);
        let mut faults = lock(&self.faults);
        let fault = faults.iter_mut().find(|fault| what.contains(&fault.on) && fault.times != Some(0))?;
        fault.times = fault.times.map(|times| times - 1);
        Some(fault.clone())
    }
}

/// Notes the call, spoils it when a test asked for that, and completes the headers.
async fn receive(Shared(host): Shared<Arc<HostHandle>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, BODY_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let path = parts.uri.path().to_owned();
    let what = if path == "/graphql" { graphql_name(&body) } else { path.clone() };
    if !parts.headers.contains_key(header::AUTHORIZATION) {
        let body = json!({"message": "Requires authentication", "status": "401"});
        return (StatusCode::UNAUTHORIZED, axum::Json(body)).into_response();
    }
    let mut answer = match host.note(parts.method.as_str(), &what) {
        Some(fault) => {
            let status = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, axum::Json(json!({"message": fault.message}))).into_response()
        }
        None => match host.read(|state| rest::moved(state, &parts)) {
            Some(redirect) => redirect,
            None => next.run(Request::from_parts(parts, Body::from(body))).await,
        },
    };
    let link = answer.headers().get(header::LINK).and_then(|link| link.to_str().ok());
    if let Some(Ok(link)) = link.map(|link| link.replace(rest::PATH_MARK, &path).parse()) {
        answer.headers_mut().insert(header::LINK, link);
    }
    for (name, value) in rest::COMMON_HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

async fn answer_graphql(Shared(host): Shared<Arc<HostHandle>>, body: Bytes) -> Response {
    let Ok(mut request) = serde_json::from_slice::<Value>(&body) else {
        let body = json!({"message": "Problems parsing JSON"});
        return (StatusCode::BAD_REQUEST, axum::Json(body)).into_response();
    };
    let query = request["query"].as_str().unwrap_or_default().to_owned();
    let variables = match request["variables"].take() {
        Value::Object(variables) => variables,
        _ => Map::new(),
    };
    // Git is asked while the answer is put together, so this runs beside the async threads.
    let answer = tokio::task::spawn_blocking(move || {
        host.write(|state| {
            let mut api = graphql::GraphView { state, remotes: &host.remotes };
            graph::execute(&mut api, &query, variables)
        })
    });
    match answer.await {
        Ok(answer) => axum::Json(answer).into_response(),
        Err(error) => {
            let body = json!({"message": error.to_string()});
            (StatusCode::INTERNAL_SERVER_ERROR, axum::Json(body)).into_response()
        }
    }
}

fn graphql_name(body: &[u8]) -> String {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let name = request["query"].as_str().and_then(graph::operation_name).unwrap_or_default();
    format!("graphql {name}").trim_end().to_owned()
}

fn keep(file: &Path, state: &HostState) -> anyhow::Result<()> {
    let folder = file.parent().context("a state file has a folder")?;
    let temporary = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&temporary, state)?;
    temporary.persist(file)?;
    Ok(())
}

fn label(name: &str) -> Label {
    Label { name: name.to_owned(), description: String::new(), color: "5319e7".to_owned() }
}

fn api(host: &Arc<HostHandle>) -> Router {
    Router::new()
        .route("/graphql", post(answer_graphql))
        .merge(rest::router())
        .merge(app::router())
        .layer(middleware::from_fn_with_state(Arc::clone(host), receive))
        .with_state(Arc::clone(host))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
