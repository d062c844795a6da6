//! `/api/gateway/repos`: the managed repositories and the parent directory of their worktrees.

use std::io::ErrorKind;
use std::path::Path;

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::repos::{ListedRepo, ManagedRepo, ReposAnswer};
use loopgate_home::{AddRepoError, Directory, ReposError, Sandbox};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers};
use crate::lenient;
use crate::route::Endpoint;

/// Largest `package.json` that is parsed, in bytes: bounds memory, and real manifests are a few KiB.
const MAX_MANIFEST: u64 = 1024 * 1024;

/// Acknowledgement of a change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true}))]
#[schema(as = Done)]
pub(crate) struct ReposResponse {
    success: bool,
}

/// The managed repository after it was added.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "repo": {"path": "~/src/shop", "description": "The shop", "addedAt": "2030-01-01T00:00:00.000Z", "name": "shop", "fullName": "acme/shop", "defaultBranch": "main"}}))]
#[schema(as = Added)]
pub(crate) struct AddRepoResponse {
    success: bool,
    repo: ListedRepo,
}

/// A repository to manage.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"path": "~/src/shop", "description": "The shop"}))]
struct AddRepo {
    /// Directory inside the sandbox; a leading `~` is the home directory.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    path: Option<String>,
    /// Free text shown in repository lists.
    #[serde(default, deserialize_with = "lenient::any")]
    description: Option<String>,
}

/// Repository settings to change; absent members are unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"worktreeParentDir": "~/src/worktrees", "worktreeParentDirConfirmed": true}))]
struct UpdateRepos {
    /// Parent directory for new worktrees, inside the sandbox.
    #[serde(default, deserialize_with = "lenient::any")]
    worktree_parent_dir: Option<String>,
    /// Whether the user confirmed the parent directory.
    #[serde(default, deserialize_with = "lenient::any")]
    worktree_parent_dir_confirmed: Option<bool>,
}

