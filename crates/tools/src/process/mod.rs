//! Running programs: an argument list, a directory, an environment, limits, and a process group.
//!
//! Starts processes, collects their output, and terminates them together with all members of their group.
//! Never uses a shell, never signals a process without verifying that its pid was not reused, and never waits
//! for a pipe that only a grandchild keeps open.

mod command;
mod group;
mod identity;
mod lines;
mod output;
mod run;
mod stream;
pub(crate) mod table;
mod work;

pub use command::{Command, DetachedProcess, StartError, Stdin};
pub use group::{GroupKillOutcome, kill_group, kill_orphaned_group};
pub use identity::ProcessStart;
pub use lines::LineBuffer;
pub use output::{Limits, Output, ProcessStatus};
pub use stream::StreamOutcome;
pub use table::{alive, group_members, identity, processes_in};
pub use work::{ProcessTreeSample, sample_process_tree};
