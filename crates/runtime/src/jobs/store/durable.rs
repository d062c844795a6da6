//! Group commit: transactions that survive a power loss, with one sync of the disk for all concurrent
//! commits.
//!
//! SQLite's write-ahead log (WAL) survives a crash of the program, but data that the kernel has not written
//! to the disk is lost with the power. If SQLite synced at each commit, every loop would wait for all others;
//! here, concurrent commits share one sync.
//!
//! After a failed sync the kernel may have dropped the dirty pages, so a later successful sync proves nothing
//! about earlier commits. They count as flushed only once a checkpoint has copied the whole WAL into the
//! database.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, DbErr, Statement};
use tokio::sync::Mutex;

/// Syncs the write-ahead log of one database.
#[derive(Debug)]
pub(super) struct LogFlusher {
    /// Path of the WAL. SQLite may replace the file, so it is opened for each sync.
    log: PathBuf,
    /// Number of commits so far.
    committed: AtomicU64,
    /// Commits that are on the disk. Locked during a sync, so that waiting committers share the next one.
    flushed: Mutex<FlushState>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct FlushState {
    /// Number of commits that are on the disk, from the first one.
    commits: u64,
    /// Whether a sync has failed since the last checkpoint.
    failed: bool,
}

impl LogFlusher {
    pub fn of(database: &Path) -> Self {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Self { log: log.into(), committed: AtomicU64::new(0), flushed: Mutex::default() }
    }

    /// Syncs the directory entry of the WAL, and all earlier commits.
    pub async fn sync_all(&self, database: &DatabaseConnection) {
        if let Some(directory) = self.log.parent()
            && let Err(error) = sync(directory.to_owned()).await
        {
            tracing::error!(%error, "cannot sync the directory of the job database; it may not survive a power loss");
        }
        self.flush(database).await;
    }

    /// Waits until all earlier commits are on the disk. A failure is only logged: the commit is already
    /// visible to all readers, so it cannot be undone. The next commit retries the sync.
    pub async fn flush(&self, database: &DatabaseConnection) {
        let own = self.committed.fetch_add(1, Ordering::AcqRel) + 1;
        let mut flushed = self.flushed.lock().await;
        // Another committer has synced this commit while the lock was awaited.
        if flushed.commits >= own {
            return;
        }
        // Read under the lock: the sync below covers all commits up to here, and possibly more.
        let covered = self.committed.load(Ordering::Acquire);
        if !flushed.failed {
            match sync(self.log.clone()).await {
                Ok(()) => {
                    flushed.commits = covered;
                    return;
                }
                Err(error) => tracing::warn!(%error, "cannot sync the WAL of the job database"),
            }
        }
        *flushed = match self.checkpoint(database).await {
            Ok(()) => FlushState { commits: covered, failed: false },
            Err(error) => {
                tracing::error!(%error, "a committed change of a job may not survive a power loss");
                FlushState { failed: true, ..*flushed }
            }
        };
    }

    /// Checkpoints the WAL into the database, which is synced, and truncates the WAL. After a power loss
    /// SQLite would otherwise replay an incomplete WAL over newer pages.
    async fn checkpoint(&self, database: &DatabaseConnection) -> Result<(), DbErr> {
        let checkpoint = Statement::from_string(DbBackend::Sqlite, "PRAGMA wal_checkpoint(TRUNCATE)");
        let row = database.query_one_raw(checkpoint).await?;
        // The first column is 1 when a reader or writer prevented the checkpoint.
        let is_busy = row.map(|row| row.try_get_by_index::<i32>(0)).transpose()? != Some(0);
        if is_busy {
            return Err(DbErr::Custom("another process is reading the job database".to_owned()));
        }
        // SQLite has synced the database; this makes the truncation durable.
        sync(self.log.clone()).await.map_err(|error| DbErr::Custom(error.to_string()))
    }
}

/// Syncs a file or a directory.
async fn sync(path: PathBuf) -> io::Result<()> {
    let sync = move || match File::open(path) {
        Ok(file) => file.sync_data(),
        // Without a WAL there is nothing to sync: a checkpoint has moved and synced everything.
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
        let guard = durable.flushed.lock().await;
        let committers = futures_util::future::join_all((0..50).map(|_| durable.flush(&database)));
        let mut committers = std::pin::pin!(committers);
        assert!(futures_util::poll!(&mut committers).is_pending());
        drop(guard);
        // The first committer syncs for all that wait for the lock.
        assert_eq!(durable.committed.load(Ordering::Acquire), 51);
        committers.await;
        assert_eq!(*durable.flushed.lock().await, FlushState { commits: 51, failed: false });
    }

    #[tokio::test]
    async fn checkpointed_log_needs_no_flush() {
        let dir = tempfile::tempdir().unwrap();
        let database = database(&dir.path().join("jobs.db")).await;
        let durable = LogFlusher::of(&dir.path().join("moved.db"));
        durable.flush(&database).await;
        assert_eq!(*durable.flushed.lock().await, FlushState { commits: 1, failed: false });
    }

    /// `/dev/null` takes the place of the WAL, because a sync of it fails.
    #[cfg(unix)]
    #[tokio::test]
    async fn failed_sync_requires_a_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jobs.db");
        let database = database(&path).await;
        let log = path.with_extension("db-wal");
        assert!(log.metadata().unwrap().len() > 0);
        let durable = LogFlusher { log: "/dev/null".into(), ..LogFlusher::of(&path) };
        durable.flush(&database).await;
        assert_eq!(*durable.flushed.lock().await, FlushState { commits: 0, failed: true });
        assert_eq!(log.metadata().unwrap().len(), 0, "a checkpoint truncated the WAL");

        database.execute_unprepared("INSERT INTO entry VALUES (1)").await.unwrap();
        let flushed = durable.flushed.into_inner();
        let durable =
            LogFlusher { log: log.clone(), committed: durable.committed, flushed: Mutex::new(flushed) };
        durable.flush(&database).await;
        assert_eq!(*durable.flushed.lock().await, FlushState { commits: 2, failed: false });
        assert_eq!(log.metadata().unwrap().len(), 0, "flushed by a checkpoint instead of a sync");
    }
}
