//! Signing in through an OpenID provider: the authorization code flow with PKCE.
//!
//! A sign-in that is under way is a row, so that any instance can finish it, and counts once, for the browser that
//! began it. Who comes back is found by issuer and subject, and by nothing else: an e-mail address says nothing about
//! who somebody is.

mod provider;

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{DatabaseTransaction, QuerySelect};
use serde_json::json;
use url::Url;

use self::provider::{Claims, Provider, SignInRequest};
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

/// Milliseconds that a person may spend at the provider.
const TTL: i64 = 10 * 60 * 1000;

/// Why a sign-in did not come about. Its code is what the sign-in page is told.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// No provider is configured.
    #[error("no OpenID provider is configured")]
    NotConfigured,
    /// The provider cannot be reached, or answers what no provider answers.
    #[error("the OpenID provider failed: {0}")]
    Provider(String),
    /// The person, or the provider, said no.
    #[error("the OpenID provider refused: {0}")]
    Denied(String),
    /// It took too long, came back twice, or to another browser; or the provider's token is not good.
    #[error("the sign-in is not good: {0}")]
    Invalid(String),
    /// The person has no account here.
    #[error("nobody here has this subject")]
    NoAccount,
    /// None of the person's groups may sign in.
    #[error("none of the groups may sign in")]
    NotAllowed,
    /// The person's accounts were all deactivated.
    #[error("the account is inactive")]
    Inactive,
    /// The invitation cannot be accepted.
    #[error("the invitation cannot be accepted: {0}")]
    Invitation(String),
    /// The database failed.
    #[error("{0}")]
    Store(#[from] DbErr),
}

