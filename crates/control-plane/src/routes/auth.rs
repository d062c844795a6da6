//! Signing in and out, and who is signed in.

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse};
use http::StatusCode;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::{Caller, PersonAuth, SessionAuth};
use crate::bus::Topic;
use crate::credentials::session;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt};
use crate::extract::Body;
use crate::store::entity::organization;
use crate::store::entity::user::{self, Role};

/// An organization.
#[derive(Debug, Serialize, ToSchema)]
pub struct OrganizationView {
    /// Id.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// First segment of the web app's paths.
    pub slug: String,
}

/// The person who asks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// Id.
    pub id: Uuid,
    /// E-mail address.
    pub email: String,
    /// First name.
    pub first_name: Option<String>,
    /// Last name.
    pub last_name: Option<String>,
    /// Picture.
    pub avatar_url: Option<String>,
    /// What the person may do.
    pub role: Role,
    /// The organization that the request is about.
    pub organization: OrganizationView,
    /// Where pages of the code host are opened, when not at `https://github.com`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_host_url: Option<String>,
}

impl Me {
    fn new(app: &ControlPlaneState, user: user::Model, organization: organization::Model) -> Self {
        Self {
            id: user.id,
            email: user.email,
            first_name: user.first_name,
            last_name: user.last_name,
            avatar_url: user.avatar_url,
            role: user.role.0,
            organization: OrganizationView {
                id: organization.id,
                name: organization.name,
                slug: organization.slug,
            },
            code_host_url: app.config.code_host_url.clone(),
        }
    }
}

/// A one-time sign-in link.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SignInLink {
    /// The token of the link.
    pub token: String,
}

/// A person who has just signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SignedIn)]
pub struct SignInResponse {
    /// The person.
    #[serde(flatten)]
    pub me: Me,
    /// To be sent as `X-Session-Key` with every request; the session cookie counts only beside it.
    pub session_key: String,
}

/// Trades the token of a one-time link for a session: a cookie, and the key that goes with it.
#[utoipa::path(post, path = "/auth/sign-in-link", tag = "auth", request_body = SignInLink,
    responses((status = 200, body = Data<SignInResponse>), ErrorResponses))]
pub async fn sign_in(
    State(app): State<ControlPlaneState>,
    Body(link): Body<SignInLink>,
) -> ApiResult<impl IntoResponse> {
    let (secrets, user) = session::consume_link(&app.store, &link.token)
        .await
        .context("Failed to sign in")?
        .ok_or_else(|| {
            ApiError::new(
                StatusCode::UNAUTHORIZED,
                "This sign-in link was used or is too old. Ask for a new one.",
            )
            .code("sign_in_link_invalid")
        })?;
    let organization = organization::Entity::find_by_id(user.organization_id).one(app.store.reader()).await?;
    let organization = organization.ok_or_else(crate::error::unauthorized)?;
    let headers = [
        (SET_COOKIE, app.session_cookie.set(&secrets.id, session::ROLLING)),
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    let signed_in = SignInResponse { me: Me::new(&app, user, organization), session_key: secrets.key };
    Ok((AppendHeaders(headers), Data::new(signed_in)))
}

/// What signing out answers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignOutResponse {
    /// Always `true`.
    pub signed_out: bool,
}

/// Ends the session at once, with the streams that it opened.
#[utoipa::path(post, path = "/auth/sign-out", tag = "auth", responses((status = 200, body = Data<SignOutResponse>), ErrorResponses))]
pub async fn sign_out(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
) -> ApiResult<impl IntoResponse> {
    if let Some(session) = &caller.session {
        session::revoke(&app.store, session).await?;
        app.bus.publish(Topic::Credentials);
    }
    Ok((
        AppendHeaders([(SET_COOKIE, app.session_cookie.clear())]),
        Data::new(SignOutResponse { signed_out: true }),
    ))
}

/// The person who asks.
#[utoipa::path(get, path = "/me", tag = "auth", responses((status = 200, body = Data<Me>), ErrorResponses))]
pub async fn me(
    State(app): State<ControlPlaneState>,
    PersonAuth(Caller { user, organization, .. }): PersonAuth,
) -> Data<Me> {
    Data::new(Me::new(&app, user, organization))
}
