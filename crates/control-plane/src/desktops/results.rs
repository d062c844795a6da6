//! Responses of desktops to commands: acknowledgements, and events of the execution.
//!
//! Events of a command are stored in sequence without gaps, each in one transaction with the resulting
//! status.

use loopgate_api::event::code;
use loopgate_api::launch;
use loopgate_api::link::{CommandAck, CommandEvent, CommandFailure, EventType, GatewayError};
use loopgate_link::server::{EventOutcome, SequenceCheck};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, QuerySelect, UpdateMany};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::bus::{Bus, Topic};
use crate::dispatch::message;
use crate::loop_state;
use crate::store::column::StoredEnum;
use crate::store::entity::desktop_command::{self, CommandStatus};
use crate::store::entity::desktop_command_event;
use crate::store::{Store, now};

/// Stores a desktop's acknowledgement of a command.
pub async fn ack(store: &Store, bus: &dyn Bus, target_id: Uuid, ack: &CommandAck) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    let Some(row) = of_target(&tx, target_id, &ack.command_id).await? else { return Ok(()) };
    if row.status.0.is_terminal() {
        return Ok(());
    }
    if ack.accepted {
        // An event may have arrived before its acknowledgement; RUNNING must not become ACCEPTED again.
        if row.status.0 == CommandStatus::Queued {
            set_status(&tx, row.id, CommandStatus::Accepted, |update| update).await?;
        }
    } else {
        reject(&tx, &row, ack).await?;
    }
    tx.commit().await?;
    notify(bus, &row);
    Ok(())
}

async fn reject(
    tx: &DatabaseTransaction,
    row: &desktop_command::Model,
    ack: &CommandAck,
) -> Result<(), DbErr> {
    let reason = ack.reason.as_deref();
    let error = reason.unwrap_or("Command rejected").to_owned();
    let mut data = json!({
        "type": "error",
        "terminal": true,
        "error": reason.unwrap_or("Command rejected by desktop"),
        "code": "rejected",
    });
    if let Some(code) = &ack.code {
        data["rejectionCode"] = code.as_str().into();
    }
    // The rejection becomes the last event, so that readers of the event stream receive the reason.
    append(tx, row, row.last_sequence_acked + 1, EventType::Error, data).await?;
    let status = if ack.code.as_deref() == Some(CommandAck::EXPIRED) {
        CommandStatus::Expired
    } else {
        CommandStatus::Failed
    };
    set_status(tx, row.id, status, |update| {
        update.col_expr(desktop_command::Column::Error, Expr::value(&error))
    })
    .await?;
    let hint = match ack.code.as_deref() {
        Some(CommandAck::NO_KEYS_AUTHORIZED | CommandAck::UNKNOWN_SIGNING_KEY) => {
            ". Authorize the key of your browser on the machine with `loopgate keys`, then start the loop again."
        }
        _ => "",
    };
    message::refuse(tx, row, &format!("The machine rejected the message: {error}")).await?;
    let message = format!("The machine rejected the loop: {error}{hint}");
    fail_loop(tx, row, code::PRE_RUN_VALIDATION_FAILED, &message).await
}

