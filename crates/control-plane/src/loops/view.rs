//! Views of loops in responses.

use std::collections::{BTreeMap, HashMap};

use loopgate_api::command::LoopCommand;
use loopgate_api::event::ModelTokens;
use loopgate_api::event_body::TaskCounts;
use loopgate_api::execution_result::{ResultEntry, SuccessEntry};
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::{ArtifactType, Harness, RepoRef};
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, QueryOrder};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::contents::{self, Artifacts};
use super::options::SelectedOptions;
use crate::store::entity::user::full_name;
use crate::store::entity::{agent_loop, compute_target, document, document_version, loop_diagnostics, user};
use crate::store::{iso, parse_json};

/// Reason why a loop did not complete successfully.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LoopError {
    /// Error code, for example `PROCESS_FAILED`.
    pub code: String,
    /// Message for the user.
    pub message: String,
    /// Further values, for example `{"subcode": …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub result: Option<Value>,
}

impl LoopError {
    /// Returns the code of the cause, if the error has one.
    pub fn subcode(&self) -> Option<&str> {
        self.result.as_ref()?.get("subcode")?.as_str()
    }
}

/// User who started a loop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopUser {
    /// Id of the user.
    pub id: Uuid,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    /// URL of the profile picture.
    pub avatar_url: Option<String>,
    /// E-mail address of the user.
    pub email: String,
}

impl LoopUser {
    /// Returns first and last name, or the e-mail address when both are missing.
    pub fn full_name(&self) -> String {
        full_name(self.first_name.as_deref(), self.last_name.as_deref(), &self.email)
    }
}

/// Desktop that runs a loop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopTarget {
    /// Id of the desktop.
    pub id: Uuid,
    /// Host name of the machine.
    pub machine_name: String,
    /// Whether the desktop is connected.
    pub is_online: bool,
}

/// Document that a loop works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopDocument {
    /// Id of the document.
    pub id: Uuid,
    /// Slug, for example `feature-3`.
    pub slug: String,
    pub title: String,
    /// Type of the document.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
}

/// State of a loop, without its large values. Lists consist of these records.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopRecord {
    /// Id of the loop.
    pub id: Uuid,
    /// Organization of the loop.
    pub organization_id: Uuid,
    /// Id of the user who started it.
    pub user_id: Uuid,
    /// Current status of the loop.
    pub status: LoopStatus,
    /// Command that it carries out.
    pub command: LoopCommand,
    /// Harness that runs it.
    pub harness: Harness,
    /// Id of the document that it works on.
    pub document_id: Option<Uuid>,
    /// Version of the document at the start.
    pub document_version: Option<i64>,
    /// Loop whose work it continues.
    pub parent_loop_id: Option<Uuid>,
    /// Id of the desktop that runs it.
    pub compute_target_id: Option<Uuid>,
    /// Slug that names worktree and branch.
    pub artifact_slug: Option<String>,
    /// First 200 characters of the prompt.
    pub prompt_excerpt: Option<String>,
    /// Primary repository of the loop.
    pub repo: Option<RepoRef>,
    /// Peer repositories of the loop.
    pub additional_repos: Option<Vec<RepoRef>>,
    /// Id of the command that launched it.
    pub container_id: Option<String>,
    /// Key prefix of its files in the object store.
    pub s3_state_key: Option<String>,
    /// URL of the primary repository's pull request.
    pub pr_url: Option<String>,
    /// Number of the primary repository's pull request.
    pub pr_number: Option<i64>,
    /// Name of the branch with the work.
    pub branch_name: Option<String>,
    /// Id of the assistant's session.
    pub session_id: Option<String>,
    /// Number of input tokens so far.
    pub tokens_input: i64,
    /// Number of output tokens so far.
    pub tokens_output: i64,
    /// Estimated cost in US dollars.
    pub estimated_cost: Option<f64>,
    /// Cost in US dollars that the assistant reported; null without a report.
    pub reported_cost: Option<f64>,
    /// Source of the assistant's API key, as it reported it; `none` for a subscription.
    pub api_key_source: Option<String>,
    /// Start time, ISO 8601; null before the start.
    pub started_at: Option<String>,
    /// Time of the terminal status, ISO 8601; null before.
    pub completed_at: Option<String>,
    /// Reason why it did not complete successfully; null otherwise.
    pub error: Option<LoopError>,
    /// Tasks of the plan, as the runner last reported them; null without a report.
    pub tasks: Option<TaskCounts>,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Time of the last change, ISO 8601.
    pub updated_at: String,
    /// User who started the loop.
    pub user: Option<LoopUser>,
    /// Desktop that runs the loop.
    pub compute_target: Option<LoopTarget>,
    /// Document that the loop works on.
    pub document: Option<LoopDocument>,
}

