//! The job database: records, launch requests, outbox messages and runner tokens in one SQLite file.
//!
//! The pool has one connection, so a transaction is also the lock: a change reads the newest record, modifies
//! it and queues its messages atomically. No record is written that was read in another transaction.

mod command_log;
mod durable;
mod entity;
mod launch_requests;
mod messages;
mod migration;
mod tokens;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_home::{Credentials, disk, files};
use sea_orm::sea_query::OnConflict;
use sea_orm::sqlx::sqlite::{SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sea_orm::sqlx::{self, Connection as _};
use sea_orm::{
    ActiveValue, ColumnTrait as _, ConnectOptions, Database, DatabaseConnection, DatabaseTransaction, DbErr,
    EntityTrait as _, ExprTrait as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, TransactionTrait as _,
};
use sea_orm_migration::MigratorTrait as _;
use thiserror::Error;

pub use command_log::CommandLogTable;
pub use launch_requests::LaunchRequest;
pub use messages::{MessageKind, OutboxMessage, OutboxRow};
pub use tokens::{StoredToken, TokenText};

use crate::error::LoopRequestError;
use crate::jobs::Job;
use crate::jobs::Notification;
use crate::jobs::lifecycle::{self, InvalidTransition, JobEvent};
use durable::LogFlusher;
use entity::{job, outbox};

/// Timeout for acquiring the single connection of the pool.
const ACQUIRE_TIME: Duration = Duration::from_secs(30);
/// How long SQLite waits for a lock that another process holds on the file.
const BUSY_TIME: Duration = Duration::from_secs(5);
/// Number of ended jobs that are retained.
const KEPT_TERMINAL_JOBS: u64 = 100;

/// Error of the job store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// SQLite reported an error.
    #[error("the job database failed: {0}")]
    Database(#[from] DbErr),
    /// A record cannot be serialized or parsed as JSON.
    #[error("cannot parse a job record: {0}")]
    Record(#[from] serde_json::Error),
    /// The loop has no record.
    #[error("no job exists for this loop")]
    NoJob,
    /// The launch to abandon has already started a process.
    #[error("the loop is already running")]
    AlreadyStarted,
    /// The state machine rejects the change.
    #[error(transparent)]
    InvalidTransition(#[from] InvalidTransition),
    /// A token or launch request cannot be encrypted.
    #[error("the loop's credentials cannot be encrypted")]
    Seal,
}

impl StoreError {
    /// Returns whether the same change may succeed later, for example when the disk has space again.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Database(_))
    }
}

impl From<StoreError> for LoopRequestError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the job store failed");
        Self::internal()
    }
}

/// A change in progress: the record, and the messages to queue with it.
pub struct JobUpdate<'a> {
    pub job: &'a mut Job,
    outgoing: Vec<OutboxMessage>,
}

impl JobUpdate<'_> {
    /// Applies an event to the job.
    ///
    /// # Errors
    /// Fails with [`InvalidTransition`] when the current status does not allow the event. The job is then
    /// unchanged.
    pub fn apply(&mut self, event: JobEvent) -> Result<(), InvalidTransition> {
        self.job.apply(event)?;
        if self.job.status().is_terminal() && self.job.report.completed_at.is_none() {
            self.job.report.completed_at = Some(loopgate_api::time::now_iso());
        }
        Ok(())
    }

    /// Queues a message for the control plane in the same transaction.
    pub fn send(&mut self, outgoing: OutboxMessage) {
        self.outgoing.push(outgoing);
    }
}

/// The record and messages that a new launch replaced.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreviousJob {
    pub job: Option<Job>,
    /// Messages that were not delivered.
    pub outgoing: Vec<OutboxMessage>,
}

/// Access to the job database; clones share the connection.
#[derive(Debug, Clone)]
pub struct JobStore {
    db: DatabaseConnection,
    durable: Arc<LogFlusher>,
    credentials: Arc<Credentials>,
    path: Arc<Path>,
}

