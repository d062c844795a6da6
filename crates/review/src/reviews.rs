//! The reviews of this desktop: started, followed and stopped.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
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
use loopgate_tools::git::Git;
use loopgate_tools::keyed_locks::KeyedLocks;
use loopgate_tools::process::identity;
use serde_json::Value;
use thiserror::Error;

use crate::blocking::blocking;
use crate::files::ReviewDirectory;
use crate::log::{self, LOG_SHOWN};
use crate::merged;
use crate::plain::PlainReview;
use crate::prompt;
use crate::review_store::{ReviewOwner, ReviewStore};
use crate::scope::ReviewScope;
use crate::sessions::ProviderSessions;
use crate::state::{ReviewConfig, ReviewState, ReviewStatus};
use crate::worktree::{ReviewWorktree, WorktreeError};

/// The kind of the runs of reviews.
const KIND: &str = "review";
/// How long a review may take.
const TIME_LIMIT: Duration = Duration::from_hours(1);
/// Tools of the assistant in a review.
const REVIEW_TOOLS: &str = "Bash,Read,Glob,Grep,Task,TodoWrite";
/// What tickets of pull requests begin with.
const PULL_REQUEST_PREFIX: &str = "pr-";

/// What a review is asked for.
pub struct ReviewRequest {
    /// Who reviews.
    pub provider: Arc<dyn Provider>,
    /// The clone.
    pub repository: SandboxedPath,
    /// The worktree of the ticket; it may not be there yet.
    pub worktree: SandboxedPath,
    /// The ticket.
    pub ticket: TicketId,
    /// The branch that is reviewed; without one the worktree is used as it is.
    pub branch: Option<BranchName>,
    /// Where a worktree begins whose branch does not exist.
    pub base: BranchName,
    /// Which changes it is about.
    pub scope: ReviewScope,
    /// The model; the provider's default when absent.
    pub model: Option<String>,
    /// How long the model may think.
    pub effort: String,
    /// What the person wants looked at.
    pub instructions: Option<String>,
    /// Whether the clone itself is reviewed.
    pub in_repository: bool,
}

