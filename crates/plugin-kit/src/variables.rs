//! Names of the environment variables that the loop's parts hand to each other.
//!
//! Those that the runtime sets too are named in `loopgate_api::names::env`.

pub use loopgate_api::names::env::{
    ADD_DIR_NAMES, ADD_DIRS, ASSISTANT_BIN, COMMAND, FAILURE_SECRET, MAX_SPEND_USD, PLAN_FILE, PLUGIN_DIR,
    REPO_MAP, SETTING_SOURCES, WAIT_FOR_LIMITS, WORKDIR,
};

/// Requirements file.
pub const PRD_FILE: &str = "LOOPGATE_PRD_FILE";
/// Iteration limit, 0 = none.
pub const MAX_ITERATIONS: &str = "LOOPGATE_MAX_ITERATIONS";
/// Prompt that the orchestrator reads.
pub const PROMPT_FILE: &str = "LOOPGATE_PROMPT_FILE";
/// Commit at which the loop began.
pub const START_SHA: &str = "LOOPGATE_START_SHA";
/// `true` when learnings are captured.
pub const SELF_LEARNING: &str = "LOOPGATE_SELF_LEARNING";
/// Id of the driver's run.
pub const RUN_ID: &str = "LOOPGATE_RUN_ID";
/// Number of the iteration, from 1.
pub const ITERATION: &str = "LOOPGATE_ITERATION";
/// Goal that learnings are judged by.
pub const ACTIVE_GOAL: &str = "LOOPGATE_ACTIVE_GOAL";
/// Assistant session of the last iteration.
pub const SESSION_ID: &str = "LOOPGATE_SESSION_ID";
/// `1` adds `run` events and the member `command` to the timing events.
pub const PERF_V2: &str = "LOOPGATE_PERF_V2";
/// How many review cycles follow a loop.
pub const REVIEW_CYCLES: &str = "POST_LOOP_REVIEW_CYCLES";
/// Time limit of one iteration, in milliseconds.
pub const ITERATION_TIMEOUT_MS: &str = "LOOPGATE_ITERATION_TIMEOUT_MS";
/// Pause between two iterations, in milliseconds; grows while iterations fail.
pub const ITERATION_PAUSE_MS: &str = "LOOPGATE_ITERATION_PAUSE_MS";
/// Root of the plugin, as the assistant names it.
pub const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// Session of the assistant that runs a command or a hook.
pub const ASSISTANT_SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// Path of this program, by which hooks call it.
pub const PROGRAM: &str = "LOOPGATE_BIN";
/// Process of the assistant that a hook was called by.
pub const ASSISTANT_PID: &str = "LOOPGATE_ASSISTANT_PID";

/// A variable as text; absent, empty and undecodable are all `None`.
pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