/// A loop with its large values.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopDetail {
    /// The loop without its large values.
    #[serde(flatten)]
    pub record: LoopRecord,
    /// Request in natural language.
    pub prompt: Option<String>,
    /// What the user selected for the loop, or what it inherited.
    #[serde(flatten)]
    pub options: SelectedOptions,
    /// Documents provided as context.
    #[schema(value_type = Option<Vec<HashMap<String, Value>>>)]
    pub context_refs: Option<Value>,
    /// Number of tokens by model.
    pub tokens_by_model: Option<BTreeMap<String, ModelTokens>>,
    /// Result for each repository; null for completions in the oldest format.
    pub results: Option<Vec<ResultEntry>>,
    /// Open object: `warnings`, `verdict`, `apiKeySource`, and metadata uploaded by the runner.
    #[schema(value_type = HashMap<String, Value>)]
    pub metadata: Value,
    /// Artifacts uploaded by the runner: `plan`, `executionResult`, `verdict`, ….
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub uploaded_artifacts: Option<Artifacts>,
    /// Branch of the primary repository.
    pub primary_branch: Option<String>,
    /// Pull request of the primary repository.
    pub primary_pull_request: Option<SuccessEntry>,
    /// Document that the loop produced; null without one.
    pub produced_document: Option<LoopDocument>,
    /// Diagnostics of the desktop about the end of the process: `stderrTail`, `logTail`, `exitCode`,
    /// `exitSignal`, `elapsedMs`, `abortReason`, `spawnMeta`, ….
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub diagnostics: Option<Value>,
}

/// View of a loop for its own runner.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnerView {
    /// Id of the loop.
    pub id: Uuid,
    /// Current status of the loop.
    pub status: LoopStatus,
    /// Command that it carries out.
    pub command: LoopCommand,
    /// Id of the desktop that runs it.
    pub compute_target_id: Option<Uuid>,
    /// Start time, ISO 8601; null before the start.
    pub started_at: Option<String>,
    /// Time of the terminal status, ISO 8601; null before.
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

/// Connection state of a loop's runner, for administrators. Never contains the token itself.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeView {
    /// Id of the loop.
    pub id: Uuid,
    /// Current status of the loop.
    pub status: LoopStatus,
    /// Expiry of the runner token, ISO 8601.
    pub token_expires_at: Option<String>,
    /// Time of the last heartbeat, ISO 8601.
    pub last_runner_heartbeat_at: Option<String>,
    /// Token slot (`jti`) of the current token.
    pub active_token_jti: Option<Uuid>,
    /// Capabilities of the runner.
    pub runner_capabilities: RunnerCapabilities,
}

/// Capabilities of a runner.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunnerCapabilities {
    /// Whether it refreshes its token before the expiry.
    pub loop_runner_refresh_supported: bool,
    /// Whether it sends heartbeats.
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

/// Response of every request that starts a loop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LoopStarted)]
pub struct LoopStartResponse {
    /// Id of the loop.
    pub loop_id: Uuid,
    /// Status of the loop at the time of the response.
    pub status: LoopStatus,
}

impl From<agent_loop::Model> for LoopStartResponse {
    fn from(row: agent_loop::Model) -> Self {
        Self { loop_id: row.id, status: row.status.0 }
    }
}

/// Builds the views of loops with their users, desktops and documents.
pub async fn records(
    db: &impl ConnectionTrait,
    rows: Vec<agent_loop::Model>,
) -> Result<Vec<LoopRecord>, DbErr> {
    let users = users(db, rows.iter().map(|row| row.user_id)).await?;
    let targets = targets(db, rows.iter().filter_map(|row| row.compute_target_id)).await?;
    let documents = documents(db, rows.iter().filter_map(|row| row.document_id)).await?;
    Ok(rows.into_iter().map(|row| record(row, &users, &targets, &documents)).collect())
}

