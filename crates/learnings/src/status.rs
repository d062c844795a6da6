//! Status files of extraction, processing and batch, which clients poll.
//!
//! Files are replaced atomically. An unreadable file counts as absent, and interrupted work counts as
//! failed, so that clients do not poll forever.

use std::io;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use loopgate_home::untrusted;
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

/// A status file in a work directory.
pub(crate) trait StatusFile: Serialize + DeserializeOwned + Default {
    const NAME: &'static str;
    /// Maximum duration of the job; an older unfinished status is stale.
    const MAX_DURATION: Duration;

    fn since(&self) -> Option<Timestamp>;
    fn is_open(&self) -> bool;
    fn failed(message: &str) -> Self;

    /// Reads the status; an absent or unreadable file means that no job was started. `at_work` is whether
    /// this process runs the job.
    fn read(work_dir: &Path, at_work: bool) -> Self {
        let path = work_dir.join(LEARNINGS_DIR).join(Self::NAME);
        let status: Self = untrusted::read_json(&path).unwrap_or_default();
        let age = status.since().map(|since| Timestamp::now().duration_since(since).unsigned_abs());
        // After a restart, or when the script was killed, the file still has an unfinished state. There is no
        // pid in it, so its age decides.
        let stale = status.is_open() && !at_work && age.is_none_or(|age| age > Self::MAX_DURATION);
        if stale { Self::failed(INTERRUPTED) } else { status }
    }

    fn write(&self, work_dir: &Path) -> io::Result<()> {
        let path = work_dir.join(LEARNINGS_DIR).join(Self::NAME);
        untrusted::write_private(&path, &serde_json::to_vec(self)?)
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

    fn failed(message: &str) -> Self {
        Self::at(State::Error, Some(message.to_owned()))
    }
}

impl ProcessingStatus {
    pub(crate) fn at(status: State, message: Option<String>) -> Self {
        Self { status, timestamp: Some(Timestamp::now()), message, ..Self::default() }
    }
}
