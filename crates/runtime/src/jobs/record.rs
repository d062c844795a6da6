//! The parts of a job's record. The members of all parts lie side by side in the stored document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_api::launch::Committer;
use loopgate_api::names::{BASE_TESTS_EXIT, COMMIT_EXIT, EXIT_FILE, HEAD_TESTS_EXIT};
use loopgate_api::plan::TaskProgress;
use loopgate_api::spend::Spend;
use loopgate_api::test_evidence::TestEvidence;
use loopgate_home::expand_home;
use loopgate_tools::shim::Shims;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Job;
use super::{AwaitingUserSince, Notification};

/// A failure that the loop driver reported with its signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserVisibleFailure {
    /// Loop error code.
    pub code: String,
    /// For a person.
    pub message: String,
    /// `{"subcode": …}`.
    pub result: Map<String, Value>,
}

/// Which of a loop's processes the record speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessKind {
    /// The loop itself.
    #[default]
    Main,
    /// The assistant that commits its work.
    Commit,
    /// The repository's tests at the base.
    BaseTests,
    /// The repository's tests with the loop's work.
    HeadTests,
}

/// A process of the loop, under its shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessRecord {
    /// Which process.
    #[serde(rename = "stage")]
    pub kind: ProcessKind,
    /// Socket on which its shim answers.
    pub socket: String,
    /// File in which the shim writes how it ended.
    pub exit_file: String,
}

impl ProcessRecord {
    /// The record of a process of a loop that is about to be started.
    pub(crate) fn new(shims: &Shims, id: LoopId, kind: ProcessKind, work_dir: &Path) -> Self {
        let (name, exit) = match kind {
            ProcessKind::Main => ("main", EXIT_FILE),
            ProcessKind::Commit => ("commit", COMMIT_EXIT),
            ProcessKind::BaseTests => ("base-tests", BASE_TESTS_EXIT),
            ProcessKind::HeadTests => ("head-tests", HEAD_TESTS_EXIT),
        };
        Self {
            kind,
            socket: shims.socket(id.0, name).to_string_lossy().into_owned(),
            exit_file: work_dir.join(exit).to_string_lossy().into_owned(),
        }
    }
}

/// How far the delivery of an EXECUTE has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryStatus {
    /// Begun.
    Pending,
    /// Pushed, with a pull request.
    Success,
    /// Nothing was to be delivered.
    NoChanges,
    /// Not delivered.
    Error,
    /// Could not be looked at.
    Skipped,
}

impl DeliveryStatus {
    /// The name as it travels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Success => "success",
            Self::NoChanges => "no-changes",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// By which way an EXECUTE was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryPath {
    /// Nothing was done.
    #[default]
    None,
    /// A valid result was there.
    ArtifactExisting,
    /// The assistant committed.
    Llm,
    /// Git and the code host's command line.
    GitFallback,
}

impl DeliveryPath {
    /// The name as it travels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ArtifactExisting => "artifact-existing",
            Self::Llm => "llm",
            Self::GitFallback => "git-fallback",
        }
    }
}

/// Who finished a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinalizationSource {
    /// The process that had started it.
    LiveExit,
    /// A later process.
    BootRecovery,
    /// The control plane had timed it out.
    HeartbeatTerminal,
}

/// What of a file was read: which file, and up to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Device.
    pub device: u64,
    /// Inode.
    pub inode: u64,
}

/// The approval that a loop waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopApproval {
    /// Id to decide by.
    pub id: Uuid,
    /// What the owner types to approve.
    pub command: String,
    /// ISO 8601: until when the loop waits.
    pub waits_until: String,
}

/// An attempt to start a loop's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartAttempt {
    /// Nonce of its `started` event: however often it is sent, it counts once.
    pub nonce: Uuid,
    /// How often it was tried, from 1.
    pub tries: u32,
}

