//! `GET /api/gateway/git/repo-path` and `branch-worktree`: locations of clones and worktrees.

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

/// Prefix of the errors of `branch-worktree`.
const WORKTREE_ERROR: &str = "Failed to resolve branch worktree";

/// Path of a repository's clone, if managed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"path": "/home/sam/src/shop"}))]
pub(crate) struct RepoPath {
    /// Absolute path; null when no managed repository has this name.
    #[schema(required)]
    path: Option<String>,
}

/// Worktree in which a branch is checked out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"path": "/home/sam/src/worktrees/shop-AB-1", "repoPath": "/home/sam/src/shop"}))]
pub(crate) struct BranchWorktree {
    /// Path of the worktree, or of the clone itself; null when the branch is not checked out.
    #[schema(required)]
    path: Option<String>,
    /// Path of the clone; null when no managed repository has this name.
    #[schema(required)]
    repo_path: Option<String>,
}

/// Find the clone of a repository
#[utoipa::path(get, path = "/api/gateway/git/repo-path", operation_id = "git_repo_path", tag = "git",
    params(("repoFullName" = String, Query, description = "`<org>/<repo>`", example = "acme/shop")),
    responses(
        (status = 200, body = RepoPath, description = "The clone, or null"),
        (status = 400, body = ErrorBody, description = "Repository name missing", example = json!(ErrorBody::missing_field("repoFullName is required"))),
        (status = 500, body = ErrorBody, description = "The list of repositories cannot be read", example = json!(ErrorBody::new(500, "Failed to resolve repo path: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn repo_path(State(app): State<App>, query: QueryMembers) -> JsonResult<RepoPath> {
    let name = query.required("repoFullName", "repoFullName is required")?.to_owned();
    let clone = spawn_blocking(move || clone_of(&app, &name)).await?;
    let clone = clone.map_err(|error| list_error("Failed to resolve repo path", error))?;
    Ok(Json(RepoPath { path: clone.map(path_text) }))
}

/// Find the worktree in which a branch is checked out
#[utoipa::path(get, path = "/api/gateway/git/branch-worktree", operation_id = "git_branch_worktree", tag = "git",
    params(
        ("repoFullName" = String, Query, description = "`<org>/<repo>`", example = "acme/shop"),
        ("headBranch" = String, Query, description = "Full name of the branch", example = "main"),
    ),
    responses(
        (status = 200, body = BranchWorktree, description = "The worktree and the clone, or null"),
        (status = 400, body = ErrorBody, description = "Repository name or branch missing", example = json!(ErrorBody::missing_field("repoFullName and headBranch are required"))),
        (status = 500, body = ErrorBody, description = "git failed", example = json!(ErrorBody::new(500, "Failed to resolve branch worktree: git worktree failed"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn branch_worktree(State(app): State<App>, query: QueryMembers) -> JsonResult<BranchWorktree> {
    let missing = "repoFullName and headBranch are required";
    let (name, branch) = (query.required("repoFullName", missing)?, query.required("headBranch", missing)?);
    let clone = {
        let (app, name) = (app.clone(), name.to_owned());
        spawn_blocking(move || clone_of(&app, &name)).await?
    };
    let clone = clone.map_err(|error| list_error(WORKTREE_ERROR, error))?;
    let Some(clone) = clone else { return Ok(Json(BranchWorktree { path: None, repo_path: None })) };
    let worktrees = app.git.worktrees(&clone).await;
    let worktrees = worktrees.map_err(|error| HttpError::operation(WORKTREE_ERROR, &error))?;
    // git lists worktrees whose directory was deleted until they are pruned.
    let on_branch = |worktree: &Worktree| !worktree.prunable && worktree.branch.as_deref() == Some(branch);
    let path = worktrees.into_iter().find(on_branch).map(|worktree| path_text(worktree.path));
    Ok(Json(BranchWorktree { path, repo_path: Some(path_text(clone)) }))
}

/// Parameters that name the repository of a request.
const SOURCES: &[Source] = &[Source::Name(At::Query("repoFullName"))];

pub(crate) fn repo_path_endpoint() -> Endpoint {
    Endpoint::new(routes!(repo_path), SOURCES)
}

pub(crate) fn branch_worktree_endpoint() -> Endpoint {
    Endpoint::new(routes!(branch_worktree), SOURCES)
}

/// Finds the clone of a repository by its full name. Prefers an exact match; falls back to a match that
/// ignores case, as the code host does. Reads the origin from the configuration file, without starting git.
/// Performs blocking I/O.
fn clone_of(app: &App, name: &str) -> Result<Option<PathBuf>, ReposError> {
    let list = app.repos.list()?;
    let mut similar = None;
    for repo in &list.repos {
        let clone = loopgate_home::expand_home(&repo.path);
        match app.sandbox.summary(&clone).ok().and_then(|summary| summary.origin) {
            Some(origin) if origin.as_str() == name => return Ok(Some(clone)),
            Some(origin) if origin.as_str().eq_ignore_ascii_case(name) => {
                // Keep looking for an exact match; of several similar names, the first in the list is used.
                similar.get_or_insert(clone);
            }
            _ => {}
        }
    }
    Ok(similar)
}

/// Maps a failure to read the repository list to a response.
fn list_error(context: &'static str, error: ReposError) -> HttpError {
    match error {
        ReposError::NotConfigured => HttpError::not_configured(),
        error @ ReposError::Io(_) => HttpError::operation(context, &error),
    }
}
