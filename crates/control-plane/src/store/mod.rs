//! Where the control plane keeps its state: one set of entities for SQLite and PostgreSQL.
//!
//! Owns the connections, the migrations and the way a change is made: read from
//! [`Store::reader`], change inside one transaction of [`Store::begin`]. Never knows what the rows
//! mean; rules live with the resource.

pub mod column;
pub mod entity;
mod migration;

use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqlErr,
    TransactionTrait,
};
use sea_orm_migration::MigratorTrait;
use serde::de::DeserializeOwned;

/// How long a statement waits for a connection, and SQLite for its lock.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections for readers, and for everything on PostgreSQL.
const READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 16;

/// The database.
#[derive(Clone, Debug)]
pub struct Store {
    /// Read-only statements; on SQLite they never wait for the writer.
    read: DatabaseConnection,
    /// Changes. On SQLite exactly one connection, so a transaction never meets a busy lock.
    write: DatabaseConnection,
}

impl Store {
    /// Connects, and brings the schema up to date.
    ///
    /// `url` is `sqlite://<path>?mode=rwc` or `postgres://…`; `schema` names a PostgreSQL schema.
    pub async fn open(url: &str, schema: Option<&str>) -> Result<Self, DbErr> {
        let store = if url.starts_with("sqlite:") {
            let write = Database::connect(sqlite(url, 1)).await?;
            Self { read: Database::connect(sqlite(url, READERS)).await?, write }
        } else {
            let write = Database::connect(postgres(url, schema)).await?;
            Self { read: write.clone(), write }
        };
        migration::Migrator::up(&store.write, None).await?;
        Ok(store)
    }

    /// For statements that change nothing.
    pub const fn reader(&self) -> &DatabaseConnection {
        &self.read
    }

    /// For one statement that changes something on its own. Never used while a transaction of the
    /// same task is open: SQLite has one writing connection.
    pub const fn writer(&self) -> &DatabaseConnection {
        &self.write
    }

    /// A unit of work; dropped without a commit it leaves no trace.
    pub async fn begin(&self) -> Result<DatabaseTransaction, DbErr> {
        self.write.begin().await
    }

    /// Whether this process alone works on the database.
    pub fn is_embedded(&self) -> bool {
        self.write.get_database_backend() == DbBackend::Sqlite
    }

    /// Ends all connections.
    pub async fn close(&self) -> Result<(), DbErr> {
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
            // An accepted event must survive a loss of power, so every commit reaches the disk.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(ACQUIRE_TIMEOUT)
            .foreign_keys(true)
    });
    options
}

fn postgres(url: &str, schema: Option<&str>) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options.max_connections(POSTGRES_CONNECTIONS).acquire_timeout(ACQUIRE_TIMEOUT).sqlx_logging(false);
    if let Some(schema) = schema {
        options.set_schema_search_path(schema);
    }
    options
}

/// As many rows as a database can count.
pub const ALL_ROWS: u64 = i64::MAX as u64;

/// A number of rows that a client names, as far as a database can count.
pub fn row_count(wanted: u64) -> u64 {
    wanted.min(ALL_ROWS)
}

/// Whether a statement failed because a unique index refused it.
pub fn is_duplicate(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}

/// The present instant as it is stored: milliseconds since the epoch.
pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// A stored instant as it travels.
pub fn iso(at: i64) -> String {
    loopgate_api::time::iso(jiff::Timestamp::from_millisecond(at).unwrap_or_default())
}

/// Reads a stored JSON column into its type; what does not fit is absent.
pub fn parse_json<T: DeserializeOwned>(json: Option<&serde_json::Value>) -> Option<T> {
    serde_json::from_value(json?.clone()).ok()
}
