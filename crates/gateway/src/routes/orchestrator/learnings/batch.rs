//! `process-all-learnings` and `pending-learnings`: the worktrees of all managed repositories.

use std::path::Path;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use futures_util::future::join_all;
use jiff::Timestamp;
use loopgate_api::error::ErrorBody;
use loopgate_home::{ReposError, SandboxedPath, expand_home};
use loopgate_learnings::{BatchStart, BatchStatus, LearningCheckout, pending_count};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{DISABLED, is_enabled, worktree};
use crate::app::App;
use crate::approval::Source;
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::route::Endpoint;
use crate::routes::orchestrator::runtime::runtime_of;

const PATH: &str = "/api/gateway/orchestrator/process-all-learnings";
/// Timeout for listing the worktrees of one repository. One repository on a slow file system must not delay
/// the others; its worktrees are omitted.
const LISTING_TIMEOUT: Duration = Duration::from_secs(10);

/// Outcome of a request to process the learnings of all worktrees.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
#[schema(as = LearningsBatchStart, example = json!({"status": "processing", "worktreeCount": 3, "pid": 4242}))]
pub(crate) enum BatchStarted {
    /// The processing was started.
    #[serde(rename_all = "camelCase")]
    Processing {
        worktree_count: usize,
        /// Pid of the process that performs the work.
        pid: u32,
    },
    /// A previous request is still being processed.
    #[serde(rename_all = "camelCase")]
    AlreadyProcessing {
        worktree_count: usize,
        /// Number of worktrees that are already processed.
        processed_worktrees: usize,
        #[schema(value_type = Option<String>, format = DateTime)]
        started_at: Option<Timestamp>,
    },
    /// There is nothing to process.
    Skipped { reason: &'static str },
}

/// Number of learnings that are not processed yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"totalCount": 7, "worktreeCount": 3}))]
pub(crate) struct PendingLearnings {
    total_count: usize,
    /// Number of worktrees with pending learnings.
    worktree_count: usize,
}

/// Process the pending learnings of all worktrees
///
/// Runs in the background, one worktree at a time.
#[utoipa::path(post, path = "/api/gateway/orchestrator/process-all-learnings", operation_id = "process_all_learnings", tag = "learnings",
    responses(
        (status = 200, body = BatchStarted, description = "Processing was started, is already running, or is not necessary"),
        (status = 404, body = ErrorBody, description = "The self-learning plugin is not installed"),
        (status = 500, body = ErrorBody, description = "The status cannot be written"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn start(State(app): State<App>) -> JsonResult<BatchStarted> {
    if !is_enabled(&app) {
        return Ok(Json(BatchStarted::Skipped { reason: DISABLED }));
    }
    runtime_of(&app, PATH)?;
    let context = "Failed to start batch process";
    let worktrees = all_worktrees(&app, context).await?;
    let start = spawn_blocking(move || app.learnings.batch.start(worktrees)).await?;
    Ok(Json(match start.map_err(|error| HttpError::operation(context, &error))? {
        BatchStart::AlreadyProcessing(status) => BatchStarted::AlreadyProcessing {
            worktree_count: status.worktree_count.unwrap_or_default(),
            processed_worktrees: status.processed_worktrees.unwrap_or_default(),
            started_at: status.started_at,
        },
        BatchStart::NothingPending => BatchStarted::Skipped { reason: "No pending learnings found" },
        BatchStart::NoScript => {
            let text = "process-chat-learnings.sh not found in self-learning plugin";
            return Err(HttpError::not_found(text));
        }
        BatchStart::Started { worktree_count } => {
            // The gateway itself drives the batch, one script after another, so no child pid represents it.
            BatchStarted::Processing { worktree_count, pid: std::process::id() }
        }
    }))
}

/// Return the status of processing all worktrees
#[utoipa::path(get, path = "/api/gateway/orchestrator/process-all-learnings", operation_id = "batch_status", tag = "learnings",
    responses((status = 200, body = BatchStatus, description = "Status of the last batch; also when there was none")))]
async fn status(State(app): State<App>) -> JsonResult<BatchStatus> {
    Ok(Json(spawn_blocking(move || app.learnings.batch.status()).await?))
}

/// Count pending learnings
///
/// Covers the worktrees of all managed repositories.
#[utoipa::path(get, path = "/api/gateway/orchestrator/pending-learnings", operation_id = "pending_learnings", tag = "learnings",
    responses(
        (status = 200, body = PendingLearnings, description = "Number of pending learnings"),
        (status = 500, body = ErrorBody, description = "The repositories cannot be read"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn pending(State(app): State<App>) -> JsonResult<PendingLearnings> {
    let worktrees = all_worktrees(&app, "Failed to scan pending learnings").await?;
    let counts = spawn_blocking(move || {
        let counts = worktrees.iter().map(|worktree| pending_count(&worktree.work_dir));
        counts.filter(|count| *count > 0).collect::<Vec<usize>>()
    });
    let counts = counts.await?;
    Ok(Json(PendingLearnings { total_count: counts.iter().sum(), worktree_count: counts.len() }))
}

/// Returns the worktrees of all managed repositories, without those outside the sandbox.
async fn all_worktrees(app: &App, context: &str) -> Result<Vec<LearningCheckout>, HttpError> {
    let repositories = {
        let app = app.clone();
        spawn_blocking(move || {
            let list = app.repos.list()?;
            let allowed = |path: &str| app.sandbox.check(expand_home(path)).ok();
            let repositories = list.repos.iter().filter_map(|repo| allowed(&repo.path));
            Ok(repositories.filter(|repository| repository.canonical().is_dir()).collect::<Vec<_>>())
        })
    };
    let repositories = repositories.await?.map_err(|error| match error {
        ReposError::NotConfigured => HttpError::not_configured(),
        error => HttpError::operation(context, &error),
    })?;
    let list_worktrees = |repository: SandboxedPath| async move {
        let listed = timeout(LISTING_TIMEOUT, app.git.worktrees(repository.as_path())).await;
        // Best-effort: a repository that git cannot list contributes no worktrees.
        listed.ok().and_then(Result::ok).unwrap_or_default()
    };
    let listed = join_all(repositories.into_iter().map(list_worktrees)).await;
    let mut paths: Vec<_> = listed.into_iter().flatten().map(|worktree| worktree.path).collect();
    // Two managed clones can share a git directory, and both list its worktrees.
    paths.sort_unstable();
    paths.dedup();
    let sandbox = app.sandbox.clone();
    spawn_blocking(move || {
        let allowed = |path: &Path| sandbox.check(path).ok().map(|place| worktree(&place));
        paths.iter().filter_map(|path| allowed(path)).collect()
    })
    .await
}

pub(crate) fn start_endpoint() -> Endpoint {
    Endpoint::new(routes!(start), &[Source::ManagedRepositories])
}

pub(crate) fn status_endpoint() -> Endpoint {
    Endpoint::new(routes!(status), &[])
}

pub(crate) fn pending_endpoint() -> Endpoint {
    Endpoint::new(routes!(pending), &[Source::ManagedRepositories])
}
