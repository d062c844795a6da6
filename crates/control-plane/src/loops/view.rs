//! Loops as they are shown.

use std::collections::{BTreeMap, HashMap};

use loopgate_api::command::LoopCommand;
use loopgate_api::event::ModelTokens;
use loopgate_api::execution_result::{ResultEntry, SuccessEntry};
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::{ArtifactType, Harness, RepoRef};
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, QueryOrder};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::store::entity::{agent_loop, compute_target, document, document_version, loop_diagnostics, user};
use crate::store::{iso, parse_json};

/// Why a loop did not end well.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LoopError {
    /// One of the loop error codes, for example `PROCESS_FAILED`.
    pub code: String,
    /// For a person.
    pub message: String,
    /// Further facts, for example `{"subcode": …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub result: Option<Value>,
}

/// The person behind a loop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopUser {
    /// Id.
    pub id: Uuid,
    /// First name.
    pub first_name: Option<String>,
    /// Last name.
    pub last_name: Option<String>,
    /// Picture.
    pub avatar_url: Option<String>,
    /// E-mail address.
    pub email: String,
}

/// The desktop that runs a loop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopTarget {
    /// Id.
    pub id: Uuid,
    /// Host name.
    pub machine_name: String,
    /// Whether it is connected.
    pub is_online: bool,
}

/// The document that a loop is about.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopDocument {
    /// Id.
    pub id: Uuid,
    /// Slug, for example `feature-3`.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Kind.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
}

/// A loop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopRecord {
    /// Id.
    pub id: Uuid,
    /// Its organization.
    pub organization_id: Uuid,
    /// Who started it.
    pub user_id: Uuid,
    /// Its status.
    pub status: LoopStatus,
    /// What it does.
    pub command: LoopCommand,
    /// Which provider runs it.
    pub harness: Harness,
    /// What it is about.
    pub document_id: Option<Uuid>,
    /// Version of the document at the start.
    pub document_version: Option<i64>,
    /// The loop whose work it continues.
    pub parent_loop_id: Option<Uuid>,
    /// The desktop that runs it.
    pub compute_target_id: Option<Uuid>,
    /// Names worktree and branch.
    pub artifact_slug: Option<String>,
    /// The wish.
    pub prompt: Option<String>,
    /// The primary repository.
    pub repo: Option<RepoRef>,
    /// The peers.
    pub additional_repos: Option<Vec<RepoRef>>,
    /// Documents handed along.
    #[schema(value_type = Option<Vec<HashMap<String, Value>>>)]
    pub context_refs: Option<Value>,
    /// Id of the desktop command that launched it.
    pub container_id: Option<String>,
    /// Where its files are in the object store.
    pub s3_state_key: Option<String>,
    /// Pull request of the primary repository.
    pub pr_url: Option<String>,
    /// Its number.
    pub pr_number: Option<i64>,
    /// Branch of the work.
    pub branch_name: Option<String>,
    /// The assistant's session.
    pub session_id: Option<String>,
    /// Input tokens so far.
    pub tokens_input: i64,
    /// Output tokens so far.
    pub tokens_output: i64,
    /// Tokens a model.
    pub tokens_by_model: Option<BTreeMap<String, ModelTokens>>,
    /// US dollars.
    pub estimated_cost: Option<f64>,
    /// The outcome of each repository, for v1 and v2 completions.
    pub results: Option<Vec<ResultEntry>>,
    /// ISO 8601.
    pub started_at: Option<String>,
    /// ISO 8601.
    pub completed_at: Option<String>,
    /// Why it did not end well.
    pub error: Option<LoopError>,
    /// Open object: `warnings`, `verdict`, `apiKeySource`, and what the runner uploaded.
    #[schema(value_type = HashMap<String, Value>)]
    pub metadata: Value,
    /// What the runner uploaded: `plan`, `executionResult`, `verdict`, …
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub uploaded_artifacts: Option<Value>,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
    pub updated_at: String,
    /// Who started it.
    pub user: Option<LoopUser>,
    /// The desktop that runs it.
    pub compute_target: Option<LoopTarget>,
    /// What it is about.
    pub document: Option<LoopDocument>,
}

