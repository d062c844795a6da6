//! Names of files, directories, headers and variables that more than one room reads or writes.
//!
//! Each name is here once; runtime, gateway, plugins and tests share it.

/// Name of the state directory: below the sandbox base, a worktree and the user's home.
pub const STATE_DIR: &str = ".loopgate";
/// Work directory of a worktree, relative to the worktree's root.
pub const WORK_DIR: &str = ".loopgate/work";

/// Combined output of a loop's process, append mode.
pub const LOOP_LOG: &str = "orchestrator-loop.log";
/// Combined output of a launched loop script, append mode.
pub const LAUNCH_LOG: &str = "orchestrator-launch.log";
/// JSON event stream of the assistant for the current run.
pub const ASSISTANT_OUTPUT: &str = "assistant-output.jsonl";
/// Names the renamed stream of a finished run; empty while a run starts.
pub const ASSISTANT_OUTPUT_NAME: &str = "assistant-output.name.txt";
/// Standard error of the assistant.
pub const ASSISTANT_STDERR: &str = "assistant-stderr.log";
/// Stream of the assistant that commits.
pub const COMMIT_OUTPUT: &str = "commit-output.jsonl";
/// How the assistant that commits ended.
pub const COMMIT_EXIT: &str = "commit-exit.json";
/// How the tests at the base of a loop ended.
pub const BASE_TESTS_EXIT: &str = "tests-base-exit.json";
/// How the tests with the work of a loop ended.
pub const HEAD_TESTS_EXIT: &str = "tests-head-exit.json";
/// Decimal pid of the loop's process, no newline.
pub const PROCESS_PID: &str = "process.pid";
/// Start time of the process in `process.pid`, decimal milliseconds since the epoch.
pub const PROCESS_START: &str = "process.start";
/// How the loop's process ended, written by its shim.
pub const EXIT_FILE: &str = "exit.json";
/// Phase and status that the assistant's orchestrator keeps.
pub const STATE_JSON: &str = "state.json";
/// Member of `state.json`: the time, ISO 8601, until which the loop waits for the end of a limit of the assistant.
pub const WAITING_UNTIL: &str = "waitingUntil";
/// The plan.
pub const PLAN_JSON: &str = "plan.json";
/// The plan as markdown.
pub const PLAN_MD: &str = "plan.md";
/// Markdown plan handed in from the control plane.
pub const IMPORTED_PLAN: &str = "imported-plan.md";
/// Requirements of the loop.
pub const PRD_MD: &str = "prd.md";
/// Questions that the assistant left open.
pub const OPEN_QUESTIONS: &str = "open-questions.md";
/// Result of a BOOTSTRAP.
pub const BOOTSTRAP_RESULT: &str = "bootstrap-result.json";
/// Result of an EXECUTE.
pub const EXECUTION_RESULT: &str = "execution-result.json";
/// User-visible failure that the loop driver signed.
pub const LOOP_ERROR: &str = "loop-error.json";
/// Timing events.
pub const PERF_JSONL: &str = "perf.jsonl";
/// Tool calls that are under way, a file each.
pub const TOOL_CALLS: &str = ".tool-calls";
/// Session id of the assistant's run.
pub const SESSION_ID: &str = "session-id.txt";
/// State file of the loop driver, in the worktree's state directory.
pub const LOOP_STATE: &str = "loopgate-loop.local.md";
/// The sessions of tickets, in the orchestrator directory.
pub const SESSIONS_JSON: &str = "sessions.json";
/// What the judges of a ticket said.
pub const JUDGES_JSON: &str = "judges.json";
/// The reviewer's session about a ticket, and the one of its review.
pub const REVIEWER_CHAT: &str = "reviewer-chat.json";
/// See [`REVIEWER_CHAT`].
pub const REVIEWER_CHAT_REVIEW: &str = "reviewer-chat-review.json";
/// Facts about a launch that status readers show.
pub const LAUNCH_METADATA: &str = "launch-metadata.json";

/// Port that the gateway prefers, then its fallbacks, in order.
pub const GATEWAY_PORTS: [u16; 4] = [19432, 19433, 19434, 19435];
/// Port that the embedded control plane and the web app prefer.
pub const CONTROL_PLANE_PORT: u16 = 19440;

