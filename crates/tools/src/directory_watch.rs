//! File-change events of directories that programs write into, through one OS watcher for all directories.
//!
//! Best-effort: some file systems report no events, so subscribers must also poll.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

/// A registry of watched directories. Clones share the OS watcher.
#[derive(Clone, Default)]
pub struct DirectoryWatch(Arc<DirectoryWatchInner>);

#[derive(Default)]
struct DirectoryWatchInner {
    /// Created by the first subscription. Lock order: before `subscriptions`, which must not be locked during
    /// a call into the watcher: the watcher's own thread locks it to publish an event.
    watcher: Mutex<Option<RecommendedWatcher>>,
    subscriptions: Arc<Mutex<Subscriptions>>,
}

type Subscriptions = HashMap<PathBuf, Subscription>;

#[derive(Default)]
struct Subscription {
    changed: watch::Sender<()>,
    listeners: usize,
}

/// A subscription to the changes of one directory, without its subdirectories. Dropping it unsubscribes.
pub struct DirectoryChanges {
    directory: PathBuf,
    changed: watch::Receiver<()>,
    all: DirectoryWatch,
}

impl DirectoryWatch {
    /// Subscribes to changes of a directory.
    pub fn subscribe(&self, directory: &Path) -> DirectoryChanges {
        // Held until the OS watch is in place: otherwise a concurrent drop of the last subscription could
        // remove the watch that this call is about to rely on.
        let mut watcher = lock(&self.0.watcher);
        let (changed, is_first) = {
            let mut subscriptions = lock(&self.0.subscriptions);
            let subscription = subscriptions.entry(directory.to_owned()).or_default();
            subscription.listeners += 1;
            (subscription.changed.subscribe(), subscription.listeners == 1)
        };
        if is_first && let Err(error) = self.watch_directory(&mut watcher, directory) {
            tracing::info!(%error, directory = %directory.display(), "directory cannot be watched; falling back to polling");
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

    fn unsubscribe(&self, directory: &Path) {
        let mut watcher = lock(&self.0.watcher);
        let is_last = {
            let mut subscriptions = lock(&self.0.subscriptions);
            let remaining = subscriptions.get_mut(directory).map_or(0, |subscription| {
                subscription.listeners -= 1;
                subscription.listeners
            });
            remaining == 0 && subscriptions.remove(directory).is_some()
        };
        if is_last && let Some(watcher) = watcher.as_mut() {
            // Fails when the directory was removed, because the kernel then drops the watch itself.
            let _ = watcher.unwatch(directory);
        }
    }
}

impl DirectoryChanges {
    /// Waits for the next change. Changes that were not read yet are coalesced into one.
    pub async fn next(&mut self) {
        if self.changed.changed().await.is_err() {
            // The sender was dropped; there are no further events.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for DirectoryChanges {
    fn drop(&mut self) {
        self.all.unsubscribe(&self.directory);
    }
}

fn publish(subscriptions: &Mutex<Subscriptions>, event: notify::Result<Event>) {
    // Access events are ignored: subscribers read the files on every event, which would trigger the next one.
    let Ok(event) = event.inspect_err(|error| tracing::debug!(%error, "file watcher failed")) else { return };
    if event.kind.is_access() {
        return;
    }
    let subscriptions = lock(subscriptions);
    for path in &event.paths {
        // The event names the file in the directory, or the directory itself when that was removed or
        // renamed.
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
        // The second subscription of `a` keeps the OS watch alive after the first is dropped.
        assert!(!other.changed.has_changed().unwrap());
        drop(first);
        std::fs::write(at("a/file"), "2").unwrap();
        tokio::time::timeout(LIMIT, second.next()).await.unwrap();
        drop(second);
        drop(other);
        assert!(lock(&all.0.subscriptions).is_empty());
        // Watching a missing directory fails; the subscription then never yields instead of yielding an
        // error.
        let mut missing = all.subscribe(&at("none"));
        assert!(futures_util::FutureExt::now_or_never(missing.next()).is_none());
    }

    #[tokio::test]
    async fn reading_a_directory_causes_no_event() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("a")).unwrap();
        std::fs::create_dir(at("b")).unwrap();
        std::fs::write(at("a/file"), "1").unwrap();
        // A subscriber reads the directory on each event. If reads caused events, that would be an endless
        // loop.
        let all = DirectoryWatch::default();
        let (read_only, mut modified) = (all.subscribe(&at("a")), all.subscribe(&at("b")));
        assert_eq!(std::fs::read(at("a/file")).unwrap(), b"1");
        std::fs::write(at("b/file"), "1").unwrap();
        // Both directories share one ordered queue: once the write is reported, an event for the read would
        // be too.
        tokio::time::timeout(LIMIT, modified.next()).await.unwrap();
        assert!(!read_only.changed.has_changed().unwrap());
    }
}
