//! Large values of loops: inputs, results and metadata, and the artifacts that runners uploaded.

use std::collections::BTreeMap;

use sea_orm::prelude::*;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict, SimpleExpr};
use sea_orm::{ActiveValue::Set, ConnectionTrait, DatabaseTransaction, QueryOrder, QuerySelect};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::loops::options::SelectedOptions;
use crate::store::entity::{agent_loop, loop_artifact, loop_content};
use crate::store::{now, parse_json};

// Largest artifacts of a loop together, in bytes.
const ARTIFACTS_LIMIT: usize = 20_000_000;
// Largest metadata of a loop that a runner may upload, in bytes of JSON.
const METADATA_LIMIT: usize = 1_000_000;

/// Member of the metadata with the source of the assistant's API key.
pub const API_KEY_SOURCE: &str = "apiKeySource";
// Path of the cost in US dollars that the assistant reported.
const REPORTED_TOTAL: &str = "/cost/totalUsd";
// Length of texts of runners in the rows of loops, in characters.
const LISTED_CHARS: usize = 200;

/// Artifacts by name, as JSON text that is not parsed.
pub type Artifacts = BTreeMap<String, Box<RawValue>>;

/// A change was rejected because the stored values would exceed a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// Returns the large values of a loop apart from its artifacts.
pub async fn find(db: &impl ConnectionTrait, loop_id: Uuid) -> Result<loop_content::Model, DbErr> {
    let stored = loop_content::Entity::find_by_id(loop_id).one(db).await?;
    Ok(stored.unwrap_or(loop_content::Model {
        loop_id,
        prompt: None,
        context_refs: None,
        metadata: Value::Object(Map::new()),
        results: None,
        tokens_by_model: None,
        options: None,
    }))
}

/// Returns the prompt of a loop.
pub async fn prompt(db: &impl ConnectionTrait, loop_id: Uuid) -> Result<Option<String>, DbErr> {
    let prompt = loop_content::Entity::find_by_id(loop_id).select_only().column(loop_content::Column::Prompt);
    Ok(prompt.into_tuple::<Option<String>>().one(db).await?.flatten())
}

/// Returns what the user of a loop selected.
pub async fn options(db: &impl ConnectionTrait, loop_id: Uuid) -> Result<SelectedOptions, DbErr> {
    let options =
        loop_content::Entity::find_by_id(loop_id).select_only().column(loop_content::Column::Options);
    let options: Option<Value> = options.into_tuple::<Option<Value>>().one(db).await?.flatten();
    Ok(parse_json(options.as_ref()).unwrap_or_default())
}

/// Returns the warnings of a loop.
pub async fn warnings(db: &impl ConnectionTrait, loop_id: Uuid) -> Result<Vec<String>, DbErr> {
    let metadata = find(db, loop_id).await?.metadata;
    Ok(parse_json(metadata.get("warnings")).unwrap_or_default())
}

/// Changes columns of a loop's large values.
pub async fn update(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    columns: impl IntoIterator<Item = (loop_content::Column, SimpleExpr)>,
) -> Result<(), DbErr> {
    let mut columns = columns.into_iter().peekable();
    if columns.peek().is_none() {
        return Ok(());
    }
    let update = loop_content::Entity::update_many().filter(loop_content::Column::LoopId.eq(loop_id));
    let update = columns.fold(update, |update, (column, value)| update.col_expr(column, value));
    update.exec(tx).await?;
    Ok(())
}

/// Merges members into the metadata of a loop, whose row the transaction has locked.
pub async fn merge_metadata(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    members: Map<String, Value>,
) -> Result<(), DbErr> {
    if members.is_empty() {
        return Ok(());
    }
    let metadata = merged(tx, loop_id, members).await?;
    store_metadata(tx, loop_id, metadata).await
}

/// Like [`merge_metadata`], for members that a runner uploads: fails when the metadata would be too large.
pub async fn merge_uploaded_metadata(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    members: Map<String, Value>,
) -> Result<Result<(), TooLarge>, DbErr> {
    let metadata = merged(tx, loop_id, members).await?;
    if metadata.to_string().len() > METADATA_LIMIT {
        return Ok(Err(TooLarge));
    }
    store_metadata(tx, loop_id, metadata).await.map(Ok)
}

