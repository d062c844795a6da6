//! The last check of the programs and plugins on a desktop.

use std::collections::HashMap;

use axum::extract::State;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::PersonAuth;
use crate::dispatch::target::find;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::{Body, Id};
use crate::store::entity::target_health_check::{self, Column};
use crate::store::{iso, now, parse_json};

/// Version of the snapshot's shape.
const SCHEMA_VERSION: u32 = 1;
/// Checks of one result.
const CHECK_LIMIT: usize = 100;

/// How an attempt to enable or update plugins went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttemptOutcome {
    /// It did.
    Success,
    /// It did not.
    Failed,
    /// It took too long.
    Timeout,
    /// There was nothing to do.
    Skipped,
}

/// An outcome of a later version counts as absent.
fn known_outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AttemptOutcome>, D::Error> {
    let outcome = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(outcome.and_then(|outcome| serde_json::from_value(outcome).ok()))
}

/// Where a person finds help.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RemediationLink {
    /// Text.
    pub label: String,
    /// An https URL.
    pub url: String,
}

/// One check.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckEntry {
    /// What is checked.
    pub id: String,
    /// The same for a person.
    pub label: String,
    /// Whether loops need it.
    pub required: bool,
    /// Whether it is as it must be.
    pub passed: bool,
    /// Version that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation: Option<String>,
    /// For whoever helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug: Option<String>,
    /// Whether plugins were to be enabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_attempted: Option<bool>,
    /// How that went.
    #[serde(default, deserialize_with = "known_outcome", skip_serializing_if = "Option::is_none")]
    pub enable_outcome: Option<AttemptOutcome>,
    /// Which plugins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_plugin_ids: Option<Vec<String>>,
    /// Whether plugins were to be updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_attempted: Option<bool>,
    /// How that went.
    #[serde(default, deserialize_with = "known_outcome", skip_serializing_if = "Option::is_none")]
    pub update_outcome: Option<AttemptOutcome>,
    /// Which plugins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_plugin_ids: Option<Vec<String>>,
    /// Where a person finds help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation_links: Option<Vec<RemediationLink>>,
}

/// Whether a program has a server of the Model Context Protocol that was looked for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerCheck {
    /// Whether it is there.
    pub available: bool,
    /// Its name.
    pub server_name: Option<String>,
    /// The URL by which it was found.
    pub matched_url: Option<String>,
    /// ISO 8601.
    pub checked_at: String,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a check found.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckResult {
    /// At most 100.
    pub checks: Vec<HealthCheckEntry>,
    /// Whether everything that loops need is as it must be.
    pub all_required_passed: bool,
    /// By program: `assistant`, `reviewer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<HashMap<String, McpServerCheck>>,
}

/// A check that was made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PutHealthCheck {
    /// The server that was looked for.
    pub expected_mcp_url: Option<String>,
    /// The newest version that is known.
    pub latest_version: Option<String>,
    /// Whether plugins are updated by themselves.
    pub plugin_auto_update_enabled: Option<bool>,
    /// What it found.
    pub result: HealthCheckResult,
}

/// The last check of a desktop.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckSnapshot {
    /// Id.
    pub id: Uuid,
    /// Organization of the desktop.
    pub organization_id: Uuid,
    /// The desktop.
    pub compute_target_id: Uuid,
    /// ISO 8601.
    pub checked_at: String,
    /// The server that was looked for.
    pub expected_mcp_url: Option<String>,
    /// The newest version that is known.
    pub latest_version: Option<String>,
    /// Whether plugins are updated by themselves.
    pub plugin_auto_update_enabled: Option<bool>,
    /// What it found.
    pub result: HealthCheckResult,
    /// Whether everything that loops need is as it must be.
    pub all_required_passed: bool,
    /// What is not.
    pub required_failure_ids: Vec<String>,
    /// Version of this shape.
    pub schema_version: u32,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
    pub updated_at: String,
}

