//! Invitations to an organization, valid once within seven days.
//!
//! The token is shown once, to the administrator who creates the invitation; only its hash is stored. The
//! holder of the token creates an account with the invited address, signs in to the existing one, or accepts
//! with a current session.

use http::StatusCode;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryOrder};
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use super::email::EmailAddress;
use super::sign_in::{self, SignedIn};
use super::{Profile, insert_identity, insert_user};
use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::auth::{Caller, ClientInfo, SignInBrowser};
use crate::credentials::secret::{random_secret, sha256_hex};
use crate::credentials::{password, session};
use crate::error::{ApiError, ApiResult, ValidationIssues, conflict};
use crate::store::column::StoredEnum;
use crate::store::entity::invitation::{self, Column};
use crate::store::entity::user::{self, Role};
use crate::store::entity::{identity, organization};
use crate::store::{Store, is_duplicate, now};

// Lifetime of an invitation in milliseconds.
const TTL: i64 = 7 * 24 * 3600 * 1000;

/// Creates an invitation and revokes open ones for the same address. Returns it with its token.
///
/// # Errors
/// Fails with 409 `already_member` when a member has the address.
pub async fn create(
    store: &Store,
    caller: &Caller,
    email: &EmailAddress,
    role: Role,
) -> ApiResult<(invitation::Model, String)> {
    let organization_id = caller.organization_id();
    let token = hex::encode(random_secret());
    let tx = store.begin().await?;
    let member = user::Entity::find()
        .filter(user::Column::OrganizationId.eq(organization_id))
        .filter(user::Column::Email.eq(email.as_str()))
        .filter(user::Column::Active.eq(true));
    if member.one(&tx).await?.is_some() {
        return Err(already_member());
    }
    invitation::Entity::update_many()
        .col_expr(Column::RevokedAt, Expr::value(now()))
        .filter(Column::OrganizationId.eq(organization_id))
        .filter(Column::Email.eq(email.as_str()))
        .filter(is_open())
        .exec(&tx)
        .await?;
    let row = invitation::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(organization_id),
        email: Set(email.as_str().to_owned()),
        role: Set(StoredEnum(role)),
        token_hash: Set(sha256_hex(&token)),
        created_by: Set(caller.user.id),
        created_at: Set(now()),
        expires_at: Set(now() + TTL),
        ..Default::default()
    };
    let row = invitation::Entity::insert(row).exec_with_returning(&tx).await?;
    let (action, details) = (AuditAction::InvitationCreated, json!({"role": role}));
    caller.actor().record(&tx, organization_id, action, &row.email, details).await?;
    tx.commit().await?;
    Ok((row, token))
}

/// Lists the open invitations of an organization, newest first.
pub async fn list(store: &Store, organization_id: Uuid) -> Result<Vec<invitation::Model>, DbErr> {
    invitation::Entity::find()
        .filter(Column::OrganizationId.eq(organization_id))
        .filter(is_open())
        .order_by_desc(Column::CreatedAt)
        .all(store.reader())
        .await
}

/// Revokes an open invitation. Returns `false` when there is none.
pub async fn revoke(store: &Store, caller: &Caller, id: Uuid) -> Result<bool, DbErr> {
    let tx = store.begin().await?;
    let in_organization = Column::OrganizationId.eq(caller.organization_id());
    let revoked = invitation::Entity::update_many()
        .col_expr(Column::RevokedAt, Expr::value(now()))
        .filter(Column::Id.eq(id))
        .filter(in_organization)
        .filter(is_open())
        .exec(&tx)
        .await?;
    if revoked.rows_affected == 0 {
        return Ok(false);
    }
    let action = AuditAction::InvitationRevoked;
    caller.actor().record(&tx, caller.organization_id(), action, id, json!({})).await?;
    tx.commit().await?;
    Ok(true)
}

/// Finds the open invitation of a token, and its organization.
///
/// # Errors
/// Fails with 410 `invitation_invalid` when it is unknown, used, revoked or expired.
pub async fn find(
    db: &impl ConnectionTrait,
    token_hash: &str,
) -> ApiResult<(invitation::Model, organization::Model)> {
    let query = invitation::Entity::find().filter(Column::TokenHash.eq(token_hash)).filter(is_open());
    let invitation = query.one(db).await?.ok_or_else(invalid)?;
    let organization = organization::Entity::find_by_id(invitation.organization_id)
        .filter(organization::Column::Active.eq(true))
        .one(db)
        .await?;
    Ok((invitation, organization.ok_or_else(invalid)?))
}

/// Values of a new account, or the password of an existing one.
pub struct AccountValues {
    /// First name of a new account.
    pub first_name: Option<String>,
    /// Last name of a new account.
    pub last_name: Option<String>,
    /// Password to set or to verify.
    pub password: SecretString,
    /// Whether to end the session of another person in this browser.
    pub replaces_session: bool,
}

