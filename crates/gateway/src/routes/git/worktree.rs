//! `/api/gateway/git/worktree`: removes a worktree, or all worktrees of closed pull requests.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_tools::git::{self, CleanupOutcome, NamedRemovalError, RemovalMethod};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::response::path_text;
use crate::route::Endpoint;

/// Prefix of the errors of a clean-up.
const CLEANUP_FAILED: &str = "Worktree cleanup failed";

/// The worktree to remove.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"worktreePath": "~/src/worktrees/shop-AB-2", "force": false}))]
struct RemoveRequest {
    /// Directory of the worktree, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    worktree_path: Option<String>,
    /// Remove the worktree even if it has uncommitted changes, and delete the directory if git cannot.
    #[serde(default, deserialize_with = "lenient::any")]
    force: Option<bool>,
}

/// Acknowledgement of a removal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "message": "Worktree removed successfully"}))]
#[schema(as = Gone)]
pub(crate) struct RemovedResponse {
    success: bool,
    message: &'static str,
}

/// Paths of the worktrees that were removed and of those that were kept.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(example = json!({"removed": ["/home/sam/src/worktrees/shop-pr-7"], "kept": ["/home/sam/src/worktrees/shop-pr-9"], "errors": []}))]
#[schema(as = CleanedUp)]
pub(crate) struct CleanupReport {
    removed: Vec<String>,
    kept: Vec<String>,
    /// Reasons for which kept worktrees could not be checked or removed, as `<path>: <reason>`.
    errors: Vec<String>,
}

/// Remove a worktree
///
/// The branch is kept.
#[utoipa::path(delete, path = "/api/gateway/git/worktree", operation_id = "remove_worktree", tag = "git",
    request_body = RemoveRequest,
    responses(
        (status = 200, body = RemovedResponse, description = "The worktree was removed, or did not exist"),
        (status = 400, body = ErrorBody, description = "Path missing, or not a worktree", example = json!(ErrorBody::missing_field("worktreePath is required and must be a string"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 409, body = ErrorBody, description = "The worktree has uncommitted changes", example = json!(ErrorBody::new(409, "Worktree has uncommitted changes").with("hasChanges", true).with("message", "Use force=true to remove anyway"))),
        (status = 500, body = ErrorBody, description = "git failed", example = json!(ErrorBody::new(500, "Failed to remove worktree: git worktree failed"))),
    ))]
async fn remove(
    State(app): State<App>,
    JsonBody(body): JsonBody<RemoveRequest>,
) -> JsonResult<RemovedResponse> {
    let path = body.worktree_path;
    let path =
        path.ok_or_else(|| HttpError::missing_field("worktreePath is required and must be a string"))?;
    let force = body.force == Some(true);
    let lookup_app = app.clone();
    let Some(target) = spawn_blocking(move || RemovalTarget::find(&lookup_app, &path, force)).await?? else {
        // Success, so that the removal is idempotent.
        return Ok(removed("Worktree does not exist"));
    };
    // Spawned, so that a disconnecting client cannot stop a removal halfway.
    let work = async move { app.git.remove_named(&target.directory, force, target.leftover).await };
    match tokio::spawn(work).await.map_err(|_| HttpError::internal())? {
        Ok(RemovalMethod::ByGit) => Ok(removed("Worktree removed successfully")),
        Ok(RemovalMethod::ByForce) => Ok(removed("Worktree forcefully removed")),
        Err(NamedRemovalError::UncommittedChanges) => {
            Err(HttpError::new(StatusCode::CONFLICT, NamedRemovalError::UncommittedChanges.to_string())
                .with("hasChanges", true)
                .with("message", "Use force=true to remove anyway"))
        }
        Err(NamedRemovalError::NotAWorktree) => Err(not_a_worktree()),
        Err(error) => Err(HttpError::operation("Failed to remove worktree", &error)),
    }
}

