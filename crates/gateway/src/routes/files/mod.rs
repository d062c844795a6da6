//! Files of this machine: folders, search by name, and what belongs to a ticket. How they are found
//! and kept, the room of files knows.

pub(crate) mod attachments;
pub(crate) mod directories;
pub(crate) mod run_viewer;
pub(crate) mod search;
pub(crate) mod upload;
pub(crate) mod work_directory;

use loopgate_api::ids::TicketId;
use loopgate_home::SandboxedPath;

use crate::answer::Failure;
use crate::app::App;

/// The worktree of a ticket, when there is one. Blocks on the disk.
///
/// # Errors
/// 403 when there is none, and the place where it would be made lies outside the sandbox: whether
/// something is there must not be told.
pub(super) fn worktree_of(
    app: &App,
    repository: &SandboxedPath,
    ticket: &TicketId,
) -> Result<Option<SandboxedPath>, Failure> {
    match app.places.ticket_worktree(repository, ticket) {
        None if app.places.for_ticket(repository, ticket).is_err() => Err(Failure::directory_not_allowed()),
        found => Ok(found),
    }
}
