//! The audit log: one row for each act that matters for security, in the transaction of the act.
//!
//! Rows are only ever added; the database refuses to change or delete them.

use sea_orm::ActiveValue::Set;
use sea_orm::ConnectionTrait;
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::ClientInfo;
use crate::store::column::StoredEnum;
use crate::store::entity::audit_entry;
use crate::store::now;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    /// A session was begun; `method` is `link`, `password`, `invitation` or `oidc`.
    SignIn,
    /// A sign-in was refused; the subject is the account that was named.
    SignInFailed,
    /// A session was ended by its own browser.
    SignOut,
    /// A session was ended from another one.
    SessionRevoked,
    /// A password was set or changed.
    PasswordChanged,
    /// A session moved to another organization.
    OrganizationSelected,
    /// An API key was made.
    KeyCreated,
    /// An API key was revoked.
    KeyRevoked,
    /// A desktop claimed its key; the subject is its gateway.
    DesktopKeyIssued,
    /// Somebody was invited; the subject is the e-mail address.
    InvitationCreated,
    /// An invitation was taken back.
    InvitationRevoked,
    /// An invitation was accepted; the subject is the new member.
    InvitationAccepted,
    /// Somebody of the OpenID provider became a member.
    MemberJoined,
    /// A member got another role.
    MemberRoleChanged,
    /// A member was deactivated.
    MemberDeactivated,
    /// A member was activated again.
    MemberActivated,
    /// An agent was made.
    AgentCreated,
    /// An agent was changed.
    AgentUpdated,
    /// An agent was deleted.
    AgentDeleted,
    /// A desktop was registered.
    TargetRegistered,
    /// A desktop was shared with the organization, or no longer is.
    TargetSharingChanged,
    /// A desktop was removed, and its key revoked.
    TargetRemoved,
    /// A repository was opened for loops; the subject is its name.
    RepositoryAllowed,
    /// A repository was closed again.
    RepositoryForbidden,
    /// A key of a browser was registered; the subject is its fingerprint.
    BrowserKeyRegistered,
    /// A key of a browser was removed.
    BrowserKeyRemoved,
    /// The settings of the organization were replaced; the details are the old and the new ones.
    OrganizationSettingsSet,
    /// A feature was turned on or off; the subject is its key.
    FeatureFlagSet,
}

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
