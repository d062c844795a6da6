//! Members of an organization.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::members::{self, MemberChange};
use crate::accounts::password_reset;
use crate::app::ControlPlaneState;
use crate::auth::{AdminSessionAuth, UserAuth};
use crate::bus::Topic;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, bad_request};
use crate::extract::{Body, Id};
use crate::store::entity::user::{self, Role};
use crate::store::iso;

/// A member of the organization.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Id of the user.
    pub id: Uuid,
    /// E-mail address of the member.
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    /// URL of the profile picture.
    pub avatar_url: Option<String>,
    /// Role in the organization.
    pub role: Role,
    /// Whether the member can sign in and its API keys are accepted.
    pub active: bool,
    /// Creation time, ISO 8601.
    pub created_at: String,
}

impl From<user::Model> for Member {
    fn from(row: user::Model) -> Self {
        Self {
            id: row.id,
            email: row.email,
            first_name: row.first_name,
            last_name: row.last_name,
            avatar_url: row.avatar_url,
            role: row.role.0,
            active: row.active,
            created_at: iso(row.created_at),
        }
    }
}

/// Lists all members, including inactive ones, oldest first.
#[utoipa::path(get, path = "/members", tag = "members", responses((status = 200, body = Data<Vec<Member>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
) -> ApiResult<Data<Vec<Member>>> {
    let rows = members::list(&app.store, caller.organization_id()).await;
    let rows = rows.map_err(Into::into).context("Failed to fetch members")?;
    Ok(Data::new(rows.into_iter().map(Member::from).collect()))
}

/// A link with which a member sets a new password.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordResetLink {
    /// URL to give to the member. It is valid once, and shown only in this response.
    pub url: String,
    /// Expiry of the link, ISO 8601.
    pub expires_at: String,
}

/// Creates a link with which a member sets a new password, and revokes earlier links of the member. Returns
/// 409 for a person who also belongs to another organization, or signs in at the OpenID provider.
#[utoipa::path(post, path = "/members/{id}/password-reset", tag = "members", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<PasswordResetLink>), ErrorResponses))]
pub async fn reset_password(
    State(app): State<ControlPlaneState>,
    AdminSessionAuth(caller): AdminSessionAuth,
    id: Id,
) -> ApiResult<Data<PasswordResetLink>> {
    let id = id.or_unknown("Member")?;
    let reset = password_reset::create_for_member(&app.store, &caller, id).await;
    let reset = reset.context("Failed to create a password reset link")?;
    let url = format!("{}/reset-password?token={}", app.config.web_origin, reset.token);
    Ok(Data::new(PasswordResetLink { url, expires_at: iso(reset.expires_at) }))
}

/// Changes to a member. Absent members of this object remain unchanged.
#[derive(Debug, Deserialize, ToSchema)]
pub struct UpdateMember {
    /// New role in the organization.
    pub role: Option<Role>,
    /// `false` deactivates the member: sessions and connections are closed immediately, and API keys are
    /// rejected.
    pub active: Option<bool>,
}

/// Changes the role of a member, or deactivates it. Returns 409 for the last administrator.
#[utoipa::path(patch, path = "/members/{id}", tag = "members", params(("id" = Uuid, Path)), request_body = UpdateMember,
    responses((status = 200, body = Data<Member>), ErrorResponses))]
pub async fn update(
    State(app): State<ControlPlaneState>,
    AdminSessionAuth(caller): AdminSessionAuth,
    id: Id,
    Body(body): Body<UpdateMember>,
) -> ApiResult<Data<Member>> {
    let id = id.or_unknown("Member")?;
    if body.role.is_none() && body.active.is_none() {
        return Err(bad_request("At least one field must be provided"));
    }
    let change = MemberChange { role: body.role, active: body.active };
    let row = members::update(&app.store, &caller, id, change).await.context("Failed to update member")?;
    // Open streams and links re-validate their credentials on this notification.
    app.bus.publish(Topic::Credentials);
    Ok(Data::new(row.into()))
}
