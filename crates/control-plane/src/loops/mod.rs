//! Loops: creation, events, tokens and views.
//!
//! The status of a loop changes only in [`crate::loop_state`]; events of runners are stored by
//! [`crate::ingest`].

pub mod activity;
pub mod contents;
pub mod create;
pub mod event_ranges;
pub mod events;
pub mod list;
pub mod options;
pub mod reaper;
pub mod refresh;
pub mod revival;
pub mod summaries;
pub mod usage;
pub mod view;

use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::{DatabaseTransaction, QuerySelect};

use crate::error::{ApiResult, not_found};
use crate::store::column::StoredEnum;
use crate::store::entity::agent_loop;

/// Returns a loop of an organization. Returns 404 when it does not exist or belongs to another organization.
pub async fn find(
    db: &impl sea_orm::ConnectionTrait,
    organization_id: Uuid,
    id: Uuid,
) -> ApiResult<agent_loop::Model> {
    of_organization(organization_id, id).one(db).await?.ok_or_else(|| not_found("Loop"))
}

/// Like [`find`], and locks the row until the end of the transaction.
pub async fn find_locked(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    id: Uuid,
) -> ApiResult<agent_loop::Model> {
    of_organization(organization_id, id).lock_exclusive().one(tx).await?.ok_or_else(|| not_found("Loop"))
}

fn of_organization(organization_id: Uuid, id: Uuid) -> Select<agent_loop::Entity> {
    agent_loop::Entity::find_by_id(id).filter(agent_loop::Column::OrganizationId.eq(organization_id))
}

/// Returns the status of a loop; `None` when it was deleted.
pub async fn status(store: &crate::store::Store, id: Uuid) -> Result<Option<LoopStatus>, DbErr> {
    let status = agent_loop::Entity::find_by_id(id).select_only().column(agent_loop::Column::Status);
    let status: Option<StoredEnum<LoopStatus>> = status.into_tuple().one(store.reader()).await?;
    Ok(status.map(|status| status.0))
}
