//! `GET /api/gateway/git/pr/files` and `pr/head-sha`: changed files and head commit of a pull request.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::RepoFullName;
use loopgate_tools::code_host::{ChangedFile, PullNumber};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::clone::{LocalClone, pull_in_query, with_sentence};
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::route::Endpoint;

/// Files changed by a pull request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"files": [{"filename": "styles.css", "additions": 14, "deletions": 2, "status": "modified"}, {"filename": "theme.js", "additions": 31, "deletions": 0, "status": "renamed", "previous_filename": "colours.js"}]}))]
pub(crate) struct PullRequestFiles {
    /// Files in the code host's order.
    files: Vec<PullRequestFile>,
}

/// A changed file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PullRequestFile {
    filename: String,
    additions: u64,
    deletions: u64,
    /// `added`, `modified`, `removed`, `renamed`, `copied`, `changed` or `unchanged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// Previous path of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_filename: Option<String>,
}

/// Head commit of a pull request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"sha": "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}))]
pub(crate) struct HeadSha {
    sha: String,
}

/// List the files of a pull request
///
/// Accepts either `owner`, `repo` (name) and `number`, or `repo` (path of a clone) and `pr`.
#[utoipa::path(get, path = "/api/gateway/git/pr/files", operation_id = "pull_request_files", tag = "pull requests",
    params(
        ("owner" = Option<String>, Query, description = "Owner of the repository", example = "acme"),
        ("repo" = String, Query, description = "Name of the repository, or path of a clone", example = "shop"),
        ("number" = Option<String>, Query, description = "Number of the pull request", example = "1"),
        ("pr" = Option<String>, Query, description = "Number of the pull request, with the path of a clone", example = "1"),
    ),
    responses(
        (status = 200, body = PullRequestFiles, description = "All changed files"),
        (status = 400, body = ErrorBody, description = "A parameter is missing or invalid", example = json!(ErrorBody::new(400, "Invalid owner, repo, or number"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "Failed to get PR files"))),
    ))]
async fn files(State(app): State<App>, query: QueryMembers) -> JsonResult<PullRequestFiles> {
    let (repository, number) = match pull_in_query(&query) {
        Some(pull) => pull?,
        None => local_pull(&app, &query).await?,
    };
    let files = app.code_host.pull_request_files(&repository, number).await;
    let files = files.map_err(with_sentence("Failed to get PR files"))?;
    Ok(Json(PullRequestFiles { files: files.into_iter().map(PullRequestFile::from).collect() }))
}

/// Return the head commit of a pull request
#[utoipa::path(get, path = "/api/gateway/git/pr/head-sha", operation_id = "pull_request_head", tag = "pull requests",
    params(
        ("repo" = String, Query, description = "Path of the clone", example = "~/src/shop"),
        ("pr" = String, Query, description = "Number of the pull request", example = "1"),
    ),
    responses(
        (status = 200, body = HeadSha, description = "Hash of the head commit"),
        (status = 400, body = ErrorBody, description = "Repository path or pull-request number missing", example = json!(ErrorBody::missing_field("repo and pr are required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "repository not found"))),
        (status = 500, body = ErrorBody, description = "The code-host request failed", example = json!(ErrorBody::new(500, "Failed to get PR head SHA"))),
    ))]
async fn head_sha(State(app): State<App>, query: QueryMembers) -> JsonResult<HeadSha> {
    let (repository, number) = local_pull(&app, &query).await?;
    let sha = app.code_host.head_sha(&repository, number).await;
    let sha = sha.map_err(with_sentence("Failed to get PR head SHA"))?;
    Ok(Json(HeadSha { sha: sha.ok_or_else(|| HttpError::failed("Could not get head SHA"))? }))
}

pub(crate) fn files_endpoint() -> Endpoint {
    Endpoint::new(routes!(files), &[Source::Path(At::Query("repo")), Source::OwnerAndName])
}

pub(crate) fn head_sha_endpoint() -> Endpoint {
    Endpoint::new(routes!(head_sha), &[Source::Path(At::Query("repo"))])
}

/// Resolves a pull request of a clone's origin.
async fn local_pull(app: &App, query: &QueryMembers) -> Result<(RepoFullName, PullNumber), HttpError> {
    const MISSING: &str = "repo and pr are required";
    let path = query.required("repo", MISSING)?;
    // The interface reports an invalid number like a missing one.
    let number = query.required("pr", MISSING)?.parse().map_err(|_| HttpError::missing_field(MISSING))?;
    let clone = LocalClone::open(app, path).await?;
    Ok((clone.repository("Could not determine repository")?, number))
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
