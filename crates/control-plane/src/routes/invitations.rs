//! Invitations to an organization: create, list, revoke, preview and accept.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::auth::{SignInResponse, answer};
use crate::accounts::email::EmailAddress;
use crate::accounts::invitations::{self, AccountValues};
use crate::app::ControlPlaneState;
use crate::auth::{AdminSessionAuth, SessionAuth, SignInBrowser};
use crate::credentials::secret::sha256_hex;
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues, not_found};
use crate::extract::{Body, Id};
use crate::store::entity::invitation;
use crate::store::entity::user::Role;
use crate::store::iso;

const NAME_LIMIT: usize = 100;

/// Request to create an invitation.
#[derive(Debug, Deserialize, ToSchema)]
pub struct CreateInvitation {
    /// E-mail address of the invited user; also the name of the local account.
    pub email: String,
    /// Role in the organization.
    pub role: Role,
}

/// An invitation that was not accepted yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// Id of the invitation.
    pub id: Uuid,
    /// E-mail address of the invited user.
    pub email: String,
    /// Role in the organization.
    pub role: Role,
    /// Id of the administrator who created it.
    pub created_by: Uuid,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Expiry, ISO 8601; seven days after creation.
    pub expires_at: String,
}

impl From<invitation::Model> for Invitation {
    fn from(row: invitation::Model) -> Self {
        Self {
            id: row.id,
            email: row.email,
            role: row.role.0,
            created_by: row.created_by,
            created_at: iso(row.created_at),
            expires_at: iso(row.expires_at),
        }
    }
}

/// A new invitation with its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedInvitation {
    /// Invitation without its secret.
    #[serde(flatten)]
    pub invitation: Invitation,
    /// Secret token; it cannot be retrieved again.
    pub token: String,
    /// URL of the page that accepts the invitation; contains the token.
    pub url: String,
}

/// Creates an invitation. No e-mail is sent: the administrator passes the URL on.
#[utoipa::path(post, path = "/invitations", tag = "invitations", request_body = CreateInvitation,
    responses((status = 200, body = Data<CreatedInvitation>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    AdminSessionAuth(caller): AdminSessionAuth,
    Body(body): Body<CreateInvitation>,
) -> ApiResult<Data<CreatedInvitation>> {
    let email = EmailAddress::parse(&body.email);
    let mut issues = ValidationIssues::default();
    issues.require(email.is_some(), "email", "must be an e-mail address");
    issues.into_result()?;
    let email = email.ok_or_else(|| not_found("E-mail address"))?;
    let created = invitations::create(&app.store, &caller, &email, body.role).await;
    let (row, token) = created.context("Failed to create invitation")?;
    let url = format!("{}/join?token={token}", app.config.web_origin);
    Ok(Data::new(CreatedInvitation { invitation: row.into(), token, url }))
}

/// Lists the open invitations, newest first.
#[utoipa::path(get, path = "/invitations", tag = "invitations", responses((status = 200, body = Data<Vec<Invitation>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    AdminSessionAuth(caller): AdminSessionAuth,
) -> ApiResult<Data<Vec<Invitation>>> {
    let rows = invitations::list(&app.store, caller.organization_id()).await?;
    Ok(Data::new(rows.into_iter().map(Invitation::from).collect()))
}

/// Revokes an open invitation.
#[utoipa::path(delete, path = "/invitations/{id}", tag = "invitations", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    AdminSessionAuth(caller): AdminSessionAuth,
    id: Id,
) -> ApiResult<Data<DeleteResponse>> {
    if !invitations::revoke(&app.store, &caller, id.or_unknown("Invitation")?).await? {
        return Err(not_found("Invitation"));
    }
    Ok(DeleteResponse::answer())
}

/// Token of an invitation.
#[derive(Debug, Deserialize, ToSchema)]
pub struct InvitationToken {
    /// Secret token from the invitation's URL.
    pub token: String,
}

/// Content of an invitation, shown before it is accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationPreview {
    /// Name of the organization.
    pub organization_name: String,
    /// E-mail address of the invited user.
    pub email: String,
    /// Role in the organization.
    pub role: Role,
    /// Expiry of the invitation, ISO 8601.
    pub expires_at: String,
}

/// Returns the content of an invitation. The token is the only credential.
#[utoipa::path(post, path = "/invitations/preview", tag = "invitations", request_body = InvitationToken,
    responses((status = 200, body = Data<InvitationPreview>), ErrorResponses))]
pub async fn preview(
    State(app): State<ControlPlaneState>,
    Body(body): Body<InvitationToken>,
) -> ApiResult<Data<InvitationPreview>> {
    let (row, organization) = invitations::find(app.store.reader(), &sha256_hex(&body.token)).await?;
    Ok(Data::new(InvitationPreview {
        organization_name: organization.name,
        email: row.email,
        role: row.role.0,
        expires_at: iso(row.expires_at),
    }))
}

/// Request to accept an invitation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptInvitation {
    /// Secret token from the invitation's URL.
    pub token: String,
    /// Password of the account with the invited address, or of the account to create: 12 to 256 characters.
    /// Absent to accept as the signed-in user.
    #[schema(value_type = Option<String>, format = Password)]
    pub password: Option<SecretString>,
    /// First name, at most 100 characters.
    pub first_name: Option<String>,
    /// Last name, at most 100 characters.
    pub last_name: Option<String>,
    /// Whether to end the session of another person in this browser.
    #[serde(default)]
    pub replaces_session: bool,
}

/// Accepts an invitation and starts a session in the organization. Uses a new local account, the existing
/// account with the invited address, or, without a password, the signed-in user. Returns 409 with
/// `already_signed_in` when another person is signed in.
#[utoipa::path(post, path = "/invitations/accept", tag = "invitations", request_body = AcceptInvitation,
    responses((status = 200, body = Data<SignInResponse>), ErrorResponses))]
pub async fn accept(
    State(app): State<ControlPlaneState>,
    session: ApiResult<SessionAuth>,
    browser: SignInBrowser,
    Body(body): Body<AcceptInvitation>,
) -> ApiResult<impl IntoResponse> {
    let name = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (first_name, last_name) = (name(body.first_name), name(body.last_name));
    let mut issues = ValidationIssues::default();
    issues.length("firstName", first_name.as_deref().unwrap_or_default(), 0, NAME_LIMIT);
    issues.length("lastName", last_name.as_deref().unwrap_or_default(), 0, NAME_LIMIT);
    // Without a password, the caller must be signed in. Other authentication failures, such as a wrong
    // origin, are returned unchanged.
    let caller = match (&body.password, session) {
        (None, Ok(SessionAuth(caller))) => Some(caller),
        (None, Err(error)) if error.status != StatusCode::UNAUTHORIZED => return Err(error),
        (None, Err(_)) => {
            issues.push("password", "is required without a session");
            None
        }
        (Some(_), _) => None,
    };
    issues.into_result()?;
    let signed_in = match (caller, body.password) {
        (Some(caller), _) => invitations::accept_as(&app, &caller, &browser, &body.token).await,
        (None, Some(password)) => {
            let replaces_session = body.replaces_session;
            let account = AccountValues { first_name, last_name, password, replaces_session };
            invitations::accept_with_account(&app, &browser, &body.token, account).await
        }
        (None, None) => Err(crate::error::unauthorized()),
    };
    let signed_in = signed_in.context("Failed to accept the invitation")?;
    Ok(answer(&app, signed_in))
}
