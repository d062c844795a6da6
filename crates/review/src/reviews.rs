//! Service that starts, recovers and stops the reviews of this desktop.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loopgate_agents::provider::assistant::Assistant;
use loopgate_agents::run::{FallbackRule, RunAnnouncement};
use loopgate_agents::{
    AgentRuns, Agents, Provider, ProviderRegistry, RunHandle, RunRequest, RunStore, RunStoreFactory,
    RunStream, SecondAttempt, TurnRequest,
};
use loopgate_api::ids::{BranchName, TicketId};
use loopgate_api::provider::ProviderId;
use loopgate_home::{JsonFileError, Sandbox, SandboxedPath};
use loopgate_tools::code_host::CodeHost;
use loopgate_tools::git::{Git, GitError};
use loopgate_tools::keyed_locks::KeyedLocks;
use loopgate_tools::process::identity;
use serde_json::Value;
use thiserror::Error;
use tokio::sync::watch;
use uuid::Uuid;

use crate::blocking::blocking;
use crate::engine_result::SESSION_PREFIX;
use crate::files::ReviewDirectory;
use crate::log::{self, LOG_SHOWN};
use crate::merged;
use crate::plain::PlainReview;
use crate::prompt;
use crate::review_store::{ReviewOwner, ReviewStore, ToldSession};
use crate::scope::{RequestedScope, ReviewScope};
use crate::sessions::ProviderSessions;
use crate::state::{ReviewConfig, ReviewState, ReviewStatus};
use crate::unreported::UnreportedFindings;
use crate::worktree::{ReviewWorktree, ReviewWorktreeError};

/// Run kind of reviews.
const KIND: &str = "review";
/// Timeout of a review. Large changes take tens of minutes.
const TIME_LIMIT: Duration = Duration::from_hours(1);
/// Tools of the assistant in a review.
const REVIEW_TOOLS: &str = "Bash,Read,Glob,Grep,Task,TodoWrite";
/// Prefix of the ids of pull request tickets.
const PULL_REQUEST_PREFIX: &str = "pr-";

/// A review to start.
pub struct ReviewRequest {
    /// Provider that executes the review.
    pub provider: Arc<dyn Provider>,
    /// Clone that the worktree belongs to.
    pub repository: SandboxedPath,
    /// Worktree of the ticket. It need not exist.
    pub worktree: SandboxedPath,
    pub ticket: TicketId,
    /// Branch to review; without it, an existing worktree is used unchanged.
    pub branch: Option<BranchName>,
    /// Branch to compare with, and start point of a new worktree if the branch to review does not exist; the
    /// repository's default branch when absent.
    pub base: Option<BranchName>,
    /// Changes that the review covers.
    pub scope: RequestedScope,
    /// Model; the provider's default when absent.
    pub model: Option<String>,
    /// Reasoning effort, as the provider's program names it.
    pub effort: String,
    /// The user's instructions to the reviewer.
    pub instructions: Option<String>,
    /// Whether to review the clone itself instead of a worktree.
    pub in_repository: bool,
}

/// Reason for which a review was not started.
#[derive(Debug, Error)]
pub enum StartReviewError {
    /// A review by this provider is running in this worktree.
    #[error("Review already running")]
    AlreadyRunning {
        /// Pid of its program, once it runs.
        pid: Option<u32>,
    },
    /// The ticket is not a pull request; the assistant reviews only those.
    #[error("ticketId must start with 'pr-' for assistant reviews")]
    NoPullRequest,
    /// The worktree does not exist, and no branch is given from which to create it.
    #[error("branchName is required to create a worktree")]
    BranchRequired,
    /// The branch to compare with does not exist, neither locally nor at `origin`.
    #[error(
        "baseBranch \"{0}\" does not exist in this repository; pass an existing branch, or omit baseBranch to compare \
         with the default branch"
    )]
    NoBase(BranchName),
    /// The repository has no default branch, and no branch to compare with is given.
    #[error("the repository has no default branch; pass the branch to compare with as baseBranch")]
    NoDefaultBase,
    /// The worktree cannot be created.
    #[error("Failed to create worktree: {0}")]
    Worktree(String),
    /// The files of the review cannot be written, or the start was interrupted.
    #[error("Failed to start review: {0}")]
    Io(#[from] io::Error),
}

