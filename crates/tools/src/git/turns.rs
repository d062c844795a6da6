//! One change to the worktrees of a repository at a time, within this process.
//!
//! Git guards none of them against each other: its `prune` takes away what its `add` has begun.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Turns that somebody has or waits for, by repository.
static TURNS: LazyLock<Mutex<HashMap<PathBuf, Weak<Turn<()>>>>> = LazyLock::new(Mutex::default);

/// Waits for the turn to change the worktrees of a repository; it ends with the answer.
pub(super) async fn turn(repository: &Path) -> OwnedMutexGuard<()> {
    let turn = {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        turns.get(repository).and_then(Weak::upgrade).unwrap_or_else(|| {
            let fresh = Arc::default();
            turns.insert(repository.to_owned(), Arc::downgrade(&fresh));
            fresh
        })
    };
    turn.lock_owned().await
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn one_at_a_time_in_a_repository() {
        let first = turn(Path::new("/src/shop")).await;
        assert!(turn(Path::new("/src/shop")).now_or_never().is_none());
        let elsewhere = turn(Path::new("/src/garden")).now_or_never();
        assert!(elsewhere.is_some(), "another repository does not wait");
        drop(first);
        assert!(turn(Path::new("/src/shop")).now_or_never().is_some());
    }
}
