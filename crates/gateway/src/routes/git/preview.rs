//! `GET /api/gateway/git/repository`: what a loop on a repository would find on this machine. Changes nothing.

use std::path::Path;

use axum::extract::State;
use axum::{Extension, Json};
use http::{HeaderMap, Method};
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::{BranchName, RepoFullName};
use loopgate_home::{RepositoryError, SandboxedPath};
use loopgate_runtime::ClonePlace;
use loopgate_tools::code_host::CodeHostError;
use loopgate_tools::git::GitError;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::{QueryMembers, RequestOrigin};
use crate::response::path_text;
use crate::route::Endpoint;
use crate::routes::directory::existing_directory;
use crate::routes::orchestrator::loop_start::{self, LoopStartPreview};

const PATH: &str = "/api/gateway/git/repository";

/// What a loop on a repository would find.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"availability": "found", "fullName": "acme/shop", "path": "/home/sam/src/shop", "defaultBranch": "main", "branchExists": true, "start": {"approval": "none", "model": "claude-opus-4-6"}}))]
pub(crate) struct RepositoryPreview {
    availability: Availability,
    /// `<org>/<repo>`; absent for a directory without a remote at the code host.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_name: Option<String>,
    /// Path of the clone, or the path to which the start of a loop clones it.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Why a loop cannot use the repository, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Default branch, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    default_branch: Option<String>,
    /// Whether the requested branch exists. Absent without one, and when the code host gives no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_exists: Option<bool>,
    /// What applies to a loop that the control plane starts on the repository. Absent if none can start.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<LoopStartPreview>,
}

/// Whether a loop can use a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Availability {
    /// It has a clone on this machine.
    Found,
    /// The start of a loop clones it.
    Cloneable,
    /// A loop cannot start.
    Unavailable,
}

impl RepositoryPreview {
    fn unavailable(full_name: Option<&RepoFullName>, reason: String) -> Self {
        Self {
            availability: Availability::Unavailable,
            full_name: full_name.map(ToString::to_string),
            path: None,
            reason: Some(reason),
            default_branch: None,
            branch_exists: None,
            start: None,
        }
    }
}

/// Preview a repository for a loop
///
/// Finds the clone that a loop would use, by the repository's name or the path of a clone. For a repository without a
/// clone, and for branches that the clone does not have, asks the code host with the account of this machine.
#[utoipa::path(get, path = "/api/gateway/git/repository", operation_id = "preview_repository", tag = "git",
    params(
        ("repoFullName" = Option<String>, Query, description = "`<org>/<repo>`; required unless `repo` is given", example = "acme/shop"),
        ("repo" = Option<String>, Query, description = "Path of a clone", example = "~/src/shop"),
        ("branch" = Option<String>, Query, description = "Name of a branch to look up", example = "main"),
    ),
    responses(
        (status = 200, body = RepositoryPreview, description = "What a loop would find"),
        (status = 400, body = ErrorBody, description = "Repository missing, or a name invalid", example = json!(ErrorBody::missing_field("repoFullName or repo is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The directory does not exist", example = json!(ErrorBody::new(404, "Repository not found: ~/src/gone"))),
        (status = 500, body = ErrorBody, description = "git failed", example = json!(ErrorBody::new(500, "git for-each-ref took longer than 10 s"))),
    ))]
async fn preview(
    State(app): State<App>,
    Extension(origin): Extension<RequestOrigin>,
    headers: HeaderMap,
    query: QueryMembers,
) -> JsonResult<RepositoryPreview> {
    let runtime = app.runtime.as_ref().ok_or_else(|| HttpError::not_implemented(&Method::GET, PATH))?;
    let text = |name| query.get(name).map(str::trim).filter(|text| !text.is_empty());
    let branch: Option<BranchName> = text("branch")
        .map(str::parse)
        .transpose()
        .map_err(|error| HttpError::bad_request(format!("branch: {error}")))?;
    let name = match (text("repoFullName"), text("repo")) {
        (Some(name), _) => {
            name.parse().map_err(|error| HttpError::bad_request(format!("repoFullName: {error}")))?
        }
        (None, Some(path)) => match name_of(&app, path).await? {
            Ok(name) => name,
            Err(reason) => return Ok(Json(RepositoryPreview::unavailable(None, reason))),
        },
        (None, None) => return Err(HttpError::missing_field("repoFullName or repo is required")),
    };
    let mut preview = match runtime.launcher.locate(&name).await {
        ClonePlace::Existing(clone) => of_clone(&app, &name, &clone, branch.as_ref()).await?,
        ClonePlace::New(path) => of_code_host(&app, &name, &path, branch.as_ref()).await,
        ClonePlace::Unavailable(reason) => RepositoryPreview::unavailable(Some(&name), reason),
    };
    if preview.availability != Availability::Unavailable {
        preview.start = Some(loop_start::preview(&app, &headers, origin, &name).await);
    }
    Ok(Json(preview))
}

