//! What a desktop answers to a command: whether it takes it, and the events of its execution.
//!
//! Events of a command are stored strictly in sequence, each in one transaction with the status
//! that follows from it.

use loopgate_api::event::code;
use loopgate_api::link::{CommandAck, CommandEvent, EventType};
use loopgate_link::server::{Ingested, Placement};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, QuerySelect, UpdateMany};
use serde_json::{Value, json};

use crate::bus::{Bus, Topic};
use crate::loops::transition;
use crate::store::column::Word;
use crate::store::entity::desktop_command::{self, CommandStatus};
use crate::store::entity::desktop_command_event;
use crate::store::{Store, now};

/// Takes a desktop's decision about a command.
pub async fn ack(store: &Store, bus: &Bus, target_id: Uuid, ack: &CommandAck) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    let Some(row) = of_target(&tx, target_id, &ack.command_id).await? else { return Ok(()) };
    if row.status.0.is_terminal() {
        return Ok(());
    }
    if ack.accepted {
        if row.status.0 == CommandStatus::Queued {
            set_status(&tx, row.id, CommandStatus::Accepted, |update| update).await?;
        }
    } else {
        reject(&tx, &row, ack.reason.as_deref()).await?;
    }
    tx.commit().await?;
    announce(bus, &row);
    Ok(())
}

async fn reject(
    tx: &DatabaseTransaction,
    row: &desktop_command::Model,
    reason: Option<&str>,
) -> Result<(), DbErr> {
    let error = reason.unwrap_or("Command rejected").to_owned();
    let data = json!({
        "type": "error",
        "terminal": true,
        "error": reason.unwrap_or("Command rejected by desktop"),
        "code": "rejected",
    });
    append(tx, row, row.last_sequence_acked + 1, EventType::Error, data).await?;
    set_status(tx, row.id, CommandStatus::Failed, |update| {
        update.col_expr(desktop_command::Column::Error, Expr::value(&error))
    })
    .await?;
    fail_loop(tx, row, code::PRE_RUN_VALIDATION_FAILED, &format!("The desktop refused the loop: {error}"))
        .await
}

/// Takes an event of a command's execution.
pub async fn event(
    store: &Store,
    bus: &Bus,
    target_id: Uuid,
    event: &CommandEvent,
) -> Result<Ingested, DbErr> {
    let tx = store.begin().await?;
    let Some(row) = of_target(&tx, target_id, &event.command_id).await? else { return Ok(Ingested::Ignored) };
    let last = u64::try_from(row.last_sequence_acked).unwrap_or_default();
    match Placement::of(event.sequence, last) {
        Placement::Next => {}
        Placement::Duplicate => return Ok(Ingested::Duplicate),
        Placement::Gap => return Ok(Ingested::Gap(last)),
    }
    let sequence = row.last_sequence_acked + 1;
    append(&tx, &row, sequence, event.event_type, event.data.clone()).await?;
    follow(&tx, &row, event).await?;
    tx.commit().await?;
    announce(bus, &row);
    Ok(Ingested::Stored)
}

async fn of_target(
    tx: &DatabaseTransaction,
    target_id: Uuid,
    command_id: &str,
) -> Result<Option<desktop_command::Model>, DbErr> {
    let Ok(id) = Uuid::try_parse(command_id) else { return Ok(None) };
    desktop_command::Entity::find_by_id(id)
        .filter(desktop_command::Column::ComputeTargetId.eq(target_id))
        .lock_exclusive()
        .one(tx)
        .await
}

async fn append(
    tx: &DatabaseTransaction,
    row: &desktop_command::Model,
    sequence: i64,
    event_type: EventType,
    data: Value,
) -> Result<(), DbErr> {
    let new = desktop_command_event::ActiveModel {
        id: Set(Uuid::now_v7()),
        command_id: Set(row.id),
        sequence: Set(sequence),
        event_type: Set(event_type.as_str().to_owned()),
        data: Set(data),
        created_at: Set(now()),
    };
    desktop_command_event::Entity::insert(new).exec_without_returning(tx).await?;
    desktop_command::Entity::update_many()
        .col_expr(desktop_command::Column::LastSequenceAcked, Expr::value(sequence))
        .filter(desktop_command::Column::Id.eq(row.id))
        .exec(tx)
        .await?;
    Ok(())
}

/// The status that follows from an event; one that is terminal never changes.
async fn follow(
    tx: &DatabaseTransaction,
    row: &desktop_command::Model,
    event: &CommandEvent,
) -> Result<(), DbErr> {
    if row.status.0.is_terminal() {
        return Ok(());
    }
    let failure = failure_of(event);
    if let Some((code, message)) = &failure {
        fail_loop(tx, row, code, message).await?;
    }
    if !event.is_terminal() {
        let started = |update: UpdateMany<_>| {
            update
                .col_expr(desktop_command::Column::StartedAt, Expr::value(row.started_at.unwrap_or_else(now)))
        };
        return set_status(tx, row.id, CommandStatus::Running, started).await;
    }
    let cancelled = event.data.get("cancelled") == Some(&Value::Bool(true));
    let status = match event.event_type {
        EventType::Error => CommandStatus::Failed,
        _ if cancelled => CommandStatus::Cancelled,
        _ => CommandStatus::Done,
    };
    let error = (status == CommandStatus::Failed)
        .then(|| event.data.get("error").and_then(Value::as_str).unwrap_or("Command failed").to_owned());
    set_status(tx, row.id, status, |update| {
        update.col_expr(desktop_command::Column::Error, Expr::value(error))
    })
    .await
}

