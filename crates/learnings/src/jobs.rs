//! Jobs of this process, at most one a work directory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Jobs that go on, by their work directories. Each publishes a state; its channel closes when the job ends.
#[derive(Debug, Clone)]
pub(crate) struct BackgroundJobs<S>(Arc<Mutex<HashMap<PathBuf, watch::Receiver<S>>>>);

/// A job that goes on until this is dropped.
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of the job that goes on.
    pub(crate) fn get(&self, work_dir: &Path) -> Option<watch::Receiver<S>> {
        self.lock().get(work_dir).cloned()
    }

    /// Begins a job.
    ///
    /// # Errors
    /// The state of the one that goes on already.
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
        self.jobs.lock().remove(&self.work_dir);
    }
}

/// Waits until a job has ended.
pub(crate) async fn ended<S>(mut state: watch::Receiver<S>) {
    while state.changed().await.is_ok() {}
}
