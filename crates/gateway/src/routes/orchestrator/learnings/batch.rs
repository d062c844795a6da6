//! `process-all-learnings` and `pending-learnings`: the worktrees of every configured repository.

use std::path::Path;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use futures_util::future::join_all;
use jiff::Timestamp;
use loopgate_api::error::ErrorBody;
use loopgate_home::{ReposError, SandboxedPath, expand_home};
use loopgate_learnings::{BatchStart, BatchStatus, Worktree, pending_count};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{TURNED_OFF, is_enabled, worktree};
use crate::app::App;
use crate::approval::Source;
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::route::Endpoint;
use crate::routes::orchestrator::runtime::runtime_of;

const PATH: &str = "/api/gateway/orchestrator/process-all-learnings";
/// For the worktrees of one repository.
const LISTING_TIME: Duration = Duration::from_secs(10);

/// Outcome of a request to process all worktrees.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
#[schema(as = LearningsBatchStart, example = json!({"status": "processing", "worktreeCount": 3, "pid": 4242}))]
pub(crate) enum BatchStarted {
    /// It runs.
    #[serde(rename_all = "camelCase")]
    Processing {
        worktree_count: usize,
        /// Process that works on it.
        pid: u32,
    },
    /// One ran already.
    #[serde(rename_all = "camelCase")]
    AlreadyProcessing {
        worktree_count: usize,
        /// Worktrees that are done.
        processed_worktrees: usize,
        #[schema(value_type = Option<String>, format = DateTime)]
        started_at: Option<Timestamp>,
    },
    /// There is nothing to do.
    Skipped { reason: &'static str },
}

/// How much waits to be processed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"totalCount": 7, "worktreeCount": 3}))]
pub(crate) struct PendingLearnings {
    total_count: usize,
    /// Worktrees that have any.
    worktree_count: usize,
}

/// Process the pending learnings of all worktrees
///
/// One after the other, in the background.
#[utoipa::path(post, path = "/api/gateway/orchestrator/process-all-learnings", operation_id = "process_all_learnings", tag = "learnings",
    responses(
        (status = 200, body = BatchStarted, description = "It runs, ran already, or there is nothing to do"),
        (status = 404, body = ErrorBody, description = "The self-learning plugin is missing"),
        (status = 500, body = ErrorBody, description = "The status cannot be written"),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn start(State(app): State<App>) -> JsonResult<BatchStarted> {
    if !is_enabled(&app) {
        return Ok(Json(BatchStarted::Skipped { reason: TURNED_OFF }));
    }
    runtime_of(&app, PATH)?;
    let failed = "Failed to start batch process";
    let worktrees = all_worktrees(&app, failed).await?;
    let start = spawn_blocking(move || app.learnings.batch.start(worktrees)).await?;
    Ok(Json(match start.map_err(|error| HttpError::operation(failed, &error))? {
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
            BatchStarted::Processing { worktree_count, pid: std::process::id() }
        }
    }))
}

/// How the processing of all worktrees stands
#[utoipa::path(get, path = "/api/gateway/orchestrator/process-all-learnings", operation_id = "batch_status", tag = "learnings",
    responses((status = 200, body = BatchStatus, description = "Its status, also when there was none")))]
async fn status(State(app): State<App>) -> JsonResult<BatchStatus> {
    Ok(Json(spawn_blocking(move || app.learnings.batch.status()).await?))
}

/// Count pending learnings
///
/// In the worktrees of every configured repository.
#[utoipa::path(get, path = "/api/gateway/orchestrator/pending-learnings", operation_id = "pending_learnings", tag = "learnings",
    responses(
        (status = 200, body = PendingLearnings, description = "How many wait"),
        (status = 500, body = ErrorBody, description = "The repositories cannot be read"),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn pending(State(app): State<App>) -> JsonResult<PendingLearnings> {
    let worktrees = all_worktrees(&app, "Failed to scan pending learnings").await?;
    let counting = spawn_blocking(move || {
        let counts = worktrees.iter().map(|worktree| pending_count(&worktree.work_dir));
        counts.filter(|count| *count > 0).collect::<Vec<usize>>()
    });
    let counts = counting.await?;
    Ok(Json(PendingLearnings { total_count: counts.iter().sum(), worktree_count: counts.len() }))
}

/// Every worktree of every configured repository that the sandbox allows.
async fn all_worktrees(app: &App, failed: &str) -> Result<Vec<Worktree>, HttpError> {
    let repositories = {
        let app = app.clone();
        spawn_blocking(move || {
            let list = app.repos.list()?;
            let allowed = |path: &str| app.sandbox.check(expand_home(path)).ok();
            let places = list.repos.iter().filter_map(|repo| allowed(&repo.path));
            Ok(places.filter(|repository| repository.canonical().is_dir()).collect::<Vec<_>>())
        })
    };
    let repositories = repositories.await?.map_err(|error| match error {
        ReposError::NotConfigured => HttpError::not_configured(),
        error => HttpError::operation(failed, &error),
    })?;
    let listing = |repository: SandboxedPath| async move {
        let listed = timeout(LISTING_TIME, app.git.worktrees(repository.as_path())).await;
        listed.ok().and_then(Result::ok).unwrap_or_default()
    };
    let listed = join_all(repositories.into_iter().map(listing)).await;
    let mut paths: Vec<_> = listed.into_iter().flatten().map(|worktree| worktree.path).collect();
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
