//! Events of a start: that it happens, or why it does not.

use std::time::Duration;

use loopgate_api::event::{ErrorEvent, LoopEvent, code};
use loopgate_api::ids::LoopId;
use loopgate_api::link::Severity;
use loopgate_api::redact;
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use super::Launcher;
use crate::error::LoopRequestError;
use crate::jobs::store::OutboxMessage;
use crate::refusal::Refusal;
use crate::reporting::control_plane::{CallError, EVENT_TIME, SHORT_EVENT_TIME};
use crate::reporting::telemetry;
use crate::request::{LoopHeaders, LoopRequest};

/// Tries to say that a local loop starts.
const STARTED_TRIES: u32 = 2;
const STARTED_PAUSE: Duration = Duration::from_millis(250);

impl Launcher {
    /// Says that the loop starts. A local loop that changes something is not started when nobody can
    /// hear of it; over the link the control plane was there a moment ago, and the event waits in
    /// the queue.
    pub(super) async fn announce_start(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        nonce: Uuid,
    ) -> Result<(), Refusal> {
        let id = request.loop_id;
        let mut event = LoopEvent::new("started", &json!({"loopId": id}));
        if let Some(branch) = &request.default_branch {
            event.members.insert("baseBranch".to_owned(), json!(branch));
        }
        let event = OutboxMessage { nonce, ..OutboxMessage::event(&event) };
        if headers.from_cloud || !request.command.spec().fail_fast {
            let sent = self.jobs.change(id, |now| {
                now.send(event);
                Ok(())
            });
            sent.await.map_err(LoopRequestError::from)?;
            return Ok(());
        }
        let delivered = tokio::time::timeout(EVENT_TIME, self.post_started(id, &event)).await;
        delivered.unwrap_or(Err(CallError::Timeout)).map_err(|cause| {
            let text = format!(
                "Cannot start local loop: cloud callback path is unavailable. Check connectivity and retry. ({cause})"
            );
            LoopRequestError::new(503, text).into()
        })
    }

    async fn post_started(
        &self,
        id: LoopId,
        OutboxMessage { nonce, body, .. }: &OutboxMessage,
    ) -> Result<(), CallError> {
        let mut tries = 1;
        loop {
            let posted = self.tokens.post_event(id, *nonce, body, EVENT_TIME).await;
            match posted {
                Err(error) if error.is_retryable() && tries < STARTED_TRIES => {
                    tries += 1;
                    tokio::time::sleep(STARTED_PAUSE).await;
                }
                other => return other,
            }
        }
    }

    /// Reports that a program is missing or cannot be started; other refusals tell nothing about this
    /// machine.
    pub(super) fn report_refusal(&self, request: &LoopRequest, headers: &LoopHeaders, refusal: &Refusal) {
        let Some((kind, message)) = &refusal.event else { return };
        let category = match *kind {
            code::BINARY_NOT_FOUND => "preflight.binary_not_found",
            code::SCRIPT_NOT_FOUND => "preflight.script_not_found",
            code::SPAWN_FAILED => "preflight.spawn_failed",
            _ => return,
        };
        let trace = telemetry::of_order(request.loop_id, headers);
        let diagnostics = json!({"lifecycle": {"command": request.command}});
        self.telemetry.report(trace, Severity::Error, category, &redact::message(message), diagnostics);
    }

    /// Tells the control plane why nothing starts; it must not hold up the answer.
    pub(super) async fn post_refusal(&self, id: LoopId, token: &SecretString, code: &str, message: &str) {
        let error =
            ErrorEvent { code: code.to_owned(), message: redact::message(message), ..ErrorEvent::default() };
        let mut event = LoopEvent::new("error", &error);
        event.members.insert("loopId".to_owned(), json!(id));
        let body = serde_json::to_string(&event).unwrap_or_default();
        if let Err(error) = self.cloud.post_event(id, token, Uuid::new_v4(), body, SHORT_EVENT_TIME).await {
            tracing::info!(loop_id = %id, %error, "the control plane did not hear why the loop is not started");
        }
    }
}