/// Returns the full name of the clone at a path, or why it has none.
async fn name_of(app: &App, path: &str) -> Result<Result<RepoFullName, String>, HttpError> {
    let directory = existing_directory(app, path, |path| {
        HttpError::not_found(format!("Repository not found: {}", path.display()))
    });
    match app.git.full_name(directory.await?.as_path()).await {
        Ok(Some(name)) => Ok(Ok(name)),
        Ok(None) => Ok(Err(
            "The clone has no remote at the code host, to which the work could be delivered. Add one: \
             git remote add origin <URL>."
                .to_owned(),
        )),
        Err(GitError::Repository(RepositoryError::None)) => {
            Ok(Err("The directory is not a clone. Enter the top directory of one.".to_owned()))
        }
        Err(error) => Err(HttpError::failed(error.to_string())),
    }
}

async fn of_clone(
    app: &App,
    name: &RepoFullName,
    clone: &SandboxedPath,
    branch: Option<&BranchName>,
) -> Result<RepositoryPreview, HttpError> {
    let obstacle = app.code_host.delivery_obstacle(clone.as_path());
    let (listed, obstacle) = tokio::join!(app.git_cache.branches(clone.canonical()), obstacle);
    let listing = listed.map_err(|error| HttpError::failed(error.to_string()))?.listing;
    let branch_exists = match branch {
        None => None,
        Some(branch) if listing.branches.iter().any(|known| known.name == branch.as_str()) => Some(true),
        // Created at the code host since the last fetch: the start of a loop fetches it.
        Some(branch) => app.code_host.has_branch(name, branch).await.ok(),
    };
    Ok(RepositoryPreview {
        availability: if obstacle.is_none() { Availability::Found } else { Availability::Unavailable },
        full_name: Some(name.to_string()),
        path: Some(path_text(clone.as_path())),
        reason: obstacle.map(|obstacle| format!("The work could not be delivered: {obstacle}.")),
        default_branch: Some(listing.default.clone()),
        branch_exists,
        start: None,
    })
}

async fn of_code_host(
    app: &App,
    name: &RepoFullName,
    path: &Path,
    branch: Option<&BranchName>,
) -> RepositoryPreview {
    let has_branch = async {
        match branch {
            Some(branch) => app.code_host.has_branch(name, branch).await.ok(),
            None => None,
        }
    };
    let (default_branch, branch_exists) = tokio::join!(app.code_host.default_branch(name), has_branch);
    match default_branch {
        Ok(default_branch) => RepositoryPreview {
            availability: Availability::Cloneable,
            full_name: Some(name.to_string()),
            path: Some(path_text(path)),
            reason: None,
            default_branch: Some(default_branch),
            branch_exists,
            start: None,
        },
        Err(error) => RepositoryPreview::unavailable(Some(name), no_access(name, &error)),
    }
}

fn no_access(name: &RepoFullName, error: &CodeHostError) -> String {
    if error.is_not_found() {
        return format!(
            "There is no clone of {name} on this machine, and at the code host it does not exist, or the account of this \
             machine has no access. Check the name. `gh auth status` names the account; `gh auth login` changes it."
        );
    }
    format!(
        "There is no clone of {name} on this machine, and the code host gave no answer: {}",
        error.user_message()
    )
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(preview),
        &[Source::Name(At::Query("repoFullName")), Source::Path(At::Query("repo"))],
    )
}
