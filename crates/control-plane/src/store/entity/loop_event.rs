//! Events of loops; append-only.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use crate::store::column::StoredEnum;

/// Origin of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventSource {
    /// The runner on a desktop, with a runner token.
    Runner,
    /// The control plane itself.
    Internal,
    /// A user, who sends a message to the loop or does its work by hand.
    Person,
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "loop_events")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub loop_id: Uuid,
    pub sequence: i64,
    pub kind: String,
    pub source: StoredEnum<EventSource>,
    // Idempotency key, unique per loop and source: a repeated report is a no-op.
    pub event_id: String,
    #[sea_orm(column_type = "JsonBinary")]
    pub data: Json,
    pub runner_token_jti: Option<Uuid>,
    pub runner_nonce: Option<Uuid>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
