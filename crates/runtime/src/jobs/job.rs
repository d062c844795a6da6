//! The desktop's record of a loop: its request, workspace and process, and the state of its finalization.
//!
//! The record survives crashes. It contains everything that a later process needs to find the loop's process,
//! to finish its work and to report it once, but never the runner token.

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
    pub id: LoopId,
    /// Always `ORCHESTRATOR_LOOP`; part of the stored format.
    pub kind: String,
    /// Always equal to `id`; part of the stored format.
    pub loop_id: LoopId,
    pub command: LoopCommand,
    /// Changed by [`Job::apply`] only, along the transition table.
    status: JobStatus,
    /// Time of acceptance, ISO 8601.
    pub started_at: String,
    /// Time of the last change, ISO 8601.
    pub updated_at: String,
    #[serde(flatten)]
    pub launch: LaunchRecord,
    #[serde(flatten)]
    pub workspace: WorkspaceRecord,
    #[serde(flatten)]
    pub run: RunRecord,
    /// How far its output was read, and its token spend.
    #[serde(flatten)]
    pub transcript: TranscriptRecord,
    /// Progress and pending notifications.
    #[serde(flatten)]
    pub progress: ProgressRecord,
    /// Delivery of an EXECUTE, once it has started.
    #[serde(flatten)]
    pub delivery: Option<DeliveryRecord>,
    /// Progress of the finalization and of its reports.
    #[serde(flatten)]
    pub report: ReportRecord,
}

impl Job {
    /// Creates the record of a request that was just accepted.
    #[must_use]
    pub fn starting(id: LoopId, command: LoopCommand) -> Self {
        Self::new(id, command, JobStatus::Starting)
    }

    /// Creates the record of a loop in the queue.
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

    #[must_use]
    pub const fn status(&self) -> JobStatus {
        self.status
    }

    /// Applies an event to the status.
    ///
    /// # Errors
    /// Fails with [`InvalidTransition`] when the current status does not allow the event. The job is then
    /// unchanged.
    pub fn apply(&mut self, event: JobEvent) -> Result<(), InvalidTransition> {
        self.status = lifecycle::next(Some(self.status), event)?;
        Ok(())
    }

    /// Adds a warning unless it is already present.
    pub fn warn(&mut self, code: &str) {
        let mut codes = self.warnings();
        if !codes.iter().any(|existing| existing == code) {
            codes.push(code.to_owned());
            self.progress.warning = Some(codes.join("; "));
        }
    }

    /// Returns the warnings in order of insertion.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let text = self.progress.warning.as_deref().unwrap_or_default();
        text.split("; ").filter(|code| !code.is_empty()).map(str::to_owned).collect()
    }

    /// Returns when the process of this run was started. Comparable with modification times, however coarse,
    /// because both come from the clock of the file system.
    #[must_use]
    pub fn spawned(&self) -> Option<SystemTime> {
        self.run.spawned_at.map(|at| SystemTime::UNIX_EPOCH + Duration::from_millis(at))
    }

    /// Returns whether the user cancelled the loop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.status, JobStatus::CancelPending | JobStatus::Cancelled)
    }

    /// Returns whether the loop was only announced: agreed on with the control plane, but not started here.
    #[must_use]
    pub const fn is_announced_only(&self) -> bool {
        self.launch.announced && self.run.process.is_none() && !self.status.is_terminal()
    }

    /// Returns whether a launch may replace the record.
    #[must_use]
    pub fn can_be_restarted(&self) -> bool {
        self.status.is_terminal() || (self.is_announced_only() && !self.is_cancelled())
    }

    /// Returns whether directories of the loop still have to be removed.
    #[must_use]
    pub fn needs_cleanup(&self) -> bool {
        self.workspace.temp_dir.is_some()
            || !self.workspace.additional_worktree_dirs.is_empty()
            || self.test_run().is_some()
    }

    /// Returns the test run whose worktree is not removed yet.
    #[must_use]
    pub fn test_run(&self) -> Option<&TestRunRecord> {
        self.delivery.as_ref()?.test_run.as_ref()
    }

    /// Returns the directory of the run's files.
    pub(crate) fn work_dir(&self) -> PathBuf {
        PathBuf::from(self.workspace.work_dir.as_deref().unwrap_or_default())
    }

    /// Restores markers that are set only once: a writer with an older copy must not unset them.
    pub(crate) fn keep_markers_of(&mut self, before: &Self) {
        let restore = |now: &mut Option<String>, then: &Option<String>| {
            if then.is_some() {
                now.clone_from(then);
            }
        };
        let (now, then) = (&mut self.report, &before.report);
        restore(&mut now.artifacts_uploaded_at, &then.artifacts_uploaded_at);
        restore(&mut now.completed_event_posted_at, &then.completed_event_posted_at);
        restore(&mut now.support_bundle_uploaded_at, &then.support_bundle_uploaded_at);
        restore(&mut now.final_status_persisted_at, &then.final_status_persisted_at);
        restore(&mut now.cloud_finalized_at, &then.cloud_finalized_at);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// A record with every member, as written by version 0.13.18.
    const EVERY_MEMBER: &str = include_str!("job_0_13_18.json");

    #[test]
    fn record_of_an_earlier_version_is_read_without_loss() {
        let mut document: Value = serde_json::from_str(EVERY_MEMBER).unwrap();
        let job: Job = serde_json::from_value(document.clone()).unwrap();
        // Members that have another name since then; both are read.
        let renamed = [
            ("passingDir", "tempDir"),
            ("beginning", "startAttempt"),
            ("notices", "notifications"),
            ("standstill", "awaitingUserSince"),
        ];
        let members = document.as_object_mut().unwrap();
        for (old, new) in renamed {
            let value = members.remove(old).unwrap();
            members.insert(new.to_owned(), value);
        }
        assert_eq!(serde_json::to_value(&job).unwrap(), document);
        let delivery = job.delivery.unwrap();
        assert_eq!(delivery.status, crate::jobs::DeliveryStatus::Success);
        assert!(delivery.completion.unwrap().result_after);
        assert_eq!(job.transcript.stream_start, 12);
    }

    #[test]
    fn record_without_optional_members_is_read_without_loss() {
        let job = Job::waiting(LoopId(uuid::Uuid::nil()), LoopCommand::Plan);
        let document = serde_json::to_value(&job).unwrap();
        assert_eq!(document.as_object().unwrap().len(), 7, "{document}");
        assert_eq!(serde_json::from_value::<Job>(document).unwrap(), job);
    }
}
