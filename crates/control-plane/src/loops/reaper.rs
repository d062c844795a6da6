//! Times out loops whose runner has been silent for too long.
//!
//! Only the record changes: silence is no reason to end what may be running on a desktop that sleeps,
//! and [`super::revival`] resumes the loop when its desktop reports it.

use std::time::Duration;

use loopgate_api::command::LoopCommand;
use loopgate_api::event::code;
use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use serde_json::{Value, json};

use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::loop_state::{self, ACTIVE, stored_statuses};
use crate::store::entity::agent_loop;
use crate::store::now;

/// Time between two sweeps.
const EVERY: Duration = Duration::from_mins(5);
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Looks until the control plane ends.
pub async fn run(app: ControlPlaneState) {
    let listens_since = now();
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = reap(&app, now(), listens_since).await {
            tracing::warn!(%error, "loops were not reaped");
        }
    }
}

/// Gives up what is too old at an instant; answers how many loops that were. What runs on a desktop has
/// been silent only since somebody listens: a control plane that was away has heard nobody. One update decides
/// each, so several instances may reap at once.
pub async fn reap(app: &ControlPlaneState, at: i64, listens_since: i64) -> Result<usize, DbErr> {
    let active = agent_loop::Entity::find()
        .filter(agent_loop::Column::Status.is_in(stored_statuses(ACTIVE)))
        .filter(agent_loop::Column::CreatedAt.lt(at - 30 * MINUTE))
        .all(app.store.reader())
        .await?;
    let mut reaped = 0;
    for row in active {
        let Some(reason) = overdue(&row, at, listens_since) else { continue };
        if give_up(app, &row, reason).await? {
            reaped += 1;
        }
    }
    Ok(reaped)
}

/// Why a loop timed out; `None` while it may run.
fn overdue(row: &agent_loop::Model, at: i64, listens_since: i64) -> Option<&'static str> {
    let age = at - row.created_at;
    match row.status.0 {
        LoopStatus::Pending => (age > 30 * MINUTE).then_some("pending"),
        // One that waits for a place on its desktop tells that now and then.
        LoopStatus::Claimed => {
            let heard = row.last_runner_heartbeat_at.unwrap_or(row.created_at).max(listens_since);
            (age > 90 * MINUTE && at - heard > 90 * MINUTE).then_some("claimed")
        }
        LoopStatus::Running if row.command.0 == LoopCommand::Manual => {
            let heard = row.last_runner_heartbeat_at.unwrap_or(row.created_at).max(row.updated_at);
            (at - heard > 7 * DAY).then_some("manual")
        }
        LoopStatus::Running => overdue_running(row, at, listens_since),
        _ => None,
    }
}

fn overdue_running(row: &agent_loop::Model, at: i64, listens_since: i64) -> Option<&'static str> {
    let heartbeats =
        row.runner_capabilities.get("loopRunnerHeartbeatSupported").and_then(Value::as_bool).unwrap_or(false);
    if !heartbeats {
        return (at - row.created_at > DAY).then_some("desktop_legacy_24h");
    }
    match (row.last_runner_heartbeat_at, row.started_at) {
        (Some(heard), _) => (at - heard.max(listens_since) > 2 * HOUR).then_some("desktop_heartbeat_stale"),
        (None, Some(started)) => {
            (at - started.max(listens_since) > 2 * HOUR).then_some("desktop_no_heartbeat")
        }
        (None, None) => None,
    }
}

async fn give_up(app: &ControlPlaneState, row: &agent_loop::Model, reason: &str) -> Result<bool, DbErr> {
    let status = row.status.0.as_str();
    let error = json!({
        "code": code::TIMED_OUT,
        "message": format!("Loop timed out in {status} status (cron safety net)"),
    });
    let reaper = json!({"reaper": {
        "reason": reason,
        "lastHeartbeatAt": row.last_runner_heartbeat_at.map(crate::store::iso),
        "tokenExpiresAt": row.token_expires_at.map(crate::store::iso),
        "eligibilityBranch": reason,
    }});
    let tx = app.store.begin().await?;
    let ended = loop_state::end(&tx, row.id, LoopStatus::TimedOut, error, reaper).await?;
    tx.commit().await?;
    if ended {
        app.bus.publish(Topic::Loop(row.id));
    }
    Ok(ended)
}
