//! Signing in and out, and who is signed in.

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse};
use http::StatusCode;
use http::header::SET_COOKIE;
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::answer::{Body, Data};
use crate::app::App;
use crate::auth::{Any, Caller, Session, session};
use crate::error::{ApiError, ApiResult, Failures, Named};
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
}

impl Me {
    fn new(user: user::Model, organization: organization::Model) -> Self {
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
        }
    }
}

/// A one-time sign-in link.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SignInLink {
    /// The token of the link.
    pub token: String,
}

/// Trades the token of a one-time link for a session cookie.
#[utoipa::path(post, path = "/auth/sign-in-link", tag = "auth", request_body = SignInLink,
    responses((status = 200, body = Data<Me>), Failures))]
pub async fn sign_in(State(app): State<App>, Body(link): Body<SignInLink>) -> ApiResult<impl IntoResponse> {
    let (id, user) = session::consume_link(&app.store, &link.token)
        .await
        .named("Failed to sign in")?
        .ok_or_else(|| {
            ApiError::new(
                StatusCode::UNAUTHORIZED,
                "This sign-in link was used or is too old. Ask for a new one.",
            )
            .code("sign_in_link_invalid")
        })?;
    let organization = organization::Entity::find_by_id(user.organization_id).one(app.store.reader()).await?;
    let organization = organization.ok_or_else(crate::error::unauthorized)?;
    let cookie = session::set_cookie(&id, app.is_secure());
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Data::new(Me::new(user, organization))))
}

/// What signing out answers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedOut {
    /// Always `true`.
    pub signed_out: bool,
}

/// Ends the session.
#[utoipa::path(post, path = "/auth/sign-out", tag = "auth", responses((status = 200, body = Data<SignedOut>), Failures))]
pub async fn sign_out(State(app): State<App>, Session(caller): Session) -> ApiResult<impl IntoResponse> {
    if let Some(session) = &caller.session {
        session::revoke(&app.store, session).await?;
    }
    let cookie = session::clear_cookie(app.is_secure());
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Data::new(SignedOut { signed_out: true })))
}

/// The person who asks.
#[utoipa::path(get, path = "/me", tag = "auth", responses((status = 200, body = Data<Me>), Failures))]
pub async fn me(Any(Caller { user, organization, .. }): Any) -> Data<Me> {
    Data::new(Me::new(user, organization))
}
