//! Presence of desktops: a desktop without a message for 90 seconds counts as offline.

use std::time::Duration;

use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;

use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::change_requests;
use crate::store::entity::compute_target;
use crate::store::now;

// Milliseconds without a message after which a desktop counts as offline; tolerates missed heartbeats and a
// reconnect.
const STALE_AFTER: i64 = 90_000;
// Interval between two sweeps.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// Sweeps periodically until shutdown.
pub async fn run(app: ControlPlaneState) {
    let mut ticks = tokio::time::interval(SWEEP_EVERY);
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = sweep(&app, now() - STALE_AFTER).await {
            tracing::warn!(%error, "failed to sweep stale desktops");
        }
    }
}

/// Marks desktops as offline whose last message is older than `before`.
pub async fn sweep(app: &ControlPlaneState, before: i64) -> Result<(), DbErr> {
    use compute_target::Column;
    let stale = compute_target::Entity::find()
        .filter(Column::IsOnline.eq(true))
        .filter(Column::LastSeenAt.lt(before))
        .all(app.store.reader())
        .await?;
    if stale.is_empty() {
        return Ok(());
    }
    // Repeats the condition: a desktop may have reconnected since the query.
    compute_target::Entity::update_many()
        .col_expr(Column::IsOnline, Expr::value(false))
        .filter(Column::IsOnline.eq(true))
        .filter(Column::LastSeenAt.lt(before))
        .exec(app.store.writer())
        .await?;
    for target in stale {
        change_requests::refresh_waiting(&app.store, target.id).await?;
        app.bus.publish(Topic::Organization(target.organization_id));
    }
    Ok(())
}
