//! `GET /api/gateway/git/pr/files` and `pr/head-sha`: what a pull request brings.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::RepoFullName;
use loopgate_api::operation::OperationId;
use loopgate_tools::code_host::{ChangedFile, PullNumber};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{clone_at, failed, named_pull, origin_of};
use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::extract::QueryMembers;
use crate::router::Route;

/// The files that a pull request changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PullRequestFiles {
    /// In the code host's order.
    files: Vec<PullRequestFile>,
}

/// A file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PullRequestFile {
    filename: String,
    additions: u64,
    deletions: u64,
    /// `added`, `modified`, `removed`, `renamed`, `copied`, `changed` or `unchanged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// Its path before.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_filename: Option<String>,
}

/// The last commit of a pull request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HeadSha {
    sha: String,
}

/// List the files of a pull request
///
/// With `owner`, `repo` (a name) and `number`, or with `repo` (the path of a clone) and `pr`.
#[utoipa::path(get, path = "/api/gateway/git/pr/files", operation_id = "pull_request_files", tag = "pull requests",
    params(
        ("owner" = Option<String>, Query, description = "Owner of the repository"),
        ("repo" = String, Query, description = "Name of the repository, or path of a clone"),
        ("number" = Option<String>, Query, description = "Number of the pull request"),
        ("pr" = Option<String>, Query, description = "Number of the pull request, beside a path"),
    ),
    responses(
        (status = 200, body = PullRequestFiles, description = "All of them"),
        (status = 400, body = ErrorBody, description = "Something is missing or no name or number"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No such directory"),
        (status = 500, body = ErrorBody, description = "The code host said no"),
    ))]
async fn files(State(app): State<App>, query: QueryMembers) -> Answer<PullRequestFiles> {
    let (repository, number) = match named_pull(&query) {
        Some(named) => named?,
        None => local_pull(&app, &query).await?,
    };
    let files = app.code_host.pull_request_files(&repository, number).await.map_err(|error| {
        tracing::warn!(%error, "the files of a pull request were not told");
        failed("Failed to get PR files")
    })?;
    Ok(Json(PullRequestFiles { files: files.into_iter().map(PullRequestFile::from).collect() }))
}

/// Tell the last commit of a pull request
#[utoipa::path(get, path = "/api/gateway/git/pr/head-sha", operation_id = "pull_request_head", tag = "pull requests",
    params(
        ("repo" = String, Query, description = "Path of the clone"),
        ("pr" = String, Query, description = "Number of the pull request"),
    ),
    responses(
        (status = 200, body = HeadSha, description = "Its hash"),
        (status = 400, body = ErrorBody, description = "No path or no number"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No such directory"),
        (status = 500, body = ErrorBody, description = "The code host said no"),
    ))]
async fn head_sha(State(app): State<App>, query: QueryMembers) -> Answer<HeadSha> {
    let (repository, number) = local_pull(&app, &query).await?;
    match app.code_host.head_sha(&repository, number).await {
        Ok(Some(sha)) => Ok(Json(HeadSha { sha })),
        Ok(None) => Err(failed("Could not get head SHA")),
        Err(error) => {
            tracing::warn!(%error, "the last commit of a pull request was not told");
            Err(failed("Failed to get PR head SHA"))
        }
    }
}

pub(crate) fn files_route() -> Route {
    Route::new(routes!(files), OperationId::GitPr)
}

pub(crate) fn head_sha_route() -> Route {
    Route::new(routes!(head_sha), OperationId::GitPr)
}

/// A pull request of a clone's origin.
async fn local_pull(app: &App, query: &QueryMembers) -> Result<(RepoFullName, PullNumber), Failure> {
    const MISSING: &str = "repo and pr are required";
    let path = query.required("repo", MISSING)?;
    let number = query.required("pr", MISSING)?.parse().map_err(|_| Failure::bad_request(MISSING))?;
    let clone = clone_at(app, path).await?;
    let origin = origin_of(app, clone.canonical()).await;
    Ok((origin.ok_or_else(|| failed("Could not determine repository"))?, number))
}

impl From<ChangedFile> for PullRequestFile {
    fn from(file: ChangedFile) -> Self {
        Self {
            filename: file.filename,
            additions: file.additions,
            deletions: file.deletions,
            status: file.status,
            previous_filename: file.previous_filename,
        }
    }
}
