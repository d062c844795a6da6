//! Reviews of a ticket's worktree: their runs, what they found, and what is made of it.
//!
//! A review is a run of [`loopgate_agents::AgentRuns`] whose state, log and findings are files in the worktree's
//! work directory. Nothing here knows of HTTP.

mod files;

pub use files::ReviewDirectory;
