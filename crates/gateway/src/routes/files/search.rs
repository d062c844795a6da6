//! `GET /api/gateway/files/search`: finds files by part of their path.

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
    /// Relative paths, best match first, at most ten.
    files: Vec<String>,
    /// Whether there are further matches, or the directory is too large to be scanned completely.
    truncated: bool,
    /// Reason for an empty result: the directory does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// Directory to search.
enum SearchScope {
    Repository,
    Ticket(TicketId),
}

/// Find files by part of their path
///
/// Searches the worktree of a ticket, or the repository itself. Files ignored by git are omitted.
#[utoipa::path(get, path = "/api/gateway/files/search", operation_id = "search_files", tag = "files",
    params(
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
        ("ticket" = Option<String>, Query, description = "Ticket id; required unless `base` is `true`", example = "AB-1"),
        ("query" = Option<String>, Query, description = "Case-insensitive part of a path; must overlap the file name", example = "theme"),
        ("base" = Option<String>, Query, description = "`true` searches the repository itself", example = "true"),
    ),
    responses(
        (status = 200, body = FileSearchResults, description = "The best matches; also when the directory does not exist"),
        (status = 400, body = ErrorBody, description = "Repository path or ticket missing", example = json!(ErrorBody::missing_field("ticket query parameter is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
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
    let pattern = query.get("query").unwrap_or_default().to_owned();
    // Indexes contain the file names of whole repositories. The eviction task exits when none is left.
    app.file_search.start_eviction();
    // One search per processor: a search scans the whole index, and more in parallel would starve other
    // requests.
    let searches = app.searches.clone();
    searches.spawn_blocking(move || search_on_disk(&app, &repository, &scope, &pattern)).await?.map(Json)
}

fn search_on_disk(
    app: &App,
    repository: &str,
    scope: &SearchScope,
    pattern: &str,
) -> Result<FileSearchResults, HttpError> {
    let repository = app.sandbox.check(Path::new(repository))?;
    let (directory, missing) = match scope {
        SearchScope::Repository => (Some(repository), "Repository not found"),
        SearchScope::Ticket(ticket) => (ticket_worktree(app, &repository, ticket)?, "Worktree not found"),
    };
    let search = |directory: SandboxedPath| app.file_search.search(&directory, pattern);
    match directory.map(search) {
        Some(Ok(Matches { files, truncated })) => Ok(FileSearchResults { files, truncated, error: None }),
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => {
            let text = format!("Failed to search files: {}", loopgate_files::plain_text(&error));
            Err(HttpError::failed(text))
        }
        Some(Err(_)) | None => {
            // A missing directory is a 200 with `error`: the page searches while the worktree is being
            // created.
            Ok(FileSearchResults { files: Vec::new(), truncated: false, error: Some(missing) })
        }
    }
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(search), &[Source::Path(At::Query("repo")), Source::Ticket(At::Query("ticket"))])
}
