//! Invitations to an organization: used once, within seven days.
//!
//! The token is shown to the administrator who invites, and only its hash is stored. Whoever has it
//! makes an account with the invited address, signs in to the one that exists, or accepts as who it is.

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
use crate::auth::{Caller, ClientInfo};
use crate::credentials::secret::{random_secret, sha256_hex};
use crate::credentials::{password, session};
use crate::error::{ApiError, ApiResult, ValidationIssues, conflict};
use crate::store::column::StoredEnum;
use crate::store::entity::invitation::{self, Column};
use crate::store::entity::user::{self, Role};
use crate::store::entity::{identity, organization};
use crate::store::{Store, is_duplicate, now};

/// Milliseconds in which an invitation can be accepted.
const TTL: i64 = 7 * 24 * 3600 * 1000;

/// Invites somebody; an open invitation of the same address is taken back. Answers the token as well.
///
/// # Errors
/// 409 `already_member`.
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

/// The open invitations of an organization, newest first.
pub async fn list(store: &Store, organization_id: Uuid) -> Result<Vec<invitation::Model>, DbErr> {
    invitation::Entity::find()
        .filter(Column::OrganizationId.eq(organization_id))
        .filter(is_open())
        .order_by_desc(Column::CreatedAt)
        .all(store.reader())
        .await
}

