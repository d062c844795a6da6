//! Sign-in, sign-out and the current user.

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse};
use http::StatusCode;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use sea_orm::prelude::*;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::accounts::password_reset;
use crate::accounts::sign_in::{self, SignedIn};
use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{Caller, SessionAuth, SignInBrowser, UserAuth};
use crate::bus::Topic;
use crate::config::Demonstration;
use crate::credentials::{password, session};
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::Body;
use crate::store::entity::user::{self, Role};
use crate::store::entity::{identity, organization};

/// Organization of the current user.
#[derive(Debug, Serialize, ToSchema)]
pub struct OrganizationView {
    /// Id of the organization.
    pub id: Uuid,
    /// Display name of the organization.
    pub name: String,
    /// First segment of the web app's paths.
    pub slug: String,
}

/// The user who is signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// Id of the user.
    pub id: Uuid,
    /// E-mail address of the user.
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    /// URL of the profile picture.
    pub avatar_url: Option<String>,
    /// Role of the user in this organization.
    pub role: Role,
    /// Organization that the request acts in.
    pub organization: OrganizationView,
    /// Base URL of the code host; absent for `https://github.com`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_host_url: Option<String>,
    /// What the demonstration can do; absent outside of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demonstration: Option<Demonstration>,
}

impl Me {
    /// Creates the view of a user in its organization.
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
            demonstration: app.config.demonstration.clone(),
        }
    }
}

/// A one-time sign-in link.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    /// Token from the link's query.
    pub token: String,
    /// Whether the user agreed to end the session of another user in this browser.
    #[serde(default)]
    pub replaces_session: bool,
}

/// Response to a successful sign-in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SignedIn)]
pub struct SignInResponse {
    /// The user who is signed in.
    #[serde(flatten)]
    pub me: Me,
    /// Value for the `X-Session-Key` header of every request. The session cookie alone does not authenticate.
    pub session_key: String,
}

/// Exchanges the token of a one-time link for a session: a cookie and a session key. Returns 401 with
/// `sign_in_link_invalid` when the link was used, has expired, or belongs to a sign-in that another browser
/// started, and 409 with `already_signed_in` when another user is signed in.
#[utoipa::path(post, path = "/auth/sign-in-link", tag = "auth", request_body = SignInLink,
    responses((status = 200, body = Data<SignInResponse>), ErrorResponses))]
pub async fn sign_in(
    State(app): State<ControlPlaneState>,
    browser: SignInBrowser,
    Body(link): Body<SignInLink>,
) -> ApiResult<impl IntoResponse> {
    let (secrets, user) = session::consume_link(&app, &link.token, &browser, link.replaces_session)
        .await
        .context("Failed to sign in")?
        .ok_or_else(|| {
            ApiError::new(
                StatusCode::UNAUTHORIZED,
                "This sign-in link was already used or has expired. Request a new one.",
            )
            .code("sign_in_link_invalid")
        })?;
    let organization = organization::Entity::find_by_id(user.organization_id).one(app.store.reader()).await?;
    let organization = organization.ok_or_else(crate::error::unauthorized)?;
    Ok(answer(&app, SignedIn { secrets, user, organization, account: None }))
}

/// Builds the response of every sign-in method: the session cookie and the session key.
pub fn answer(app: &ControlPlaneState, signed_in: SignedIn) -> impl IntoResponse + use<> {
    let SignedIn { secrets, user, organization, account } = signed_in;
    // Streams of the session that was replaced end.
    app.bus.publish(Topic::Credentials);
    let mut headers = vec![
        (SET_COOKIE, app.session_cookie.set(&secrets.id, session::ROLLING)),
        (SET_COOKIE, app.oidc_cookie.clear()),
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    headers.extend(account.map(|account| (SET_COOKIE, app.known_browser_cookie.set(&account))));
    let body = SignInResponse { me: Me::new(app, user, organization), session_key: secrets.key };
    (AppendHeaders(headers), Data::new(body))
}

/// Sign-in methods of this installation.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInMethods {
    /// Whether local accounts (e-mail address and password) exist.
    pub password: bool,
    /// Name of the OpenID provider behind `/auth/oidc/start`; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc: Option<String>,
}

/// Lists the sign-in methods, for the sign-in page.
#[utoipa::path(get, path = "/auth/methods", tag = "auth", responses((status = 200, body = Data<SignInMethods>), ErrorResponses))]
pub async fn methods(State(app): State<ControlPlaneState>) -> ApiResult<Data<SignInMethods>> {
    let account = identity::Entity::find().filter(identity::Column::PasswordHash.is_not_null());
    let password = account.one(app.store.reader()).await?.is_some();
    Ok(Data::new(SignInMethods { password, oidc: app.config.oidc.as_ref().map(|oidc| oidc.name.clone()) }))
}

