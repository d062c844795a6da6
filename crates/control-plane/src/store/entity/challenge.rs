//! Unused challenges for loopback gateways. Using a challenge deletes its row.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "local_gateway_challenge_jtis")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub jti: Uuid,
    pub expires_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
