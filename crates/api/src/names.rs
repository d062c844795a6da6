//! Names of files, directories, headers and environment variables that several crates use.

/// Name of the state directory in the sandbox directory, in worktrees and in the user's home directory.
pub const STATE_DIR: &str = ".loopgate";
/// Work directory of a worktree, relative to the worktree's root.
pub const WORK_DIR: &str = ".loopgate/work";

/// Combined output of a loop's process, opened in append mode.
pub const LOOP_LOG: &str = "orchestrator-loop.log";
/// Combined output of a launched loop script, opened in append mode.
pub const LAUNCH_LOG: &str = "orchestrator-launch.log";
/// JSON event stream of the assistant for the current run.
pub const ASSISTANT_OUTPUT: &str = "assistant-output.jsonl";
/// File with the name of the stream file of a finished run; empty while a run starts.
pub const ASSISTANT_OUTPUT_NAME: &str = "assistant-output.name.txt";
/// Standard error of the assistant, as text.
pub const ASSISTANT_STDERR: &str = "assistant-stderr.log";
/// Exit record of the assistant run that commits, which earlier versions started.
pub const COMMIT_EXIT: &str = "commit-exit.json";
/// Exit record of the test run at the base of a loop.
pub const BASE_TESTS_EXIT: &str = "tests-base-exit.json";
/// Exit record of the test run with the loop's changes.
pub const HEAD_TESTS_EXIT: &str = "tests-head-exit.json";
/// Pid of the loop's process in decimal, without newline.
pub const PROCESS_PID: &str = "process.pid";
/// Start time of the process in [`PROCESS_PID`], in decimal milliseconds since the epoch.
pub const PROCESS_START: &str = "process.start";
/// Exit record of the loop's process, written by its shim.
pub const EXIT_FILE: &str = "exit.json";
/// Phase and status, written by the assistant's orchestrator.
pub const STATE_JSON: &str = "state.json";
/// Member of `state.json`: ISO 8601 time until which the loop waits for a usage limit of the assistant to
/// reset.
pub const WAITING_UNTIL: &str = "waitingUntil";
/// Structured plan, written by the assistant.
pub const PLAN_JSON: &str = "plan.json";
/// Plan as Markdown, written by the assistant.
pub const PLAN_MD: &str = "plan.md";
/// Markdown plan received from the control plane.
pub const IMPORTED_PLAN: &str = "imported-plan.md";
/// Requirements of the loop, as Markdown.
pub const PRD_MD: &str = "prd.md";
/// Unanswered questions of the assistant, as Markdown.
pub const OPEN_QUESTIONS: &str = "open-questions.md";
/// Result of a BOOTSTRAP loop.
pub const BOOTSTRAP_RESULT: &str = "bootstrap-result.json";
/// Comments of a review that an EXECUTE loop has to answer, written by the runtime.
pub const REVIEW_COMMENTS: &str = "review-comments.json";
/// Answers of the loop to the comments of [`REVIEW_COMMENTS`].
pub const REVIEW_ANSWERS: &str = "review-answers.json";
/// Directory with one file per message to the running loop that the assistant has not received. It exists only while there
/// are such messages, so that hooks need no more than its metadata.
pub const MESSAGES: &str = ".loopgate/messages";
/// Directory with one file per message that the assistant has received.
pub const DELIVERED_MESSAGES: &str = ".loopgate/messages-delivered";
/// Result of an EXECUTE loop.
pub const EXECUTION_RESULT: &str = "execution-result.json";
/// Failure message for the user, signed by the loop driver.
pub const LOOP_ERROR: &str = "loop-error.json";
/// Timing events of the loop, one JSON object per line.
pub const PERF_JSONL: &str = "perf.jsonl";
/// Directory with one file per tool call in flight.
pub const TOOL_CALLS: &str = ".tool-calls";
/// Session id of the assistant's run, as text.
pub const SESSION_ID: &str = "session-id.txt";
/// State file of the loop driver, in the worktree's state directory.
pub const LOOP_STATE: &str = "loopgate-loop.local.md";
/// Sessions of all tickets, in the orchestrator directory.
pub const SESSIONS_JSON: &str = "sessions.json";
/// Report of the judges about a ticket.
pub const JUDGES_JSON: &str = "judges.json";
/// Session of the reviewer's chat about a ticket.
pub const REVIEWER_CHAT: &str = "reviewer-chat.json";
/// Session of the reviewer's chat about the review of a ticket.
pub const REVIEWER_CHAT_REVIEW: &str = "reviewer-chat-review.json";
/// Details of a launch, shown by the status routes.
pub const LAUNCH_METADATA: &str = "launch-metadata.json";

/// Pull request templates of a repository, in the order in which GitHub searches them.
pub const PULL_REQUEST_TEMPLATES: [&str; 4] = [
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
    "pull_request_template.md",
];
/// Tags in an answer of the assistant around the texts of commit and pull request, in JSON.
pub const DELIVERY_TAGS: (&str, &str) = ("<delivery>", "</delivery>");

/// Ports of the gateway: the preferred one, then the fallbacks in order.
pub const GATEWAY_PORTS: [u16; 4] = [19432, 19433, 19434, 19435];
/// Preferred port of the embedded control plane and the web app.
pub const CONTROL_PLANE_PORT: u16 = 19440;