impl JobStore {
    /// Opens or creates the database with owner-only permissions and migrates its tables.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the file cannot be opened or migrated.
    pub async fn open(path: &Path, credentials: Arc<Credentials>) -> Result<Self, StoreError> {
        // Before SQLite creates the file with default permissions.
        files::make_private(path).map_err(|error| DbErr::Custom(error.to_string()))?;
        let path_owned = path.to_owned();
        // A placeholder: the file is set below as a path, because a URL would need escaping.
        let mut options = ConnectOptions::new("sqlite::memory:");
        options
            // One connection for the lifetime of the process: its transaction is the lock of the store.
            .max_connections(1)
            .min_connections(1)
            .acquire_timeout(ACQUIRE_TIME)
            .idle_timeout(None::<Duration>)
            .max_lifetime(None::<Duration>)
            .test_before_acquire(false)
            .sqlx_logging(false)
            .map_sqlx_sqlite_before_acquire(|connection, _| Box::pin(roll_back_open_transaction(connection)))
            .map_sqlx_sqlite_opts(move |options| {
                options
                    .in_memory(false)
                    .shared_cache(false)
                    .filename(&path_owned)
                    .create_if_missing(true)
                    .journal_mode(SqliteJournalMode::Wal)
                    // Commits are made durable by `LogFlusher` instead, several at a time.
                    .synchronous(SqliteSynchronous::Normal)
                    .busy_timeout(BUSY_TIME)
            });
        let db = Database::connect(options).await?;
        migration::JobMigrator::up(&db, None).await?;
        let durable = Arc::new(LogFlusher::of(path));
        durable.sync_all(&db).await;
        Ok(Self { db, durable, credentials, path: path.into() })
    }

    /// Describes what the disk of the database lacks; `None` when it has enough space.
    #[must_use]
    pub fn disk_shortage(&self) -> Option<String> {
        disk::shortage(&self.path)
    }

    /// Returns the record of a loop.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the record cannot be read.
    pub async fn job(&self, id: LoopId) -> Result<Option<Job>, StoreError> {
        find(&self.db, id).await
    }

