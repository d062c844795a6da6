//! Signing in and out, and who is signed in.

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse};
use http::StatusCode;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use sea_orm::prelude::*;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::accounts::sign_in::{self, SignedIn};
use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{Caller, ClientInfo, PersonAuth, SessionAuth};
use crate::bus::Topic;
use crate::credentials::{password, session};
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::Body;
use crate::store::entity::user::{self, Role};
use crate::store::entity::{identity, organization};

/// Largest body with passwords, in bytes.
const PASSWORD_BODY_LIMIT: usize = 8 * 1024;

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
    /// A user in its organization.
    pub fn new(app: &ControlPlaneState, user: user::Model, organization: organization::Model) -> Self {
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
    client: ClientInfo,
    Body(link): Body<SignInLink>,
) -> ApiResult<impl IntoResponse> {
    let (secrets, user) = session::consume_link(&app.store, &link.token, &client)
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
    Ok(answer(&app, SignedIn { secrets, user, organization }))
}

/// The answer of every sign-in: the cookie, and the key that goes with it.
pub fn answer(app: &ControlPlaneState, signed_in: SignedIn) -> impl IntoResponse + use<> {
    let SignedIn { secrets, user, organization } = signed_in;
    let headers = [
        (SET_COOKIE, app.session_cookie.set(&secrets.id, session::ROLLING)),
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    let body = SignInResponse { me: Me::new(app, user, organization), session_key: secrets.key };
    (AppendHeaders(headers), Data::new(body))
}

/// How people sign in here.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInMethods {
    /// Whether there are local accounts, with e-mail address and password.
    pub password: bool,
    /// Name of the OpenID provider at `/auth/oidc/start`, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc: Option<String>,
}

/// How people sign in here; a sign-in page shows what there is.
#[utoipa::path(get, path = "/auth/methods", tag = "auth", responses((status = 200, body = Data<SignInMethods>), ErrorResponses))]
pub async fn methods(State(app): State<ControlPlaneState>) -> ApiResult<Data<SignInMethods>> {
    let account = identity::Entity::find().filter(identity::Column::PasswordHash.is_not_null());
    let password = account.one(app.store.reader()).await?.is_some();
    Ok(Data::new(SignInMethods { password, oidc: app.config.oidc.as_ref().map(|oidc| oidc.name.clone()) }))
}

/// E-mail address and password of a local account.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PasswordSignIn {
    /// The address under which the account was made.
    pub email: String,
    /// The password.
    #[schema(value_type = String, format = Password)]
    pub password: SecretString,
}

/// Trades the password of a local account for a session: a cookie, and the key that goes with it.
/// Every refusal has one text; after ten of them an address waits for 15 minutes (429).
#[utoipa::path(post, path = "/auth/sign-in", tag = "auth", request_body = PasswordSignIn,
    responses((status = 200, body = Data<SignInResponse>), ErrorResponses))]
pub async fn password_sign_in(
    State(app): State<ControlPlaneState>,
    client: ClientInfo,
    Body(PasswordSignIn { email, password }): Body<PasswordSignIn, PASSWORD_BODY_LIMIT>,
) -> ApiResult<impl IntoResponse> {
    let signed_in =
        sign_in::with_password(&app, &client, &email, password).await.context("Failed to sign in")?;
    Ok(answer(&app, signed_in))
}

/// A new password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangePassword {
    /// The present one; left out while there is none.
    #[schema(value_type = Option<String>, format = Password)]
    pub current_password: Option<SecretString>,
    /// 12 to 256 characters.
    #[schema(value_type = String, format = Password)]
    pub new_password: SecretString,
}

/// What changing a password answers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordChanged {
    /// Name of the account.
    pub sign_in_email: String,
}

/// Changes the password, and ends every other session of the person. The first password makes a local
/// account with the person's e-mail address.
#[utoipa::path(put, path = "/auth/password", tag = "auth", request_body = ChangePassword,
    responses((status = 200, body = Data<PasswordChanged>), ErrorResponses))]
pub async fn change_password(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    client: ClientInfo,
    Body(body): Body<ChangePassword, PASSWORD_BODY_LIMIT>,
) -> ApiResult<Data<PasswordChanged>> {
    let mut issues = ValidationIssues::default();
    password::check_new(&mut issues, "newPassword", &body.new_password);
    issues.into_result()?;
    let change = sign_in::PasswordChange { current: body.current_password, new: body.new_password };
    let sign_in_email = sign_in::change_password(&app, &caller, &client, change)
        .await
        .context("Failed to change the password")?;
    app.bus.publish(Topic::Credentials);
    Ok(Data::new(PasswordChanged { sign_in_email }))
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
        let tx = app.store.begin().await?;
        session::revoke(&tx, caller.user.identity_id, session).await?;
        let (organization, user) = (caller.organization_id(), caller.user.id);
        caller.actor().record(&tx, organization, AuditAction::SignOut, user, json!({})).await?;
        tx.commit().await?;
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
