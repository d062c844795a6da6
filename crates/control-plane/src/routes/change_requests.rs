//! Change requests: list, groups, details, archive, deletion, and the marks and saved views of users.

use axum::Json;
use axum::extract::{Path, State};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, OnConflict};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{Caller, UserAuth};
use crate::bus::Topic;
use crate::change_requests::history::{self, HistoryEntry};
use crate::change_requests::list::{
    self, ChangeRequestGroup, ChangeRequestPage, ChangeRequestQuery, GroupQuery,
};
use crate::change_requests::saved_views::{self, SavedView};
use crate::change_requests::view::{ChangeRequestDetail, detail};
use crate::change_requests::{self, deletion};
use crate::documents::{self, tree};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, bad_request, not_found};
use crate::extract::{Body, Query};
use crate::store::entity::{change_request, change_request_mark, document};
use crate::store::{iso, now};

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

/// Returns the groups of a list: for each value of `by`, how many change requests there are on all pages.
#[utoipa::path(get, path = "/change-requests/groups", tag = "change-requests", params(ChangeRequestQuery, GroupQuery),
    responses((status = 200, body = Data<Vec<ChangeRequestGroup>>), ErrorResponses))]
pub async fn groups(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Query(query): Query<ChangeRequestQuery>,
    Query(GroupQuery { by }): Query<GroupQuery>,
) -> ApiResult<Data<Vec<ChangeRequestGroup>>> {
    let groups = list::groups(app.store.reader(), &caller, &query, by).await;
    groups.context("Failed to fetch change requests").map(Data::new)
}

/// Returns the views of the list that the caller has saved.
#[utoipa::path(get, path = "/change-requests/views", tag = "change-requests",
    responses((status = 200, body = Data<Vec<SavedView>>), ErrorResponses))]
pub async fn views(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
) -> ApiResult<Data<Vec<SavedView>>> {
    let views = saved_views::of_user(app.store.reader(), caller.user.id).await;
    views.map_err(Into::into).context("Failed to fetch saved views").map(Data::new)
}

/// Views of the list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSavedViews {
    /// All views of the user in their order, at most 50.
    pub views: Vec<SavedView>,
}

/// Replaces the views of the list that the caller has saved.
#[utoipa::path(put, path = "/change-requests/views", tag = "change-requests", request_body = SetSavedViews,
    responses((status = 200, body = Data<Vec<SavedView>>), ErrorResponses))]
pub async fn set_views(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Body(body): Body<SetSavedViews>,
) -> ApiResult<Data<Vec<SavedView>>> {
    let replaced = saved_views::replace(app.store.writer(), caller.user.id, &body.views).await;
    replaced.context("Failed to save views").map(|()| Data::new(body.views))
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
        let (row, root) = find(&app, &caller, &id_or_slug).await?;
        Ok(detail(app.store.reader(), caller.user.id, row, root).await?)
    };
    read.await.context("Failed to fetch change request").map(Data::new)
}

/// Returns what happened to a change request, newest first: texts, loops, decisions, requests to persons, pull requests.
#[utoipa::path(get, path = "/change-requests/{idOrSlug}/history", tag = "change-requests", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<Vec<HistoryEntry>>), ErrorResponses))]
pub async fn history(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<Vec<HistoryEntry>>> {
    let read = async {
        let (_, root) = find(&app, &caller, &id_or_slug).await?;
        let family = change_requests::family(app.store.reader(), root).await?;
        Ok(history::history(app.store.reader(), &family).await?)
    };
    read.await.context("Failed to fetch the history of the change request").map(Data::new)
}

/// Returns the change request of a document, which need not be the one that it begins with.
pub(super) async fn find(
    app: &ControlPlaneState,
    caller: &Caller,
    id_or_slug: &str,
) -> ApiResult<(change_request::Model, document::Model)> {
    let missing = || not_found("Change request");
    let db = app.store.reader();
    let document = documents::find(db, caller.organization_id(), id_or_slug).await;
    let document = document.map_err(|error| if error.is_internal() { error } else { missing() })?;
    let root = tree::root_of(db, document).await?;
    let row = change_request::Entity::find_by_id(root.id);
    if let Some(row) = row.clone().one(db).await? {
        return Ok((row, root));
    }
    // From before the table of change requests, and not derived by the background task yet.
    let tx = app.store.begin().await?;
    change_requests::refresh(&tx, root.id).await?;
    tx.commit().await?;
    Ok((row.one(db).await?.ok_or_else(missing)?, root))
}

/// A deletion that can be undone.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedChangeRequest {
    /// Slug of the document that it begins with.
    pub slug: String,
    /// Time until which it can be restored, ISO 8601.
    pub restorable_until: String,
}

