//! Parts of a job's record. All parts are flattened into one stored JSON document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_api::launch::Committer;
use loopgate_api::names::{BASE_TESTS_EXIT, COMMIT_EXIT, EXIT_FILE, HEAD_TESTS_EXIT};
use loopgate_api::plan::{PlanTasks, TaskProgress};
use loopgate_api::spend::Spend;
use loopgate_api::test_evidence::TestEvidence;
use loopgate_api::undelivered::EarlyPush;
use loopgate_home::expand_home;
use loopgate_tools::shim::Shims;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Job;
use super::{AwaitingUserSince, Notification};

/// A failure that the loop driver reported with a valid signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserVisibleFailure {
    pub code: String,
    /// Message for the user, redacted.
    pub message: String,
    /// JSON object with the member `subcode`.
    pub result: Map<String, Value>,
}

/// Kind of a process of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessKind {
    /// The driver or assistant of the loop.
    #[default]
    Main,
    /// An assistant that commits the work. Earlier versions started it, so that a job may contain it after an
    /// upgrade.
    Commit,
    /// The repository's tests at the base commit.
    BaseTests,
    /// The repository's tests with the loop's changes.
    HeadTests,
}

/// A process of a loop under its shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessRecord {
    #[serde(rename = "stage")]
    pub kind: ProcessKind,
    /// Unix socket of the shim.
    pub socket: String,
    /// File to which the shim writes the exit status.
    pub exit_file: String,
}

impl ProcessRecord {
    /// Creates the record of a process that is about to be started.
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

/// Progress of the delivery of an EXECUTE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryStatus {
    /// The delivery has started.
    Pending,
    /// Pushed, with a pull request.
    Success,
    /// Pushed; the pull request waits for an approval.
    Held,
    /// There were no changes to deliver.
    NoChanges,
    /// The delivery failed or is incomplete.
    Error,
    /// The repository could not be examined.
    Skipped,
}

impl DeliveryStatus {
    /// Returns the name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Success => "success",
            Self::Held => "held",
            Self::NoChanges => "no-changes",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// The way in which an EXECUTE was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryPath {
    /// No delivery took place.
    #[default]
    None,
    /// A valid result file already existed.
    ArtifactExisting,
    /// With the texts that the assistant wrote.
    Llm,
    /// With generated texts.
    GitFallback,
}

impl DeliveryPath {
    /// Returns the name on the wire.
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

/// The trigger of a job's finalization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinalizationSource {
    /// The process that launched the loop observed its exit.
    LiveExit,
    /// A later process recovered the loop.
    BootRecovery,
    /// The control plane had timed the loop out.
    HeartbeatTerminal,
}

/// Identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
}

/// The approval that a launch waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopApproval {
    /// Id that the decision refers to.
    pub id: Uuid,
    /// Command line that approves the launch.
    pub command: String,
    /// End of the wait, ISO 8601.
    pub waits_until: String,
}

/// An attempt to start a loop's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartAttempt {
    /// Nonce of the `started` event. All attempts share it, so that the event counts once.
    pub nonce: Uuid,
    /// Number of attempts, from 1.
    pub tries: u32,
}

impl StartAttempt {
    /// Returns the next attempt of a requeued loop, or the first attempt of a new run.
    #[must_use]
    pub fn after(previous: Option<&Job>) -> Self {
        let requeued = previous.filter(|job| job.status() == JobStatus::Queued);
        match requeued.and_then(|job| job.run.start_attempt) {
            Some(Self { nonce, tries }) => Self { nonce, tries: tries + 1 },
            None => Self { nonce: Uuid::new_v4(), tries: 1 },
        }
    }
}

/// Where the timing events of a run begin, and how far they are reported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PerfMark {
    /// The file; `None` before it exists.
    pub file: Option<FileIdentity>,
    /// Bytes that earlier runs wrote.
    pub start: u64,
    /// Lines that earlier runs wrote.
    pub lines: u64,
    /// Offset after the last reported event.
    pub reported: u64,
    /// File names of the tool calls that earlier runs left unfinished.
    pub tool_calls: Vec<String>,
}

/// A peer repository of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PeerWorktree {
    pub dir: String,
    pub repo_path: String,
    /// Full name (`owner/name`), when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
    /// Branch from which the loop starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// Branch on which the loop works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// HEAD before the loop started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_sha: Option<String>,
    /// Further state before the loop started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartState>,
}

/// State of a worktree before its loop started. The delivery compares it with the state afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartState {
    /// Number of entries in the reflog of HEAD.
    pub head_moves: usize,
    /// Whether HEAD had commits that are neither on a remote nor on a branch of the user.
    pub has_unpushed_commits: bool,
}

/// The process as it was started, redacted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnMeta {
    pub command: String,
    /// Arguments, each of them redacted.
    pub args: Vec<String>,
    pub cwd: String,
    /// Executable of the harness.
    pub binary_path: String,
    /// Whether the harness's configuration directory exists.
    pub auth_files_exist: bool,
    /// Allow-listed variables of the environment.
    pub env_snapshot: std::collections::BTreeMap<String, String>,
}

/// The launch request, and its position in the queue until the loop is started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
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
    /// Whether the delivery stops before the pull request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hold_pull_request: bool,
    /// Commits by repository that a person has approved: the loop only delivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_commits: Option<BTreeMap<String, String>>,
    /// Numbers of the review comments that the loop has to answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub review_comments: Vec<u32>,
    /// Whether the loop is agreed on with the control plane but was never started here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub announced: bool,
    /// Position in the launch queue; the smallest number is launched first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_number: Option<i64>,
    /// Approval that the loop waits for before it enters the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<LoopApproval>,
}

