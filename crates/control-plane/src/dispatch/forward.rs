//! Delivery of commands and cancellations that another instance has stored: a request arrives at any instance, and
//! the desktop is connected to one of them.

use std::time::Duration;

use sea_orm::QueryOrder;
use sea_orm::prelude::*;
use sea_orm::sea_query::Condition;

use crate::app::ControlPlaneState;
use crate::bus::WokenDesktops;
use crate::desktops::OutstandingCommand;
use crate::error::ApiResult;
use crate::store::column::StoredEnum;
use crate::store::entity::desktop_command::{self, Column, CommandStatus};
use crate::store::now;

// Interval between two reads of the table that no notification has caused.
const POLL: Duration = Duration::from_secs(5);
// Milliseconds in which a desktop acknowledges what the instance that stored it has delivered itself.
const OWN_DELIVERY: i64 = 1_000;
// Milliseconds after which a command is no longer delivered again. A desktop that connects receives all
// outstanding commands anyway.
const WINDOW: i64 = 60_000;

/// Forwards until shutdown.
pub async fn run(app: ControlPlaneState) {
    if app.store.is_embedded() {
        return;
    }
    let mut desktops = app.bus.desktops();
    let mut ticks = tokio::time::interval(POLL);
    loop {
        let result = tokio::select! {
            () = app.shutdown.cancelled() => return,
            woken = desktops.next() => forward_to(&app, &woken, now()).await,
            _ = ticks.tick() => forward(&app, now()).await,
        };
        if let Err(error) = result {
            tracing::warn!(error = %error.body.error, "failed to forward commands of other instances");
        }
    }
}

/// Sends unacknowledged commands and recent cancellations to the desktops that are connected to this instance.
/// A desktop ignores a command that it has received before.
pub async fn forward(app: &ControlPlaneState, at: i64) -> ApiResult<()> {
    let is_recent = |column: Column| Condition::all().add(column.between(at - WINDOW, at - OWN_DELIVERY));
    let queued = queued().add(is_recent(Column::CreatedAt));
    send(app, Condition::any().add(queued).add(is_recent(Column::CancelRequestedAt))).await
}

/// Sends them to those of the woken desktops that are connected to this instance.
async fn forward_to(app: &ControlPlaneState, woken: &WokenDesktops, at: i64) -> ApiResult<()> {
    let WokenDesktops::Some(ids) = woken else { return forward(app, at).await };
    let connected: Vec<Uuid> = ids.iter().copied().filter(|id| app.desktops.is_connected(*id)).collect();
    if connected.is_empty() {
        return Ok(());
    }
    // Of any age: the clock of the instance that has stored a command may differ.
    let outstanding = Condition::any().add(queued()).add(Column::CancelRequestedAt.is_not_null());
    send(app, Condition::all().add(Column::ComputeTargetId.is_in(connected)).add(outstanding)).await
}

fn queued() -> Condition {
    Condition::all()
        .add(Column::Status.eq(StoredEnum(CommandStatus::Queued)))
        .add(Column::CancelRequestedAt.is_null())
}

async fn send(app: &ControlPlaneState, which: Condition) -> ApiResult<()> {
    let rows = desktop_command::Entity::find()
        .filter(Column::Status.is_in(CommandStatus::OPEN.map(StoredEnum)))
        .filter(which)
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id)
        .all(app.store.reader())
        .await?;
    for row in rows {
        let target = row.compute_target_id;
        if !app.desktops.is_connected(target) {
            continue;
        }
        // The connection may end at any time; the desktop then receives the command when it returns.
        let _ = match app.desktops.host().outstanding_command(row).await? {
            Some(OutstandingCommand::Deliver(request)) => app.desktops.deliver(target, &request),
            Some(OutstandingCommand::Cancel(cancel)) => app.desktops.cancel(target, &cancel),
            None => continue,
        };
    }
    Ok(())
}
