//! Latest health check of a desktop: its external programs and plugins.

use std::collections::HashMap;

use axum::extract::State;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::UserAuth;
use crate::dispatch::target::{find, find_own};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::{Body, Id};
use crate::store::entity::target_health_check::{self, Column};
use crate::store::{iso, now, parse_json};

// Version of the snapshot's schema. Increment it for incompatible changes.
const SCHEMA_VERSION: u32 = 1;
// Entries of one result; bounds the size of the stored document.
const CHECK_LIMIT: usize = 100;

/// Outcome of an attempt to enable or update plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttemptOutcome {
    Success,
    Failed,
    /// The attempt exceeded its time limit.
    Timeout,
    /// No plugin had to be changed.
    Skipped,
}

/// Deserializes an outcome. Values that a newer desktop may send are read as absent instead of rejecting the
/// whole result.
fn known_outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AttemptOutcome>, D::Error> {
    let outcome = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(outcome.and_then(|outcome| serde_json::from_value(outcome).ok()))
}

/// Link to instructions for a failed check.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RemediationLink {
    /// Text of the link.
    pub label: String,
    /// Target; must start with `https://`.
    pub url: String,
}

/// Result of one check.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckEntry {
    /// Stable id of the check.
    pub id: String,
    /// Name of the check for display.
    pub label: String,
    /// Whether loops cannot run unless this check passes.
    pub required: bool,
    pub passed: bool,
    /// Detected version of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Reason of the failure; absent when the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Instructions to fix the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation: Option<String>,
    /// Diagnostic details for support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug: Option<String>,
    /// Whether enabling plugins was attempted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_attempted: Option<bool>,
    /// Outcome of enabling plugins; absent without an attempt.
    #[serde(default, deserialize_with = "known_outcome", skip_serializing_if = "Option::is_none")]
    pub enable_outcome: Option<AttemptOutcome>,
    /// Ids of the plugins to enable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_plugin_ids: Option<Vec<String>>,
    /// Whether updating plugins was attempted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_attempted: Option<bool>,
    /// Outcome of updating plugins; absent without an attempt.
    #[serde(default, deserialize_with = "known_outcome", skip_serializing_if = "Option::is_none")]
    pub update_outcome: Option<AttemptOutcome>,
    /// Ids of the plugins to update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_plugin_ids: Option<Vec<String>>,
    /// Links to instructions for a failed check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation_links: Option<Vec<RemediationLink>>,
}

/// Whether a program is configured with the expected MCP server.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerCheck {
    /// Whether the program has the server.
    pub available: bool,
    /// Name of the server in the program's configuration.
    pub server_name: Option<String>,
    /// Configured URL that matched the expected one.
    pub matched_url: Option<String>,
    /// Time of the check, ISO 8601.
    pub checked_at: String,
    /// Reason why the server could not be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Result of a health check.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckResult {
    /// Individual checks, at most 100.
    pub checks: Vec<HealthCheckEntry>,
    /// Whether all required checks passed.
    pub all_required_passed: bool,
    /// MCP server checks by program: `assistant`, `reviewer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<HashMap<String, McpServerCheck>>,
}

/// Health check to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PutHealthCheck {
    /// URL of the MCP server that was searched for.
    pub expected_mcp_url: Option<String>,
    /// Newest available version of Loopgate.
    pub latest_version: Option<String>,
    /// Whether plugins are updated automatically.
    pub plugin_auto_update_enabled: Option<bool>,
    /// Result of the check.
    pub result: HealthCheckResult,
}

/// Latest health check of a desktop.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckSnapshot {
    /// Id of the snapshot.
    pub id: Uuid,
    /// Organization of the desktop.
    pub organization_id: Uuid,
    /// Id of the desktop.
    pub compute_target_id: Uuid,
    /// Time of the check, ISO 8601.
    pub checked_at: String,
    /// URL of the MCP server that was searched for.
    pub expected_mcp_url: Option<String>,
    /// Newest available version of Loopgate.
    pub latest_version: Option<String>,
    /// Whether plugins are updated automatically.
    pub plugin_auto_update_enabled: Option<bool>,
    /// Result of the check.
    pub result: HealthCheckResult,
    /// Whether all required checks passed.
    pub all_required_passed: bool,
    /// Ids of the required checks that failed.
    pub required_failure_ids: Vec<String>,
    /// Version of this schema.
    pub schema_version: u32,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Time of the last change, ISO 8601.
    pub updated_at: String,
}

impl HealthCheckSnapshot {
    /// Returns `None` when the stored result does not match the schema, for example after a downgrade.
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

/// Returns the latest health check of a desktop; `null` without one, or when the desktop has changed since.
#[utoipa::path(get, path = "/compute-targets/{id}/health-check", tag = "health-checks", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<Option<HealthCheckSnapshot>>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
) -> ApiResult<Data<Option<HealthCheckSnapshot>>> {
    let read = async {
        let target = find(&app.store, &caller, id.or_unknown("Compute target")?).await?;
        Ok(of_target(&app, target.id).await?.and_then(HealthCheckSnapshot::of))
    };
    read.await.context("Failed to fetch health check").map(Data::new)
}

async fn of_target(app: &ControlPlaneState, id: Uuid) -> Result<Option<target_health_check::Model>, DbErr> {
    // Read from the writer: `put` returns the row that it has just written.
    target_health_check::Entity::find().filter(Column::ComputeTargetId.eq(id)).one(app.store.writer()).await
}

/// Replaces the health check of a desktop of the caller.
#[utoipa::path(put, path = "/compute-targets/{id}/health-check", tag = "health-checks", params(("id" = Uuid, Path)), request_body = PutHealthCheck,
    responses((status = 200, body = Data<Option<HealthCheckSnapshot>>), ErrorResponses))]
pub async fn put(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    Body(body): Body<PutHealthCheck>,
) -> ApiResult<Data<Option<HealthCheckSnapshot>>> {
    let mut issues = ValidationIssues::default();
    issues.require(body.result.checks.len() <= CHECK_LIMIT, "result.checks", "must have at most 100 item(s)");
    // Pages render these links; a `javascript:` URL would run in the control plane's origin.
    let mut links = body.result.checks.iter().flat_map(|check| check.remediation_links.iter().flatten());
    let all_https = links.all(|link| link.url.starts_with("https://"));
    issues.require(all_https, "result.checks", "remediationLinks must have https URLs");
    issues.into_result()?;
    let snapshot = async {
        let target = find_own(&app.store, &caller, id.or_unknown("Compute target")?).await?;
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
        // Id and creation time are not updated: they belong to the first health check of the desktop.
        let replace = OnConflict::column(Column::ComputeTargetId)
            .update_columns([
                Column::CheckedAt,
                Column::ExpectedMcpUrl,
                Column::LatestVersion,
                Column::PluginAutoUpdateEnabled,
                Column::Result,
                Column::UpdatedAt,
            ])
            .to_owned();
        let insert = target_health_check::Entity::insert(row).on_conflict(replace);
        insert.exec_without_returning(app.store.writer()).await?;
        Ok(of_target(&app, target.id).await?.and_then(HealthCheckSnapshot::of))
    };
    snapshot.await.context("Failed to store health check").map(Data::new)
}