/// Deletes a change request with its documents. Its loops remain. The author and administrators can undo this within an
/// hour. Returns 409 while one of its loops is active.
#[utoipa::path(delete, path = "/change-requests/{idOrSlug}", tag = "change-requests", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<DeletedChangeRequest>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<DeletedChangeRequest>> {
    let deleted = async {
        let (_, root) = find(&app, &caller, &id_or_slug).await?;
        let slug = root.slug.clone();
        deletion::delete(&app, &caller, root).await?;
        Ok(DeletedChangeRequest { slug, restorable_until: iso(now() + deletion::RESTORABLE) })
    };
    deleted.await.context("Failed to delete change request").map(Data::new)
}

/// Undoes the deletion of a change request.
#[utoipa::path(post, path = "/change-requests/{idOrSlug}/restore", tag = "change-requests", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<ChangeRequestDetail>), ErrorResponses))]
pub async fn restore(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<ChangeRequestDetail>> {
    let restored = async {
        let db = app.store.reader();
        let document = documents::find_deleted(db, caller.organization_id(), &id_or_slug).await?;
        let root = tree::root_of(db, document.ok_or_else(|| not_found("Change request"))?).await?;
        deletion::restore(&app, &caller, root).await?;
        let (row, root) = find(&app, &caller, &id_or_slug).await?;
        Ok(detail(db, caller.user.id, row, root).await?)
    };
    restored.await.context("Failed to restore change request").map(Data::new)
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
        let (_, root) = find(&app, &caller, &id_or_slug).await?;
        let tx = app.store.begin().await?;
        change_request::Entity::update_many()
            .col_expr(Column::ArchivedAt, Expr::value(body.archived.then(now)))
            .col_expr(Column::UpdatedAt, Expr::value(now()))
            .filter(Column::DocumentId.eq(root.id))
            .exec(&tx)
            .await?;
        let details = json!({"slug": root.slug, "archived": body.archived});
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::DocumentUpdated, root.id, details).await?;
        tx.commit().await?;
        app.bus.publish(Topic::Organization(organization));
        let (row, root) = find(&app, &caller, &id_or_slug).await?;
        Ok(detail(app.store.reader(), caller.user.id, row, root).await?)
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
        let (_, root) = find(&app, &caller, &id_or_slug).await?;
        let tx = app.store.begin().await?;
        let mark = change_request_mark::ActiveModel {
            user_id: Set(caller.user.id),
            document_id: Set(root.id),
            seen_at: Set(body.seen.then(now)),
            snoozed_until: Set(snoozed_until),
        };
        let replace = OnConflict::columns([Column::UserId, Column::DocumentId])
            .update_columns([Column::SeenAt, Column::SnoozedUntil])
            .to_owned();
        change_request_mark::Entity::insert(mark).on_conflict(replace).exec_without_returning(&tx).await?;
        // Comments on a pull request need the person until they are seen.
        change_requests::refresh(&tx, root.id).await?;
        tx.commit().await?;
        // Other tabs and devices of the person show it as well.
        app.bus.publish(Topic::Organization(caller.organization_id()));
        let (row, root) = find(&app, &caller, &id_or_slug).await?;
        Ok(detail(app.store.reader(), caller.user.id, row, root).await?)
    };
    marked.await.context("Failed to mark change request").map(Data::new)
}
