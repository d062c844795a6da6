//! `GET /api/gateway/git/branches`: branches and worktrees of a repository.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_tools::git::{Branch, Branches, ListedWorktree};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::response::path_text;
use crate::route::Endpoint;
use crate::routes::directory::existing_directory;

/// Branches and worktrees of a repository.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"defaultBranch": "main", "worktrees": [{"path": "/home/sam/src/worktrees/shop-AB-1", "branch": "feature/AB-1", "ticketId": "AB-1"}], "branches": [{"name": "main", "isRemote": false, "lastCommitDate": "2030-01-02T09:00:00+01:00"}, {"name": "dark-theme", "isRemote": true, "lastCommitDate": "2030-01-01T17:30:00+01:00"}]}))]
pub(crate) struct BranchesAnswer {
    /// Default branch of `origin`, or the current branch when it is unknown, or `main`.
    default_branch: String,
    /// All worktrees except the requested directory.
    worktrees: Vec<WorktreeAnswer>,
    /// Default branch first, then by date of the last commit, newest first.
    branches: Vec<BranchAnswer>,
}

/// A worktree of the repository.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorktreeAnswer {
    path: String,
    /// Branch of the worktree; empty when HEAD is detached.
    branch: String,
    /// Ticket id in the worktree's name; null when there is none.
    #[schema(required)]
    ticket_id: Option<String>,
}

/// A local or remote-tracking branch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchAnswer {
    /// Name without `origin/`. Branches of other remotes keep the prefix.
    name: String,
    /// Whether the branch exists only at `origin`.
    is_remote: bool,
    /// Date of the last commit, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_commit_date: Option<String>,
}

/// List branches and worktrees
#[utoipa::path(get, path = "/api/gateway/git/branches", operation_id = "git_branches", tag = "git",
    params(("repo" = String, Query, description = "Path of the repository", example = "~/src/shop")),
    responses(
        (status = 200, body = BranchesAnswer, description = "The branches and worktrees; empty when the directory is not a repository"),
        (status = 400, body = ErrorBody, description = "Repository path missing", example = json!(ErrorBody::missing_field("repo parameter is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "Repository not found: ~/src/gone"))),
        (status = 500, body = ErrorBody, description = "git failed", example = json!(ErrorBody::new(500, "git for-each-ref took longer than 10 s"))),
    ))]
async fn branches(State(app): State<App>, query: QueryMembers) -> JsonResult<BranchesAnswer> {
    let path = query.required("repo", "repo parameter is required")?;
    let repository = existing_directory(&app, path, |path| {
        HttpError::not_found(format!("Repository not found: {}", path.display()))
    });
    let repository = repository.await?;
    // Cached, because listing the refs of a large repository takes seconds.
    let listed = app.git_cache.branches(repository.canonical()).await;
    let listed = listed.map_err(|error| HttpError::failed(error.to_string()))?;
    Ok(Json(listed.into()))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(branches), &[Source::Path(At::Query("repo"))])
}

impl From<Branches> for BranchesAnswer {
    fn from(Branches { worktrees, listing }: Branches) -> Self {
        Self {
            default_branch: listing.default.clone(),
            worktrees: worktrees.into_iter().map(WorktreeAnswer::from).collect(),
            branches: listing.branches.iter().map(BranchAnswer::from).collect(),
        }
    }
}

impl From<ListedWorktree> for WorktreeAnswer {
    fn from(worktree: ListedWorktree) -> Self {
        Self { path: path_text(&worktree.path), branch: worktree.branch, ticket_id: worktree.ticket }
    }
}

impl From<&Branch> for BranchAnswer {
    fn from(branch: &Branch) -> Self {
        Self {
            name: branch.name.clone(),
            is_remote: branch.remote,
            last_commit_date: branch.last_commit.clone(),
        }
    }
}