impl StartAttempt {
    /// The next try of a loop that has not begun, else the first one of a new run.
    #[must_use]
    pub fn after(previous: Option<&Job>) -> Self {
        let unbegun = previous.filter(|job| job.status() == JobStatus::Queued);
        match unbegun.and_then(|job| job.run.start_attempt) {
            Some(Self { nonce, tries }) => Self { nonce, tries: tries + 1 },
            None => Self { nonce: Uuid::new_v4(), tries: 1 },
        }
    }
}

/// Where a loop's timing events begin, and how far they were reported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PerfMark {
    /// The file; `None` before there was one.
    pub file: Option<FileIdentity>,
    /// Bytes of earlier runs.
    pub start: u64,
    /// Lines of earlier runs.
    pub lines: u64,
    /// Offset behind the last event that was reported.
    pub reported: u64,
    /// Tool calls that earlier runs left unfinished, by the names of their files.
    pub tool_calls: Vec<String>,
}

/// A peer repository, in which the loop works too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PeerWorktree {
    /// Its worktree.
    pub dir: String,
    /// Its clone.
    pub repo_path: String,
    /// Its name, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
    /// The branch that the loop starts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// The branch that the loop works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// HEAD before the loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_sha: Option<String>,
}

/// What was really started, cleaned of secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnMeta {
    /// Program.
    pub command: String,
    /// Its arguments, each cleaned.
    pub args: Vec<String>,
    /// Its directory.
    pub cwd: String,
    /// Executable of the harness.
    pub binary_path: String,
    /// Whether the harness's configuration directory is there.
    pub auth_files_exist: bool,
    /// Allow-listed variables.
    pub env_snapshot: std::collections::BTreeMap<String, String>,
}
/// What was asked, and where it waits until it is started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "each member is named in the job's documentation and by its use")]
pub struct LaunchRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_slug: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committer: Option<Committer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_app_origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_mcp_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_base_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s3_state_key: Option<String>,
    /// It was agreed on, and nothing was started for it here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub announced: bool,
    /// Its number among the loops that wait for a place; a smaller one is served first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_number: Option<i64>,
    /// The approval that it waits for, before it waits for a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<LoopApproval>,
}

/// Where a loop works.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "each member is named in the job's documentation and by its use")]
pub struct WorkspaceRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_repo_full_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_repo_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree_dir: Option<String>,
    /// The branch that the loop works on in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_dir: Option<String>,
    /// Peer repositories, until they are cleaned up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_worktree_dirs: Vec<PeerWorktree>,
    /// The directory that goes with the loop, until it is gone.
    #[serde(rename = "passingDir", skip_serializing_if = "Option::is_none")]
    pub temp_dir: Option<String>,
    /// What the tracked files of a review's worktree were before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed_state: Option<String>,
    /// HEAD of the worktree before the loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_sha: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jsonl_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_path: Option<String>,
}

/// The process of a loop: how it was started, how it is found again, how it ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "each member is named in the job's documentation and by its use")]
pub struct RunRecord {
    /// The process that is under way, or was the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_started_at: Option<u64>,
    /// When the process was started, milliseconds since the epoch by the clock of the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawned_at: Option<u64>,
    /// How often its process was tried to be started; several processes of Loopgate may be needed.
    #[serde(rename = "beginning", skip_serializing_if = "Option::is_none")]
    pub start_attempt: Option<StartAttempt>,
    /// Executable of the assistant, for the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant_path: Option<String>,
    /// For diagnostics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn_meta: Option<SpawnMeta>,
    /// Name of the repository that a failure marker must be signed for, sealed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed_failure_secret: Option<String>,
    /// What its driver is started again with, sealed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed_driver_launch: Option<String>,
    /// How often its driver was started again.
    #[serde(skip_serializing_if = "is_zero_u32")]
    pub driver_restarts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<String>,
    /// Whether a person stopped its process, rather than cancelled the loop.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped_by_person: bool,
}

