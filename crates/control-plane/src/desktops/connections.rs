//! Which instance holds the connection of each desktop.
//!
//! A desktop has one row, of its newest connection. It is written after the hello, and removed at the end of that
//! connection. An instance that holds a connection whose row is another's closes it. Instances report that they
//! are alive; the connections of one that does not have ended.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use loopgate_link::server::DesktopSession;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict, Query};

use super::register;
use crate::app::ControlPlaneState;
use crate::bus::{Topic, WokenDesktops};
use crate::change_requests;
use crate::store::entity::desktop_connection::{self, Column};
use crate::store::entity::{compute_target, instance};
use crate::store::{DATABASE_NOW, Store};

// Interval of the reports of an instance, and of the checks that no notification has caused.
const EVERY: Duration = Duration::from_secs(5);
// Milliseconds without a report after which an instance is considered dead.
const DEAD_AFTER: i64 = 10_000;
// Ids per query; keeps the number of bind parameters well below the database's limit.
const BATCH: usize = 500;

/// Stores a connection as the current one of its desktop. An older one, at any instance, is closed.
pub async fn open(store: &Store, target: Uuid, session: Uuid, instance: Uuid) -> Result<(), DbErr> {
    let replace = OnConflict::column(Column::ComputeTargetId)
        .update_columns([Column::SessionId, Column::InstanceId])
        .to_owned();
    desktop_connection::Entity::insert(connection(target, session, instance))
        .on_conflict(replace)
        .exec_without_returning(store.writer())
        .await
        .map(drop)
}

/// Removes a connection that has ended. Returns whether it was the current one of its desktop.
pub async fn close(store: &Store, session: &DesktopSession) -> Result<bool, DbErr> {
    let deleted = desktop_connection::Entity::delete_many()
        .filter(Column::ComputeTargetId.eq(session.target_id))
        .filter(Column::SessionId.eq(session.session_id))
        .exec(store.writer())
        .await?;
    Ok(deleted.rows_affected == 1)
}

const fn connection(target: Uuid, session: Uuid, instance: Uuid) -> desktop_connection::ActiveModel {
    desktop_connection::ActiveModel {
        compute_target_id: Set(target),
        session_id: Set(session),
        instance_id: Set(instance),
    }
}

/// Reports this instance, closes superseded connections, and ends those of dead instances, until shutdown.
pub async fn run(app: ControlPlaneState) {
    if app.store.is_embedded() {
        return;
    }
    let mut desktops = app.bus.desktops();
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        let result = tokio::select! {
            () = app.shutdown.cancelled() => return,
            woken = desktops.next() => check(&app, &woken).await,
            _ = ticks.tick() => tick(&app).await,
        };
        if let Err(error) = result {
            tracing::warn!(%error, "failed to check the connections of desktops");
        }
    }
}

async fn tick(app: &ControlPlaneState) -> Result<(), DbErr> {
    report(app).await?;
    check(app, &WokenDesktops::All).await?;
    bury(app).await
}

/// Reports that this instance is alive. Another instance may have considered it dead, for example because it was
/// suspended; then it stores its connections again.
pub async fn report(app: &ControlPlaneState) -> Result<(), DbErr> {
    if touch(app).await? {
        return Ok(());
    }
    let row = instance::ActiveModel {
        id: Set(app.instance_id),
        version: Set(env!("CARGO_PKG_VERSION").to_owned()),
        seen_at: Set(0),
    };
    let keep = OnConflict::column(instance::Column::Id).do_nothing().to_owned();
    instance::Entity::insert(row).on_conflict(keep).exec_without_returning(app.store.writer()).await?;
    touch(app).await?;
    for session in app.desktops.sessions() {
        let row = connection(session.target_id, session.session_id, app.instance_id);
        // A newer connection of the desktop keeps its row, and the next check closes this one.
        let keep = OnConflict::column(Column::ComputeTargetId).do_nothing().to_owned();
        let insert = desktop_connection::Entity::insert(row).on_conflict(keep);
        if insert.exec_without_returning(app.store.writer()).await? == 1
            && register::set_online(&app.store, session.target_id, true).await?
        {
            app.bus.publish(Topic::Organization(session.identity.organization_id));
        }
    }
    Ok(())
}

/// Returns false when the row of this instance does not exist.
async fn touch(app: &ControlPlaneState) -> Result<bool, DbErr> {
    let update = instance::Entity::update_many()
        .col_expr(instance::Column::SeenAt, Expr::cust(DATABASE_NOW))
        .filter(instance::Column::Id.eq(app.instance_id))
        .exec(app.store.writer())
        .await?;
    Ok(update.rows_affected == 1)
}

/// Closes connections that a newer one at another instance has superseded, and those of removed desktops.
async fn check(app: &ControlPlaneState, woken: &WokenDesktops) -> Result<(), DbErr> {
    let held: Vec<DesktopSession> =
        app.desktops.sessions().into_iter().filter(|session| woken.contains(session.target_id)).collect();
    for batch in held.chunks(BATCH) {
        let current: HashMap<Uuid, Uuid> = desktop_connection::Entity::find()
            .filter(Column::ComputeTargetId.is_in(batch.iter().map(|session| session.target_id)))
            .all(app.store.reader())
            .await?
            .into_iter()
            .map(|row| (row.compute_target_id, row.session_id))
            .collect();
        for session in batch {
            match current.get(&session.target_id) {
                Some(current) if *current == session.session_id => {}
                Some(_) => app.desktops.supersede(session),
                None => app.desktops.close_target(session.target_id),
            }
        }
    }
    Ok(())
}

/// Sets the desktops of dead instances offline. Several instances may do this at once.
pub async fn bury(app: &ControlPlaneState) -> Result<(), DbErr> {
    let tx = app.store.begin().await?;
    instance::Entity::delete_many()
        .filter(Expr::col(instance::Column::SeenAt).lt(Expr::cust(DATABASE_NOW).sub(DEAD_AFTER)))
        .exec(&tx)
        .await?;
    let alive = Query::select().column(instance::Column::Id).from(instance::Entity).to_owned();
    let ended = desktop_connection::Entity::delete_many()
        .filter(Column::InstanceId.not_in_subquery(alive))
        .exec_with_returning(&tx)
        .await?;
    let ids: HashSet<Uuid> = ended.into_iter().map(|row| row.compute_target_id).collect();
    if ids.is_empty() {
        return tx.commit().await;
    }
    // A desktop may have connected to another instance in the meantime.
    let connected =
        Query::select().column(Column::ComputeTargetId).from(desktop_connection::Entity).to_owned();
    let offline = compute_target::Entity::update_many()
        .col_expr(compute_target::Column::IsOnline, Expr::value(false))
        .filter(compute_target::Column::Id.is_in(ids))
        .filter(compute_target::Column::Id.not_in_subquery(connected))
        .exec_with_returning(&tx)
        .await?;
    tx.commit().await?;
    for target in offline {
        change_requests::refresh_waiting(&app.store, target.id).await?;
        app.bus.publish(Topic::Organization(target.organization_id));
    }
    Ok(())
}
