//! The runtime of the gateway, and the files of a ticket.

use std::path::PathBuf;
use std::sync::Arc;

use http::Method;
use loopgate_api::ids::TicketId;
use loopgate_runtime::Runtime;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::HttpError;
use crate::ticket_files::TicketFiles;

/// A gateway may run without a runtime; it then starts nothing.
pub(super) fn runtime_of<'a>(app: &'a App, path: &str) -> Result<&'a Arc<Runtime>, HttpError> {
    app.runtime.as_ref().ok_or_else(|| HttpError::not_implemented(&Method::POST, path))
}

/// Finds the files of a ticket and reads from them, away from the request threads.
pub(super) async fn read_ticket<T: Send + 'static>(
    app: App,
    ticket: TicketId,
    repo: String,
    read: impl FnOnce(Option<TicketFiles>) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let of_jobs = worktrees_of_jobs(&app, &ticket).await;
    let reading =
        spawn_blocking(move || read(TicketFiles::find(&app.sandbox, &app.places, &repo, &ticket, &of_jobs)?));
    reading.await?
}

/// The worktrees that the ticket's jobs name: those of living jobs first, then the newest.
async fn worktrees_of_jobs(app: &App, ticket: &TicketId) -> Vec<PathBuf> {
    let Some(runtime) = &app.runtime else { return Vec::new() };
    let mut jobs = runtime.jobs.of_ticket(ticket).await.unwrap_or_default();
    jobs.sort_by_key(|job| job.status().is_terminal());
    jobs.into_iter().filter_map(|job| job.workspace.worktree_dir.map(PathBuf::from)).collect()
}
