//! `/api/gateway/orchestrator/*-learnings*`: extraction, processing, counting and use of learnings.

pub(crate) mod batch;
pub(crate) mod extraction;
pub(crate) mod processing;
pub(crate) mod uses;

use loopgate_home::SandboxedPath;
use loopgate_learnings::LearningCheckout;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::approval::{At, Source};

/// Body members that name the directories of a request.
const TICKET_MEMBERS: &[Source] = &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Body("ticketId"))];

/// State of the work after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = LearningsStartStatus)]
enum StartStatus {
    /// The work runs in the background.
    Processing,
    /// The work starts when the running extraction finishes.
    Waiting,
    /// There is nothing to do.
    Skipped,
}

/// `reason` while learnings are disabled.
const DISABLED: &str = "Learnings are disabled in the settings";

/// Whether learnings are enabled in the settings.
fn is_enabled(app: &App) -> bool {
    app.settings.get().learnings_enabled
}

fn worktree(place: &SandboxedPath) -> LearningCheckout {
    LearningCheckout::new(place.canonical().to_owned())
}
