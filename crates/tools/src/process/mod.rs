//! The one way to run a program: an argument list, a directory, an environment, limits, a group.
//!
//! Owns starting processes, collecting what they print, and ending them together with everything
//! they started in their group. Never uses a shell, never signals a process that it cannot tell
//! from a later one with the same pid, and never waits for a pipe that only a grandchild holds.

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
pub use output::{Limits, Output, RunStatus};
pub use stream::StreamOutcome;
pub use table::{alive, identity, processes_in};
pub use work::{TreeWork, tree_work};
