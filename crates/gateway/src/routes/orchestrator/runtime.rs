//! Access to the runtime, and to the files of a ticket's worktree.

use std::sync::Arc;

use http::Method;
use loopgate_api::ids::TicketId;
use loopgate_runtime::Runtime;
use loopgate_runtime::tickets::{TicketFiles, worktrees_of_ticket};

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::HttpError;

/// Returns the runtime of this gateway.
///
/// # Errors
/// 501 when the gateway runs without a runtime.
pub(super) fn runtime_of<'a>(app: &'a App, path: &str) -> Result<&'a Arc<Runtime>, HttpError> {
    app.runtime.as_ref().ok_or_else(|| HttpError::not_implemented(&Method::POST, path))
}

/// Locates the files of a ticket and calls `read` with them, on a thread for blocking work. `read` gets
/// `None` when the ticket has no worktree.
pub(super) async fn read_ticket<T: Send + 'static>(
    app: App,
    ticket: TicketId,
    repo: String,
    read: impl FnOnce(Option<TicketFiles>) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    // A loop's worktree is not always named after its ticket, but its job records the path.
    let job_worktrees = match &app.runtime {
        Some(runtime) => worktrees_of_ticket(&runtime.jobs, &ticket).await,
        None => Vec::new(),
    };
    let result = spawn_blocking(move || {
        read(TicketFiles::find(&app.sandbox, &app.worktree_layout, &repo, &ticket, &job_worktrees)?)
    });
    result.await?
}
