use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response, StatusCode};
use loopgate_api::link::{Cancel, Command, CommandEvent, CommandEventAck, EventType, PresenceState};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use super::state::{MAX_QUEUED, MAX_UNACKNOWLEDGED};
use super::*;

/// A request that reached the gateway, and the way to answer it.
struct Call {
    request: Request<Bytes>,
    answer: oneshot::Sender<Response<Body>>,
}

impl Call {
    fn answer(self, status: u16, content_type: &str, body: impl Into<Body>) {
        let response = Response::builder().status(status).header("content-type", content_type);
        self.answer.send(response.body(body.into()).unwrap()).unwrap();
    }

    /// Whether the executor gave the request up.
    async fn given_up(mut self) {
        self.answer.closed().await;
    }
}

struct ScriptedGateway(mpsc::UnboundedSender<Call>);

impl Gateway for ScriptedGateway {
    fn call(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Body>> {
        let (answer, answered) = oneshot::channel();
        assert!(request.uri().path() != "/api/gateway/git/panic", "a handler panics");
        self.0.send(Call { request, answer }).unwrap();
        Box::pin(async move { answered.await.unwrap() })
    }
}

struct Bench {
    executor: Arc<Executor>,
    calls: mpsc::UnboundedReceiver<Call>,
}

impl Bench {
    fn new() -> Self {
        Self::with_memory(Arc::new(VolatileMemory::default()))
    }

    fn with_memory(memory: Arc<dyn CommandMemory>) -> Self {
        Self::with(memory, true)
    }

    fn with(memory: Arc<dyn CommandMemory>, setup_complete: bool) -> Self {
        let (sender, calls) = mpsc::unbounded_channel();
        let executor = Executor::new(ExecutorConfig {
            gateway: Arc::new(ScriptedGateway(sender)),
            gateway_token: "gateway-token".into(),
            memory,
            setup_complete: Box::new(move || setup_complete),
            timing: Timing::default(),
        });
        Self { executor, calls }
    }

    /// A bench whose connection is registered.
    fn online() -> Self {
        let bench = Self::new();
        bench.executor.resume(&BTreeMap::new());
        bench
    }

    async fn accept(&self, command: Command) {
        let ack = self.executor.receive(command).await.unwrap();
        assert!(ack.accepted, "{ack:?}");
    }

