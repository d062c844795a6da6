//! The authorization matrix: every act, the role that it requires, and every way that leads to it.
//!
//! A permission belongs to an act, not to the route through which it happens to be performed: the same change
//! may also be caused by an event of a runner or a frame of a desktop. `docs/authorization.md` is this table,
//! and a test performs each act in each way, with and without the role.

use std::fmt::{self, Write as _};

use loopgate_api::command::LoopCommand;

use crate::audit::AuditAction;

/// The role that an act requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredRole {
    /// The holder of a secret in the request, such as a password or a signed URL; for health checks, no credential.
    Anyone,
    /// An active user of the organization, for the organization's data or their own.
    Member,
    /// An administrator of the organization.
    Administrator,
    /// The owner of the desktop.
    DesktopOwner,
    /// The owner of the desktop, or a member while the desktop's owner grants commands to members.
    DesktopOperator,
    /// The user who started the loop.
    LoopStarter,
    /// The author of the document, or an administrator.
    DocumentAuthor,
    /// The program of the loop, with the loop's token.
    Runner,
    /// A desktop with the API key that is bound to it.
    Desktop,
    /// The user of the operating system who can read the data directory or the database.
    Operator,
}

impl RequiredRole {
    const fn description(self) -> &'static str {
        match self {
            Self::Anyone => "holder of the secret in the request, if any",
            Self::Member => "member",
            Self::Administrator => "administrator",
            Self::DesktopOwner => "owner of the desktop",
            Self::DesktopOperator => "owner of the desktop; members if the owner grants commands",
            Self::LoopStarter => "user who started the loop",
            Self::DocumentAuthor => "author of the document, or administrator",
            Self::Runner => "runner of the loop",
            Self::Desktop => "desktop, with its bound key",
            Self::Operator => "operator with access to the data directory or the database",
        }
    }
}

/// A way that leads to an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Method and path of a route.
    Route(&'static str, &'static str),
    /// The `completed` event of a loop with a command. Without the role, the effect becomes a proposal.
    Completion(LoopCommand),
    /// A frame of a desktop's link.
    Frame(&'static str),
    /// A sub-command of `loopgate control-plane`.
    Command(&'static str),
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Route(method, path) => write!(f, "`{method} {path}`"),
            Self::Completion(command) => write!(f, "completion of a `{command}` loop"),
            Self::Frame(name) => write!(f, "frame `{name}`"),
            Self::Command(name) => write!(f, "`loopgate control-plane {name}`"),
        }
    }
}

/// An act and what it requires.
#[derive(Debug, Clone, Copy)]
pub struct Act {
    /// Description, in the infinitive.
    pub name: &'static str,
    pub role: RequiredRole,
    /// Actions in the audit log, one of which each way leaves; empty for acts that change nothing that runs,
    /// and nothing that authorizes.
    pub audit: &'static [AuditAction],
    pub ways: &'static [Way],
}

