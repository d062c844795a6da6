//! File-change events of directories that programs write into, with one queue of the system for all of them.
//!
//! Best effort: where the file system reports nothing, subscribers must poll.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

/// Watches directories; clones share the queue.
#[derive(Clone, Default)]
pub struct DirectoryWatch(Arc<DirectoryWatchInner>);

#[derive(Default)]
struct DirectoryWatchInner {
    /// Made for the first who listens. Always locked before `subscriptions`, and never while the system's
    /// queue is read.
    watcher: Mutex<Option<RecommendedWatcher>>,
    subscriptions: Arc<Mutex<Subscriptions>>,
}

type Subscriptions = HashMap<PathBuf, Subscription>;

#[derive(Default)]
struct Subscription {
    changed: watch::Sender<()>,
    listeners: usize,
}

/// Changes in one directory, not in those below it, until it is dropped.
pub struct DirectoryChanges {
    directory: PathBuf,
    changed: watch::Receiver<()>,
    all: DirectoryWatch,
}

impl DirectoryWatch {
    /// Subscribes to changes of a directory.
    pub fn subscribe(&self, directory: &Path) -> DirectoryChanges {
        let mut watcher = lock(&self.0.watcher);
        let (changed, is_first) = {
            let mut subscriptions = lock(&self.0.subscriptions);
            let subscription = subscriptions.entry(directory.to_owned()).or_default();
            subscription.listeners += 1;
            (subscription.changed.subscribe(), subscription.listeners == 1)
        };
        if is_first && let Err(error) = self.watch_directory(&mut watcher, directory) {
            tracing::info!(%error, "changes of a work directory cannot be heard; it is looked at now and then");
        }
        drop(watcher);
        DirectoryChanges { directory: directory.to_owned(), changed, all: self.clone() }
    }

    fn watch_directory(
        &self,
        watcher: &mut Option<RecommendedWatcher>,
        directory: &Path,
    ) -> notify::Result<()> {
        let watcher = match watcher {
            Some(watcher) => watcher,
            None => {
                let subscriptions = self.0.subscriptions.clone();
                watcher.insert(notify::recommended_watcher(move |event| publish(&subscriptions, event))?)
            }
        };
        watcher.watch(directory, RecursiveMode::NonRecursive)
    }

    fn end(&self, directory: &Path) {
        let mut watcher = lock(&self.0.watcher);
        let is_last = {
            let mut subscriptions = lock(&self.0.subscriptions);
            let left = subscriptions.get_mut(directory).map_or(0, |subscription| {
                subscription.listeners -= 1;
                subscription.listeners
            });
            left == 0 && subscriptions.remove(directory).is_some()
        };
        if is_last && let Some(watcher) = watcher.as_mut() {
            // The directory may be gone, and its watch with it.
            let _ = watcher.unwatch(directory);
        }
    }
}

impl DirectoryChanges {
    /// Waits for the next change; earlier unread changes count as one.
    pub async fn next(&mut self) {
        if self.changed.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for DirectoryChanges {
    fn drop(&mut self) {
        self.all.end(&self.directory);
    }
}

fn publish(subscriptions: &Mutex<Subscriptions>, event: notify::Result<Event>) {
    // Read access is no change.
    let Ok(event) = event.inspect_err(|error| tracing::debug!(%error, "file events")) else { return };
    if event.kind.is_access() {
        return;
    }
    let subscriptions = lock(subscriptions);
    for path in &event.paths {
        let subscription =
            path.parent().and_then(|parent| subscriptions.get(parent)).or_else(|| subscriptions.get(path));
        if let Some(subscription) = subscription {
            subscription.changed.send_replace(());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn watch_reports_its_own_directory_until_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("a")).unwrap();
        std::fs::create_dir(at("b")).unwrap();
        let all = DirectoryWatch::default();
        let (mut first, mut second, other) =
            (all.subscribe(&at("a")), all.subscribe(&at("a")), all.subscribe(&at("b")));
        std::fs::write(at("a/file"), "1").unwrap();
        tokio::time::timeout(LIMIT, async { tokio::join!(first.next(), second.next()) }).await.unwrap();
        assert!(!other.changed.has_changed().unwrap());
        drop(first);
        std::fs::write(at("a/file"), "2").unwrap();
        tokio::time::timeout(LIMIT, second.next()).await.unwrap();
        drop(second);
        drop(other);
        assert!(lock(&all.0.subscriptions).is_empty());
        let mut missing = all.subscribe(&at("none"));
        assert!(futures_util::FutureExt::now_or_never(missing.next()).is_none());
    }

    /// Whoever listens looks at the file then; heard, that would never end.
    #[tokio::test]
    async fn reading_a_directory_causes_no_event() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("a")).unwrap();
        std::fs::create_dir(at("b")).unwrap();
        std::fs::write(at("a/file"), "1").unwrap();
        let all = DirectoryWatch::default();
        let (looked_at, mut written) = (all.subscribe(&at("a")), all.subscribe(&at("b")));
        assert_eq!(std::fs::read(at("a/file")).unwrap(), b"1");
        std::fs::write(at("b/file"), "1").unwrap();
        // There is one queue, in order.
        tokio::time::timeout(LIMIT, written.next()).await.unwrap();
        assert!(!looked_at.changed.has_changed().unwrap());
    }
}
