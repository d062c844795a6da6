//! Deployments of loops' worktrees on desktops, as these report them. A deployment that has ended has no row.

use loopgate_api::deployment::DeploymentState;
use sea_orm::entity::prelude::*;

use crate::store::column::StoredEnum;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "deployments")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub loop_id: Uuid,
    pub compute_target_id: Uuid,
    pub state: StoredEnum<DeploymentState>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