/// How far the output of a loop was read, and what it used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "each member is named in the job's documentation and by its use")]
pub struct TranscriptRecord {
    /// The stream that `last_observed_jsonl_offset` counts in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_file: Option<FileIdentity>,
    /// Where this run's part of that stream begins.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub stream_start: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_observed_jsonl_offset: Option<u64>,
    /// What of its timing events is reported; absent when its program writes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<Box<PerfMark>>,
    /// Tokens and money so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spend: Option<Box<Spend>>,
}

/// Progress of a loop for the user, and pending notifications.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "each member is named in the job's documentation and by its use")]
pub struct ProgressRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_activity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_progress: Option<TaskProgress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_visible_loop_failure: Option<UserVisibleFailure>,
    /// Notifications that were not sent yet.
    #[serde(rename = "notices", skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<Notification>,
    /// Since when it waits for its person, as they were notified last.
    #[serde(rename = "standstill", skip_serializing_if = "Option::is_none")]
    pub awaiting_user_since: Option<AwaitingUserSince>,
}

/// Which parts of the end of a loop are stored and known to the control plane.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "each member is named in the job's documentation and by its use")]
pub struct ReportRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifacts_uploaded_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_event_posted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support_bundle_uploaded_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_status_persisted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_finalized_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_recovery_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalization_source: Option<FinalizationSource>,
}

/// The delivery of an EXECUTE.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryRecord {
    /// How far it is.
    #[serde(rename = "executeFinalizationStatus")]
    pub status: DeliveryStatus,
    /// When it began, ISO 8601.
    #[serde(rename = "executeFinalizationStartedAt")]
    pub started_at: String,
    /// Whether a result lay there before.
    #[serde(rename = "executeFinalizationPreExecutionResultPresent")]
    pub result_before: bool,
    /// Whether a text for the pull request lay there before.
    #[serde(rename = "executeFinalizationPrePrBodyPresent")]
    pub pr_body_before: bool,
    /// What the tests of each delivered repository say, by its name.
    #[serde(rename = "testEvidence", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tests: BTreeMap<String, TestEvidence>,
    /// The run of tests that is under way, until its worktree is removed.
    #[serde(rename = "testRun", default, skip_serializing_if = "Option::is_none")]
    pub test_run: Option<TestRunRecord>,
    /// How it ended.
    #[serde(flatten)]
    pub completion: Option<DeliveryCompletion>,
}

/// A run of a repository's tests in a worktree of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestRunRecord {
    /// The worktree.
    pub worktree: PathBuf,
    /// The clone that it belongs to.
    pub repository: PathBuf,
    /// The commit that is checked out.
    pub commit: String,
    /// When it was started, milliseconds since the epoch.
    pub started_ms: i64,
}

/// The end of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryCompletion {
    /// By which way it was delivered.
    #[serde(rename = "executeFinalizationPath")]
    pub path: DeliveryPath,
    /// Why it was not, or not all of it.
    #[serde(rename = "executeFinalizationReason", default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it ended, ISO 8601.
    #[serde(rename = "executeFinalizationCompletedAt")]
    pub completed_at: String,
    /// Whether a result is there.
    #[serde(rename = "executeFinalizationPostExecutionResultPresent")]
    pub result_after: bool,
    /// Whether a text for the pull request is there.
    #[serde(rename = "executeFinalizationPostPrBodyPresent")]
    pub pr_body_after: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero_u32(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero_u64(count: &u64) -> bool {
    *count == 0
}

impl WorkspaceRecord {
    /// Every directory that the loop works in, and the clones that they belong to.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        let own = [&self.repo_path, &self.local_repo_path, &self.worktree_dir].into_iter().flatten();
        let peers = self.additional_worktree_dirs.iter().flat_map(|peer| [&peer.dir, &peer.repo_path]);
        own.chain(peers).map(|path| expand_home(path)).collect()
    }
}
