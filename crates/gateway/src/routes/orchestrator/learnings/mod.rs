//! `/api/gateway/orchestrator/*-learnings*`: what a ticket taught is extracted, processed, counted and used.

pub(crate) mod batch;
pub(crate) mod extraction;
pub(crate) mod processing;
pub(crate) mod uses;

use loopgate_home::SandboxedPath;
use loopgate_learnings::Worktree;
use serde::Serialize;
use utoipa::ToSchema;

use crate::approval::{At, Source};

/// Where bodies name what they are about.
const TICKET_MEMBERS: &[Source] = &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Body("ticketId"))];

/// Where the work that a request asks for stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum StartStatus {
    /// It runs in the background.
    Processing,
    /// It starts when the extraction has ended.
    Waiting,
    /// There is nothing to do.
    Skipped,
}

fn worktree(place: &SandboxedPath) -> Worktree {
    Worktree::new(place.canonical().to_owned())
}
