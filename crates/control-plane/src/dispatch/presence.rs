//! Presence of desktops: one without a sign of life for 90 seconds counts as offline.

use std::time::Duration;

use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;

use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::store::entity::compute_target;
use crate::store::now;

/// Milliseconds of silence after which a desktop is offline.
const STALE_AFTER: i64 = 90_000;
/// Time between two sweeps.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// Sweeps until the control plane ends.
pub async fn run(app: ControlPlaneState) {
    let mut ticks = tokio::time::interval(SWEEP_EVERY);
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = sweep(&app, now() - STALE_AFTER).await {
            tracing::warn!(%error, "presence was not swept");
        }
    }
}

/// Marks those as offline that were last seen before an instant.
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
    compute_target::Entity::update_many()
        .col_expr(Column::IsOnline, Expr::value(false))
        .filter(Column::IsOnline.eq(true))
        .filter(Column::LastSeenAt.lt(before))
        .exec(app.store.writer())
        .await?;
    for target in stale {
        app.bus.publish(Topic::Targets(target.organization_id));
    }
    Ok(())
}
