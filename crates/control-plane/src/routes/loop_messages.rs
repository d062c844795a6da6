//! Messages of a user to a running loop.

use axum::extract::State;
use loopgate_api::loop_message::MAX_MESSAGE_BYTES;
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::UserAuth;
use crate::dispatch::message::{self, NewLoopMessage};
use crate::dispatch::signing::UserIntentSignature;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::{Body, Id};
use crate::idempotency::IdempotencyKey;
use crate::store::iso;

/// A message to a running loop.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendMessage {
    /// The message as plain text, 1 to 10,000 bytes.
    pub text: String,
    /// Signature of the intent `{loopId, text}` by a browser key; required by desktops that accept only signed commands.
    pub user_intent_signature: Option<UserIntentSignature>,
}

/// A stored message. Events of the loop with its id report the message and its delivery.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentMessage {
    /// Id of the message.
    pub message_id: Uuid,
    /// Time at which the message was stored, ISO 8601.
    pub sent_at: String,
}

/// Sends a message to the assistant of a running loop, which receives it within its session. Only the user who started the
/// loop may send messages. With the header `Idempotency-Key`, a repeated request returns the message of the first one.
/// Returns 409 when the assistant does not run.
#[utoipa::path(post, path = "/loops/{id}/messages", operation_id = "send_loop_message", tag = "loops",
    params(("id" = Uuid, Path)), request_body = SendMessage,
    responses((status = 200, body = Data<SentMessage>), ErrorResponses))]
pub async fn send(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    key: IdempotencyKey,
    Body(body): Body<SendMessage>,
) -> ApiResult<Data<SentMessage>> {
    let sent = async {
        let loop_id = id.or_unknown("Loop")?;
        let SendMessage { text, user_intent_signature } = body;
        check(&text)?;
        let intent = match user_intent_signature {
            Some(signed) => {
                let expected = json!({"loopId": loop_id, "text": text});
                let mismatch = "Signed message does not match the request";
                Some(signed.check(app.store.reader(), &caller, &expected, mismatch).await?)
            }
            None => None,
        };
        let request = key.of(&caller, &("message", loop_id, &text))?;
        message::send(&app, &caller, NewLoopMessage { loop_id, text, intent, request }).await
    };
    let command = sent.await.context("Failed to send the message")?;
    Ok(Data::new(SentMessage { message_id: command.id, sent_at: iso(command.created_at) }))
}

fn check(text: &str) -> ApiResult<()> {
    let mut issues = ValidationIssues::default();
    issues.require(!text.trim().is_empty(), "text", "must not be empty");
    let limit = format!("must have at most {MAX_MESSAGE_BYTES} bytes");
    issues.require(text.len() <= MAX_MESSAGE_BYTES, "text", &limit);
    issues.into_result()
}
