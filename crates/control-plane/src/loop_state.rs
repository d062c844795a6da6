//! The only place that changes the status of a loop.
//!
//! A transition is a conditional update: it applies only from the statuses that allow it, in the same
//! transaction as the event that caused it. A caller that loses a race receives the current status and
//! decides again.

use loopgate_api::job::LoopStatus;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{DatabaseTransaction, QuerySelect, UpdateMany};
use serde_json::{Value, json};

use crate::change_requests;
use crate::loops::usage::{self, LoopUsage};
use crate::store::column::StoredEnum;
use crate::store::entity::loop_event::{self, EventSource};
use crate::store::entity::{agent_loop, loop_event_value, loop_launch, loop_token_refresh};
use crate::store::now;

pub const ALL: [LoopStatus; 8] = [
    LoopStatus::Pending,
    LoopStatus::Claimed,
    LoopStatus::Running,
    LoopStatus::Completed,
    LoopStatus::Failed,
    LoopStatus::Cancelled,
    LoopStatus::TimedOut,
    LoopStatus::AwaitingUser,
];

/// Statuses in which a loop occupies a slot of its user's concurrency limit.
pub const ACTIVE: [LoopStatus; 3] = [LoopStatus::Pending, LoopStatus::Claimed, LoopStatus::Running];

/// Wraps statuses for use in a filter.
pub fn status_values(statuses: impl IntoIterator<Item = LoopStatus>) -> Vec<StoredEnum<LoopStatus>> {
    statuses.into_iter().map(StoredEnum).collect()
}

/// The outcome of a status change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionResult {
    Applied,
    /// The current status, which does not allow the change.
    Refused(LoopStatus),
}

/// Changes the status of a loop. `columns` sets further columns in the same update.
pub async fn apply(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    to: LoopStatus,
    columns: impl FnOnce(UpdateMany<agent_loop::Entity>) -> UpdateMany<agent_loop::Entity>,
) -> Result<TransitionResult, DbErr> {
    use agent_loop::Column;
    let at = now();
    let from = status_values(ALL.into_iter().filter(|from| from.may_become(to)));
    let mut update = agent_loop::Entity::update_many()
        .col_expr(Column::Status, Expr::value(StoredEnum(to)))
        .col_expr(Column::UpdatedAt, Expr::value(at));
    // A timed-out loop returns to RUNNING when its runner reports again; keep its first start.
    if to == LoopStatus::Running {
        update = update.col_expr(Column::StartedAt, first_of(Column::StartedAt, at));
    }
    if to.is_terminal() {
        update = update
            .col_expr(Column::CompletedAt, first_of(Column::CompletedAt, at))
            .col_expr(Column::StartedAt, first_of(Column::StartedAt, at))
            // Release the token slot, so that the row no longer authorizes a runner.
            .col_expr(Column::ActiveTokenJti, Expr::value(None::<Uuid>))
            .col_expr(Column::TokenExpiresAt, Expr::value(None::<i64>));
    }
    if to == LoopStatus::Completed {
        update = update.col_expr(Column::Error, Expr::value(None::<Json>));
    }
    // Locked, so that the usage that the loop counts for cannot change in between.
    let before = agent_loop::Entity::find_by_id(loop_id).lock_exclusive().one(tx).await?;
    let before = before.ok_or_else(|| DbErr::RecordNotFound("loop".to_owned()))?;
    let result =
        columns(update).filter(Column::Id.eq(loop_id)).filter(Column::Status.is_in(from)).exec(tx).await?;
    if result.rows_affected == 0 {
        return Ok(TransitionResult::Refused(before.status.0));
    }
    count_usage(tx, &before, to).await?;
    if to.is_terminal() {
        // A loop that has ended is not launched any more.
        loop_launch::Entity::delete_by_id(loop_id).exec(tx).await?;
        clear_tokens(tx, loop_id, to).await?;
    }
    change_requests::refresh_of_loop(tx, loop_id).await?;
    Ok(TransitionResult::Applied)
}

/// Adds a loop that has reached a terminal status to the usage of its day, and subtracts what it counted for
/// before.
async fn count_usage(
    tx: &DatabaseTransaction,
    before: &agent_loop::Model,
    to: LoopStatus,
) -> Result<(), DbErr> {
    let counted = before.status.0.is_terminal().then(|| LoopUsage::from(before));
    let counts = if to.is_terminal() {
        agent_loop::Entity::find_by_id(before.id).one(tx).await?.as_ref().map(LoopUsage::from)
    } else {
        None
    };
    usage::replace(tx, counted.as_ref(), counts.as_ref()).await
}

fn first_of(column: agent_loop::Column, at: i64) -> sea_orm::sea_query::SimpleExpr {
    Func::coalesce([Expr::col(column), Expr::value(at)]).into()
}

