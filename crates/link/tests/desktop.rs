//! A real desktop against a scripted server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed setup step fails the test")]

mod bench;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bench::{DesktopFixture, KEY, command, quick, validated_frame, with_timeout};
use futures_util::future::BoxFuture;
use futures_util::{SinkExt as _, StreamExt as _};
use http::HeaderValue;
use loopgate_api::link::{
    Analytics, CommandAck, CommandEvent, Frame, Hello, HelloAck, MAX_MESSAGE_BYTES, SUBPROTOCOL, Severity,
    Telemetry, event,
};
use loopgate_link::executor::{CommandLog, CommandProgress};
use loopgate_link::{client, executor};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};
use uuid::Uuid;

struct Server {
    listener: TcpListener,
}

struct LinkSocket(WebSocketStream<TcpStream>);

impl Server {
    async fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    fn origin(&self) -> String {
        format!("http://{}", self.listener.local_addr().unwrap())
    }

    async fn accept(&self) -> LinkSocket {
        let (socket, _) = with_timeout("a connection", self.listener.accept()).await.unwrap();
        #[expect(clippy::result_large_err, reason = "the library's own type")]
        let select = |_: &Request, mut response: Response| {
            let selected = HeaderValue::from_static(SUBPROTOCOL);
            response.headers_mut().insert("sec-websocket-protocol", selected);
            Ok(response)
        };
        LinkSocket(accept_hdr_async(socket, select).await.unwrap())
    }

    /// Accepts a connection and acknowledges its hello.
    async fn register(&self, desktop: &mut DesktopFixture) -> LinkSocket {
        let mut socket = self.accept().await;
        socket.hello().await;
        socket.acknowledge(&[]).await;
        desktop.online().await;
        socket
    }
}

impl LinkSocket {
    async fn send(&mut self, name: &str, payload: &Value) {
        self.send_message(Message::text(Frame::event(name, payload).to_text())).await;
    }

    async fn send_message(&mut self, message: Message) {
        self.0.send(message).await.unwrap();
    }

    async fn acknowledge(&mut self, resume: &[(&str, u64)]) {
        let resume: serde_json::Map<String, Value> =
            resume.iter().map(|(id, last)| ((*id).to_owned(), Value::from(*last))).collect();
        let ack = json!({"computeTargetId": Uuid::from_u128(7), "resumeFromSequence": resume});
        self.send(event::HELLO_ACK, &ack).await;
    }

    async fn close(&mut self, code: u16, reason: &'static str) {
        self.send_message(Message::Close(Some(CloseFrame { code: code.into(), reason: reason.into() })))
            .await;
    }

    /// Returns the next frame with this event name; skips other frames.
    async fn frame(&mut self, name: &str) -> Frame {
        loop {
            let frame = self.any_frame().await;
            if frame.event == name {
                return frame;
            }
        }
    }

    async fn any_frame(&mut self) -> Frame {
        loop {
            match with_timeout("a frame", self.0.next()).await {
                Some(Ok(Message::Text(text))) => return validated_frame(&text),
                Some(Ok(_)) => {}
                other => panic!("waiting for a frame: {other:?}"),
            }
        }
    }

    async fn hello(&mut self) -> Hello {
        Hello::parse(&self.frame(event::HELLO).await.data).unwrap()
    }

    /// Waits for the end of the connection, and returns the desktop's close code.
    async fn closed(&mut self) -> Option<u16> {
        loop {
            match with_timeout("the connection to end", self.0.next()).await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    async fn order(&mut self, id: &str) {
        self.send(event::COMMAND, &serde_json::to_value(command(id)).unwrap()).await;
    }

    async fn event(&mut self) -> CommandEvent {
        self.frame(event::COMMAND_EVENT).await.payload().unwrap()
    }
}

fn start(server: &Server, timing: client::ClientTiming) -> DesktopFixture {
    DesktopFixture::start_with(&server.origin(), Some(KEY), timing, executor::ExecutorTiming::default())
}

// CL-10, CL-11
#[tokio::test]
async fn unanswered_hello_is_repeated_before_a_reconnect() {
    let server = Server::start().await;
    let wait = Duration::from_millis(100);
    let mut desktop = start(&server, client::ClientTiming { hello_ack: wait, ..quick() });
    let start = Instant::now();
    let mut socket = server.accept().await;
    socket.hello().await;
    // An acknowledgement without a target id is not valid and must be ignored.
    socket.send(event::HELLO_ACK, &json!({"sessionId": Uuid::new_v4()})).await;
    assert_eq!(desktop.degraded("retrying").await, "Relay did not respond to handshake — retrying");
    socket.hello().await;
    assert!(start.elapsed() >= wait);
    desktop.degraded("reconnecting").await;
    assert_eq!(socket.closed().await, Some(1000));
    server.register(&mut desktop).await;
}

// CL-08
#[tokio::test]
async fn target_id_is_sent_after_a_reconnect() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let mut socket = server.accept().await;
    assert_eq!(socket.hello().await.compute_target_id, None);
    socket.acknowledge(&[]).await;
    assert_eq!(desktop.online().await, Uuid::from_u128(7));
    drop(socket);
    let mut socket = server.accept().await;
    assert_eq!(socket.hello().await.compute_target_id, Some(Uuid::from_u128(7)));
}

// CL-09
#[tokio::test]
async fn rejected_hello_is_reported_and_retried_after_a_change() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let mut socket = server.accept().await;
    socket.hello().await;
    socket
        .send(event::HELLO_NACK, &json!({"reason": "gateway_conflict", "message": "bound elsewhere"}))
        .await;
    socket.close(4409, "gateway_conflict").await;
    let text = desktop.degraded("gateway_conflict").await;
    assert_eq!(text, "Cloud socket disconnected: gateway_conflict: bound elsewhere");
    let waits = quick();
    let early = tokio::time::timeout(waits.longest_retry * 5, server.accept()).await;
    assert!(early.is_err(), "the retry interval is minutes");
    desktop.client.settings_changed();
    server.register(&mut desktop).await;
}

