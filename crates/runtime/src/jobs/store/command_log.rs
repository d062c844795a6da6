//! Progress of commands from the control plane, so that no command runs twice after a restart.
//!
//! Concurrent entries share one sync of the disk, as all commits of the store do.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use loopgate_api::link::CommandProgress;
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveValue::Set, ColumnTrait as _, DatabaseTransaction, DbErr, EntityTrait as _, QueryFilter as _,
    TransactionTrait as _,
};
use sea_orm_migration::prelude::{Index, MigrationName, MigrationTrait, SchemaManager, Table, async_trait};
use sea_orm_migration::schema::{big_integer, string, text};
use serde::Deserialize;

use super::{JobStore, StoreError};

/// Progress of one command.
mod command {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "command")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub command_id: String,
        /// The [`super::CommandProgress`] as JSON text.
        #[sea_orm(column_type = "Text")]
        pub progress: String,
        /// Milliseconds since the epoch.
        pub recorded_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Migration that creates the table of commands.
pub(super) struct Commands;

impl MigrationName for Commands {
    fn name(&self) -> &'static str {
        "m0006_commands"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Commands {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let commands = Table::create()
            .table("command")
            .col(string("command_id").primary_key())
            .col(text("progress"))
            .col(big_integer("recorded_at"))
            .take();
        manager.create_table(commands).await?;
        let by_age = Index::create().name("command_by_age").table("command").col("recorded_at").take();
        manager.create_index(by_age).await
    }
}

/// Progress of commands, kept for [`CommandProgress::RETENTION`].
#[derive(Debug, Clone)]
pub struct CommandLogTable(JobStore);

impl CommandLogTable {
    /// Imports `legacy_file`, the log of versions up to 0.13.18, if it exists. The file is removed once its
    /// entries are durable.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the database or the file cannot be used.
    pub(crate) async fn open(store: JobStore, legacy_file: &Path) -> Result<Self, StoreError> {
        let log = Self(store);
        log.import(legacy_file).await?;
        Ok(log)
    }

    /// Returns the progress of a command; `None` when it is unknown or expired.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the entry cannot be read.
    pub async fn find(&self, command_id: &str) -> Result<Option<CommandProgress>, StoreError> {
        let row = command::Entity::find_by_id(command_id)
            .filter(command::Column::RecordedAt.gte(expiry(Timestamp::now())))
            .one(&self.0.db)
            .await?;
        Ok(row.map(|row| serde_json::from_str(&row.progress)).transpose()?)
    }

    /// Stores or replaces the progress of a command and deletes expired entries. Durable when it returns.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the entry cannot be stored.
    pub async fn record(&self, command_id: String, progress: &CommandProgress) -> Result<(), StoreError> {
        let now = Timestamp::now();
        let tx = self.0.db.begin().await?;
        upsert(&tx, command_id, progress, now.as_millisecond()).await?;
        delete_expired(&tx, now).await?;
        Ok(self.0.commit(tx).await?)
    }

    async fn import(&self, file: &Path) -> Result<(), StoreError> {
        let text = match tokio::fs::read(file).await {
            // A crash may have truncated the file within a character.
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unusable(file, &error)),
        };
        let tx = self.0.db.begin().await?;
        for (command_id, line) in legacy_lines(&text) {
            let at = line.at.as_millisecond();
            let existing = command::Entity::find_by_id(&command_id).one(&tx).await?;
            // The file was imported before, or an older version has written it since; the newer entry wins.
            if existing.is_none_or(|existing| existing.recorded_at < at) {
                upsert(&tx, command_id, &line.progress, at).await?;
            }
        }
        delete_expired(&tx, Timestamp::now()).await?;
        self.0.commit(tx).await?;
        tokio::fs::remove_file(file).await.map_err(|error| unusable(file, &error))
    }
}

fn unusable(file: &Path, error: &io::Error) -> StoreError {
    DbErr::Custom(format!("cannot import the command log {}: {error}", file.display())).into()
}

/// Returns the oldest instant that is kept, in milliseconds since the epoch.
fn expiry(now: Timestamp) -> i64 {
    let retention = i64::try_from(CommandProgress::RETENTION.as_millis()).unwrap_or(i64::MAX);
    now.as_millisecond().saturating_sub(retention)
}

async fn upsert(
    tx: &DatabaseTransaction,
    command_id: String,
    progress: &CommandProgress,
    at: i64,
) -> Result<(), StoreError> {
    use command::Column;
    let row = command::ActiveModel {
        command_id: Set(command_id),
        progress: Set(serde_json::to_string(progress)?),
        recorded_at: Set(at),
    };
    let replace = OnConflict::column(Column::CommandId)
        .update_columns([Column::Progress, Column::RecordedAt])
        .to_owned();
    command::Entity::insert(row).on_conflict(replace).exec_without_returning(tx).await?;
    Ok(())
}