/// Directories, branches and repositories of a loop.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
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
    /// Branch of the worktree on which the loop works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_dir: Option<String>,
    /// Peer repositories, until their worktrees are cleaned up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_worktree_dirs: Vec<PeerWorktree>,
    /// Temporary directory of the loop, until it is removed.
    #[serde(rename = "tempDir", alias = "passingDir", skip_serializing_if = "Option::is_none")]
    pub temp_dir: Option<String>,
    /// State of the tracked files in a review's worktree before the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed_state: Option<String>,
    /// Id of the review's session, which names the directory of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_session: Option<String>,
    /// HEAD of the worktree before the loop started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_sha: Option<String>,
    /// Further state of the worktree before the loop started.
    #[serde(rename = "startState", skip_serializing_if = "Option::is_none")]
    pub start: Option<StartState>,
    /// Tasks of the plan before an EXECUTE started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_tasks: Option<Box<PlanTasks>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jsonl_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_path: Option<String>,
}

/// The process of a loop: how it was started, how to find it, and how it ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunRecord {
    /// The current process, or the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_started_at: Option<u64>,
    /// Start of the process, milliseconds since the epoch by the clock of the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawned_at: Option<u64>,
    /// Attempts to start the process, counted across restarts of Loopgate.
    #[serde(rename = "startAttempt", alias = "beginning", skip_serializing_if = "Option::is_none")]
    pub start_attempt: Option<StartAttempt>,
    /// Executable of the assistant, for the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn_meta: Option<SpawnMeta>,
    /// Sealed secret with which the driver signs failure markers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed_failure_secret: Option<String>,
    /// Sealed parameters for restarts of the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed_driver_launch: Option<String>,
    /// Number of restarts of the driver.
    #[serde(skip_serializing_if = "is_zero_u32")]
    pub driver_restarts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<String>,
    /// Whether the user stopped the process without cancelling the loop.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped_by_person: bool,
}

/// How far the output of a loop was read, and its token spend.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TranscriptRecord {
    /// Stream to which `last_observed_jsonl_offset` refers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_file: Option<FileIdentity>,
    /// Offset at which this run's part of the stream begins.
    #[serde(skip_serializing_if = "is_zero_u64")]
    pub stream_start: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_observed_jsonl_offset: Option<u64>,
    /// Reported part of the timing events; absent when the program writes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perf: Option<Box<PerfMark>>,
    /// Tokens and cost so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spend: Option<Box<Spend>>,
    /// Messages of the user whose delivery to the assistant is reported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delivered_messages: Vec<Uuid>,
}

/// Progress of a loop for the user, and pending notifications.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
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
    /// Notifications that are not sent yet.
    #[serde(rename = "notifications", alias = "notices", skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<Notification>,
    /// The last wait for the user that caused a notification.
    #[serde(rename = "awaitingUserSince", alias = "standstill", skip_serializing_if = "Option::is_none")]
    pub awaiting_user_since: Option<AwaitingUserSince>,
}

/// Progress of the finalization, and of its reports to the control plane.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
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
    #[serde(rename = "executeFinalizationStatus")]
    pub status: DeliveryStatus,
    /// Start of the delivery, ISO 8601.
    #[serde(rename = "executeFinalizationStartedAt")]
    pub started_at: String,
    /// Whether a result file existed before.
    #[serde(rename = "executeFinalizationPreExecutionResultPresent")]
    pub result_before: bool,
    /// Whether a pull request body existed before.
    #[serde(rename = "executeFinalizationPrePrBodyPresent")]
    pub pr_body_before: bool,
    /// Test evidence of each delivered repository, by full name.
    #[serde(rename = "testEvidence", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tests: BTreeMap<String, TestEvidence>,
    /// Commits that were pushed before the delivery, by full name of the repository; recorded once, before the first
    /// push of the delivery.
    #[serde(rename = "earlyPushes", default, skip_serializing_if = "Option::is_none")]
    pub early_pushes: Option<BTreeMap<String, Vec<EarlyPush>>>,
    /// Test run in progress, until its worktree is removed.
    #[serde(rename = "testRun", default, skip_serializing_if = "Option::is_none")]
    pub test_run: Option<TestRunRecord>,
    /// Outcome, once the delivery has ended.
    #[serde(flatten)]
    pub completion: Option<DeliveryCompletion>,
}

/// A run of a repository's tests in a separate worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestRunRecord {
    pub worktree: PathBuf,
    /// Clone that owns the worktree.
    pub repository: PathBuf,
    /// Commit that is checked out.
    pub commit: String,
    /// Start, milliseconds since the epoch.
    pub started_ms: i64,
}

/// The outcome of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryCompletion {
    /// How the work was delivered.
    #[serde(rename = "executeFinalizationPath")]
    pub path: DeliveryPath,
    /// Why the delivery failed or is incomplete.
    #[serde(rename = "executeFinalizationReason", default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// End of the delivery, ISO 8601.
    #[serde(rename = "executeFinalizationCompletedAt")]
    pub completed_at: String,
    /// Whether a result file exists afterwards.
    #[serde(rename = "executeFinalizationPostExecutionResultPresent")]
    pub result_after: bool,
    /// Whether a pull request body exists afterwards.
    #[serde(rename = "executeFinalizationPostPrBodyPresent")]
    pub pr_body_after: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "signature required by serde")]
const fn is_zero_u32(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "signature required by serde")]
const fn is_zero_u64(count: &u64) -> bool {
    *count == 0
}

impl WorkspaceRecord {
    /// Returns all directories that the loop works in, and their clones.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        let own = [&self.repo_path, &self.local_repo_path, &self.worktree_dir].into_iter().flatten();
        let peers = self.additional_worktree_dirs.iter().flat_map(|peer| [&peer.dir, &peer.repo_path]);
        own.chain(peers).map(expand_home).collect()
    }
}
