//! Queue of launches: one row per loop that was accepted and whose command is not stored yet.
//!
//! The request that creates a loop inserts the row in its transaction, so that the loop is launched even when
//! this process dies after the response. A row is leased to one instance. When the lease has expired, the
//! instance that the desktop is connected to takes the launch over. The transaction that stores the command
//! deletes the row, so that a launch is never carried out twice.

use std::time::Duration;

use loopgate_api::event::code;
use sea_orm::ActiveValue::Set;
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Condition, Expr};

use super::{command, launch};
use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::error::ApiResult;
use crate::loop_state;
use crate::store::column::StoredEnum;
use crate::store::entity::desktop_command::{self, CommandStatus};
use crate::store::entity::{agent_loop, loop_launch};
use crate::store::now;

// Milliseconds after which another instance may take a launch over. A launch takes a few database statements.
const LEASE: i64 = 4_000;
// Interval at which each instance looks for launches to take over.
const POLL: Duration = Duration::from_secs(1);
// Milliseconds for another instance to take over a launch whose desktop is not connected to this one.
const HANDOVER: i64 = 3_000;
// Milliseconds that an interrupted launch waits for its desktop. Desktops reconnect with backoff, after a
// restart of the control plane within about a minute.
const RECONNECT_LIMIT: i64 = 120_000;
// Attempts after which a launch fails, because each attempt has interrupted its process.
const ATTEMPT_LIMIT: i64 = 5;

/// The right to launch a loop, until the lease expires.
#[derive(Debug, Clone, Copy)]
pub struct LaunchLease {
    pub loop_id: Uuid,
    attempt: i64,
}

impl LaunchLease {
    /// Returns the lease of the process that inserted the row.
    pub const fn first(loop_id: Uuid) -> Self {
        Self { loop_id, attempt: 1 }
    }

    /// Deletes the row, in the transaction that stores the command. Returns false when the lease has passed
    /// to another instance, or the loop has ended; then the transaction must be rolled back.
    pub async fn complete(self, tx: &DatabaseTransaction) -> Result<bool, DbErr> {
        let deleted = loop_launch::Entity::delete_many()
            .filter(loop_launch::Column::LoopId.eq(self.loop_id))
            .filter(loop_launch::Column::Attempts.eq(self.attempt))
            .exec(tx)
            .await?;
        Ok(deleted.rows_affected == 1)
    }

    /// Leaves an unsigned launch to the instance that its desktop is connected to. Returns false when no
    /// other instance can have the connection.
    pub async fn hand_over(self, app: &ControlPlaneState, target_id: Uuid) -> Result<bool, DbErr> {
        use loop_launch::Column;
        // A launch that was interrupted waits for its desktop, which has lost its connection as well.
        if app.store.is_embedded() && self.attempt == 1 {
            return Ok(false);
        }
        let update = loop_launch::Entity::update_many()
            .col_expr(Column::Owner, Expr::value(None::<Uuid>))
            .col_expr(Column::LeasedUntil, Expr::value(0))
            .filter(Column::LoopId.eq(self.loop_id))
            .filter(Column::Attempts.eq(self.attempt))
            .filter(Column::IsSigned.eq(false))
            .exec(app.store.writer())
            .await?;
        if update.rows_affected == 1 {
            app.bus.publish(Topic::Desktop(target_id));
        }
        Ok(update.rows_affected == 1)
    }
}

/// Inserts the launch of a new loop, leased to this process.
pub async fn insert(
    app: &ControlPlaneState,
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    is_signed: bool,
) -> Result<(), DbErr> {
    let target_id =
        row.compute_target_id.ok_or_else(|| DbErr::RecordNotFound("compute target".to_owned()))?;
    let launch = loop_launch::ActiveModel {
        loop_id: Set(row.id),
        compute_target_id: Set(target_id),
        is_signed: Set(is_signed),
        owner: Set(Some(app.instance_id)),
        leased_until: Set(now() + LEASE),
        attempts: Set(1),
        created_at: Set(now()),
    };
    loop_launch::Entity::insert(launch).exec_without_returning(tx).await.map(drop)
}