impl OidcError {
    /// Stable identifier of the case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotConfigured => "oidc_not_configured",
            Self::Provider(_) => "oidc_unavailable",
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

/// A sign-in that begins.
pub struct StartedSignIn {
    /// Where the browser goes.
    pub url: Url,
    /// What it keeps until it comes back.
    pub browser_secret: String,
}

/// A sign-in that came about.
pub struct FinishedSignIn {
    /// Token of a one-time link, which the page trades for a session.
    pub link_token: String,
    /// Path of the page to go on to.
    pub return_to: Option<String>,
}

/// What a browser brings back from the provider.
#[derive(Debug, Default)]
pub struct ProviderAnswer {
    /// The state that it was sent with.
    pub state: String,
    /// The authorization code.
    pub code: Option<String>,
    /// What went wrong instead.
    pub error: Option<String>,
}

fn configured(app: &ControlPlaneState) -> Result<&OidcProvider, OidcError> {
    app.config.oidc.as_ref().ok_or(OidcError::NotConfigured)
}

fn callback_url(app: &ControlPlaneState) -> String {
    format!("{}/auth/oidc/callback", app.config.api_origin.trim_end_matches('/'))
}

/// Sends a browser to the provider.
pub async fn start(
    app: &ControlPlaneState,
    return_to: Option<String>,
    invitation_token: Option<&str>,
) -> Result<StartedSignIn, OidcError> {
    let provider = Provider::discover(configured(app)?, &callback_url(app)).await?;
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
    let expired = oidc_sign_in::Column::ExpiresAt.lte(now());
    oidc_sign_in::Entity::delete_many().filter(expired).exec(db).await?;
    oidc_sign_in::Entity::insert(row).exec_without_returning(db).await?;
    Ok(StartedSignIn { url, browser_secret })
}

/// Takes a browser back from the provider; a refusal is in the audit log.
pub async fn finish(
    app: &ControlPlaneState,
    client: &ClientInfo,
    browser_secret: Option<&str>,
    answer: ProviderAnswer,
) -> Result<FinishedSignIn, OidcError> {
    let finished = try_finish(app, client, browser_secret, answer).await;
    if let Err(error) = &finished {
        let details = json!({"method": "oidc", "reason": error.code()});
        let recorded = Actor::anonymous(client);
        let recorded = recorded.record(app.store.writer(), None, AuditAction::SignInFailed, "", details);
        if let Err(error) = recorded.await {
            tracing::error!(%error, "a refused sign-in was not recorded");
        }
    }
    finished
}

async fn try_finish(
    app: &ControlPlaneState,
    client: &ClientInfo,
    browser_secret: Option<&str>,
    answer: ProviderAnswer,
) -> Result<FinishedSignIn, OidcError> {
    let config = configured(app)?;
    let begun = consume(app, browser_secret, &answer.state).await?;
    let code = match (answer.code, answer.error) {
        (Some(code), None) => code,
        (_, error) => return Err(OidcError::Denied(error.unwrap_or_else(|| "no code".to_owned()))),
    };
    let provider = Provider::discover(config, &callback_url(app)).await?;
    let claims = provider.claims(code, begun.pkce_verifier, begun.nonce).await?;
    let tx = app.store.begin().await?;
    let user = person(&tx, config, client, &claims, begun.invitation_hash.as_deref()).await?;
    tx.commit().await?;
    app.bus.publish(crate::bus::Topic::Credentials);
    let link_token = session::create_link(&app.store, user.id, "oidc").await?;
    Ok(FinishedSignIn { link_token, return_to: begun.return_to })
}

/// The sign-in of a state, if this browser began it a short while ago. It does not come back a second time.
async fn consume(
    app: &ControlPlaneState,
    browser_secret: Option<&str>,
    state: &str,
) -> Result<oidc_sign_in::Model, OidcError> {
    let invalid = |text: &str| OidcError::Invalid(text.to_owned());
    let tx = app.store.begin().await?;
    let row = oidc_sign_in::Entity::find_by_id(sha256_hex(state)).lock_exclusive().one(&tx).await?;
    let row = row.ok_or_else(|| invalid("the state is unknown, or was used"))?;
    // Another browser's attempt must not use the sign-in up.
    if browser_secret.map(sha256_hex).as_ref() != Some(&row.browser_hash) {
        return Err(invalid("another browser began it"));
    }
    oidc_sign_in::Entity::delete_by_id(row.state_hash.clone()).exec(&tx).await?;
    tx.commit().await?;
    if row.expires_at <= now() { Err(invalid("it took too long")) } else { Ok(row) }
}

/// The user behind the claims: known by its subject, invited, or of the organization that takes in whoever the
/// provider knows.
async fn person(
    tx: &DatabaseTransaction,
    config: &OidcProvider,
    client: &ClientInfo,
    claims: &Claims,
    invitation_hash: Option<&str>,
) -> Result<user::Model, OidcError> {
    let role = config.role_of(&claims.groups).ok_or(OidcError::NotAllowed)?;
    let id = (claims.issuer.clone(), claims.subject.clone());
    let known = external_identity::Entity::find_by_id(id).one(tx).await?;
    let identity_id = match &known {
        Some(known) => known.identity_id,
        None if invitation_hash.is_none() && config.organization.is_none() => {
            return Err(OidcError::NoAccount);
        }
        None => remember(tx, claims).await?,
    };
    if let Some(token_hash) = invitation_hash {
        let refused = |error: ApiError| OidcError::Invitation(error.body.error);
        let joined = invitations::consume(tx, client, token_hash, identity_id, claims.profile()).await;
        return joined.map(|(user, _)| user).map_err(refused);
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
        let own = user::Entity::find()
            .filter(user::Column::OrganizationId.eq(organization.id))
            .filter(user::Column::IdentityId.eq(identity_id));
        match own.one(tx).await? {
            Some(own) if config.maps_groups() && own.active => {
                let own = members::set_role(tx, &Actor::signed_in(own.id, client), own, role).await?;
                users.retain(|(user, _)| user.id != own.id);
                users.insert(0, (own, organization));
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

/// Adds a person that is known by its subject.
async fn remember(tx: &DatabaseTransaction, claims: &Claims) -> Result<Uuid, DbErr> {
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
    /// Whether roles follow the provider's groups.
    const fn maps_groups(&self) -> bool {
        self.groups_claim.is_some()
    }

    /// The role that these groups give; `None` when they may not sign in.
    fn role_of(&self, groups: &[String]) -> Option<Role> {
        let has = |wanted: &[String]| groups.iter().any(|group| wanted.contains(group));
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
    fn groups_give_roles() {
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
        provider.member_groups.clear();
        assert_eq!(provider.role_of(&[]), Some(Role::Member));
    }
}
