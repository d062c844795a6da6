//! A checkout whose learnings are worked on.

use std::path::PathBuf;

use loopgate_api::names::WORK_DIR;

/// A checkout, and its work directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Root of the checkout.
    pub root: PathBuf,
    /// `.loopgate/work` in it.
    pub work_dir: PathBuf,
}

impl Worktree {
    /// The checkout with this root.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        let work_dir = root.join(WORK_DIR);
        Self { root, work_dir }
    }
}
