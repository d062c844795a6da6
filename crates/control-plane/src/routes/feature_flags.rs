//! Feature flags of an organization.

use std::collections::BTreeMap;

use axum::extract::{Path, State};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{AdminAuth, Caller, UserAuth};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, not_found};
use crate::extract::Body;
use crate::store::entity::feature_flag::{self, Column};
use crate::store::now;

// All feature flags; they are off by default.
const KEYS: [&str; 1] = ["mermaid-enhancements"];

/// Feature flags of the organization.
#[derive(Debug, Serialize, ToSchema)]
pub struct FeatureFlags {
    /// Values by key; contains every known flag.
    pub flags: BTreeMap<&'static str, bool>,
}

/// Returns the feature flags of the organization.
#[utoipa::path(get, path = "/feature-flags", tag = "feature-flags", responses((status = 200, body = Data<FeatureFlags>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
) -> ApiResult<Data<FeatureFlags>> {
    read(&app, &caller).await.map(Data::new)
}

async fn read(app: &ControlPlaneState, caller: &Caller) -> ApiResult<FeatureFlags> {
    let rows = feature_flag::Entity::find()
        .filter(Column::OrganizationId.eq(caller.organization_id()))
        .all(app.store.reader())
        .await?;
    let is_on = |key: &str| rows.iter().any(|row| row.key == key && row.enabled);
    Ok(FeatureFlags { flags: KEYS.iter().map(|key| (*key, is_on(key))).collect() })
}

/// New value of a feature flag.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SetFlag {
    /// Whether the feature is on.
    pub enabled: bool,
}

/// Sets a feature flag for the whole organization.
#[utoipa::path(put, path = "/feature-flags/{key}", tag = "feature-flags", params(("key" = String, Path)), request_body = SetFlag,
    responses((status = 200, body = Data<FeatureFlags>), ErrorResponses))]
pub async fn set(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Path(key): Path<String>,
    Body(body): Body<SetFlag>,
) -> ApiResult<Data<FeatureFlags>> {
    // Unknown keys would accumulate in the table without any effect.
    if !KEYS.contains(&key.as_str()) {
        return Err(not_found("Feature flag"));
    }
    let row = feature_flag::ActiveModel {
        organization_id: Set(caller.organization_id()),
        key: Set(key.clone()),
        enabled: Set(body.enabled),
        updated_by: Set(caller.user.id),
        updated_at: Set(now()),
    };
    let replace = OnConflict::columns([Column::OrganizationId, Column::Key])
        .update_columns([Column::Enabled, Column::UpdatedBy, Column::UpdatedAt])
        .to_owned();
    let tx = app.store.begin().await?;
    feature_flag::Entity::insert(row).on_conflict(replace).exec_without_returning(&tx).await?;
    let (organization, details) = (caller.organization_id(), json!({"enabled": body.enabled}));
    caller.actor().record(&tx, organization, AuditAction::FeatureFlagSet, &key, details).await?;
    tx.commit().await?;
    read(&app, &caller).await.map(Data::new)
}
