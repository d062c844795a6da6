//! `GET /api/gateway/git/branches`: what there is to switch to.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use loopgate_tools::git::{Branch, Branches, ListedWorktree};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::extract::QueryMembers;
use crate::router::Route;

/// Branches and worktrees of a repository.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchesAnswer {
    /// The default branch of `origin`, else the one that is checked out, else `main`.
    default_branch: String,
    /// Every worktree but the one that was asked about.
    worktrees: Vec<WorktreeAnswer>,
    /// The default one first, then by their last commit, the newest first.
    branches: Vec<BranchAnswer>,
}

/// A worktree.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorktreeAnswer {
    path: String,
    /// Empty when it is on no branch.
    branch: String,
    /// The ticket that its name tells of.
    #[schema(required)]
    ticket_id: Option<String>,
}

/// A branch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchAnswer {
    /// Without `origin/`; branches of other remotes keep the remote's name.
    name: String,
    /// Only at `origin`.
    is_remote: bool,
    /// ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_commit_date: Option<String>,
}

/// List branches and worktrees
#[utoipa::path(get, path = "/api/gateway/git/branches", operation_id = "git_branches", tag = "git",
    params(("repo" = String, Query, description = "Path of the repository")),
    responses(
        (status = 200, body = BranchesAnswer, description = "What there is; nothing where no repository is"),
        (status = 400, body = ErrorBody, description = "No path given"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No such directory"),
        (status = 500, body = ErrorBody, description = "Git could not be asked"),
    ))]
async fn branches(State(app): State<App>, query: QueryMembers) -> Answer<BranchesAnswer> {
    let named = query.required("repo", "repo parameter is required")?;
    let repository = super::directory(&app, named, |path| {
        Failure::new(StatusCode::NOT_FOUND, format!("Repository not found: {}", path.display()))
    });
    let repository = repository.await?;
    let listed = app.git.branches(repository.canonical()).await;
    let listed =
        listed.map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(Json(listed.into()))
}

pub(crate) fn route() -> Route {
    Route::new(routes!(branches), OperationId::GitAction)
}

impl From<Branches> for BranchesAnswer {
    fn from(listed: Branches) -> Self {
        Self {
            default_branch: listed.default,
            worktrees: listed.worktrees.into_iter().map(WorktreeAnswer::from).collect(),
            branches: listed.branches.into_iter().map(BranchAnswer::from).collect(),
        }
    }
}

impl From<ListedWorktree> for WorktreeAnswer {
    fn from(worktree: ListedWorktree) -> Self {
        let path = worktree.path.to_string_lossy().into_owned();
        Self { path, branch: worktree.branch, ticket_id: worktree.ticket }
    }
}

impl From<Branch> for BranchAnswer {
    fn from(branch: Branch) -> Self {
        Self { name: branch.name, is_remote: branch.remote, last_commit_date: branch.last_commit }
    }
}
