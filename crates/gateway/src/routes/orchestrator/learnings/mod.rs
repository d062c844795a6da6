//! `/api/gateway/orchestrator/*-learnings*`: what a ticket taught is extracted, processed, counted and used.

pub(crate) mod batch;
pub(crate) mod extraction;
pub(crate) mod processing;
pub(crate) mod uses;

use loopgate_home::SandboxedPath;
use loopgate_learnings::Worktree;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::approval::{At, Source};

/// Where bodies name what they are about.
const TICKET_MEMBERS: &[Source] = &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Body("ticketId"))];

/// Where the work that a request asks for stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = LearningsStartStatus)]
enum StartStatus {
    /// It runs in the background.
    Processing,
    /// It starts when the extraction has ended.
    Waiting,
    /// There is nothing to do.
    Skipped,
}

/// Why nothing starts while the settings say so.
const TURNED_OFF: &str = "Learnings are turned off in the settings";

/// Whether the person wants to learn from chats and loops.
fn is_enabled(app: &App) -> bool {
    app.settings.get().learnings_enabled
}

fn worktree(place: &SandboxedPath) -> Worktree {
    Worktree::new(place.canonical().to_owned())
}
