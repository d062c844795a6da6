//! `/api/gateway/git*`: one file a resource. What git is asked, and what its answers mean, the
//! tools know.

pub(crate) mod action;
mod answers;
pub(crate) mod branches;
pub(crate) mod diff;
pub(crate) mod lookup;
pub(crate) mod worktree;
