//! Sign-in with the password of a local account.
//!
//! An unknown account, a wrong password and an account without an organization get the same response after
//! the same amount of work, so that responses do not reveal which addresses have accounts.

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
use crate::auth::{Caller, ClientInfo, SignInBrowser};
use crate::credentials::attempt;
use crate::credentials::session::{self, SessionSecrets};
use crate::error::{ApiError, ApiResult, bad_request, conflict};
use crate::store::entity::identity::{self, Column};
use crate::store::entity::{organization, user};
use crate::store::{Store, is_duplicate};

// The same text for every rejection, including the rate limit.
const SIGN_IN_FAILED: &str =
    "Wrong e-mail address or password. After ten failed attempts, sign-in is blocked for 15 minutes.";

/// A new session and its user.
pub struct SignedIn {
    /// Secrets to send to the browser.
    pub secrets: SessionSecrets,
    /// The user in the session's organization.
    pub user: user::Model,
    pub organization: organization::Model,
    /// Name of the account whose password the browser has presented.
    pub account: Option<String>,
}

/// Starts a session for the account of an address after verifying its password.
///
/// # Errors
/// Fails with 401 `invalid_credentials`, 429 `too_many_attempts` with the same text, or 503 while too many
/// passwords are being verified.
pub async fn with_password(
    app: &ControlPlaneState,
    browser: &SignInBrowser,
    email: &str,
    password: SecretString,
) -> ApiResult<SignedIn> {
    let identity = verify(app, browser, email, password).await?;
    let tx = app.store.begin().await?;
    require_unchanged(&tx, &identity).await?;
    // A new session opens the organization that the user joined first.
    let Some((user, organization)) = memberships(&tx, identity.id).await?.into_iter().next() else {
        return Err(invalid_credentials());
    };
    let secrets = session::begin(&tx, &user, browser).await?;
    let (actor, details) = (Actor::signed_in(user.id, &browser.client), json!({"method": "password"}));
    actor.record(&tx, organization.id, AuditAction::SignIn, user.id, details).await?;
    tx.commit().await?;
    Ok(SignedIn { secrets, user, organization, account: identity.sign_in_email })
}

/// Fails when the account's password was changed while it was being verified.
pub async fn require_unchanged(tx: &DatabaseTransaction, verified: &identity::Model) -> ApiResult<()> {
    let current = identity::Entity::find_by_id(verified.id).lock_exclusive().one(tx).await?;
    let unchanged = current.is_some_and(|current| current.password_hash == verified.password_hash);
    if unchanged { Ok(()) } else { Err(invalid_credentials()) }
}

/// Verifies a password and returns the account.
///
/// # Errors
/// Fails like [`with_password`].
pub async fn verify(
    app: &ControlPlaneState,
    browser: &SignInBrowser,
    email: &str,
    password: SecretString,
) -> ApiResult<identity::Model> {
    let account = EmailAddress::parse(email);
    // Malformed addresses have no account, but count as attempts, too.
    let name = account.as_ref().map_or(email, EmailAddress::as_str);
    let known_browser = browser.known_for(app, name);
    let attempt = attempt::begin(&app.store, name, &browser.client, known_browser.as_deref()).await?;
    let Some(attempt) = attempt else {
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, SIGN_IN_FAILED).code("too_many_attempts"));
    };
    let identity = match &account {
        Some(account) => find(&app.store, account).await?,
        None => None,
    };
    // Without a hash, `verify` does the same work, so that the response time does not reveal whether the
    // account exists.
    let stored_hash = identity.as_ref().and_then(|identity| identity.password_hash.clone());
    let matches = app.passwords.verify(password, stored_hash).await?;
    if let Some(identity) = identity.as_ref().filter(|_| matches) {
        attempt.succeeded(&app.store).await?;
        return Ok(identity.clone());
    }
    record_failure(&app.store, identity.as_ref(), &browser.client).await?;
    Err(invalid_credentials())
}

