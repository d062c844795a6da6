//! Serializes changes to the worktrees of a repository within this process.
//!
//! Git does not: `git worktree prune` removes a worktree that a concurrent `git worktree add` has not
//! completed.

use std::path::Path;
use std::sync::LazyLock;

use tokio::sync::OwnedMutexGuard;

use crate::keyed_locks::KeyedLocks;

static LOCKS: LazyLock<KeyedLocks> = LazyLock::new(KeyedLocks::default);

/// Waits for the lock of a repository's worktrees. Dropping the guard releases it.
pub(super) async fn lock_worktrees(repository: &Path) -> OwnedMutexGuard<()> {
    LOCKS.lock(repository).await
}
