//! The work directory of a worktree, where everything about its reviews lies.

use std::path::{Path, PathBuf};

use loopgate_api::names::WORK_DIR;
use loopgate_home::{AccessDenied, Sandbox, SandboxedPath};

/// The work directory of a worktree. Its files are opened through the sandbox's handle, so no link in the
/// worktree leads them away.
#[derive(Debug, Clone)]
pub struct ReviewDirectory(SandboxedPath);

impl ReviewDirectory {
    /// The work directory of this worktree, which may not be there yet.
    ///
    /// # Errors
    /// A directory that leads out of the sandbox.
    pub fn of(sandbox: &Sandbox, worktree: &Path) -> Result<Self, AccessDenied> {
        Ok(Self(sandbox.check(worktree.join(WORK_DIR))?))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.as_path().to_owned()
    }
}
