//! The organizations of a person, and which one a session is about.

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

/// An organization of the person.
#[derive(Debug, Serialize, ToSchema)]
pub struct Membership {
    /// Id of the organization.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// First segment of the web app's paths, and value of `X-Org-Slug`.
    pub slug: String,
    /// Role of the person there.
    pub role: Role,
}

/// The organizations to which the signed-in person belongs, in the order in which it joined.
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

/// The organization that a session is to be about.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SelectOrganization {
    /// Slug of the organization.
    pub slug: String,
}

/// Makes another organization of the person the one that the session is about when a request names none.
#[utoipa::path(put, path = "/auth/organization", tag = "organizations", request_body = SelectOrganization,
    responses((status = 200, body = Data<Me>), ErrorResponses))]
pub async fn select(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    client: ClientInfo,
    Body(body): Body<SelectOrganization>,
) -> ApiResult<Data<Me>> {
    let tx = app.store.begin().await?;
    let own = memberships(&tx, caller.user.identity_id).await?;
    let chosen = own.into_iter().find(|(_, organization)| organization.slug == body.slug);
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
