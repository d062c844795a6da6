//! Organizations of a user, and the selected organization of a session.

use axum::extract::State;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use uuid::Uuid;

use super::auth::Me;
use crate::accounts::memberships;
use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::auth::{ClientInfo, SessionAuth};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, forbidden};
use crate::extract::Body;
use crate::store::entity::session;
use crate::store::entity::user::Role;

/// Membership of the user in an organization.
#[derive(Debug, Serialize, ToSchema)]
pub struct Membership {
    /// Id of the organization.
    pub id: Uuid,
    /// Display name of the organization.
    pub name: String,
    /// First segment of the web app's paths, and value of the `X-Org-Slug` header.
    pub slug: String,
    /// Role of the user in the organization.
    pub role: Role,
}

/// Lists the organizations of the signed-in user in the order in which the user joined them.
#[utoipa::path(get, path = "/organizations", tag = "organizations", responses((status = 200, body = Data<Vec<Membership>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
) -> ApiResult<Data<Vec<Membership>>> {
    let rows = memberships(app.store.reader(), caller.user.identity_id).await?;
    let membership = |(user, organization): (crate::store::entity::user::Model, _)| {
        let crate::store::entity::organization::Model { id, name, slug, .. } = organization;
        Membership { id, name, slug, role: user.role.0 }
    };
    Ok(Data::new(rows.into_iter().map(membership).collect()))
}

/// Request to select an organization.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SelectOrganization {
    /// Slug of the organization.
    pub slug: String,
}

/// Selects the organization that the session uses for requests without `X-Org-Slug`. Returns 403 when the
/// user is not a member.
#[utoipa::path(put, path = "/auth/organization", tag = "organizations", request_body = SelectOrganization,
    responses((status = 200, body = Data<Me>), ErrorResponses))]
pub async fn select(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    client: ClientInfo,
    Body(body): Body<SelectOrganization>,
) -> ApiResult<Data<Me>> {
    let tx = app.store.begin().await?;
    let memberships = memberships(&tx, caller.user.identity_id).await?;
    let chosen = memberships.into_iter().find(|(_, organization)| organization.slug == body.slug);
    let (user, organization) = chosen.ok_or_else(forbidden)?;
    session::Entity::update_many()
        .col_expr(session::Column::UserId, Expr::value(user.id))
        .col_expr(session::Column::OrganizationId, Expr::value(organization.id))
        .filter(session::Column::IdHash.eq(caller.session))
        .exec(&tx)
        .await?;
    let actor = Actor::signed_in(user.id, &client);
    actor.record(&tx, organization.id, AuditAction::OrganizationSelected, user.id, json!({})).await?;
    tx.commit().await?;
    Ok(Data::new(Me::new(&app, user, organization)))
}
