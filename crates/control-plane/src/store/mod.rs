//! Persistence of the control plane, with one set of entities for SQLite and PostgreSQL.
//!
//! Owns connections and migrations. Read through [`Store::reader`], write in a transaction of
//! [`Store::begin`]. Rules about the meaning of rows belong to the modules of the resources.

pub mod column;
pub mod entity;
pub mod migration;

use std::collections::HashSet;
use std::time::Duration;

use entity::schema_compatibility;
use futures_util::TryStreamExt as _;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    EntityTrait, QuerySelect as _, Select, SqlErr, TransactionTrait,
};
use sea_orm_migration::{MigratorTrait, SchemaManager, seaql_migrations};
use semver::Version;
use serde::de::DeserializeOwned;

// Timeout for a pooled connection, and for SQLite's lock.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
// SQLite in WAL mode allows any number of readers next to one writer.
const READERS: u32 = 4;
// Table in which sea-orm records the applied migrations.
const MIGRATIONS_TABLE: &str = "seaql_migrations";
// Shared by readers and writers. Well below PostgreSQL's default of 100 connections, so that several
// instances fit.
const POSTGRES_CONNECTIONS: u32 = 16;

/// The database's time in milliseconds, in SQL of PostgreSQL: clocks of instances may differ.
pub const DATABASE_NOW: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)";

// Waits for the advisory lock of the migrations of a schema.
const MIGRATION_LOCK: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended('loopgate migrations ' || current_schema(), 0))";

const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A schema, compared with the one of this version.
#[derive(Debug)]
pub struct SchemaState {
    /// Names of the migrations of this version that have not been applied.
    pub missing: Vec<String>,
    /// Whether a later version, which may run beside this one, has applied migrations.
    pub is_later: bool,
    /// Why this version cannot use the database as it is.
    pub obstacle: Option<String>,
}

/// Connection pools of the database.
#[derive(Clone, Debug)]
pub struct Store {
    /// Pool for read-only statements; on SQLite, readers do not wait for the writer.
    read: DatabaseConnection,
    /// Pool for writes. Exactly one connection on SQLite, so transactions queue here instead of failing with
    /// `SQLITE_BUSY`.
    write: DatabaseConnection,
}

impl Store {
    /// Connects and applies pending migrations.
    ///
    /// `url` is `sqlite://<path>?mode=rwc` or `postgres://…`; `schema` names a PostgreSQL schema.
    pub async fn open(url: &str, schema: Option<&str>) -> Result<Self, DbErr> {
        let store = Self::connect(url, schema).await?;
        store.migrate().await?;
        Ok(store)
    }

    /// Connects without applying migrations, so that a running control plane is not affected.
    pub async fn connect(url: &str, schema: Option<&str>) -> Result<Self, DbErr> {
        let store = if url.starts_with("sqlite:") {
            let write = Database::connect(sqlite(url, 1)).await?;
            Self { read: Database::connect(sqlite(url, READERS)).await?, write }
        } else {
            let write = Database::connect(postgres(url, schema)).await?;
            Self { read: write.clone(), write }
        };
        Ok(store)
    }

    /// Applies pending migrations. On PostgreSQL, other instances that start at the same time wait.
    ///
    /// Fails when a later version has changed the schema, and this one can no longer use it.
    pub async fn migrate(&self) -> Result<(), DbErr> {
        if self.is_embedded() {
            return self.apply_migrations().await;
        }
        // The lock belongs to this transaction, whose connection does nothing else: the migrations run on
        // other connections of the pool. A killed process releases it.
        let lock = self.begin().await?;
        lock.execute_unprepared(MIGRATION_LOCK).await?;
        self.apply_migrations().await?;
        lock.commit().await
    }

    async fn apply_migrations(&self) -> Result<(), DbErr> {
        let schema = self.schema().await?;
        if schema.is_later {
            // The migrator fails when it does not know an applied migration.
            return schema.obstacle.map_or(Ok(()), |reason| Err(DbErr::Migration(reason)));
        }
        migration::Migrator::up(&self.write, None).await
    }

    /// Returns whether migrations have been applied to the database.
    pub async fn has_schema(&self) -> Result<bool, DbErr> {
        SchemaManager::new(&self.write).has_table(MIGRATIONS_TABLE).await
    }

    /// Compares the schema with the one of this version.
    pub async fn schema(&self) -> Result<SchemaState, DbErr> {
        let applied = if self.has_schema().await? {
            seaql_migrations::Entity::find().all(&self.read).await?
        } else {
            Vec::new()
        };
        let mut later: HashSet<String> = applied.into_iter().map(|row| row.version).collect();
        let own = migration::Migrator::migrations();
        let missing: Vec<String> =
            own.iter().map(|own| own.name().to_owned()).filter(|name| !later.remove(name)).collect();
        let is_later = !later.is_empty();
        let obstacle = match (missing.len(), is_later) {
            (0, false) => None,
            (0, true) => self.newer_requirement().await?,
            (_, true) => Some(
                "a later version has changed the database, which lacks migrations of this one: use the later \
                 version"
                    .to_owned(),
            ),
            (count, false) => Some(format!(
                "{count} migrations of this version are missing; `loopgate control-plane migrate` applies them"
            )),
        };
        Ok(SchemaState { missing, is_later, obstacle })
    }

