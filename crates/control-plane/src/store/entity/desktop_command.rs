//! Commands: requests that a desktop sends to its own gateway on behalf of a user.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// Status of a desktop command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommandStatus {
    /// Not yet acknowledged by the desktop.
    Queued,
    /// Acknowledged by the desktop; no event so far.
    Accepted,
    /// The desktop has sent an event.
    Running,
    /// Completed successfully on the desktop.
    Done,
    /// Completed with an error.
    Failed,
    /// Cancelled at a user's request.
    Cancelled,
    /// Not acknowledged before its expiry.
    Expired,
}

impl CommandStatus {
    /// The statuses that are not terminal.
    pub const OPEN: [Self; 3] = [Self::Queued, Self::Accepted, Self::Running];

    /// Returns whether the status is terminal.
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
    // Hash of the request: a reused idempotency key with another request is a conflict.
    pub request_fingerprint: String,
    pub idempotency_key: Option<String>,
    pub loop_id: Option<Uuid>,
    // Highest sequence number of the desktop's events that was stored and acknowledged.
    pub last_sequence_acked: i64,
    pub error: Option<String>,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    // Time at which the cancellation was requested; it is sent again on every reconnect.
    pub cancel_requested_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
