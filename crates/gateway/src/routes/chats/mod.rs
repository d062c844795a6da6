//! The chats that belong to no worktree: of the terminal, about a ticket before its work begins, and about the
//! files of a run. Each resource is one file; what they share is here. What chats about a comment and about a
//! finding share is in [`subject`].

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

/// The history of a chat in the orchestrator directory. Blocks on the disk.
fn history_file(app: &App, name: &str, members: SessionMembers) -> Result<HistoryFile, HttpError> {
    let directory = app.settings.get().orchestrator_dir().ok_or_else(HttpError::not_configured)?;
    HistoryFile::in_orchestrator_dir(&app.sandbox, &directory, name, members)
        .map_err(|_| HttpError::directory_not_allowed())
}

/// Answers with the stored history, or with an empty one.
async fn read_history(
    app: App,
    name: String,
    members: SessionMembers,
    empty: ChatHistory,
) -> JsonResult<ChatHistory> {
    let history = spawn_blocking(move || {
        let stored = history_file(&app, &name, members)?.read().inspect_err(|error| {
            tracing::warn!(%error, "the history of a chat cannot be read");
        });
        Ok(stored.ok().flatten().unwrap_or(empty))
    });
    history.await?.map(Json)
}

/// Replaces the stored history by an empty one.
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

/// The base directory of the sandbox, where chats work that name no directory of their own; `None` when it is
/// not there. Blocks on the disk.
fn base_directory(app: &App) -> Option<SandboxedPath> {
    let base = app.sandbox.check(app.sandbox.base()?).ok()?;
    base.canonical().is_dir().then_some(base)
}
