//! `GET /api/gateway/files/search`: files by a piece of their path.

use std::io::ErrorKind;
use std::path::Path;

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_files::Matches;
use loopgate_home::SandboxedPath;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::QueryMembers;
use crate::route::Endpoint;
use crate::routes::directory::ticket_worktree;

/// The best matches.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"files": ["theme.js", "test/theme.test.js"], "truncated": false}))]
#[schema(as = FoundFiles)]
pub(crate) struct FileSearchResults {
    /// Relative paths, best first, at most ten.
    files: Vec<String>,
    /// Whether more matched.
    truncated: bool,
    /// Why there are none: there is no such directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// Where to search.
enum SearchScope {
    Repository,
    Ticket(TicketId),
}

/// Find files by a piece of their path
///
/// Searches the worktree of a ticket, or the repository itself. What git ignores is left out.
#[utoipa::path(get, path = "/api/gateway/files/search", operation_id = "search_files", tag = "files",
    params(
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
        ("ticket" = Option<String>, Query, description = "Ticket; required unless `base` is `true`", example = "AB-1"),
        ("query" = Option<String>, Query, description = "Piece of a path, in any case, that reaches into the file's name", example = "theme"),
        ("base" = Option<String>, Query, description = "`true` searches the repository itself", example = "true"),
    ),
    responses(
        (status = 200, body = FileSearchResults, description = "The best matches, also when there is no such directory"),
        (status = 400, body = ErrorBody, description = "No repository or no ticket given", example = json!(ErrorBody::missing_field("ticket query parameter is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The directory cannot be read", example = json!(ErrorBody::new(500, "Failed to search files: permission denied"))),
    ))]
async fn search(State(app): State<App>, query: QueryMembers) -> JsonResult<FileSearchResults> {
    let repository = query.required("repo", "repo query parameter is required")?.to_owned();
    let scope = if query.get("base") == Some("true") {
        SearchScope::Repository
    } else {
        let ticket = query.required("ticket", "ticket query parameter is required")?;
        SearchScope::Ticket(TicketId::new(ticket.to_owned()))
    };
    let piece = query.get("query").unwrap_or_default().to_owned();
    app.file_search.start_eviction();
    let searches = app.searches.clone();
    searches.spawn_blocking(move || search_on_disk(&app, &repository, &scope, &piece)).await?.map(Json)
}

fn search_on_disk(
    app: &App,
    repository: &str,
    scope: &SearchScope,
    piece: &str,
) -> Result<FileSearchResults, HttpError> {
    let repository = app.sandbox.check(Path::new(repository))?;
    let (directory, missing) = match scope {
        SearchScope::Repository => (Some(repository), "Repository not found"),
        SearchScope::Ticket(ticket) => (ticket_worktree(app, &repository, ticket)?, "Worktree not found"),
    };
    let found = |directory: SandboxedPath| app.file_search.search(&directory, piece);
    match directory.map(found) {
        Some(Ok(Matches { files, truncated })) => Ok(FileSearchResults { files, truncated, error: None }),
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => {
            let text = format!("Failed to search files: {}", loopgate_files::plain_text(&error));
            Err(HttpError::failed(text))
        }
        Some(Err(_)) | None => {
            Ok(FileSearchResults { files: Vec::new(), truncated: false, error: Some(missing) })
        }
    }
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(search), &[Source::Path(At::Query("repo")), Source::Ticket(At::Query("ticket"))])
}
