//! Times out loops without a heartbeat.
//!
//! Only the record changes. The desktop may be asleep while its processes still exist, so nothing is killed;
//! [`super::revival`] resumes the loop when its desktop reports it.

use std::time::Duration;

use loopgate_api::command::LoopCommand;
use loopgate_api::event::code;
use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use serde_json::{Value, json};

use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::loop_state::{self, ACTIVE, status_values};
use crate::store::entity::agent_loop;
use crate::store::now;

// Interval between two sweeps; the limits below are much longer.
const EVERY: Duration = Duration::from_mins(5);
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Sweeps periodically until shutdown.
pub async fn run(app: ControlPlaneState) {
    let listening_since = now();
    // The first sweep runs one interval after the start. A restarted control plane first lets
    // the launch queue resume interrupted launches, which may be older than the limit of a pending loop. The
    // delay loses nothing: silence counts from `listening_since`, and every limit is longer than the
    // interval.
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + EVERY, EVERY);
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = reap(&app, now(), listening_since).await {
            tracing::warn!(%error, "failed to time out loops");
        }
    }
}

/// Times out overdue loops and returns their number. Silence counts from `listening_since`, the start of this
/// process, so that downtime of the control plane times out nothing. Each transition is one conditional
/// update, so several instances may sweep concurrently.
pub async fn reap(app: &ControlPlaneState, at: i64, listening_since: i64) -> Result<usize, DbErr> {
    let active = agent_loop::Entity::find()
        .filter(agent_loop::Column::Status.is_in(status_values(ACTIVE)))
        // The shortest limit below; newer loops cannot be overdue.
        .filter(agent_loop::Column::CreatedAt.lt(at - 30 * MINUTE))
        .all(app.store.reader())
        .await?;
    let mut reaped = 0;
    for row in active {
        let Some(reason) = overdue(&row, at, listening_since) else { continue };
        if time_out(app, &row, reason).await? {
            reaped += 1;
        }
    }
    Ok(reaped)
}

/// Returns the reason why a loop is overdue, or `None`.
fn overdue(row: &agent_loop::Model, at: i64, listening_since: i64) -> Option<&'static str> {
    let age = at - row.created_at;
    match row.status.0 {
        // A launch takes seconds, and after a restart waits at most two minutes for its desktop.
        LoopStatus::Pending => (age > 30 * MINUTE).then_some("pending"),
        // A loop queued on its desktop reports that by events, which update the time of the last heartbeat.
        LoopStatus::Claimed => {
            let last_contact = row.last_runner_heartbeat_at.unwrap_or(row.created_at).max(listening_since);
            (age > 90 * MINUTE && at - last_contact > 90 * MINUTE).then_some("claimed")
        }
        LoopStatus::Running if row.command.0 == LoopCommand::Manual => {
            // Users work on MANUAL loops for days without reporting anything.
            let last_contact = row.last_runner_heartbeat_at.unwrap_or(row.created_at).max(row.updated_at);
            (at - last_contact > 7 * DAY).then_some("manual")
        }
        LoopStatus::Running => overdue_running(row, at, listening_since),
        _ => None,
    }
}

fn overdue_running(row: &agent_loop::Model, at: i64, listening_since: i64) -> Option<&'static str> {
    let heartbeats =
        row.runner_capabilities.get("loopRunnerHeartbeatSupported").and_then(Value::as_bool).unwrap_or(false);
    // Older desktops send no heartbeats, so only the age is known.
    if !heartbeats {
        return (at - row.created_at > DAY).then_some("desktop_legacy_24h");
    }
    match (row.last_runner_heartbeat_at, row.started_at) {
        (Some(last_contact), _) => {
            (at - last_contact.max(listening_since) > 2 * HOUR).then_some("desktop_heartbeat_stale")
        }
        (None, Some(started)) => {
            (at - started.max(listening_since) > 2 * HOUR).then_some("desktop_no_heartbeat")
        }
        (None, None) => None,
    }
}

async fn time_out(app: &ControlPlaneState, row: &agent_loop::Model, reason: &str) -> Result<bool, DbErr> {
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
    let timed_out = loop_state::end(&tx, row.id, LoopStatus::TimedOut, error, reaper).await?;
    tx.commit().await?;
    if timed_out {
        app.bus.publish(Topic::Loop(row.id));
        app.bus.publish(Topic::Organization(row.organization_id));
    }
    Ok(timed_out)
}