/// Builds the detailed view of a loop.
pub async fn detail(db: &impl ConnectionTrait, row: agent_loop::Model) -> Result<LoopDetail, DbErr> {
    let produced = produced_by(db, row.id).await?;
    let diagnostics = loop_diagnostics::Entity::find_by_id(row.id).one(db).await?;
    let content = contents::find(db, row.id).await?;
    let uploaded_artifacts = contents::artifacts(db, row.id).await?;
    let results: Option<Vec<ResultEntry>> = parse_json(content.results.as_ref());
    let mut records = records(db, vec![row]).await?;
    let record = records.pop().ok_or_else(|| DbErr::RecordNotFound("loop".to_owned()))?;
    let primary = record.repo.as_ref().map(|repo| repo.full_name.clone());
    let primary_pull_request = results.iter().flatten().find_map(|entry| match entry {
        ResultEntry::Success(entry) if Some(&entry.full_name) == primary.as_ref() => Some(entry.clone()),
        _ => None,
    });
    Ok(LoopDetail {
        primary_branch: record.branch_name.clone(),
        primary_pull_request,
        produced_document: produced.map(|document| LoopDocument::from(&document)),
        diagnostics: diagnostics.map(|row| row.diagnostics),
        prompt: content.prompt,
        options: parse_json(content.options.as_ref()).unwrap_or_default(),
        context_refs: content.context_refs,
        tokens_by_model: parse_json(content.tokens_by_model.as_ref()),
        results,
        metadata: content.metadata,
        uploaded_artifacts,
        record,
    })
}

/// Returns the document that a loop wrote a version of.
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
        prompt_excerpt: row.prompt_excerpt,
        repo: parse_json(row.repo.as_ref()),
        additional_repos: parse_json(row.additional_repos.as_ref()),
        container_id: row.container_id,
        s3_state_key: row.s3_state_key,
        pr_url: row.pr_url,
        pr_number: row.pr_number,
        branch_name: row.branch_name,
        session_id: row.session_id,
        tokens_input: row.tokens_input,
        tokens_output: row.tokens_output,
        estimated_cost: row.estimated_cost,
        reported_cost: row.reported_cost,
        api_key_source: row.api_key_source,
        started_at: row.started_at.map(iso),
        completed_at: row.completed_at.map(iso),
        error: parse_json(row.error.as_ref()),
        tasks: parse_json(row.tasks.as_ref()),
        created_at: iso(row.created_at),
        updated_at: iso(row.updated_at),
        user: users.get(&row.user_id).cloned(),
        compute_target: row.compute_target_id.and_then(|id| targets.get(&id).cloned()),
        document: row.document_id.and_then(|id| documents.get(&id).cloned()),
    }
}

/// Returns the users with these ids.
pub async fn users(
    db: &impl ConnectionTrait,
    ids: impl Iterator<Item = Uuid>,
) -> Result<HashMap<Uuid, LoopUser>, DbErr> {
    let rows = user::Entity::find().filter(user::Column::Id.is_in(ids)).all(db).await?;
    let view = |row: user::Model| LoopUser {
        id: row.id,
        first_name: row.first_name,
        last_name: row.last_name,
        avatar_url: row.avatar_url,
        email: row.email,
    };
    Ok(rows.into_iter().map(|row| (row.id, view(row))).collect())
}

async fn targets(
    db: &impl ConnectionTrait,
    ids: impl Iterator<Item = Uuid>,
) -> Result<HashMap<Uuid, LoopTarget>, DbErr> {
    let rows = compute_target::Entity::find().filter(compute_target::Column::Id.is_in(ids)).all(db).await?;
    let view = |row: compute_target::Model| LoopTarget {
        id: row.id,
        machine_name: row.machine_name,
        is_online: row.is_online,
    };
    Ok(rows.into_iter().map(|row| (row.id, view(row))).collect())
}

async fn documents(
    db: &impl ConnectionTrait,
    ids: impl Iterator<Item = Uuid>,
) -> Result<HashMap<Uuid, LoopDocument>, DbErr> {
    let rows = document::Entity::find()
        .filter(document::Column::Id.is_in(ids))
        .filter(document::Column::DeletedAt.is_null())
        .all(db)
        .await?;
    Ok(rows.into_iter().map(|row| (row.id, LoopDocument::from(&row))).collect())
}
