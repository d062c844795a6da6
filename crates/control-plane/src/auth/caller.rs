//! The user who sent a request, and the extractors that require one.

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::request::Parts;
use loopgate_api::names::API_KEY_PREFIX;
use sea_orm::prelude::*;

use super::client::ClientInfo;
use crate::app::ControlPlaneState;
use crate::audit::Actor;
use crate::credentials::api_key::{self, Scope};
use crate::credentials::cookie::RenewedCookie;
use crate::credentials::header::{bearer, header};
use crate::credentials::{proof, session};
use crate::error::{ApiError, ApiResult, ResultExt, forbidden, unauthorized};
use crate::store::entity::user::Role;
use crate::store::entity::{self, organization, user};
use crate::store::{Store, now};

// Header that selects another of the user's organizations for one request.
const ORGANIZATION_HEADER: &str = "x-org-slug";

/// An authenticated user and the credential of the request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Row of the user in the organization of the request.
    pub user: user::Model,
    pub organization: organization::Model,
    /// Hash of the session's secrets; `None` when an API key authenticated the request.
    pub session: Option<String>,
    /// The API key; `None` when a session authenticated the request.
    pub key: Option<entity::api_key::Model>,
    /// Address and user agent of the client.
    pub client: ClientInfo,
}

impl Caller {
    /// Returns the caller as an actor for the audit log.
    pub fn actor(&self) -> Actor {
        let key_id = self.key.as_ref().map(|key| key.id);
        Actor { key_id, ..Actor::signed_in(self.user.id, &self.client) }
    }

    /// Returns the organization's id, which every query must filter by.
    pub const fn organization_id(&self) -> Uuid {
        self.organization.id
    }

    /// Returns whether the credential is still valid: neither revoked nor expired, and the user still active.
    /// Long-lived streams check it again while they run.
    pub async fn is_current(&self, store: &Store) -> Result<bool, DbErr> {
        let session = match &self.session {
            Some(id_hash) => session::find_by_hash(store, id_hash).await?.is_some(),
            None => true,
        };
        let key = match &self.key {
            Some(key) => api_key::find_by_hash(store, &key.key_hash).await?.is_some(),
            None => true,
        };
        let user = user::Entity::find_by_id(self.user.id).one(store.reader()).await?;
        Ok(session && key && user.is_some_and(|user| user.active))
    }

    /// Returns whether the user administers the organization.
    pub fn is_admin(&self) -> bool {
        self.user.role.0 == Role::Admin
    }

    fn require_admin(self) -> ApiResult<Self> {
        if self.is_admin() { Ok(self) } else { Err(forbidden()) }
    }
}

/// Requires a signed-in browser, with any role.
#[derive(Debug, Clone)]
pub struct SessionAuth(pub Caller);

/// Requires an API key with the scope of the request's method.
#[derive(Debug, Clone)]
pub struct ApiKeyAuth(pub Caller);

/// Requires a signed-in browser or an API key.
#[derive(Debug, Clone)]
pub struct UserAuth(pub Caller);

/// Requires a signed-in browser, or an API key with the `read` scope, whatever the method.
#[derive(Debug, Clone)]
pub struct ReaderAuth(pub Caller);

/// Requires an administrator, with a session or an API key.
#[derive(Debug, Clone)]
pub struct AdminAuth(pub Caller);

/// Requires a signed-in browser of an administrator.
#[derive(Debug, Clone)]
pub struct AdminSessionAuth(pub Caller);

const AUTH_FAILED: &str = "Authentication failed";

impl FromRequestParts<ControlPlaneState> for SessionAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        by_session(app, parts).await.context(AUTH_FAILED).map(Self)
    }
}

impl FromRequestParts<ControlPlaneState> for ApiKeyAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        let key = bearer(&parts.headers).filter(|token| token.starts_with(API_KEY_PREFIX));
        let key = key.ok_or_else(unauthorized)?.to_owned();
        by_key(app, parts, &key, Scope::required_by(&parts.method)).await.context(AUTH_FAILED).map(Self)
    }
}

impl FromRequestParts<ControlPlaneState> for UserAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        person(app, parts, Scope::required_by(&parts.method)).await.map(Self)
    }
}

impl FromRequestParts<ControlPlaneState> for ReaderAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        person(app, parts, Scope::Read).await.map(Self)
    }
}

// The form of the credential selects the method. There is no fallback to the other one, so an invalid key is
// never masked by a cookie that the browser happens to send.
async fn person(app: &ControlPlaneState, parts: &Parts, scope: Scope) -> ApiResult<Caller> {
    match bearer(&parts.headers).filter(|token| token.starts_with(API_KEY_PREFIX)) {
        Some(key) => by_key(app, parts, key, scope).await,
        None => by_session(app, parts).await,
    }
    .context(AUTH_FAILED)
}

impl FromRequestParts<ControlPlaneState> for AdminAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        let UserAuth(caller) = UserAuth::from_request_parts(parts, app).await?;
        caller.require_admin().map(Self)
    }
}

