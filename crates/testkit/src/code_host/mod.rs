//! An in-memory GitHub API on a Unix socket, for the real `gh` program.
//!
//! `gh` sends all requests to the socket when its setting `http_unix_socket` is set. Users, pull requests,
//! comments, reviews and labels are kept in memory, and in a JSON file if one is given. Branches and commits
//! are read from the bare repositories. Tests inspect the state, such as
//! `host.pull_requests("acme/shop")[0].commits()`.

mod app;
mod graph;
mod graphql;
mod merge;
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
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
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
    HostState, HostedCheck, HostedComment, HostedInlineComment, HostedPull, HostedRepository, HostedReview,
    Label, PullState,
};

use crate::git::{Commit, FileChange, GitRemotes};

/// Upper bound of a wait for a state of the host.
const WAIT_LIMIT: Duration = Duration::from_secs(60);
/// Larger request bodies are rejected with 413.
const BODY_LIMIT: usize = 16 * 1024 * 1024;

/// A running code host. Stops when dropped.
#[derive(Debug)]
pub struct TestCodeHost {
    host: Arc<HostHandle>,
    socket: PathBuf,
    _folder: TempDir,
    _serving: AbortOnDropHandle<()>,
}

/// State shared by the request handlers.
#[derive(Debug)]
pub(crate) struct HostHandle {
    state: Mutex<HostState>,
    remotes: GitRemotes,
    file: Option<PathBuf>,
    calls: Mutex<Vec<Call>>,
    faults: Mutex<Vec<InjectedFault>>,
    app: Mutex<Option<HostedApp>>,
    /// Incremented on each change and each call; waiting tests subscribe to it.
    changes: watch::Sender<u64>,
}

/// A recorded API request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub method: String,
    /// Request path, or `graphql <operation>`.
    pub what: String,
}

/// An injected error response.
#[derive(Debug, Clone)]
pub struct HostFault {
    /// Substring of the path or of the GraphQL operation's name.
    pub on: String,
    pub status: u16,
    /// Member `message` of the response body.
    pub message: String,
    /// Number of calls that fail; `None` fails all.
    pub times: Option<u32>,
}

/// An error response with an additional header.
#[derive(Debug, Clone)]
struct InjectedFault {
    fault: HostFault,
    header: Option<(HeaderName, HeaderValue)>,
}

/// A pull request, with access to its commits and files in git.
#[derive(Debug, Clone)]
pub struct HostedPullRequest {
    full_name: String,
    remotes: GitRemotes,
    pull: HostedPull,
}

impl TestCodeHost {
    /// Starts the host for these repositories, with `octo-dev` as the authenticated user.
    pub async fn start(remotes: &GitRemotes) -> anyhow::Result<Self> {
        Self::start_with(remotes, HostState::new("octo-dev"), None).await
    }

