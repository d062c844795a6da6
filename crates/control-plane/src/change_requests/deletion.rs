//! Deletion of change requests.
//!
//! A deletion marks the documents, so that it can be undone for an hour. Afterwards a periodic task removes them with
//! their versions. Loops remain, because usage and costs refer to them.

use std::time::Duration;

use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{DatabaseTransaction, QuerySelect as _};
use serde_json::json;

use super::{Family, family, loops_of};
use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::Caller;
use crate::bus::Topic;
use crate::documents::tree;
use crate::error::{ApiError, ApiResult, conflict, forbidden, not_found};
use crate::loop_state::{ACTIVE, status_values};
use crate::store::Store;
use crate::store::entity::{agent_loop, change_request, document};
use crate::store::now;

/// Milliseconds for which a deletion can be undone.
pub const RESTORABLE: i64 = 60 * 60 * 1000;
// Interval between two removals.
const EVERY: Duration = Duration::from_mins(5);

/// Locks the change request of a document, so that it is not deleted until the end of the transaction. Returns 404 when
/// it has been deleted.
pub async fn lock(tx: &DatabaseTransaction, document_id: Uuid) -> ApiResult<()> {
    let missing = || not_found("Document");
    let document = document::Entity::find_by_id(document_id).one(tx).await?.ok_or_else(missing)?;
    let root = tree::root_of(tx, document).await?;
    lock_root(tx, root.id).await?;
    let document = document::Entity::find_by_id(document_id).one(tx).await?;
    document.filter(|document| document.deleted_at.is_none()).map(drop).ok_or_else(missing)
}

/// Serializes concurrent changes of one change request: the later one sees the earlier. `id` is the document that it
/// begins with.
pub(super) async fn lock_root(tx: &DatabaseTransaction, id: Uuid) -> Result<(), DbErr> {
    // Not FOR UPDATE, which waits for the key locks that concurrent transactions hold on the document because their
    // rows refer to it. Two of them would wait for each other.
    document::Entity::find_by_id(id).lock(LockType::NoKeyUpdate).one(tx).await.map(drop)
}

/// Deletes the change request that begins with a document. Returns 409 while one of its loops is active, and 403 unless
/// the caller is its author or an administrator.
pub async fn delete(app: &ControlPlaneState, caller: &Caller, root: document::Model) -> ApiResult<()> {
    let tx = app.store.begin().await?;
    lock_root(&tx, root.id).await?;
    let family = family(&tx, root).await?;
    check_author(caller, &family)?;
    let active = loops_of(&family).filter(agent_loop::Column::Status.is_in(status_values(ACTIVE)));
    if let Some(row) = active.one(&tx).await? {
        return Err(active_loop(&row));
    }
    mark(&tx, caller, &family, Some(now()), AuditAction::DocumentDeleted).await?;
    tx.commit().await?;
    app.bus.publish(Topic::Organization(caller.organization_id()));
    Ok(())
}

fn active_loop(row: &agent_loop::Model) -> ApiError {
    let activity = if row.status.0 == LoopStatus::Running { "is running" } else { "is starting" };
    let text = format!(
        "A loop of this change request ({}) {activity}. Stop it, then delete the change request.",
        row.command.0
    );
    conflict(text).code("loop_active").detail("loopId", row.id.to_string())
}

/// Returns a change request to the lists. `root` is the document that it begins with. Returns 404 unless it is deleted.
pub async fn restore(app: &ControlPlaneState, caller: &Caller, root: document::Model) -> ApiResult<()> {
    let tx = app.store.begin().await?;
    lock_root(&tx, root.id).await?;
    let root = document::Entity::find_by_id(root.id).one(&tx).await?;
    let root = root.filter(|root| root.deleted_at.is_some()).ok_or_else(|| not_found("Change request"))?;
    let family = family(&tx, root).await?;
    check_author(caller, &family)?;
    mark(&tx, caller, &family, None, AuditAction::DocumentRestored).await?;
    tx.commit().await?;
    app.bus.publish(Topic::Organization(caller.organization_id()));
    Ok(())
}

fn check_author(caller: &Caller, family: &Family) -> ApiResult<()> {
    if family.root.user_id == caller.user.id || caller.is_admin() { Ok(()) } else { Err(forbidden()) }
}

async fn mark(
    tx: &DatabaseTransaction,
    caller: &Caller,
    family: &Family,
    deleted_at: Option<i64>,
    action: AuditAction,
) -> Result<(), DbErr> {
    document::Entity::update_many()
        .col_expr(document::Column::DeletedAt, Expr::value(deleted_at))
        .filter(document::Column::Id.is_in(family.ids()))
        .exec(tx)
        .await?;
    change_request::Entity::update_many()
        .col_expr(change_request::Column::UpdatedAt, Expr::value(now()))
        .filter(change_request::Column::DocumentId.eq(family.root.id))
        .exec(tx)
        .await?;
    let details = json!({"slug": family.root.slug, "title": family.root.title});
    caller.actor().record(tx, caller.organization_id(), action, family.root.id, details).await
}

/// Removes deleted documents periodically until shutdown.
pub async fn run(app: ControlPlaneState) {
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = remove(&app.store, now() - RESTORABLE).await {
            tracing::warn!(%error, "failed to remove deleted documents");
        }
    }
}

/// Removes the documents that were deleted before a time.
pub async fn remove(store: &Store, before: i64) -> Result<(), DbErr> {
    document::Entity::delete_many()
        .filter(document::Column::DeletedAt.lt(before))
        .exec(store.writer())
        .await
        .map(drop)
}
