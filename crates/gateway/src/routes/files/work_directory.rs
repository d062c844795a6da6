//! `GET /api/gateway/work-directory/{ticketId}`: the work directory of a ticket and the status of its branch.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_home::{ReposError, SandboxedPath};
use loopgate_tools::git;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::TicketPath;
use crate::response::path_text;
use crate::route::Endpoint;

/// The work directory of a ticket, if it exists.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"exists": true, "path": "/home/sam/src/worktrees/shop-AB-1", "source": "worktree", "pendingClaudeMd": null, "branchStatus": {"merged": false, "remoteMissing": false}}))]
pub(crate) struct WorkDirectory {
    exists: bool,
    /// Absolute path; null when the ticket has no work directory.
    #[schema(required)]
    path: Option<String>,
    /// How the directory was determined; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<WorkDirectorySource>,
    /// Path of the project's `CLAUDE.md` if it has uncommitted changes; null otherwise.
    #[schema(required)]
    pending_claude_md: Option<String>,
    /// Status of the checked-out branch; null when it could not be determined.
    #[schema(required)]
    branch_status: Option<WorktreeBranch>,
}

/// How a work directory was determined.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Source)]
enum WorkDirectorySource {
    /// Recorded in the ticket's session.
    Session,
    /// Derived from the ticket's id, in the worktree parent directories.
    Worktree,
}

/// Status of the branch in a work directory.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BranchStatus)]
struct WorktreeBranch {
    /// Whether the branch was merged. Determined only when it no longer exists at the remote.
    merged: bool,
    /// Whether the branch does not exist at the remote.
    remote_missing: bool,
}

impl From<git::BranchStatus> for WorktreeBranch {
    fn from(git::BranchStatus { merged, remote_missing }: git::BranchStatus) -> Self {
        Self { merged, remote_missing }
    }
}

/// Find the work directory of a ticket
#[utoipa::path(get, path = "/api/gateway/work-directory/{ticketId}", operation_id = "work_directory", tag = "files",
    params(("ticketId" = String, Path, description = "Id of the ticket", example = "AB-1")),
    responses(
        (status = 200, body = WorkDirectory, description = "The work directory; also when there is none"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn find(State(app): State<App>, TicketPath(ticket): TicketPath) -> JsonResult<WorkDirectory> {
    let location = {
        let app = app.clone();
        spawn_blocking(move || find_on_disk(&app, &ticket)).await??
    };
    let Some((directory, source)) = location else { return Ok(Json(WorkDirectory::default())) };
    let path = directory.as_path();
    // Concurrently: both run git, and the branch status may wait for the remote.
    let (branch_status, pending) =
        tokio::join!(app.branch_statuses.of(path), app.branch_statuses.pending_instructions(path));
    Ok(Json(WorkDirectory {
        exists: true,
        path: Some(path_text(path)),
        source: Some(source),
        pending_claude_md: pending.map(path_text),
        branch_status: branch_status.map(Into::into),
    }))
}

/// Returns the directory of the ticket's session, or the first worktree of the ticket in a managed
/// repository. Skips paths outside the sandbox without an error, so that the response does not disclose
/// whether they exist. Performs blocking I/O.
fn find_on_disk(
    app: &App,
    ticket: &TicketId,
) -> Result<Option<(SandboxedPath, WorkDirectorySource)>, HttpError> {
    let allowed = |path: &Path| app.sandbox.check(path).ok();
    app.sessions.path().ok_or_else(HttpError::not_configured)?;
    let session_directory = directory_of_session(app, ticket);
    let session_directory =
        session_directory.and_then(|path| allowed(&path)).filter(|path| path.canonical().is_dir());
    if let Some(directory) = session_directory {
        return Ok(Some((directory, WorkDirectorySource::Session)));
    }
    let repos = match app.repos.list() {
        Ok(list) => list,
        Err(ReposError::NotConfigured) => return Err(HttpError::not_configured()),
        Err(error) => {
            // Reported as no work directory, not as an error: the session was already consulted.
            tracing::warn!(%error, "failed to read repository list");
            return Ok(None);
        }
    };
    let worktrees = repos.repos.iter().filter_map(|repo| {
        let repository = allowed(&loopgate_home::expand_home(&repo.path))?;
        app.worktree_layout.work_on_ticket(&repository, ticket)
    });
    Ok(worktrees.map(|worktree| (worktree, WorkDirectorySource::Worktree)).next())
}

/// Returns the worktree in the session of exactly this ticket.
fn directory_of_session(app: &App, ticket: &TicketId) -> Option<PathBuf> {
    let sessions = app.sessions.all().into_iter();
    let with_worktree = sessions.filter(|session| !session.note.worktree_path.trim().is_empty());
    let own = with_worktree.filter(|session| session.ticket_id == ticket.as_str());
    own.map(|session| loopgate_home::expand_home(&session.note.worktree_path)).next()
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(find),
        &[Source::Ticket(At::Segment("ticketId")), Source::Session(At::Segment("ticketId"))],
    )
}