    /// Starts the host with its state loaded from a file. Each change is written back.
    pub async fn with_file(remotes: &GitRemotes, file: &Path) -> anyhow::Result<Self> {
        let state = if file.exists() {
            let text = std::fs::read_to_string(file)?;
            serde_json::from_str(&text)
                .with_context(|| format!("{} is not a valid state file", file.display()))?
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
        // A short path: those of Unix sockets are limited to 108 bytes.
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
                tracing::error!(%error, "test code host failed");
            }
        });
        Ok(Self { host, socket, _folder: folder, _serving: AbortOnDropHandle::new(serving) })
    }

    /// Makes connections fail with `ECONNREFUSED`, as if the server were down.
    pub fn disconnect(&self) -> anyhow::Result<()> {
        std::fs::rename(&self.socket, self.moved_socket()).context("move the code host's socket")?;
        // Dropping a Unix listener keeps its file, so that connecting fails with `ECONNREFUSED` instead of
        // `ENOENT`.
        drop(std::os::unix::net::UnixListener::bind(&self.socket).context("bind a socket that is closed")?);
        Ok(())
    }

    /// Accepts connections again after [`Self::disconnect`].
    pub fn reconnect(&self) -> anyhow::Result<()> {
        std::fs::rename(self.moved_socket(), &self.socket).context("move the code host's socket back")
    }

    fn moved_socket(&self) -> PathBuf {
        self.socket.with_extension("moved")
    }

    /// Returns the path of the socket, the value of `gh`'s setting `http_unix_socket`.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Serves HTML pages of the pull requests on a free loopback port.
    pub async fn page(&self) -> anyhow::Result<LoopbackServer> {
        LoopbackServer::start(page::router(Arc::clone(&self.host))).await
    }

    /// Serves the API on a free loopback port as well, for clients without support for Unix sockets.
    pub async fn api(&self) -> anyhow::Result<LoopbackServer> {
        LoopbackServer::start(api(&self.host)).await
    }

    /// Registers an App with its installations. Replaces an earlier one.
    pub fn register(&self, app: HostedApp) {
        *lock(&self.host.app) = Some(app);
    }

    /// Adds a repository. Its bare repository must exist.
    pub fn add_repository(&self, full_name: &str) -> anyhow::Result<()> {
        if !self.host.remotes.bare(full_name).exists() {
            bail!("{full_name} has no bare repository; create it with GitRemotes::create first");
        }
        self.host.write(|state| {
            state.repositories.entry(full_name.to_owned()).or_insert_with(|| HostedRepository {
                default_branch: "main".to_owned(),
                description: String::new(),
                private: false,
                labels: ["orchestrator", "bug"].map(label).to_vec(),
                read_only: false,
                requires_approval: false,
                pulls: Vec::new(),
            });
        });
        Ok(())
    }

    /// Makes a repository read-only for the authenticated user.
    pub fn make_read_only(&self, full_name: &str) {
        self.host.write(|state| {
            if let Some(repository) = state.repositories.get_mut(full_name) {
                repository.read_only = true;
            }
        });
    }

    /// Renames a repository. Requests for the old name are redirected to the new one.
    pub fn rename(&self, full_name: &str, new: &str) -> anyhow::Result<()> {
        let (from, to) = (self.host.remotes.bare(full_name), self.host.remotes.bare(new));
        std::fs::create_dir_all(to.parent().context("the bare repository has no parent directory")?)?;
        std::fs::rename(from, to)?;
        self.host.write(|state| {
            if let Some(repository) = state.repositories.remove(full_name) {
                state.repositories.insert(new.to_owned(), repository);
            }
            // Clients that still use the old name are redirected by `rest::redirect_renamed`.
            state.moved.insert(full_name.to_owned(), new.to_owned());
        });
        Ok(())
    }

    /// Returns the pull requests of a repository, oldest first.
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

    /// Waits until the pull requests of a repository satisfy a condition.
    pub async fn wait_for(
        &self,
        full_name: &str,
        condition: impl Fn(&[HostedPullRequest]) -> bool,
    ) -> anyhow::Result<()> {
        let mut changes = self.host.changes.subscribe();
        let poll =
            async { while !condition(&self.pull_requests(full_name)) && changes.changed().await.is_ok() {} };
        tokio::time::timeout(WAIT_LIMIT, poll).await.with_context(|| {
            format!(
                "timed out waiting for pull requests of {full_name}, which are {:?}",
                self.pull_requests(full_name)
            )
        })
    }

    /// Opens a pull request from a branch, which does not have to exist. Returns its number.
    #[must_use]
    pub fn open(&self, full_name: &str, head: &str, title: &str) -> Option<u64> {
        let (head, title, base) = (head.to_owned(), title.to_owned(), "main".to_owned());
        let new = state::NewPull { title, head, base, ..state::NewPull::default() };
        self.host.write(|state| state.open_pull(full_name, new)).ok()
    }

    /// Opens a pull request and marks it as merged.
    #[must_use]
    pub fn merged(&self, full_name: &str, head: &str, title: &str) -> Option<u64> {
        let number = self.open(full_name, head, title)?;
        self.merge(full_name, number).then_some(number)
    }

    /// Marks a pull request as merged without changing its branches. Returns false when it does not exist.
    #[must_use]
    pub fn merge(&self, full_name: &str, number: u64) -> bool {
        let set_merged = |state: &mut HostState| {
            state.pull_mut(full_name, number).map(|pull| pull.state = PullState::Merged)
        };
        self.host.write(set_merged).is_some()
    }

    /// Adds a comment to a pull request. Returns its id.
    #[must_use]
    pub fn comment(&self, full_name: &str, number: u64, author: &str, body: &str) -> Option<u64> {
        self.host.write(|state| state.comment(full_name, number, author, body))
    }

    /// Adds a review with the state `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`. Returns its id.
    #[must_use]
    pub fn review(&self, full_name: &str, number: u64, author: &str, state: &str, body: &str) -> Option<u64> {
        self.host.write(|s| s.review(full_name, number, author, state, body))
    }

    /// Adds a comment on a line of the diff. Returns its id.
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

    /// Adds a reply to a comment on a line. Returns its id.
    #[must_use]
    pub fn answer(
        &self,
        full_name: &str,
        number: u64,
        author: &str,
        comment: u64,
        body: &str,
    ) -> Option<u64> {
        let new = state::NewInline {
            author: author.to_owned(),
            body: body.to_owned(),
            in_reply_to: Some(comment),
            ..state::NewInline::default()
        };
        self.host.write(|state| state.inline(full_name, number, new))
    }

    /// Replaces the check runs of a pull request: names, and conclusions such as `FAILURE`, or `None` while they run.
    pub fn set_checks(&self, full_name: &str, number: u64, checks: &[(&str, Option<&str>)]) {
        let check = |(name, conclusion): &(&str, Option<&str>)| HostedCheck {
            name: (*name).to_owned(),
            conclusion: conclusion.map(str::to_owned),
        };
        let checks = checks.iter().map(check).collect();
        self.host.write(|state| state.pull_mut(full_name, number).map(|pull| pull.checks = checks));
    }

    /// Resolves the thread that a comment on a line begins.
    pub fn resolve(&self, full_name: &str, number: u64, comment: u64) {
        self.host.write(|state| state.pull_mut(full_name, number).map(|pull| pull.resolved.push(comment)));
    }

    /// Requires an approval before pull requests of a repository can be merged.
    pub fn require_approval(&self, full_name: &str) {
        self.host.write(|state| {
            if let Some(repository) = state.repositories.get_mut(full_name) {
                repository.requires_approval = true;
            }
        });
    }

    /// Injects an error response for matching calls.
    pub fn fail(&self, fault: HostFault) {
        lock(&self.host.faults).push(InjectedFault { fault, header: None });
    }

    /// Injects an error response with a header, such as `Retry-After`.
    pub fn fail_with_header(&self, fault: HostFault, name: &'static str, value: &'static str) {
        let header = Some((HeaderName::from_static(name), HeaderValue::from_static(value)));
        lock(&self.host.faults).push(InjectedFault { fault, header });
    }

    /// Marks the thread that a comment on a line begins as outdated, as a change of its line does.
    pub fn mark_outdated(&self, full_name: &str, number: u64, comment: u64) {
        self.host.write(|state| state.pull_mut(full_name, number).map(|pull| pull.outdated.push(comment)));
    }

    /// Replaces the text of a comment on a line, as its author and maintainers can.
    pub fn edit_line_comment(&self, full_name: &str, number: u64, comment: u64, body: &str) {
        self.host.write(|state| {
            let pull = state.pull_mut(full_name, number)?;
            body.clone_into(&mut pull.inline.iter_mut().find(|other| other.id == comment)?.body);
            Some(())
        });
    }

    /// Removes all injected errors.
    pub fn clear_faults(&self) {
        lock(&self.host.faults).clear();
    }

    /// Returns all calls so far, oldest first.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.host.calls).clone()
    }

    /// Returns a snapshot of the host's state.
    #[must_use]
    pub fn state(&self) -> HostState {
        self.host.read(HostState::clone)
    }
}

