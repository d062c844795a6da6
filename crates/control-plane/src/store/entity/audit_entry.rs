//! An act that matters for security. Never changed.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

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

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_log")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Option<Uuid>,
    pub at: i64,
    pub action: StoredEnum<AuditAction>,
    pub user_id: Option<Uuid>,
    pub key_id: Option<Uuid>,
    pub address: Option<String>,
    pub subject: String,
    #[sea_orm(column_type = "JsonBinary")]
    pub details: Json,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
