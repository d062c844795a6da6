//! Commits that outlive a loss of power, many of them by one flush.
//!
//! SQLite's write-ahead log is whole after a crash of the program whatever happens, but what the
//! machine has not flushed to the disk goes with its power. Were SQLite to flush at each commit,
//! every loop would wait for every other one; here all that were committed meanwhile wait together.
//!
//! After a flush that failed the kernel may have dropped what it could not write, so that a later flush
//! which succeeds proves nothing of the commits before it. They count as flushed only once a checkpoint
//! has moved the whole log into the database.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, DbErr, Statement};
use tokio::sync::Mutex;

/// The flushing of one database's log.
#[derive(Debug)]
pub(super) struct LogFlusher {
    /// The write-ahead log. SQLite may put another one in its place.
    log: PathBuf,
    /// Commits so far.
    committed: AtomicU64,
    /// What of them is on the disk. Held while the disk is flushed.
    flushed: Mutex<FlushState>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct FlushState {
    /// So many of the first commits are on the disk.
    commits: u64,
    /// Whether a flush has failed since.
    failed: bool,
}

impl LogFlusher {
    pub fn of(database: &Path) -> Self {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Self { log: log.into(), committed: AtomicU64::new(0), flushed: Mutex::default() }
    }

    /// Flushes the directory entry of the log, and all earlier commits.
    pub async fn sync_all(&self, database: &DatabaseConnection) {
        if let Some(directory) = self.log.parent()
            && let Err(error) = sync(directory.to_owned()).await
        {
            tracing::error!(%error, "the job database's name may not outlive a loss of power");
        }
        self.reached(database).await;
    }

    /// Returns when everything that was committed before the call is on the disk. A disk that refuses is
    /// not the committer's fault, and every reader sees the change already: it is told, and the commit
    /// waits for the next one to be flushed with it.
    pub async fn reached(&self, database: &DatabaseConnection) {
        let own = self.committed.fetch_add(1, Ordering::AcqRel) + 1;
        let mut flushed = self.flushed.lock().await;
        if flushed.commits >= own {
            return;
        }
        let covered = self.committed.load(Ordering::Acquire);
        if !flushed.failed {
            match sync(self.log.clone()).await {
                Ok(()) => {
                    flushed.commits = covered;
                    return;
                }
                Err(error) => tracing::warn!(%error, "the job database's log could not be flushed"),
            }
        }
        *flushed = match self.checkpoint(database).await {
            Ok(()) => FlushState { commits: covered, failed: false },
            Err(error) => {
                tracing::error!(%error, "a change of a job may not outlive a loss of power");
                FlushState { failed: true, ..*flushed }
            }
        };
    }

    /// Has SQLite move the log into the database, flush that, and empty the log: after a loss of power an
    /// incomplete log would be played over what is newer.
    async fn checkpoint(&self, database: &DatabaseConnection) -> Result<(), DbErr> {
        let checkpoint = Statement::from_string(DbBackend::Sqlite, "PRAGMA wal_checkpoint(TRUNCATE)");
        let row = database.query_one_raw(checkpoint).await?;
        let is_busy = row.map(|row| row.try_get_by_index::<i32>(0)).transpose()? != Some(0);
        if is_busy {
            return Err(DbErr::Custom("another program reads the job database".to_owned()));
        }
        sync(self.log.clone()).await.map_err(|error| DbErr::Custom(error.to_string()))
    }
}

/// Flushes a file, or the names in a directory.
async fn sync(path: PathBuf) -> io::Result<()> {
    let sync = move || match File::open(path) {
        Ok(file) => file.sync_data(),
        // All of it was moved into the database, and flushed then.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    tokio::task::spawn_blocking(sync).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use sea_orm::Database;

    use super::*;

    async fn database(path: &Path) -> DatabaseConnection {
        let database = Database::connect(format!("sqlite://{}?mode=rwc", path.display())).await.unwrap();
        database.execute_unprepared("PRAGMA journal_mode = WAL").await.unwrap();
        database.execute_unprepared("CREATE TABLE entry (id INTEGER)").await.unwrap();
        database
    }

    #[tokio::test]
    async fn concurrent_commits_share_one_flush() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jobs.db");
        let (database, durable) = (database(&path).await, LogFlusher::of(&path));
        durable.sync_all(&database).await;
        let under_way = durable.flushed.lock().await;
        let committers = futures_util::future::join_all((0..50).map(|_| durable.reached(&database)));
        let mut committers = std::pin::pin!(committers);
        assert!(futures_util::poll!(&mut committers).is_pending());
        drop(under_way);
        // The first one flushes for all that came in the meantime.
        assert_eq!(durable.committed.load(Ordering::Acquire), 51);
        committers.await;
        assert_eq!(*durable.flushed.lock().await, FlushState { commits: 51, failed: false });
    }

    #[tokio::test]
    async fn checkpointed_log_needs_no_flush() {
        let dir = tempfile::tempdir().unwrap();
        let database = database(&dir.path().join("jobs.db")).await;
        let durable = LogFlusher::of(&dir.path().join("moved.db"));
        durable.reached(&database).await;
        assert_eq!(*durable.flushed.lock().await, FlushState { commits: 1, failed: false });
    }

    /// What cannot be flushed is in the place of the log.
    #[cfg(unix)]
    #[tokio::test]
    async fn nothing_counts_as_flushed_after_a_failure_until_a_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jobs.db");
        let database = database(&path).await;
        let log = path.with_extension("db-wal");
        assert!(log.metadata().unwrap().len() > 0);
        let durable = LogFlusher { log: "/dev/null".into(), ..LogFlusher::of(&path) };
        durable.reached(&database).await;
        assert_eq!(*durable.flushed.lock().await, FlushState { commits: 0, failed: true });
        assert_eq!(log.metadata().unwrap().len(), 0, "a checkpoint was tried");

        database.execute_unprepared("INSERT INTO entry VALUES (1)").await.unwrap();
        let flushed = durable.flushed.into_inner();
        let durable =
            LogFlusher { log: log.clone(), committed: durable.committed, flushed: Mutex::new(flushed) };
        durable.reached(&database).await;
        assert_eq!(*durable.flushed.lock().await, FlushState { commits: 2, failed: false });
        assert_eq!(log.metadata().unwrap().len(), 0, "a flush alone would prove nothing");
    }
}
