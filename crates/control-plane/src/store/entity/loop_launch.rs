//! Launches: loops that were accepted and whose command is not stored yet.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "loop_launches")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub loop_id: Uuid,
    pub compute_target_id: Uuid,
    // A signature is never stored, so only the process that received the request can launch the loop.
    pub is_signed: bool,
    // Instance that launches the loop; NULL when it has left the launch to the others.
    pub owner: Option<Uuid>,
    // Time after which another instance may take the launch over.
    pub leased_until: i64,
    // Number of leases so far. The lease with the latest number is the valid one.
    pub attempts: i64,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
