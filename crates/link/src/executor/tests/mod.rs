//! The executor against a scripted gateway.

mod answers;
mod connection;
mod replay;
mod signing;
mod turns;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use loopgate_api::link::{Cancel, CommandEvent, CommandEventAck, EventType, HelloAck, LinkCommand};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::*;

/// A request that reached the gateway, and the sender of its response.
struct Call {
    request: Request<Bytes>,
    answer: oneshot::Sender<Response<Body>>,
}

impl Call {
    fn answer(self, status: u16, content_type: &str, body: impl Into<Body>) {
        let response = Response::builder().status(status).header("content-type", content_type);
        self.answer.send(response.body(body.into()).unwrap()).unwrap();
    }

    /// Waits until the executor has cancelled the request.
    async fn cancelled(mut self) {
        self.answer.closed().await;
    }
}

struct ScriptedGateway(mpsc::UnboundedSender<Call>);

impl CommandHandler for ScriptedGateway {
    fn call(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Body>> {
        let (answer, response) = oneshot::channel();
        assert!(request.uri().path() != "/api/gateway/git/panic", "a handler panics");
        self.0.send(Call { request, answer }).unwrap();
        Box::pin(async move { response.await.unwrap() })
    }
}

/// Compute target id in the tests.
const TARGET: uuid::Uuid = uuid::Uuid::from_u128(7);

/// Acknowledgement of a hello by a server with this clock and these capabilities.
fn ack(server_time: &str, supports_signing: bool) -> HelloAck {
    let ack = json!({"computeTargetId": TARGET, "sessionId": TARGET, "serverTime": server_time,
        "serverCapabilities": {"computeTargetSigning": supports_signing}});
    serde_json::from_value(ack).unwrap()
}

struct ExecutorFixture {
    executor: Arc<Executor>,
    calls: mpsc::UnboundedReceiver<Call>,
}

impl ExecutorFixture {
    fn new() -> Self {
        Self::with_log(Arc::new(InMemoryCommandLog::default()))
    }

    fn with_log(command_log: Arc<dyn CommandLog>) -> Self {
        Self::with(command_log, true)
    }

    fn with(command_log: Arc<dyn CommandLog>, setup_complete: bool) -> Self {
        Self::with_signing(command_log, setup_complete, signing::unsigned())
    }

    fn with_signing(command_log: Arc<dyn CommandLog>, setup_complete: bool, signing: Signing) -> Self {
        let (sender, calls) = mpsc::unbounded_channel();
        let executor = Executor::new(ExecutorConfig {
            gateway: Arc::new(ScriptedGateway(sender)),
            gateway_token: "gateway-token".into(),
            command_log,
            setup_complete: Box::new(move || setup_complete),
            signing,
            timing: ExecutorTiming::default(),
        });
        Self { executor, calls }
    }

    /// Creates an executor with a registered connection.
    fn online() -> Self {
        let bench = Self::new();
        bench.executor.resume(&BTreeMap::new());
        bench
    }

    async fn accept(&self, command: LinkCommand) {
        let ack = self.executor.receive(command).await.unwrap();
        assert!(ack.accepted, "{ack:?}");
    }

    async fn reject(&self, command: LinkCommand) -> String {
        let ack = self.executor.receive(command).await.unwrap();
        assert!(!ack.accepted);
        ack.reason.unwrap()
    }

    async fn call(&mut self) -> Call {
        self.calls.recv().await.unwrap()
    }

    fn no_call(&mut self) -> bool {
        self.calls.try_recv().is_err()
    }

    /// Returns the next event to send; skips other reports.
    async fn event(&self) -> CommandEvent {
        loop {
            if let ExecutorReport::Event(event) = self.executor.next_report().await {
                return event;
            }
        }
    }

    /// Returns the events up to and including the next terminal event.
    async fn events(&self) -> Vec<CommandEvent> {
        let mut events = vec![self.event().await];
        while !events[events.len() - 1].is_terminal() {
            events.push(self.event().await);
        }
        events
    }

    fn ack(&self, event: &CommandEvent) {
        let ack = CommandEventAck { command_id: event.command_id.clone(), sequence: event.sequence };
        self.executor.acknowledged(&ack);
    }

    async fn cancel(&self, command_id: &str, reason: Option<&str>) {
        let reason = reason.map(str::to_owned);
        self.executor.cancel(&Cancel { command_id: command_id.into(), reason }).await;
    }

    /// Asserts that no event is sent for a second of virtual time.
    async fn quiet(&self) {
        let report = timeout(Duration::from_secs(1), self.event()).await;
        assert!(report.is_err(), "{report:?}");
    }

    fn stats(&self) -> (u32, u32) {
        let stats = *self.executor.stats().borrow();
        (stats.active_commands, stats.queue_depth)
    }
}

fn command(id: &str) -> LinkCommand {
    LinkCommand {
        command_id: id.into(),
        operation_id: "git_action".into(),
        method: "post".into(),
        path: "/api/gateway/git".into(),
        ..LinkCommand::default()
    }
}

fn in_repo(id: &str, path: &str) -> LinkCommand {
    LinkCommand { body: Some(json!({ "repoPath": path })), ..command(id) }
}

fn kinds(events: &[CommandEvent]) -> Vec<EventType> {
    events.iter().map(|event| event.event_type).collect()
}

fn sequences(events: &[CommandEvent]) -> Vec<u64> {
    events.iter().map(|event| event.sequence).collect()
}

const NDJSON: &str = "application/x-ndjson";
const JSON: &str = "application/json";
