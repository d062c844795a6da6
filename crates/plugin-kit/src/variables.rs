//! Names of the environment variables that parts of a loop pass to each other.
//!
//! Those that the runtime also sets are defined in `loopgate_api::names::env`.

pub use loopgate_api::names::env::{
    ADD_DIR_NAMES, ADD_DIRS, ASSISTANT_BIN, COMMAND, EXCLUDED_INSTRUCTIONS, FAILURE_SECRET, LOOP_EFFORT,
    LOOP_MODEL, MAX_SPEND_USD, PLAN_FILE, PLUGIN_DIR, REPO_MAP, SETTING_SOURCES, WAIT_FOR_LIMITS, WORKDIR,
};

/// Path of the requirements file.
pub const PRD_FILE: &str = "LOOPGATE_PRD_FILE";
/// Iteration limit; 0 = no limit.
pub const MAX_ITERATIONS: &str = "LOOPGATE_MAX_ITERATIONS";
/// Path of the prompt that the orchestrator follows.
pub const PROMPT_FILE: &str = "LOOPGATE_PROMPT_FILE";
/// Commit checked out at the start of the loop.
pub const START_SHA: &str = "LOOPGATE_START_SHA";
/// `true` when learnings are captured.
pub const SELF_LEARNING: &str = "LOOPGATE_SELF_LEARNING";
/// Owner and name of the repository whose learnings the loop uses and records; only set by the driver, and only if the loop
/// learns.
pub const LEARNINGS_REPO: &str = "LOOPGATE_LEARNINGS_REPO";
/// Id of the driver's run.
pub const RUN_ID: &str = "LOOPGATE_RUN_ID";
/// Number of the iteration, starting at 1.
pub const ITERATION: &str = "LOOPGATE_ITERATION";
/// Goal against which learnings are evaluated.
pub const ACTIVE_GOAL: &str = "LOOPGATE_ACTIVE_GOAL";
/// Assistant session of the last iteration.
pub const SESSION_ID: &str = "LOOPGATE_SESSION_ID";
/// `1` adds `run` events and the member `command` to the timing events.
pub const PERF_V2: &str = "LOOPGATE_PERF_V2";
/// Maximum number of review cycles after a loop.
pub const REVIEW_CYCLES: &str = "POST_LOOP_REVIEW_CYCLES";
/// Time limit of one iteration, in milliseconds.
pub const ITERATION_TIMEOUT_MS: &str = "LOOPGATE_ITERATION_TIMEOUT_MS";
/// Pause between two iterations, in milliseconds; grows after failures.
pub const ITERATION_PAUSE_MS: &str = "LOOPGATE_ITERATION_PAUSE_MS";
/// Root directory of the plugin, set by the assistant.
pub const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// Directory in which the session was started, set by the assistant for its hooks.
pub const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// Id of the session, set by the assistant for its commands and hooks.
pub const ASSISTANT_SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// Path of this executable, with which hooks call it.
pub const PROGRAM: &str = "LOOPGATE_BIN";
/// File in which the hook of a session's start records that hooks run; set by the driver.
pub const HOOK_RECORD: &str = "LOOPGATE_HOOK_RECORD";

/// Directory of the messages that the session has to receive; set by the driver for its iterations.
pub const MESSAGES: &str = "LOOPGATE_MESSAGES";

/// Id of a run of a test command; identifies the processes that the command started.
pub const TEST_RUN: &str = "LOOPGATE_TEST_RUN";

/// Returns a variable as text. `None` when it is unset, empty or not valid Unicode.
pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