/// Takes over interrupted launches until shutdown.
pub async fn run(app: ControlPlaneState) {
    let started_at = now();
    let mut desktops = app.bus.desktops();
    let mut ticks = tokio::time::interval(POLL);
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = desktops.next() => {}
            _ = ticks.tick() => {}
        }
        if let Err(error) = take_over(&app, started_at).await {
            tracing::warn!(error = %error.body.error, "failed to take over interrupted launches");
        }
        if let Err(error) = expire_undelivered(&app, now()).await {
            tracing::warn!(%error, "failed to expire undelivered launches");
        }
    }
}

/// Launches, or fails, the loops whose lease has expired.
async fn take_over(app: &ControlPlaneState, started_at: i64) -> ApiResult<()> {
    use loop_launch::Column;
    // SQLite has one process, so leases of other instances belong to an earlier run.
    let is_abandoned = app.store.is_embedded().then(|| Column::Owner.ne(app.instance_id));
    let expired = Condition::any().add(Column::LeasedUntil.lt(now())).add_option(is_abandoned);
    for row in loop_launch::Entity::find().filter(expired).all(app.store.reader()).await? {
        if row.is_signed {
            let text =
                "The control plane was interrupted before it sent the signed command. Start the loop again.";
            launch::fail(app, row.loop_id, code::SPAWN_FAILED, text).await?;
        } else if row.attempts >= ATTEMPT_LIMIT {
            let text = format!("The launch was interrupted {ATTEMPT_LIMIT} times. Start the loop again.");
            launch::fail(app, row.loop_id, code::SPAWN_FAILED, &text).await?;
        } else if app.desktops.is_connected(row.compute_target_id) {
            if let Some(lease) = lease(app, &row).await? {
                launch::spawn(app, lease, None);
            }
        } else if now() - row.created_at.max(started_at) > wait_limit(&row) {
            launch::fail_unconnected(app, row.loop_id, row.compute_target_id).await?;
        }
    }
    Ok(())
}

const fn wait_limit(row: &loop_launch::Model) -> i64 {
    if row.owner.is_none() && row.attempts == 1 { HANDOVER } else { RECONNECT_LIMIT }
}

async fn lease(app: &ControlPlaneState, row: &loop_launch::Model) -> Result<Option<LaunchLease>, DbErr> {
    use loop_launch::Column;
    let attempt = row.attempts + 1;
    let update = loop_launch::Entity::update_many()
        .col_expr(Column::Owner, Expr::value(app.instance_id))
        .col_expr(Column::LeasedUntil, Expr::value(now() + LEASE))
        .col_expr(Column::Attempts, Expr::value(attempt))
        .filter(Column::LoopId.eq(row.loop_id))
        // Compare-and-swap: of several instances, one gets the lease.
        .filter(Column::Attempts.eq(row.attempts))
        .exec(app.store.writer())
        .await?;
    Ok((update.rows_affected == 1).then_some(LaunchLease { loop_id: row.loop_id, attempt }))
}

/// Fails loops whose launch command no desktop has received before its expiry, because the control plane was
/// interrupted after it had stored the command, and the desktop never returned.
pub async fn expire_undelivered(app: &ControlPlaneState, at: i64) -> Result<(), DbErr> {
    use desktop_command::Column;
    let limit = i64::try_from(launch::EXPIRES_AFTER.as_millis()).unwrap_or(i64::MAX);
    let overdue = desktop_command::Entity::find()
        .filter(Column::Status.eq(StoredEnum(CommandStatus::Queued)))
        .filter(Column::CreatedAt.lt(at - limit))
        .filter(Column::LoopId.is_not_null())
        .all(app.store.reader())
        .await?;
    for command in overdue {
        let tx = app.store.begin().await?;
        let text = "The machine did not connect in time to receive the loop. Start the loop again.";
        if command::expire(&tx, command.id, text).await?
            && let Some(loop_id) = command.loop_id
        {
            loop_state::fail(&tx, loop_id, code::PRE_RUN_VALIDATION_FAILED, text).await?;
            tx.commit().await?;
            app.bus.publish(Topic::Loop(loop_id));
        }
    }
    Ok(())
}
