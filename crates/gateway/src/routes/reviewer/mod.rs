//! `/api/gateway/reviewer/`: reviews of a ticket's worktree.

pub(crate) mod available;

use loopgate_api::ids::TicketId;
use loopgate_home::SandboxedPath;
use loopgate_review::ReviewDirectory;

use crate::app::App;
use crate::error::HttpError;
use crate::routes::directory::ticket_worktree;

/// The work directory of a ticket, where the files of its reviews lie; it may not be there yet. Blocks on the
/// disk.
#[allow(dead_code, reason = "routes follow")]
fn review_directory(app: &App, repo: &str, ticket: &TicketId) -> Result<ReviewDirectory, HttpError> {
    let repository = checked(app, repo)?;
    let not_allowed = |_| HttpError::directory_not_allowed();
    let worktree = match ticket_worktree(app, &repository, ticket)? {
        Some(worktree) => worktree,
        None => app.places.for_ticket(&repository, ticket).map_err(not_allowed)?,
    };
    ReviewDirectory::of(&app.sandbox, worktree.as_path()).map_err(|_| HttpError::directory_not_allowed())
}

/// A repository that a request names. Blocks on the disk.
fn checked(app: &App, repo: &str) -> Result<SandboxedPath, HttpError> {
    app.sandbox.check(repo).map_err(|_| HttpError::directory_not_allowed())
}
