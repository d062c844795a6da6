//! `/api/gateway/git*`: one file per resource. `loopgate_tools` runs git and interprets its output.

pub(crate) mod action;
mod answers;
pub(crate) mod branches;
mod change_list;
mod comment_lines;
pub(crate) mod diff;
pub(crate) mod lookup;
pub(crate) mod loop_changes;
pub(crate) mod preview;
pub(crate) mod worktree;