/// Reason for which a review was not stopped.
#[derive(Debug, Error)]
pub enum StopReviewError {
    /// There is no review.
    #[error("No review found")]
    NotFound,
    /// The state file contains no pid.
    #[error("No PID found for review")]
    NoPid,
    /// The pid belongs to a process that was not started by this gateway.
    #[error("process not managed by this gateway")]
    NotManaged,
    /// The state file cannot be read or written.
    #[error("Failed to stop review: {0}")]
    File(#[from] JsonFileError),
    /// A file system operation failed.
    #[error("Failed to stop review: {0}")]
    Io(#[from] io::Error),
}

/// Result of stopping a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReviewOutcome {
    /// The program with this pid is being terminated, or it had already exited.
    Stopped(u32),
    /// The review had ended before, with this status.
    NotRunning(ReviewStatus),
}

/// State and log of a review.
#[derive(Debug, Clone)]
pub struct ReviewReport {
    /// State of the review. A running review whose program has exited is reported as stopped.
    pub state: ReviewState,
    /// Whether the program is running.
    pub is_running: bool,
    /// Readable text of the end of the log.
    pub log: String,
    /// Total size of the log in bytes.
    pub log_size: u64,
}

/// Identifies a review: canonical worktree and provider.
type ReviewKey = (PathBuf, ProviderId);

/// Starts, recovers and stops reviews. Clones share their state.
#[derive(Clone)]
pub struct Reviews(Arc<ReviewsState>);

struct ReviewsState {
    agents: Arc<Agents>,
    sandbox: Arc<Sandbox>,
    git: Git,
    code_host: CodeHost,
    /// Started reviews, including ended ones that are not pruned yet.
    started: Mutex<HashMap<ReviewKey, RunHandle>>,
    /// Verdict requests by worktree, provider and session, including ended ones that are not pruned yet.
    verdicts: Mutex<HashMap<(PathBuf, ProviderId, String), RunHandle>>,
    /// Held while a worktree is prepared or a verdict request is started, by worktree.
    preparing: KeyedLocks,
    sessions: ProviderSessions,
    ended: watch::Sender<()>,
}

impl Reviews {
    /// Creates the service. Starts no tasks.
    #[must_use]
    pub fn new(agents: Arc<Agents>, sandbox: Arc<Sandbox>, git: Git, code_host: CodeHost) -> Self {
        let (started, verdicts, preparing) = (Mutex::default(), Mutex::default(), KeyedLocks::default());
        let sessions = ProviderSessions::new(agents.runs.clone(), sandbox.clone());
        Self(Arc::new(ReviewsState {
            agents,
            sandbox,
            git,
            code_host,
            started,
            verdicts,
            preparing,
            sessions,
            ended: watch::Sender::default(),
        }))
    }

    /// Subscribes to the ends of reviews.
    #[must_use]
    pub fn ended(&self) -> watch::Receiver<()> {
        self.0.ended.subscribe()
    }

    /// Returns how many findings in a worktree wait for a decision, if a review has ended there and its findings are not
    /// reported yet. Performs blocking I/O.
    ///
    /// # Errors
    /// Fails when the worktree is outside the sandbox or a file cannot be read.
    pub fn unreported_findings(&self, worktree: &Path) -> io::Result<Option<UnreportedFindings>> {
        UnreportedFindings::read(&self.0.sandbox, worktree)
    }

    fn store(&self, directory: ReviewDirectory, owner: ReviewOwner) -> ReviewStore {
        let (sandbox, ended) = (self.0.sandbox.clone(), self.0.ended.clone());
        ReviewStore { sandbox, directory, owner, ended }
    }

    /// Recovers the reviews, chats and debates of an earlier process, and the conversations of [`Agents`].
    pub fn recover(&self) {
        self.0.agents.recover(&[self, self.sessions()]);
    }

    pub(crate) fn runs(&self) -> &AgentRuns {
        &self.0.agents.runs
    }

    pub(crate) fn preparing(&self) -> &KeyedLocks {
        &self.0.preparing
    }

    pub(crate) fn verdicts(&self) -> MutexGuard<'_, HashMap<(PathBuf, ProviderId, String), RunHandle>> {
        let mut verdicts = self.0.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        verdicts.retain(|_, run| !run.is_finished());
        verdicts
    }

    pub(crate) fn sessions(&self) -> &ProviderSessions {
        &self.0.sessions
    }

