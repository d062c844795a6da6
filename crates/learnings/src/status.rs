//! Status files of extraction, processing and batch, which clients poll.
//!
//! Files are replaced atomically. An unreadable file counts as absent. Unfinished work whose process has exited counts
//! as failed, so that clients do not poll forever.

use std::io;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use loopgate_home::untrusted;
use loopgate_tools::process::{self, ProcessStart};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use crate::pending::LEARNINGS_DIR;

const EXTRACTION: &str = "chat-extraction-status.json";
const PROCESSING: &str = "processing-status.json";
pub(crate) const INTERRUPTED: &str = "Interrupted before completion; start it again";

/// State of a learnings job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = LearningsState)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No job was ever started.
    #[default]
    None,
    /// Starts after the running extraction has ended.
    Waiting,
    /// The job is running now.
    Processing,
    /// The job finished successfully.
    Completed,
    /// The job failed; see the message.
    Error,
}

/// Status of the extraction from a ticket's chat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LearningsExtractionStatus, example = json!({"status": "completed", "ticketId": "AB-1", "activeTab": "chat", "timestamp": "2030-01-01T00:00:00.000Z", "count": 2}))]
pub struct ExtractionStatus {
    /// State of the extraction.
    pub status: State,
    /// Id of the ticket; absent before the first extraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<String>,
    /// Tab of the page that requested the extraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_tab: Option<String>,
    /// Time of the last state change, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub timestamp: Option<Timestamp>,
    /// Number of extracted learnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Error message for the user; absent unless the extraction failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Status of the processing of a worktree's learnings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LearningsProcessingStatus, example = json!({"status": "completed", "timestamp": "2030-01-01T00:00:00.000Z", "processed": 3}))]
pub struct ProcessingStatus {
    /// State of the processing.
    pub status: State,
    /// Time of the last state change, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub timestamp: Option<Timestamp>,
    /// Error message, or a summary of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Number of processed learnings; absent while running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed: Option<usize>,
}

/// Status of the processing of all worktrees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LearningsBatchStatus, example = json!({"status": "processing", "worktreeCount": 3, "totalPending": 7, "processedWorktrees": 1, "startedAt": "2030-01-01T00:00:00.000Z"}))]
pub struct BatchStatus {
    /// State of the batch.
    pub status: State,
    /// Number of worktrees with pending learnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_count: Option<usize>,
    /// Number of pending learnings in all worktrees at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_pending: Option<usize>,
    /// Number of worktrees that are finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed_worktrees: Option<usize>,
    /// Time of the start, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// Time of the end, ISO 8601; absent while running.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<Timestamp>,
    /// Error message for the user; absent unless the batch failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Serializes a time with milliseconds, like JavaScript's `toISOString`.
#[expect(clippy::ref_option, reason = "signature required by serde")]
fn milliseconds<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| format!("{time:.3}")).serialize(serializer)
}

/// Content of a status file: the status, and the process that does the work while it is unfinished.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnedStatus<S> {
    #[serde(flatten)]
    pub(crate) status: S,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Start time of the process, because pids are reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid_started: Option<ProcessStart>,
}

impl<S> OwnedStatus<S> {
    /// Creates the content of a file. Unfinished work belongs to this process.
    pub(crate) fn new(status: S, is_open: bool) -> Self {
        let pid = is_open.then(std::process::id);
        Self { status, pid, pid_started: pid.and_then(process::identity) }
    }

    /// Returns whether the owner is running, or `None` if the file names none, as files of other programs do.
    /// `at_work` is whether this process does the work.
    pub(crate) fn is_owner_running(&self, at_work: bool) -> Option<bool> {
        match (self.pid?, self.pid_started) {
            (pid, _) if pid == std::process::id() => Some(at_work),
            (pid, Some(started)) => Some(process::alive(pid, started)),
            (_, None) => None,
        }
    }
}

/// A status file in a work directory.
pub(crate) trait StatusFile: Serialize + DeserializeOwned + Default {
    const NAME: &'static str;
    /// Maximum duration of the job; an older unfinished status without an owner is stale.
    const MAX_DURATION: Duration;

    fn since(&self) -> Option<Timestamp>;
    fn is_open(&self) -> bool;
    /// Returns whether this process will start the work later, so that it does not run a job yet.
    fn is_waiting(&self) -> bool;
    fn failed(message: &str) -> Self;

    /// Reads the status; an absent or unreadable file means that no job was started. `at_work` is whether
    /// this process runs the job.
    fn read(work_dir: &Path, at_work: bool) -> Self {
        let path = work_dir.join(LEARNINGS_DIR).join(Self::NAME);
        let file: OwnedStatus<Self> = untrusted::read_json(&path).unwrap_or_default();
        let age = file.status.since().map(|since| Timestamp::now().duration_since(since).unsigned_abs());
        let is_young = age.is_some_and(|age| age <= Self::MAX_DURATION);
        // After a crash, or when the script was killed, the file still has an unfinished state.
        let is_running = at_work || file.is_owner_running(file.status.is_waiting()).unwrap_or(is_young);
        if file.status.is_open() && !is_running { Self::failed(INTERRUPTED) } else { file.status }
    }

