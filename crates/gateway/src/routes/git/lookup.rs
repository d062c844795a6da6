//! `/api/gateway/git/repo-path`: where clones lie.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use loopgate_home::ReposError;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::extract::QueryMembers;
use crate::router::Route;
use crate::routes::on_disk;

/// Where a repository's clone lies.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RepoPath {
    /// Absolute; null when no managed repository has that name.
    #[schema(required)]
    path: Option<String>,
}

/// Find the clone of a repository
#[utoipa::path(get, path = "/api/gateway/git/repo-path", operation_id = "git_repo_path", tag = "git",
    params(("repoFullName" = String, Query, description = "`<org>/<repo>`")),
    responses(
        (status = 200, body = RepoPath, description = "The clone, or null"),
        (status = 400, body = ErrorBody, description = "No name given"),
        (status = 503, body = ErrorBody, description = "No sandbox is set"),
    ))]
async fn repo_path(State(app): State<App>, query: QueryMembers) -> Answer<RepoPath> {
    let name = query.required("repoFullName", "repoFullName is required")?;
    let answer = |path: Option<PathBuf>| {
        Ok(Json(RepoPath { path: path.map(|path| path.to_string_lossy().into_owned()) }))
    };
    if let Some(known) = app.repo_index.find(name) {
        return answer(known);
    }
    let name = name.to_owned();
    match on_disk(move || app.repo_index.look(&name)).await? {
        Ok(path) => answer(path),
        Err(ReposError::NotConfigured) => Err(Failure::not_configured()),
        Err(error) => Err(Failure::operation("Failed to resolve repo path", &error)),
    }
}

pub(crate) fn repo_path_route() -> Route {
    Route::new(routes!(repo_path), OperationId::GitAction)
}