    /// Prepares the worktree and starts a review. The start completes even if the caller is dropped.
    ///
    /// # Errors
    /// Fails with [`StartReviewError`]; no review was started then.
    pub async fn start(&self, request: ReviewRequest) -> Result<RunStream, StartReviewError> {
        // A separate task, because an HTTP client may disconnect while git prepares the worktree.
        let this = self.clone();
        tokio::spawn(async move { this.prepare_and_start(request).await }).await.map_err(io::Error::other)?
    }

    async fn prepare_and_start(&self, request: ReviewRequest) -> Result<RunStream, StartReviewError> {
        let provider = request.provider.id().clone();
        if provider == ProviderId::ASSISTANT && !request.ticket.as_str().starts_with(PULL_REQUEST_PREFIX) {
            return Err(StartReviewError::NoPullRequest);
        }
        let worktree = request.worktree.canonical().to_owned();
        // Held until the run is registered, so that concurrent requests cannot start the same review twice.
        let _preparing = self.0.preparing.lock(&worktree).await;
        let key = (worktree, provider.clone());
        if let Some(running) = self.running(&key) {
            return Err(StartReviewError::AlreadyRunning { pid: running.current_pid() });
        }
        let base = self.base_of(&request).await?;
        let requested_scope =
            request.scope.with_base(base.as_ref()).ok_or(StartReviewError::NoDefaultBase)?;
        let scope = if request.in_repository {
            requested_scope.clone()
        } else {
            self.prepare(&request, base.clone(), &requested_scope).await?
        };
        // After the preparation, which fetches. The assistant determines the changes of a pull request by itself.
        if let ReviewScope::Base(base) = &requested_scope
            && provider != ProviderId::ASSISTANT
        {
            self.check_base(&request.repository, base).await?;
        }
        let cwd = if request.in_repository { &request.repository } else { &request.worktree };
        let directory = ReviewDirectory::of(&self.0.sandbox, request.worktree.as_path())
            .map_err(|error| StartReviewError::Worktree(error.to_string()))?;
        let model = request.model.clone().unwrap_or_else(|| request.provider.default_model().to_owned());
        let config = ReviewConfig {
            model: model.clone(),
            reasoning_effort: request.effort.clone(),
            review_mode: requested_scope.mode(),
            base_branch: base.as_ref().map(ToString::to_string).unwrap_or_default(),
            commit: match &requested_scope {
                ReviewScope::Commit(commit) => Some(commit.to_string()),
                ReviewScope::Uncommitted | ReviewScope::Base(_) => None,
            },
            instructions: request.instructions.clone(),
        };
        let plan = ReviewPlan::new(&request, scope, model);
        let owner = ReviewOwner {
            worktree: request.worktree.as_path().to_owned(),
            provider: provider.clone(),
            config,
            plain: plan.plain.clone(),
            session: plan.session.clone().map(|id| ToldSession { id, directory: cwd.as_path().to_owned() }),
        };
        let log_directory = directory.clone();
        blocking(move || log_directory.clear_log(&provider)).await?;
        let run = self.0.agents.runs.start(RunRequest {
            provider: plan.provider,
            turn: plan.turn,
            fallback: plan.fallback,
            directory: cwd.clone(),
            directories: vec![request.repository.as_path().to_owned(), request.worktree.as_path().to_owned()],
            time_limit: TIME_LIMIT,
            announcement: RunAnnouncement { provider: Some(key.1.clone()), ..RunAnnouncement::default() },
            kind: KIND,
            owner: RunRequest::owner(&owner)?,
            store: Box::new(self.store(directory, owner)),
        });
        let run = run.await?;
        let stream = run.stream().await?;
        self.started().insert(key, run);
        Ok(stream)
    }

    /// Returns the branch to compare with: the requested one, else the repository's default branch, if it has one.
    async fn base_of(&self, request: &ReviewRequest) -> Result<Option<BranchName>, StartReviewError> {
        if let Some(base) = &request.base {
            return Ok(Some(base.clone()));
        }
        match self.0.git.default_base(request.repository.as_path()).await {
            Ok(name) => Ok(name.and_then(|name| name.parse().ok())),
            Err(error) if request.scope == RequestedScope::Base => Err(git_failure(error)),
            // The other scopes do not compare with a branch.
            Err(_) => Ok(None),
        }
    }

