//! Directories that requests name, in the sandbox.

use std::path::PathBuf;

use loopgate_api::ids::TicketId;
use loopgate_home::SandboxedPath;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::HttpError;

/// A directory that a caller names, when it is allowed and exists. `missing` makes the error for its path.
pub(crate) async fn existing_directory(
    app: &App,
    named: &str,
    missing: impl FnOnce(PathBuf) -> HttpError,
) -> Result<SandboxedPath, HttpError> {
    let (app, named) = (app.clone(), named.to_owned());
    let looked = spawn_blocking(move || {
        let place = app.sandbox.check(named).ok()?;
        let there = place.canonical().is_dir();
        Some((place, there))
    });
    match looked.await? {
        Some((place, true)) => Ok(place),
        Some((place, false)) => Err(missing(place.as_path().to_owned())),
        None => Err(HttpError::directory_not_allowed()),
    }
}

/// The worktree of a ticket, when there is one. Blocks on the disk.
///
/// # Errors
/// 403 when there is none, and the place where it would be made lies outside the sandbox: whether
/// something is there must not be revealed.
pub(crate) fn ticket_worktree(
    app: &App,
    repository: &SandboxedPath,
    ticket: &TicketId,
) -> Result<Option<SandboxedPath>, HttpError> {
    match app.places.ticket_worktree(repository, ticket) {
        None if app.places.for_ticket(repository, ticket).is_err() => Err(HttpError::directory_not_allowed()),
        found => Ok(found),
    }
}
