//! The checkout whose learnings are processed.

use std::path::PathBuf;

use loopgate_api::names::WORK_DIR;

/// A checkout with its work directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningCheckout {
    /// Root directory of the checkout.
    pub root: PathBuf,
    /// Its work directory, `.loopgate/work`.
    pub work_dir: PathBuf,
}

impl LearningCheckout {
    /// Creates the value for the checkout with this root.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        let work_dir = root.join(WORK_DIR);
        Self { root, work_dir }
    }
}
