//! Links with which a person sets a new password, valid once within a day.
//!
//! The token is shown once, to the administrator or operator who creates the link; only its hash is stored.

use http::StatusCode;
use sea_orm::ActiveValue::Set;
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use super::memberships;
use super::sign_in::{SignedIn, set_password};
use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::auth::{Caller, SignInBrowser};
use crate::credentials::secret::{random_secret, sha256_hex};
use crate::credentials::session;
use crate::error::{ApiError, ApiResult, conflict, not_found};
use crate::store::entity::password_reset::{self, Column};
use crate::store::entity::user;
use crate::store::entity::{external_identity, identity};
use crate::store::{Store, now};

// Lifetime of a link in milliseconds.
const TTL: i64 = 24 * 3600 * 1000;

pub struct PasswordReset {
    /// Secret part of the link.
    pub token: String,
    /// Expiry in milliseconds since the Unix epoch.
    pub expires_at: i64,
}

/// Creates a link for a member of the caller's organization.
///
/// # Errors
/// Fails with 404 for an unknown member, and with 409 when the account is not under the control of the
/// organization: `other_organizations` when the person belongs to another one, too, or `external_account`
/// when the person signs in at a provider.
pub async fn create_for_member(store: &Store, caller: &Caller, id: Uuid) -> ApiResult<PasswordReset> {
    let tx = store.begin().await?;
    let member = user::Entity::find_by_id(id)
        .filter(user::Column::OrganizationId.eq(caller.organization_id()))
        .one(&tx)
        .await?
        .ok_or_else(|| not_found("Member"))?;
    if belongs_to_others(&tx, &member).await? {
        let text = "This person also belongs to another organization. Only the operator of the control plane can \
                    create a link: loopgate control-plane user reset-password";
        return Err(conflict(text).code("other_organizations"));
    }
    let reset = create(&tx, &member, &caller.actor(), ResetOrigin::Administrator).await?;
    tx.commit().await?;
    Ok(reset)
}

// A person has one password for all organizations: with a link, an administrator of one of them could sign in to
// the others.
async fn belongs_to_others(tx: &DatabaseTransaction, member: &user::Model) -> Result<bool, DbErr> {
    let others = user::Entity::find()
        .filter(user::Column::IdentityId.eq(member.identity_id))
        .filter(user::Column::OrganizationId.ne(member.organization_id));
    Ok(others.count(tx).await? > 0)
}

/// The person who creates a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetOrigin {
    /// An administrator of the user's organization, on the page.
    Administrator,
    /// The operator of the control plane, on the command line.
    Operator,
}

impl ResetOrigin {
    // Value of the member `origin` in the details of the audit log.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "page",
            Self::Operator => "command_line",
        }
    }
}

/// Creates a link for a user, and revokes earlier ones.
///
/// # Errors
/// Fails with 409 for an inactive user, or one who signs in at a provider.
pub async fn create(
    tx: &DatabaseTransaction,
    user: &user::Model,
    actor: &Actor,
    origin: ResetOrigin,
) -> ApiResult<PasswordReset> {
    if !user.active {
        return Err(conflict("The user is deactivated. Activate the user first.").code("inactive_user"));
    }
    let account = identity::Entity::find_by_id(user.identity_id).one(tx).await?;
    let has_password = account.is_some_and(|account| account.password_hash.is_some());
    let external =
        external_identity::Entity::find().filter(external_identity::Column::IdentityId.eq(user.identity_id));
    if !has_password && external.count(tx).await? > 0 {
        let text =
            "This person signs in at the OpenID provider and has no password here. Reset it at the provider.";
        return Err(conflict(text).code("external_account"));
    }
    let token = hex::encode(random_secret());
    let expires_at = now() + TTL;
    password_reset::Entity::update_many()
        .col_expr(Column::ConsumedAt, Expr::value(now()))
        .filter(Column::UserId.eq(user.id))
        .filter(Column::ConsumedAt.is_null())
        .exec(tx)
        .await?;
    let row = password_reset::ActiveModel {
        token_hash: Set(sha256_hex(&token)),
        user_id: Set(user.id),
        by_operator: Set(origin == ResetOrigin::Operator),
        created_at: Set(now()),
        expires_at: Set(expires_at),
        consumed_at: Set(None),
    };
    password_reset::Entity::insert(row).exec_without_returning(tx).await?;
    let (action, details) = (AuditAction::PasswordResetCreated, json!({"origin": origin.as_str()}));
    actor.record(tx, user.organization_id, action, user.id, details).await?;
    Ok(PasswordReset { token, expires_at })
}

