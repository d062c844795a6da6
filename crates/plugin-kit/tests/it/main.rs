//! The sub-commands as processes, the way prompts, hooks and the runtime start them.

#![expect(clippy::unwrap_used, reason = "what a test cannot go on without has failed it")]

mod debate;
#[cfg(target_os = "linux")]
mod kills;
mod limits;
mod loop_run;
#[cfg(unix)]
mod phases;
mod plan_tools;
mod plugin;
#[cfg(unix)]
mod progress;
mod real_assistant;
#[cfg(unix)]
mod reviews;
mod setup;
mod spending;
mod support;
mod tasks;
