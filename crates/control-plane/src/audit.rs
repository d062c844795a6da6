//! The audit log: one row for each act that matters for security, in the transaction of the act.
//!
//! Rows are only ever added; the database refuses to change or delete them.

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

/// Who did it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// The user; none when nobody was signed in.
    pub user_id: Option<Uuid>,
    /// The API key that was used, if one was.
    pub key_id: Option<Uuid>,
    /// Where the request came from.
    pub address: Option<String>,
}

impl Actor {
    /// A user, for something that happens outside a request.
    pub fn user(user_id: Uuid) -> Self {
        Self { user_id: Some(user_id), ..Self::default() }
    }

    /// A user who has just shown who it is.
    pub fn signed_in(user_id: Uuid, client: &ClientInfo) -> Self {
        Self { user_id: Some(user_id), key_id: None, address: client.address_text() }
    }

    /// Somebody who did not show who it is.
    pub fn anonymous(client: &ClientInfo) -> Self {
        Self { user_id: None, key_id: None, address: client.address_text() }
    }

    /// Adds a row. `organization_id` is none for what concerns the whole installation.
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
        audit_entry::Entity::insert(row).exec_without_returning(db).await?;
        Ok(())
    }
}