/// Records a failed sign-in in the audit log of each organization of the account. Names of unknown accounts
/// are not stored: users sometimes type their password into the address field.
async fn record_failure(
    store: &Store,
    identity: Option<&identity::Model>,
    client: &ClientInfo,
) -> Result<(), DbErr> {
    let (actor, action) = (Actor::anonymous(client), AuditAction::SignInFailed);
    let Some(identity) = identity else {
        return actor.record(store.writer(), None, action, "", json!({})).await;
    };
    for (user, organization) in memberships(store.reader(), identity.id).await? {
        actor.record(store.writer(), organization.id, action, user.id, json!({})).await?;
    }
    Ok(())
}

/// The current and the new password of an account.
pub struct PasswordChange {
    /// Current password; `None` when the account has none yet.
    pub current: Option<SecretString>,
    pub new: SecretString,
}

/// Changes the caller's password and revokes all other sessions of the person. Returns the name of the
/// account.
///
/// # Errors
/// Fails with 403 `wrong_password`, with 409 `email_taken` when the first password would give this account a
/// name that another account uses, or like [`with_password`].
pub async fn change_password(
    app: &ControlPlaneState,
    caller: &Caller,
    browser: &SignInBrowser,
    change: PasswordChange,
) -> ApiResult<String> {
    let identity_id = caller.user.identity_id;
    let before = identity::Entity::find_by_id(identity_id).one(app.store.reader()).await?;
    let before = before.ok_or_else(|| ApiError::internal("user has no identity"))?;
    let wrong =
        || ApiError::new(StatusCode::FORBIDDEN, "The current password is wrong.").code("wrong_password");
    if let Some(account) = &before.sign_in_email {
        let current = change.current.ok_or_else(wrong)?;
        // 401 would mean an invalid session.
        verify(app, browser, account, current).await.map_err(|error| match error.status {
            StatusCode::UNAUTHORIZED => wrong(),
            _ => error,
        })?;
    }
    let hash = app.passwords.hash(change.new).await?;
    let tx = app.store.begin().await?;
    let account = set_password(&tx, before, &caller.user, hash).await?;
    session::revoke_all(&tx, identity_id, caller.session.as_deref()).await?;
    let (organization, user) = (caller.organization_id(), caller.user.id);
    caller.actor().record(&tx, organization, AuditAction::PasswordChanged, user, json!({})).await?;
    tx.commit().await?;
    Ok(account)
}

/// Sets the password of a person whose account was read as `before`. A person without a password signs in with the
/// e-mail address of `user` from now on. Returns the account name.
///
/// # Errors
/// Fails with 409 `email_taken` when another account has this e-mail address, and with 409 when the password was
/// changed since `before` was read.
pub async fn set_password(
    tx: &DatabaseTransaction,
    before: identity::Model,
    user: &user::Model,
    hash: String,
) -> ApiResult<String> {
    let account = match before.sign_in_email {
        Some(account) => account,
        None => EmailAddress::parse(&user.email)
            .ok_or_else(|| bad_request("The account has no valid e-mail address to sign in with."))?
            .as_str()
            .to_owned(),
    };
    let changed = identity::Entity::update_many()
        .col_expr(Column::SignInEmail, Expr::value(&account))
        .col_expr(Column::PasswordHash, Expr::value(hash))
        .filter(Column::Id.eq(before.id))
        // Compare-and-swap on the old hash: detects a concurrent change of the password.
        .filter(match before.password_hash {
            Some(hash) => Column::PasswordHash.eq(hash),
            None => Column::PasswordHash.is_null(),
        })
        .exec(tx)
        .await
        .map_err(|error| {
            if is_duplicate(&error) {
                conflict("Another account already uses this e-mail address.").code("email_taken")
            } else {
                error.into()
            }
        })?;
    if changed.rows_affected == 0 {
        return Err(conflict(
            "The password was changed by another request. Sign in with the new password and try again.",
        ));
    }
    Ok(account)
}

async fn find(store: &Store, account: &EmailAddress) -> Result<Option<identity::Model>, DbErr> {
    identity::Entity::find().filter(Column::SignInEmail.eq(account.as_str())).one(store.reader()).await
}

fn invalid_credentials() -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, SIGN_IN_FAILED).code("invalid_credentials")
}
