//! Exchanges of a runner token for a new one, kept so that a retry returns the same new token.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "loop_token_refreshes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub jti: Uuid,
    pub loop_id: Uuid,
    pub new_jti: Uuid,
    pub idempotency_key: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
