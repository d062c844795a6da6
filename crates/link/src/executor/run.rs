//! Execution of one command, from its start to its terminal event.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::{FutureExt as _, StreamExt as _};
use http::Response;
use loopgate_api::link::{CommandFailure, EventType, LinkCommand, MAX_MESSAGE_BYTES, Severity};
use loopgate_api::operation::OperationId;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::answer::{self, EventBody, StreamKind, StreamParser};
use super::command_log::{CommandProgress, MAX_LOGGED_BYTES};
use super::executor::Executor;
use super::request;
use super::signing::{SignedLoop, SigningRejection};
use super::state::{MAX_UNACKNOWLEDGED, Overflow, QueuedCommand};

/// Bytes reserved for the envelope of an event in its frame.
const FRAME_BYTES: usize = 4096;

/// Routes below `/api/gateway/` that may need a long time before they respond. A trailing slash matches all
/// paths below it.
const SLOW_ROUTES: [&str; 6] = [
    "orchestrator/loop",
    "orchestrator/loop/kill",
    "reviewer/review/",
    "reviewer/review-verdict/",
    "deploy",
    "deploy/",
];

/// The command has its terminal event; no further events may be emitted.
struct TerminalEvent;

/// Returns whether an event fits into one message. JSON escapes lengthen a text up to sixfold (`\u0000`), so
/// only values near the limit are serialized for an exact answer.
fn fits(data: &Value, weight: usize) -> bool {
    const MAX_BYTES: usize = MAX_MESSAGE_BYTES - FRAME_BYTES;
    weight <= MAX_BYTES / 8
        || (weight <= MAX_BYTES && serde_json::to_vec(data).is_ok_and(|bytes| bytes.len() <= MAX_BYTES))
}

impl Executor {
    pub(super) async fn run(self: Arc<Self>, job: QueuedCommand) {
        let QueuedCommand { command, operation, abort_handle, .. } = job;
        let command_id = command.command_id.clone();
        self.trace(Severity::Info, "command.started", "Command started", &command, operation);
        let limit = command.timeout_ms.filter(|limit| *limit > 0).map(Duration::from_millis);
        let limited = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        // A panic in a route handler must end its command, but not the executor.
        let executing = AssertUnwindSafe(self.execute(&command, operation)).catch_unwind();
        tokio::select! {
            // Cancellation takes precedence over a result that is ready at the same time.
            biased;
            () = abort_handle.token.cancelled() => match abort_handle.reason() {
                Some(reason) => {
                    let _ = self.emit(&command_id, answer::cancelled(reason));
                    self.trace(Severity::Info, "command.cancelled", "Command cancelled", &command, operation);
                }
                None => return,
            },
            ended = executing => {
                if ended.is_err() {
                    let _ = self.emit(&command_id, answer::failure(CommandFailure::InternalError, "internal error"));
                }
            }
            () = limited => {
                let _ = self.emit(&command_id, answer::failure(CommandFailure::Timeout, "command timed out"));
                self.trace(Severity::Warn, "command.timeout", "Command timed out", &command, operation);
            }
        }
        // Free the slot before the log is written, which may wait for the disk.
        self.lock().stopped(&command_id);
        self.start_ready();
        self.log_end(command_id).await;
    }

    async fn execute(&self, command: &LinkCommand, operation: OperationId) {
        // An error only means that the terminal event is in the log already.
        let _ = self.try_execute(command, operation).await;
    }

    async fn try_execute(&self, command: &LinkCommand, operation: OperationId) -> Result<(), TerminalEvent> {
        let id = &command.command_id;
        // Before the request reaches the gateway: after a crash the command must be known as started.
        self.log_progress(id, CommandProgress::Started).await;
        let running = json!({"type": "status", "status": "running", "operationId": operation});
        self.emit(id, (EventType::Status, running))?;
        // Method and path were checked when the command was admitted.
        let method = request::method(command).ok_or(TerminalEvent)?;
        let complete;
        let command = match SignedLoop::of(command) {
            None => command,
            Some(signed) => match self.complete(command, signed).await {
                Ok(body) => {
                    complete = LinkCommand { body: Some(body), ..command.clone() };
                    &complete
                }
                Err((failure, text)) => return self.emit(id, answer::failure(failure, &text)),
            },
        };
        let request = match request::build(command, method, &self.config.gateway_token) {
            Ok(request) => request,
            Err(error) => {
                let failure = answer::failure(CommandFailure::MalformedRequestTarget, &error.to_string());
                return self.emit(id, failure);
            }
        };
        let wait = self.header_wait(request::path(command));
        let Ok(response) = timeout(wait, self.config.gateway.call(request)).await else {
            return self.fail_gateway_timeout(command, operation);
        };
        match answer::stream_kind(response.headers()) {
            Some(kind) => self.relay(id, response, kind).await?,
            None => {
                let status = response.status().as_u16();
                let reading = axum::body::to_bytes(response.into_body(), answer::MAX_ANSWER_BYTES);
                let Ok(body) = timeout(wait, reading).await else {
                    return self.fail_gateway_timeout(command, operation);
                };
                let Ok(body) = body else { return self.emit(id, answer::too_large()) };
                for event in answer::whole(status, &body) {
                    self.emit(id, event)?;
                }
                if status >= 400 {
                    let text = "The gateway refused a command";
                    self.trace(Severity::Error, "command.gateway_error", text, command, operation);
                    return Ok(());
                }
            }
        }
        self.trace(Severity::Info, "command.completed", "Command completed", command, operation);
        Ok(())
    }

