//! `GET /api/gateway/directories`: the folders in a directory.

use axum::extract::State;
use axum::response::Response;
use http::Uri;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use loopgate_files::{Folder, Folders, FoldersError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::answer::Failure;
use crate::app::App;
use crate::approval::{At, Source};
use crate::extract::QueryMembers;
use crate::kept::Sources;
use crate::router::Route;

/// Folders of a list that is kept ready: each is watched.
const MOST_KEPT: usize = 100;

/// Folders, repositories first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"directories": [{"name": "shop", "path": "~/src/shop", "isDirectory": true, "isGitRepo": true}, {"name": "worktrees", "path": "~/src/worktrees", "isDirectory": true, "isGitRepo": false}]}))]
pub(crate) struct Directories {
    directories: Vec<DirectoryEntry>,
}

/// A folder.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DirectoryEntry {
    name: String,
    /// In the form in which the directory was named: with `~` or absolute.
    path: String,
    /// Always true.
    is_directory: bool,
    /// Whether it is a repository or a worktree.
    is_git_repo: bool,
}

impl From<Folder> for DirectoryEntry {
    fn from(folder: Folder) -> Self {
        let Folder { name, path, is_git_repo } = folder;
        Self { name, path, is_directory: true, is_git_repo }
    }
}

/// List the folders in a directory
///
/// Hidden ones are left out. A directory that does not exist has none.
#[utoipa::path(get, path = "/api/gateway/directories", operation_id = "list_directories", tag = "files",
    params(("path" = Option<String>, Query, description = "Directory; `~` when it is missing", example = "~/src")),
    responses(
        (status = 200, body = Directories, description = "Its folders, at most 2000"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::new(403, "directory not allowed"))),
        (status = 500, body = ErrorBody, description = "It cannot be read", example = json!(ErrorBody::new(500, "Failed to list directories: permission denied"))),
    ))]
async fn list(State(app): State<App>, target: Uri, query: QueryMembers) -> Result<Response, Failure> {
    let path = query.get("path").filter(|path| !path.is_empty()).unwrap_or("~");
    let path = path.to_owned();
    app.kept_answer(&target, move |app, sources| list_on_disk(app, &path, sources)).await
}

fn list_on_disk(app: &App, path: &str, sources: &mut Sources) -> Result<Directories, Failure> {
    let Folders { folders, directory, whole } =
        loopgate_files::folders(&app.sandbox, path).map_err(|error| match error {
            FoldersError::Denied(_) => Failure::directory_not_allowed(),
            error @ FoldersError::Io(_) => Failure::failed(format!("Failed to list directories: {error}")),
        })?;
    if whole && folders.len() <= MOST_KEPT {
        app.sandbox.base().iter().for_each(|base| sources.file(base));
        sources.entries(directory.as_path());
        folders.iter().for_each(|folder| sources.file(&directory.as_path().join(&folder.name).join(".git")));
    } else {
        sources.unknown();
    }
    Ok(Directories { directories: folders.into_iter().map(Into::into).collect() })
}

pub(crate) fn route() -> Route {
    Route::new(routes!(list), OperationId::Filesystem, &[Source::ListingOrHome(At::Query("path"))])
}