    fn write(&self, work_dir: &Path) -> io::Result<()> {
        let path = work_dir.join(LEARNINGS_DIR).join(Self::NAME);
        untrusted::write_private(&path, &serde_json::to_vec(&OwnedStatus::new(self, self.is_open()))?)
    }

    /// Like [`Self::write`], but logs errors, for callers that cannot return them.
    fn write_or_log(&self, work_dir: &Path) {
        if let Err(error) = self.write(work_dir) {
            tracing::warn!(%error, file = Self::NAME, "failed to write status of learnings");
        }
    }
}

impl StatusFile for ExtractionStatus {
    const NAME: &'static str = EXTRACTION;
    // The assistant's timeout of 110 seconds, plus time to write the result.
    const MAX_DURATION: Duration = Duration::from_secs(115);

    fn since(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn is_open(&self) -> bool {
        self.status == State::Processing
    }

    fn is_waiting(&self) -> bool {
        false
    }

    fn failed(message: &str) -> Self {
        Self { count: Some(0), ..Self::at(State::Error, Some(message.to_owned())) }
    }
}

impl ExtractionStatus {
    /// Returns the final status of the extraction that this status describes.
    pub(crate) fn ended(&self, status: State, message: Option<String>) -> Self {
        let (ticket_id, active_tab) = (self.ticket_id.clone(), self.active_tab.clone());
        Self { count: Some(0), ticket_id, active_tab, ..Self::at(status, message) }
    }

    pub(crate) fn at(status: State, message: Option<String>) -> Self {
        Self { status, timestamp: Some(Timestamp::now()), message, ..Self::default() }
    }

    /// Returns the status before the first extraction.
    #[must_use]
    pub fn none() -> Self {
        Self { count: Some(0), ..Self::default() }
    }
}

impl StatusFile for ProcessingStatus {
    const NAME: &'static str = PROCESSING;
    // The script's timeout of 15 minutes, plus time to terminate it.
    const MAX_DURATION: Duration = Duration::from_secs(16 * 60);

    fn since(&self) -> Option<Timestamp> {
        self.timestamp
    }

    fn is_open(&self) -> bool {
        matches!(self.status, State::Processing | State::Waiting)
    }

    fn is_waiting(&self) -> bool {
        self.status == State::Waiting
    }

    fn failed(message: &str) -> Self {
        Self::at(State::Error, Some(message.to_owned()))
    }
}

impl ProcessingStatus {
    pub(crate) fn at(status: State, message: Option<String>) -> Self {
        Self { status, timestamp: Some(Timestamp::now()), message, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(status: serde_json::Value) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LEARNINGS_DIR).join(PROCESSING);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, status.to_string()).unwrap();
        dir
    }

    fn state(dir: &tempfile::TempDir, at_work: bool) -> State {
        ProcessingStatus::read(dir.path(), at_work).status
    }

    #[test]
    fn unfinished_work_of_an_exited_process_is_interrupted_at_once() {
        let now = Timestamp::now();
        // Pid 1 with another start time: the recorded process has exited.
        let dead = json!({"status": "processing", "timestamp": now, "pid": 1, "pidStarted": 1});
        assert_eq!(state(&written(dead.clone()), false), State::Error);
        assert_eq!(state(&written(dead), true), State::Processing, "the result is not written yet");
        let started = process::identity(1).unwrap();
        let alive = json!({"status": "processing", "timestamp": "2020-01-01T00:00:00Z", "pid": 1, "pidStarted": started});
        assert_eq!(state(&written(alive), false), State::Processing);
        // Files of other programs name no process.
        assert_eq!(
            state(&written(json!({"status": "processing", "timestamp": now})), false),
            State::Processing
        );
        let old = json!({"status": "processing", "timestamp": "2020-01-01T00:00:00Z"});
        assert_eq!(state(&written(old), false), State::Error);
    }

    #[test]
    fn work_of_this_process_needs_a_job_unless_it_waits() {
        let dir = written(json!({}));
        for (state_written, without_job) in
            [(State::Processing, State::Error), (State::Waiting, State::Waiting)]
        {
            ProcessingStatus::at(state_written, None).write(dir.path()).unwrap();
            assert_eq!(state(&dir, true), state_written);
            assert_eq!(state(&dir, false), without_job);
        }
        ProcessingStatus::at(State::Completed, None).write(dir.path()).unwrap();
        let text = std::fs::read_to_string(dir.path().join(LEARNINGS_DIR).join(PROCESSING)).unwrap();
        assert!(!text.contains("pid"), "{text}");
    }
}