/// Prefix of all API keys, by which leaked keys are recognized.
pub const API_KEY_PREFIX: &str = "lgk_live_";
/// Header with the credential of the internal cloud executor.
pub const GATEWAY_TOKEN_HEADER: &str = "x-desktop-gateway-token";
/// Header with the credential of a browser session; requires an `Origin` header.
pub const SESSION_TOKEN_HEADER: &str = "x-desktop-session-token";
/// Header with the name of the caller; ignored without a valid gateway token.
pub const SOURCE_HEADER: &str = "x-desktop-source";
/// Header with the percent-encoded name of a user other than the owner of the desktop, for whom a request is
/// made; ignored without a valid gateway token.
pub const REQUESTER_HEADER: &str = "x-desktop-requester";
/// Header that requires interactive approval, whatever the policy, when `1` or `true`.
pub const FORCE_APPROVAL_HEADER: &str = "x-desktop-force-approval";
/// Header with the reason to display for a pending approval.
pub const APPROVAL_REASON_HEADER: &str = "x-desktop-approval-reason";
/// Header with the id of the command received over the link.
pub const COMMAND_ID_HEADER: &str = "x-desktop-command-id";
/// Header with the operation id given by the sender of a command over the link.
pub const OPERATION_ID_HEADER: &str = "x-desktop-operation-id";
/// Value of [`SOURCE_HEADER`] for requests received over the link.
pub const CLOUD_SOURCE: &str = "cloud-socket";
/// Proof-of-possession header with the gateway's id.
pub const POP_GATEWAY_HEADER: &str = "x-desktop-gateway-id";
/// Proof-of-possession header with the time of signing in Unix seconds.
pub const POP_TIMESTAMP_HEADER: &str = "x-desktop-timestamp";
/// Proof-of-possession header with the Ed25519 signature, base64url.
pub const POP_SIGNATURE_HEADER: &str = "x-desktop-signature";
/// Header with the idempotency key of a loop event, a UUID that is the same for all retries.
pub const EVENT_NONCE_HEADER: &str = "x-loop-event-nonce";

/// Environment variables of the processes of loops and deployments.
pub mod env {
    /// Absolute path of the loop's work directory.
    pub const WORKDIR: &str = "LOOPGATE_WORKDIR";
    /// Path of the imported plan; empty without one.
    pub const PLAN_FILE: &str = "LOOPGATE_PLAN_FILE";
    /// Name of the loop command, for example `PLAN`.
    pub const COMMAND: &str = "LOOPGATE_COMMAND";
    /// Provider that runs the loop, `assistant` or `reviewer`.
    pub const HARNESS: &str = "LOOPGATE_HARNESS";
    /// Path of the harness's executable.
    pub const HARNESS_BIN: &str = "LOOPGATE_HARNESS_BIN";
    /// Path of the assistant's executable.
    pub const ASSISTANT_BIN: &str = "LOOPGATE_ASSISTANT_BIN";
    /// Secret with which the loop driver signs a failure marker.
    pub const FAILURE_SECRET: &str = "LOOPGATE_USER_VISIBLE_FAILURE_SECRET";
    /// Peer worktrees, separated by `|`.
    pub const ADD_DIRS: &str = "LOOPGATE_ADD_DIRS";
    /// Short names of the peers, separated by `|`.
    pub const ADD_DIR_NAMES: &str = "LOOPGATE_ADD_DIR_NAMES";
    /// `name=path` of each peer, separated by `|`.
    pub const REPO_MAP: &str = "LOOPGATE_REPO_MAP";
    /// Plugin directory for the assistant's `--plugin-dir`; the driver uses the bundled plugins.
    pub const PLUGIN_DIR: &str = "LOOPGATE_PLUGIN_DIR";
    /// Setting sources for the assistant's `--setting-sources`; unset for all of them.
    pub const SETTING_SOURCES: &str = "LOOPGATE_SETTING_SOURCES";
    /// JSON list with patterns of instruction files that the assistant must not read; unset for none.
    pub const EXCLUDED_INSTRUCTIONS: &str = "LOOPGATE_EXCLUDED_INSTRUCTIONS";
    /// Id of the loop; identifies all descendants of its shim.
    pub const LOOP_ID: &str = "LOOPGATE_LOOP_ID";
    /// Id of the run of a deployment; identifies all processes that the run has started.
    pub const DEPLOY_ID: &str = "LOOPGATE_DEPLOY_ID";
    /// Whether loops wait until the assistant's usage limits reset: `true` or `false`.
    pub const WAIT_FOR_LIMITS: &str = "LOOPGATE_WAIT_FOR_LIMITS";
    /// Model of the assistant in loops that plan or implement.
    pub const LOOP_MODEL: &str = "LOOPGATE_LOOP_MODEL";
    /// Reasoning effort of the assistant in these loops.
    pub const LOOP_EFFORT: &str = "LOOPGATE_LOOP_EFFORT";
    /// Spending limit of a loop in US dollars, 0 for no limit.
    pub const MAX_SPEND_USD: &str = "LOOPGATE_MAX_SPEND_USD";
    /// Path of Loopgate's data directory.
    pub const HOME: &str = "LOOPGATE_HOME";
    /// Overrides the parent directory of worktrees.
    pub const WORKTREE_PARENT: &str = "ORCHESTRATOR_WORKTREE_PARENT_DIR";
}
