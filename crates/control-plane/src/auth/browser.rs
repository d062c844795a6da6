//! The browser that signs in: its address, its present session, and the cookies that it was given before.

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::request::Parts;
use sea_orm::prelude::*;

use super::client::ClientInfo;
use crate::app::ControlPlaneState;
use crate::credentials::header::header;
use crate::credentials::session::{self, SessionSecrets};
use crate::error::{ApiError, ApiResult, ResultExt};
use crate::store::entity::{self, user};

/// What a browser brings to a sign-in besides the credentials.
#[derive(Debug, Clone)]
pub struct SignInBrowser {
    /// Address and user agent.
    pub client: ClientInfo,
    /// The session that the browser has now, and its user; a sign-in replaces it.
    pub session: Option<(entity::session::Model, user::Model)>,
    headers: HeaderMap,
}

impl SignInBrowser {
    /// Returns the id of this browser if it has signed in to the account before.
    pub fn known_for(&self, app: &ControlPlaneState, account: &str) -> Option<String> {
        app.known_browser_cookie.read(&self.headers, account)
    }

    /// Returns the secret of a sign-in at the OpenID provider that this browser started.
    pub fn oidc_secret(&self, app: &ControlPlaneState) -> Option<&str> {
        app.oidc_cookie.read(&self.headers)
    }
}

impl FromRequestParts<ControlPlaneState> for SignInBrowser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        let present = present(app, &parts.headers).await.map_err(ApiError::from);
        let session = present.context("Failed to sign in")?;
        Ok(Self { client: ClientInfo::of(parts, app), session, headers: parts.headers.clone() })
    }
}

async fn present(
    app: &ControlPlaneState,
    headers: &HeaderMap,
) -> Result<Option<(entity::session::Model, user::Model)>, DbErr> {
    let secrets = app.session_cookie.read(headers).zip(header(headers, session::KEY_HEADER));
    let Some((id, key)) = secrets else { return Ok(None) };
    let secrets = SessionSecrets { id: id.to_owned(), key: key.to_owned() };
    let Some(session) = session::find(&app.store, &secrets).await? else { return Ok(None) };
    let user = user::Entity::find_by_id(session.user_id).one(app.store.reader()).await?;
    Ok(user.map(|user| (session, user)))
}