    async fn refuse(&self, command: Command) -> String {
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

    /// The next event on the wire.
    async fn event(&self) -> CommandEvent {
        loop {
            if let Report::Event(event) = self.executor.next_report().await {
                return event;
            }
        }
    }

    /// Events up to the one that ends its command.
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

    fn cancel(&self, command_id: &str, reason: Option<&str>) {
        let reason = reason.map(str::to_owned);
        self.executor.cancel(&Cancel { command_id: command_id.into(), reason });
    }

    /// Nothing goes out for a second of virtual time.
    async fn quiet(&self) {
        let report = timeout(Duration::from_secs(1), self.event()).await;
        assert!(report.is_err(), "{report:?}");
    }

    fn stats(&self) -> (u32, u32) {
        let stats = *self.executor.stats().borrow();
        (stats.active_commands, stats.queue_depth)
    }
}

fn command(id: &str) -> Command {
    Command {
        command_id: id.into(),
        operation_id: "git_action".into(),
        method: "post".into(),
        path: "/api/gateway/git".into(),
        ..Command::default()
    }
}

fn in_repo(id: &str, path: &str) -> Command {
    Command { body: Some(json!({ "repoPath": path })), ..command(id) }
}

fn kinds(events: &[CommandEvent]) -> Vec<EventType> {
    events.iter().map(|event| event.event_type).collect()
}

fn sequences(events: &[CommandEvent]) -> Vec<u64> {
    events.iter().map(|event| event.sequence).collect()
}

const NDJSON: &str = "application/x-ndjson";
const JSON: &str = "application/json";

#[tokio::test(start_paused = true)]
async fn an_answer_becomes_status_result_and_done() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    assert_eq!(call.request.headers()["x-desktop-gateway-token"], "gateway-token");
    call.answer(200, JSON, "{\"ok\":true}");
    let events = bench.events().await;
    assert_eq!(kinds(&events), [EventType::Status, EventType::Result, EventType::Done]);
    assert_eq!(sequences(&events), [1, 2, 3]);
    let running = json!({"type": "status", "status": "running", "operationId": "git_action"});
    assert_eq!(events[0].data, running);
    assert_eq!(events[1].data["data"], json!({"ok": true}));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_gateway_is_the_end() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    bench.call().await.answer(404, JSON, "{\"error\":\"route not found\"}");
    let last = bench.events().await.pop().unwrap();
    assert_eq!(last.data["error"], "gateway returned 404: {\"error\":\"route not found\"}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_keeps_its_order_and_gets_no_second_end() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    let lines = "{\"type\":\"status\"}\n{\"type\":\"text\",\"content\":\"x\"}\n{\"type\":\"error\",\"terminal\":true}\n{\"type\":\"text\"}\n";
    bench.call().await.answer(500, NDJSON, lines);
    let events = bench.events().await;
    use EventType::{Chunk, Error, Status};
    assert_eq!(kinds(&events), [Status, Status, Chunk, Error]);
    bench.quiet().await;

    bench.accept(command("b")).await;
    bench.call().await.answer(200, NDJSON, "{\"type\":\"text\",\"content\":\"x\"}");
    assert_eq!(kinds(&bench.events().await), [Status, Chunk, EventType::Done]);
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_and_a_panic_end_their_commands() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    let broken = futures_util::stream::iter([
        Ok(Bytes::from("{\"type\":\"text\"}\n")),
        Err(std::io::Error::other("cut")),
    ]);
    bench.call().await.answer(200, NDJSON, Body::from_stream(broken));
    assert_eq!(bench.events().await.pop().unwrap().data["error"], "the gateway's stream broke off");
    bench.accept(Command { path: "/api/gateway/git/panic".into(), ..command("b") }).await;
    assert_eq!(bench.events().await.pop().unwrap().data["error"], "internal error");
    assert_eq!(bench.stats(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn refusals_come_in_their_order() {
    let bench = Bench::with(Arc::new(VolatileMemory::default()), false);
    assert_eq!(
        bench.refuse(Command { path: "/other".into(), ..command("a") }).await,
        "onboarding not completed"
    );
    let mut bench = Bench::online();
    for path in ["/other", "/api/gateway/nope", "/api/gateway/internal/browser-key/revoke", ""] {
        let odd = Command { path: path.into(), ..command("a") };
        assert_eq!(bench.refuse(odd).await, "operationId/path mismatch", "{path}");
    }
    assert_eq!(bench.refuse(command("")).await, "commandId is required");
    assert_eq!(bench.refuse(Command { method: "TRACE".into(), ..command("a") }).await, "unsupported method");
    bench.executor.set_paused(true);
    assert_eq!(bench.refuse(command("")).await, "cloud commands paused by user");
    bench.executor.set_gateway_lost(Some("the listener was lost".to_owned()));
    assert_eq!(bench.refuse(command("a")).await, "gateway recovering: the listener was lost");
    assert!(bench.no_call());
}

#[tokio::test(start_paused = true)]
async fn one_id_runs_once() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    bench.accept(command("a")).await;
    call.answer(200, JSON, "{}");
    let first = bench.events().await;
    for event in &first {
        bench.ack(event);
    }
    bench.quiet().await;
    // What an ended command still has is sent again from the start.
    bench.accept(command("a")).await;
    assert_eq!(bench.events().await, first);
    assert!(bench.no_call());
}

#[tokio::test(start_paused = true)]
async fn two_run_and_the_others_wait_in_order() {
    let mut bench = Bench::online();
    for id in ["a", "b", "c", "d"] {
        bench.accept(command(id)).await;
    }
    assert_eq!(bench.stats(), (2, 2));
    let (first, second) = (bench.call().await, bench.call().await);
    assert!(bench.no_call());
    second.answer(200, JSON, "{}");
    let third = bench.call().await;
    assert_eq!(third.request.headers()["x-desktop-operation-id"], "git_action");
    assert_eq!(bench.stats(), (2, 1));
    first.answer(200, JSON, "{}");
    third.answer(200, JSON, "{}");
    bench.call().await.answer(200, JSON, "{}");
    let mut ended = Vec::new();
    while ended.len() < 4 {
        let event = bench.event().await;
        if event.is_terminal() {
            ended.push(event.command_id);
        }
    }
    assert_eq!(ended.last().map(String::as_str), Some("d"));
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_held_by_one_and_overtaken_by_others() {
    let mut bench = Bench::online();
    bench.accept(in_repo("a", "/no/such/repo")).await;
    bench.accept(in_repo("b", "/no/such/repo/")).await;
    bench.accept(command("c")).await;
    let (first, other) = (bench.call().await, bench.call().await);
    assert!(!first.request.body().is_empty() && other.request.body().is_empty(), "the third one overtook");
    assert_eq!(bench.stats(), (2, 1));
    other.answer(200, JSON, "{}");
    bench.events().await;
    assert!(bench.no_call(), "there is room, but not for this lock");
    first.answer(200, JSON, "{}");
    assert!(!bench.call().await.request.body().is_empty());
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_what_waits_and_what_runs() {
    let mut bench = Bench::online();
    bench.accept(in_repo("a", "/no/such/repo")).await;
    bench.accept(in_repo("b", "/no/such/repo")).await;
    let call = bench.call().await;
    bench.cancel("b", None);
    bench.cancel("a", Some("changed my mind"));
    bench.cancel("unknown", None);
    call.given_up().await;
    let mut ends = BTreeMap::new();
    while ends.len() < 2 {
        let event = bench.event().await;
        if event.is_terminal() {
            ends.insert(event.command_id.clone(), event);
        }
    }
    assert_eq!(ends["a"].data, json!({"type": "done", "cancelled": true, "reason": "changed my mind"}));
    assert_eq!(ends["b"].data, json!({"type": "done", "cancelled": true, "reason": "cancelled"}));
    assert_eq!(ends["b"].sequence, 1, "it never ran");
    assert!(bench.no_call());
    bench.cancel("a", None);
    bench.quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_command_ends_at_its_own_limit() {
    let mut bench = Bench::online();
    bench.accept(Command { timeout_ms: Some(50), ..command("a") }).await;
    let call = bench.call().await;
    let start = Instant::now();
    let last = bench.events().await.pop().unwrap();
    assert_eq!(
        last.data,
        json!({"type": "error", "terminal": true, "error": "command timed out", "code": "timeout"})
    );
    assert_eq!(start.elapsed(), Duration::from_millis(50));
    call.given_up().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_gateway_frees_its_slot() {
    for (path, wait) in [
        ("git", 60),
        ("orchestrator/loop", 600),
        ("orchestrator/loop/kill", 600),
        ("reviewer/review/T-1", 600),
        ("reviewer/available", 60),
        ("deploy", 600),
    ] {
        let mut bench = Bench::online();
        let start = Instant::now();
        bench.accept(Command { path: format!("/api/gateway/{path}"), ..command("a") }).await;
        let call = bench.call().await;
        let last = bench.events().await.pop().unwrap();
        assert_eq!(last.data["error"], "gateway response timeout");
        assert_eq!(start.elapsed().as_secs(), wait, "{path}");
        call.given_up().await;
        assert_eq!(bench.stats(), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn too_many_unacknowledged_events_end_the_command() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    let (lines, body) = mpsc::unbounded_channel::<Result<Bytes, std::io::Error>>();
    let body = tokio_stream(body);
    call.answer(200, NDJSON, Body::from_stream(body));
    for _ in 0..MAX_UNACKNOWLEDGED {
        let _ = lines.send(Ok("{\"type\":\"text\"}\n".into()));
    }
    lines.closed().await;
    let events = bench.events().await;
    assert_eq!(events.len() as u64, MAX_UNACKNOWLEDGED + 1);
    let last = &events[events.len() - 1].data;
    assert_eq!(last["code"], "buffer_overflow");
    assert_eq!(last["error"], "command event buffer exceeded 10000 unacknowledged events");
}

#[tokio::test(start_paused = true)]
async fn the_end_always_fits() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    let lines = "{\"type\":\"text\"}\n".repeat(usize::try_from(MAX_UNACKNOWLEDGED).unwrap() - 1);
    bench.call().await.answer(200, NDJSON, lines);
    let events = bench.events().await;
    assert_eq!(events.len() as u64, MAX_UNACKNOWLEDGED + 1);
    assert_eq!(events[events.len() - 1].data, json!({"type": "done"}));
}

fn tokio_stream<T>(mut receiver: mpsc::UnboundedReceiver<T>) -> impl futures_util::Stream<Item = T> {
    futures_util::stream::poll_fn(move |context| receiver.poll_recv(context))
}

#[tokio::test(start_paused = true)]
async fn a_result_that_no_message_can_carry_is_an_error() {
    let mut bench = Bench::online();
    for (id, size) in [("a", 11), ("b", 10)] {
        bench.accept(command(id)).await;
        // Quotes become twice as long on the wire.
        bench.call().await.answer(200, "text/plain", "\"".repeat(size * 1024 * 1024));
        assert_eq!(bench.events().await.pop().unwrap().data["code"], "result_too_large");
    }
}

#[tokio::test(start_paused = true)]
async fn the_queue_has_an_end() {
    let bench = Bench::new();
    for n in 0..MAX_QUEUED {
        bench.accept(command(&n.to_string())).await;
    }
    assert_eq!(bench.refuse(command("one more")).await, "queue full");
}

#[tokio::test(start_paused = true)]
async fn nothing_starts_offline_and_what_runs_goes_on() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    assert_eq!(bench.event().await.sequence, 1);
    bench.executor.disconnected();
    bench.accept(command("b")).await;
    call.answer(200, JSON, "{}");
    bench.quiet().await;
    assert!(bench.no_call());
    bench.executor.resume(&[("a".to_owned(), 1), ("b".to_owned(), 0)].into());
    let events = bench.events().await;
    assert_eq!(sequences(&events), [2, 3], "only what the server has not");
    bench.call().await.answer(200, JSON, "{}");
    assert_eq!(sequences(&bench.events().await), [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn an_absurd_sequence_is_ignored() {
    let mut bench = Bench::new();
    bench.executor.resume(&[("a".to_owned(), u64::MAX)].into());
    bench.accept(command("a")).await;
    bench.executor.resume(&[("a".to_owned(), u64::MAX)].into());
    bench.call().await.answer(200, JSON, "{}");
    assert_eq!(sequences(&bench.events().await), [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn events_that_nobody_acknowledges_are_sent_again_a_few_times() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    bench.call().await.answer(200, JSON, "{}");
    let first = bench.events().await;
    bench.ack(&first[0]);
    let start = Instant::now();
    for _ in 0..3 {
        assert_eq!(bench.events().await, first[1..]);
    }
    assert_eq!(start.elapsed(), Duration::from_secs(30));
    let never = timeout(Duration::from_secs(3600), bench.event()).await;
    assert!(never.is_err(), "a server that never acknowledges is not flooded");
}

#[tokio::test(start_paused = true)]
async fn presence_tells_every_change() {
    let mut bench = Bench::online();
    let presence = |report| match report {
        Report::Presence(presence) => (presence.state, presence.active_commands, presence.queue_depth),
        other => panic!("{other:?}"),
    };
    let online = |active, depth| (PresenceState::Online, Some(active), Some(depth));
    for id in ["a", "b", "c"] {
        bench.accept(command(id)).await;
    }
    for expected in [online(0, 0), online(1, 0), online(2, 0), online(2, 1)] {
        assert_eq!(presence(bench.executor.next_report().await), expected);
    }
    bench.call().await.answer(200, JSON, "{}");
    bench.executor.set_paused(true);
    let mut seen = Vec::new();
    while seen.last().is_none_or(|last: &(PresenceState, _, _)| last.0 != PresenceState::Degraded) {
        if let report @ Report::Presence(_) = bench.executor.next_report().await {
            seen.push(presence(report));
        }
    }
    let error_after = async |change: &dyn Fn(&Executor)| {
        change(&bench.executor);
        match bench.executor.next_report().await {
            Report::Presence(presence) => presence.error,
            other => panic!("{other:?}"),
        }
    };
    let paused = "cloud commands paused by user";
    let lost = error_after(&|executor| executor.set_gateway_lost(Some("no port".to_owned()))).await;
    assert_eq!(lost.as_deref(), Some("gateway recovering: no port"));
    assert_eq!(error_after(&|executor| executor.set_gateway_lost(None)).await.as_deref(), Some(paused));
    assert_eq!(error_after(&|executor| executor.set_paused(false)).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_restart_never_runs_a_command_twice() {
    let memory: Arc<VolatileMemory> = Arc::default();
    let mut before = Bench::with_memory(memory.clone());
    before.executor.resume(&BTreeMap::new());
    for id in ["ended", "running", "waiting"] {
        before.accept(command(id)).await;
    }
    before.call().await.answer(200, JSON, "{\"kept\":true}");
    let _running = before.call().await;
    let _started = before.call().await;
    while !before.event().await.is_terminal() {}
    before.executor.shutdown().await;
    assert!(before.executor.receive(command("late")).await.is_none(), "the server sends it again");

    let mut after = Bench::with_memory(memory);
    let resume = [("ended", 1), ("running", 1), ("late", 0)].map(|(id, last)| (id.to_owned(), last));
    after.executor.resume(&resume.into());
    after.accept(command("ended")).await;
    let events = after.events().await;
    assert_eq!(sequences(&events), [2, 3], "the server's own numbers go on");
    assert_eq!(events[0].data["data"], json!({"kept": true}));
    after.accept(command("running")).await;
    let events = after.events().await;
    assert_eq!((events[0].sequence, &events[0].data["code"]), (2, &Value::from("interrupted")));
    assert!(after.no_call());
    after.accept(command("late")).await;
    after.call().await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_asks_again_for_a_loop() {
    let order = || Command { path: "/api/gateway/orchestrator/loop".into(), ..command("loop") };
    let order = || Command { operation_id: "orchestrator_loop".into(), ..order() };
    let memory: Arc<VolatileMemory> = Arc::default();
    let mut before = Bench::with_memory(memory.clone());
    before.executor.resume(&BTreeMap::new());
    before.accept(order()).await;
    let _never_answered = before.call().await;
    before.executor.shutdown().await;

    let mut after = Bench::with_memory(memory.clone());
    after.executor.resume(&[("loop".to_owned(), 1)].into());
    after.accept(order()).await;
    after.call().await.answer(409, JSON, "{\"error\":\"Loop is already running on this machine\"}");
    let events = after.events().await;
    assert_eq!(sequences(&events), [2, 3], "the server's own numbers go on");
    assert!(events[1].data["error"].as_str().is_some_and(|text| text.starts_with("gateway returned 409")));
    after.executor.shutdown().await;

    let mut later = Bench::with_memory(memory);
    later.executor.resume(&[("loop".to_owned(), 1)].into());
    later.accept(order()).await;
    assert_eq!(sequences(&later.events().await), [2, 3], "an order that was answered stays answered");
    assert!(later.no_call());
}

#[tokio::test(start_paused = true)]
async fn what_the_server_has_may_be_forgotten_early() {
    let memory: Arc<VolatileMemory> = Arc::default();
    let mut bench = Bench::with_memory(memory);
    bench.executor.resume(&BTreeMap::new());
    for id in ["settled", "unsettled"] {
        bench.accept(command(id)).await;
        bench.call().await.answer(200, JSON, "{}");
        let last = bench.events().await.pop().unwrap();
        if id == "settled" {
            bench.ack(&last);
        }
    }
    tokio::time::advance(Duration::from_secs(601)).await;
    bench.executor.start_ready();
    let state = bench.executor.lock();
    assert!(!state.is_known("settled") && state.is_known("unsettled"));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_says_nothing() {
    let mut bench = Bench::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    assert_eq!(bench.event().await.sequence, 1);
    bench.executor.shutdown().await;
    call.given_up().await;
    bench.quiet().await;
}

#[tokio::test]
async fn a_tower_service_is_a_gateway() {
    let router =
        axum::Router::new().route("/x", axum::routing::post(|body: String| async move { body + "!" }));
    let request = Request::post("/x").body(Bytes::from("hi")).unwrap();
    let response = InProcess(router.into_service::<Body>()).call(request).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(axum::body::to_bytes(response.into_body(), 10).await.unwrap(), "hi!");
}
