//! Rows of the audit log. Triggers reject updates and deletes.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// A security-relevant action in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    /// A session was created; `method` is `link`, `password`, `password_reset`, `invitation` or `oidc`.
    SignIn,
    /// A sign-in failed; the subject is the account, or empty when it is unknown.
    SignInFailed,
    /// A user signed out of the current session.
    SignOut,
    /// A user ended another session.
    SessionRevoked,
    /// A password was set or changed.
    PasswordChanged,
    /// An administrator or the operator created a link to set a new password; the subject is the user.
    PasswordResetCreated,
    /// The operator created a link that signs a user in.
    SignInLinkCreated,
    /// The operator created an organization.
    OrganizationCreated,
    /// A session switched to another organization.
    OrganizationSelected,
    /// An API key was created.
    KeyCreated,
    /// An API key was revoked.
    KeyRevoked,
    /// A user permitted a desktop to claim an API key.
    DesktopPermitted,
    /// A desktop claimed its API key; the subject is its gateway.
    DesktopKeyIssued,
    /// An invitation was created; the subject is the e-mail address.
    InvitationCreated,
    /// An invitation was revoked.
    InvitationRevoked,
    /// An invitation was accepted; the subject is the new member.
    InvitationAccepted,
    /// A user of the OpenID provider joined automatically.
    MemberJoined,
    /// The role of a member changed.
    MemberRoleChanged,
    /// A member was deactivated.
    MemberDeactivated,
    /// A deactivated member was activated again.
    MemberActivated,
    /// An agent was created.
    AgentCreated,
    /// An agent was changed.
    AgentUpdated,
    /// An agent was deleted.
    AgentDeleted,
    /// The critic gates of a repository were replaced; the subject is its name.
    CriticGatesSet,
    /// A loop of a member proposed agents; the subject is the proposal.
    AgentsProposed,
    /// An administrator accepted proposed agents.
    AgentProposalAccepted,
    /// An administrator rejected proposed agents.
    AgentProposalRejected,
    /// A loop was created; the details name its command and desktop.
    LoopStarted,
    /// A loop was cancelled by a user, or by a spending limit.
    LoopCancelled,
    /// A user sent a message to a running loop; the details name the message and the desktop.
    LoopMessageSent,
    /// A user recorded results or an event of a MANUAL loop.
    ManualLoopRecorded,
    /// A document or ticket was created.
    DocumentCreated,
    /// Title, status, repositories or state of a document or ticket changed.
    DocumentUpdated,
    /// The text of a document changed.
    DocumentVersionAdded,
    /// A change request was deleted; the subject is its first document.
    DocumentDeleted,
    /// The deletion of a change request was undone.
    DocumentRestored,
    /// A command was sent to a desktop; the details name the operation and the desktop.
    CommandSent,
    /// The cancellation of a command was requested.
    CommandCancelled,
    /// A user chose the desktop of the own loops.
    ComputePreferenceSet,
    /// A desktop was registered.
    TargetRegistered,
    /// The owner changed a desktop; the details contain the changed members.
    TargetUpdated,
    /// The owner changed the approval policies on the desktop, which reported it.
    ApprovalPoliciesReported,
    /// Sharing of a desktop with the organization was enabled or disabled.
    TargetSharingChanged,
    /// A desktop was removed and its API key revoked.
    TargetRemoved,
    /// A repository was allowed for loops; the subject is its name.
    RepositoryAllowed,
    /// A repository was removed from the allowed ones.
    RepositoryForbidden,
    /// A browser key was registered; the subject is its fingerprint.
    BrowserKeyRegistered,
    /// A browser key was removed.
    BrowserKeyRemoved,
    /// The organization's settings were replaced; the details contain both versions.
    OrganizationSettingsSet,
    /// A feature flag was changed; the subject is its key.
    FeatureFlagSet,
}

impl AuditAction {
    /// Returns the name of the action in the table and in JSON.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_log")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    // No foreign keys: entries outlive the rows that they refer to.
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