#[tokio::test]
async fn superseded_desktop_reconnects_after_its_delay() {
    let server = Server::start().await;
    let wait = Duration::from_millis(300);
    let mut desktop = start(&server, client::ClientTiming { superseded_retry: wait, ..quick() });
    let mut socket = server.register(&mut desktop).await;
    let start = Instant::now();
    socket.close(4410, "superseded").await;
    server.accept().await;
    assert!(start.elapsed() >= wait);
}

// CL-48
#[tokio::test]
async fn connection_without_messages_times_out() {
    let server = Server::start().await;
    let mut desktop = start(&server, client::ClientTiming { silence: Duration::from_millis(200), ..quick() });
    let mut socket = server.register(&mut desktop).await;
    // Pings reset the silence timeout.
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        socket.send_message(Message::Ping(Vec::new().into())).await;
        assert!(matches!(with_timeout("a pong", socket.0.next()).await, Some(Ok(_))));
        tokio::time::timeout(Duration::from_millis(50), std::future::pending::<()>()).await.unwrap_err();
    }
    desktop.degraded("timed out waiting for the server").await;
    server.register(&mut desktop).await;
}

// CL-46
#[tokio::test]
async fn invalid_frames_of_the_server_close_with_their_codes() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let cases = [
        (Message::text("[]"), 4400),
        (Message::binary(vec![1]), 1003),
        (Message::text(format!("{{\"event\":\"{}\"}}", "x".repeat(MAX_MESSAGE_BYTES))), 1009),
    ];
    for (message, code) in cases {
        let mut socket = server.register(&mut desktop).await;
        socket.send_message(message).await;
        assert_eq!(socket.closed().await, Some(code));
        desktop.degraded("disconnected").await;
    }
}

// CL-47
#[tokio::test]
async fn unknown_events_and_invalid_commands_do_not_close_the_connection() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let mut socket = server.register(&mut desktop).await;
    socket.send("unknown", &json!({})).await;
    let unknown = Frame::event("other", &json!({})).with_id("u1").to_text();
    socket.send_message(Message::text(unknown)).await;
    assert_eq!(socket.frame("other").await.data, json!({"accepted": false, "reason": "unknown_event"}));
    socket.send(event::COMMAND, &json!({"path": 1})).await;
    socket.send(event::COMMAND, &json!({"commandId": "c", "path": 1})).await;
    let ack: CommandAck = socket.frame(event::COMMAND_ACK).await.payload().unwrap();
    assert!(!ack.accepted && ack.command_id == "c" && ack.reason.unwrap().starts_with("invalid command"));
    let ack: Result<HelloAck, _> = Frame::event("x", &json!({})).payload();
    assert!(ack.is_err());
}

/// A command log whose reads and writes never complete.
struct BlockedLog;

impl CommandLog for BlockedLog {
    fn find<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Option<CommandProgress>>> {
        Box::pin(std::future::pending())
    }

    fn record(&self, _: String, _: CommandProgress) -> BoxFuture<'_, io::Result<()>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn blocked_command_log_does_not_delay_pongs_or_acks() {
    let server = Server::start().await;
    let executing = executor::ExecutorTiming::default();
    let log = Arc::new(BlockedLog);
    let mut desktop = DesktopFixture::start_with_log(&server.origin(), Some(KEY), quick(), executing, log);
    let mut socket = server.register(&mut desktop).await;
    socket.order("c").await;
    socket.send(event::CANCEL, &json!({"commandId": "d"})).await;
    socket.send_message(Message::Ping(Vec::new().into())).await;
    let pong = async { while !matches!(socket.0.next().await, Some(Ok(Message::Pong(_)))) {} };
    with_timeout("a pong", pong).await;
    let unknown = Frame::event("other", &json!({})).with_id("u1").to_text();
    socket.send_message(Message::text(unknown)).await;
    assert_eq!(socket.frame("other").await.ack.as_deref(), Some("u1"));
}