    /// Checks that the branch to compare with exists, if necessary after a fetch.
    async fn check_base(
        &self,
        repository: &SandboxedPath,
        base: &BranchName,
    ) -> Result<(), StartReviewError> {
        let (git, repository) = (&self.0.git, repository.as_path());
        if git.base_ref(repository, base).await.map_err(git_failure)?.is_some() {
            return Ok(());
        }
        if let Err(error) = git.fetch(repository).await {
            tracing::info!(%error, "git fetch failed before a review, using the local state");
        }
        let exists = git.base_ref(repository, base).await.map_err(git_failure)?.is_some();
        if exists { Ok(()) } else { Err(StartReviewError::NoBase(base.clone())) }
    }

    /// Prepares the worktree, and returns the scope to pass to the provider.
    async fn prepare(
        &self,
        request: &ReviewRequest,
        base: Option<BranchName>,
        scope: &ReviewScope,
    ) -> Result<ReviewScope, StartReviewError> {
        let ReviewsState { git, code_host, .. } = &*self.0;
        let place = request.worktree.canonical();
        let is_reviewed = self.started().iter().any(|((at, _), run)| at == place && !run.is_finished());
        if is_reviewed {
            // Another provider is reading the worktree, so it must not be changed.
            return Ok(scope.clone());
        }
        let review_worktree = ReviewWorktree {
            repository: request.repository.clone(),
            worktree: request.worktree.clone(),
            branch: request.branch.clone(),
            base,
        };
        review_worktree.prepare(git).await.map_err(|error| match error {
            ReviewWorktreeError::BranchRequired => StartReviewError::BranchRequired,
            error => StartReviewError::Worktree(loopgate_api::redact::cause(&error.to_string())),
        })?;
        match scope {
            ReviewScope::Base(base)
                if *request.provider.id() == ProviderId::REVIEWER
                    && merged::restore_merged(git, code_host, place, &request.ticket, base).await =>
            {
                Ok(ReviewScope::Uncommitted)
            }
            scope => Ok(scope.clone()),
        }
    }

    /// Returns the report on a provider's review; `None` if none was started. Performs blocking I/O.
    ///
    /// # Errors
    /// Fails when the state file cannot be read.
    pub fn report(
        &self,
        directory: &ReviewDirectory,
        provider: &ProviderId,
    ) -> Result<Option<ReviewReport>, JsonFileError> {
        let Some(mut state) = directory.state(provider).read()? else { return Ok(None) };
        // Reviews that this process does not follow have no run handle; check the pid from their file.
        let is_running = state.status == ReviewStatus::Running
            && (self.run_of(directory, provider).is_some()
                || state.pid.is_some_and(|pid| identity(pid).is_some()));
        if !is_running {
            state.stop();
        }
        let (end, log_size) = directory.log_end(provider, LOG_SHOWN).unwrap_or_default();
        let log = log::readable(&end, log_size > LOG_SHOWN);
        Ok(Some(ReviewReport { state, is_running, log, log_size }))
    }

    /// Stops a provider's review. Signals only programs that were started by this gateway.
    ///
    /// # Errors
    /// Fails with [`StopReviewError`] when there is no review or its program cannot be stopped.
    pub async fn stop(
        &self,
        directory: ReviewDirectory,
        provider: ProviderId,
    ) -> Result<StopReviewOutcome, StopReviewError> {
        let this = self.clone();
        let stopping = tokio::task::spawn_blocking(move || {
            let file = directory.state(&provider);
            let state = file.read()?.ok_or(StopReviewError::NotFound)?;
            if state.status != ReviewStatus::Running {
                return Ok(StopReviewOutcome::NotRunning(state.status));
            }
            let pid = state.pid.ok_or(StopReviewError::NoPid)?;
            // Before the program is terminated: its exit must not be recorded as a failure.
            file.update(|state| {
                if let Some(state) = state {
                    state.stop();
                }
                Ok::<_, JsonFileError>(())
            })?;
            match this.run_of(&directory, &provider) {
                Some(run) => run.stop(),
                // The pid may have been reused by an unrelated process, so it is not signalled.
                None if identity(pid).is_some() => return Err(StopReviewError::NotManaged),
                None => {}
            }
            Ok(StopReviewOutcome::Stopped(pid))
        });
        stopping.await.map_err(io::Error::other)?
    }

