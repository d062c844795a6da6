//! Sessions of browsers and the one-time links that begin them.
//!
//! The id of a session is 256 random bits in an `HttpOnly` cookie; the server keeps its hash. A
//! session rolls for twelve hours and ends after thirty days at the latest.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::COOKIE;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use uuid::Uuid;

use super::{random_secret, sha256_hex};
use crate::error::ApiResult;
use crate::store::entity::{session, sign_in_link, user};
use crate::store::{Store, now};

/// Name of the cookie.
pub const COOKIE_NAME: &str = "loopgate_session";
/// Milliseconds that a session lives without a request.
const ROLLING: i64 = 12 * 3600 * 1000;
/// Milliseconds that a session lives at most.
const ABSOLUTE: i64 = 30 * 24 * 3600 * 1000;
/// A session is prolonged no more often than this, so that reading a page writes nothing.
const PROLONG_AFTER: i64 = 5 * 60 * 1000;
/// Milliseconds in which a sign-in link can be used.
const LINK_TTL: i64 = 10 * 60 * 1000;

fn fresh_token() -> String {
    URL_SAFE_NO_PAD.encode(random_secret())
}

/// Makes a one-time token that signs `user_id` in.
pub async fn create_link(store: &Store, user_id: Uuid) -> Result<String, DbErr> {
    let token = fresh_token();
    let row = sign_in_link::ActiveModel {
        token_hash: Set(sha256_hex(&token)),
        user_id: Set(user_id),
        expires_at: Set(now() + LINK_TTL),
        consumed_at: Set(None),
    };
    sign_in_link::Entity::insert(row).exec_without_returning(store.writer()).await?;
    Ok(token)
}

/// Trades a one-time token for a session; `None` when it is unknown, used or too old.
pub async fn consume_link(store: &Store, token: &str) -> ApiResult<Option<(String, user::Model)>> {
    let tx = store.begin().await?;
    let hash = sha256_hex(token);
    let used = sign_in_link::Entity::update_many()
        .col_expr(sign_in_link::Column::ConsumedAt, Expr::value(now()))
        .filter(sign_in_link::Column::TokenHash.eq(&hash))
        .filter(sign_in_link::Column::ConsumedAt.is_null())
        .filter(sign_in_link::Column::ExpiresAt.gt(now()))
        .exec(&tx)
        .await?;
    if used.rows_affected != 1 {
        return Ok(None);
    }
    let Some(link) = sign_in_link::Entity::find_by_id(hash).one(&tx).await? else { return Ok(None) };
    let Some(user) = user::Entity::find_by_id(link.user_id).one(&tx).await? else { return Ok(None) };
    if !user.active {
        return Ok(None);
    }
    let id = fresh_token();
    let row = session::ActiveModel {
        id_hash: Set(sha256_hex(&id)),
        user_id: Set(user.id),
        organization_id: Set(user.organization_id),
        created_at: Set(now()),
        expires_at: Set(now() + ROLLING),
        absolute_expires_at: Set(now() + ABSOLUTE),
        revoked_at: Set(None),
    };
    session::Entity::insert(row).exec_without_returning(&tx).await?;
    tx.commit().await?;
    Ok(Some((id, user)))
}

/// Finds a living session by its id, and prolongs it.
pub async fn find(store: &Store, id: &str) -> Result<Option<session::Model>, DbErr> {
    let found = session::Entity::find_by_id(sha256_hex(id))
        .filter(session::Column::RevokedAt.is_null())
        .filter(session::Column::ExpiresAt.gt(now()))
        .one(store.reader())
        .await?;
    if let Some(session) = &found {
        let prolonged = (now() + ROLLING).min(session.absolute_expires_at);
        if prolonged - session.expires_at > PROLONG_AFTER {
            session::Entity::update_many()
                .col_expr(session::Column::ExpiresAt, Expr::value(prolonged))
                .filter(session::Column::IdHash.eq(&session.id_hash))
                .exec(store.writer())
                .await?;
        }
    }
    Ok(found)
}

/// Ends a session.
pub async fn revoke(store: &Store, id_hash: &str) -> Result<(), DbErr> {
    session::Entity::update_many()
        .col_expr(session::Column::RevokedAt, Expr::value(now()))
        .filter(session::Column::IdHash.eq(id_hash))
        .exec(store.writer())
        .await?;
    Ok(())
}

/// The session id in a request's cookies.
pub fn cookie(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, value)| *name == COOKIE_NAME && !value.is_empty())
        .map(|(_, value)| value)
}

/// The `Set-Cookie` of a new session; `secure` when the web app is served over https.
pub fn set_cookie(id: &str, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{COOKIE_NAME}={id}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{secure}", ABSOLUTE / 1000)
}

/// The `Set-Cookie` that removes it.
pub fn clear_cookie(secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{COOKIE_NAME}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{secure}")
}
