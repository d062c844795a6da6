//! Diagnostics of crashed loops, reported by desktops; the latest are stored for each loop.

use loopgate_api::link::{APPROVAL_POLICIES_CHANGED, Telemetry};
use loopgate_link::server::DesktopSession;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde_json::{Value, json};

use crate::audit::{Actor, AuditAction};
use crate::nul;
use crate::store::entity::{agent_loop, loop_diagnostics};
use crate::store::{Store, now};

// Telemetry categories whose diagnostics are stored.
const CATEGORIES: [&str; 2] = ["job.failed", "job.cancelled"];
// Largest stored diagnostics, in bytes of JSON. Desktops truncate each tail to 4 KiB.
const SIZE_LIMIT: usize = 64 * 1024;

/// Records changed approval policies of a desktop in the audit log: they decide what runs on the machine.
/// Returns whether the telemetry reported any.
pub async fn record_policies(
    store: &Store,
    session: &DesktopSession,
    telemetry: &Telemetry,
) -> Result<bool, DbErr> {
    if telemetry.category != APPROVAL_POLICIES_CHANGED {
        return Ok(false);
    }
    let mut policies = Value::Object(telemetry.diagnostics.clone().unwrap_or_default());
    nul::replace(&mut policies);
    if policies.to_string().len() > SIZE_LIMIT {
        policies = json!({"truncated": true});
    }
    let identity = session.identity;
    let actor = Actor { key_id: Some(identity.key_id), ..Actor::user(identity.user_id) };
    let action = AuditAction::ApprovalPoliciesReported;
    actor.record(store.writer(), identity.organization_id, action, session.target_id, policies).await?;
    Ok(true)
}

/// Stores the diagnostics of a telemetry event for its loop. Returns the loop's id, or `None` when nothing
/// was stored.
pub async fn store(
    store: &Store,
    session: &DesktopSession,
    telemetry: &Telemetry,
) -> Result<Option<Uuid>, DbErr> {
    if !CATEGORIES.contains(&telemetry.category.as_str()) {
        return Ok(None);
    }
    let loop_id = telemetry.trace.loop_id.as_deref().and_then(|id| id.parse::<Uuid>().ok());
    let (Some(loop_id), Some(diagnostics)) = (loop_id, &telemetry.diagnostics) else { return Ok(None) };
    let mut diagnostics = Value::Object(diagnostics.clone());
    nul::replace(&mut diagnostics);
    if diagnostics.to_string().len() > SIZE_LIMIT {
        tracing::warn!(%loop_id, "loop diagnostics too large, dropped");
        return Ok(None);
    }
    // The loop id is part of the payload: a desktop may only report its own loops.
    let matching = agent_loop::Entity::find_by_id(loop_id)
        .filter(agent_loop::Column::ComputeTargetId.eq(session.target_id))
        .filter(agent_loop::Column::OrganizationId.eq(session.identity.organization_id))
        .count(store.reader())
        .await?;
    if matching == 0 {
        return Ok(None);
    }
    let row = loop_diagnostics::ActiveModel {
        loop_id: Set(loop_id),
        diagnostics: Set(diagnostics),
        created_at: Set(now()),
    };
    let replace = OnConflict::column(loop_diagnostics::Column::LoopId)
        .update_columns([loop_diagnostics::Column::Diagnostics, loop_diagnostics::Column::CreatedAt])
        .to_owned();
    loop_diagnostics::Entity::insert(row).on_conflict(replace).exec_without_returning(store.writer()).await?;
    Ok(Some(loop_id))
}
