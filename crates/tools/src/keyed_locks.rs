//! In-process locks that are keyed by path.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// A map of locks by path. An entry exists only while its lock is held or waited for.
#[derive(Debug, Default)]
pub struct KeyedLocks(Mutex<HashMap<PathBuf, Weak<AsyncMutex<()>>>>);

impl KeyedLocks {
    /// Waits for the lock of a path. Dropping the guard releases it.
    pub async fn lock(&self, path: &Path) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Prunes released locks here, so that no drop handler is needed.
            locks.retain(|_, lock| lock.strong_count() > 0);
            locks.get(path).and_then(Weak::upgrade).unwrap_or_else(|| {
                let lock = Arc::default();
                locks.insert(path.to_owned(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn path_is_locked_once_at_a_time() {
        let locks = KeyedLocks::default();
        let first = locks.lock(Path::new("/src/shop")).await;
        assert!(locks.lock(Path::new("/src/shop")).now_or_never().is_none());
        assert!(locks.lock(Path::new("/src/garden")).now_or_never().is_some(), "another path does not wait");
        drop(first);
        assert!(locks.lock(Path::new("/src/shop")).now_or_never().is_some());
    }
}
