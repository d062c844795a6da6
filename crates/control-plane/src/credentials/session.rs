//! Browser sessions, and the one-time links that start them.
//!
//! A session has two secrets of 256 random bits: its id, in an `HttpOnly` cookie, and its key, which the page
//! keeps in the storage of its origin and sends in a header. A request needs both, because browsers send the
//! cookie to all ports of the host, but only this origin can read the key. The database stores one hash over
//! both. A session expires after twelve hours without a request, and after thirty days at the latest.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, Query};
use sea_orm::{ConnectionTrait, QueryOrder};
use serde_json::json;
use uuid::Uuid;

use super::secret::{random_secret, sha256_hex};
use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::auth::SignInBrowser;
use crate::error::{ApiError, ApiResult};
use crate::store::entity::{session, sign_in_link, user};
use crate::store::{Store, now};

/// Request header with the key of the session.
pub const KEY_HEADER: &str = "x-session-key";
/// Time in milliseconds after which an idle session expires.
pub const ROLLING: i64 = 12 * 3600 * 1000;
// Maximum lifetime of a session in milliseconds.
const ABSOLUTE: i64 = 30 * 24 * 3600 * 1000;
// Minimum extension in milliseconds that is worth a write; otherwise every request would update the row.
const PROLONG_AFTER: i64 = 5 * 60 * 1000;
// Lifetime of a sign-in link in milliseconds.
const LINK_TTL: i64 = 10 * 60 * 1000;

fn fresh_token() -> String {
    URL_SAFE_NO_PAD.encode(random_secret())
}

/// The secrets of a session, known only to the browser.
#[derive(Clone)]
pub struct SessionSecrets {
    /// Value of the session cookie.
    pub id: String,
    /// Value of the header [`KEY_HEADER`].
    pub key: String,
}

impl SessionSecrets {
    fn generate() -> Self {
        Self { id: fresh_token(), key: fresh_token() }
    }

    // The primary key of the session. The secrets are base64url and cannot contain the separator.
    fn hash(&self) -> String {
        sha256_hex(&format!("{}.{}", self.id, self.key))
    }
}

/// Creates a one-time token that signs a user in. `method` names how the user authenticated, for the audit
/// log.
///
/// With the secret of a sign-in at an OpenID provider, only the browser that has it can use the token: a token
/// from another person's sign-in must not sign this browser in.
pub async fn create_link(
    store: &Store,
    user_id: Uuid,
    method: &str,
    browser_secret: Option<&str>,
) -> Result<String, DbErr> {
    let token = fresh_token();
    let row = sign_in_link::ActiveModel {
        token_hash: Set(sha256_hex(&token)),
        user_id: Set(user_id),
        expires_at: Set(now() + LINK_TTL),
        consumed_at: Set(None),
        method: Set(Some(method.to_owned())),
        browser_hash: Set(browser_secret.map(sha256_hex)),
    };
    sign_in_link::Entity::insert(row).exec_without_returning(store.writer()).await?;
    Ok(token)
}

/// Exchanges a one-time token for a session, which replaces the browser's session. Returns `None` when the token
/// is unknown, used, expired or bound to another browser, or the user is inactive.
///
/// # Errors
/// Fails with 409 `already_signed_in`, and leaves the token valid, when another person is signed in and
/// `replaces_session` is false. Otherwise a link from someone else could sign a browser in to their account
/// unnoticed.
pub async fn consume_link(
    app: &ControlPlaneState,
    token: &str,
    browser: &SignInBrowser,
    replaces_session: bool,
) -> ApiResult<Option<(SessionSecrets, user::Model)>> {
    let tx = app.store.begin().await?;
    let hash = sha256_hex(token);
    // The update decides between concurrent requests with the same token. The early returns roll it back.
    let result = sign_in_link::Entity::update_many()
        .col_expr(sign_in_link::Column::ConsumedAt, Expr::value(now()))
        .filter(sign_in_link::Column::TokenHash.eq(&hash))
        .filter(sign_in_link::Column::ConsumedAt.is_null())
        .filter(sign_in_link::Column::ExpiresAt.gt(now()))
        .exec(&tx)
        .await?;
    if result.rows_affected != 1 {
        return Ok(None);
    }
    let Some(link) = sign_in_link::Entity::find_by_id(hash).one(&tx).await? else { return Ok(None) };
    let Some(user) = user::Entity::find_by_id(link.user_id).one(&tx).await? else { return Ok(None) };
    let is_bound_elsewhere =
        link.browser_hash.is_some() && link.browser_hash != browser.oidc_secret(app).map(sha256_hex);
    if !user.active || is_bound_elsewhere {
        return Ok(None);
    }
    check_present(browser, &user, replaces_session)?;
    let secrets = begin(&tx, &user, browser).await?;
    let (actor, details) = (
        Actor::signed_in(user.id, &browser.client),
        json!({"method": link.method.as_deref().unwrap_or("link")}),
    );
    actor.record(&tx, user.organization_id, AuditAction::SignIn, user.id, details).await?;
    tx.commit().await?;
    Ok(Some((secrets, user)))
}