/// A loop with what only its own page shows.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopDetail {
    /// The record.
    #[serde(flatten)]
    pub record: LoopRecord,
    /// Branch of the primary repository.
    pub primary_branch: Option<String>,
    /// Pull request of the primary repository.
    pub primary_pull_request: Option<SuccessEntry>,
    /// The document that it produced.
    pub produced_document: Option<LoopDocument>,
    /// What its desktop told about the end of its process: `stderrTail`, `logTail`, `exitCode`, `exitSignal`,
    /// `elapsedMs`, `abortReason`, `spawnMeta`, …
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub diagnostics: Option<Value>,
}

/// What a runner may know of its own loop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnerView {
    /// Id.
    pub id: Uuid,
    /// Its status.
    pub status: LoopStatus,
    /// What it does.
    pub command: LoopCommand,
    /// The desktop that runs it.
    pub compute_target_id: Option<Uuid>,
    /// ISO 8601.
    pub started_at: Option<String>,
    /// ISO 8601.
    pub completed_at: Option<String>,
}

impl From<&agent_loop::Model> for RunnerView {
    fn from(row: &agent_loop::Model) -> Self {
        Self {
            id: row.id,
            status: row.status.0,
            command: row.command.0,
            compute_target_id: row.compute_target_id,
            started_at: row.started_at.map(iso),
            completed_at: row.completed_at.map(iso),
        }
    }
}

/// How the connection to a loop's runner is, for administrators. The token itself is in no answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeView {
    /// Id.
    pub id: Uuid,
    /// Its status.
    pub status: LoopStatus,
    /// End of the runner's token, ISO 8601.
    pub token_expires_at: Option<String>,
    /// When the runner was heard of, ISO 8601.
    pub last_runner_heartbeat_at: Option<String>,
    /// Slot of the token in force.
    pub active_token_jti: Option<Uuid>,
    /// What the runner can do.
    pub runner_capabilities: RunnerCapabilities,
}

/// What a runner can do.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunnerCapabilities {
    /// It exchanges its token before the end.
    pub loop_runner_refresh_supported: bool,
    /// It says that it is alive.
    pub loop_runner_heartbeat_supported: bool,
}

impl From<agent_loop::Model> for RuntimeView {
    fn from(row: agent_loop::Model) -> Self {
        Self {
            id: row.id,
            status: row.status.0,
            token_expires_at: row.token_expires_at.map(iso),
            last_runner_heartbeat_at: row.last_runner_heartbeat_at.map(iso),
            active_token_jti: row.active_token_jti,
            runner_capabilities: parse_json(Some(&row.runner_capabilities)).unwrap_or_default(),
        }
    }
}

/// Id and status, the answer of everything that starts a loop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LoopStarted)]
pub struct LoopStartResponse {
    /// Id.
    pub loop_id: Uuid,
    /// Its status.
    pub status: LoopStatus,
}

/// Shows rows together with the people, desktops and documents that they name.
pub async fn records(
    db: &impl ConnectionTrait,
    rows: Vec<agent_loop::Model>,
) -> Result<Vec<LoopRecord>, DbErr> {
    let users = users(db, rows.iter().map(|row| row.user_id)).await?;
    let targets = targets(db, rows.iter().filter_map(|row| row.compute_target_id)).await?;
    let documents = documents(db, rows.iter().filter_map(|row| row.document_id)).await?;
    Ok(rows.into_iter().map(|row| record(row, &users, &targets, &documents)).collect())
}

/// Shows one row.
pub async fn detail(db: &impl ConnectionTrait, row: agent_loop::Model) -> Result<LoopDetail, DbErr> {
    let produced = produced_by(db, row.id).await?;
    let diagnostics = loop_diagnostics::Entity::find_by_id(row.id).one(db).await?;
    let mut records = records(db, vec![row]).await?;
    let record = records.pop().ok_or_else(|| DbErr::RecordNotFound("loop".to_owned()))?;
    let primary = record.repo.as_ref().map(|repo| repo.full_name.clone());
    let primary_pull_request = record.results.iter().flatten().find_map(|entry| match entry {
        ResultEntry::Success(entry) if Some(&entry.full_name) == primary.as_ref() => Some(entry.clone()),
        _ => None,
    });
    Ok(LoopDetail {
        primary_branch: record.branch_name.clone(),
        primary_pull_request,
        produced_document: produced.map(|document| LoopDocument::from(&document)),
        diagnostics: diagnostics.map(|row| row.diagnostics),
        record,
    })
}

