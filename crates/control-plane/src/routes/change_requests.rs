//! Change requests: list, details, archive, and the marks of users.

use axum::Json;
use axum::extract::{Path, State};
use sea_orm::ActiveValue::Set;
use sea_orm::ConnectionTrait;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, OnConflict};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{Caller, UserAuth};
use crate::change_requests::list::{self, ChangeRequestPage, ChangeRequestQuery};
use crate::change_requests::root_of;
use crate::change_requests::view::{ChangeRequestDetail, detail};
use crate::documents;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, bad_request, not_found};
use crate::extract::{Body, Query};
use crate::store::entity::{change_request, change_request_mark, document};
use crate::store::now;

/// Lists the change requests of the organization, most recently changed first. With `attention`, those that need a
/// person.
#[utoipa::path(get, path = "/change-requests", tag = "change-requests", params(ChangeRequestQuery),
    responses((status = 200, body = ChangeRequestPage), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Query(query): Query<ChangeRequestQuery>,
) -> ApiResult<Json<ChangeRequestPage>> {
    let page = list::page(app.store.reader(), &caller, &query).await;
    page.context("Failed to fetch change requests").map(Json)
}

/// Returns the change request of a document, with all documents, loops and pull requests.
#[utoipa::path(get, path = "/change-requests/{idOrSlug}", tag = "change-requests", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<ChangeRequestDetail>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<ChangeRequestDetail>> {
    let read = async {
        let db = app.store.reader();
        let (row, root) = find(db, &caller, &id_or_slug).await?;
        Ok(detail(db, caller.user.id, row, root).await?)
    };
    read.await.context("Failed to fetch change request").map(Data::new)
}

/// Returns the change request of a document, which need not be the one that it begins with.
async fn find(
    db: &impl ConnectionTrait,
    caller: &Caller,
    id_or_slug: &str,
) -> ApiResult<(change_request::Model, document::Model)> {
    let missing = || not_found("Change request");
    let document = documents::find(db, caller.organization_id(), id_or_slug).await;
    let document = document.map_err(|error| if error.is_internal() { error } else { missing() })?;
    let root = root_of(db, document).await?;
    let row = change_request::Entity::find_by_id(root.id).one(db).await?.ok_or_else(missing)?;
    Ok((row, root))
}

/// Changes to a change request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateChangeRequest {
    /// Whether it is hidden from the lists.
    pub archived: bool,
}

/// Archives a change request, or returns it to the lists.
#[utoipa::path(patch, path = "/change-requests/{idOrSlug}", tag = "change-requests", params(("idOrSlug" = String, Path)), request_body = UpdateChangeRequest,
    responses((status = 200, body = Data<ChangeRequestDetail>), ErrorResponses))]
pub async fn update(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<UpdateChangeRequest>,
) -> ApiResult<Data<ChangeRequestDetail>> {
    use change_request::Column;
    let changed = async {
        let tx = app.store.begin().await?;
        let (_, root) = find(&tx, &caller, &id_or_slug).await?;
        change_request::Entity::update_many()
            .col_expr(Column::ArchivedAt, Expr::value(body.archived.then(now)))
            .filter(Column::DocumentId.eq(root.id))
            .exec(&tx)
            .await?;
        let details = json!({"slug": root.slug, "archived": body.archived});
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::DocumentUpdated, root.id, details).await?;
        tx.commit().await?;
        let db = app.store.reader();
        let (row, root) = find(db, &caller, &id_or_slug).await?;
        Ok(detail(db, caller.user.id, row, root).await?)
    };
    changed.await.context("Failed to update change request").map(Data::new)
}

/// What a user notes about a change request. Absent members are reset.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangeRequestMark {
    /// Whether the user has seen the current state.
    #[serde(default)]
    pub seen: bool,
    /// Time until which the user does not want to be reminded, ISO 8601.
    #[serde(default)]
    pub snoozed_until: Option<String>,
}

/// Notes for the caller that the state of a change request was seen, and until when it is snoozed.
#[utoipa::path(put, path = "/change-requests/{idOrSlug}/mark", tag = "change-requests", params(("idOrSlug" = String, Path)), request_body = ChangeRequestMark,
    responses((status = 200, body = Data<ChangeRequestDetail>), ErrorResponses))]
pub async fn mark(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<ChangeRequestMark>,
) -> ApiResult<Data<ChangeRequestDetail>> {
    use change_request_mark::Column;
    let snoozed_until = match &body.snoozed_until {
        Some(time) => {
            let time: jiff::Timestamp =
                time.parse().map_err(|_| bad_request("snoozedUntil: must be an ISO 8601 timestamp"))?;
            Some(time.as_millisecond())
        }
        None => None,
    };
    let marked = async {
        let (row, root) = find(app.store.reader(), &caller, &id_or_slug).await?;
        let mark = change_request_mark::ActiveModel {
            user_id: Set(caller.user.id),
            document_id: Set(root.id),
            seen_at: Set(body.seen.then(now)),
            snoozed_until: Set(snoozed_until),
        };
        let replace = OnConflict::columns([Column::UserId, Column::DocumentId])
            .update_columns([Column::SeenAt, Column::SnoozedUntil])
            .to_owned();
        change_request_mark::Entity::insert(mark)
            .on_conflict(replace)
            .exec_without_returning(app.store.writer())
            .await?;
        Ok(detail(app.store.reader(), caller.user.id, row, root).await?)
    };
    marked.await.context("Failed to mark change request").map(Data::new)
}
