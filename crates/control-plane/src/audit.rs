//! The audit log: one row for each security-relevant action, written in the transaction of the action.
//!
//! The table is append-only: triggers in the database reject updates and deletes.

use sea_orm::ActiveValue::Set;
use sea_orm::ConnectionTrait;
use sea_orm::prelude::*;
use serde_json::Value;
use uuid::Uuid;

use crate::auth::ClientInfo;
use crate::store::column::StoredEnum;
use crate::store::entity::audit_entry;
pub use crate::store::entity::audit_entry::AuditAction;
use crate::store::now;

/// Who performed an audited action, and from where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// The user; `None` when the caller was not signed in.
    pub user_id: Option<Uuid>,
    /// The API key that authenticated the request; `None` for sessions.
    pub key_id: Option<Uuid>,
    /// Client address of the request; `None` outside a request.
    pub address: Option<String>,
}

impl Actor {
    /// Returns the actor for an action of a user outside a request.
    pub fn user(user_id: Uuid) -> Self {
        Self { user_id: Some(user_id), ..Self::default() }
    }

    /// Returns the actor for a user who has just authenticated.
    pub fn signed_in(user_id: Uuid, client: &ClientInfo) -> Self {
        Self { user_id: Some(user_id), key_id: None, address: client.address_text() }
    }

    /// Returns the actor for a request without valid credentials.
    pub fn anonymous(client: &ClientInfo) -> Self {
        Self { user_id: None, key_id: None, address: client.address_text() }
    }

    /// Appends a row. `organization_id` is `None` for actions that concern the whole installation.
    pub async fn record(
        &self,
        db: &impl ConnectionTrait,
        organization_id: impl Into<Option<Uuid>>,
        action: AuditAction,
        subject: impl ToString,
        details: Value,
    ) -> Result<(), DbErr> {
        let row = audit_entry::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(organization_id.into()),
            at: Set(now()),
            action: Set(StoredEnum(action)),
            user_id: Set(self.user_id),
            key_id: Set(self.key_id),
            address: Set(self.address.clone()),
            subject: Set(subject.to_string()),
            details: Set(details),
        };
        // Without RETURNING: the row is never read back, and `db` usually is the transaction of the action.
        audit_entry::Entity::insert(row).exec_without_returning(db).await?;
        Ok(())
    }
}
