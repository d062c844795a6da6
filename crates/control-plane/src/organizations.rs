//! Settings of an organization that apply to its loops.

use loopgate_api::usd::Usd;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{ConnectionTrait, DatabaseTransaction, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::error::ApiResult;
use crate::store::entity::organization;
use crate::store::parse_json;

/// Settings of an organization.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OrganizationSettings {
    /// Active loops per user, at least 1. Defaults to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_loops: Option<u64>,
    /// Whether a person has to approve the changes of an EXECUTE before it opens pull requests.
    pub hold_pull_requests: bool,
    /// Spending limits for loops, in US dollars.
    pub spending_limits: SpendingLimits,
}

/// Spending limits in US dollars. An absent member means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpendingLimits {
    /// Limit for one loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub per_loop_usd: Option<Usd>,
    /// Limit for all loops of the organization per day (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub per_day_usd: Option<Usd>,
    /// Limit for all loops of the organization per calendar month (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub per_month_usd: Option<Usd>,
}

/// Returns the settings of an organization. Settings that cannot be parsed have their default values.
pub fn settings(row: &organization::Model) -> OrganizationSettings {
    parse_json(Some(&row.settings)).unwrap_or_default()
}

/// Returns the settings of an organization.
pub async fn find_settings(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
) -> Result<OrganizationSettings, DbErr> {
    let row = organization::Entity::find_by_id(organization_id).one(db).await?;
    Ok(row.as_ref().map(settings).unwrap_or_default())
}

/// Replaces the settings. Members that this version does not know are preserved.
pub async fn store_settings(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    settings: &OrganizationSettings,
) -> ApiResult<()> {
    // FOR UPDATE on PostgreSQL: concurrent writers would merge into the same old row, and one change would be
    // lost.
    let row = organization::Entity::find_by_id(organization_id).lock_exclusive().one(tx).await?;
    let mut members: Map<String, Value> =
        row.and_then(|row| row.settings.as_object().cloned()).unwrap_or_default();
    // `None` is not serialized, so `extend` would leave the old value in place.
    members.remove("maxConcurrentLoops");
    if let Value::Object(new) = serde_json::to_value(settings)? {
        members.extend(new);
    }
    organization::Entity::update_many()
        .col_expr(organization::Column::Settings, Expr::value(Value::Object(members)))
        .filter(organization::Column::Id.eq(organization_id))
        .exec(tx)
        .await?;
    Ok(())
}
