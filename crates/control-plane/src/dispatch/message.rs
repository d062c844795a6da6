//! Messages of a user to a running loop.
//!
//! A message is an event of its loop and a command for its desktop, stored in one transaction before the request is
//! answered. The id of the command is the id of the message. The desktop reports when the assistant has received it.

use loopgate_api::command::Runner;
use loopgate_api::event_body::{EventBody, MessageDeliveryEvent, MessageEvent};
use loopgate_api::job::LoopStatus;
use loopgate_api::link::LinkCommand;
use loopgate_api::operation::OperationId;
use loopgate_api::redact;
use loopgate_api::time::now_iso;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use serde_json::{Value, json};

use super::command::{self, NewCommand, UnstoredSecret};
use super::signing::{self, SignedIntent};
use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::Caller;
use crate::bus::Topic;
use crate::error::{ApiError, ApiResult, conflict};
use crate::idempotency::KeyedRequest;
use crate::loop_state::{self, NewEvent};
use crate::loops;
use crate::store::column::StoredEnum;
use crate::store::entity::desktop_command;
use crate::store::entity::loop_event::{self, EventSource};
use crate::store::entity::{agent_loop, compute_target};

const PATH: &str = "/api/gateway/orchestrator/loop/message";

/// A message that is not stored yet.
#[derive(Debug)]
pub struct NewLoopMessage {
    pub loop_id: Uuid,
    pub text: String,
    /// Signature of `{loopId, text}`.
    pub intent: Option<SignedIntent>,
    /// Idempotency key of the request.
    pub request: Option<KeyedRequest>,
}

/// Stores a message and sends it to the desktop of its loop. Returns the command, whose id is the id of the message.
/// Returns 403 for the loop of another user, and 409 for a loop whose assistant does not run.
pub async fn send(
    app: &ControlPlaneState,
    caller: &Caller,
    new: NewLoopMessage,
) -> ApiResult<desktop_command::Model> {
    let NewLoopMessage { loop_id, text, intent, request } = new;
    let key = request.map(|request| request.command_key("loop-message"));
    let tx = app.store.begin().await?;
    // Locked, so that concurrent attempts of one request, and the end of the loop, come before or after.
    let row = loops::find_locked(&tx, caller.organization_id(), loop_id).await?;
    if row.user_id != caller.user.id {
        return Err(ApiError::new(
            http::StatusCode::FORBIDDEN,
            "You can only send messages to your own loops",
        ));
    }
    let target = match row.compute_target_id {
        Some(id) => compute_target::Entity::find_by_id(id).one(&tx).await?,
        None => None,
    };
    let target = target.ok_or_else(|| conflict("The loop has no machine that could receive the message."))?;
    let command = command_of(&row, &text, target.id, key, intent.as_ref());
    if let Some(earlier) = command::earlier(&tx, &command).await? {
        return Ok(earlier);
    }
    check_state(&row)?;
    signing::require_signature(&tx, &target, intent.is_some()).await?;
    command::check_capacity(&tx, target.id).await?;
    let command = command::insert(&tx, command).await.map_err(command::insert_error)?;
    let body = EventBody::Message(MessageEvent {
        message_id: command.id.to_string(),
        text,
        user_id: caller.user.id.to_string(),
        user_name: caller.user.full_name(),
    });
    loop_state::append(&tx, row.id, event(EventSource::Person, message_event_id(command.id), body)).await?;
    let details = json!({"computeTargetId": target.id, "messageId": command.id});
    let (organization, action) = (row.organization_id, AuditAction::LoopMessageSent);
    caller.actor().record(&tx, organization, action, row.id, details).await?;
    tx.commit().await?;
    app.bus.publish(Topic::Loop(row.id));
    deliver(app, &command, intent).await?;
    Ok(command)
}

fn command_of(
    row: &agent_loop::Model,
    text: &str,
    target_id: Uuid,
    idempotency_key: Option<String>,
    intent: Option<&SignedIntent>,
) -> NewCommand {
    let request = LinkCommand {
        operation_id: OperationId::OrchestratorLoopMessage.as_str().to_owned(),
        method: "POST".to_owned(),
        path: PATH.to_owned(),
        // The complete body is what a browser signs.
        body: Some(json!({"loopId": row.id, "text": text})),
        ..LinkCommand::default()
    };
    NewCommand {
        organization_id: row.organization_id,
        user_id: row.user_id,
        target_id,
        // Marks launch commands only: a message that cannot be delivered must not fail the loop.
        loop_id: None,
        // A machine that reconnects still delivers it, as long as the loop runs.
        expires_after: None,
        idempotency_key,
        // The message has its own entry in the audit log.
        actor: None,
        signature: intent.map(|intent| intent.signature.clone()),
        request,
    }
}