/// Takes an open invitation back; `false` when there is none.
pub async fn revoke(store: &Store, caller: &Caller, id: Uuid) -> Result<bool, DbErr> {
    let tx = store.begin().await?;
    let own = Column::OrganizationId.eq(caller.organization_id());
    let revoked = invitation::Entity::update_many()
        .col_expr(Column::RevokedAt, Expr::value(now()))
        .filter(Column::Id.eq(id))
        .filter(own)
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

/// The open invitation of a token, and its organization.
///
/// # Errors
/// 410 `invitation_invalid`.
pub async fn find(
    db: &impl ConnectionTrait,
    token_hash: &str,
) -> ApiResult<(invitation::Model, organization::Model)> {
    let found = invitation::Entity::find().filter(Column::TokenHash.eq(token_hash)).filter(is_open());
    let invitation = found.one(db).await?.ok_or_else(invalid)?;
    let organization = organization::Entity::find_by_id(invitation.organization_id)
        .filter(organization::Column::Active.eq(true))
        .one(db)
        .await?;
    Ok((invitation, organization.ok_or_else(invalid)?))
}

/// A new account, or the password of one that exists.
pub struct Account {
    /// First name, for a new account.
    pub first_name: Option<String>,
    /// Last name, for a new account.
    pub last_name: Option<String>,
    /// Password.
    pub password: SecretString,
}

/// Accepts an invitation with the local account of the invited address, which is made unless there is
/// one, and begins a session.
///
/// # Errors
/// 410 `invitation_invalid`; 409 `already_member`; those of a sign-in when there is an account.
pub async fn accept_with_account(
    app: &ControlPlaneState,
    client: &ClientInfo,
    token: &str,
    account: Account,
) -> ApiResult<SignedIn> {
    let token_hash = sha256_hex(token);
    let (invitation, _) = find(app.store.reader(), &token_hash).await?;
    let existing = identity::Entity::find()
        .filter(identity::Column::SignInEmail.eq(&invitation.email))
        .one(app.store.reader())
        .await?;
    if existing.is_some() {
        let identity = sign_in::verify(app, client, &invitation.email, account.password).await?;
        let tx = app.store.begin().await?;
        sign_in::require_unchanged(&tx, &identity).await?;
        return join(tx, client, &token_hash, identity.id, Profile::default()).await;
    }
    let mut issues = ValidationIssues::default();
    password::check_new(&mut issues, "password", &account.password);
    issues.into_result()?;
    let hash = app.passwords.hash(account.password).await?;
    let tx = app.store.begin().await?;
    let identity_id = insert_identity(&tx).await?;
    let named = identity::Entity::update_many()
        .col_expr(identity::Column::SignInEmail, Expr::value(&invitation.email))
        .col_expr(identity::Column::PasswordHash, Expr::value(hash))
        .filter(identity::Column::Id.eq(identity_id))
        .exec(&tx)
        .await;
    // The same invitation, or that of another organization, was accepted at the same time.
    named.map_err(|error| if is_duplicate(&error) { invalid() } else { error.into() })?;
    let (first_name, last_name) = (account.first_name, account.last_name);
    let profile = Profile { first_name, last_name, ..Profile::default() };
    join(tx, client, &token_hash, identity_id, profile).await
}

/// Accepts an invitation as the person of a session, and begins another session in its place.
///
/// # Errors
/// 410 `invitation_invalid`; 409 `already_member`.
pub async fn accept_as(
    app: &ControlPlaneState,
    caller: &Caller,
    client: &ClientInfo,
    token: &str,
) -> ApiResult<SignedIn> {
    let tx = app.store.begin().await?;
    let user = &caller.user;
    if let Some(former) = &caller.session {
        session::revoke(&tx, user.identity_id, former).await?;
    }
    let (first_name, last_name) = (user.first_name.clone(), user.last_name.clone());
    let profile =
        Profile { first_name, last_name, avatar_url: user.avatar_url.clone(), ..Profile::default() };
    join(tx, client, &sha256_hex(token), user.identity_id, profile).await
}

/// Accepts an invitation, and begins a session.
async fn join(
    tx: DatabaseTransaction,
    client: &ClientInfo,
    token_hash: &str,
    identity_id: Uuid,
    profile: Profile,
) -> ApiResult<SignedIn> {
    let (user, organization) = consume(&tx, client, token_hash, identity_id, profile).await?;
    let secrets = session::begin(&tx, &user, client).await?;
    let (actor, details) = (Actor::signed_in(user.id, client), json!({"method": "invitation"}));
    actor.record(&tx, organization.id, AuditAction::SignIn, user.id, details).await?;
    tx.commit().await?;
    Ok(SignedIn { secrets, user, organization })
}

/// Consumes an invitation and adds a person to its organization.
///
/// # Errors
/// 410 `invitation_invalid`; 409 `already_member`.
pub async fn consume(
    tx: &DatabaseTransaction,
    client: &ClientInfo,
    token_hash: &str,
    identity_id: Uuid,
    profile: Profile,
) -> ApiResult<(user::Model, organization::Model)> {
    let (invitation, organization) = find(tx, token_hash).await?;
    let consumed = invitation::Entity::update_many()
        .col_expr(Column::AcceptedAt, Expr::value(now()))
        .filter(Column::Id.eq(invitation.id))
        .filter(is_open())
        .exec(tx)
        .await?;
    if consumed.rows_affected == 0 {
        return Err(invalid());
    }
    let profile = Profile { email: invitation.email, ..profile };
    let user = add_member(tx, organization.id, identity_id, profile, invitation.role.0).await?;
    let actor = Actor::signed_in(user.id, client);
    let details = json!({"invitationId": invitation.id, "role": user.role});
    actor.record(tx, organization.id, AuditAction::InvitationAccepted, user.id, details).await?;
    Ok((user, organization))
}

/// Makes a person a member; a former one becomes active again.
///
/// # Errors
/// 409 `already_member`.
async fn add_member(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    identity_id: Uuid,
    profile: Profile,
    role: Role,
) -> ApiResult<user::Model> {
    let known = user::Entity::find()
        .filter(user::Column::OrganizationId.eq(organization_id))
        .filter(user::Column::IdentityId.eq(identity_id))
        .one(tx)
        .await?;
    let Some(known) = known else {
        return Ok(insert_user(tx, organization_id, identity_id, profile, role).await?);
    };
    if known.active {
        return Err(already_member());
    }
    let again = user::ActiveModel {
        id: Set(known.id),
        active: Set(true),
        role: Set(StoredEnum(role)),
        email: Set(profile.email),
        ..Default::default()
    };
    Ok(user::Entity::update(again).exec(tx).await?)
}

fn is_open() -> sea_orm::Condition {
    sea_orm::Condition::all()
        .add(Column::AcceptedAt.is_null())
        .add(Column::RevokedAt.is_null())
        .add(Column::ExpiresAt.gt(now()))
}

fn invalid() -> ApiError {
    let text = "This invitation was used, taken back or is too old. Ask for a new one.";
    ApiError::new(StatusCode::GONE, text).code("invitation_invalid")
}

fn already_member() -> ApiError {
    conflict("This person is a member of the organization already.").code("already_member")
}
