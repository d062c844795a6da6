//! Reports of desktops about the deployments of their loops' worktrees.

use std::collections::{BTreeSet, HashMap};

use loopgate_api::deployment::{DeploymentReport, DeploymentState};
use sea_orm::prelude::*;
use sea_orm::{IntoActiveModel as _, QuerySelect as _};

use super::refresh;
use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::store::column::StoredEnum;
use crate::store::entity::deployment::{Column, Entity, Model};
use crate::store::entity::{agent_loop, compute_target};

/// Replaces the deployments of a desktop, and derives the change requests whose deployments have changed. Ignores loops of
/// other desktops.
pub async fn report(
    app: &ControlPlaneState,
    target: &compute_target::Model,
    reports: Vec<DeploymentReport>,
) -> Result<(), DbErr> {
    let tx = app.store.begin().await?;
    let stored = Entity::find().filter(Column::ComputeTargetId.eq(target.id)).all(&tx).await?;
    let ids = reports.iter().map(|report| report.loop_id).chain(stored.iter().map(|row| row.loop_id));
    let documents: Vec<(Uuid, Option<Uuid>)> = agent_loop::Entity::find()
        .select_only()
        .columns([agent_loop::Column::Id, agent_loop::Column::DocumentId])
        .filter(agent_loop::Column::OrganizationId.eq(target.organization_id))
        .filter(agent_loop::Column::ComputeTargetId.eq(target.id))
        .filter(agent_loop::Column::Id.is_in(ids))
        .into_tuple()
        .all(&tx)
        .await?;
    let documents: HashMap<_, _> = documents.into_iter().collect();
    // The last report about a loop counts.
    let reported: HashMap<Uuid, DeploymentState> = reports
        .into_iter()
        .filter(|report| documents.contains_key(&report.loop_id))
        .map(|report| (report.loop_id, report.state))
        .collect();
    let is_same = |row: &&Model| reported.get(&row.loop_id) == Some(&row.state.0);
    let kept: BTreeSet<Uuid> = stored.iter().filter(is_same).map(|row| row.loop_id).collect();
    let removed: BTreeSet<Uuid> =
        stored.iter().map(|row| row.loop_id).filter(|id| !kept.contains(id)).collect();
    let added = reported.into_iter().filter(|(id, _)| !kept.contains(id)).map(|(loop_id, state)| Model {
        loop_id,
        compute_target_id: target.id,
        state: StoredEnum(state),
    });
    let added: Vec<Model> = added.collect();
    let changed = removed.iter().chain(added.iter().map(|row| &row.loop_id));
    // In the order of their ids, as each refresh locks a document.
    let changed: BTreeSet<Uuid> = changed.filter_map(|id| documents.get(id).copied().flatten()).collect();
    if removed.is_empty() && added.is_empty() {
        return Ok(());
    }
    Entity::delete_many().filter(Column::LoopId.is_in(removed)).exec(&tx).await?;
    for row in added {
        Entity::insert(row.into_active_model().reset_all()).exec_without_returning(&tx).await?;
    }
    for document in changed {
        refresh(&tx, document).await?;
    }
    tx.commit().await?;
    app.bus.publish(Topic::Organization(target.organization_id));
    Ok(())
}

/// Returns the state of the deployment of a change request, given its loops, newest first.
pub async fn state(
    db: &impl ConnectionTrait,
    loops: &[agent_loop::Model],
) -> Result<Option<DeploymentState>, DbErr> {
    let rows = Entity::find().filter(Column::LoopId.is_in(loops.iter().map(|row| row.id))).all(db).await?;
    let of_loop = |row: &agent_loop::Model| rows.iter().find(|deployment| deployment.loop_id == row.id);
    Ok(loops.iter().find_map(of_loop).map(|row| row.state.0))
}