    /// Returns all records: active ones before ended ones, and the newest first within each group.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn jobs(&self) -> Result<Vec<Job>, StoreError> {
        let rows = job::Entity::find()
            .order_by_asc(job::Column::Terminal)
            .order_by_desc(job::Column::UpdatedAt)
            .all(&self.db)
            .await?;
        // An unreadable record is logged and must not hide the others.
        Ok(rows.iter().filter_map(readable).collect())
    }

    /// Returns the jobs that have not ended.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn active(&self) -> Result<Vec<Job>, StoreError> {
        self.filtered(job::Column::Terminal.eq(false)).await
    }

    /// Returns the ended jobs whose workspace still has to be cleaned up.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn needing_cleanup(&self) -> Result<Vec<Job>, StoreError> {
        self.filtered(job::Column::Terminal.eq(true).and(job::Column::ToClear.eq(true))).await
    }

    /// Returns the ended jobs whose end the control plane has not acknowledged.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn unreported(&self) -> Result<Vec<Job>, StoreError> {
        self.filtered(job::Column::Terminal.eq(true).and(job::Column::Reported.eq(false))).await
    }

    /// Returns the jobs with pending notifications.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn with_pending_notifications(&self) -> Result<Vec<Job>, StoreError> {
        self.filtered(job::Column::PendingNotifications.eq(true)).await
    }

    async fn filtered(&self, condition: sea_orm::sea_query::SimpleExpr) -> Result<Vec<Job>, StoreError> {
        let rows =
            job::Entity::find().filter(condition).order_by_asc(job::Column::UpdatedAt).all(&self.db).await?;
        Ok(rows.iter().filter_map(readable).collect())
    }

    /// Stores the record of a new launch in place of an ended one; returns what it replaced.
    ///
    /// # Errors
    /// Fails with [`StoreError::InvalidTransition`] while the previous run has not ended.
    pub async fn create(&self, job: &Job) -> Result<PreviousJob, StoreError> {
        let tx = self.db.begin().await?;
        let previous =
            PreviousJob { job: find(&tx, job.id).await?, outgoing: messages::all(&tx, job.id).await? };
        // An announced loop is active but was never started on this desktop, so its record may be replaced.
        let active = previous.job.as_ref().filter(|job| !job.is_announced_only());
        let event =
            if job.status() == JobStatus::Queued { JobEvent::Queued } else { JobEvent::StartRequested };
        lifecycle::next(active.map(Job::status), event)?;
        // Undelivered messages of the previous run must not be sent among those of the new one.
        delete_outgoing(&tx, job.id).await?;
        write(&tx, job).await?;
        self.commit(tx).await?;
        Ok(previous)
    }

    /// Stores a record unless the loop has one; returns whether it was stored.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the record cannot be stored.
    pub async fn add(&self, job: &Job) -> Result<bool, StoreError> {
        let tx = self.db.begin().await?;
        let is_new = find(&tx, job.id).await?.is_none();
        if is_new {
            write(&tx, job).await?;
        }
        self.commit(tx).await?;
        Ok(is_new)
    }

    /// Reverts [`JobStore::create`]: restores the previous record and its undelivered messages, if any.
    ///
    /// # Errors
    /// Fails with [`StoreError::AlreadyStarted`] when the process was started in the meantime.
    pub async fn abandon(&self, id: LoopId, previous: &PreviousJob) -> Result<(), StoreError> {
        let tx = self.db.begin().await?;
        let not_started = [JobStatus::Starting, JobStatus::Queued];
        if find(&tx, id).await?.is_some_and(|job| !not_started.contains(&job.status())) {
            return Err(StoreError::AlreadyStarted);
        }
        delete_outgoing(&tx, id).await?;
        match &previous.job {
            Some(job) => write(&tx, job).await?,
            None => {
                job::Entity::delete_by_id(id.to_string()).exec(&tx).await?;
            }
        }
        for item in &previous.outgoing {
            messages::insert(&tx, id, item).await?;
        }
        self.commit(tx).await?;
        Ok(())
    }

    /// Changes the newest record in one transaction.
    ///
    /// # Errors
    /// Fails with [`StoreError::NoJob`] or [`StoreError::Database`].
    pub async fn update(&self, id: LoopId, change: impl FnOnce(&mut Job) + Send) -> Result<Job, StoreError> {
        self.change(id, |now| {
            change(now.job);
            Ok(())
        })
        .await
    }

    /// Changes the newest record and queues its messages in one transaction, which an error of the change
    /// rolls back.
    ///
    /// # Errors
    /// Fails with [`StoreError`], including the error of the change.
    pub async fn change(
        &self,
        id: LoopId,
        change: impl FnOnce(&mut JobUpdate<'_>) -> Result<(), StoreError> + Send,
    ) -> Result<Job, StoreError> {
        let tx = self.db.begin().await?;
        let before = find(&tx, id).await?.ok_or(StoreError::NoJob)?;
        let mut after = before.clone();
        let mut now = JobUpdate { job: &mut after, outgoing: Vec::new() };
        change(&mut now)?;
        let outgoing = now.outgoing;
        after.progress.notifications.extend(Notification::of_change(before.status(), &after));
        replace(&tx, &before, &mut after).await?;
        for item in &outgoing {
            messages::insert(&tx, id, item).await?;
        }
        if after.status().is_terminal() {
            trim(&tx).await?;
        }
        self.commit(tx).await?;
        Ok(after)
    }

    /// Commits a transaction and returns once it survives a power loss.
    async fn commit(&self, tx: DatabaseTransaction) -> Result<(), DbErr> {
        tx.commit().await?;
        self.durable.flush(&self.db).await;
        Ok(())
    }
}

