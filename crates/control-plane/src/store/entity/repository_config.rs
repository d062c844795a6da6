//! Results of a bootstrap for a repository, in addition to its agents.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "repository_configs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    // Full name in the form `<org>/<repo>`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub repo_full_name: String,
    #[sea_orm(column_type = "JsonBinary")]
    pub critic_gates: Json,
    pub bootstrap_run_id: String,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
