//! One change to the worktrees of a repository at a time, within this process.
//!
//! Git guards none of them against each other: its `prune` takes away what its `add` has begun.

use std::path::Path;
use std::sync::LazyLock;

use tokio::sync::OwnedMutexGuard;

use crate::keyed_locks::KeyedLocks;

static LOCKS: LazyLock<KeyedLocks> = LazyLock::new(KeyedLocks::default);

/// Waits until the worktrees of a repository may be changed; the guard ends that.
pub(super) async fn lock_worktrees(repository: &Path) -> OwnedMutexGuard<()> {
    LOCKS.lock(repository).await
}