/// Rolls back a transaction that was left open. On a full disk SQLite may abort a transaction by itself. The
/// driver does not detect this: it opens all later transactions as savepoints inside the open one, and none
/// of them is ever committed.
async fn roll_back_open_transaction(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // Fails when SQLite has already aborted the transaction, which is fine.
        let _ = sqlx::query("ROLLBACK").execute(connection).await;
    }
    Ok(true)
}

/// Deletes the oldest reported jobs beyond the limit of ended jobs.
async fn trim(tx: &DatabaseTransaction) -> Result<(), DbErr> {
    let ended = job::Column::Terminal.eq(true);
    if job::Entity::find().filter(ended.clone()).count(tx).await? <= KEPT_TERMINAL_JOBS {
        return Ok(());
    }
    // SQLite accepts an offset only with a limit. The surplus is rarely more than one job.
    let surplus: Vec<String> = job::Entity::find()
        .select_only()
        .column(job::Column::LoopId)
        .filter(ended)
        .order_by_desc(job::Column::UpdatedAt)
        .limit(KEPT_TERMINAL_JOBS)
        .offset(KEPT_TERMINAL_JOBS)
        .into_tuple()
        .all(tx)
        .await?;
    job::Entity::delete_many()
        .filter(job::Column::LoopId.is_in(surplus.clone()).and(job::Column::Reported.eq(true)))
        .exec(tx)
        .await?;
    let rejected = outbox::Column::LoopId.is_in(surplus).and(outbox::Column::Refusal.is_not_null());
    outbox::Entity::delete_many().filter(rejected).exec(tx).await?;
    Ok(())
}

async fn find(db: &impl sea_orm::ConnectionTrait, id: LoopId) -> Result<Option<Job>, StoreError> {
    let row = job::Entity::find_by_id(id.to_string()).one(db).await?;
    row.map(|row| serde_json::from_str(&row.record).map_err(StoreError::from)).transpose()
}

/// Writes a changed record; markers that were set once are preserved.
async fn replace(tx: &DatabaseTransaction, before: &Job, after: &mut Job) -> Result<(), StoreError> {
    after.keep_markers_of(before);
    after.updated_at = loopgate_api::time::now_iso();
    write(tx, after).await
}

async fn write(tx: &DatabaseTransaction, job: &Job) -> Result<(), StoreError> {
    let row = job::ActiveModel {
        loop_id: ActiveValue::Set(job.id.to_string()),
        status: ActiveValue::Set(format!("{:?}", job.status())),
        terminal: ActiveValue::Set(job.status().is_terminal()),
        reported: ActiveValue::Set(job.report.cloud_finalized_at.is_some()),
        to_clear: ActiveValue::Set(job.needs_cleanup()),
        pending_notifications: ActiveValue::Set(!job.progress.notifications.is_empty()),
        record: ActiveValue::Set(serde_json::to_string(job)?),
        updated_at: ActiveValue::Set(jiff::Timestamp::now().as_microsecond()),
    };
    let replace = OnConflict::column(job::Column::LoopId)
        .update_columns([
            job::Column::Status,
            job::Column::Terminal,
            job::Column::Reported,
            job::Column::ToClear,
            job::Column::PendingNotifications,
            job::Column::Record,
            job::Column::UpdatedAt,
        ])
        .to_owned();
    job::Entity::insert(row).on_conflict(replace).exec_without_returning(tx).await?;
    Ok(())
}

async fn delete_outgoing(tx: &DatabaseTransaction, id: LoopId) -> Result<(), DbErr> {
    let waiting = outbox::Column::LoopId.eq(id.to_string()).and(outbox::Column::Refusal.is_null());
    outbox::Entity::delete_many().filter(waiting).exec(tx).await?;
    Ok(())
}

fn readable(row: &job::Model) -> Option<Job> {
    serde_json::from_str(&row.record)
        .inspect_err(|error| tracing::error!(loop_id = row.loop_id, %error, "cannot parse a job record"))
        .ok()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod transition_tests;
