//! Rosters that wait for the decision of an administrator.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// Status of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProposalStatus {
    /// No administrator has decided yet.
    Pending,
    /// The agents were created or changed.
    Accepted,
    /// The agents were left unchanged.
    Rejected,
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "agent_proposals")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    // The user who started the loop.
    pub user_id: Uuid,
    pub loop_id: Uuid,
    pub source_repo: String,
    #[sea_orm(column_type = "JsonBinary")]
    pub roster: Json,
    pub status: StoredEnum<ProposalStatus>,
    pub decided_by: Option<Uuid>,
    pub decided_at: Option<i64>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
