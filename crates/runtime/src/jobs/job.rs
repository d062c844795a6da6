//! The desktop's record of a loop: what was asked, where it runs, how far its ending has come.
//!
//! The record is what survives. Everything that a later process needs to find the loop's process
//! again, to finish its work and to report it once is here; the runner token never does.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use loopgate_api::command::LoopCommand;
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use serde::{Deserialize, Serialize};

use super::record::{
    DeliveryRecord, LaunchRecord, ProgressRecord, ReportRecord, RunRecord, TestRunRecord, TranscriptRecord,
    WorkspaceRecord,
};
use crate::jobs::lifecycle::{self, InvalidTransition, JobEvent};

/// The record of one loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The loop's id.
    pub id: LoopId,
    /// `ORCHESTRATOR_LOOP`.
    pub kind: String,
    /// The loop's id.
    pub loop_id: LoopId,
    /// What it does.
    pub command: LoopCommand,
    /// Where it stands; changed by [`Job::apply`] alone.
    status: JobStatus,
    /// When it was accepted, ISO 8601.
    pub started_at: String,
    /// Last change, ISO 8601.
    pub updated_at: String,
    /// What was asked.
    #[serde(flatten)]
    pub launch: LaunchRecord,
    /// Where it works.
    #[serde(flatten)]
    pub workspace: WorkspaceRecord,
    /// Its process.
    #[serde(flatten)]
    pub run: RunRecord,
    /// How far its output was read.
    #[serde(flatten)]
    pub transcript: TranscriptRecord,
    /// Progress shown while it runs.
    #[serde(flatten)]
    pub progress: ProgressRecord,
    /// The delivery of an EXECUTE, once it began.
    #[serde(flatten)]
    pub delivery: Option<DeliveryRecord>,
    /// What the control plane knows of its end.
    #[serde(flatten)]
    pub report: ReportRecord,
}

impl Job {
    /// A record for a request that was just accepted.
    #[must_use]
    pub fn starting(id: LoopId, command: LoopCommand) -> Self {
        Self::new(id, command, JobStatus::Starting)
    }

    /// A record for a loop that waits for its turn.
    #[must_use]
    pub fn waiting(id: LoopId, command: LoopCommand) -> Self {
        Self::new(id, command, JobStatus::Queued)
    }

    fn new(id: LoopId, command: LoopCommand, status: JobStatus) -> Self {
        let now = loopgate_api::time::now_iso();
        Self {
            id,
            kind: "ORCHESTRATOR_LOOP".to_owned(),
            loop_id: id,
            command,
            status,
            started_at: now.clone(),
            updated_at: now,
            launch: LaunchRecord::default(),
            workspace: WorkspaceRecord::default(),
            run: RunRecord::default(),
            transcript: TranscriptRecord::default(),
            progress: ProgressRecord::default(),
            delivery: None,
            report: ReportRecord::default(),
        }
    }

    /// Its status.
    #[must_use]
    pub const fn status(&self) -> JobStatus {
        self.status
    }

    /// Lets something happen to it.
    ///
    /// # Errors
    /// [`InvalidTransition`] when it cannot happen now; the job is then unchanged.
    pub fn apply(&mut self, event: JobEvent) -> Result<(), InvalidTransition> {
        self.status = lifecycle::next(Some(self.status), event)?;
        Ok(())
    }

    /// Adds a warning once.
    pub fn warn(&mut self, code: &str) {
        let mut codes = self.warnings();
        if !codes.iter().any(|known| known == code) {
            codes.push(code.to_owned());
            self.progress.warning = Some(codes.join("; "));
        }
    }

    /// The warnings, in the order in which they were added.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let text = self.progress.warning.as_deref().unwrap_or_default();
        text.split("; ").filter(|code| !code.is_empty()).map(str::to_owned).collect()
    }

    /// When the process of this run was started. A file that was written later is of this run: the
    /// times of both are by the same clock, however coarse.
    #[must_use]
    pub fn spawned(&self) -> Option<SystemTime> {
        self.run.spawned_at.map(|at| SystemTime::UNIX_EPOCH + Duration::from_millis(at))
    }

    /// Whether a person asked the loop to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.status, JobStatus::CancelPending | JobStatus::Cancelled)
    }

    /// Whether it stands for a loop that was agreed on and has not been started here.
    #[must_use]
    pub const fn is_announced_only(&self) -> bool {
        self.launch.announced && self.run.process.is_none() && !self.status.is_terminal()
    }

    /// Whether a start may take the record over.
    #[must_use]
    pub fn may_be_started(&self) -> bool {
        self.status.is_terminal() || (self.is_announced_only() && !self.is_cancelled())
    }

    /// Whether directories go with it that are still there.
    #[must_use]
    pub fn needs_cleanup(&self) -> bool {
        self.workspace.temp_dir.is_some()
            || !self.workspace.additional_worktree_dirs.is_empty()
            || self.test_run().is_some()
    }

    /// The run of a repository's tests whose worktree is not removed yet.
    #[must_use]
    pub fn test_run(&self) -> Option<&TestRunRecord> {
        self.delivery.as_ref()?.test_run.as_ref()
    }

    /// Directory of the run's files.
    pub(crate) fn work_dir(&self) -> PathBuf {
        PathBuf::from(self.workspace.work_dir.as_deref().unwrap_or_default())
    }

    /// Keeps what was set once: a later writer with an older copy cannot take it back.
    pub(crate) fn keep_markers_of(&mut self, before: &Self) {
        let once = |now: &mut Option<String>, then: &Option<String>| {
            if then.is_some() {
                now.clone_from(then);
            }
        };
        let (now, then) = (&mut self.report, &before.report);
        once(&mut now.artifacts_uploaded_at, &then.artifacts_uploaded_at);
        once(&mut now.completed_event_posted_at, &then.completed_event_posted_at);
        once(&mut now.support_bundle_uploaded_at, &then.support_bundle_uploaded_at);
        once(&mut now.final_status_persisted_at, &then.final_status_persisted_at);
        once(&mut now.cloud_finalized_at, &then.cloud_finalized_at);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// A record with every member, as version 0.13.18 wrote it.
    const EVERY_MEMBER: &str = include_str!("job_0_13_18.json");

    #[test]
    fn record_of_an_earlier_version_is_read_without_loss() {
        let written: Value = serde_json::from_str(EVERY_MEMBER).unwrap();
        let job: Job = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&job).unwrap(), written);
        let delivery = job.delivery.unwrap();
        assert_eq!(delivery.status, crate::jobs::DeliveryStatus::Success);
        assert!(delivery.completion.unwrap().result_after);
        assert_eq!(job.transcript.stream_start, 12);
    }

    #[test]
    fn record_without_optional_members_is_read_without_loss() {
        let job = Job::waiting(LoopId(uuid::Uuid::nil()), LoopCommand::Plan);
        let written = serde_json::to_value(&job).unwrap();
        assert_eq!(written.as_object().unwrap().len(), 7, "{written}");
        assert_eq!(serde_json::from_value::<Job>(written).unwrap(), job);
    }
}
