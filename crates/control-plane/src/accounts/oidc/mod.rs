//! Sign-in through an OpenID provider: authorization code flow with PKCE.
//!
//! A pending sign-in is a row, so that any instance can finish it. It is valid once, and only for the browser
//! that started it. Users are identified by issuer and subject, never by an e-mail address, which a provider
//! may reassign.

mod provider;

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{DatabaseTransaction, QuerySelect};
use serde_json::json;
use url::Url;

use self::provider::{Claims, DiscoveredProvider, SignInRequest};
use super::{Profile, insert_identity, insert_user, invitations, members, memberships};
use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::auth::ClientInfo;
use crate::config::OidcProvider;
use crate::credentials::secret::{random_secret, sha256_hex};
use crate::credentials::session;
use crate::error::ApiError;
use crate::store::entity::user::{self, Role};
use crate::store::entity::{external_identity, oidc_sign_in, organization};
use crate::store::now;

// Time to authenticate at the provider, in milliseconds.
const TTL: i64 = 10 * 60 * 1000;

/// The reason why a sign-in failed. Its code is passed to the sign-in page.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// No OpenID provider is configured.
    #[error("no OpenID provider is configured")]
    NotConfigured,
    /// The provider is unreachable, or its response is invalid.
    #[error("request to the OpenID provider failed: {0}")]
    DiscoveredProvider(String),
    /// The provider returned an error, for example because the user declined.
    #[error("the OpenID provider returned an error: {0}")]
    Denied(String),
    /// The sign-in is unknown, expired, used, or of another browser; or the ID token is invalid.
    #[error("invalid sign-in: {0}")]
    Invalid(String),
    /// No account here is linked to the subject.
    #[error("no account is linked to this OpenID subject")]
    NoAccount,
    /// No group of the user may sign in.
    #[error("no group of this user may sign in")]
    NotAllowed,
    /// All accounts of the user are inactive.
    #[error("the account is inactive")]
    Inactive,
    /// The invitation cannot be accepted.
    #[error("the invitation cannot be accepted: {0}")]
    Invitation(String),
    /// A database query failed.
    #[error("{0}")]
    Store(#[from] DbErr),
}

impl OidcError {
    /// Returns the stable identifier of the error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotConfigured => "oidc_not_configured",
            Self::DiscoveredProvider(_) => "oidc_unavailable",
            Self::Denied(_) => "oidc_denied",
            Self::Invalid(_) => "oidc_invalid",
            Self::NoAccount => "oidc_no_account",
            Self::NotAllowed => "oidc_not_allowed",
            Self::Inactive => "oidc_inactive",
            Self::Invitation(_) => "oidc_invitation",
            Self::Store(_) => "oidc_failed",
        }
    }
}

/// A sign-in to continue at the provider.
pub struct ProviderRedirect {
    /// URL of the provider to redirect to.
    pub url: Url,
    /// Secret for the browser's cookie, which must come back with the callback.
    pub browser_secret: String,
}

/// The result of a completed sign-in.
pub struct SignInResult {
    /// Token of a one-time link, which the page exchanges for a session.
    pub link_token: String,
    /// Path of the page to open next.
    pub return_to: Option<String>,
}

/// Query parameters of the callback from the provider.
#[derive(Debug, Default)]
pub struct ProviderCallback {
    /// The `state` parameter of the sign-in request.
    pub state: String,
    /// The authorization code; absent when the sign-in failed.
    pub code: Option<String>,
    /// The provider's error code; absent on success.
    pub error: Option<String>,
}

fn configured(app: &ControlPlaneState) -> Result<&OidcProvider, OidcError> {
    app.config.oidc.as_ref().ok_or(OidcError::NotConfigured)
}

fn callback_url(app: &ControlPlaneState) -> String {
    format!("{}/auth/oidc/callback", app.config.api_origin.trim_end_matches('/'))
}