/// Accepts an invitation with the local account of the invited address, creating the account when there is
/// none, and starts a session.
///
/// # Errors
/// Fails with 410 `invitation_invalid`, 409 `already_member`, 409 `already_signed_in` like
/// [`session::check_present`], or the errors of a sign-in when the account exists. The invitation stays valid.
pub async fn accept_with_account(
    app: &ControlPlaneState,
    browser: &SignInBrowser,
    token: &str,
    account: AccountValues,
) -> ApiResult<SignedIn> {
    let token_hash = sha256_hex(token);
    let replaces_session = account.replaces_session;
    let (invitation, _) = find(app.store.reader(), &token_hash).await?;
    let existing = identity::Entity::find()
        .filter(identity::Column::SignInEmail.eq(&invitation.email))
        .one(app.store.reader())
        .await?;
    if existing.is_some() {
        let identity = sign_in::verify(app, browser, &invitation.email, account.password).await?;
        let tx = app.store.begin().await?;
        // Verifying the password takes a moment; it may have been changed since.
        sign_in::require_unchanged(&tx, &identity).await?;
        let account = identity.sign_in_email;
        let profile = Profile::default();
        return join(tx, browser, replaces_session, &token_hash, identity.id, profile, account).await;
    }
    let mut issues = ValidationIssues::default();
    password::check_new(&mut issues, "password", &account.password);
    issues.into_result()?;
    // Hash before the transaction: it is slow, and SQLite has one writing connection.
    let hash = app.passwords.hash(account.password).await?;
    let tx = app.store.begin().await?;
    let identity_id = insert_identity(&tx).await?;
    let result = identity::Entity::update_many()
        .col_expr(identity::Column::SignInEmail, Expr::value(&invitation.email))
        .col_expr(identity::Column::PasswordHash, Expr::value(hash))
        .filter(identity::Column::Id.eq(identity_id))
        .exec(&tx)
        .await;
    // A concurrent request accepted this invitation, or one of another organization for the same address.
    result.map_err(|error| if is_duplicate(&error) { invalid() } else { error.into() })?;
    let (first_name, last_name) = (account.first_name, account.last_name);
    let profile = Profile { first_name, last_name, ..Profile::default() };
    join(tx, browser, replaces_session, &token_hash, identity_id, profile, Some(invitation.email)).await
}

/// Accepts an invitation as the signed-in user. A new session replaces the current one.
///
/// # Errors
/// Fails with 410 `invitation_invalid` or 409 `already_member`.
pub async fn accept_as(
    app: &ControlPlaneState,
    caller: &Caller,
    browser: &SignInBrowser,
    token: &str,
) -> ApiResult<SignedIn> {
    let tx = app.store.begin().await?;
    let user = &caller.user;
    let (first_name, last_name) = (user.first_name.clone(), user.last_name.clone());
    let profile =
        Profile { first_name, last_name, avatar_url: user.avatar_url.clone(), ..Profile::default() };
    join(tx, browser, false, &sha256_hex(token), user.identity_id, profile, None).await
}

/// Accepts an invitation and starts a session in one transaction, which an error rolls back.
async fn join(
    tx: DatabaseTransaction,
    browser: &SignInBrowser,
    replaces_session: bool,
    token_hash: &str,
    identity_id: Uuid,
    profile: Profile,
    account: Option<String>,
) -> ApiResult<SignedIn> {
    let client = &browser.client;
    let (user, organization) = consume(&tx, client, token_hash, identity_id, profile).await?;
    session::check_present(browser, &user, replaces_session)?;
    let secrets = session::begin(&tx, &user, browser).await?;
    let (actor, details) = (Actor::signed_in(user.id, client), json!({"method": "invitation"}));
    actor.record(&tx, organization.id, AuditAction::SignIn, user.id, details).await?;
    tx.commit().await?;
    Ok(SignedIn { secrets, user, organization, account })
}

/// Consumes an invitation and adds the person to its organization.
///
/// # Errors
/// Fails with 410 `invitation_invalid` or 409 `already_member`.
pub async fn consume(
    tx: &DatabaseTransaction,
    client: &ClientInfo,
    token_hash: &str,
    identity_id: Uuid,
    profile: Profile,
) -> ApiResult<(user::Model, organization::Model)> {
    let (invitation, organization) = find(tx, token_hash).await?;
    // Of two concurrent requests, only one updates the row.
    let result = invitation::Entity::update_many()
        .col_expr(Column::AcceptedAt, Expr::value(now()))
        .filter(Column::Id.eq(invitation.id))
        .filter(is_open())
        .exec(tx)
        .await?;
    if result.rows_affected == 0 {
        return Err(invalid());
    }
    // The invited address, not one from the profile: it is what the administrator approved.
    let profile = Profile { email: invitation.email, ..profile };
    let user = add_member(tx, organization.id, identity_id, profile, invitation.role.0).await?;
    let actor = Actor::signed_in(user.id, client);
    let details = json!({"invitationId": invitation.id, "role": user.role});
    actor.record(tx, organization.id, AuditAction::InvitationAccepted, user.id, details).await?;
    Ok((user, organization))
}

/// Adds a person to an organization, or activates a former member again.
///
/// # Errors
/// Fails with 409 `already_member` when the person is an active member.
async fn add_member(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    identity_id: Uuid,
    profile: Profile,
    role: Role,
) -> ApiResult<user::Model> {
    let member = user::Entity::find()
        .filter(user::Column::OrganizationId.eq(organization_id))
        .filter(user::Column::IdentityId.eq(identity_id))
        .one(tx)
        .await?;
    let Some(member) = member else {
        return Ok(insert_user(tx, organization_id, identity_id, profile, role).await?);
    };
    if member.active {
        return Err(already_member());
    }
    let reactivated = user::ActiveModel {
        id: Set(member.id),
        active: Set(true),
        role: Set(StoredEnum(role)),
        email: Set(profile.email),
        ..Default::default()
    };
    Ok(user::Entity::update(reactivated).exec(tx).await?)
}

fn is_open() -> sea_orm::Condition {
    sea_orm::Condition::all()
        .add(Column::AcceptedAt.is_null())
        .add(Column::RevokedAt.is_null())
        .add(Column::ExpiresAt.gt(now()))
}

fn invalid() -> ApiError {
    let text = "This invitation has expired, was revoked or has already been used. \
                Request a new one from your administrator.";
    ApiError::new(StatusCode::GONE, text).code("invitation_invalid")
}

fn already_member() -> ApiError {
    conflict("This user is already a member of the organization.").code("already_member")
}