async fn merged(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    members: Map<String, Value>,
) -> Result<Value, DbErr> {
    let stored =
        loop_content::Entity::find_by_id(loop_id).select_only().column(loop_content::Column::Metadata);
    let mut metadata = match stored.into_tuple::<Value>().one(tx).await? {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    metadata.extend(members);
    Ok(Value::Object(metadata))
}

async fn store_metadata(tx: &DatabaseTransaction, loop_id: Uuid, metadata: Value) -> Result<(), DbErr> {
    update_listed(tx, loop_id, &metadata).await?;
    update(tx, loop_id, [(loop_content::Column::Metadata, Expr::value(metadata))]).await
}

/// Copies the members of the metadata that lists show into the row of the loop.
async fn update_listed(tx: &DatabaseTransaction, loop_id: Uuid, metadata: &Value) -> Result<(), DbErr> {
    let reported_cost = metadata.pointer(REPORTED_TOTAL).and_then(Value::as_f64);
    let source = metadata.get(API_KEY_SOURCE).and_then(Value::as_str);
    let source: Option<String> = source.map(|source| source.chars().take(LISTED_CHARS).collect());
    if reported_cost.is_none() && source.is_none() {
        return Ok(());
    }
    agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::ReportedCost, Expr::value(reported_cost))
        .col_expr(agent_loop::Column::ApiKeySource, Expr::value(source))
        .filter(agent_loop::Column::Id.eq(loop_id))
        .exec(tx)
        .await?;
    Ok(())
}

/// Stores artifacts of a loop, whose row the transaction has locked. Artifacts of other names are kept.
pub async fn store_artifacts(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    artifacts: Artifacts,
) -> Result<Result<(), TooLarge>, DbErr> {
    use loop_artifact::Column;
    let kept = bytes_except(tx, loop_id, artifacts.keys()).await?;
    let rows: Vec<loop_artifact::ActiveModel> = artifacts
        .into_iter()
        .map(|(name, content)| {
            let content = String::from(Box::<str>::from(content));
            let bytes = i64::try_from(name.len() + content.len()).unwrap_or(i64::MAX);
            loop_artifact::ActiveModel {
                loop_id: Set(loop_id),
                name: Set(name),
                content: Set(content),
                bytes: Set(bytes),
                uploaded_at: Set(now()),
            }
        })
        .collect();
    let new = rows.iter().filter_map(|row| row.bytes.try_as_ref()).fold(kept, |sum, bytes| sum + bytes);
    if usize::try_from(new).is_ok_and(|bytes| bytes > ARTIFACTS_LIMIT) {
        return Ok(Err(TooLarge));
    }
    let replace = OnConflict::columns([Column::LoopId, Column::Name])
        .update_columns([Column::Content, Column::Bytes, Column::UploadedAt])
        .to_owned();
    // One statement for each row: all rows together could exceed the limit of bound parameters.
    for row in rows {
        loop_artifact::Entity::insert(row).on_conflict(replace.clone()).exec_without_returning(tx).await?;
    }
    Ok(Ok(()))
}

async fn bytes_except<'a>(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    names: impl Iterator<Item = &'a String>,
) -> Result<i64, DbErr> {
    use loop_artifact::Column;
    // PostgreSQL returns the sum of a bigint column as numeric, which does not decode into i64.
    let sum: SimpleExpr = Expr::col(Column::Bytes).sum().cast_as(Alias::new("bigint"));
    let sum = loop_artifact::Entity::find()
        .select_only()
        .column_as(sum, "bytes")
        .filter(Column::LoopId.eq(loop_id))
        .filter(Column::Name.is_not_in(names.map(String::as_str)));
    Ok(sum.into_tuple::<Option<i64>>().one(tx).await?.flatten().unwrap_or_default())
}

/// Returns the artifacts of a loop; `None` when there are none.
pub async fn artifacts(db: &impl ConnectionTrait, loop_id: Uuid) -> Result<Option<Artifacts>, DbErr> {
    let rows = loop_artifact::Entity::find()
        .filter(loop_artifact::Column::LoopId.eq(loop_id))
        .order_by_asc(loop_artifact::Column::Name)
        .all(db)
        .await?;
    let artifacts = rows.into_iter().map(|row| {
        let content = RawValue::from_string(row.content).map_err(|error| DbErr::Json(error.to_string()))?;
        Ok((row.name, content))
    });
    let artifacts: Artifacts = artifacts.collect::<Result<_, DbErr>>()?;
    Ok((!artifacts.is_empty()).then_some(artifacts))
}

/// Returns an artifact of a loop; `None` when it is missing or does not match the type.
pub async fn artifact<T: DeserializeOwned>(
    db: &impl ConnectionTrait,
    loop_id: Uuid,
    name: &str,
) -> Result<Option<T>, DbErr> {
    let row = loop_artifact::Entity::find_by_id((loop_id, name.to_owned())).one(db).await?;
    Ok(row.and_then(|row| serde_json::from_str(&row.content).ok()))
}