    /// Stops a provider's review and removes its files. Returns the names of the removed files.
    ///
    /// # Errors
    /// Fails on any I/O error other than a missing file.
    pub async fn discard(&self, directory: ReviewDirectory, provider: ProviderId) -> io::Result<Vec<String>> {
        if let Some(run) = self.run_of(&directory, &provider) {
            run.stop();
        }
        blocking(move || directory.remove_review(&provider)).await
    }

    fn run_of(&self, directory: &ReviewDirectory, provider: &ProviderId) -> Option<RunHandle> {
        self.running(&(directory.worktree(), provider.clone()))
    }

    fn running(&self, key: &ReviewKey) -> Option<RunHandle> {
        self.started().get(key).filter(|run| !run.is_finished()).cloned()
    }

    fn started(&self) -> MutexGuard<'_, HashMap<ReviewKey, RunHandle>> {
        let mut started = self.0.started.lock().unwrap_or_else(PoisonError::into_inner);
        // Pruned on access, which keeps the map small without a timer.
        started.retain(|_, run| !run.is_finished());
        started
    }
}

impl RunStoreFactory for Reviews {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn reopen(&self, owner: serde_json::Map<String, Value>) -> Option<Box<dyn RunStore>> {
        let owner = ReviewOwner::from_map(owner)?;
        let directory = ReviewDirectory::of(&self.0.sandbox, &owner.worktree).ok()?;
        Some(Box::new(self.store(directory, owner)))
    }

    fn provider(
        &self,
        registry: &ProviderRegistry,
        id: &ProviderId,
        owner: &serde_json::Map<String, Value>,
    ) -> Option<Arc<dyn Provider>> {
        match ReviewOwner::from_map(owner.clone())?.plain {
            Some(scope) => Some(Arc::new(PlainReview { scope })),
            None => registry.get(id),
        }
    }

    fn on_recovery(&self, owner: &serde_json::Map<String, Value>, run: &RunHandle) {
        let Some(owner) = ReviewOwner::from_map(owner.clone()) else { return };
        if let Ok(worktree) = self.0.sandbox.check(&owner.worktree) {
            self.started().insert((worktree.canonical().to_owned(), owner.provider), run.clone());
        }
    }
}

fn git_failure(error: GitError) -> StartReviewError {
    StartReviewError::Io(io::Error::other(error))
}

/// How a provider executes a review.
struct ReviewPlan {
    provider: Arc<dyn Provider>,
    turn: TurnRequest,
    fallback: Option<SecondAttempt>,
    /// The scope, if the provider's own `review` command is used.
    plain: Option<ReviewScope>,
    /// Session of `loopgate code-review` in which the assistant reviews.
    session: Option<String>,
}

impl ReviewPlan {
    fn new(request: &ReviewRequest, scope: ReviewScope, model: String) -> Self {
        let instructions = request.instructions.as_deref();
        let turn =
            TurnRequest { model: Some(model), tools: REVIEW_TOOLS.to_owned(), ..TurnRequest::default() };
        let id = request.provider.id();
        if *id == ProviderId::ASSISTANT {
            let turn = TurnRequest { instructions: Some(prompt::review_system_text(instructions)), ..turn };
            let number = request.ticket.as_str().trim_start_matches(PULL_REQUEST_PREFIX);
            let fallback = TurnRequest { prompt: format!("/review {number}"), ..turn.clone() };
            let session = format!("{SESSION_PREFIX}{}", Uuid::now_v7());
            let command = format!("{} --session {session}", prompt::REVIEW_COMMAND);
            return Self {
                provider: Arc::new(Assistant),
                turn: TurnRequest { prompt: command, ..turn },
                fallback: Some(SecondAttempt { rule: FallbackRule::NoWork, turn: fallback }),
                plain: None,
                session: Some(session),
            };
        }
        let turn = TurnRequest { effort: Some(request.effort.clone()), ..turn };
        // The `review` command accepts no prompt in combination with its scope flags.
        if *id == ProviderId::REVIEWER && instructions.is_none() {
            let provider = Arc::new(PlainReview { scope: scope.clone() });
            return Self { provider, turn, fallback: None, plain: Some(scope), session: None };
        }
        let turn = TurnRequest { prompt: prompt::review(&scope, instructions), ..turn };
        Self { provider: request.provider.clone(), turn, fallback: None, plain: None, session: None }
    }
}