/// Remove the worktrees of closed pull requests
///
/// Considers directories of the worktree parent named `<anything>-pr-<number>` whose branch no longer exists
/// at `origin`. Worktrees with uncommitted changes are kept.
#[utoipa::path(post, path = "/api/gateway/git/worktree", operation_id = "clean_up_worktrees", tag = "git",
    responses(
        (status = 200, body = CleanupReport, description = "Worktrees that were removed and kept"),
        (status = 500, body = ErrorBody, description = "No worktree parent is configured, or it cannot be read", example = json!(ErrorBody::new(500, "Worktree cleanup failed: Worktree parent directory not configured"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn clean_up(State(app): State<App>) -> JsonResult<CleanupReport> {
    app.sandbox.base().ok_or_else(HttpError::not_configured)?;
    let lookup_app = app.clone();
    let candidates = spawn_blocking(move || candidates(&lookup_app)).await??;
    let work = async move { app.git.remove_merged_worktrees(candidates).await };
    // Spawned for the same reason as a single removal.
    let cleaned = tokio::spawn(work).await.map_err(|_| HttpError::internal())?;
    Ok(Json(cleaned.into()))
}

pub(crate) fn remove_endpoint() -> Endpoint {
    Endpoint::new(routes!(remove), &[Source::Path(At::Body("worktreePath"))]).with_action_members(&["force"])
}

pub(crate) fn clean_up_endpoint() -> Endpoint {
    Endpoint::new(routes!(clean_up), &[Source::PullRequestWorktrees])
}

/// A directory to remove.
struct RemovalTarget {
    /// Canonical path.
    directory: PathBuf,
    /// Whether only worktrees are created at this location. Then the directory may be removed even when git
    /// no longer lists it.
    leftover: bool,
}

impl RemovalTarget {
    /// Resolves the directory; `None` when nothing exists at the path. Performs blocking I/O.
    fn find(app: &App, path: &str, force: bool) -> Result<Option<Self>, HttpError> {
        let directory = app.sandbox.check(path)?;
        let directory = directory.canonical().to_owned();
        if !directory.exists() {
            return Ok(None);
        }
        // Without `force`, git itself refuses to remove anything but a linked worktree.
        let linked = matches!(git::CheckoutKind::of(&directory), git::CheckoutKind::Linked(_));
        // A forced removal deletes recursively; never a directory that contains the sandbox or a managed
        // repository.
        if !directory.is_dir() || ((force || linked) && app.worktree_layout.is_protected(&directory)) {
            return Err(not_a_worktree());
        }
        let leftover = app.worktree_layout.may_be_leftover(&directory);
        Ok(Some(Self { directory, leftover }))
    }
}

fn candidates(app: &App) -> Result<Vec<PathBuf>, HttpError> {
    let parent = app.repos.configured_worktree_parents().into_iter().next().ok_or_else(|| {
        let text = format!("{CLEANUP_FAILED}: Worktree parent directory not configured");
        HttpError::failed(text)
    })?;
    // A parent outside the sandbox contains nothing that this route may remove.
    let Ok(parent) = app.sandbox.check(parent) else { return Ok(Vec::new()) };
    let worktrees = git::pull_request_worktrees(parent.as_path());
    let worktrees = worktrees.map_err(|error| HttpError::operation(CLEANUP_FAILED, &error))?;
    Ok(worktrees.into_iter().filter(|path| app.sandbox.check(path).is_ok()).collect())
}

fn removed(message: &'static str) -> Json<RemovedResponse> {
    Json(RemovedResponse { success: true, message })
}

fn not_a_worktree() -> HttpError {
    HttpError::bad_request(NamedRemovalError::NotAWorktree.to_string())
}

impl From<CleanupOutcome> for CleanupReport {
    fn from(cleanup: CleanupOutcome) -> Self {
        let paths = |paths: Vec<PathBuf>| paths.iter().map(path_text).collect();
        Self { removed: paths(cleanup.removed), kept: paths(cleanup.retained), errors: cleanup.errors }
    }
}
