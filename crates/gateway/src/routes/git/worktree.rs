//! `/api/gateway/git/worktree`: removing one worktree, and those of pull requests that are over.

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

/// What a failed clean-up is called.
const CLEANUP_FAILED: &str = "Worktree cleanup failed";

/// The worktree to remove.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"worktreePath": "~/src/worktrees/shop-AB-2", "force": false}))]
struct RemoveRequest {
    /// Directory inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    worktree_path: Option<String>,
    /// Also with uncommitted changes, or when git cannot.
    #[serde(default, deserialize_with = "lenient::any")]
    force: Option<bool>,
}

/// That it is gone.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "message": "Worktree removed successfully"}))]
#[schema(as = Gone)]
pub(crate) struct RemovedResponse {
    success: bool,
    message: &'static str,
}

/// Removed and kept worktrees, as paths.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(example = json!({"removed": ["/home/sam/src/worktrees/shop-pr-7"], "kept": ["/home/sam/src/worktrees/shop-pr-9"], "errors": []}))]
#[schema(as = CleanedUp)]
pub(crate) struct CleanupReport {
    removed: Vec<String>,
    kept: Vec<String>,
    /// Why some of the kept ones could not be judged or removed: `<path>: <reason>`.
    errors: Vec<String>,
}

/// Remove a worktree; its branch stays
#[utoipa::path(delete, path = "/api/gateway/git/worktree", operation_id = "remove_worktree", tag = "git",
    request_body = RemoveRequest,
    responses(
        (status = 200, body = RemovedResponse, description = "It is gone, or was not there"),
        (status = 400, body = ErrorBody, description = "No path given, or force on something that is no worktree", example = json!(ErrorBody::missing_field("worktreePath is required and must be a string"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 409, body = ErrorBody, description = "It has uncommitted changes", example = json!(ErrorBody::new(409, "Worktree has uncommitted changes").with("hasChanges", true).with("message", "Use force=true to remove anyway"))),
        (status = 500, body = ErrorBody, description = "Git refused", example = json!(ErrorBody::new(500, "Failed to remove worktree: git worktree failed"))),
    ))]
async fn remove(
    State(app): State<App>,
    JsonBody(body): JsonBody<RemoveRequest>,
) -> JsonResult<RemovedResponse> {
    let named = body.worktree_path;
    let named =
        named.ok_or_else(|| HttpError::missing_field("worktreePath is required and must be a string"))?;
    let force = body.force == Some(true);
    let lookup_app = app.clone();
    let Some(target) = spawn_blocking(move || RemovalTarget::find(&lookup_app, &named, force)).await?? else {
        return Ok(removed("Worktree does not exist"));
    };
    let work = async move { app.git.remove_named(&target.place, force, target.leftover).await };
    match tokio::spawn(work).await.map_err(|_| HttpError::internal())? {
        Ok(RemovalMethod::ByGit) => Ok(removed("Worktree removed successfully")),
        Ok(RemovalMethod::ByForce) => Ok(removed("Worktree forcefully removed")),
        Err(NamedRemovalError::HasWork) => {
            Err(HttpError::new(StatusCode::CONFLICT, NamedRemovalError::HasWork.to_string())
                .with("hasChanges", true)
                .with("message", "Use force=true to remove anyway"))
        }
        Err(NamedRemovalError::NotAWorktree) => Err(not_a_worktree()),
        Err(error) => Err(HttpError::operation("Failed to remove worktree", &error)),
    }
}

/// Remove the worktrees of pull requests whose branches are gone at `origin`
///
/// Looks at directories of the worktree parent that are named `<anything>-pr-<number>`. One with
/// uncommitted changes stays.
#[utoipa::path(post, path = "/api/gateway/git/worktree", operation_id = "clean_up_worktrees", tag = "git",
    responses(
        (status = 200, body = CleanupReport, description = "What was removed and what was not"),
        (status = 500, body = ErrorBody, description = "No worktree parent is set, or it cannot be read", example = json!(ErrorBody::new(500, "Worktree cleanup failed: Worktree parent directory not configured"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn clean_up(State(app): State<App>) -> JsonResult<CleanupReport> {
    app.sandbox.base().ok_or_else(HttpError::not_configured)?;
    let lookup_app = app.clone();
    let candidates = spawn_blocking(move || candidates(&lookup_app)).await??;
    let work = async move { app.git.clean_up(candidates).await };
    let cleaned = tokio::spawn(work).await.map_err(|_| HttpError::internal())?;
    Ok(Json(cleaned.into()))
}

pub(crate) fn remove_endpoint() -> Endpoint {
    Endpoint::new(routes!(remove), &[Source::Path(At::Body("worktreePath"))]).with_action_members(&["force"])
}

pub(crate) fn clean_up_endpoint() -> Endpoint {
    Endpoint::new(routes!(clean_up), &[Source::PullRequestWorktrees])
}

/// A directory that is to be removed.
struct RemovalTarget {
    /// With links resolved.
    place: PathBuf,
    /// It is where only worktrees are, so that it may be what is left of one.
    leftover: bool,
}

impl RemovalTarget {
    /// Looks at the disk; `None` when nothing is there.
    fn find(app: &App, named: &str, force: bool) -> Result<Option<Self>, HttpError> {
        let place = app.sandbox.check(named)?;
        let place = place.canonical().to_owned();
        if !place.exists() {
            return Ok(None);
        }
        let linked = matches!(git::CheckoutKind::of(&place), git::CheckoutKind::Linked(_));
        if !place.is_dir() || ((force || linked) && app.worktree_layout.is_precious(&place)) {
            return Err(not_a_worktree());
        }
        let leftover = app.worktree_layout.may_be_leftover(&place);
        Ok(Some(Self { place, leftover }))
    }
}

fn candidates(app: &App) -> Result<Vec<PathBuf>, HttpError> {
    let parent = app.repos.named_worktree_parents().into_iter().next().ok_or_else(|| {
        let text = format!("{CLEANUP_FAILED}: Worktree parent directory not configured");
        HttpError::failed(text)
    })?;
    let Ok(parent) = app.sandbox.check(parent) else { return Ok(Vec::new()) };
    let found = git::pull_request_worktrees(parent.as_path());
    let found = found.map_err(|error| HttpError::operation(CLEANUP_FAILED, &error))?;
    Ok(found.into_iter().filter(|place| app.sandbox.check(place).is_ok()).collect())
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
        Self { removed: paths(cleanup.removed), kept: paths(cleanup.kept), errors: cleanup.errors }
    }
}