impl HealthCheckSnapshot {
    /// `None` for a stored result that does not read.
    fn of(row: target_health_check::Model) -> Option<Self> {
        let result: HealthCheckResult = parse_json(Some(&row.result))?;
        let failed = result.checks.iter().filter(|check| check.required && !check.passed);
        let required_failure_ids: Vec<String> = failed.map(|check| check.id.clone()).collect();
        Some(Self {
            id: row.id,
            organization_id: row.organization_id,
            compute_target_id: row.compute_target_id,
            checked_at: iso(row.checked_at),
            expected_mcp_url: row.expected_mcp_url,
            latest_version: row.latest_version,
            plugin_auto_update_enabled: row.plugin_auto_update_enabled,
            all_required_passed: required_failure_ids.is_empty(),
            required_failure_ids,
            result,
            schema_version: SCHEMA_VERSION,
            created_at: iso(row.created_at),
            updated_at: iso(row.updated_at),
        })
    }
}

/// The last check of a desktop; `null` when there is none, or the desktop has changed since.
#[utoipa::path(get, path = "/compute-targets/{id}/health-check", tag = "health-checks", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<Option<HealthCheckSnapshot>>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    id: Id,
) -> ApiResult<Data<Option<HealthCheckSnapshot>>> {
    let read = async {
        let target = find(&app.store, &caller, id.or_unknown("Compute target")?).await?;
        Ok(of_target(&app, target.id).await?.and_then(HealthCheckSnapshot::of))
    };
    read.await.context("Failed to fetch health check").map(Data::new)
}

async fn of_target(app: &ControlPlaneState, id: Uuid) -> Result<Option<target_health_check::Model>, DbErr> {
    target_health_check::Entity::find().filter(Column::ComputeTargetId.eq(id)).one(app.store.writer()).await
}

/// Keeps a check of a desktop in place of the last one.
#[utoipa::path(put, path = "/compute-targets/{id}/health-check", tag = "health-checks", params(("id" = Uuid, Path)), request_body = PutHealthCheck,
    responses((status = 200, body = Data<Option<HealthCheckSnapshot>>), ErrorResponses))]
pub async fn put(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    id: Id,
    Body(body): Body<PutHealthCheck>,
) -> ApiResult<Data<Option<HealthCheckSnapshot>>> {
    let mut issues = ValidationIssues::default();
    issues.require(body.result.checks.len() <= CHECK_LIMIT, "result.checks", "must have at most 100 item(s)");
    let mut links = body.result.checks.iter().flat_map(|check| check.remediation_links.iter().flatten());
    let all_https = links.all(|link| link.url.starts_with("https://"));
    issues.require(all_https, "result.checks", "remediationLinks must have https URLs");
    issues.into_result()?;
    let kept = async {
        let target = find(&app.store, &caller, id.or_unknown("Compute target")?).await?;
        let at = now();
        let row = target_health_check::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(target.organization_id),
            compute_target_id: Set(target.id),
            checked_at: Set(at),
            expected_mcp_url: Set(body.expected_mcp_url),
            latest_version: Set(body.latest_version),
            plugin_auto_update_enabled: Set(body.plugin_auto_update_enabled),
            result: Set(serde_json::to_value(body.result)?),
            created_at: Set(at),
            updated_at: Set(at),
        };
        let known = OnConflict::column(Column::ComputeTargetId)
            .update_columns([
                Column::CheckedAt,
                Column::ExpectedMcpUrl,
                Column::LatestVersion,
                Column::PluginAutoUpdateEnabled,
                Column::Result,
                Column::UpdatedAt,
            ])
            .to_owned();
        let insert = target_health_check::Entity::insert(row).on_conflict(known);
        insert.exec_without_returning(app.store.writer()).await?;
        Ok(of_target(&app, target.id).await?.and_then(HealthCheckSnapshot::of))
    };
    kept.await.context("Failed to store health check").map(Data::new)
}
