//! Signing in with the password of a local account.
//!
//! An unknown account, a wrong password and an account without an organization get one answer after
//! the same work, so that nobody learns which addresses have accounts.

use http::StatusCode;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, QuerySelect};
use secrecy::SecretString;
use serde_json::json;

use super::email::EmailAddress;
use super::memberships;
use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::auth::{Caller, ClientInfo};
use crate::credentials::attempt;
use crate::credentials::session::{self, SessionSecrets};
use crate::error::{ApiError, ApiResult, bad_request, conflict};
use crate::store::entity::identity::{self, Column};
use crate::store::entity::{organization, user};
use crate::store::{Store, is_duplicate};

/// The text of every refusal.
const REFUSED: &str =
    "The e-mail address or the password is wrong. After ten failed attempts, wait for 15 minutes.";

/// A new session and whom it belongs to.
pub struct SignedIn {
    /// Secrets of the session.
    pub secrets: SessionSecrets,
    /// The person in the session's organization.
    pub user: user::Model,
    /// The organization.
    pub organization: organization::Model,
}

/// Begins a session for whoever knows the password of an account.
///
/// # Errors
/// 401 `invalid_credentials`, 429 `too_many_attempts` with the same text, 503 while too many passwords
/// are being checked.
pub async fn with_password(
    app: &ControlPlaneState,
    client: &ClientInfo,
    email: &str,
    password: SecretString,
) -> ApiResult<SignedIn> {
    let identity = verify(app, client, email, password).await?;
    let tx = app.store.begin().await?;
    require_unchanged(&tx, &identity).await?;
    let Some((user, organization)) = memberships(&tx, identity.id).await?.into_iter().next() else {
        return Err(refused());
    };
    let secrets = session::begin(&tx, &user, client).await?;
    let (actor, details) = (Actor::signed_in(user.id, client), json!({"method": "password"}));
    actor.record(&tx, organization.id, AuditAction::SignIn, user.id, details).await?;
    tx.commit().await?;
    Ok(SignedIn { secrets, user, organization })
}

/// Refuses when the password of an account was changed while it was checked.
pub async fn require_unchanged(tx: &DatabaseTransaction, checked: &identity::Model) -> ApiResult<()> {
    let current = identity::Entity::find_by_id(checked.id).lock_exclusive().one(tx).await?;
    let unchanged = current.is_some_and(|current| current.password_hash == checked.password_hash);
    if unchanged { Ok(()) } else { Err(refused()) }
}

/// The local account of an address, if the password is its own.
///
/// # Errors
/// See [`with_password`].
pub async fn verify(
    app: &ControlPlaneState,
    client: &ClientInfo,
    email: &str,
    password: SecretString,
) -> ApiResult<identity::Model> {
    let account = EmailAddress::parse(email);
    // What is no address cannot have an account, and is limited all the same.
    let name = account.as_ref().map_or(email, EmailAddress::as_str);
    let Some(attempt) = attempt::begin(&app.store, name, client).await? else {
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, REFUSED).code("too_many_attempts"));
    };
    let known = match &account {
        Some(account) => find(&app.store, account).await?,
        None => None,
    };
    let stored = known.as_ref().and_then(|identity| identity.password_hash.clone());
    let fits = app.passwords.verify(password, stored).await?;
    if let Some(identity) = known.as_ref().filter(|_| fits) {
        attempt.succeeded(&app.store).await?;
        return Ok(identity.clone());
    }
    record_failure(&app.store, known.as_ref(), client).await?;
    Err(refused())
}

/// Notes a failed sign-in in each organization of the account. The name of an unknown account is not kept:
/// it may be a password that was typed into the wrong field.
async fn record_failure(
    store: &Store,
    known: Option<&identity::Model>,
    client: &ClientInfo,
) -> Result<(), DbErr> {
    let (actor, action) = (Actor::anonymous(client), AuditAction::SignInFailed);
    let Some(identity) = known else {
        return actor.record(store.writer(), None, action, "", json!({})).await;
    };
    for (user, organization) in memberships(store.reader(), identity.id).await? {
        actor.record(store.writer(), organization.id, action, user.id, json!({})).await?;
    }
    Ok(())
}

/// The present and the new password of an account.
pub struct PasswordChange {
    /// Left out while there is none.
    pub current: Option<SecretString>,
    /// In its place.
    pub new: SecretString,
}

/// Changes the password of the caller, and ends every other session of its person. Answers the name of
/// the account.
///
/// # Errors
/// 403 `wrong_password`; 409 `email_taken` when another account has the name that the first password
/// would give this one; otherwise as [`with_password`].
pub async fn change_password(
    app: &ControlPlaneState,
    caller: &Caller,
    client: &ClientInfo,
    change: PasswordChange,
) -> ApiResult<String> {
    let identity_id = caller.user.identity_id;
    let before = identity::Entity::find_by_id(identity_id).one(app.store.reader()).await?;
    let before = before.ok_or_else(|| ApiError::internal("a user without an identity"))?;
    let wrong =
        || ApiError::new(StatusCode::FORBIDDEN, "The current password is wrong.").code("wrong_password");
    let account = match &before.sign_in_email {
        Some(account) => {
            let current = change.current.ok_or_else(wrong)?;
            verify(app, client, account, current).await.map_err(|error| match error.status {
                StatusCode::UNAUTHORIZED => wrong(),
                _ => error,
            })?;
            account.clone()
        }
        None => {
            let address = EmailAddress::parse(&caller.user.email);
            address.ok_or_else(|| bad_request("Your account has no e-mail address."))?.as_str().to_owned()
        }
    };
    let hash = app.passwords.hash(change.new).await?;
    let tx = app.store.begin().await?;
    let changed = identity::Entity::update_many()
        .col_expr(Column::SignInEmail, Expr::value(&account))
        .col_expr(Column::PasswordHash, Expr::value(hash))
        .filter(Column::Id.eq(identity_id))
        .filter(match before.password_hash {
            Some(hash) => Column::PasswordHash.eq(hash),
            None => Column::PasswordHash.is_null(),
        })
        .exec(&tx)
        .await
        .map_err(|error| {
            if is_duplicate(&error) {
                conflict("Another account signs in with this e-mail address.").code("email_taken")
            } else {
                error.into()
            }
        })?;
    if changed.rows_affected == 0 {
        return Err(conflict("The password was changed at the same time."));
    }
    session::revoke_all(&tx, identity_id, caller.session.as_deref()).await?;
    let (organization, user) = (caller.organization_id(), caller.user.id);
    caller.actor().record(&tx, organization, AuditAction::PasswordChanged, user, json!({})).await?;
    tx.commit().await?;
    Ok(account)
}

async fn find(store: &Store, account: &EmailAddress) -> Result<Option<identity::Model>, DbErr> {
    identity::Entity::find().filter(Column::SignInEmail.eq(account.as_str())).one(store.reader()).await
}

fn refused() -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, REFUSED).code("invalid_credentials")
}