/// Why the launch of a loop did not succeed, when an event says so. Only what the gateway refuses was
/// never accepted. That the loop is running already is no failure, and neither is what went wrong with
/// the command alone, which has a code: its time was over, or the desktop was interrupted. The desktop
/// itself reports by the loop's events what became of such a loop.
fn failure_of(event: &CommandEvent) -> Option<(&'static str, String)> {
    let data = &event.data;
    if event.event_type != EventType::Error
        || !event.is_terminal()
        || data.get("code").is_some_and(Value::is_string)
    {
        return None;
    }
    let text = data.get("error").and_then(Value::as_str).unwrap_or("Command failed");
    let Some((status, body)) = refusal(text) else { return Some((code::SPAWN_FAILED, text.to_owned())) };
    let reason = body.get("error").and_then(Value::as_str).unwrap_or("The desktop could not start the loop");
    let code = if status >= 500 { code::SPAWN_FAILED } else { code::PRE_RUN_VALIDATION_FAILED };
    (reason != "Loop is already running on this machine").then(|| (code, reason.to_owned()))
}

/// Status and body of a refusal by the gateway, which travels as `gateway returned <status>: <body>`.
fn refusal(text: &str) -> Option<(u16, Value)> {
    let (status, body) = text.strip_prefix("gateway returned ")?.split_once(": ")?;
    Some((status.parse().ok()?, serde_json::from_str(body).ok()?))
}

async fn set_status(
    tx: &DatabaseTransaction,
    id: Uuid,
    status: CommandStatus,
    columns: impl FnOnce(UpdateMany<desktop_command::Entity>) -> UpdateMany<desktop_command::Entity>,
) -> Result<(), DbErr> {
    use desktop_command::Column;
    let mut update =
        desktop_command::Entity::update_many().col_expr(Column::Status, Expr::value(Word(status)));
    if status.is_terminal() {
        update = update.col_expr(Column::FinishedAt, Expr::value(now()));
    }
    columns(update).filter(Column::Id.eq(id)).exec(tx).await?;
    if status.is_terminal() {
        forget_token(tx, id).await?;
    }
    Ok(())
}

/// The request of a command that has ended is kept without its token.
async fn forget_token(tx: &DatabaseTransaction, id: Uuid) -> Result<(), DbErr> {
    let Some(row) = desktop_command::Entity::find_by_id(id).one(tx).await? else { return Ok(()) };
    let mut payload = row.request_payload;
    let body = payload.get_mut("body").and_then(Value::as_object_mut);
    if body.and_then(|body| body.remove("loopgateAuthToken")).is_none() {
        return Ok(());
    }
    desktop_command::Entity::update_many()
        .col_expr(desktop_command::Column::RequestPayload, Expr::value(payload))
        .filter(desktop_command::Column::Id.eq(id))
        .exec(tx)
        .await?;
    Ok(())
}

async fn fail_loop(
    tx: &DatabaseTransaction,
    row: &desktop_command::Model,
    code: &str,
    message: &str,
) -> Result<(), DbErr> {
    if let Some(loop_id) = row.loop_id {
        transition::fail(tx, loop_id, code, &loopgate_api::redact::message(message)).await?;
    }
    Ok(())
}

fn announce(bus: &Bus, row: &desktop_command::Model) {
    bus.publish(Topic::Command(row.id));
    if let Some(loop_id) = row.loop_id {
        bus.publish(Topic::Loop(loop_id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(data: Value) -> Option<(&'static str, String)> {
        let event = json!({"commandId": Uuid::nil(), "sequence": 1, "eventType": "error", "data": data});
        failure_of(&serde_json::from_value(event).unwrap())
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_gateway() {
        let text =
            r#"gateway returned 404: {"error":"Repository not found locally: a/b","code":"not_found"}"#;
        let (code, message) = judged(json!({"type": "error", "terminal": true, "error": text})).unwrap();
        assert_eq!(
            (code, message.as_str()),
            ("PRE_RUN_VALIDATION_FAILED", "Repository not found locally: a/b")
        );
        let text = r#"gateway returned 500: {"error":"Failed to spawn process"}"#;
        assert_eq!(judged(json!({"terminal": true, "error": text})).unwrap().0, "SPAWN_FAILED");
        assert_eq!(judged(json!({"terminal": true, "error": "internal error"})).unwrap().1, "internal error");
    }

    #[test]
    fn a_loop_that_may_be_running_is_not_failed() {
        let text =
            r#"gateway returned 409: {"error":"Loop is already running on this machine","code":"conflict"}"#;
        assert_eq!(judged(json!({"terminal": true, "error": text})), None);
        for code in ["interrupted", "timeout", "gateway_timeout"] {
            assert_eq!(judged(json!({"terminal": true, "error": "command timed out", "code": code})), None);
        }
        assert_eq!(judged(json!({"error": "not the end"})), None);
    }
}
