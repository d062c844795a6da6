//! One change to the worktrees of a repository at a time, within this process.
//!
//! Git guards none of them against each other: its `prune` takes away what its `add` has begun.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Locks that are held or waited for, by repository.
static LOCKS: LazyLock<Mutex<HashMap<PathBuf, Weak<AsyncMutex<()>>>>> = LazyLock::new(Mutex::default);

/// Waits until the worktrees of a repository may be changed; the guard ends that.
pub(super) async fn lock_worktrees(repository: &Path) -> OwnedMutexGuard<()> {
    let lock = {
        let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        locks.get(repository).and_then(Weak::upgrade).unwrap_or_else(|| {
            let fresh = Arc::default();
            locks.insert(repository.to_owned(), Arc::downgrade(&fresh));
            fresh
        })
    };
    lock.lock_owned().await
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn one_at_a_time_in_a_repository() {
        let first = lock_worktrees(Path::new("/src/shop")).await;
        assert!(lock_worktrees(Path::new("/src/shop")).now_or_never().is_none());
        let elsewhere = lock_worktrees(Path::new("/src/garden")).now_or_never();
        assert!(elsewhere.is_some(), "another repository does not wait");
        drop(first);
        assert!(lock_worktrees(Path::new("/src/shop")).now_or_never().is_some());
    }
}
