//! The person behind a request, and the extractors that demand one.

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

/// Selects another of the user's organizations.
const ORGANIZATION_HEADER: &str = "x-org-slug";

/// A person who may ask.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The person, in the organization that the request is about.
    pub user: user::Model,
    /// The organization.
    pub organization: organization::Model,
    /// Hash of the session, when there is one.
    pub session: Option<String>,
    /// The key, when there is one.
    pub key: Option<entity::api_key::Model>,
    /// Where the request comes from.
    pub client: ClientInfo,
}

impl Caller {
    /// The caller as the audit log names it.
    pub fn actor(&self) -> Actor {
        let key_id = self.key.as_ref().map(|key| key.id);
        Actor { key_id, ..Actor::signed_in(self.user.id, &self.client) }
    }

    /// Id of the organization; every query filters on it.
    pub const fn organization_id(&self) -> Uuid {
        self.organization.id
    }

    /// Whether the credential still counts: no sign-out, revocation or expiry came since, and the user
    /// is active.
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

    /// Whether the person administers the organization.
    pub fn is_admin(&self) -> bool {
        self.user.role.0 == Role::Admin
    }

    fn require_admin(self) -> ApiResult<Self> {
        if self.is_admin() { Ok(self) } else { Err(forbidden()) }
    }
}

/// A signed-in browser.
#[derive(Debug, Clone)]
pub struct SessionAuth(pub Caller);

/// An API key.
#[derive(Debug, Clone)]
pub struct ApiKeyAuth(pub Caller);

/// A signed-in browser or an API key.
#[derive(Debug, Clone)]
pub struct PersonAuth(pub Caller);

/// Either of them, and a key needs no scope but that to read, whatever the method.
#[derive(Debug, Clone)]
pub struct ReaderAuth(pub Caller);

/// One of them, and an administrator.
#[derive(Debug, Clone)]
pub struct AdminAuth(pub Caller);

/// A signed-in browser of an administrator.
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

impl FromRequestParts<ControlPlaneState> for PersonAuth {
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

/// The form of the credential decides which way is tried; a failure there is final.
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
        let PersonAuth(caller) = PersonAuth::from_request_parts(parts, app).await?;
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

/// The person of a session: its cookie and the key that only our page has. A bearer credential is
/// never a session.
async fn by_session(app: &ControlPlaneState, parts: &Parts) -> ApiResult<Caller> {
    let headers = &parts.headers;
    let id = app.session_cookie.read(headers).ok_or_else(unauthorized)?;
    if bearer(headers).is_some() {
        return Err(unauthorized());
    }
    if !parts.method.is_safe() && !has_trusted_origin(app, headers) {
        return Err(forbidden());
    }
    let key = header(headers, session::KEY_HEADER).ok_or_else(unauthorized)?;
    let secrets = session::SessionSecrets { id: id.to_owned(), key: key.to_owned() };
    let found = session::find(&app.store, &secrets).await?.ok_or_else(unauthorized)?;
    let user = active_user(app, found.user_id).await?;
    let user = select_organization(app, headers, user).await?;
    let organization = active_organization(app, user.organization_id).await?;
    let client = ClientInfo::of(parts, app);
    let lifetime = session::prolong(&app.store, &found).await?;
    if let (Some(lifetime), Some(renewed)) = (lifetime, parts.extensions.get::<RenewedCookie>()) {
        renewed.put(&app.session_cookie.set(id, lifetime));
    }
    Ok(Caller { user, organization, session: Some(found.id_hash), key: None, client })
}

fn has_trusted_origin(app: &ControlPlaneState, headers: &HeaderMap) -> bool {
    header(headers, "origin").is_some_and(|origin| app.origins.trusts(origin))
}

/// Follows the organization header to the same person's row in that organization.
async fn select_organization(
    app: &ControlPlaneState,
    headers: &HeaderMap,
    user: user::Model,
) -> ApiResult<user::Model> {
    let Some(slug) = header(headers, ORGANIZATION_HEADER) else { return Ok(user) };
    let wanted = organization::Entity::find()
        .filter(organization::Column::Slug.eq(slug))
        .one(app.store.reader())
        .await?
        .ok_or_else(forbidden)?;
    if wanted.id == user.organization_id {
        return Ok(user);
    }
    user::Entity::find()
        .filter(user::Column::OrganizationId.eq(wanted.id))
        .filter(user::Column::IdentityId.eq(user.identity_id))
        .filter(user::Column::Active.eq(true))
        .one(app.store.reader())
        .await?
        .ok_or_else(forbidden)
}

async fn by_key(app: &ControlPlaneState, parts: &Parts, plaintext: &str, scope: Scope) -> ApiResult<Caller> {
    let caller = verify_key(app, plaintext, parts, parts.method.as_str(), parts.uri.path()).await?;
    let scoped = caller.key.as_ref().is_some_and(|key| api_key::has_scope(key, scope));
    let other_organization =
        header(&parts.headers, ORGANIZATION_HEADER).is_some_and(|slug| slug != caller.organization.slug);
    if !scoped || other_organization {
        return Err(forbidden());
    }
    Ok(caller)
}

/// Accepts a key with the proof that it needs, and notes its use.
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
    let (store, id) = (app.store.clone(), key.id);
    app.tasks.spawn(async move {
        if let Err(error) = api_key::touch(&store, id).await {
            tracing::warn!(%error, "use of a key was not noted");
        }
    });
    Ok(Caller { user, organization, session: None, key: Some(key), client })
}

async fn active_user(app: &ControlPlaneState, id: Uuid) -> ApiResult<user::Model> {
    let found = user::Entity::find_by_id(id).one(app.store.reader()).await?;
    found.filter(|user| user.active).ok_or_else(unauthorized)
}

async fn active_organization(app: &ControlPlaneState, id: Uuid) -> ApiResult<organization::Model> {
    let found = organization::Entity::find_by_id(id).one(app.store.reader()).await?;
    found.filter(|organization| organization.active).ok_or_else(unauthorized)
}