    /// Returns the requirement of a schema that a later version has changed, unless this version fulfils it.
    async fn newer_requirement(&self) -> Result<Option<String>, DbErr> {
        let row = schema_compatibility::Entity::find().one(&self.read).await?;
        let required = row.map(|row| row.minimum_version).unwrap_or_default();
        let versions = (Version::parse(OWN_VERSION), Version::parse(&required));
        let is_fulfilled = matches!(versions, (Ok(own), Ok(required)) if own >= required);
        Ok((!is_fulfilled).then(|| {
            format!(
                "a later version has changed the database, which requires at least Loopgate {required}; this is \
                 {OWN_VERSION}"
            )
        }))
    }

    /// Returns the pool for read-only statements.
    pub const fn reader(&self) -> &DatabaseConnection {
        &self.read
    }

    /// Returns the pool for a single write outside a transaction. Do not use it while the same task has an
    /// open transaction: on SQLite, both need the only writing connection, which deadlocks until the timeout.
    pub const fn writer(&self) -> &DatabaseConnection {
        &self.write
    }

    /// Begins a transaction; dropping it without a commit rolls back.
    pub async fn begin(&self) -> Result<DatabaseTransaction, DbErr> {
        Self::begin_on(&self.write).await
    }

    /// Begins a transaction that only reads.
    pub async fn begin_read(&self) -> Result<DatabaseTransaction, DbErr> {
        Self::begin_on(&self.read).await
    }

    // On a task of its own, which completes when the caller is dropped: sqlx would return a connection to the pool
    // inside the transaction, if the caller were dropped while PostgreSQL responds to BEGIN.
    async fn begin_on(pool: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
        let pool = pool.clone();
        let transaction = tokio::spawn(async move { pool.begin().await }).await;
        transaction.map_err(|error| DbErr::Custom(format!("cannot begin a transaction: {error}")))?
    }

    /// Returns whether this process has the database to itself.
    pub fn is_embedded(&self) -> bool {
        self.write.get_database_backend() == DbBackend::Sqlite
    }

    /// Closes the connections of both pools.
    pub async fn close(&self) -> Result<(), DbErr> {
        // On PostgreSQL both are the same pool; closing it twice is a no-op.
        self.read.clone().close().await?;
        self.write.clone().close().await
    }
}

fn sqlite(url: &str, connections: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options.max_connections(connections).acquire_timeout(ACQUIRE_TIMEOUT).sqlx_logging(false);
    options.map_sqlx_sqlite_opts(|sqlite: SqliteConnectOptions| {
        sqlite
            .journal_mode(SqliteJournalMode::Wal)
            // Accepted events must survive a power failure. In WAL mode, `NORMAL` does not fsync on commit.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(ACQUIRE_TIMEOUT)
            // SQLite does not enforce foreign keys unless asked for each connection.
            .foreign_keys(true)
    });
    options
}

fn postgres(url: &str, schema: Option<&str>) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    // Statement logging would write user data to the log.
    options.max_connections(POSTGRES_CONNECTIONS).acquire_timeout(ACQUIRE_TIMEOUT).sqlx_logging(false);
    if let Some(schema) = schema {
        options.set_schema_search_path(schema);
    }
    options
}

/// Bytes of JSON after which a batch of rows ends, unless a response is smaller: a row may have megabytes.
pub const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Rows in the order of their query.
pub struct RowBatch<M> {
    pub rows: Vec<M>,
    /// Whether no further row matches the query.
    pub is_last: bool,
}

/// Reads rows until there are `limit`, or their JSON values have `max_bytes`. Returns at least one, if there is one.
pub async fn read_batch<E: EntityTrait>(
    db: &DatabaseConnection,
    query: Select<E>,
    limit: u64,
    max_bytes: usize,
    json: impl Fn(&E::Model) -> &serde_json::Value,
) -> Result<RowBatch<E::Model>, DbErr> {
    let mut stream = query.limit(row_count(limit)).stream(db).await?;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while bytes < max_bytes {
        let Some(row) = stream.try_next().await? else {
            let is_last = u64::try_from(rows.len()).is_ok_and(|count| count < limit);
            return Ok(RowBatch { rows, is_last });
        };
        bytes += json(&row).to_string().len();
        rows.push(row);
    }
    Ok(RowBatch { rows, is_last: false })
}

/// Largest row count that both databases accept, for queries without a limit.
pub const ALL_ROWS: u64 = i64::MAX as u64;

/// Caps a row count from a client to the range of SQL's `bigint`.
pub fn row_count(requested: u64) -> u64 {
    requested.min(ALL_ROWS)
}

/// Returns whether a statement failed on a unique index.
pub fn is_duplicate(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}

/// Returns the current time in milliseconds since the Unix epoch, the format of all time columns.
pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Formats a stored time as ISO 8601.
pub fn iso(at: i64) -> String {
    loopgate_api::time::iso(jiff::Timestamp::from_millisecond(at).unwrap_or_default())
}

/// Deserializes a JSON column. Returns `None` for values that do not match the type.
pub fn parse_json<T: DeserializeOwned>(json: Option<&serde_json::Value>) -> Option<T> {
    serde_json::from_value(json?.clone()).ok()
}
