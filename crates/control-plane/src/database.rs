//! Acts of the operator on a database as a whole: migrations, and a check of what a control plane needs of it.

use std::time::{Duration, Instant};

use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, Statement};

use crate::administration::AdministrationError;
use crate::store::entity::instance;
use crate::store::{DATABASE_NOW, Store, now};

// Statements of which the median time is returned.
const SAMPLES: usize = 9;

/// State of a database, with times as a control plane on this machine would observe them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseCheck {
    /// Name and version of the database, for example `PostgreSQL 15.14`.
    pub engine: String,
    /// Why this version cannot use the schema as it is, for example because migrations are missing.
    pub obstacle: Option<String>,
    /// Time of a statement that reads nothing.
    pub round_trip: Duration,
    /// Time of a transaction that changes one row, which includes the flush to the disk. `None` when this version cannot use
    /// the database.
    pub commit: Option<Duration>,
    /// Milliseconds by which the clock of this machine is ahead of the database's.
    pub clock_ahead: i64,
}

/// Connects, reads and writes, and measures the times.
///
/// # Errors
/// Fails when the database cannot be reached, read or written.
pub async fn check_database(url: &str) -> Result<DatabaseCheck, AdministrationError> {
    with_store(url, check).await
}

async fn check(store: &Store) -> Result<DatabaseCheck, DbErr> {
    let (name, version) = if store.is_embedded() {
        ("SQLite", "SELECT sqlite_version()")
    } else {
        ("PostgreSQL", "SHOW server_version")
    };
    let version: String = value(store, version).await?;
    let obstacle = store.schema().await?.obstacle;
    let round_trip = median(async || store.reader().execute_unprepared("SELECT 1").await.map(drop)).await?;
    let commit = if obstacle.is_none() { Some(commit_time(store).await?) } else { None };
    let clock_ahead = if store.is_embedded() { 0 } else { clock_ahead(store).await? };
    let engine = format!("{name} {version}");
    Ok(DatabaseCheck { engine, obstacle, round_trip, commit, clock_ahead })
}

/// Returns the names of the migrations of this version that have not been applied to a database.
///
/// # Errors
/// Fails when the database cannot be read, or this version can no longer use it.
pub async fn missing_migrations(url: &str) -> Result<Vec<String>, AdministrationError> {
    let schema = with_store(url, Store::schema).await?;
    match schema.obstacle {
        Some(reason) if schema.is_later => Err(AdministrationError::OtherVersion(reason)),
        _ => Ok(schema.missing),
    }
}

/// Applies the missing migrations of this version to a database, and returns their names. Waits for another process that
/// applies migrations to the same PostgreSQL schema.
///
/// # Errors
/// Fails when the database cannot be changed, or this version can no longer use it.
pub async fn migrate(url: &str) -> Result<Vec<String>, AdministrationError> {
    with_store(url, async |store| {
        let missing = store.schema().await?.missing;
        store.migrate().await?;
        Ok(missing)
    })
    .await
}

async fn with_store<T>(
    url: &str,
    act: impl AsyncFnOnce(&Store) -> Result<T, DbErr>,
) -> Result<T, AdministrationError> {
    let store = Store::connect(url, None).await?;
    let result = act(&store).await;
    store.close().await?;
    Ok(result?)
}

/// Returns the value in the only row and column of a result.
async fn value<T: sea_orm::TryGetable>(store: &Store, query: &str) -> Result<T, DbErr> {
    let db = store.reader();
    let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), query)).await?;
    row.ok_or_else(|| DbErr::RecordNotFound(query.to_owned()))?.try_get_by_index(0)
}

/// Writes and deletes a row of an instance that has never reported: others consider it dead.
async fn commit_time(store: &Store) -> Result<Duration, DbErr> {
    let row = instance::Model { id: Uuid::now_v7(), version: String::new(), seen_at: 0 };
    let delete = async || instance::Entity::delete_by_id(row.id).exec(store.writer()).await.map(drop);
    let insert = async || {
        let row = instance::ActiveModel::from(row.clone()).reset_all();
        instance::Entity::insert(row).exec_without_returning(store.writer()).await.map(drop)
    };
    let pair = median(async || {
        insert().await?;
        delete().await
    });
    Ok(pair.await? / 2)
}

async fn clock_ahead(store: &Store) -> Result<i64, DbErr> {
    let before = now();
    let theirs: i64 = value(store, &format!("SELECT {DATABASE_NOW}")).await?;
    Ok(i64::midpoint(before, now()) - theirs)
}

/// Returns the median time of a statement.
async fn median(statement: impl AsyncFn() -> Result<(), DbErr>) -> Result<Duration, DbErr> {
    let mut times = [Duration::ZERO; SAMPLES];
    for time in &mut times {
        let started_at = Instant::now();
        statement().await?;
        *time = started_at.elapsed();
    }
    times.sort_unstable();
    Ok(times[SAMPLES / 2])
}

#[cfg(test)]
mod tests {
    use sea_orm::PaginatorTrait as _;

    use super::*;
    use crate::tests::TestApp;

    #[tokio::test]
    async fn check_measures_a_database() {
        let plane = TestApp::start().await;
        let check = check(&plane.app.store).await.unwrap();
        assert_eq!(check.obstacle, None);
        assert!(check.round_trip > Duration::ZERO && check.commit > Some(Duration::ZERO), "{check:?}");
        assert!(check.clock_ahead.abs() < 10_000, "{check:?}");
        let written = instance::Entity::find().filter(instance::Column::SeenAt.eq(0));
        assert_eq!(written.count(plane.app.store.reader()).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn new_database_is_migrated_once() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}?mode=rwc", folder.path().join("new.db").display());
        let check = check_database(&url).await.unwrap();
        assert!(
            check.commit.is_none()
                && check.obstacle.unwrap().contains("migrations of this version are missing")
        );
        let missing = missing_migrations(&url).await.unwrap();
        assert!(missing.len() > 20, "{missing:?}");
        assert_eq!(migrate(&url).await.unwrap(), missing);
        assert_eq!(migrate(&url).await.unwrap(), Vec::<String>::new());
        assert_eq!(missing_migrations(&url).await.unwrap(), Vec::<String>::new());
        assert!(check_database(&url).await.unwrap().commit.is_some());
    }

    #[tokio::test]
    async fn later_schema_is_used_by_versions_that_it_supports() {
        let plane = TestApp::start().await;
        let store = &plane.app.store;
        let later = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
        store.writer().execute_unprepared(later).await.unwrap();
        store.migrate().await.unwrap();
        assert!(check(store).await.unwrap().commit.is_some());
        let require = "UPDATE schema_compatibility SET minimum_version = '99.1.0'";
        store.writer().execute_unprepared(require).await.unwrap();
        let error = store.migrate().await.unwrap_err().to_string();
        assert!(error.contains("requires at least Loopgate 99.1.0; this is "), "{error}");
        let check = check(store).await.unwrap();
        assert!(check.commit.is_none() && error.ends_with(&check.obstacle.unwrap()));
        store.writer().execute_unprepared("DELETE FROM schema_compatibility").await.unwrap();
        store.migrate().await.unwrap_err();
    }
}
