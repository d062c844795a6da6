//! `/api/gateway/git*`: one file per resource. `loopgate_tools` runs git and interprets its output.

pub(crate) mod action;
mod answers;
pub(crate) mod branches;
pub(crate) mod diff;
pub(crate) mod lookup;
pub(crate) mod worktree;
