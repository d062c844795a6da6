//! What survives a crash: job records, launch requests, events on their way, runner tokens; one SQLite file.
//!
//! There is one connection. A transaction on it is the lock: a change reads the newest record,
//! alters it and queues what is to be announced, all or nothing. Nobody ever writes a record that
//! was read outside of the same transaction.

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
use loopgate_home::{Credentials, files};
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

/// How long a caller waits for the one connection.
const ACQUIRE_TIME: Duration = Duration::from_secs(30);
/// How long SQLite waits for another process that looks at the file.
const BUSY_TIME: Duration = Duration::from_secs(5);
/// Ended jobs that are kept.
const KEPT_TERMINAL_JOBS: u64 = 100;

/// Why the store could not do its work.
#[derive(Debug, Error)]
pub enum StoreError {
    /// SQLite refused.
    #[error("the job database failed: {0}")]
    Database(#[from] DbErr),
    /// A record cannot be read or written as JSON.
    #[error("a job record cannot be read: {0}")]
    Record(#[from] serde_json::Error),
    /// There is no such job.
    #[error("no job of this loop is known")]
    NoJob,
    /// An order is taken back that was carried out.
    #[error("the loop runs already")]
    AlreadyStarted,
    /// The state machine refused.
    #[error(transparent)]
    InvalidTransition(#[from] InvalidTransition),
    /// A token cannot be sealed.
    #[error("the loop's token could not be encrypted")]
    Seal,
}

impl StoreError {
    /// Whether the same change may succeed later: the disk may have been full.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Database(_))
    }
}

impl From<StoreError> for LoopRequestError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the job store failed");
        Self::internal()
    }
}

/// A change of a job under way: the record, and what is to be sent because of it.
pub struct JobUpdate<'a> {
    /// The newest record.
    pub job: &'a mut Job,
    outgoing: Vec<OutboxMessage>,
}

impl JobUpdate<'_> {
    /// Lets something happen to the job.
    ///
    /// # Errors
    /// [`InvalidTransition`] when it cannot happen now; the job is then unchanged.
    pub fn apply(&mut self, event: JobEvent) -> Result<(), InvalidTransition> {
        self.job.apply(event)?;
        if self.job.status().is_terminal() && self.job.report.completed_at.is_none() {
            self.job.report.completed_at = Some(loopgate_api::time::now_iso());
        }
        Ok(())
    }

    /// Queues something for the control plane, in the same transaction.
    pub fn send(&mut self, outgoing: OutboxMessage) {
        self.outgoing.push(outgoing);
    }
}

/// What a new request took the place of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreviousJob {
    /// The record.
    pub job: Option<Job>,
    /// What it had not yet delivered.
    pub outgoing: Vec<OutboxMessage>,
}

/// The store.
#[derive(Debug, Clone)]
pub struct JobStore {
    db: DatabaseConnection,
    durable: Arc<LogFlusher>,
    credentials: Arc<Credentials>,
}

