//! The sub-commands as processes, the way prompts, hooks and the runtime start them.

#![expect(clippy::unwrap_used, reason = "what a test cannot go on without has failed it")]

mod debate;
mod limits;
mod loop_run;
mod plan_tools;
mod plugin;
mod real_assistant;
mod setup;
mod support;
