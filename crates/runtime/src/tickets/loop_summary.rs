//! Summaries of loops for responses about a ticket or directory: status, activity, queue position and token
//! spend.

use std::path::{Path, PathBuf};

use loopgate_api::ids::TicketId;
use loopgate_api::ticket::LoopSummary;

use crate::jobs::{Job, Jobs};
use crate::snapshot::{Snapshot, Snapshots};

/// Returns the latest loop of a ticket.
pub async fn loop_of_ticket(jobs: &Jobs, snapshots: &Snapshots, ticket: &TicketId) -> Option<LoopSummary> {
    latest(snapshots, jobs.of_ticket(ticket).await.ok()?).await
}

/// Returns the latest loop that works or worked in a directory.
pub async fn loop_of_directory(jobs: &Jobs, snapshots: &Snapshots, directory: &str) -> Option<LoopSummary> {
    let path = Some(Path::new(directory));
    let mut jobs = jobs.list().await.ok()?;
    jobs.retain(|job| job.workspace.worktree_dir.as_deref().map(Path::new) == path);
    latest(snapshots, jobs).await
}

/// Returns the worktrees that a ticket's jobs name: those of active jobs first, then the newest.
pub async fn worktrees_of_ticket(jobs: &Jobs, ticket: &TicketId) -> Vec<PathBuf> {
    let mut jobs = jobs.of_ticket(ticket).await.unwrap_or_default();
    jobs.sort_by_key(|job| job.status().is_terminal());
    jobs.into_iter().filter_map(|job| job.workspace.worktree_dir.map(PathBuf::from)).collect()
}

/// Returns an active job if there is one, otherwise the newest.
async fn latest(snapshots: &Snapshots, mut jobs: Vec<Job>) -> Option<LoopSummary> {
    jobs.sort_by_key(|job| job.status().is_terminal());
    Some(snapshots.of(jobs.into_iter().next()?).await.into())
}

impl From<Snapshot> for LoopSummary {
    fn from(snapshot: Snapshot) -> Self {
        Self {
            loop_id: snapshot.job.id.to_string(),
            command: snapshot.job.command.as_str(),
            status: snapshot.job.status(),
            stall: snapshot.activity.and_then(|activity| serde_json::to_value(activity).ok()),
            queue_place: snapshot.queue_place,
            spend: snapshot.job.transcript.spend,
        }
    }
}