/// Fails with 409 `already_signed_in` when a link would replace the session of another person, who has not agreed.
pub fn check_present(browser: &SignInBrowser, user: &user::Model, replaces_session: bool) -> ApiResult<()> {
    match &browser.session {
        Some((_, present)) if present.identity_id != user.identity_id && !replaces_session => {
            let text = format!("You are signed in as {}. Sign in as {} instead?", present.email, user.email);
            let data = json!({"email": present.email, "newEmail": user.email});
            Err(ApiError::typed_conflict(&text, "already_signed_in", data))
        }
        _ => Ok(()),
    }
}

/// Creates a session for a user who has just authenticated, and ends the browser's former one.
pub async fn begin(
    db: &impl ConnectionTrait,
    user: &user::Model,
    browser: &SignInBrowser,
) -> Result<SessionSecrets, DbErr> {
    if let Some((former, former_user)) = &browser.session {
        revoke(db, former_user.identity_id, &former.id_hash).await?;
    }
    let client = &browser.client;
    let secrets = SessionSecrets::generate();
    let row = session::ActiveModel {
        id_hash: Set(secrets.hash()),
        user_id: Set(user.id),
        organization_id: Set(user.organization_id),
        created_at: Set(now()),
        expires_at: Set(now() + ROLLING),
        absolute_expires_at: Set(now() + ABSOLUTE),
        revoked_at: Set(None),
        address: Set(client.address_text()),
        user_agent: Set(client.user_agent.clone()),
    };
    session::Entity::insert(row).exec_without_returning(db).await?;
    Ok(secrets)
}

/// Finds the valid session with these secrets.
pub async fn find(store: &Store, secrets: &SessionSecrets) -> Result<Option<session::Model>, DbErr> {
    find_by_hash(store, &secrets.hash()).await
}

/// Finds the session with this hash that is neither revoked nor expired.
pub async fn find_by_hash(store: &Store, id_hash: &str) -> Result<Option<session::Model>, DbErr> {
    session::Entity::find_by_id(id_hash)
        .filter(session::Column::RevokedAt.is_null())
        .filter(session::Column::ExpiresAt.gt(now()))
        .one(store.reader())
        .await
}

/// Extends a session that is in use. Returns the new remaining lifetime in milliseconds, or `None` when the
/// session was not extended.
pub async fn prolong(store: &Store, session: &session::Model) -> Result<Option<i64>, DbErr> {
    let now = now();
    let expires_at = (now + ROLLING).min(session.absolute_expires_at);
    if expires_at - session.expires_at <= PROLONG_AFTER {
        return Ok(None);
    }
    session::Entity::update_many()
        .col_expr(session::Column::ExpiresAt, Expr::value(expires_at))
        .filter(session::Column::IdHash.eq(&session.id_hash))
        .exec(store.writer())
        .await?;
    Ok(Some(expires_at - now))
}

/// Lists the valid sessions of a person, newest first.
pub async fn list(store: &Store, identity_id: Uuid) -> Result<Vec<session::Model>, DbErr> {
    session::Entity::find()
        .filter(of_identity(identity_id))
        .filter(session::Column::RevokedAt.is_null())
        .filter(session::Column::ExpiresAt.gt(now()))
        .order_by_desc(session::Column::CreatedAt)
        .all(store.reader())
        .await
}

/// Revokes a session of a person. Returns `false` when there is no such session.
pub async fn revoke(db: &impl ConnectionTrait, identity_id: Uuid, id_hash: &str) -> Result<bool, DbErr> {
    let revoked = session::Entity::update_many()
        .col_expr(session::Column::RevokedAt, Expr::value(now()))
        .filter(session::Column::IdHash.eq(id_hash))
        .filter(of_identity(identity_id))
        .filter(session::Column::RevokedAt.is_null())
        .exec(db)
        .await?;
    Ok(revoked.rows_affected == 1)
}

/// Revokes all sessions of a person except one.
pub async fn revoke_all(
    db: &impl ConnectionTrait,
    identity_id: Uuid,
    except: Option<&str>,
) -> Result<(), DbErr> {
    let mut update = session::Entity::update_many()
        .col_expr(session::Column::RevokedAt, Expr::value(now()))
        .filter(of_identity(identity_id))
        .filter(session::Column::RevokedAt.is_null());
    if let Some(id_hash) = except {
        update = update.filter(session::Column::IdHash.ne(id_hash));
    }
    update.exec(db).await?;
    Ok(())
}

/// Revokes all sessions of a user row, that is, of a person in one organization.
pub async fn revoke_user(db: &impl ConnectionTrait, user_id: Uuid) -> Result<(), DbErr> {
    session::Entity::update_many()
        .col_expr(session::Column::RevokedAt, Expr::value(now()))
        .filter(session::Column::UserId.eq(user_id))
        .filter(session::Column::RevokedAt.is_null())
        .exec(db)
        .await?;
    Ok(())
}

fn of_identity(identity_id: Uuid) -> Expr {
    let users = Query::select()
        .column(user::Column::Id)
        .from(user::Entity)
        .and_where(user::Column::IdentityId.eq(identity_id))
        .take();
    session::Column::UserId.in_subquery(users)
}