/// Why a review was not started.
#[derive(Debug, Error)]
pub enum StartReviewError {
    /// One by this provider runs in this worktree.
    #[error("Review already running")]
    AlreadyRunning {
        /// The pid of its program, once it has one.
        pid: Option<u32>,
    },
    /// The assistant reviews pull requests only.
    #[error("ticketId must start with 'pr-' for assistant reviews")]
    NoPullRequest,
    /// There is no worktree, and no branch that it could be made for.
    #[error("branchName is required to create a worktree")]
    BranchRequired,
    /// The worktree cannot be made.
    #[error("Failed to create worktree: {0}")]
    Worktree(String),
    /// Its files cannot be written, or its start was cut off.
    #[error("Failed to start review: {0}")]
    Io(#[from] io::Error),
}

/// Why a review was not stopped.
#[derive(Debug, Error)]
pub enum StopReviewError {
    /// There is none.
    #[error("No review found")]
    NotFound,
    /// Its file names no program.
    #[error("No PID found for review")]
    NoPid,
    /// Its pid belongs to another program by now.
    #[error("process not managed by this gateway")]
    NotManaged,
    /// Its file cannot be read or written.
    #[error("Failed to stop review: {0}")]
    File(#[from] JsonFileError),
    /// The file system refused.
    #[error("Failed to stop review: {0}")]
    Io(#[from] io::Error),
}

/// What a stop did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReviewOutcome {
    /// The program with this pid is being ended, or was gone already.
    Stopped(u32),
    /// The review had ended, in this way.
    NotRunning(ReviewStatus),
}

/// A review as its file and its log tell it.
#[derive(Debug, Clone)]
pub struct ReviewReport {
    /// Its file; a review whose program is gone counts as stopped.
    pub state: ReviewState,
    /// Whether its program runs.
    pub is_running: bool,
    /// The readable end of its log.
    pub log: String,
    /// Bytes of the whole log.
    pub log_size: u64,
}

/// Which review: the worktree and the provider.
type ReviewKey = (PathBuf, ProviderId);

/// Starts, follows and stops reviews. Clones share everything.
#[derive(Clone)]
pub struct Reviews(Arc<ReviewsState>);

struct ReviewsState {
    agents: Arc<Agents>,
    sandbox: Arc<Sandbox>,
    git: Git,
    code_host: CodeHost,
    /// Reviews that were started, some of which are over.
    started: Mutex<HashMap<ReviewKey, RunHandle>>,
    /// Questions for verdicts by worktree, provider and session, some of which are over.
    verdicts: Mutex<HashMap<(PathBuf, ProviderId, String), RunHandle>>,
    /// Held while a worktree is prepared, or a verdict is asked for.
    preparing: KeyedLocks,
    sessions: ProviderSessions,
}

impl Reviews {
    /// Builds the service; starts nothing.
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
        }))
    }

    /// Follows the reviews, chats and debates that an earlier process started, and the chats of the agents.
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
        verdicts.retain(|_, run| !run.is_over());
        verdicts
    }

    pub(crate) fn sessions(&self) -> &ProviderSessions {
        &self.0.sessions
    }

    /// Prepares the worktree and starts a review. Goes on when the caller goes away.
    ///
    /// # Errors
    /// [`StartReviewError`]; nothing was started then.
    pub async fn start(&self, request: ReviewRequest) -> Result<RunStream, StartReviewError> {
        let this = self.clone();
        tokio::spawn(async move { this.prepare_and_start(request).await }).await.map_err(io::Error::other)?
    }

    async fn prepare_and_start(&self, request: ReviewRequest) -> Result<RunStream, StartReviewError> {
        let provider = request.provider.id().clone();
        if provider == ProviderId::ASSISTANT && !request.ticket.as_str().starts_with(PULL_REQUEST_PREFIX) {
            return Err(StartReviewError::NoPullRequest);
        }
        let worktree = request.worktree.canonical().to_owned();
        let _preparing = self.0.preparing.lock(&worktree).await;
        let key = (worktree, provider.clone());
        if let Some(running) = self.running(&key) {
            return Err(StartReviewError::AlreadyRunning { pid: running.current_pid() });
        }
        let scope =
            if request.in_repository { request.scope.clone() } else { self.prepare(&request).await? };
        let cwd = if request.in_repository { &request.repository } else { &request.worktree };
        let directory = ReviewDirectory::of(&self.0.sandbox, request.worktree.as_path())
            .map_err(|error| StartReviewError::Worktree(error.to_string()))?;
        let model = request.model.clone().unwrap_or_else(|| request.provider.default_model().to_owned());
        let config = ReviewConfig {
            model: model.clone(),
            reasoning_effort: request.effort.clone(),
            review_mode: request.scope.mode(),
            base_branch: request.base.to_string(),
            commit: match &request.scope {
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
        };
        let emptied = directory.clone();
        blocking(move || emptied.clear_log(&provider)).await?;
        let run = self.0.agents.runs.start(RunRequest {
            provider: plan.provider,
            turn: plan.turn,
            fallback: plan.fallback,
            directory: cwd.clone(),
            about: vec![request.repository.as_path().to_owned(), request.worktree.as_path().to_owned()],
            time_limit: TIME_LIMIT,
            announcement: RunAnnouncement { provider: Some(key.1.clone()), ..RunAnnouncement::default() },
            kind: KIND,
            owner: RunRequest::owner(&owner)?,
            store: Box::new(ReviewStore { directory, owner }),
        });
        let run = run.await?;
        let stream = run.stream().await?;
        self.started().insert(key, run);
        Ok(stream)
    }

    /// Prepares the worktree; answers the scope that the provider is told.
    async fn prepare(&self, request: &ReviewRequest) -> Result<ReviewScope, StartReviewError> {
        let ReviewsState { git, code_host, .. } = &*self.0;
        let place = request.worktree.canonical();
        let is_reviewed = self.started().iter().any(|((at, _), run)| at == place && !run.is_over());
        if is_reviewed {
            // Another provider reads what is there now.
            return Ok(request.scope.clone());
        }
        let wanted = ReviewWorktree {
            repository: request.repository.clone(),
            worktree: request.worktree.clone(),
            branch: request.branch.clone(),
            base: request.base.clone(),
        };
        wanted.prepare(git).await.map_err(|error| match error {
            WorktreeError::BranchRequired => StartReviewError::BranchRequired,
            error => StartReviewError::Worktree(loopgate_api::redact::cause(&error.to_string())),
        })?;
        match &request.scope {
            ReviewScope::Base(base)
                if *request.provider.id() == ProviderId::REVIEWER
                    && merged::restore_merged(git, code_host, place, &request.ticket, base).await =>
            {
                Ok(ReviewScope::Uncommitted)
            }
            scope => Ok(scope.clone()),
        }
    }

    /// The review by a provider; `None` when none was started. Blocks on the disk.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn report(
        &self,
        directory: &ReviewDirectory,
        provider: &ProviderId,
    ) -> Result<Option<ReviewReport>, JsonFileError> {
        let Some(mut state) = directory.state(provider).read()? else { return Ok(None) };
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

    /// Stops the review by a provider. Only a program that was started here is signalled.
    ///
    /// # Errors
    /// [`StopReviewError`]
    pub async fn stop(
        &self,
        directory: ReviewDirectory,
        provider: ProviderId,
    ) -> Result<StopReviewOutcome, StopReviewError> {
        let this = self.clone();
        let stopped = tokio::task::spawn_blocking(move || {
            let file = directory.state(&provider);
            let state = file.read()?.ok_or(StopReviewError::NotFound)?;
            if state.status != ReviewStatus::Running {
                return Ok(StopReviewOutcome::NotRunning(state.status));
            }
            let pid = state.pid.ok_or(StopReviewError::NoPid)?;
            file.update(|state| {
                if let Some(state) = state {
                    state.stop();
                }
                Ok::<_, JsonFileError>(())
            })?;
            match this.run_of(&directory, &provider) {
                Some(run) => run.stop(),
                None if identity(pid).is_some() => return Err(StopReviewError::NotManaged),
                None => {}
            }
            Ok(StopReviewOutcome::Stopped(pid))
        });
        stopped.await.map_err(io::Error::other)?
    }

    /// Stops the review by a provider and removes its files. Returns the names of what was there.
    ///
    /// # Errors
    /// Any failure of the file system.
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
        self.started().get(key).filter(|run| !run.is_over()).cloned()
    }

    fn started(&self) -> MutexGuard<'_, HashMap<ReviewKey, RunHandle>> {
        let mut started = self.0.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.retain(|_, run| !run.is_over());
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
        Some(Box::new(ReviewStore { directory, owner }))
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

    fn recovered(&self, owner: &serde_json::Map<String, Value>, run: &RunHandle) {
        let Some(owner) = ReviewOwner::from_map(owner.clone()) else { return };
        if let Ok(worktree) = self.0.sandbox.check(&owner.worktree) {
            self.started().insert((worktree.canonical().to_owned(), owner.provider), run.clone());
        }
    }
}

/// How a provider is asked for a review.
struct ReviewPlan {
    provider: Arc<dyn Provider>,
    turn: TurnRequest,
    fallback: Option<SecondAttempt>,
    /// The scope, when the provider is asked by its own command for reviews.
    plain: Option<ReviewScope>,
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
            return Self {
                provider: Arc::new(Assistant),
                turn: TurnRequest { prompt: prompt::REVIEW_COMMAND.to_owned(), ..turn },
                fallback: Some(SecondAttempt { rule: FallbackRule::NoWork, turn: fallback }),
                plain: None,
            };
        }
        let turn = TurnRequest { effort: Some(request.effort.clone()), ..turn };
        if *id == ProviderId::REVIEWER && instructions.is_none() {
            let provider = Arc::new(PlainReview { scope: scope.clone() });
            return Self { provider, turn, fallback: None, plain: Some(scope) };
        }
        let turn = TurnRequest { prompt: prompt::review(&scope, instructions), ..turn };
        Self { provider: request.provider.clone(), turn, fallback: None, plain: None }
    }
}
