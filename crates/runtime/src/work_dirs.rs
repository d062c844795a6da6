//! Hears that something was written in the work directories of loops, with one queue of the system
//! for all of them.
//!
//! A hint and no promise: where nothing can be heard, whoever listens must look by itself.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

/// Everybody who listens.
#[derive(Clone, Default)]
pub(crate) struct WorkDirs(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Made for the first who listens. Always locked before `ears`, and never while the system's
    /// queue is read.
    watcher: Mutex<Option<RecommendedWatcher>>,
    ears: Arc<Mutex<Ears>>,
}

type Ears = HashMap<PathBuf, Ear>;

#[derive(Default)]
struct Ear {
    told: watch::Sender<()>,
    listeners: usize,
}

/// Changes in one directory, not in those below it, until it is dropped.
pub(crate) struct Changes {
    directory: PathBuf,
    told: watch::Receiver<()>,
    all: WorkDirs,
}

impl WorkDirs {
    /// Begins to listen.
    pub fn listen(&self, directory: &Path) -> Changes {
        let mut watcher = lock(&self.0.watcher);
        let (told, is_first) = {
            let mut ears = lock(&self.0.ears);
            let ear = ears.entry(directory.to_owned()).or_default();
            ear.listeners += 1;
            (ear.told.subscribe(), ear.listeners == 1)
        };
        if is_first && let Err(error) = self.begin(&mut watcher, directory) {
            tracing::info!(%error, "changes of a work directory cannot be heard; it is looked at now and then");
        }
        drop(watcher);
        Changes { directory: directory.to_owned(), told, all: self.clone() }
    }

    fn begin(&self, watcher: &mut Option<RecommendedWatcher>, directory: &Path) -> notify::Result<()> {
        let watcher = match watcher {
            Some(watcher) => watcher,
            None => {
                let ears = self.0.ears.clone();
                watcher.insert(notify::recommended_watcher(move |event| hear(&ears, event))?)
            }
        };
        watcher.watch(directory, RecursiveMode::NonRecursive)
    }

    fn end(&self, directory: &Path) {
        let mut watcher = lock(&self.0.watcher);
        let is_last = {
            let mut ears = lock(&self.0.ears);
            let left = ears.get_mut(directory).map_or(0, |ear| {
                ear.listeners -= 1;
                ear.listeners
            });
            left == 0 && ears.remove(directory).is_some()
        };
        if is_last && let Some(watcher) = watcher.as_mut() {
            // The directory may be gone, and its watch with it.
            let _ = watcher.unwatch(directory);
        }
    }
}

impl Changes {
    /// Waits for the next one; those that nobody waited for count as one.
    pub async fn next(&mut self) {
        if self.told.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.all.end(&self.directory);
    }
}

fn hear(ears: &Mutex<Ears>, event: notify::Result<Event>) {
    // That somebody looks changes nothing.
    let Ok(event) = event.inspect_err(|error| tracing::debug!(%error, "file events")) else { return };
    if event.kind.is_access() {
        return;
    }
    let ears = lock(ears);
    for path in &event.paths {
        let ear = path.parent().and_then(|parent| ears.get(parent)).or_else(|| ears.get(path));
        if let Some(ear) = ear {
            ear.told.send_replace(());
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
    async fn each_hears_of_its_own_directory_until_it_listens_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("a")).unwrap();
        std::fs::create_dir(at("b")).unwrap();
        let all = WorkDirs::default();
        let (mut first, mut second, other) =
            (all.listen(&at("a")), all.listen(&at("a")), all.listen(&at("b")));
        std::fs::write(at("a/file"), "1").unwrap();
        tokio::time::timeout(LIMIT, async { tokio::join!(first.next(), second.next()) }).await.unwrap();
        assert!(!other.told.has_changed().unwrap());
        drop(first);
        std::fs::write(at("a/file"), "2").unwrap();
        tokio::time::timeout(LIMIT, second.next()).await.unwrap();
        drop(second);
        drop(other);
        assert!(lock(&all.0.ears).is_empty());
        let mut missing = all.listen(&at("none"));
        assert!(futures_util::FutureExt::now_or_never(missing.next()).is_none());
    }

    /// Whoever listens looks at the file then; heard, that would never end.
    #[tokio::test]
    async fn that_somebody_looks_is_not_heard() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("a")).unwrap();
        std::fs::create_dir(at("b")).unwrap();
        std::fs::write(at("a/file"), "1").unwrap();
        let all = WorkDirs::default();
        let (looked_at, mut written) = (all.listen(&at("a")), all.listen(&at("b")));
        assert_eq!(std::fs::read(at("a/file")).unwrap(), b"1");
        std::fs::write(at("b/file"), "1").unwrap();
        // There is one queue, in order.
        tokio::time::timeout(LIMIT, written.next()).await.unwrap();
        assert!(!looked_at.told.has_changed().unwrap());
    }
}
