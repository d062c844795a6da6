//! Commits that outlive a loss of power, many of them by one flush.
//!
//! SQLite's write-ahead log is whole after a crash of the program whatever happens, but what the
//! machine has not flushed to the disk goes with its power. Were SQLite to flush at each commit,
//! every loop would wait for every other one; here all that were committed meanwhile wait together.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

/// The flushing of one database's log.
#[derive(Debug)]
pub(super) struct Durable {
    /// The write-ahead log. SQLite may put another one in its place.
    log: PathBuf,
    /// Commits so far.
    committed: AtomicU64,
    /// How many of them are on the disk. Held while the disk is flushed.
    flushed: Mutex<u64>,
}

impl Durable {
    pub fn of(database: &Path) -> Self {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Self { log: log.into(), committed: AtomicU64::new(0), flushed: Mutex::new(0) }
    }

    /// Makes the log's name last, and what was committed before.
    pub async fn begin(&self) {
        if let Some(directory) = self.log.parent() {
            self.flush(directory.to_owned()).await;
        }
        self.reached().await;
    }

    /// Returns when everything that was committed before the call is on the disk.
    pub async fn reached(&self) {
        let own = self.committed.fetch_add(1, Ordering::AcqRel) + 1;
        let mut flushed = self.flushed.lock().await;
        if *flushed >= own {
            return;
        }
        let covered = self.committed.load(Ordering::Acquire);
        self.flush(self.log.clone()).await;
        *flushed = covered;
    }

    /// A disk that refuses is not the committer's fault: every reader sees the change already.
    async fn flush(&self, path: PathBuf) {
        let flush = move || match File::open(path) {
            Ok(file) => file.sync_data(),
            // All of it was moved into the database, and flushed then.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        let done =
            tokio::task::spawn_blocking(flush).await.unwrap_or_else(|error| Err(io::Error::other(error)));
        if let Err(error) = done {
            tracing::error!(%error, "a change of a job may not outlive a loss of power");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_together_is_flushed_together() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("jobs.db-wal"), "log").unwrap();
        let durable = Durable::of(&dir.path().join("jobs.db"));
        durable.begin().await;
        let under_way = durable.flushed.lock().await;
        let committers = futures_util::future::join_all((0..50).map(|_| durable.reached()));
        let mut committers = std::pin::pin!(committers);
        assert!(futures_util::poll!(&mut committers).is_pending());
        drop(under_way);
        // The first one flushes for all that came in the meantime.
        assert_eq!(durable.committed.load(Ordering::Acquire), 51);
        committers.await;
        assert_eq!(*durable.flushed.lock().await, 51);
    }

    #[tokio::test]
    async fn a_log_that_was_moved_into_its_database_needs_no_flush() {
        let dir = tempfile::tempdir().unwrap();
        let durable = Durable::of(&dir.path().join("jobs.db"));
        durable.reached().await;
        assert_eq!(*durable.flushed.lock().await, 1);
    }
}