/// Sets the password of the person to whom a link belongs, ends all sessions of the person, and starts a new
/// one.
///
/// # Errors
/// Fails with 409 `already_signed_in` like [`session::check_present`], with 410 `password_reset_invalid` when the link is unknown, used, replaced or expired, or an administrator
/// created it and the person belongs to another organization since, and with 409
/// `email_taken` when another account uses the e-mail address of a person without a password.
pub async fn redeem(
    app: &ControlPlaneState,
    browser: &SignInBrowser,
    token: &str,
    password: SecretString,
    replaces_session: bool,
) -> ApiResult<SignedIn> {
    let token_hash = sha256_hex(token);
    // Before the hash, which is slow: a random token must not cost this.
    if find_open(app.store.reader(), &token_hash).await?.is_none() {
        return Err(invalid());
    }
    let hash = app.passwords.hash(password).await?;
    let tx = app.store.begin().await?;
    // Of two concurrent requests, only one updates the row.
    let consumed = password_reset::Entity::update_many()
        .col_expr(Column::ConsumedAt, Expr::value(now()))
        .filter(Column::TokenHash.eq(&token_hash))
        .filter(Column::ConsumedAt.is_null())
        .filter(Column::ExpiresAt.gt(now()))
        .exec(&tx)
        .await?;
    let reset = password_reset::Entity::find_by_id(token_hash).one(&tx).await?;
    let Some(reset) = reset.filter(|_| consumed.rows_affected == 1) else { return Err(invalid()) };
    let user = user::Entity::find_by_id(reset.user_id).one(&tx).await?.ok_or_else(invalid)?;
    // The person may have joined another organization since the link was created.
    if !reset.by_operator && belongs_to_others(&tx, &user).await? {
        return Err(invalid());
    }
    let signed_in = memberships(&tx, user.identity_id).await?;
    let (user, organization) =
        signed_in.into_iter().find(|(row, _)| row.id == user.id).ok_or_else(invalid)?;
    session::check_present(browser, &user, replaces_session)?;
    let account = identity::Entity::find_by_id(user.identity_id).one(&tx).await?;
    let account = account.ok_or_else(|| ApiError::internal("user has no identity"))?;
    let account = set_password(&tx, account, &user, hash).await?;
    session::revoke_all(&tx, user.identity_id, None).await?;
    let secrets = session::begin(&tx, &user, browser).await?;
    let actor = Actor::signed_in(user.id, &browser.client);
    let details = json!({"method": "password_reset"});
    actor.record(&tx, organization.id, AuditAction::PasswordChanged, user.id, details.clone()).await?;
    actor.record(&tx, organization.id, AuditAction::SignIn, user.id, details).await?;
    tx.commit().await?;
    Ok(SignedIn { secrets, user, organization, account: Some(account) })
}

async fn find_open(
    db: &impl sea_orm::ConnectionTrait,
    token_hash: &str,
) -> Result<Option<password_reset::Model>, DbErr> {
    password_reset::Entity::find_by_id(token_hash)
        .filter(Column::ConsumedAt.is_null())
        .filter(Column::ExpiresAt.gt(now()))
        .one(db)
        .await
}

fn invalid() -> ApiError {
    let text = "This link has expired, was replaced or has already been used. Request a new one from your \
                administrator.";
    ApiError::new(StatusCode::GONE, text).code("password_reset_invalid")
}