/// List the managed repositories
#[utoipa::path(get, path = "/api/gateway/repos", operation_id = "list_repos", tag = "repos",
    responses(
        (status = 200, body = ReposAnswer, description = "The repositories and their settings"),
        (status = 500, body = ErrorBody, description = "The list cannot be read", example = json!(ErrorBody::new(500, "Failed to list repos: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn list(State(app): State<App>) -> JsonResult<ReposAnswer> {
    // Performs file accesses for each repository.
    let listed = spawn_blocking(move || {
        app.repos.refresh();
        let list = app.repos.list().map_err(|error| failed("Failed to list repos", error))?;
        let repos = list.repos.iter().cloned().map(|repo| describe(&app.sandbox, repo)).collect();
        Ok(ReposAnswer { repos, settings: list.settings })
    });
    listed.await?.map(Json)
}

/// Add a repository
#[utoipa::path(post, path = "/api/gateway/repos", operation_id = "add_repo", tag = "repos",
    request_body = AddRepo,
    responses(
        (status = 200, body = AddRepoResponse, description = "The repository was added"),
        (status = 400, body = ErrorBody, description = "Path missing, not a directory, or already managed", example = json!(ErrorBody::new(400, "Path does not exist"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The list cannot be written", example = json!(ErrorBody::new(500, "Failed to add repo: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn add(State(app): State<App>, JsonBody(body): JsonBody<AddRepo>) -> JsonResult<AddRepoResponse> {
    require_sandbox(&app)?;
    let AddRepo { path, description } = body;
    let path = path.ok_or_else(|| HttpError::missing_field("path is required and must be a string"))?;
    let added = spawn_blocking(move || {
        let repo = add_repository(&app, &path, description)?;
        Ok(describe(&app.sandbox, repo))
    })
    .await?;
    added.map(|repo| Json(AddRepoResponse { success: true, repo }))
}

fn add_repository(app: &App, path: &str, description: Option<String>) -> Result<ManagedRepo, HttpError> {
    let place = app.sandbox.check(path)?;
    // Opened once: the detection reads through this handle, so replacing the path has no effect.
    let directory = place.open_directory().map_err(|error| match error.kind() {
        ErrorKind::NotADirectory => HttpError::bad_request("Path must be a directory"),
        _ => HttpError::bad_request("Path does not exist"),
    })?;
    let deployment = detect_deployment(&directory);
    let added = app.repos.add(&place, description, deployment);
    added.map_err(|error| match error {
        AddRepoError::AlreadyManaged => HttpError::bad_request("Repository already configured"),
        AddRepoError::Repos(error) => failed("Failed to add repo", error),
    })
}

/// Stop managing a repository
///
/// Files on disk are not touched.
#[utoipa::path(delete, path = "/api/gateway/repos", operation_id = "remove_repo", tag = "repos",
    params(("path" = String, Query, description = "Directory of the repository", example = "~/src/other")),
    responses(
        (status = 200, body = ReposResponse, description = "The repository was removed"),
        (status = 400, body = ErrorBody, description = "Path missing, or not managed", example = json!(ErrorBody::new(400, "Repository not found"))),
        (status = 500, body = ErrorBody, description = "The list cannot be written", example = json!(ErrorBody::new(500, "Failed to remove repo: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn remove(State(app): State<App>, query: QueryMembers) -> JsonResult<ReposResponse> {
    require_sandbox(&app)?;
    let path = query.required("path", "path query parameter is required")?.to_owned();
    // Not checked against the sandbox: an entry must be removable after the sandbox was moved elsewhere.
    let removed = spawn_blocking(move || app.repos.remove(&path)).await?;
    match removed.map_err(|error| failed("Failed to remove repo", error))? {
        true => Ok(Json(ReposResponse { success: true })),
        false => Err(HttpError::bad_request("Repository not found")),
    }
}

/// Update the repository settings
#[utoipa::path(patch, path = "/api/gateway/repos", operation_id = "update_repos", tag = "repos",
    request_body = UpdateRepos,
    responses(
        (status = 200, body = ReposResponse, description = "The settings were updated"),
        (status = 400, body = ErrorBody, description = "Nothing to change", example = json!(ErrorBody::new(400, "No settings to update"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The list cannot be written", example = json!(ErrorBody::new(500, "Failed to update settings: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn update(State(app): State<App>, JsonBody(body): JsonBody<UpdateRepos>) -> JsonResult<ReposResponse> {
    require_sandbox(&app)?;
    // Members of the wrong type count as absent, so a body can be valid JSON and still change nothing.
    let (parent, confirmed) = (body.worktree_parent_dir, body.worktree_parent_dir_confirmed);
    if parent.is_none() && confirmed.is_none() {
        return Err(HttpError::bad_request("No settings to update"));
    }
    let updated = spawn_blocking(move || {
        if let Some(parent) = &parent {
            app.sandbox.check(parent)?;
        }
        // Members that the request omits keep their stored values.
        let changed = app.repos.update_settings(|settings| {
            settings.worktree_parent_dir = parent.or(settings.worktree_parent_dir.take());
            settings.worktree_parent_dir_confirmed = confirmed.or(settings.worktree_parent_dir_confirmed);
        });
        changed.map_err(|error| failed("Failed to update settings", error))
    });
    updated.await??;
    Ok(Json(ReposResponse { success: true }))
}

pub(crate) fn list_endpoint() -> Endpoint {
    Endpoint::new(routes!(list), &[])
}

pub(crate) fn add_endpoint() -> Endpoint {
    Endpoint::new(routes!(add), &[Source::Path(At::Body("path"))])
}

pub(crate) fn remove_endpoint() -> Endpoint {
    Endpoint::new(routes!(remove), &[Source::Path(At::Query("path"))])
}

pub(crate) fn update_endpoint() -> Endpoint {
    Endpoint::new(routes!(update), &[Source::Listing(At::Body("worktreeParentDir"))])
}

fn require_sandbox(app: &App) -> Result<(), HttpError> {
    app.sandbox.base().map(|_| ()).ok_or_else(HttpError::not_configured)
}

fn failed(what: &str, error: ReposError) -> HttpError {
    match error {
        ReposError::NotConfigured => HttpError::not_configured(),
        other => HttpError::operation(what, &other),
    }
}

/// Adds name, origin and default branch of the clone to a stored entry. Performs blocking I/O.
fn describe(sandbox: &Sandbox, repo: ManagedRepo) -> ListedRepo {
    let path = loopgate_home::expand_home(&repo.path);
    let clone = sandbox.summary(&path).ok();
    let (origin, default_branch) =
        clone.map(|summary| (summary.origin, summary.default_branch)).unwrap_or_default();
    ListedRepo {
        name: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        full_name: origin.map(|name| name.as_str().to_owned()),
        default_branch,
        repo,
    }
}

/// Detects from `package.json` how to run a repository.
fn detect_deployment(repository: &Directory) -> Option<Map<String, Value>> {
    // The file is untrusted input: `Directory::read` follows no links and stops at the size limit.
    let text = repository.read(Path::new("package.json"), MAX_MANIFEST).ok()?;
    let manifest: Value = serde_json::from_slice(&text).ok()?;
    let has = |section: &str, name: &str| manifest.get(section).is_some_and(|s| s.get(name).is_some());
    let depends = |name: &&str| has("dependencies", name) || has("devDependencies", name);
    // Order matters: projects with `next` or `vite` usually depend on `react` as well.
    let framework = ["next", "vite", "react", "express"].into_iter().find(depends);
    let scripts = [("dev", "pnpm dev"), ("start", "pnpm start")];
    let start = scripts.into_iter().find(|(name, _)| has("scripts", name)).map(|(_, command)| command);
    let manager = manifest.get("packageManager").and_then(Value::as_str);
    let members = [("framework", framework), ("packageManager", manager), ("startCommand", start)];
    Some(
        members
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))))
            .collect(),
    )
}