async fn delete_expired(tx: &DatabaseTransaction, now: Timestamp) -> Result<(), DbErr> {
    let expired = command::Column::RecordedAt.lt(expiry(now));
    command::Entity::delete_many().filter(expired).exec(tx).await?;
    Ok(())
}

/// A line of the log file of versions up to 0.13.18.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LegacyLine {
    command_id: String,
    at: Timestamp,
    #[serde(flatten)]
    progress: CommandProgress,
}

/// Returns the last line of each command. Lines that do not parse were truncated by a crash.
fn legacy_lines(text: &str) -> HashMap<String, LegacyLine> {
    let lines = text.lines().filter_map(|line| serde_json::from_str::<LegacyLine>(line).ok());
    lines.map(|line| (line.command_id.clone(), line)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::SignedDuration;
    use loopgate_api::link::{CommandEvent, EventType};
    use loopgate_home::{Credentials, DataDir};
    use serde_json::json;

    use super::*;

    async fn open(dir: &Path) -> CommandLogTable {
        let data = DataDir::open(dir).unwrap();
        let credentials = Arc::new(Credentials::open(&data).unwrap());
        let store = JobStore::open(&data.file("desktop.db"), credentials).await.unwrap();
        CommandLogTable::open(store, &data.file("commands.jsonl")).await.unwrap()
    }

    fn finished(sequence: u64) -> CommandProgress {
        let event = CommandEvent {
            command_id: "b".into(),
            sequence,
            event_type: EventType::Done,
            data: json!({"type": "done"}),
        };
        CommandProgress::Finished { events: vec![event] }
    }

    /// Returns the log file as written by version 0.13.18, with a last line that a crash truncated.
    fn legacy_file(now: Timestamp) -> String {
        let at = |hours| now - SignedDuration::from_hours(hours);
        let event = r#"{"commandId":"b","sequence":3,"eventType":"done","data":{"type":"done"}}"#;
        [
            format!(r#"{{"commandId":"a","at":"{}","state":"started"}}"#, at(1)),
            format!(r#"{{"commandId":"b","at":"{}","state":"started"}}"#, at(2)),
            format!(r#"{{"commandId":"b","at":"{}","state":"finished","events":[{event}]}}"#, at(1)),
            format!(r#"{{"commandId":"old","at":"{}","state":"started"}}"#, at(25)),
            r#"{"commandId":"c","at"#.to_owned(),
        ]
        .join("\n")
    }

    #[tokio::test]
    async fn legacy_file_is_imported_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("commands.jsonl");
        let text = legacy_file(Timestamp::now());
        std::fs::write(&file, &text).unwrap();

        let log = open(dir.path()).await;
        assert_eq!(log.find("a").await.unwrap(), Some(CommandProgress::Started));
        assert_eq!(log.find("b").await.unwrap(), Some(finished(3)));
        assert_eq!(log.find("old").await.unwrap(), None);
        assert_eq!(log.find("c").await.unwrap(), None);
        assert!(!file.exists());

        // A crash between the commit and the removal leaves the file, and the command has finished since.
        log.record("a".into(), &finished(7)).await.unwrap();
        drop(log);
        std::fs::write(&file, &text).unwrap();
        let log = open(dir.path()).await;
        assert_eq!(log.find("a").await.unwrap(), Some(finished(7)));
        assert!(!file.exists());

        // A downgrade: an older version wrote the file in between.
        drop(log);
        let later = Timestamp::now() + SignedDuration::from_secs(1);
        std::fs::write(&file, format!(r#"{{"commandId":"a","at":"{later}","state":"started"}}"#)).unwrap();
        let log = open(dir.path()).await;
        assert_eq!(log.find("a").await.unwrap(), Some(CommandProgress::Started));
    }

    #[tokio::test]
    async fn concurrent_entries_survive_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let log = open(dir.path()).await;
        let records = (0..50).map(|n| {
            let log = log.clone();
            async move {
                log.record(n.to_string(), &CommandProgress::Started).await.unwrap();
                log.record(n.to_string(), &finished(n)).await.unwrap();
            }
        });
        futures_util::future::join_all(records).await;
        drop(log);
        let log = open(dir.path()).await;
        for n in 0..50 {
            assert_eq!(log.find(&n.to_string()).await.unwrap(), Some(finished(n)));
        }
    }

    #[tokio::test]
    async fn expired_entries_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let log = open(dir.path()).await;
        let tx = log.0.db.begin().await.unwrap();
        let at = expiry(Timestamp::now()) - 1;
        upsert(&tx, "old".into(), &CommandProgress::Started, at).await.unwrap();
        log.0.commit(tx).await.unwrap();
        assert_eq!(log.find("old").await.unwrap(), None);
        log.record("new".into(), &CommandProgress::Started).await.unwrap();
        let rows = command::Entity::find().all(&log.0.db).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.command_id.as_str()).collect::<Vec<_>>(), ["new"]);
    }
}