/// All acts, in the order of the page.
#[rustfmt::skip]
pub const ACTS: &[Act] = {
    use AuditAction as Audit;
    use RequiredRole::{
        Administrator, Anyone, Desktop, DesktopOperator, DesktopOwner, DocumentAuthor, LoopStarter, Member, Operator, Runner,
    };
    use Way::{Command, Completion, Frame, Route};
    &[
        Act { name: "read the state of the service", role: Anyone, audit: &[], ways: &[
            Route("GET", "/health"), Route("GET", "/health/live"), Route("GET", "/health/ready"),
            Route("GET", "/health/db"), Route("GET", "/auth/methods"),
        ] },
        Act { name: "sign in", role: Anyone, audit: &[Audit::SignIn], ways: &[
            Route("POST", "/auth/sign-in-link"), Route("POST", "/auth/sign-in"),
            Route("POST", "/invitations/accept"),
        ] },
        Act { name: "set a new password with a link", role: Anyone, audit: &[Audit::PasswordChanged], ways: &[
            Route("POST", "/auth/password-reset"),
        ] },
        Act { name: "authenticate at the OpenID provider", role: Anyone, audit: &[], ways: &[
            Route("GET", "/auth/oidc/start"), Route("GET", "/auth/oidc/callback"),
        ] },
        Act { name: "read an invitation", role: Anyone, audit: &[], ways: &[Route("POST", "/invitations/preview")] },
        Act { name: "read or write a file of a loop", role: Anyone, audit: &[], ways: &[
            Route("GET", "/storage/{key}"), Route("PUT", "/storage/{key}"),
        ] },
        Act { name: "read one's own account", role: Member, audit: &[], ways: &[
            Route("GET", "/me"), Route("GET", "/organizations"), Route("GET", "/sessions"),
            Route("GET", "/api-keys"), Route("GET", "/public-keys"), Route("GET", "/settings/compute-preference"),
        ] },
        Act { name: "note what one has seen and snoozed, and save views", role: Member, audit: &[], ways: &[
            Route("PUT", "/change-requests/{idOrSlug}/mark"),
            Route("GET", "/change-requests/views"), Route("PUT", "/change-requests/views"),
        ] },
        Act { name: "write comments on changes", role: Member, audit: &[], ways: &[
            Route("PUT", "/change-requests/{idOrSlug}/comments/{commentId}"),
            Route("DELETE", "/change-requests/{idOrSlug}/comments/{commentId}"),
            Route("POST", "/change-requests/{idOrSlug}/reviews"),
        ] },
        Act { name: "report how many findings of a review wait for a decision", role: Member, audit: &[], ways: &[
            Route("PUT", "/loops/{id}/findings"),
        ] },
        Act { name: "change one's own password", role: Member, audit: &[Audit::PasswordChanged], ways: &[
            Route("PUT", "/auth/password"),
        ] },
        Act { name: "end one's own session", role: Member, audit: &[Audit::SignOut, Audit::SessionRevoked], ways: &[
            Route("DELETE", "/sessions/{id}"), Route("POST", "/auth/sign-out"),
        ] },
        Act { name: "switch the organization", role: Member, audit: &[Audit::OrganizationSelected], ways: &[
            Route("PUT", "/auth/organization"),
        ] },
        Act { name: "create or revoke one's own API key", role: Member, audit: &[Audit::KeyCreated, Audit::KeyRevoked], ways: &[
            Route("POST", "/api-keys"), Route("DELETE", "/api-keys/{id}"),
        ] },
        Act { name: "register or remove one's own browser key", role: Member,
            audit: &[Audit::BrowserKeyRegistered, Audit::BrowserKeyRemoved], ways: &[
            Route("POST", "/public-keys"), Route("DELETE", "/public-keys"),
        ] },
        Act { name: "choose the desktop of one's own loops", role: Member, audit: &[Audit::ComputePreferenceSet], ways: &[
            Route("PUT", "/settings/compute-preference"),
        ] },
        Act { name: "read the organization's data", role: Member, audit: &[], ways: &[
            Route("GET", "/members"), Route("GET", "/feature-flags"), Route("GET", "/organization/settings"),
            Route("GET", "/compute-targets"), Route("GET", "/compute-targets/status-stream"),
            Route("GET", "/compute-targets/{id}/health-check"),
            Route("GET", "/agents"), Route("GET", "/agents/{idOrSlug}"), Route("GET", "/agents/{idOrSlug}/versions"),
            Route("GET", "/agents/{idOrSlug}/versions/{version}"), Route("GET", "/agent-proposals"),
            Route("GET", "/repositories"), Route("GET", "/documents"), Route("GET", "/documents/{idOrSlug}"),
            Route("GET", "/documents/{idOrSlug}/versions"), Route("POST", "/documents/{idOrSlug}/run-loop/preview"),
            Route("GET", "/documents/{idOrSlug}/versions/{version}"),
            Route("GET", "/tickets"), Route("GET", "/tickets/{idOrSlug}"),
            Route("GET", "/change-requests"), Route("GET", "/change-requests/{idOrSlug}"),
            Route("GET", "/change-requests/groups"), Route("GET", "/change-requests/{idOrSlug}/history"), Route("GET", "/organization/changes"),
            Route("GET", "/change-requests/{idOrSlug}/reviews"),
            Route("GET", "/loops"), Route("POST", "/loops/summaries"), Route("GET", "/loops/{id}"),
            Route("GET", "/loops/{id}/events"), Route("GET", "/loops/{id}/events/{sequence}"),
            Route("GET", "/loops/{id}/stream"),
        ] },
        Act { name: "read the administration's data", role: Administrator, audit: &[], ways: &[
            Route("GET", "/audit-log"), Route("GET", "/invitations"), Route("GET", "/loops/usage"),
            Route("GET", "/loops/{id}/runtime"),
        ] },
        Act { name: "invite a member", role: Administrator,
            audit: &[Audit::InvitationCreated, Audit::InvitationRevoked], ways: &[
            Route("POST", "/invitations"), Route("DELETE", "/invitations/{id}"),
        ] },
        Act { name: "change a member", role: Administrator,
            audit: &[Audit::MemberRoleChanged, Audit::MemberDeactivated, Audit::MemberActivated], ways: &[
            Route("PATCH", "/members/{id}"),
        ] },
        Act { name: "create a link for a member to set a new password", role: Administrator,
            audit: &[Audit::PasswordResetCreated], ways: &[
            Route("POST", "/members/{id}/password-reset"),
        ] },
        Act { name: "change the organization", role: Administrator,
            audit: &[Audit::FeatureFlagSet, Audit::OrganizationSettingsSet], ways: &[
            Route("PUT", "/feature-flags/{key}"), Route("PUT", "/organization/settings"),
        ] },
        Act { name: "change the repositories of loops", role: Administrator,
            audit: &[Audit::RepositoryAllowed, Audit::RepositoryForbidden], ways: &[
            Route("POST", "/repositories"), Route("DELETE", "/repositories/{owner}/{name}"),
        ] },
        Act { name: "change agents", role: Administrator,
            audit: &[Audit::AgentCreated, Audit::AgentUpdated, Audit::AgentDeleted, Audit::CriticGatesSet], ways: &[
            Route("POST", "/agents"), Route("POST", "/agents/bulk-ingest"), Route("PATCH", "/agents/{idOrSlug}"),
            Route("DELETE", "/agents/{idOrSlug}"), Route("POST", "/agent-proposals/{id}/accept"),
            Completion(LoopCommand::Bootstrap),
        ] },
        Act { name: "reject proposed agents", role: Administrator, audit: &[Audit::AgentProposalRejected], ways: &[
            Route("POST", "/agent-proposals/{id}/reject"),
        ] },
        Act { name: "change a document", role: Member,
            audit: &[Audit::DocumentCreated, Audit::DocumentUpdated, Audit::DocumentVersionAdded], ways: &[
            Route("PATCH", "/change-requests/{idOrSlug}"),
            Route("POST", "/documents"), Route("PATCH", "/documents/{idOrSlug}"),
            Route("POST", "/documents/{idOrSlug}/versions"), Route("POST", "/tickets"),
            Route("PATCH", "/tickets/{idOrSlug}"), Completion(LoopCommand::Plan),
            Completion(LoopCommand::GeneratePrd),
        ] },
        Act { name: "delete a change request, or undo it", role: DocumentAuthor,
            audit: &[Audit::DocumentDeleted, Audit::DocumentRestored], ways: &[
            Route("DELETE", "/change-requests/{idOrSlug}"), Route("POST", "/change-requests/{idOrSlug}/restore"),
        ] },
        Act { name: "start a loop", role: Member, audit: &[Audit::LoopStarted], ways: &[
            Route("POST", "/loops"), Route("POST", "/documents/{idOrSlug}/run-loop"),
            Route("POST", "/documents/run-loop"),            Route("POST", "/agents/bootstrap/start"),
        ] },
        Act { name: "resume a loop", role: LoopStarter, audit: &[Audit::LoopStarted], ways: &[
            Route("POST", "/loops/{id}/resume"),
        ] },
        Act { name: "cancel a loop", role: Member, audit: &[Audit::LoopCancelled], ways: &[
            Route("POST", "/loops/{id}/cancel"), Route("DELETE", "/loops/{id}"),
        ] },
        Act { name: "send a message to a running loop", role: LoopStarter, audit: &[Audit::LoopMessageSent], ways: &[
            Route("POST", "/loops/{id}/messages"),
        ] },
        Act { name: "record the work of a MANUAL loop", role: Member, audit: &[Audit::ManualLoopRecorded], ways: &[
            Route("PATCH", "/loops/{id}"), Route("POST", "/loops/{id}/manual-events"),
        ] },
        Act { name: "report a loop", role: Runner, audit: &[], ways: &[
            Route("POST", "/loops/{id}/events"), Route("POST", "/loops/{id}/heartbeat"),
            Route("POST", "/loops/{id}/refresh-token"), Route("POST", "/loops/{id}/github-token"),
            Route("POST", "/loops/{id}/upload-artifacts"), Route("POST", "/loops/{id}/upload-urls"),
            Route("POST", "/loops/{id}/download-urls"),
        ] },
        Act { name: "permit a desktop to connect", role: Member, audit: &[Audit::DesktopPermitted], ways: &[
            Route("POST", "/desktop/onboarding-attempt"),
        ] },
        Act { name: "claim the key of a permitted desktop", role: Anyone, audit: &[Audit::DesktopKeyIssued], ways: &[
            Route("POST", "/desktop/bootstrap/claim"),
        ] },
        Act { name: "register a desktop", role: Member, audit: &[Audit::TargetRegistered], ways: &[
            Route("POST", "/compute-targets/register"), Frame("hello"),
        ] },
        Act { name: "authenticate a page at a gateway", role: Member, audit: &[], ways: &[
            Route("POST", "/compute-targets/local-auth/challenge"), Route("POST", "/compute-targets/local-auth/verify"),
        ] },
        Act { name: "change a desktop", role: DesktopOwner, audit: &[Audit::TargetUpdated], ways: &[
            Route("PUT", "/compute-targets/{id}"),
        ] },
        Act { name: "report the state of a desktop", role: DesktopOwner, audit: &[], ways: &[
            Route("POST", "/compute-targets/{id}/heartbeat"), Route("PUT", "/compute-targets/{id}/health-check"),
        ] },
        Act { name: "share a desktop", role: DesktopOwner, audit: &[Audit::TargetSharingChanged], ways: &[
            Route("PATCH", "/compute-targets/{id}/sharing"),
        ] },
        Act { name: "remove a desktop", role: DesktopOwner, audit: &[Audit::TargetRemoved], ways: &[
            Route("DELETE", "/compute-targets/{id}"),
        ] },
        Act { name: "send a command to a desktop", role: DesktopOperator, audit: &[Audit::CommandSent], ways: &[
            Route("POST", "/compute-targets/{id}/commands"),
        ] },
        Act { name: "read commands of a desktop", role: DesktopOperator, audit: &[], ways: &[
            Route("GET", "/compute-targets/{id}/commands"),
            Route("GET", "/compute-targets/{id}/commands/{command_id}"),
            Route("GET", "/compute-targets/{id}/commands/{command_id}/events"),
        ] },
        Act { name: "cancel a command", role: DesktopOperator, audit: &[Audit::CommandCancelled], ways: &[
            Route("POST", "/compute-targets/{id}/commands/{command_id}/cancel"),
        ] },
        Act { name: "fetch the launch of a signed loop", role: Desktop, audit: &[], ways: &[
            Route("POST", "/compute-targets/{id}/loops/{loop_id}/execution-credentials"),
        ] },
        Act { name: "report the pull requests of a desktop's loops", role: Desktop, audit: &[], ways: &[
            Route("POST", "/compute-targets/{id}/pull-requests"),
        ] },
        Act { name: "report the deployments of a desktop's loops", role: Desktop, audit: &[], ways: &[
            Route("PUT", "/compute-targets/{id}/deployments"),
        ] },
        Act { name: "change the approval policies of a desktop", role: Desktop, audit: &[Audit::ApprovalPoliciesReported], ways: &[
            Frame("telemetry"),
        ] },
        Act { name: "read users and organizations of the installation", role: Operator, audit: &[], ways: &[
            Command("user list"), Command("organization list"),
        ] },
        Act { name: "create a link that signs any user in", role: Operator, audit: &[Audit::SignInLinkCreated], ways: &[
            Command("sign-in-link"),
        ] },
        Act { name: "create a link for any user to set a new password", role: Operator,
            audit: &[Audit::PasswordResetCreated], ways: &[Command("user reset-password")] },
        Act { name: "activate or deactivate any user", role: Operator,
            audit: &[Audit::MemberActivated, Audit::MemberDeactivated], ways: &[
            Command("user deactivate"), Command("user activate"),
        ] },
        Act { name: "create an organization", role: Operator, audit: &[Audit::OrganizationCreated], ways: &[
            Command("organization add"),
        ] },
        Act { name: "copy or replace the data of the installation", role: Operator, audit: &[], ways: &[
            Command("backup"), Command("restore"), Command("new-secrets"),
        ] },
        Act { name: "check the database, or update its schema", role: Operator, audit: &[], ways: &[
            Command("check"), Command("migrate"),
        ] },
    ]
};

/// Returns the page `docs/authorization.md`.
pub fn authorization_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for Act { name, role, audit, ways } in ACTS {
        let ways: Vec<String> = ways.iter().map(ToString::to_string).collect();
        let audit: Vec<String> = audit.iter().map(|action| format!("`{}`", action.name())).collect();
        let _ = writeln!(
            page,
            "| {name} | {} | {} | {} |",
            role.description(),
            ways.join("<br>"),
            audit.join("<br>")
        );
    }
    page
}

const INTRODUCTION: &str = "\
# Authorization

This page is generated from `crates/control-plane/src/acts.rs`:
`cargo run -p loopgate-control-plane --example authorization > docs/authorization.md`

Each act at the control plane requires a role, regardless of the way that leads to it: a route, the completion of a
loop, a frame of a desktop's link, or a command on the machine of the control plane. Without the role, a request is
refused; the result of a loop becomes a proposal for an administrator. The last column lists the rows of the
[audit log](accounts.md#the-audit-log), of which each way leaves one. API keys act with the role of their user, and also
need the scope of the method.

| act | requires | ways | audit log |
|---|---|---|---|
";