/// Credentials of a local account.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PasswordSignIn {
    /// E-mail address of the account.
    pub email: String,
    /// Password of the account.
    #[schema(value_type = String, format = Password)]
    pub password: SecretString,
}

/// Exchanges the password of a local account for a session: a cookie and a session key. All refusals have the
/// same text, so that they do not reveal which accounts exist. After ten refusals an IP address is rejected
/// for 15 minutes with 429.
#[utoipa::path(post, path = "/auth/sign-in", tag = "auth", request_body = PasswordSignIn,
    responses((status = 200, body = Data<SignInResponse>), ErrorResponses))]
pub async fn password_sign_in(
    State(app): State<ControlPlaneState>,
    browser: SignInBrowser,
    Body(PasswordSignIn { email, password }): Body<PasswordSignIn>,
) -> ApiResult<impl IntoResponse> {
    let signed_in =
        sign_in::with_password(&app, &browser, &email, password).await.context("Failed to sign in")?;
    Ok(answer(&app, signed_in))
}

/// Request to change the password.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangePassword {
    /// Current password; required when the account has one.
    #[schema(value_type = Option<String>, format = Password)]
    pub current_password: Option<SecretString>,
    /// New password, 12 to 256 characters.
    #[schema(value_type = String, format = Password)]
    pub new_password: SecretString,
}

/// Result of a password change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordChanged {
    /// E-mail address to sign in with.
    pub sign_in_email: String,
}

/// Changes the password and revokes all other sessions of the user. Setting the first password creates a
/// local account with the user's e-mail address.
#[utoipa::path(put, path = "/auth/password", tag = "auth", request_body = ChangePassword,
    responses((status = 200, body = Data<PasswordChanged>), ErrorResponses))]
pub async fn change_password(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    browser: SignInBrowser,
    Body(body): Body<ChangePassword>,
) -> ApiResult<Data<PasswordChanged>> {
    let mut issues = ValidationIssues::default();
    password::check_new(&mut issues, "newPassword", &body.new_password);
    issues.into_result()?;
    let change = sign_in::PasswordChange { current: body.current_password, new: body.new_password };
    let sign_in_email = sign_in::change_password(&app, &caller, &browser, change)
        .await
        .context("Failed to change the password")?;
    app.bus.publish(Topic::Credentials);
    Ok(Data::new(PasswordChanged { sign_in_email }))
}

/// Request to set a new password with a link.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetPassword {
    /// Token from the link's query.
    pub token: String,
    /// New password, 12 to 256 characters.
    #[schema(value_type = String, format = Password)]
    pub password: SecretString,
    /// Whether to end the session of another person in this browser.
    #[serde(default)]
    pub replaces_session: bool,
}

/// Sets a new password with the link of an administrator, ends all sessions of the person, and starts a new
/// one. Returns 410 with `password_reset_invalid` when the link was used, replaced or has expired, and 409 with
/// `already_signed_in` when another person is signed in.
#[utoipa::path(post, path = "/auth/password-reset", tag = "auth", request_body = ResetPassword,
    responses((status = 200, body = Data<SignInResponse>), ErrorResponses))]
pub async fn reset_password(
    State(app): State<ControlPlaneState>,
    browser: SignInBrowser,
    Body(ResetPassword { token, password, replaces_session }): Body<ResetPassword>,
) -> ApiResult<impl IntoResponse> {
    let mut issues = ValidationIssues::default();
    password::check_new(&mut issues, "password", &password);
    issues.into_result()?;
    let signed_in = password_reset::redeem(&app, &browser, &token, password, replaces_session).await;
    let signed_in = signed_in.context("Failed to set the password")?;
    Ok(answer(&app, signed_in))
}

/// Result of a sign-out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignOutResponse {
    /// Always `true`; failures have an error status.
    pub signed_out: bool,
}

/// Revokes the session and closes its streams immediately.
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

/// Returns the current user and its organization.
#[utoipa::path(get, path = "/me", tag = "auth", responses((status = 200, body = Data<Me>), ErrorResponses))]
pub async fn me(
    State(app): State<ControlPlaneState>,
    UserAuth(Caller { user, organization, .. }): UserAuth,
) -> Data<Me> {
    Data::new(Me::new(&app, user, organization))
}
