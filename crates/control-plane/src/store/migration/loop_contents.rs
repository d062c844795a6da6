//! Moves the large values of loops out of the table `loops`, and adds the sums of their usage per day.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use super::indexes::plain;
use super::schema::{references, table};

// Columns that move, apart from the artifacts.
const MOVED: [&str; 5] = ["results", "metadata", "tokens_by_model", "prompt", "context_refs"];

/// Creates the tables of large values, moves the values there, and drops their columns.
pub struct LoopContents;

impl MigrationName for LoopContents {
    fn name(&self) -> &'static str {
        "m0017_loop_contents"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for LoopContents {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut contents = table("loop_contents", &["loop_id"]);
        contents.col(uuid("loop_id"));
        contents.col(text_null("prompt"));
        contents.col(json_binary_null("context_refs"));
        contents.col(json_binary("metadata"));
        contents.col(json_binary_null("results"));
        contents.col(json_binary_null("tokens_by_model"));
        contents.foreign_key(&mut references("loop_contents", "loop_id", "loops", ForeignKeyAction::Cascade));
        manager.create_table(contents).await?;
        let mut artifacts = table("loop_artifacts", &["loop_id", "name"]);
        artifacts.col(uuid("loop_id"));
        artifacts.col(text("name"));
        artifacts.col(text("content"));
        artifacts.col(big_integer("bytes"));
        artifacts.col(big_integer("uploaded_at"));
        artifacts.foreign_key(&mut references(
            "loop_artifacts",
            "loop_id",
            "loops",
            ForeignKeyAction::Cascade,
        ));
        manager.create_table(artifacts).await?;
        let db = manager.get_connection();
        let (copy_artifacts, fill_columns) = match manager.get_database_backend() {
            DbBackend::Postgres => (POSTGRES_ARTIFACTS, POSTGRES_COLUMNS),
            _ => (SQLITE_ARTIFACTS, SQLITE_COLUMNS),
        };
        db.execute_unprepared(copy_artifacts).await?;
        // Before the other statements: SQLite rewrites each row that they change, and most of a row is artifacts.
        drop_column(manager, "uploaded_artifacts").await?;
        for column in [
            text_null("prompt_excerpt"),
            big_integer("cache_creation_tokens").default(0).take(),
            big_integer("cache_read_tokens").default(0).take(),
            double_null("reported_cost"),
            string_null("api_key_source"),
        ] {
            manager.alter_table(Table::alter().table("loops").add_column(column).take()).await?;
        }
        for statement in [COPY_CONTENTS, fill_columns] {
            db.execute_unprepared(statement).await?;
        }
        for column in MOVED {
            drop_column(manager, column).await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

async fn drop_column(manager: &SchemaManager<'_>, column: &'static str) -> Result<(), DbErr> {
    manager.alter_table(Table::alter().table("loops").drop_column(column).take()).await
}

const COPY_CONTENTS: &str =
    "INSERT INTO loop_contents (loop_id, prompt, context_refs, metadata, results, tokens_by_model)
     SELECT id, prompt, context_refs, metadata, results, tokens_by_model FROM loops";

const SQLITE_ARTIFACTS: &str = "INSERT INTO loop_artifacts (loop_id, name, content, bytes, uploaded_at)
     SELECT loop_id, name, content, length(CAST(name AS BLOB)) + length(CAST(content AS BLOB)), updated_at
     FROM (SELECT loops.id AS loop_id, loops.updated_at, artifact.key AS name,
                  CASE artifact.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
                       WHEN 'object' THEN artifact.value WHEN 'array' THEN artifact.value
                       ELSE json_quote(artifact.value) END AS content
           FROM loops, json_each(loops.uploaded_artifacts) AS artifact
           WHERE json_type(loops.uploaded_artifacts) = 'object')";

// The limit of a sum is 2^53, up to which SQLite's `total`, which unlike `sum` cannot overflow, is exact.
const SQLITE_COLUMNS: &str = "UPDATE loops SET
       prompt_excerpt = substr(prompt, 1, 200),
       reported_cost = CASE WHEN json_type(metadata, '$.cost.totalUsd') IN ('real', 'integer')
                       THEN json_extract(metadata, '$.cost.totalUsd') END,
       api_key_source = CASE WHEN json_type(metadata, '$.apiKeySource') = 'text'
                        THEN substr(json_extract(metadata, '$.apiKeySource'), 1, 200) END,
       cache_creation_tokens = CASE WHEN json_type(tokens_by_model) = 'object' THEN
         (SELECT CAST(min(total(json_extract(model.value, '$.cacheCreation')), 9007199254740992) AS INTEGER)
          FROM json_each(loops.tokens_by_model) AS model) ELSE 0 END,
       cache_read_tokens = CASE WHEN json_type(tokens_by_model) = 'object' THEN
         (SELECT CAST(min(total(json_extract(model.value, '$.cacheRead')), 9007199254740992) AS INTEGER)
          FROM json_each(loops.tokens_by_model) AS model) ELSE 0 END";

const POSTGRES_ARTIFACTS: &str = "INSERT INTO loop_artifacts (loop_id, name, content, bytes, uploaded_at)
     SELECT loops.id, artifact.key, artifact.value::text,
            octet_length(artifact.key) + octet_length(artifact.value::text), loops.updated_at
     FROM loops, LATERAL jsonb_each(loops.uploaded_artifacts) AS artifact
     WHERE jsonb_typeof(loops.uploaded_artifacts) = 'object'";

const POSTGRES_COLUMNS: &str = "UPDATE loops SET
       prompt_excerpt = left(prompt, 200),
       reported_cost = CASE WHEN jsonb_typeof(metadata #> '{cost,totalUsd}') = 'number'
                       THEN (metadata #>> '{cost,totalUsd}')::double precision END,
       api_key_source = CASE WHEN jsonb_typeof(metadata -> 'apiKeySource') = 'string'
                        THEN left(metadata ->> 'apiKeySource', 200) END,
       cache_creation_tokens = CASE WHEN jsonb_typeof(tokens_by_model) = 'object' THEN
         (SELECT least(coalesce(sum((model.value ->> 'cacheCreation')::numeric), 0), 9007199254740992)::bigint
          FROM jsonb_each(tokens_by_model) AS model) ELSE 0 END,
       cache_read_tokens = CASE WHEN jsonb_typeof(tokens_by_model) = 'object' THEN
         (SELECT least(coalesce(sum((model.value ->> 'cacheRead')::numeric), 0), 9007199254740992)::bigint
          FROM jsonb_each(tokens_by_model) AS model) ELSE 0 END";

/// Creates the sums of the usage per day, and adds the loops that have already finished.
pub struct UsageDays;

impl MigrationName for UsageDays {
    fn name(&self) -> &'static str {
        "m0018_usage_days"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for UsageDays {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut days = table("usage_days", &["organization_id", "day", "user_id", "command"]);
        days.col(uuid("organization_id"));
        days.col(big_integer("day"));
        days.col(uuid("user_id"));
        days.col(string("command"));
        for sum in COUNTERS {
            days.col(big_integer(sum));
        }
        days.foreign_key(&mut references("usage_days", "user_id", "users", ForeignKeyAction::Cascade));
        manager.create_table(days).await?;
        // Contains all columns in the order of a grouping by command and user. That by day is the order of the
        // primary key.
        let mut by_command = Index::create();
        by_command.name("ix_usage_days_command_user").table("usage_days");
        for column in ["organization_id", "command", "user_id", "day"].iter().chain(&COUNTERS) {
            by_command.col(*column);
        }
        manager.create_index(by_command).await?;
        // Serves the list of documents, which is sorted by the time of the last change.
        manager.create_index(plain("documents", &["organization_id", "updated_at", "id"])).await?;
        manager.create_index(plain("documents", &["organization_id", "kind", "updated_at", "id"])).await?;
        manager.get_connection().execute_unprepared(&filled_from_loops(manager)).await.map(drop)
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

const COUNTERS: [&str; 6] =
    ["loops", "tokens_input", "tokens_output", "cache_creation_tokens", "cache_read_tokens", "cost_micros"];

// Each loop counts up to the limit of `loops::usage`, so that the sums cannot overflow.
fn filled_from_loops(manager: &SchemaManager) -> String {
    let (least, micros) = match manager.get_database_backend() {
        DbBackend::Postgres => ("least", "round(estimated_cost * 1000000)::numeric"),
        _ => ("min", "round(estimated_cost * 1000000)"),
    };
    let count = |value: &str| format!("CAST(sum(CAST({least}({value}, 1000000000000) AS bigint)) AS bigint)");
    format!(
        "INSERT INTO usage_days (organization_id, day, user_id, command, {})
         SELECT organization_id, created_at / 86400000, user_id, command, count(*), {}, {}, {}, {}, {}
         FROM loops WHERE status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'AWAITING_USER')
         GROUP BY organization_id, created_at / 86400000, user_id, command",
        COUNTERS.join(", "),
        count("tokens_input"),
        count("tokens_output"),
        count("cache_creation_tokens"),
        count("cache_read_tokens"),
        count(&format!("coalesce({micros}, 0)")),
    )
}

#[cfg(test)]
mod tests {
    use sea_orm_migration::sea_orm::prelude::*;
    use sea_orm_migration::sea_orm::{Database, DatabaseConnection};
    use serde_json::{Value, json};

    use super::super::Migrator;
    use super::*;
    use crate::loops::contents;
    use crate::store::entity::{agent_loop, usage_day};
    use crate::store::{postgres, sqlite};
    use crate::tests::plane::fresh_schema;

    // Opens an empty database, and applies the migrations before this one.
    async fn previous_version(dir: &tempfile::TempDir) -> DatabaseConnection {
        let options = match std::env::var("LOOPGATE_TEST_POSTGRES") {
            Ok(url) => postgres(&url, Some(&fresh_schema(&url).await)),
            Err(_) => sqlite(&format!("sqlite://{}?mode=rwc", dir.path().join("db").display()), 1),
        };
        let db = Database::connect(options).await.unwrap();
        let migrations = Migrator::migrations();
        let earlier = migrations.iter().position(|migration| migration.name() == LoopContents.name());
        let earlier = earlier.and_then(|count| count.try_into().ok());
        Migrator::up(&db, earlier).await.unwrap();
        db
    }

    async fn insert(db: &DatabaseConnection, table: &'static str, row: Vec<(&'static str, Expr)>) {
        let (columns, values): (Vec<_>, Vec<_>) = row.into_iter().unzip();
        let insert = Query::insert().into_table(table).columns(columns).values_panic(values).to_owned();
        db.execute(&insert).await.unwrap();
    }

    fn json_of(value: Value) -> Expr {
        Expr::value(value)
    }

    #[tokio::test]
    async fn values_of_existing_loops_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let db = previous_version(&dir).await;
        let (organization, identity, user) = (Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7());
        insert(
            &db,
            "organizations",
            vec![
                ("id", organization.into()),
                ("name", "Home".into()),
                ("slug", "home".into()),
                ("active", true.into()),
                ("settings", json_of(json!({}))),
                ("created_at", 0_i64.into()),
            ],
        )
        .await;
        insert(&db, "identities", vec![("id", identity.into()), ("created_at", 0_i64.into())]).await;
        insert(
            &db,
            "users",
            vec![
                ("id", user.into()),
                ("organization_id", organization.into()),
                ("identity_id", identity.into()),
                ("email", "ada@example.org".into()),
                ("active", true.into()),
                ("role", "org:admin".into()),
                ("created_at", 0_i64.into()),
            ],
        )
        .await;
        let artifacts = json!({"plan": {"content": "# é"}, "list": [1], "text": "a\"b", "number": 1.5,
            "yes": true, "no": false, "none": null});
        let models = json!({"sonnet": {"cacheCreation": 5, "cacheRead": 7}, "opus": {"cacheRead": u64::MAX}});
        let metadata = json!({"cost": {"totalUsd": 2}, "apiKeySource": "none", "notes": [1]});
        let [full, empty, plain] = [0; 3].map(|_| Uuid::now_v7());
        for (id, status) in [(full, "COMPLETED"), (empty, "RUNNING"), (plain, "FAILED")] {
            let mut row = vec![
                ("id", id.into()),
                ("organization_id", organization.into()),
                ("user_id", user.into()),
                ("status", status.into()),
                ("command", "PLAN".into()),
                ("harness", "assistant".into()),
                ("tokens_input", i64::MAX.into()),
                ("tokens_output", 1_i64.into()),
                ("runner_capabilities", json_of(json!({}))),
                ("last_sequence", 0_i64.into()),
                ("created_at", (86_400_000_i64 * 3 + 1).into()),
                ("updated_at", 7_i64.into()),
            ];
            if id == full {
                row.extend([
                    ("prompt", "é".repeat(300).into()),
                    ("context_refs", json_of(json!([{"sourceId": full}]))),
                    ("results", json_of(json!([{"status": "no_changes"}]))),
                    ("estimated_cost", 0.25.into()),
                    ("metadata", json_of(metadata.clone())),
                    ("tokens_by_model", json_of(models.clone())),
                    ("uploaded_artifacts", json_of(artifacts.clone())),
                ]);
            } else if id == plain {
                let models = json!({"sonnet": {"input": 1, "output": 1}});
                row.extend([("metadata", json_of(json!({}))), ("tokens_by_model", json_of(models))]);
            } else {
                // Earlier versions stored the JSON value `null` for a loop without counts by model.
                row.extend([("metadata", json_of(json!({}))), ("tokens_by_model", json_of(Value::Null))]);
            }
            insert(&db, "loops", row).await;
        }
        Migrator::up(&db, None).await.unwrap();

        let content = contents::find(&db, full).await.unwrap();
        assert_eq!(content.prompt, Some("é".repeat(300)));
        assert_eq!(content.context_refs, Some(json!([{"sourceId": full}])));
        assert_eq!(content.results, Some(json!([{"status": "no_changes"}])));
        assert_eq!((content.metadata, content.tokens_by_model), (metadata, Some(models)));
        let stored = contents::artifacts(&db, full).await.unwrap();
        assert_eq!(json!(stored), artifacts);
        let row = agent_loop::Entity::find_by_id(full).one(&db).await.unwrap().unwrap();
        assert_eq!(row.prompt_excerpt, Some("é".repeat(200)));
        assert_eq!((row.reported_cost, row.api_key_source.as_deref()), (Some(2.0), Some("none")));
        assert_eq!((row.cache_creation_tokens, row.cache_read_tokens), (5, 1 << 53));

        let row = agent_loop::Entity::find_by_id(empty).one(&db).await.unwrap().unwrap();
        assert_eq!((row.prompt_excerpt, row.reported_cost, row.api_key_source), (None, None, None));
        assert_eq!(row.cache_read_tokens, 0);
        assert_eq!(contents::find(&db, empty).await.unwrap().metadata, json!({}));
        assert!(contents::artifacts(&db, empty).await.unwrap().is_none());

        // Only the finished loops count, and no number exceeds the limit.
        let days = usage_day::Entity::find().all(&db).await.unwrap();
        assert_eq!(days.len(), 1);
        let limit = crate::loops::usage::COUNT_LIMIT;
        assert_eq!((days[0].day, days[0].loops, days[0].tokens_input), (3, 2, 2 * limit));
        assert_eq!((days[0].cache_read_tokens, days[0].cost_micros), (limit, 250_000));
        db.close().await.unwrap();
    }
}
