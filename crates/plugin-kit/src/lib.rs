#![doc = include_str!("../README.md")]

pub mod agent_setup;
pub mod bootstrap;
pub mod cache;
mod clock;
pub mod code_review;
mod command_line;
pub mod config_env;
mod console;
pub mod debate;
pub mod formatter;
pub mod hook;
pub mod judges;
pub mod learning_session;
pub mod loop_cancel;
pub mod loop_run;
mod messages;
mod model_calls;
mod perf;
pub mod perf_summary;
pub mod plan;
pub mod plugin_files;
pub mod plugins;
mod project_git;
mod quoting;
pub mod repositories;
pub mod setup;
mod variables;

pub use plugins::Plugins;
