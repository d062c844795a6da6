//! The deterministic half of the plugins: what the prompts would otherwise have to be trusted with.
//!
//! Each public module is one group of sub-commands of `loopgate`: its arguments are a clap type with
//! a `run` that answers an exit code. The loop driver owns the loop's files in the work directory;
//! the prompts and manifests themselves are in the folder `plugins/`, embedded here. Nothing in this
//! crate serves HTTP or talks to the control plane.

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
