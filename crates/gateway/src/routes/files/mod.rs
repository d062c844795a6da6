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
fn worktree_of(
    app: &App,
    repository: &SandboxedPath,
    ticket: &TicketId,
) -> Result<Option<SandboxedPath>, Failure> {
    let found = app.places.ticket_worktree(repository, ticket);
    if found.is_none() {
        let name = format!("{}-{}", repository.base_name(), ticket.safe());
        let parents = app.repos.worktree_parents(repository.as_path());
        let preferred = parents.first().map(|parent| app.sandbox.check(parent.join(name)));
        if preferred.is_none_or(|checked| checked.is_err()) {
            return Err(Failure::directory_not_allowed());
        }
    }
    Ok(found)
}

/// A body that is no form, or a broken one.
fn invalid_form() -> Failure {
    Failure::bad_request("Invalid form data")
}

/// A text as one component of a URL.
fn encoded(text: &str) -> String {
    /// All that a component may hold as it is.
    const ESCAPED: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'!')
        .remove(b'~')
        .remove(b'*')
        .remove(b'\'')
        .remove(b'(')
        .remove(b')');
    percent_encoding::utf8_percent_encode(text, ESCAPED).to_string()
}
