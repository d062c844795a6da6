//! `/api/gateway/repos`: the managed repositories and where their worktrees are made.

use std::io::ErrorKind;
use std::path::Path;

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::repos::{ListedRepo, ManagedRepo, ReposAnswer};
use loopgate_home::{AddRepoError, Directory, ReposError, Repository, Sandbox};
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

/// Bytes of a package manifest.
const MAX_MANIFEST: u64 = 1024 * 1024;

/// That it was done.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true}))]
#[schema(as = Done)]
pub(crate) struct ReposResponse {
    success: bool,
}

/// The repository that was added.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "repo": {"path": "~/src/shop", "description": "The shop", "addedAt": "2030-01-01T00:00:00.000Z", "name": "shop", "fullName": "acme/shop", "defaultBranch": "main"}}))]
#[schema(as = Added)]
pub(crate) struct AddRepoResponse {
    success: bool,
    repo: ListedRepo,
}

/// A repository to add.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"path": "~/src/shop", "description": "The shop"}))]
struct AddRepo {
    /// Directory inside the sandbox; `~` is the home directory.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    path: Option<String>,
    /// Text of the owner.
    #[serde(default, deserialize_with = "lenient::any")]
    description: Option<String>,
}

/// Settings to change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"worktreeParentDir": "~/src/worktrees", "worktreeParentDirConfirmed": true}))]
struct UpdateRepos {
    /// Where worktrees are made; inside the sandbox.
    #[serde(default, deserialize_with = "lenient::any")]
    worktree_parent_dir: Option<String>,
    /// Whether the owner agreed to it.
    #[serde(default, deserialize_with = "lenient::any")]
    worktree_parent_dir_confirmed: Option<bool>,
}

/// List the managed repositories
#[utoipa::path(get, path = "/api/gateway/repos", operation_id = "list_repos", tag = "repos",
    responses(
        (status = 200, body = ReposAnswer, description = "The repositories and their settings"),
        (status = 500, body = ErrorBody, description = "The list cannot be read", example = json!(ErrorBody::new(500, "Failed to list repos: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn list(State(app): State<App>) -> JsonResult<ReposAnswer> {
    let listed = spawn_blocking(move || {
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
        (status = 200, body = AddRepoResponse, description = "Added"),
        (status = 400, body = ErrorBody, description = "No path, no such directory, or already there", example = json!(ErrorBody::new(400, "Path does not exist"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The list cannot be written", example = json!(ErrorBody::new(500, "Failed to add repo: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
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
    let directory = place.open_directory().map_err(|error| match error.kind() {
        ErrorKind::NotADirectory => HttpError::bad_request("Path must be a directory"),
        _ => HttpError::bad_request("Path does not exist"),
    })?;
    let deployment = detect_deployment(&directory);
    let added = app.repos.add(&place, description, deployment);
    added.map_err(|error| match error {
        AddRepoError::AlreadyThere => HttpError::bad_request("Repository already configured"),
        AddRepoError::Repos(error) => failed("Failed to add repo", error),
    })
}

/// Remove a repository from the list; its files stay
#[utoipa::path(delete, path = "/api/gateway/repos", operation_id = "remove_repo", tag = "repos",
    params(("path" = String, Query, description = "Directory of the repository", example = "~/src/other")),
    responses(
        (status = 200, body = ReposResponse, description = "Removed"),
        (status = 400, body = ErrorBody, description = "No path given, or not in the list", example = json!(ErrorBody::new(400, "Repository not found"))),
        (status = 500, body = ErrorBody, description = "The list cannot be written", example = json!(ErrorBody::new(500, "Failed to remove repo: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn remove(State(app): State<App>, query: QueryMembers) -> JsonResult<ReposResponse> {
    require_sandbox(&app)?;
    let path = query.required("path", "path query parameter is required")?.to_owned();
    let removed = spawn_blocking(move || app.repos.remove(&path)).await?;
    match removed.map_err(|error| failed("Failed to remove repo", error))? {
        true => Ok(Json(ReposResponse { success: true })),
        false => Err(HttpError::bad_request("Repository not found")),
    }
}

/// Change where worktrees are made
#[utoipa::path(patch, path = "/api/gateway/repos", operation_id = "update_repos", tag = "repos",
    request_body = UpdateRepos,
    responses(
        (status = 200, body = ReposResponse, description = "Changed"),
        (status = 400, body = ErrorBody, description = "Nothing to change", example = json!(ErrorBody::new(400, "No settings to update"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The list cannot be written", example = json!(ErrorBody::new(500, "Failed to update settings: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn update(State(app): State<App>, JsonBody(body): JsonBody<UpdateRepos>) -> JsonResult<ReposResponse> {
    require_sandbox(&app)?;
    let (parent, confirmed) = (body.worktree_parent_dir, body.worktree_parent_dir_confirmed);
    if parent.is_none() && confirmed.is_none() {
        return Err(HttpError::bad_request("No settings to update"));
    }
    let updated = spawn_blocking(move || {
        if let Some(parent) = &parent {
            app.sandbox.check(parent)?;
        }
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

/// A stored entry with name, origin and default branch of its clone. Touches the disk.
fn describe(sandbox: &Sandbox, repo: ManagedRepo) -> ListedRepo {
    let path = loopgate_home::expand_home(&repo.path);
    let clone = sandbox.repository_at(&path);
    let clone = clone.as_ref();
    ListedRepo {
        name: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        full_name: clone.and_then(Repository::origin).map(|name| name.as_str().to_owned()),
        default_branch: clone.and_then(Repository::default_branch),
        repo,
    }
}

/// How a repository is run, according to its package manifest.
fn detect_deployment(repository: &Directory) -> Option<Map<String, Value>> {
    let text = repository.read(Path::new("package.json"), MAX_MANIFEST).ok()?;
    let manifest: Value = serde_json::from_slice(&text).ok()?;
    let has = |section: &str, name: &str| manifest.get(section).is_some_and(|s| s.get(name).is_some());
    let depends = |name: &&str| has("dependencies", name) || has("devDependencies", name);
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
