//! What the record of a loop adds to the answers about its ticket or directory: where it stands,
//! and what it has used.

use std::path::Path;

use loopgate_api::ids::TicketId;
use loopgate_api::job::JobStatus;
use loopgate_api::spend::Spend;
use loopgate_runtime::Activity;
use loopgate_runtime::jobs::Job;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;

/// The loop that works, or worked last.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoopFacts {
    loop_id: String,
    command: &'static str,
    /// Where it stands at this moment.
    status: JobStatus,
    /// Its place among the loops that wait, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_place: Option<usize>,
    /// What it does while it runs: `working`, `waiting-for-model` or `stuck`, since when, and for which
    /// program it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    stillness: Option<Activity>,
    /// Tokens and money so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    spend: Option<Box<Spend>>,
}

impl LoopFacts {
    /// The loop of a ticket.
    pub(crate) async fn of_ticket(app: &App, ticket: &TicketId) -> Option<Self> {
        let jobs = app.runtime.as_ref()?.jobs.of_ticket(ticket).await.ok()?;
        Self::newest(app, jobs).await
    }

    /// The loop that works in a directory.
    pub(crate) async fn of_directory(app: &App, directory: &str) -> Option<Self> {
        let wanted = Some(Path::new(directory));
        let mut jobs = app.runtime.as_ref()?.jobs.list().await.ok()?;
        jobs.retain(|job| job.workspace.worktree_dir.as_deref().map(Path::new) == wanted);
        Self::newest(app, jobs).await
    }

    /// Living ones first, then the newest.
    async fn newest(app: &App, mut jobs: Vec<Job>) -> Option<Self> {
        jobs.sort_by_key(|job| job.status().is_terminal());
        let job = jobs.into_iter().next()?;
        let snapshot = app.runtime.as_ref()?.snapshots.of(job).await;
        Some(Self {
            loop_id: snapshot.job.id.to_string(),
            command: snapshot.job.command.as_str(),
            status: snapshot.job.status(),
            stillness: snapshot.activity,
            queue_place: snapshot.queue_place,
            spend: snapshot.job.transcript.spend,
        })
    }
}