/// Beginning of every API key.
pub const API_KEY_PREFIX: &str = "lgk_live_";
/// Credential of the internal cloud executor.
pub const GATEWAY_TOKEN_HEADER: &str = "x-desktop-gateway-token";
/// Credential of a browser session; goes together with `Origin`.
pub const SESSION_TOKEN_HEADER: &str = "x-desktop-session-token";
/// Names the caller; honoured only beside a valid gateway token.
pub const SOURCE_HEADER: &str = "x-desktop-source";
/// `1` or `true` asks for interactive approval whatever the policy.
pub const FORCE_APPROVAL_HEADER: &str = "x-desktop-force-approval";
/// Reason shown beside a held request.
pub const APPROVAL_REASON_HEADER: &str = "x-desktop-approval-reason";
/// Id of the relayed command.
pub const COMMAND_ID_HEADER: &str = "x-desktop-command-id";
/// Operation id that the sender of a relayed command gave.
pub const OPERATION_ID_HEADER: &str = "x-desktop-operation-id";
/// Value of [`SOURCE_HEADER`] for requests that came over the link.
pub const CLOUD_SOURCE: &str = "cloud-socket";
/// Proof of possession: the gateway's id.
pub const POP_GATEWAY_HEADER: &str = "x-desktop-gateway-id";
/// Proof of possession: Unix seconds.
pub const POP_TIMESTAMP_HEADER: &str = "x-desktop-timestamp";
/// Proof of possession: Ed25519 signature, base64url.
pub const POP_SIGNATURE_HEADER: &str = "x-desktop-signature";
/// UUID of a loop event, the same in every attempt to send it.
pub const EVENT_NONCE_HEADER: &str = "x-loop-event-nonce";

/// Variables given to a loop's processes.
pub mod env {
    /// Work directory.
    pub const WORKDIR: &str = "LOOPGATE_WORKDIR";
    /// Path of the imported plan, or empty.
    pub const PLAN_FILE: &str = "LOOPGATE_PLAN_FILE";
    /// Exact command name, for example `PLAN`.
    pub const COMMAND: &str = "LOOPGATE_COMMAND";
    /// `assistant` or `reviewer`.
    pub const HARNESS: &str = "LOOPGATE_HARNESS";
    /// Resolved executable of the harness.
    pub const HARNESS_BIN: &str = "LOOPGATE_HARNESS_BIN";
    /// Resolved executable of the assistant.
    pub const ASSISTANT_BIN: &str = "LOOPGATE_ASSISTANT_BIN";
    /// Key with which the loop driver signs a user-visible failure.
    pub const FAILURE_SECRET: &str = "LOOPGATE_USER_VISIBLE_FAILURE_SECRET";
    /// Peer worktrees joined by `|`.
    pub const ADD_DIRS: &str = "LOOPGATE_ADD_DIRS";
    /// Short names of the peers joined by `|`.
    pub const ADD_DIR_NAMES: &str = "LOOPGATE_ADD_DIR_NAMES";
    /// `name=path` of the peers joined by `|`.
    pub const REPO_MAP: &str = "LOOPGATE_REPO_MAP";
    /// Directory of a plugin that the assistant loads with `--plugin-dir`; ours, for the driver.
    pub const PLUGIN_DIR: &str = "LOOPGATE_PLUGIN_DIR";
    /// Whose settings the assistant follows, as its `--setting-sources` names them; every one's when
    /// it is not set.
    pub const SETTING_SOURCES: &str = "LOOPGATE_SETTING_SOURCES";
    /// Id of the loop; marks every descendant of its shim.
    pub const LOOP_ID: &str = "LOOPGATE_LOOP_ID";
    /// Whether loops wait for the end of the assistant's limits: `true` or `false`.
    pub const WAIT_FOR_LIMITS: &str = "LOOPGATE_WAIT_FOR_LIMITS";
    /// US dollars that a loop may spend, 0 for no limit.
    pub const MAX_SPEND_USD: &str = "LOOPGATE_MAX_SPEND_USD";
    /// Data directory.
    pub const HOME: &str = "LOOPGATE_HOME";
    /// Overrides the parent directory of worktrees.
    pub const WORKTREE_PARENT: &str = "ORCHESTRATOR_WORKTREE_PARENT_DIR";
}
