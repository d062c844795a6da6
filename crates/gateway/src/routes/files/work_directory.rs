//! `GET /api/gateway/work-directory/{ticketId}`: where a ticket is worked on, and how its branch
//! stands.

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

/// Where a ticket is worked on.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"exists": true, "path": "/home/sam/src/worktrees/shop-AB-1", "source": "worktree", "pendingClaudeMd": null, "branchStatus": {"merged": false, "remoteMissing": false}}))]
pub(crate) struct WorkDirectory {
    exists: bool,
    /// Absolute; null when there is none.
    #[schema(required)]
    path: Option<String>,
    /// Where it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<WorkDirectorySource>,
    /// The project's `CLAUDE.md`, when it has changes that are not committed.
    #[schema(required)]
    pending_claude_md: Option<String>,
    /// Null when unknown.
    #[schema(required)]
    branch_status: Option<WorktreeBranch>,
}

/// Where a work directory was found.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Source)]
enum WorkDirectorySource {
    /// The sessions.
    Session,
    /// Its name, beside or below the usual places.
    Worktree,
}

/// Status of its branch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BranchStatus)]
struct WorktreeBranch {
    /// Whether it was merged; only told of one that the remote has no more.
    merged: bool,
    /// Whether the remote has no such branch.
    remote_missing: bool,
}

impl From<git::BranchStatus> for WorktreeBranch {
    fn from(git::BranchStatus { merged, remote_missing }: git::BranchStatus) -> Self {
        Self { merged, remote_missing }
    }
}

/// Find the work directory of a ticket
#[utoipa::path(get, path = "/api/gateway/work-directory/{ticketId}", operation_id = "work_directory", tag = "files",
    params(("ticketId" = String, Path, description = "Ticket", example = "AB-1")),
    responses(
        (status = 200, body = WorkDirectory, description = "Its path, also when there is none"),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn find(State(app): State<App>, TicketPath(ticket): TicketPath) -> JsonResult<WorkDirectory> {
    let found = {
        let app = app.clone();
        spawn_blocking(move || find_on_disk(&app, &ticket)).await??
    };
    let Some((directory, source)) = found else { return Ok(Json(WorkDirectory::default())) };
    let path = directory.as_path();
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

/// The first of the session's directory and the worktrees of the managed repositories. What the
/// sandbox does not allow is passed over in silence.
fn find_on_disk(
    app: &App,
    ticket: &TicketId,
) -> Result<Option<(SandboxedPath, WorkDirectorySource)>, HttpError> {
    let allowed = |path: &Path| app.sandbox.check(path).ok();
    app.sessions.path().ok_or_else(HttpError::not_configured)?;
    let of_session = directory_of_session(app, ticket);
    let of_session = of_session.and_then(|path| allowed(&path)).filter(|path| path.canonical().is_dir());
    if let Some(directory) = of_session {
        return Ok(Some((directory, WorkDirectorySource::Session)));
    }
    let repos = match app.repos.list() {
        Ok(list) => list,
        Err(ReposError::NotConfigured) => return Err(HttpError::not_configured()),
        Err(error) => {
            tracing::warn!(%error, "the list of repositories cannot be read");
            return Ok(None);
        }
    };
    let worktrees = repos.repos.iter().filter_map(|repo| {
        let repository = allowed(&loopgate_home::expand_home(&repo.path))?;
        app.worktree_layout.work_on_ticket(&repository, ticket)
    });
    Ok(worktrees.map(|worktree| (worktree, WorkDirectorySource::Worktree)).next())
}

/// The worktree that a session of exactly this ticket names.
fn directory_of_session(app: &App, ticket: &TicketId) -> Option<PathBuf> {
    let sessions = app.sessions.all().into_iter();
    let named = sessions.filter(|session| !session.note.worktree_path.trim().is_empty());
    let own = named.filter(|session| session.ticket_id == ticket.as_str());
    own.map(|session| loopgate_home::expand_home(&session.note.worktree_path)).next()
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(find),
        &[Source::Ticket(At::Segment("ticketId")), Source::Session(At::Segment("ticketId"))],
    )
}
