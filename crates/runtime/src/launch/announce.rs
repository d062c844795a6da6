//! Reports that a loop starts, or why it does not.

use std::time::Duration;

use loopgate_api::event::{LoopEvent, code};
use loopgate_api::ids::LoopId;
use loopgate_api::link::Severity;
use loopgate_api::redact;
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use super::Launcher;
use crate::error::LoopRequestError;
use crate::jobs::store::OutboxMessage;
use crate::refusal::{Refusal, RefusalEvent};
use crate::reporting::control_plane::{CallError, EVENT_TIME, SHORT_EVENT_TIME};
use crate::reporting::telemetry;
use crate::request::{LoopHeaders, LoopRequest};

// Attempts to report the start of a local loop. Two, so that one dropped connection does not fail the start.
const STARTED_ATTEMPTS: u32 = 2;
const STARTED_BACKOFF: Duration = Duration::from_millis(250);

impl Launcher {
    /// Reports that the loop starts.
    ///
    /// For a local loop of a command with `fail_fast`, the control plane must acknowledge the event before
    /// the loop is started; fails with 503 otherwise, and with 409 when it has ended the loop. Loops from the link have just been received from the
    /// control plane, so their event goes through the outbox.
    pub(super) async fn announce_start(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        nonce: Uuid,
    ) -> Result<(), Refusal> {
        let id = request.loop_id;
        let mut event = LoopEvent::new("started", &json!({"loopId": id}));
        if let Some(branch) = &request.default_branch {
            // The nonce is stored in the job record: a start that is repeated after a crash is not reported
            // twice.
            event.members.insert("baseBranch".to_owned(), json!(branch));
        }
        let event = OutboxMessage { nonce, ..OutboxMessage::event(&event) };
        if headers.from_cloud || !request.command.spec().fail_fast {
            let change = self.jobs.change(id, |now| {
                now.send(event);
                Ok(())
            });
            change.await.map_err(LoopRequestError::from)?;
            return Ok(());
        }
        // The outer timeout covers all attempts, because the caller waits for the response.
        let posted = tokio::time::timeout(EVENT_TIME, self.post_started(id, &event)).await;
        match posted.unwrap_or(Err(CallError::Timeout)) {
            Ok(false) => Ok(()),
            Ok(true) => Err(LoopRequestError::new(409, "The loop has already ended.").into()),
            Err(cause) => {
                let text = format!(
                    "Cannot start local loop: cloud callback path is unavailable. Check connectivity and retry. ({cause})"
                );
                Err(LoopRequestError::new(503, text).into())
            }
        }
    }

    async fn post_started(
        &self,
        id: LoopId,
        OutboxMessage { nonce, body, .. }: &OutboxMessage,
    ) -> Result<bool, CallError> {
        let mut attempts = 1;
        loop {
            let posted = self.tokens.post_event(id, *nonce, body, EVENT_TIME).await;
            match posted {
                Err(error) if error.is_retryable() && attempts < STARTED_ATTEMPTS => {
                    attempts += 1;
                    tokio::time::sleep(STARTED_BACKOFF).await;
                }
                result => return result,
            }
        }
    }

    /// Reports to telemetry that a program is missing or cannot be started. Other refusals are not caused by
    /// the state of this machine.
    pub(super) fn report_refusal(&self, request: &LoopRequest, headers: &LoopHeaders, refusal: &Refusal) {
        let Some(RefusalEvent { code: kind, message, .. }) = &refusal.event else { return };
        let category = match *kind {
            code::BINARY_NOT_FOUND => "preflight.binary_not_found",
            code::SCRIPT_NOT_FOUND => "preflight.script_not_found",
            code::SPAWN_FAILED => "preflight.spawn_failed",
            _ => return,
        };
        let trace = telemetry::of_request(request.loop_id, headers);
        let diagnostics = json!({"lifecycle": {"command": request.command}});
        self.telemetry.report(trace, Severity::Error, category, &redact::message(message), diagnostics);
    }

    /// Reports to the control plane why a loop is not started. Uses a short timeout, because the response
    /// waits for it.
    pub(super) async fn post_refusal(&self, id: LoopId, token: &SecretString, refusal: &RefusalEvent) {
        let mut event = LoopEvent::new("error", &refusal.error());
        event.members.insert("loopId".to_owned(), json!(id));
        let body = serde_json::to_string(&event).unwrap_or_default();
        if let Err(error) = self.cloud.post_event(id, token, Uuid::new_v4(), body, SHORT_EVENT_TIME).await {
            tracing::info!(loop_id = %id, %error, "failed to report the refused launch to the control plane");
        }
    }
}