impl JobStore {
    /// Opens or makes the file, for the owner alone, and brings its tables up to date.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn open(path: &Path, credentials: Arc<Credentials>) -> Result<Self, StoreError> {
        // Before SQLite creates it world-readable.
        files::make_private(path).map_err(|error| DbErr::Custom(error.to_string()))?;
        let path_owned = path.to_owned();
        let mut options = ConnectOptions::new("sqlite::memory:");
        options
            .max_connections(1)
            .min_connections(1)
            .acquire_timeout(ACQUIRE_TIME)
            .idle_timeout(None::<Duration>)
            .max_lifetime(None::<Duration>)
            .test_before_acquire(false)
            .sqlx_logging(false)
            .map_sqlx_sqlite_before_acquire(|connection, _| Box::pin(end_what_was_left(connection)))
            .map_sqlx_sqlite_opts(move |options| {
                options
                    .in_memory(false)
                    .shared_cache(false)
                    .filename(&path_owned)
                    .create_if_missing(true)
                    .journal_mode(SqliteJournalMode::Wal)
                    // Each change is made to last all the same, by `LogFlusher`.
                    .synchronous(SqliteSynchronous::Normal)
                    .busy_timeout(BUSY_TIME)
            });
        let db = Database::connect(options).await?;
        migration::JobMigrator::up(&db, None).await?;
        let durable = Arc::new(LogFlusher::of(path));
        durable.sync_all(&db).await;
        Ok(Self { db, durable, credentials })
    }

    /// The record of a loop.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn job(&self, id: LoopId) -> Result<Option<Job>, StoreError> {
        find(&self.db, id).await
    }

    /// Every record, active ones first, then the ended ones, the newest of each first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn jobs(&self) -> Result<Vec<Job>, StoreError> {
        let rows = job::Entity::find()
            .order_by_asc(job::Column::Terminal)
            .order_by_desc(job::Column::UpdatedAt)
            .all(&self.db)
            .await?;
        Ok(rows.iter().filter_map(readable).collect())
    }

    /// The jobs that have not ended.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn active(&self) -> Result<Vec<Job>, StoreError> {
        self.filtered(job::Column::Terminal.eq(false)).await
    }

    /// The ended jobs that leave something to clear away.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn needing_cleanup(&self) -> Result<Vec<Job>, StoreError> {
        self.filtered(job::Column::Terminal.eq(true).and(job::Column::ToClear.eq(true))).await
    }

    /// The ended jobs of whose end the control plane does not know.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unreported(&self) -> Result<Vec<Job>, StoreError> {
        self.filtered(job::Column::Terminal.eq(true).and(job::Column::Reported.eq(false))).await
    }

    /// The jobs with pending notifications.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn with_pending_notifications(&self) -> Result<Vec<Job>, StoreError> {
        self.filtered(job::Column::PendingNotifications.eq(true)).await
    }

    async fn filtered(&self, condition: sea_orm::sea_query::SimpleExpr) -> Result<Vec<Job>, StoreError> {
        let rows =
            job::Entity::find().filter(condition).order_by_asc(job::Column::UpdatedAt).all(&self.db).await?;
        Ok(rows.iter().filter_map(readable).collect())
    }

    /// Stores the record of a new start request in place of an ended one; returns what it replaced.
    ///
    /// # Errors
    /// [`StoreError::InvalidTransition`] while the previous one has not ended, else [`StoreError`].
    pub async fn create(&self, job: &Job) -> Result<PreviousJob, StoreError> {
        let tx = self.db.begin().await?;
        let previous =
            PreviousJob { job: find(&tx, job.id).await?, outgoing: messages::all(&tx, job.id).await? };
        // A loop that was announced only has not started on this machine.
        let active = previous.job.as_ref().filter(|job| !job.is_announced_only());
        let event =
            if job.status() == JobStatus::Queued { JobEvent::Queued } else { JobEvent::StartRequested };
        lifecycle::next(active.map(Job::status), event)?;
        delete_outgoing(&tx, job.id).await?;
        write(&tx, job).await?;
        self.commit(tx).await?;
        Ok(previous)
    }

    /// Stores a record unless the loop has one; returns whether it was stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add(&self, job: &Job) -> Result<bool, StoreError> {
        let tx = self.db.begin().await?;
        let is_new = find(&tx, job.id).await?.is_none();
        if is_new {
            write(&tx, job).await?;
        }
        self.commit(tx).await?;
        Ok(is_new)
    }

    /// Takes back [`JobStore::create`]: restores the previous record and its unsent messages, or none.
    ///
    /// # Errors
    /// [`StoreError::AlreadyStarted`] when its process was started meanwhile, else [`StoreError`].
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
    /// [`StoreError::NoJob`], [`StoreError::Database`].
    pub async fn update(&self, id: LoopId, change: impl FnOnce(&mut Job) + Send) -> Result<Job, StoreError> {
        self.change(id, |now| {
            change(now.job);
            Ok(())
        })
        .await
    }

    /// Changes the newest record and queues what goes with it, in one transaction. An error of the
    /// change undoes everything.
    ///
    /// # Errors
    /// [`StoreError`], and what the change itself answers.
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

    /// Commits what must not vanish with the machine's power.
    async fn commit(&self, tx: DatabaseTransaction) -> Result<(), DbErr> {
        tx.commit().await?;
        self.durable.reached(&self.db).await;
        Ok(())
    }
}

/// Ends a transaction that was left open. When a disk is full, SQLite may end one by itself; its
/// owner does not notice, nests every later one in it, and none of them would ever be stored.
async fn end_what_was_left(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // Refused when there is none any more.
        let _ = sqlx::query("ROLLBACK").execute(connection).await;
    }
    Ok(true)
}

/// Deletes the oldest ended and reported jobs beyond those that are kept.
async fn trim(tx: &DatabaseTransaction) -> Result<(), DbErr> {
    let ended = job::Column::Terminal.eq(true);
    if job::Entity::find().filter(ended.clone()).count(tx).await? <= KEPT_TERMINAL_JOBS {
        return Ok(());
    }
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
    let refused = outbox::Column::LoopId.is_in(surplus).and(outbox::Column::Refusal.is_not_null());
    outbox::Entity::delete_many().filter(refused).exec(tx).await?;
    Ok(())
}

async fn find(db: &impl sea_orm::ConnectionTrait, id: LoopId) -> Result<Option<Job>, StoreError> {
    let row = job::Entity::find_by_id(id.to_string()).one(db).await?;
    row.map(|row| serde_json::from_str(&row.record).map_err(StoreError::from)).transpose()
}

/// Stores a changed record. What was done once stays done, whatever the change did to it.
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
        .inspect_err(|error| tracing::error!(loop_id = row.loop_id, %error, "a job record cannot be read"))
        .ok()
}

#[cfg(test)]
mod life_tests;
#[cfg(test)]
mod tests;
