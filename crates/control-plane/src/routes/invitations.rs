//! Inviting people, and accepting.

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::auth::{SignInResponse, answer};
use crate::accounts::email::EmailAddress;
use crate::accounts::invitations::{self, Account};
use crate::app::ControlPlaneState;
use crate::auth::{AdminSessionAuth, ClientInfo, SessionAuth};
use crate::bus::Topic;
use crate::credentials::secret::sha256_hex;
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues, not_found};
use crate::extract::{Body, Id};
use crate::store::entity::invitation;
use crate::store::entity::user::Role;
use crate::store::iso;

const NAME_LIMIT: usize = 100;

/// Somebody to be invited.
#[derive(Debug, Deserialize, ToSchema)]
pub struct CreateInvitation {
    /// E-mail address; the name of the account that the person makes.
    pub email: String,
    /// Role in the organization.
    pub role: Role,
}

/// An open invitation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// Id.
    pub id: Uuid,
    /// Who is invited.
    pub email: String,
    /// Role in the organization.
    pub role: Role,
    /// User who invited.
    pub created_by: Uuid,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601; seven days later.
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

/// A new invitation, with what its reader needs.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedInvitation {
    /// The invitation.
    #[serde(flatten)]
    pub invitation: Invitation,
    /// The secret; shown this once.
    pub token: String,
    /// Page on which the invited person accepts. It carries the token.
    pub url: String,
}

/// Invites somebody. Nothing is sent: hand the URL to the person.
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

/// The open invitations, newest first.
#[utoipa::path(get, path = "/invitations", tag = "invitations", responses((status = 200, body = Data<Vec<Invitation>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    AdminSessionAuth(caller): AdminSessionAuth,
) -> ApiResult<Data<Vec<Invitation>>> {
    let rows = invitations::list(&app.store, caller.organization_id()).await?;
    Ok(Data::new(rows.into_iter().map(Invitation::from).collect()))
}

/// Takes an open invitation back.
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

/// The token of an invitation.
#[derive(Debug, Deserialize, ToSchema)]
pub struct InvitationToken {
    /// The token.
    pub token: String,
}

/// What an invitation offers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationPreview {
    /// Name of the organization.
    pub organization_name: String,
    /// Who is invited.
    pub email: String,
    /// Role in the organization.
    pub role: Role,
    /// ISO 8601.
    pub expires_at: String,
}

/// Shows an invitation to whoever has its token.
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

/// Accepts an invitation with an account.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptInvitation {
    /// The token.
    pub token: String,
    /// Of the account with the invited address, or of the one to be made: 12 to 256 characters. Left out
    /// to accept as the person who is signed in.
    #[schema(value_type = Option<String>, format = Password)]
    pub password: Option<SecretString>,
    /// At most 100 characters.
    pub first_name: Option<String>,
    /// At most 100 characters.
    pub last_name: Option<String>,
}

/// Accepts an invitation: with a new local account, with the one that has the invited address, or, without
/// a password, as the person who is signed in. Begins a session in the organization.
#[utoipa::path(post, path = "/invitations/accept", tag = "invitations", request_body = AcceptInvitation,
    responses((status = 200, body = Data<SignInResponse>), ErrorResponses))]
pub async fn accept(
    State(app): State<ControlPlaneState>,
    session: ApiResult<SessionAuth>,
    client: ClientInfo,
    Body(body): Body<AcceptInvitation, { 8 * 1024 }>,
) -> ApiResult<impl IntoResponse> {
    let name = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (first_name, last_name) = (name(body.first_name), name(body.last_name));
    let mut issues = ValidationIssues::default();
    issues.length("firstName", first_name.as_deref().unwrap_or_default(), 0, NAME_LIMIT);
    issues.length("lastName", last_name.as_deref().unwrap_or_default(), 0, NAME_LIMIT);
    // Without a session a password is needed; other reasons than its absence are told as they are.
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
        (Some(caller), _) => invitations::accept_as(&app, &caller, &client, &body.token).await,
        (None, Some(password)) => {
            let account = Account { first_name, last_name, password };
            invitations::accept_with_account(&app, &client, &body.token, account).await
        }
        (None, None) => Err(crate::error::unauthorized()),
    };
    let signed_in = signed_in.context("Failed to accept the invitation")?;
    app.bus.publish(Topic::Credentials);
    Ok(answer(&app, signed_in))
}
