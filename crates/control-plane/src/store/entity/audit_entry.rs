//! An act that matters for security. Never changed.

use sea_orm::entity::prelude::*;

use crate::audit::AuditAction;
use crate::store::column::StoredEnum;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_log")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Option<Uuid>,
    pub at: i64,
    pub action: StoredEnum<AuditAction>,
    pub user_id: Option<Uuid>,
    pub key_id: Option<Uuid>,
    pub address: Option<String>,
    pub subject: String,
    #[sea_orm(column_type = "JsonBinary")]
    pub details: Json,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