/// Starts a sign-in at the provider.
pub async fn start(
    app: &ControlPlaneState,
    return_to: Option<String>,
    invitation_token: Option<&str>,
) -> Result<ProviderRedirect, OidcError> {
    let provider = DiscoveredProvider::discover(configured(app)?, &callback_url(app)).await?;
    let SignInRequest { url, state, nonce, pkce_verifier } = provider.sign_in_request();
    let browser_secret = hex::encode(random_secret());
    let row = oidc_sign_in::ActiveModel {
        state_hash: Set(sha256_hex(&state)),
        browser_hash: Set(sha256_hex(&browser_secret)),
        nonce: Set(nonce),
        pkce_verifier: Set(pkce_verifier),
        return_to: Set(return_to),
        invitation_hash: Set(invitation_token.map(sha256_hex)),
        expires_at: Set(now() + TTL),
    };
    let db = app.store.writer();
    // Abandoned sign-ins have no other cleanup.
    let expired = oidc_sign_in::Column::ExpiresAt.lte(now());
    oidc_sign_in::Entity::delete_many().filter(expired).exec(db).await?;
    oidc_sign_in::Entity::insert(row).exec_without_returning(db).await?;
    Ok(ProviderRedirect { url, browser_secret })
}

/// Completes a sign-in after the callback. Failures are recorded in the audit log.
pub async fn finish(
    app: &ControlPlaneState,
    client: &ClientInfo,
    browser_secret: Option<&str>,
    callback: ProviderCallback,
) -> Result<SignInResult, OidcError> {
    let result = try_finish(app, client, browser_secret, callback).await;
    if let Err(error) = &result {
        let details = json!({"method": "oidc", "reason": error.code()});
        let actor = Actor::anonymous(client);
        // Without a subject or organization: neither is known before the ID token is verified.
        let record = actor.record(app.store.writer(), None, AuditAction::SignInFailed, "", details);
        if let Err(error) = record.await {
            tracing::error!(%error, "failed to record a failed sign-in in the audit log");
        }
    }
    result
}

async fn try_finish(
    app: &ControlPlaneState,
    client: &ClientInfo,
    browser_secret: Option<&str>,
    callback: ProviderCallback,
) -> Result<SignInResult, OidcError> {
    let config = configured(app)?;
    // Consume before contacting the provider, so that a replayed callback fails early.
    let pending = consume(app, browser_secret, &callback.state).await?;
    let code = match (callback.code, callback.error) {
        (Some(code), None) => code,
        (_, error) => {
            return Err(OidcError::Denied(error.unwrap_or_else(|| "missing authorization code".to_owned())));
        }
    };
    let provider = DiscoveredProvider::discover(config, &callback_url(app)).await?;
    let claims = provider.claims(code, pending.pkce_verifier, pending.nonce).await?;
    let tx = app.store.begin().await?;
    let user = resolve_user(&tx, config, client, &claims, pending.invitation_hash.as_deref()).await?;
    tx.commit().await?;
    // Roles may have changed; connections and streams check their credentials again.
    app.bus.publish(crate::bus::Topic::Credentials);
    let link_token = session::create_link(&app.store, user.id, "oidc", browser_secret).await?;
    Ok(SignInResult { link_token, return_to: pending.return_to })
}

/// Consumes the pending sign-in of a state. Fails when it is unknown, expired, or was started by another
/// browser.
async fn consume(
    app: &ControlPlaneState,
    browser_secret: Option<&str>,
    state: &str,
) -> Result<oidc_sign_in::Model, OidcError> {
    let invalid = |text: &str| OidcError::Invalid(text.to_owned());
    let tx = app.store.begin().await?;
    let row = oidc_sign_in::Entity::find_by_id(sha256_hex(state)).lock_exclusive().one(&tx).await?;
    let row = row.ok_or_else(|| invalid("unknown or used state"))?;
    // Checked before the row is deleted: another browser must not be able to consume it.
    if browser_secret.map(sha256_hex).as_ref() != Some(&row.browser_hash) {
        return Err(invalid("started in another browser"));
    }
    oidc_sign_in::Entity::delete_by_id(row.state_hash.clone()).exec(&tx).await?;
    tx.commit().await?;
    // An expired row is deleted, too, and the deletion must be committed before the error.
    if row.expires_at <= now() { Err(invalid("expired")) } else { Ok(row) }
}

