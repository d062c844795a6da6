//! `GET /api/gateway/directories`: lists the subdirectories of a directory.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_files::{Folder, FoldersError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::route::Endpoint;

/// Subdirectories, with repositories first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"directories": [{"name": "shop", "path": "~/src/shop", "isDirectory": true, "isGitRepo": true}, {"name": "worktrees", "path": "~/src/worktrees", "isDirectory": true, "isGitRepo": false}]}))]
pub(crate) struct Directories {
    directories: Vec<DirectoryEntry>,
}

/// A subdirectory.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DirectoryEntry {
    name: String,
    /// Path in the form of the request: starting with `~`, or absolute.
    path: String,
    /// Always true; present for older clients.
    is_directory: bool,
    /// Whether the directory is a git repository or worktree.
    is_git_repo: bool,
}

impl From<Folder> for DirectoryEntry {
    fn from(folder: Folder) -> Self {
        let Folder { name, path, is_git_repo } = folder;
        Self { name, path, is_directory: true, is_git_repo }
    }
}

/// List the subdirectories of a directory
///
/// Hidden directories are omitted. The list is empty for a directory that does not exist.
#[utoipa::path(get, path = "/api/gateway/directories", operation_id = "list_directories", tag = "files",
    params(("path" = Option<String>, Query, description = "Directory to list; `~` when it is missing", example = "~/src")),
    responses(
        (status = 200, body = Directories, description = "The subdirectories, at most 2000"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The directory cannot be read", example = json!(ErrorBody::new(500, "Failed to list directories: permission denied"))),
    ))]
async fn list(State(app): State<App>, query: QueryMembers) -> JsonResult<Directories> {
    let path = query.get("path").filter(|path| !path.is_empty()).unwrap_or("~").to_owned();
    let folders = spawn_blocking(move || loopgate_files::folders(&app.sandbox, &path)).await?;
    let folders = folders.map_err(|error| match error {
        FoldersError::Denied(_) => HttpError::directory_not_allowed(),
        error @ FoldersError::Io(_) => HttpError::failed(format!("Failed to list directories: {error}")),
    })?;
    Ok(Json(Directories { directories: folders.into_iter().map(Into::into).collect() }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(list), &[Source::ListingOrHome(At::Query("path"))])
}