    /// Returns the body of a user's signed request to start or cancel a loop. A start needs a token, which the
    /// server issues once, after the desktop has verified the signature.
    async fn complete(
        &self,
        command: &LinkCommand,
        signed: SignedLoop<'_>,
    ) -> Result<Value, (CommandFailure, String)> {
        if signed.operation == OperationId::OrchestratorLoopKill {
            return Ok(json!({"loopId": signed.loop_id}));
        }
        let unavailable = |reason: &str| {
            let text = format!("execution credentials could not be fetched: {reason}");
            (CommandFailure::CredentialsUnavailable, text)
        };
        let target_id = self.lock().target_id();
        let target_id = target_id.ok_or_else(|| unavailable("this machine is not registered"))?;
        let credentials = &self.config.signing.loop_credentials;
        let fetched = credentials.fetch(target_id, signed.loop_id.clone(), command.command_id.clone()).await;
        let fetched = fetched.map_err(|reason| unavailable(&reason))?;
        let payload_mismatch = |reason| {
            let text = format!("{}: {reason}", SigningRejection::PayloadMismatch);
            (CommandFailure::PayloadMismatch, text)
        };
        signed.launch(fetched).map_err(payload_mismatch)
    }

    fn header_wait(&self, path: &str) -> Duration {
        let route_path = path.strip_prefix(loopgate_api::operation::GATEWAY_PREFIX).unwrap_or_default();
        let slow = SLOW_ROUTES.iter().any(|route| {
            if route.ends_with('/') { route_path.starts_with(route) } else { route_path == *route }
        });
        if slow { self.config.timing.long_header_wait } else { self.config.timing.header_wait }
    }

    fn fail_gateway_timeout(
        &self,
        command: &LinkCommand,
        operation: OperationId,
    ) -> Result<(), TerminalEvent> {
        let text = "The gateway did not answer in time";
        self.trace(Severity::Error, "command.gateway_error", text, command, operation);
        let failure = answer::failure(CommandFailure::GatewayTimeout, "gateway response timeout");
        self.emit(&command.command_id, failure)
    }

    /// Relays a streamed response line by line.
    async fn relay(&self, id: &str, response: Response<Body>, kind: StreamKind) -> Result<(), TerminalEvent> {
        let mut reader = StreamParser::new(kind);
        let mut body = response.into_body().into_data_stream();
        while let Some(bytes) = body.next().await {
            let Ok(bytes) = bytes else {
                let failure = answer::failure(
                    CommandFailure::StreamFailed,
                    "the gateway's response stream was interrupted",
                );
                return self.emit(id, failure);
            };
            let Ok(events) = reader.feed(&bytes) else { return self.emit(id, answer::too_large()) };
            for event in events {
                self.emit(id, event)?;
            }
        }
        for event in reader.finish() {
            self.emit(id, event)?;
        }
        self.emit(id, answer::done())
    }

    /// Appends an event to the command's log. An event that exceeds a limit is replaced by a terminal error.
    fn emit(&self, id: &str, event: EventBody) -> Result<(), TerminalEvent> {
        let (mut event, mut bytes) = answer::weighed(event);
        if !fits(&event.1, bytes) {
            (event, bytes) = answer::weighed(answer::too_large());
        }
        let mut state = self.lock();
        let Some(admitted) = state.admits(id, bytes) else { return Err(TerminalEvent) };
        let ends = event.0.is_terminal(&event.1);
        // Terminal events are accepted above the limits, so that every command can end.
        if let (Err(overflow), false) = (admitted, ends) {
            (event, bytes) =
                answer::weighed(answer::failure(CommandFailure::BufferOverflow, &overflow.to_string()));
        }
        let ends = event.0.is_terminal(&event.1);
        state.push(id, event, bytes, Instant::now());
        drop(state);
        self.wake.notify_one();
        if ends { Err(TerminalEvent) } else { Ok(()) }
    }

    async fn log_progress(&self, id: &str, progress: CommandProgress) {
        let writing = self.config.command_log.record(id.to_owned(), progress);
        match timeout(self.config.timing.command_log, writing).await {
            Ok(Ok(())) => {}
            // The command is executed regardless; only its deduplication after a restart is lost.
            Ok(Err(error)) => tracing::warn!(command_id = id, %error, "failed to write the command log"),
            Err(_) => tracing::warn!(command_id = id, "timed out writing the command log"),
        }
    }

    pub(super) async fn log_end(self: Arc<Self>, id: String) {
        let events = self.lock().unacknowledged_events(&id, MAX_LOGGED_BYTES);
        self.log_progress(&id, CommandProgress::Finished { events }).await;
    }
}

impl std::fmt::Display for Overflow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Events => {
                write!(f, "command event buffer exceeded {MAX_UNACKNOWLEDGED} unacknowledged events")
            }
            Self::Bytes => f.write_str("command event buffer exceeded its unacknowledged bytes"),
        }
    }
}
