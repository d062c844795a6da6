//! Background jobs of this process, at most one per work directory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Running jobs by work directory. Each publishes a state; the channel closes when the job ends.
#[derive(Debug, Clone)]
pub(crate) struct BackgroundJobs<S>(Arc<Mutex<HashMap<PathBuf, watch::Receiver<S>>>>);

/// A running job; ends when dropped.
#[derive(Debug)]
pub(crate) struct BackgroundJob<S> {
    jobs: BackgroundJobs<S>,
    work_dir: PathBuf,
    state: watch::Sender<S>,
}

impl<S> Default for BackgroundJobs<S> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<S> BackgroundJobs<S> {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, watch::Receiver<S>>> {
        // Each critical section is a single map operation, so the map is consistent after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of the running job, if there is one.
    pub(crate) fn get(&self, work_dir: &Path) -> Option<watch::Receiver<S>> {
        self.lock().get(work_dir).cloned()
    }

    /// Registers a job.
    ///
    /// # Errors
    /// Returns the state of the job that is already running.
    pub(crate) fn begin(&self, work_dir: &Path, state: S) -> Result<BackgroundJob<S>, watch::Receiver<S>> {
        let mut jobs = self.lock();
        if let Some(state) = jobs.get(work_dir) {
            return Err(state.clone());
        }
        let (state, receiver) = watch::channel(state);
        jobs.insert(work_dir.to_owned(), receiver);
        Ok(BackgroundJob { jobs: Self(Arc::clone(&self.0)), work_dir: work_dir.to_owned(), state })
    }
}

impl<S> BackgroundJob<S> {
    pub(crate) fn publish(&self, state: S) {
        self.state.send_replace(state);
    }
}

impl<S> Drop for BackgroundJob<S> {
    fn drop(&mut self) {
        // Removed before the sender is dropped (fields drop after this body): a task that waits for the end
        // finds the slot free.
        self.jobs.lock().remove(&self.work_dir);
    }
}

/// Waits until a job has ended.
pub(crate) async fn ended<S>(mut state: watch::Receiver<S>) {
    while state.changed().await.is_ok() {}
}