/// Stores an event of a command's execution. Duplicates are ignored; after a gap the desktop resends from the
/// last stored event.
pub async fn event(
    store: &Store,
    bus: &dyn Bus,
    target_id: Uuid,
    event: &CommandEvent,
) -> Result<EventOutcome, DbErr> {
    let tx = store.begin().await?;
    let Some(row) = of_target(&tx, target_id, &event.command_id).await? else {
        return Ok(EventOutcome::Ignored);
    };
    let last = u64::try_from(row.last_sequence_acked).unwrap_or_default();
    match SequenceCheck::of(event.sequence, last) {
        SequenceCheck::Next => {}
        SequenceCheck::Duplicate => return Ok(EventOutcome::Duplicate),
        SequenceCheck::Gap => return Ok(EventOutcome::Gap(last)),
    }
    let sequence = row.last_sequence_acked + 1;
    append(&tx, &row, sequence, event.event_type, event.data.clone()).await?;
    apply_event(&tx, &row, event).await?;
    tx.commit().await?;
    notify(bus, &row);
    Ok(EventOutcome::Stored)
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

/// Updates the status of a command after an event. A terminal status never changes.
async fn apply_event(
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
    if status != CommandStatus::Done {
        let refusal = gateway_error_of(&event.data).and_then(|error| error.error);
        let reason =
            refusal.or_else(|| error.clone()).unwrap_or_else(|| "The command was cancelled.".to_owned());
        message::refuse(tx, row, &reason).await?;
    }
    set_status(tx, row.id, status, |update| {
        update.col_expr(desktop_command::Column::Error, Expr::value(error))
    })
    .await
}

/// Returns the reason why a loop's launch failed, if the event reports one. Only errors of the gateway mean
/// that the loop was not accepted. The loop may be running when it was already running before, or when the
/// command alone failed because of a timeout or an interruption. The desktop reports the state of such loops
/// by loop events.
fn failure_of(event: &CommandEvent) -> Option<(&'static str, String)> {
    if event.event_type != EventType::Error || !event.is_terminal() {
        return None;
    }
    let data = &event.data;
    let text = data.get("error").and_then(Value::as_str).unwrap_or("Command failed");
    let Some(error) = gateway_error_of(data).or_else(|| legacy_gateway_error(data, text)) else {
        let command_alone = data.get("code").is_some_and(|code| {
            !matches!(
                CommandFailure::deserialize(code),
                Ok(CommandFailure::InternalError
                    | CommandFailure::MalformedRequestTarget
                    | CommandFailure::StreamFailed)
            )
        });
        return (!command_alone).then(|| (code::SPAWN_FAILED, text.to_owned()));
    };
    if error.reason.as_deref() == Some(launch::ALREADY_RUNNING) {
        return None;
    }
    let code = if error.status_code >= 500 { code::SPAWN_FAILED } else { code::PRE_RUN_VALIDATION_FAILED };
    Some((code, error.error.unwrap_or_else(|| "The machine could not start the loop".to_owned())))
}

/// Returns the gateway's error, if the event contains one.
fn gateway_error_of(data: &Value) -> Option<GatewayError> {
    data.get("gatewayError").and_then(|error| GatewayError::deserialize(error).ok())
}

/// Parses the gateway's error from a desktop up to version 0.13, which reports it only as the text `gateway
/// returned <status>: <body>`, and an already running loop only by its message. The only place that depends
/// on a message.
fn legacy_gateway_error(data: &Value, text: &str) -> Option<GatewayError> {
    if data.get("code").is_some() {
        return None;
    }
    let (status, body) = text.strip_prefix("gateway returned ")?.split_once(": ")?;
    let mut error = GatewayError::new(status.parse().ok()?, &serde_json::from_str(body).ok()?);
    if error.error.as_deref() == Some("Loop is already running on this machine") {
        error.reason = Some(launch::ALREADY_RUNNING.to_owned());
    }
    Some(error)
}

async fn set_status(
    tx: &DatabaseTransaction,
    id: Uuid,
    status: CommandStatus,
    columns: impl FnOnce(UpdateMany<desktop_command::Entity>) -> UpdateMany<desktop_command::Entity>,
) -> Result<(), DbErr> {
    use desktop_command::Column;
    let mut update =
        desktop_command::Entity::update_many().col_expr(Column::Status, Expr::value(StoredEnum(status)));
    if status.is_terminal() {
        update = update.col_expr(Column::FinishedAt, Expr::value(now()));
    }
    columns(update).filter(Column::Id.eq(id)).exec(tx).await.map(drop)
}

async fn fail_loop(
    tx: &DatabaseTransaction,
    row: &desktop_command::Model,
    code: &str,
    message: &str,
) -> Result<(), DbErr> {
    if let Some(loop_id) = row.loop_id {
        // The message comes from the desktop and may contain output of programs.
        loop_state::fail(tx, loop_id, code, &loopgate_api::redact::message(message)).await?;
    }
    Ok(())
}

fn notify(bus: &dyn Bus, row: &desktop_command::Model) {
    bus.publish(Topic::Command(row.id));
    if let Some(loop_id) = row.loop_id.or_else(|| message::loop_of(row)) {
        bus.publish(Topic::Loop(loop_id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch_failure(data: Value) -> Option<(&'static str, String)> {
        let event = json!({"commandId": Uuid::nil(), "sequence": 1, "eventType": "error", "data": data});
        failure_of(&serde_json::from_value(event).unwrap())
    }

    /// Returns the event of a rejected request in the current format and in that of desktops up to 0.13.
    fn refusals(status: u16, body: &Value) -> [Value; 2] {
        let text = format!("gateway returned {status}: {body}");
        let error = GatewayError::new(status, body);
        [
            json!({"type": "error", "terminal": true, "error": text, "gatewayError": error}),
            json!({"type": "error", "terminal": true, "error": text}),
        ]
    }

    #[test]
    fn launch_fails_with_the_text_of_the_gateway() {
        let not_found = json!({"error": "Repository not found locally: a/b", "code": "not_found"});
        for refusal in refusals(404, &not_found) {
            let (code, message) = launch_failure(refusal).unwrap();
            assert_eq!(code, "PRE_RUN_VALIDATION_FAILED");
            assert_eq!(message, "Repository not found locally: a/b");
        }
        for refusal in refusals(500, &json!({"error": "Failed to spawn process"})) {
            assert_eq!(launch_failure(refusal).unwrap().0, "SPAWN_FAILED");
        }
        for failure in [
            json!({"terminal": true, "error": "internal error", "code": "internal_error"}),
            json!({"terminal": true, "error": "internal error"}),
        ] {
            assert_eq!(launch_failure(failure).unwrap(), ("SPAWN_FAILED", "internal error".to_owned()));
        }
    }

    #[test]
    fn loop_that_may_be_running_is_not_failed() {
        let running = json!({
            "error": "Loop is already running on this machine",
            "code": "conflict",
            "reason": launch::ALREADY_RUNNING,
        });
        for refusal in refusals(409, &running) {
            assert_eq!(launch_failure(refusal), None);
        }
        for code in ["interrupted", "timeout", "gateway_timeout", "unknown_future_code"] {
            let failure = json!({"terminal": true, "error": "command timed out", "code": code});
            assert_eq!(launch_failure(failure), None);
        }
        assert_eq!(launch_failure(json!({"error": "not terminal"})), None);
    }

    #[test]
    fn reason_is_decisive_regardless_of_message() {
        let reworded =
            json!({"error": "Reworded message.", "code": "conflict", "reason": launch::ALREADY_RUNNING});
        assert_eq!(launch_failure(refusals(409, &reworded)[0].clone()), None);
    }
}
