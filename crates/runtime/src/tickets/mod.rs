//! Operations on tickets outside the job queue: loop scripts, plans that a page confirms, and commit
//! messages. Also reads the state, logs, plan and judges' report in a ticket's worktree and combines them
//! with the record of its loop.

mod agents;
pub(crate) mod commit_text;
mod files;
mod judges;
mod last_lines;
pub(crate) mod launch;
pub(crate) mod learning_programs;
mod line_counts;
mod logs;
mod loop_summary;
mod plan;
pub(crate) mod plan_loop;
mod state;
mod status;
mod stopped;

pub use files::TicketFiles;
pub use judges::JudgesError;
pub use line_counts::LineCounts;
pub use loop_summary::{loop_of_directory, loop_of_ticket, worktrees_of_ticket};
pub use stopped::PidError;
