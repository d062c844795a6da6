//! Sessions of browsers and the one-time links that begin them.
//!
//! A session has two secrets of 256 random bits: its id, which the browser keeps in an `HttpOnly`
//! cookie, and its key, which the page keeps in the storage of its origin and sends in a header. The
//! cookie reaches every port of the host and the key only ours, so a request counts with both only.
//! The server keeps one hash over the two. A session ends after twelve hours without a request, and
//! after thirty days at the latest.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, Query};
use sea_orm::{ConnectionTrait, QueryOrder};
use serde_json::json;
use uuid::Uuid;

use super::secret::{random_secret, sha256_hex};
use crate::audit::{Actor, AuditAction};
use crate::auth::ClientInfo;
use crate::error::ApiResult;
use crate::store::entity::{session, sign_in_link, user};
use crate::store::{Store, now};

/// Header in which a page sends the key of its session.
pub const KEY_HEADER: &str = "x-session-key";
/// Milliseconds that a session lives without a request.
pub const ROLLING: i64 = 12 * 3600 * 1000;
/// Milliseconds that a session lives at most.
const ABSOLUTE: i64 = 30 * 24 * 3600 * 1000;
/// A session is prolonged no more often than this, so that reading a page writes nothing.
const PROLONG_AFTER: i64 = 5 * 60 * 1000;
/// Milliseconds in which a sign-in link can be used.
const LINK_TTL: i64 = 10 * 60 * 1000;

fn fresh_token() -> String {
    URL_SAFE_NO_PAD.encode(random_secret())
}

/// The secrets of a session.
#[derive(Clone)]
pub struct SessionSecrets {
    /// Value of the cookie.
    pub id: String,
    /// Value of the page's header.
    pub key: String,
}

impl SessionSecrets {
    fn generate() -> Self {
        Self { id: fresh_token(), key: fresh_token() }
    }

    /// Under which the session is stored. Neither secret contains the separator.
    fn hash(&self) -> String {
        sha256_hex(&format!("{}.{}", self.id, self.key))
    }
}

/// Makes a one-time token that signs `user_id` in. `method` is how the person showed who it is.
pub async fn create_link(store: &Store, user_id: Uuid, method: &str) -> Result<String, DbErr> {
    let token = fresh_token();
    let row = sign_in_link::ActiveModel {
        token_hash: Set(sha256_hex(&token)),
        user_id: Set(user_id),
        expires_at: Set(now() + LINK_TTL),
        consumed_at: Set(None),
        method: Set(Some(method.to_owned())),
    };
    sign_in_link::Entity::insert(row).exec_without_returning(store.writer()).await?;
    Ok(token)
}

/// Trades a one-time token for a session; `None` when it is unknown, used or too old.
pub async fn consume_link(
    store: &Store,
    token: &str,
    client: &ClientInfo,
) -> ApiResult<Option<(SessionSecrets, user::Model)>> {
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
    let secrets = begin(&tx, &user, client).await?;
    let (actor, details) =
        (Actor::signed_in(user.id, client), json!({"method": link.method.as_deref().unwrap_or("link")}));
    actor.record(&tx, user.organization_id, AuditAction::SignIn, user.id, details).await?;
    tx.commit().await?;
    Ok(Some((secrets, user)))
}

/// Begins a session of a user who has just shown who it is.
pub async fn begin(
    db: &impl ConnectionTrait,
    user: &user::Model,
    client: &ClientInfo,
) -> Result<SessionSecrets, DbErr> {
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

/// Finds a living session by its secrets.
pub async fn find(store: &Store, secrets: &SessionSecrets) -> Result<Option<session::Model>, DbErr> {
    find_by_hash(store, &secrets.hash()).await
}

/// Finds a living session by the hash of its secrets.
pub async fn find_by_hash(store: &Store, id_hash: &str) -> Result<Option<session::Model>, DbErr> {
    session::Entity::find_by_id(id_hash)
        .filter(session::Column::RevokedAt.is_null())
        .filter(session::Column::ExpiresAt.gt(now()))
        .one(store.reader())
        .await
}

/// Prolongs a session that is in use. Answers the milliseconds that it now lives, when they became
/// noticeably more.
pub async fn prolong(store: &Store, session: &session::Model) -> Result<Option<i64>, DbErr> {
    let now = now();
    let prolonged = (now + ROLLING).min(session.absolute_expires_at);
    if prolonged - session.expires_at <= PROLONG_AFTER {
        return Ok(None);
    }
    session::Entity::update_many()
        .col_expr(session::Column::ExpiresAt, Expr::value(prolonged))
        .filter(session::Column::IdHash.eq(&session.id_hash))
        .exec(store.writer())
        .await?;
    Ok(Some(prolonged - now))
}

/// The living sessions of a person, newest first.
pub async fn list(store: &Store, identity_id: Uuid) -> Result<Vec<session::Model>, DbErr> {
    session::Entity::find()
        .filter(of_identity(identity_id))
        .filter(session::Column::RevokedAt.is_null())
        .filter(session::Column::ExpiresAt.gt(now()))
        .order_by_desc(session::Column::CreatedAt)
        .all(store.reader())
        .await
}

/// Ends one session of a person; `false` when there is none.
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

/// Ends every session of a person but one.
pub async fn revoke_all(
    db: &impl ConnectionTrait,
    identity_id: Uuid,
    kept: Option<&str>,
) -> Result<(), DbErr> {
    let mut ended = session::Entity::update_many()
        .col_expr(session::Column::RevokedAt, Expr::value(now()))
        .filter(of_identity(identity_id))
        .filter(session::Column::RevokedAt.is_null());
    if let Some(kept) = kept {
        ended = ended.filter(session::Column::IdHash.ne(kept));
    }
    ended.exec(db).await?;
    Ok(())
}

/// Ends every session in which a user is selected.
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