impl HostedPullRequest {
    /// Returns the commits between base and head, oldest first. Fails when a branch does not exist.
    pub fn commits(&self) -> anyhow::Result<Vec<Commit>> {
        self.remotes.commits(&self.full_name, self.pull.base_ref(), &self.head_ref()?)
    }

    /// Returns the files that differ from the base. Fails when a branch does not exist.
    pub fn files(&self) -> anyhow::Result<Vec<FileChange>> {
        self.remotes.changes(&self.full_name, self.pull.base_ref(), &self.head_ref()?)
    }

    /// Returns the text of a file on the head branch.
    pub fn file(&self, path: &str) -> anyhow::Result<String> {
        self.remotes.file(&self.full_name, &self.head_ref()?, path)
    }

    fn head_ref(&self) -> anyhow::Result<String> {
        self.pull.head_ref(&self.remotes, &self.full_name)
    }

    /// Returns the address of its web page.
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
            && let Err(error) = write_state(file, &state)
        {
            tracing::error!(%error, "cannot write the code host's state");
        }
        drop(state);
        self.changes.send_modify(|version| *version += 1);
        result
    }

    fn record_call(&self, method: &str, what: &str) -> Option<InjectedFault> {
        lock(&self.calls).push(Call { method: method.to_owned(), what: what.to_owned() });
        self.changes.send_modify(|version| *version += 1);
        // A fault without remaining uses is skipped, so that the next matching one applies.
        let mut faults = lock(&self.faults);
        let is_next =
            |next: &&mut InjectedFault| what.contains(&next.fault.on) && next.fault.times != Some(0);
        let found = faults.iter_mut().find(is_next)?;
        found.fault.times = found.fault.times.map(|times| times - 1);
        Some(found.clone())
    }
}

