//! Deterministic part of the plugins: everything that must not depend on a model following its prompt.
//!
//! Each public module is one group of sub-commands of `loopgate`: its arguments are a clap type with a `run`
//! method that returns an exit code. The loop driver owns the loop's files in the work directory. The prompts
//! and manifests are in the directory `plugins/` and embedded here. This crate neither serves HTTP nor
//! connects to the control plane.

pub mod agent_setup;
pub mod cache;
mod clock;
pub mod config_env;
mod console;
pub mod debate;
pub mod formatter;
pub mod hook;
pub mod judges;
pub mod loop_cancel;
pub mod loop_run;
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
