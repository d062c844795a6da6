//! Findings of reviews that wait for a decision.
//!
//! The findings themselves are files in the worktree on the machine, which reports their number when a review has ended. A
//! page through which a person decides about one reports how many remain.

use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{IntoActiveModel as _, QuerySelect as _};

use super::refresh_of_loop;
use crate::store::Store;
use crate::store::entity::open_findings::{Column, Entity, Model};

/// Stores how many findings about the changes of a loop in a repository are open. Returns whether that has changed.
pub async fn report(store: &Store, row: Model) -> Result<bool, DbErr> {
    let loop_id = row.loop_id;
    let tx = store.begin().await?;
    let stored = Entity::find_by_id((loop_id, row.repository.clone())).one(&tx).await?;
    if stored.map_or(0, |stored| stored.count) == row.count {
        return Ok(false);
    }
    if row.count == 0 {
        Entity::delete_by_id((loop_id, row.repository)).exec(&tx).await?;
    } else {
        let replace =
            OnConflict::columns([Column::LoopId, Column::Repository]).update_column(Column::Count).to_owned();
        let new = row.into_active_model().reset_all();
        Entity::insert(new).on_conflict(replace).exec_without_returning(&tx).await?;
    }
    refresh_of_loop(&tx, loop_id).await?;
    tx.commit().await?;
    Ok(true)
}

/// Returns how many findings about the changes of a loop are open.
pub async fn count(db: &impl ConnectionTrait, loop_id: Uuid) -> Result<u64, DbErr> {
    let counts: Vec<i32> = Entity::find()
        .select_only()
        .column(Column::Count)
        .filter(Column::LoopId.eq(loop_id))
        .into_tuple()
        .all(db)
        .await?;
    Ok(counts.into_iter().filter_map(|count| u64::try_from(count).ok()).sum())
}
