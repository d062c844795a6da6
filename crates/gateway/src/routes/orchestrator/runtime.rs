//! The runtime of the gateway, and the files of a ticket.

use std::sync::Arc;

use http::Method;
use loopgate_api::ids::TicketId;
use loopgate_runtime::Runtime;
use loopgate_runtime::tickets::{TicketFiles, worktrees_of_ticket};

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::HttpError;

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
    let of_jobs = match &app.runtime {
        Some(runtime) => worktrees_of_ticket(&runtime.jobs, &ticket).await,
        None => Vec::new(),
    };
    let reading = spawn_blocking(move || {
        read(TicketFiles::find(&app.sandbox, &app.worktree_layout, &repo, &ticket, &of_jobs)?)
    });
    reading.await?
}