/// The document of which a loop has written a version.
async fn produced_by(db: &impl ConnectionTrait, loop_id: Uuid) -> Result<Option<document::Model>, DbErr> {
    let version = document_version::Entity::find()
        .filter(document_version::Column::LoopId.eq(loop_id))
        .order_by_desc(document_version::Column::CreatedAt)
        .one(db)
        .await?;
    match version {
        Some(version) => document::Entity::find_by_id(version.document_id).one(db).await,
        None => Ok(None),
    }
}

impl From<&document::Model> for LoopDocument {
    fn from(row: &document::Model) -> Self {
        Self { id: row.id, slug: row.slug.clone(), title: row.title.clone(), kind: row.kind.0 }
    }
}

fn record(
    row: agent_loop::Model,
    users: &HashMap<Uuid, LoopUser>,
    targets: &HashMap<Uuid, LoopTarget>,
    documents: &HashMap<Uuid, LoopDocument>,
) -> LoopRecord {
    LoopRecord {
        id: row.id,
        organization_id: row.organization_id,
        user_id: row.user_id,
        status: row.status.0,
        command: row.command.0,
        harness: row.harness.0,
        document_id: row.document_id,
        document_version: row.document_version,
        parent_loop_id: row.parent_loop_id,
        compute_target_id: row.compute_target_id,
        artifact_slug: row.artifact_slug,
        prompt: row.prompt,
        repo: parse_json(row.repo.as_ref()),
        additional_repos: parse_json(row.additional_repos.as_ref()),
        context_refs: row.context_refs,
        container_id: row.container_id,
        s3_state_key: row.s3_state_key,
        pr_url: row.pr_url,
        pr_number: row.pr_number,
        branch_name: row.branch_name,
        session_id: row.session_id,
        tokens_input: row.tokens_input,
        tokens_output: row.tokens_output,
        tokens_by_model: parse_json(row.tokens_by_model.as_ref()),
        estimated_cost: row.estimated_cost,
        results: parse_json(row.results.as_ref()),
        started_at: row.started_at.map(iso),
        completed_at: row.completed_at.map(iso),
        error: parse_json(row.error.as_ref()),
        metadata: row.metadata,
        uploaded_artifacts: row.uploaded_artifacts,
        created_at: iso(row.created_at),
        updated_at: iso(row.updated_at),
        user: users.get(&row.user_id).cloned(),
        compute_target: row.compute_target_id.and_then(|id| targets.get(&id).cloned()),
        document: row.document_id.and_then(|id| documents.get(&id).cloned()),
    }
}

/// The people of these ids.
pub async fn users(
    db: &impl ConnectionTrait,
    ids: impl Iterator<Item = Uuid>,
) -> Result<HashMap<Uuid, LoopUser>, DbErr> {
    let rows = user::Entity::find().filter(user::Column::Id.is_in(ids)).all(db).await?;
    let shown = |row: user::Model| LoopUser {
        id: row.id,
        first_name: row.first_name,
        last_name: row.last_name,
        avatar_url: row.avatar_url,
        email: row.email,
    };
    Ok(rows.into_iter().map(|row| (row.id, shown(row))).collect())
}

async fn targets(
    db: &impl ConnectionTrait,
    ids: impl Iterator<Item = Uuid>,
) -> Result<HashMap<Uuid, LoopTarget>, DbErr> {
    let rows = compute_target::Entity::find().filter(compute_target::Column::Id.is_in(ids)).all(db).await?;
    let shown = |row: compute_target::Model| LoopTarget {
        id: row.id,
        machine_name: row.machine_name,
        is_online: row.is_online,
    };
    Ok(rows.into_iter().map(|row| (row.id, shown(row))).collect())
}

async fn documents(
    db: &impl ConnectionTrait,
    ids: impl Iterator<Item = Uuid>,
) -> Result<HashMap<Uuid, LoopDocument>, DbErr> {
    let rows = document::Entity::find().filter(document::Column::Id.is_in(ids)).all(db).await?;
    Ok(rows.into_iter().map(|row| (row.id, LoopDocument::from(&row))).collect())
}