/// Finds or creates the user for the claims: linked by subject, invited, or a member of the organization that
/// users of the provider join automatically.
async fn resolve_user(
    tx: &DatabaseTransaction,
    config: &OidcProvider,
    client: &ClientInfo,
    claims: &Claims,
    invitation_hash: Option<&str>,
) -> Result<user::Model, OidcError> {
    let role = config.role_of(&claims.groups).ok_or(OidcError::NotAllowed)?;
    let id = (claims.issuer.clone(), claims.subject.clone());
    let linked = external_identity::Entity::find_by_id(id).one(tx).await?;
    let identity_id = match &linked {
        Some(linked) => linked.identity_id,
        None if invitation_hash.is_none() && config.organization.is_none() => {
            return Err(OidcError::NoAccount);
        }
        None => link_identity(tx, claims).await?,
    };
    if let Some(token_hash) = invitation_hash {
        let to_oidc_error = |error: ApiError| OidcError::Invitation(error.body.error);
        let joined = invitations::consume(tx, client, token_hash, identity_id, claims.profile()).await;
        return joined.map(|(user, _)| user).map_err(to_oidc_error);
    }
    let organization = match &config.organization {
        Some(slug) => {
            organization::Entity::find()
                .filter(organization::Column::Slug.eq(slug))
                .filter(organization::Column::Active.eq(true))
                .one(tx)
                .await?
        }
        None => None,
    };
    let mut users = memberships(tx, identity_id).await?;
    if let Some(organization) = organization {
        let member = user::Entity::find()
            .filter(user::Column::OrganizationId.eq(organization.id))
            .filter(user::Column::IdentityId.eq(identity_id));
        match member.one(tx).await? {
            // Roles follow groups only if a claim is mapped; a deactivated member stays deactivated.
            Some(member) if config.maps_groups() && member.active => {
                let actor = Actor::signed_in(member.id, client);
                let member = members::set_role(tx, &actor, member, role).await?;
                users.retain(|(user, _)| user.id != member.id);
                users.insert(0, (member, organization));
            }
            Some(_) => {}
            None => {
                let user = insert_user(tx, organization.id, identity_id, claims.profile(), role).await?;
                let details = json!({"role": role, "method": "oidc"});
                let action = AuditAction::MemberJoined;
                Actor::signed_in(user.id, client)
                    .record(tx, organization.id, action, user.id, details)
                    .await?;
                users.push((user, organization));
            }
        }
    }
    users.into_iter().next().map(|(user, _)| user).ok_or(OidcError::Inactive)
}

/// Adds an identity and links it to the subject.
async fn link_identity(tx: &DatabaseTransaction, claims: &Claims) -> Result<Uuid, DbErr> {
    let identity_id = insert_identity(tx).await?;
    let row = external_identity::ActiveModel {
        issuer: Set(claims.issuer.clone()),
        subject: Set(claims.subject.clone()),
        identity_id: Set(identity_id),
        created_at: Set(now()),
    };
    external_identity::Entity::insert(row).exec_without_returning(tx).await?;
    Ok(identity_id)
}

impl Claims {
    fn profile(&self) -> Profile {
        Profile {
            email: self.email.clone().unwrap_or_default(),
            first_name: self.given_name.clone(),
            last_name: self.family_name.clone(),
            avatar_url: self.picture.clone(),
        }
    }
}

impl OidcProvider {
    /// Returns whether groups are mapped to roles.
    const fn maps_groups(&self) -> bool {
        self.groups_claim.is_some()
    }

    /// Returns the role for a user's groups, or `None` when they may not sign in.
    fn role_of(&self, groups: &[String]) -> Option<Role> {
        let has = |mapped: &[String]| groups.iter().any(|group| mapped.contains(group));
        if self.maps_groups() && has(&self.admin_groups) {
            return Some(Role::Admin);
        }
        let is_member = !self.maps_groups() || self.member_groups.is_empty() || has(&self.member_groups);
        is_member.then_some(Role::Member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn role_follows_groups_when_claim_is_mapped() {
        let groups = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut provider = OidcProvider {
            issuer: String::new(),
            client_id: String::new(),
            client_secret: None,
            name: String::new(),
            scopes: Vec::new(),
            groups_claim: None,
            admin_groups: groups(&["boss"]),
            member_groups: groups(&["dev"]),
            organization: None,
        };
        assert_eq!(provider.role_of(&groups(&["boss"])), Some(Role::Member), "no claim is mapped");
        provider.groups_claim = Some("groups".to_owned());
        assert_eq!(provider.role_of(&groups(&["dev", "boss"])), Some(Role::Admin));
        assert_eq!(provider.role_of(&groups(&["dev"])), Some(Role::Member));
        assert_eq!(provider.role_of(&groups(&["ops"])), None);
        // Without member groups, every user of the provider is a member.
        provider.member_groups.clear();
        assert_eq!(provider.role_of(&[]), Some(Role::Member));
    }
}
