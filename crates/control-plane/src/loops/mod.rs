//! Loops: how they come to be, change and end.
//!
//! Owns the records of loops, their events and tokens, and what is shown of them. A status changes in
//! [`crate::loop_state`] alone; events of runners come in by [`crate::ingest`].

pub mod create;
pub mod events;
pub mod reaper;
pub mod refresh;
pub mod revival;
pub mod summaries;
pub mod view;

use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::{DatabaseTransaction, QuerySelect};

use crate::error::{ApiResult, not_found};
use crate::store::entity::agent_loop;

/// The loop of an organization, or the answer for an unknown one.
pub async fn find(
    db: &impl sea_orm::ConnectionTrait,
    organization_id: Uuid,
    id: Uuid,
) -> ApiResult<agent_loop::Model> {
    of_organization(organization_id, id).one(db).await?.ok_or_else(|| not_found("Loop"))
}

/// The same, held until the transaction ends.
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

/// Status of a loop; `None` when it was deleted.
pub async fn status(store: &crate::store::Store, id: Uuid) -> Result<Option<LoopStatus>, DbErr> {
    Ok(agent_loop::Entity::find_by_id(id).one(store.reader()).await?.map(|row| row.status.0))
}
