//! A request that a desktop is to run against its own gateway.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// Status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommandStatus {
    /// Not yet taken by the desktop.
    Queued,
    /// Taken.
    Accepted,
    /// Has sent an event.
    Running,
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// Stopped.
    Cancelled,
    /// Never taken.
    Expired,
}

impl CommandStatus {
    /// Statuses in which something can still happen.
    pub const OPEN: [Self; 3] = [Self::Queued, Self::Accepted, Self::Running];

    /// Whether the status is terminal.
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Queued | Self::Accepted | Self::Running)
    }
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "desktop_commands")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub compute_target_id: Uuid,
    pub user_id: Uuid,
    pub operation_id: String,
    pub status: StoredEnum<CommandStatus>,
    #[sea_orm(column_type = "JsonBinary")]
    pub request_payload: Json,
    pub request_fingerprint: String,
    pub idempotency_key: Option<String>,
    pub loop_id: Option<Uuid>,
    pub last_sequence_acked: i64,
    pub error: Option<String>,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    /// When its cancellation was requested.
    pub cancel_requested_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
