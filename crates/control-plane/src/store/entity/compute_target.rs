//! Desktops, which the control plane calls compute targets.

use loopgate_api::launch::Harness;
use sea_orm::entity::prelude::*;

use crate::store::column::StoredEnum;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "compute_targets")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub user_id: Uuid,
    pub machine_name: String,
    pub platform: String,
    // Id that the desktop's gateway generated for itself, proven by the key that is bound to it. Unique for
    // each owner in an organization.
    pub gateway_id: Option<Uuid>,
    // Id that the desktop's gateway named, proven or not. Distinguishes the owner's desktops, and proves nothing.
    pub claimed_gateway_id: Option<Uuid>,
    #[sea_orm(column_type = "JsonBinary")]
    pub capabilities: Json,
    #[sea_orm(column_type = "JsonBinary")]
    pub supported_operations: Json,
    pub selected_harness: StoredEnum<Harness>,
    pub is_online: bool,
    // Members may start loops on it.
    pub is_shared_with_org: bool,
    // Members may also send commands to it; without effect while it is not shared.
    pub grants_commands: bool,
    pub state: Option<String>,
    pub active_commands: Option<i64>,
    pub queue_depth: Option<i64>,
    pub last_seen_at: i64,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
