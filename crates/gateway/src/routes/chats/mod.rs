//! Chats that are not stored in a worktree: the terminal chat, chats about a ticket before work on it starts,
//! and chats about the files of a run. One file per resource; this module holds the shared parts. Chats about
//! a review comment or a finding share [`subject`].

pub(super) mod attachments;
pub(crate) mod run_viewer;
pub(super) mod stream;
pub(super) mod subject;
pub(crate) mod terminal;
pub(crate) mod ticket;

use axum::Json;
use loopgate_agents::conversation::history::HistoryFile;
use loopgate_api::chat::{ChatHistory, SessionMembers};
use loopgate_home::SandboxedPath;

use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::routes::orchestrator::sessions::SuccessResponse;

/// Returns the history file of a chat in the orchestrator directory. Performs blocking I/O.
///
/// # Errors
/// 503 when no sandbox is configured; 403 when the sandbox rejects the path.
fn history_file(app: &App, name: &str, members: SessionMembers) -> Result<HistoryFile, HttpError> {
    let directory = app.settings.get().orchestrator_dir().ok_or_else(HttpError::not_configured)?;
    HistoryFile::in_orchestrator_dir(&app.sandbox, &directory, name, members)
        .map_err(|_| HttpError::directory_not_allowed())
}

/// Returns the stored history, or `empty` when none is stored.
async fn read_history(
    app: App,
    name: String,
    members: SessionMembers,
    empty: ChatHistory,
) -> JsonResult<ChatHistory> {
    let history = spawn_blocking(move || {
        // A damaged history must not block the chat: it is logged and shown as empty.
        let stored = history_file(&app, &name, members)?.read().inspect_err(|error| {
            tracing::warn!(%error, "failed to read chat history");
        });
        Ok(stored.ok().flatten().unwrap_or(empty))
    });
    history.await?.map(Json)
}

/// Replaces the stored history with `empty`.
async fn clear_history(
    app: App,
    name: String,
    members: SessionMembers,
    empty: ChatHistory,
) -> JsonResult<SuccessResponse> {
    let cleared = spawn_blocking(move || {
        let file = history_file(&app, &name, members)?;
        let cleared = file.change(|| empty.clone(), |history| *history = empty.clone());
        cleared.map_err(|error| HttpError::operation("Failed to save chat history", &error))
    });
    cleared.await??;
    Ok(SuccessResponse::YES)
}

/// Returns the base directory of the sandbox, the working directory of chats without one; `None` when it does
/// not exist. Performs blocking I/O.
fn base_directory(app: &App) -> Option<SandboxedPath> {
    let base = app.sandbox.check(app.sandbox.base()?).ok()?;
    base.canonical().is_dir().then_some(base)
}