/// Returns 409 for a loop whose assistant cannot receive messages.
fn check_state(row: &agent_loop::Model) -> ApiResult<()> {
    let status = row.status.0;
    if !matches!(row.command.0.spec().runner, Runner::Driver(_)) {
        return Err(conflict(format!("{} loops receive no messages.", row.command.0.as_str())));
    }
    match status {
        LoopStatus::Running => Ok(()),
        LoopStatus::Pending | LoopStatus::Claimed => {
            Err(conflict("The loop has not started yet. Send the message when it runs."))
        }
        LoopStatus::AwaitingUser => {
            Err(conflict("The loop has ended with a question. Answer the question instead."))
        }
        _ => Err(conflict(
            "The loop has ended and receives no messages. Start another loop with what it has to do, or request changes.",
        )),
    }
}

/// Sends a stored message. A desktop that is not connected receives an unsigned one when it reconnects.
async fn deliver(
    app: &ControlPlaneState,
    row: &desktop_command::Model,
    intent: Option<SignedIntent>,
) -> ApiResult<()> {
    let is_signed = intent.is_some();
    let signature = intent.map(|intent| UnstoredSecret::Signature(intent.signature));
    let Err(reason) = command::deliver(app, row, signature) else { return Ok(()) };
    if !is_signed {
        tracing::info!(command_id = %row.id, "desktop not connected, message queued");
        return Ok(());
    }
    // Signatures are not stored.
    let tx = app.store.begin().await?;
    if command::expire(&tx, row.id, &command::undelivered(reason, true)).await? {
        refuse(&tx, row, "The machine is not connected, and it accepts signed messages only at once.")
            .await?;
    }
    tx.commit().await?;
    if let Some(loop_id) = loop_of(row) {
        app.bus.publish(Topic::Loop(loop_id));
    }
    Ok(())
}

/// Returns the loop to which a command sends a message; `None` for other commands.
pub fn loop_of(row: &desktop_command::Model) -> Option<Uuid> {
    let is_message = row.operation_id == OperationId::OrchestratorLoopMessage.as_str();
    row.request_payload.pointer("/body/loopId").filter(|_| is_message)?.as_str()?.parse().ok()
}

/// Records that the desktop refused a message. Not for other commands, and not if the assistant has received the message.
pub async fn refuse(
    tx: &DatabaseTransaction,
    row: &desktop_command::Model,
    reason: &str,
) -> Result<(), DbErr> {
    let Some(loop_id) = loop_of(row) else { return Ok(()) };
    // A command that a page has sent itself is no stored message.
    if !exists(tx, loop_id, row.id).await? {
        return Ok(());
    }
    let body = EventBody::MessageDelivery(MessageDeliveryEvent {
        message_id: row.id.to_string(),
        is_delivered: false,
        delivered_at: None,
        reason: Some(redact::message(reason)),
    });
    loop_state::append(
        tx,
        loop_id,
        event(EventSource::Internal, format!("message_delivery:{}", row.id), body),
    )
    .await
}

/// Returns whether a loop has a message.
pub async fn exists(db: &impl ConnectionTrait, loop_id: Uuid, message_id: Uuid) -> Result<bool, DbErr> {
    let count = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.eq(loop_id))
        .filter(loop_event::Column::Source.eq(StoredEnum(EventSource::Person)))
        .filter(loop_event::Column::EventId.eq(message_event_id(message_id)))
        .count(db)
        .await?;
    Ok(count > 0)
}

fn message_event_id(message_id: Uuid) -> String {
    format!("message:{message_id}")
}

fn event(source: EventSource, event_id: String, body: EventBody) -> NewEvent {
    let (kind, mut members) = body.into_members();
    members.insert("timestamp".to_owned(), now_iso().into());
    NewEvent { kind, source, event_id, data: Value::Object(members), complete: None, runner: None }
}