#[tokio::test]
async fn events_after_a_reported_gap_are_replayed() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let mut socket = server.register(&mut desktop).await;
    socket.order("c").await;
    assert!(socket.frame(event::COMMAND_ACK).await.payload::<CommandAck>().unwrap().accepted);
    desktop.call().await.answer("{}");
    for sequence in 1..=3 {
        assert_eq!(socket.event().await.sequence, sequence);
    }
    socket.acknowledge(&[("c", 1)]).await;
    for sequence in 2..=3 {
        assert_eq!(socket.event().await.sequence, sequence);
    }
}

#[tokio::test]
async fn ended_command_is_replayed_when_the_server_repeats_it() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let mut socket = server.register(&mut desktop).await;
    socket.order("c").await;
    desktop.call().await.answer("{}");
    for _ in 0..3 {
        let event = socket.event().await;
        socket.send(event::COMMAND_EVENT_ACK, &json!({"commandId": "c", "sequence": event.sequence})).await;
    }
    drop(socket);
    let mut socket = server.register(&mut desktop).await;
    socket.order("c").await;
    assert!(socket.frame(event::COMMAND_ACK).await.payload::<CommandAck>().unwrap().accepted);
    // Acknowledged events were dropped while the command was running; the terminal event is retained.
    assert!(socket.event().await.sequence >= 1);
    assert!(desktop.calls.try_recv().is_err());
}

#[tokio::test]
async fn connection_without_subprotocol_is_closed() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let (socket, _) = with_timeout("a connection", server.listener.accept()).await.unwrap();
    let _ = tokio_tungstenite::accept_async(socket).await;
    desktop.degraded("subprotocol").await;
}

#[tokio::test]
async fn stopped_desktop_closes_its_connection() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let mut socket = server.register(&mut desktop).await;
    socket.order("c").await;
    let _call = desktop.call().await;
    let (code, ()) = tokio::join!(socket.closed(), desktop.stop());
    assert_eq!(code, Some(1000));
}

#[tokio::test]
async fn queued_frames_are_sent_before_the_close() {
    let server = Server::start().await;
    let mut desktop = start(&server, quick());
    let mut socket = server.register(&mut desktop).await;
    let analytics = |name: &str| Analytics { event: name.into(), properties: Map::new(), occurred_at: None };
    for name in ["first", "second", "third"] {
        desktop.client.analytics(analytics(name));
    }
    desktop.executor.telemetry(Telemetry::new(Severity::Info, "shutdown.test", "Queued before the shutdown"));
    let stopping = tokio::spawn(desktop.stop());
    let (mut events, mut categories) = (Vec::new(), Vec::new());
    while events.len() < 3 || !categories.contains(&json!("shutdown.test")) {
        let frame = socket.any_frame().await;
        match frame.event.as_str() {
            event::ANALYTICS => events.push(frame.data["event"].clone()),
            event::TELEMETRY => categories.push(frame.data["category"].clone()),
            _ => {}
        }
    }
    assert_eq!(events, ["first", "second", "third"]);
    assert_eq!(socket.closed().await, Some(1000));
    stopping.await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn client_survives_invalid_messages(texts in prop::collection::vec(arbitrary_text(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::start().await;
            let mut desktop = start(&server, quick());
            let mut socket = server.register(&mut desktop).await;
            for text in texts {
                if socket.0.send(Message::text(text)).await.is_err() {
                    break;
                }
            }
            drop(socket);
            // After any input, the desktop must reconnect and accept commands.
            desktop.degraded("").await;
            desktop.client.settings_changed();
            let mut socket = server.accept().await;
            socket.hello().await;
            socket.acknowledge(&[]).await;
            socket.order("after").await;
            assert!(socket.frame(event::COMMAND_ACK).await.payload::<CommandAck>().unwrap().command_id == "after");
        });
    }
}

fn arbitrary_text() -> impl Strategy<Value = String> {
    let names = prop_oneof![
        Just(event::HELLO_ACK),
        Just(event::HELLO_NACK),
        Just(event::COMMAND),
        Just(event::COMMAND_EVENT_ACK),
        Just(event::CANCEL),
    ];
    let members = prop::collection::btree_map(
        prop_oneof![
            Just("commandId".to_owned()),
            Just("computeTargetId".to_owned()),
            Just("resumeFromSequence".to_owned()),
            Just("sequence".to_owned()),
            Just("path".to_owned()),
            "[a-z]{0,6}",
        ],
        prop_oneof![
            Just(json!("c")),
            Just(json!(Uuid::from_u128(9))),
            Just(json!({"c": 18_446_744_073_709_551_615_u64})),
            any::<u64>().prop_map(Value::from),
            Just(json!("/api/gateway/git")),
            Just(Value::Null),
        ],
        0..6,
    );
    prop_oneof![
        1 => ".{0,30}",
        6 => (names, members).prop_map(|(name, members)| json!({"event": name, "data": members}).to_string()),
    ]
}
