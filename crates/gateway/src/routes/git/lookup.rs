//! `GET /api/gateway/git/repo-path` and `branch-worktree`: where clones and worktrees lie.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_home::ReposError;
use loopgate_tools::git::Worktree;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::response::path_text;
use crate::route::Endpoint;

/// What a failed look for a worktree is called.
const NO_WORKTREE: &str = "Failed to resolve branch worktree";

/// Path of a repository's clone.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"path": "/home/sam/src/shop"}))]
pub(crate) struct RepoPath {
    /// Absolute; null when no managed repository has that name.
    #[schema(required)]
    path: Option<String>,
}

/// Where a branch is checked out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"path": "/home/sam/src/worktrees/shop-AB-1", "repoPath": "/home/sam/src/shop"}))]
pub(crate) struct BranchWorktree {
    /// The worktree, which may be the clone itself; null when the branch is nowhere checked out.
    #[schema(required)]
    path: Option<String>,
    /// The clone; null when no managed repository has that name.
    #[schema(required)]
    repo_path: Option<String>,
}

/// Find the clone of a repository
#[utoipa::path(get, path = "/api/gateway/git/repo-path", operation_id = "git_repo_path", tag = "git",
    params(("repoFullName" = String, Query, description = "`<org>/<repo>`", example = "acme/shop")),
    responses(
        (status = 200, body = RepoPath, description = "The clone, or null"),
        (status = 400, body = ErrorBody, description = "No name given", example = json!(ErrorBody::missing_field("repoFullName is required"))),
        (status = 500, body = ErrorBody, description = "The list of repositories cannot be read", example = json!(ErrorBody::new(500, "Failed to resolve repo path: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn repo_path(State(app): State<App>, query: QueryMembers) -> JsonResult<RepoPath> {
    let name = query.required("repoFullName", "repoFullName is required")?.to_owned();
    let clone = spawn_blocking(move || clone_of(&app, &name)).await?;
    let clone = clone.map_err(|error| unlisted("Failed to resolve repo path", error))?;
    Ok(Json(RepoPath { path: clone.map(path_text) }))
}

/// Find the worktree in which a branch is checked out
#[utoipa::path(get, path = "/api/gateway/git/branch-worktree", operation_id = "git_branch_worktree", tag = "git",
    params(
        ("repoFullName" = String, Query, description = "`<org>/<repo>`", example = "acme/shop"),
        ("headBranch" = String, Query, description = "Whole name of the branch", example = "main"),
    ),
    responses(
        (status = 200, body = BranchWorktree, description = "The worktree and the clone, or null"),
        (status = 400, body = ErrorBody, description = "No name or no branch given", example = json!(ErrorBody::missing_field("repoFullName and headBranch are required"))),
        (status = 500, body = ErrorBody, description = "Git could not tell", example = json!(ErrorBody::new(500, "Failed to resolve branch worktree: git worktree failed"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn branch_worktree(State(app): State<App>, query: QueryMembers) -> JsonResult<BranchWorktree> {
    let needed = "repoFullName and headBranch are required";
    let (name, branch) = (query.required("repoFullName", needed)?, query.required("headBranch", needed)?);
    let clone = {
        let (app, name) = (app.clone(), name.to_owned());
        spawn_blocking(move || clone_of(&app, &name)).await?
    };
    let clone = clone.map_err(|error| unlisted(NO_WORKTREE, error))?;
    let Some(clone) = clone else { return Ok(Json(BranchWorktree { path: None, repo_path: None })) };
    let worktrees = app.git.worktrees(&clone).await;
    let worktrees = worktrees.map_err(|error| HttpError::operation(NO_WORKTREE, &error))?;
    let on_branch = |worktree: &Worktree| !worktree.prunable && worktree.branch.as_deref() == Some(branch);
    let path = worktrees.into_iter().find(on_branch).map(|worktree| path_text(worktree.path));
    Ok(Json(BranchWorktree { path, repo_path: Some(path_text(clone)) }))
}

/// Where requests name what they are about.
const SOURCES: &[Source] = &[Source::Name(At::Query("repoFullName"))];

pub(crate) fn repo_path_endpoint() -> Endpoint {
    Endpoint::new(routes!(repo_path), SOURCES)
}

pub(crate) fn branch_worktree_endpoint() -> Endpoint {
    Endpoint::new(routes!(branch_worktree), SOURCES)
}

/// The clone of a repository by its full name: one whose name is the same to the letter, else one
/// whose name differs in case. Its origin is in its configuration file; git is not started.
fn clone_of(app: &App, name: &str) -> Result<Option<PathBuf>, ReposError> {
    let list = app.repos.list()?;
    let mut similar = None;
    for repo in &list.repos {
        let clone = loopgate_home::expand_home(&repo.path);
        match app.sandbox.origin_of(&clone) {
            Some(origin) if origin.as_str() == name => return Ok(Some(clone)),
            Some(origin) if origin.as_str().eq_ignore_ascii_case(name) => {
                similar.get_or_insert(clone);
            }
            _ => {}
        }
    }
    Ok(similar)
}

/// Says that the list of repositories cannot be used.
fn unlisted(failed: &'static str, error: ReposError) -> HttpError {
    match error {
        ReposError::NotConfigured => HttpError::not_configured(),
        error @ ReposError::Io(_) => HttpError::operation(failed, &error),
    }
}