/// Records the call, returns an injected error if one matches, and adds common headers.
async fn receive(Shared(host): Shared<Arc<HostHandle>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, BODY_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let path = parts.uri.path().to_owned();
    let what = if path == "/graphql" { graphql_name(&body) } else { path.clone() };
    // Unauthenticated requests are not recorded: tests count the calls that the host would serve.
    if !parts.headers.contains_key(header::AUTHORIZATION) {
        let body = json!({"message": "Requires authentication", "status": "401"});
        return (StatusCode::UNAUTHORIZED, axum::Json(body)).into_response();
    }
    let mut response = match host.record_call(parts.method.as_str(), &what) {
        Some(InjectedFault { fault, header }) => {
            let status = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = (status, axum::Json(json!({"message": fault.message}))).into_response();
            response.headers_mut().extend(header);
            response
        }
        None => match host.read(|state| rest::redirect_renamed(state, &parts)) {
            Some(redirect) => redirect,
            None => next.run(Request::from_parts(parts, Body::from(body))).await,
        },
    };
    // Handlers of paginated lists do not know their path; they emit a placeholder.
    let link = response.headers().get(header::LINK).and_then(|link| link.to_str().ok());
    if let Some(Ok(link)) = link.map(|link| link.replace(rest::PATH_MARK, &path).parse()) {
        response.headers_mut().insert(header::LINK, link);
    }
    for (name, value) in rest::COMMON_HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn handle_graphql(Shared(host): Shared<Arc<HostHandle>>, body: Bytes) -> Response {
    let Ok(mut request) = serde_json::from_slice::<Value>(&body) else {
        let body = json!({"message": "Problems parsing JSON"});
        return (StatusCode::BAD_REQUEST, axum::Json(body)).into_response();
    };
    let query = request["query"].as_str().unwrap_or_default().to_owned();
    let variables = match request["variables"].take() {
        Value::Object(variables) => variables,
        _ => Map::new(),
    };
    // Resolvers run git while holding the lock, so they must not block a worker thread of the runtime.
    let response = tokio::task::spawn_blocking(move || {
        host.write(|state| {
            let mut api = graphql::GraphView { state, remotes: &host.remotes };
            graph::execute(&mut api, &query, variables)
        })
    });
    match response.await {
        Ok(response) => axum::Json(response).into_response(),
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

fn write_state(file: &Path, state: &HostState) -> anyhow::Result<()> {
    let folder = file.parent().context("the state file has no parent directory")?;
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
        .route("/graphql", post(handle_graphql))
        .merge(rest::router())
        .merge(merge::router())
        .merge(app::router())
        .layer(middleware::from_fn_with_state(Arc::clone(host), receive))
        .with_state(Arc::clone(host))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
