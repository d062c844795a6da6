//! How extraction, processing and the batch stand, in files that clients poll.
//!
//! Each is replaced in one step. A file that cannot be read counts as none, and work that nobody does any
//! more as failed, so that no client waits for ever.

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
pub(crate) const INTERRUPTED: &str = "It was interrupted; start it again";

/// Where some work stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = LearningsState)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Never started.
    #[default]
    None,
    /// Starts when the extraction has ended.
    Waiting,
    /// Goes on.
    Processing,
    /// Done.
    Completed,
    /// Failed.
    Error,
}

/// How the extraction from a ticket's chat stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LearningsExtractionStatus, example = json!({"status": "completed", "ticketId": "AB-1", "activeTab": "chat", "timestamp": "2030-01-01T00:00:00.000Z", "count": 2}))]
pub struct ExtractionStatus {
    /// Where it stands.
    pub status: State,
    /// Ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<String>,
    /// Tab of the page that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_tab: Option<String>,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub timestamp: Option<Timestamp>,
    /// New learnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How the processing of a worktree's learnings stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LearningsProcessingStatus, example = json!({"status": "completed", "timestamp": "2030-01-01T00:00:00.000Z", "processed": 3}))]
pub struct ProcessingStatus {
    /// Where it stands.
    pub status: State,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub timestamp: Option<Timestamp>,
    /// Why it failed, or what was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Learnings that were processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed: Option<usize>,
}

/// How the processing of all worktrees stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LearningsBatchStatus, example = json!({"status": "processing", "worktreeCount": 3, "totalPending": 7, "processedWorktrees": 1, "startedAt": "2030-01-01T00:00:00.000Z"}))]
pub struct BatchStatus {
    /// Where it stands.
    pub status: State,
    /// Worktrees with pending learnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_count: Option<usize>,
    /// Their pending learnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_pending: Option<usize>,
    /// Worktrees that are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed_worktrees: Option<usize>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "milliseconds")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<Timestamp>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Writes a time as JavaScript does, with three digits of a second.
#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn milliseconds<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| format!("{time:.3}")).serialize(serializer)
}

/// A status file of a work directory.
pub(crate) trait StatusFile: Serialize + DeserializeOwned + Default {
    const NAME: &'static str;
    /// How long the work may take that it tells of.
    const LONGEST: Duration;

    fn since(&self) -> Option<Timestamp>;
    fn is_open(&self) -> bool;
    fn failed(message: &str) -> Self;

    /// Never started, when there is no file that can be read. `at_work` says whether this process works on it.
    fn read(work_dir: &Path, at_work: bool) -> Self {
        let path = work_dir.join(LEARNINGS_DIR).join(Self::NAME);
        let read: Self = untrusted::read_json(&path).unwrap_or_default();
        let age = read.since().map(|since| Timestamp::now().duration_since(since).unsigned_abs());
        let stale = read.is_open() && !at_work && age.is_none_or(|age| age > Self::LONGEST);
        if stale { Self::failed(INTERRUPTED) } else { read }
    }

    fn write(&self, work_dir: &Path) -> io::Result<()> {
        let path = work_dir.join(LEARNINGS_DIR).join(Self::NAME);
        untrusted::write_private(&path, &serde_json::to_vec(self)?)
    }

    /// As [`Self::write`]; a failure is logged, because nobody waits for it.
    fn note(&self, work_dir: &Path) {
        if let Err(error) = self.write(work_dir) {
            tracing::warn!(%error, file = Self::NAME, "a status of learnings cannot be written");
        }
    }
}

impl StatusFile for ExtractionStatus {
    const NAME: &'static str = EXTRACTION;
    const LONGEST: Duration = Duration::from_secs(115);

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
    /// The end of what this status tells of.
    pub(crate) fn ended(&self, status: State, message: Option<String>) -> Self {
        let (ticket_id, active_tab) = (self.ticket_id.clone(), self.active_tab.clone());
        Self { count: Some(0), ticket_id, active_tab, ..Self::at(status, message) }
    }

    pub(crate) fn at(status: State, message: Option<String>) -> Self {
        Self { status, timestamp: Some(Timestamp::now()), message, ..Self::default() }
    }

    /// Never started.
    #[must_use]
    pub fn none() -> Self {
        Self { count: Some(0), ..Self::default() }
    }
}

impl StatusFile for ProcessingStatus {
    const NAME: &'static str = PROCESSING;
    const LONGEST: Duration = Duration::from_secs(16 * 60);

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
