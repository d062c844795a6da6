//! Runs the sub-commands as processes, as prompts, hooks and the runtime do.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod bootstrap;
mod code_review;
mod debate;
mod evidence;
mod false_completion;
mod judges;
#[cfg(target_os = "linux")]
mod kills;
mod learning;
mod limits;
mod loop_run;
#[cfg(unix)]
mod messages;
#[cfg(unix)]
mod phases;
mod plan_tools;
mod plugin;
#[cfg(unix)]
mod progress;
mod real_assistant;
#[cfg(unix)]
mod reviews;
mod session_settings;
mod setup;
mod spending;
mod support;
mod tasks;
mod tokens;
mod work_check;