async fn clear_tokens(tx: &DatabaseTransaction, loop_id: Uuid, to: LoopStatus) -> Result<(), DbErr> {
    loop_token_refresh::Entity::delete_many()
        .filter(loop_token_refresh::Column::LoopId.eq(loop_id))
        .exec(tx)
        .await?;
    let mut event_id = format!("tokens_cleared:{}:{loop_id}", to.as_str().to_lowercase());
    // A timed-out loop may return to RUNNING and time out again. Event ids are unique per loop and source, so
    // append a counter.
    let earlier = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.eq(loop_id))
        .filter(loop_event::Column::EventId.starts_with(&event_id))
        .count(tx)
        .await?;
    if earlier > 0 {
        event_id = format!("{event_id}:{earlier}");
    }
    let data = json!({"eventId": event_id, "status": to.as_str()});
    append(tx, loop_id, NewEvent::internal("tokens_cleared", event_id, data)).await?;
    Ok(())
}

/// An event to append.
#[derive(Debug, Clone)]
pub struct NewEvent {
    pub kind: String,
    /// Origin of the event.
    pub source: EventSource,
    /// Idempotency key, unique within the loop and source.
    pub event_id: String,
    /// Event members without the type.
    pub data: Value,
    /// All members, if `data` contains only an excerpt of a large one.
    pub complete: Option<Value>,
    /// Token slot and nonce of the runner that sent the event.
    pub runner: Option<(Uuid, Uuid)>,
}

impl NewEvent {
    /// Creates an event of the control plane itself.
    pub fn internal(kind: &str, event_id: impl Into<String>, data: Value) -> Self {
        Self {
            kind: kind.to_owned(),
            source: EventSource::Internal,
            event_id: event_id.into(),
            data,
            complete: None,
            runner: None,
        }
    }
}

/// Appends an event with the next sequence number of the loop.
pub async fn append(tx: &DatabaseTransaction, loop_id: Uuid, event: NewEvent) -> Result<(), DbErr> {
    use agent_loop::Column;
    // Incrementing the counter locks the loop's row until the commit, so concurrent writers append one after
    // another and sequence numbers have no gaps.
    agent_loop::Entity::update_many()
        .col_expr(Column::LastSequence, Expr::col(Column::LastSequence).add(1))
        .filter(Column::Id.eq(loop_id))
        .exec(tx)
        .await?;
    let sequence: Option<i64> = agent_loop::Entity::find_by_id(loop_id)
        .select_only()
        .column(Column::LastSequence)
        .into_tuple()
        .one(tx)
        .await?;
    let id = Uuid::now_v7();
    let row = loop_event::ActiveModel {
        id: Set(id),
        loop_id: Set(loop_id),
        sequence: Set(sequence.ok_or_else(|| DbErr::RecordNotFound("loop".to_owned()))?),
        kind: Set(event.kind),
        source: Set(StoredEnum(event.source)),
        event_id: Set(event.event_id),
        data: Set(event.data),
        runner_token_jti: Set(event.runner.map(|(jti, _)| jti)),
        runner_nonce: Set(event.runner.map(|(_, nonce)| nonce)),
        created_at: Set(now()),
    };
    loop_event::Entity::insert(row).exec_without_returning(tx).await?;
    if let Some(data) = event.complete {
        let value = loop_event_value::ActiveModel { event_id: Set(id), data: Set(data) };
        loop_event_value::Entity::insert(value).exec_without_returning(tx).await?;
    }
    Ok(())
}

/// Fails a loop with an error of the control plane, and appends an `error` event. Returns whether the status
/// changed.
pub async fn fail(tx: &DatabaseTransaction, loop_id: Uuid, code: &str, message: &str) -> Result<bool, DbErr> {
    end(tx, loop_id, LoopStatus::Failed, json!({"code": code, "message": message}), json!({})).await
}

/// Moves a loop to an unsuccessful terminal status, and appends an `error` event with the error and further
/// members. Returns whether the status changed.
pub async fn end(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    to: LoopStatus,
    error: Value,
    members: Value,
) -> Result<bool, DbErr> {
    let error_column = error.clone();
    let columns =
        |update: UpdateMany<_>| update.col_expr(agent_loop::Column::Error, Expr::value(error_column));
    if apply(tx, loop_id, to, columns).await? != TransitionResult::Applied {
        // The loop has reached a terminal status in the meantime; keep that result.
        return Ok(false);
    }
    let mut data = error;
    if let (Some(data), Some(members)) = (data.as_object_mut(), members.as_object()) {
        data.extend(members.clone());
        data.insert("timestamp".to_owned(), loopgate_api::time::now_iso().into());
    }
    let event_id = format!("{}:{}", to.as_str().to_lowercase(), Uuid::now_v7());
    append(tx, loop_id, NewEvent::internal("error", event_id, data)).await?;
    Ok(true)
}
