//! How many findings of reviews about the changes of loops wait for a decision. Repositories without such findings have no
//! row.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "open_findings")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub loop_id: Uuid,
    // `owner/name`, else the name of the directory of the worktree.
    #[sea_orm(primary_key, auto_increment = false)]
    pub repository: String,
    pub count: i32,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
