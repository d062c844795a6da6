//! What a loop waits for before or while it runs, as its desktop reports it with `output` events.

use loopgate_api::event_body::{ApprovalDetails, EventBody, QueuePlace, StallKind, StallState};
use loopgate_api::job::LoopStatus;
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::entity::agent_loop;
use crate::store::parse_json;

/// What a loop waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoopActivity {
    /// For the approval of its desktop's owner.
    Approval(ApprovalDetails),
    /// In the queue of its desktop.
    Queue(QueuePlace),
    /// For the reset of a usage limit of the assistant.
    UsageLimit {
        /// Time of the reset, ISO 8601; absent when unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<String>,
    },
    /// For a program or a model that does not respond.
    Stuck {
        /// Command line of the inactive program; absent when the model does not respond.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
}

/// A change of the activity by an event.
#[derive(Debug, PartialEq, Eq)]
enum ActivityChange {
    Keep,
    Set(Option<LoopActivity>),
}

/// Returns what an event says about the activity. A text says nothing; all other events are proof that the loop no
/// longer waits.
fn change(event: &EventBody) -> ActivityChange {
    ActivityChange::Set(match event {
        EventBody::Output(_) => return ActivityChange::Keep,
        EventBody::Approval(event) => Some(LoopActivity::Approval(event.approval.clone())),
        EventBody::Queue(event) => Some(LoopActivity::Queue(event.queue)),
        EventBody::Stall(event) => stall(event.stall.clone()),
        _ => None,
    })
}

fn stall(stall: StallState) -> Option<LoopActivity> {
    match stall.state {
        StallKind::WaitingForLimit => Some(LoopActivity::UsageLimit { until: stall.until }),
        StallKind::Stuck => Some(LoopActivity::Stuck { command: stall.command }),
        StallKind::Working | StallKind::WaitingForModel => None,
    }
}

/// Returns what a loop waits for; `None` for a loop that has ended.
pub fn of(row: &agent_loop::Model) -> Option<LoopActivity> {
    let waits = matches!(row.status.0, LoopStatus::Pending | LoopStatus::Claimed | LoopStatus::Running);
    parse_json(row.activity.as_ref()).filter(|_| waits)
}

/// Stores what an event says about the activity of a loop. Returns whether that has changed.
pub async fn update(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    event: &EventBody,
) -> Result<bool, DbErr> {
    let ActivityChange::Set(activity) = change(event) else { return Ok(false) };
    if activity == parse_json(row.activity.as_ref()) {
        return Ok(false);
    }
    let stored = activity.map(serde_json::to_value).transpose();
    let stored = stored.map_err(|error| DbErr::Json(error.to_string()))?;
    agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::Activity, Expr::value(stored))
        .filter(agent_loop::Column::Id.eq(row.id))
        .exec(tx)
        .await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn after(body: Value) -> ActivityChange {
        let kind = body["type"].as_str().unwrap();
        change(&EventBody::read(kind, body.as_object().unwrap()))
    }

    #[test]
    fn activity_is_set_by_its_members_and_ended_by_other_events() {
        let approval =
            json!({"id": "7f", "command": "loopgate approve 7f", "waitsUntil": "2026-05-11T08:30:00Z"});
        let waits = after(json!({"type": "output", "chunk": "Waiting", "approval": approval}));
        assert!(
            matches!(waits, ActivityChange::Set(Some(LoopActivity::Approval(approval))) if approval.id == "7f")
        );
        let queued = after(json!({"type": "output", "chunk": "Queued", "queue": {"place": 2, "waiting": 4}}));
        assert_eq!(
            queued,
            ActivityChange::Set(Some(LoopActivity::Queue(QueuePlace { place: 2, waiting: 4 })))
        );
        let limit =
            json!({"type": "output", "chunk": "", "stall": {"state": "waiting-for-limit", "until": "15:00"}});
        assert_eq!(
            after(limit),
            ActivityChange::Set(Some(LoopActivity::UsageLimit { until: Some("15:00".to_owned()) }))
        );
        let active = json!({"type": "output", "chunk": "", "stall": {"state": "working"}});
        assert_eq!(after(active), ActivityChange::Set(None));
        assert_eq!(after(json!({"type": "output", "chunk": "text"})), ActivityChange::Keep);
        assert_eq!(after(json!({"type": "started"})), ActivityChange::Set(None));
    }

    #[test]
    fn event_with_a_malformed_member_is_a_text() {
        let queue = json!({"type": "output", "chunk": "", "queue": {"place": "x"}});
        assert_eq!(after(queue), ActivityChange::Keep);
        assert_eq!(after(json!({"type": "output", "chunk": "", "stall": 5})), ActivityChange::Keep);
    }
}
