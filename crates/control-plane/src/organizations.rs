//! What the administrators of an organization decide for its loops.

use loopgate_api::usd::Usd;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, QuerySelect};
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
    /// Loops of one person that may be active at once, from 1; 10 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_loops: Option<u64>,
    /// What loops may spend.
    pub spending_limits: SpendingLimits,
}

/// US dollars that loops may spend; no limit where one is left out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpendingLimits {
    /// One loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub per_loop_usd: Option<Usd>,
    /// All loops of the organization on a day, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub per_day_usd: Option<Usd>,
    /// All loops of the organization in a month, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub per_month_usd: Option<Usd>,
}

/// The settings of a row. Settings that do not read have their defaults.
pub fn settings(row: &organization::Model) -> OrganizationSettings {
    parse_json(Some(&row.settings)).unwrap_or_default()
}

/// Replaces the settings; members that are not known here stay.
pub async fn store_settings(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    settings: &OrganizationSettings,
) -> ApiResult<()> {
    let row = organization::Entity::find_by_id(organization_id).lock_exclusive().one(tx).await?;
    let mut members: Map<String, Value> =
        row.and_then(|row| row.settings.as_object().cloned()).unwrap_or_default();
    // A member that is left out is absent in what is written, and must not keep its old value.
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