impl FromRequestParts<ControlPlaneState> for AdminSessionAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        let SessionAuth(caller) = SessionAuth::from_request_parts(parts, app).await?;
        caller.require_admin().map(Self)
    }
}

/// Authenticates a session with the cookie and the key that only the page of this origin has. A request with
/// a bearer credential is rejected.
async fn by_session(app: &ControlPlaneState, parts: &Parts) -> ApiResult<Caller> {
    let headers = &parts.headers;
    let id = app.session_cookie.read(headers).ok_or_else(unauthorized)?;
    if bearer(headers).is_some() {
        return Err(unauthorized());
    }
    // Browsers send `Origin` with all unsafe methods. The check prevents CSRF, in addition to the session
    // key.
    if !parts.method.is_safe() && !has_trusted_origin(app, headers) {
        return Err(forbidden());
    }
    let key = header(headers, session::KEY_HEADER).ok_or_else(unauthorized)?;
    let secrets = session::SessionSecrets { id: id.to_owned(), key: key.to_owned() };
    let session = session::find(&app.store, &secrets).await?.ok_or_else(unauthorized)?;
    let user = active_user(app, session.user_id).await?;
    let user = select_organization(app, headers, user).await?;
    let organization = active_organization(app, user.organization_id).await?;
    let client = ClientInfo::of(parts, app);
    // Using a session extends it; the middleware adds the renewed cookie to the response.
    let lifetime = session::prolong(&app.store, &session).await?;
    if let (Some(lifetime), Some(renewed)) = (lifetime, parts.extensions.get::<RenewedCookie>()) {
        renewed.put(&app.session_cookie.set(id, lifetime));
    }
    Ok(Caller { user, organization, session: Some(session.id_hash), key: None, client })
}

fn has_trusted_origin(app: &ControlPlaneState, headers: &HeaderMap) -> bool {
    header(headers, "origin").is_some_and(|origin| app.origins.trusts(origin))
}

/// Resolves the organization header to the same person's user row in that organization.
async fn select_organization(
    app: &ControlPlaneState,
    headers: &HeaderMap,
    user: user::Model,
) -> ApiResult<user::Model> {
    let Some(slug) = header(headers, ORGANIZATION_HEADER) else { return Ok(user) };
    let selected = organization::Entity::find()
        .filter(organization::Column::Slug.eq(slug))
        .one(app.store.reader())
        .await?
        // 403 rather than 404, so that the existence of an organization is not revealed.
        .ok_or_else(forbidden)?;
    if selected.id == user.organization_id {
        return Ok(user);
    }
    user::Entity::find()
        .filter(user::Column::OrganizationId.eq(selected.id))
        .filter(user::Column::IdentityId.eq(user.identity_id))
        .filter(user::Column::Active.eq(true))
        .one(app.store.reader())
        .await?
        .ok_or_else(forbidden)
}

async fn by_key(app: &ControlPlaneState, parts: &Parts, plaintext: &str, scope: Scope) -> ApiResult<Caller> {
    let caller = verify_key(app, plaintext, parts, parts.method.as_str(), parts.uri.path()).await?;
    let scoped = caller.key.as_ref().is_some_and(|key| api_key::has_scope(key, scope));
    // A key belongs to one organization; the header must not widen that.
    let other_organization =
        header(&parts.headers, ORGANIZATION_HEADER).is_some_and(|slug| slug != caller.organization.slug);
    if !scoped || other_organization {
        return Err(forbidden());
    }
    Ok(caller)
}

/// Verifies an API key and its proof of possession, and records its use.
pub async fn verify_key(
    app: &ControlPlaneState,
    plaintext: &str,
    parts: &Parts,
    method: &str,
    path: &str,
) -> ApiResult<Caller> {
    let key = api_key::find(&app.store, plaintext).await?.ok_or_else(unauthorized)?;
    let user = active_user(app, key.user_id).await?;
    let organization = active_organization(app, key.organization_id).await?;
    proof::verify(&key, &parts.headers, method, path, now())?;
    let client = ClientInfo::of(parts, app);
    // In the background: a write per request would delay all readers.
    let (store, id) = (app.store.clone(), key.id);
    app.tasks.spawn(async move {
        if let Err(error) = api_key::touch(&store, id).await {
            tracing::warn!(%error, "failed to record the use of an API key");
        }
    });
    Ok(Caller { user, organization, session: None, key: Some(key), client })
}

async fn active_user(app: &ControlPlaneState, id: Uuid) -> ApiResult<user::Model> {
    let user = user::Entity::find_by_id(id).one(app.store.reader()).await?;
    user.filter(|user| user.active).ok_or_else(unauthorized)
}

async fn active_organization(app: &ControlPlaneState, id: Uuid) -> ApiResult<organization::Model> {
    let organization = organization::Entity::find_by_id(id).one(app.store.reader()).await?;
    organization.filter(|organization| organization.active).ok_or_else(unauthorized)
}
