//! Pull requests that loops opened.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "pull_requests")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub document_id: Option<Uuid>,
    pub loop_id: Uuid,
    pub full_name: String,
    pub number: i64,
    pub url: String,
    pub title: String,
    pub branch_name: String,
    pub base_branch: String,
    pub created_at: i64,
    // What the desktop of the loop reports: `loopgate_api::pull_request::ReportedStanding`.
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub standing: Option<Json>,
    pub reported_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
