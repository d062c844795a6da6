//! What is done about a ticket outside of the job queue: its loop script, plans that a page agrees on, and
//! the text of a commit. And what its worktree says: state, logs, plan and judges' report, read from its
//! files, with what the record of its loop adds.

mod agents;
pub(crate) mod commit_text;
mod files;
mod judges;
mod last_lines;
pub(crate) mod launch;
pub(crate) mod learning_programs;
mod logs;
mod loop_summary;
mod plan;
pub(crate) mod plan_loop;
mod state;
mod status;
mod stopped;

pub use files::TicketFiles;
pub use judges::JudgesError;
pub use loop_summary::{loop_of_directory, loop_of_ticket, worktrees_of_ticket};
pub use stopped::PidError;
