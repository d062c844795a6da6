//! The control plane's end against a raw desktop, over a real socket.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed setup step fails the test")]

mod bench;

use std::time::Duration;

use bench::{
    KEY, OTHER_KEY, RawDesktop, ServerFixture, SocketEvent, command, command_event, hello, identity, numbers,
    resumes, with_timeout,
};
use futures_util::{SinkExt as _, StreamExt as _};
use loopgate_api::link::{
    Cancel, CommandAck, CommandEventAck, Frame, HelloAck, HelloNack, LINK_PATH, MAX_MESSAGE_BYTES,
    NackReason, ReportAck, SUBPROTOCOL, Severity, Telemetry, TelemetryRejected, event,
};
use loopgate_link::server::{SendError, ServerTiming};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::Message;
use uuid::Uuid;

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

// CL-01, CL-02, CL-53
#[tokio::test]
async fn upgrade_is_checked_in_order() {
    let control_plane = ServerFixture::start().await;
    let refused = async |headers: &[(&'static str, &str)], subprotocol| {
        RawDesktop::try_connect(&control_plane, headers, subprotocol).await.err().unwrap()
    };
    let good = bearer(KEY);
    let failure = |error: &str, code: &str| json!({"success": false, "error": error, "code": code});
    let unauthorized = (401, failure("Unauthorized", "unauthorized"));
    assert_eq!(refused(&[], Some(SUBPROTOCOL)).await, unauthorized);
    assert_eq!(refused(&[("authorization", &bearer("lgk_live_bad"))], Some(SUBPROTOCOL)).await, unauthorized);
    assert_eq!(refused(&[("authorization", "Basic abc")], Some(SUBPROTOCOL)).await, unauthorized);
    let missing = (400, failure("Subprotocol loopgate.v1 required", "subprotocol_required"));
    assert_eq!(refused(&[("authorization", &good)], None).await, missing);
    assert_eq!(refused(&[("authorization", &good)], Some("loopgate.v2")).await, missing);
    let foreign = [("authorization", good.as_str()), ("origin", "http://evil.test")];
    assert_eq!(refused(&foreign, Some(SUBPROTOCOL)).await, (403, failure("Forbidden", "forbidden")));
    let trusted = [("authorization", good.as_str()), ("origin", "http://trusted.test")];
    assert!(RawDesktop::try_connect(&control_plane, &trusted, Some(SUBPROTOCOL)).await.is_ok());
}

// CL-01, CL-02
#[tokio::test]
async fn request_without_upgrade_or_with_a_key_in_the_query_is_rejected() {
    let control_plane = ServerFixture::start().await;
    let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: loopgate.v1\r\n";
    for (query, headers, status) in
        [("", "", "426"), (&*format!("?key={KEY}&authorization=Bearer%20{KEY}"), upgrade, "401")]
    {
        let mut socket = tokio::net::TcpStream::connect(control_plane.address).await.unwrap();
        let request = format!("GET {LINK_PATH}{query} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut status_line = vec![0; 12];
        with_timeout("a response", socket.read_exact(&mut status_line)).await.unwrap();
        assert_eq!(status_line, format!("HTTP/1.1 {status}").as_bytes());
    }
}

// CL-08
#[tokio::test]
async fn reconnect_gets_the_same_target() {
    let control_plane = ServerFixture::start().await;
    let gateway = Uuid::new_v4();
    let mut first = RawDesktop::connect(&control_plane, KEY).await;
    let ack = first.hello(gateway).await;
    assert_eq!(ack.event, event::HELLO_ACK);
    let ack: HelloAck = ack.payload().unwrap();
    assert!(ack.session_id.is_some() && ack.resume_from_sequence.is_empty());
    drop(first);
    control_plane.host().until("offline", |store| !store.online[&ack.compute_target_id]).await;
    let mut second = RawDesktop::connect(&control_plane, KEY).await;
    let again: HelloAck = second.hello(gateway).await.payload().unwrap();
    assert_eq!(again.compute_target_id, ack.compute_target_id);
    assert_ne!(again.session_id, ack.session_id);
    let store = control_plane.host().until("online", |store| store.online[&ack.compute_target_id]).await;
    assert_eq!(store.targets.len(), 1);
}

// CL-07, CL-09
#[tokio::test]
async fn invalid_hello_is_rejected_with_its_reason() {
    let control_plane = ServerFixture::start().await;
    let mut without_name = hello(Uuid::new_v4());
    without_name.as_object_mut().unwrap().remove("machineName");
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    raw.send(&Frame::event(event::ANALYTICS, &json!({"event": "x"})).with_id("early")).await;
    raw.send(&Frame::event(event::HELLO, &without_name)).await;
    let early = raw.frame().await;
    assert_eq!(early.ack.as_deref(), Some("early"));
    assert_eq!(early.payload::<ReportAck>().unwrap(), ReportAck::rejected("validation_failed"));
    let nack: HelloNack = raw.frame().await.payload().unwrap();
    assert_eq!(nack.reason, NackReason::InvalidHello);
    assert_eq!(raw.closed().await, 4400);

    let gateway = Uuid::new_v4();
    RawDesktop::connect(&control_plane, KEY).await.hello(gateway).await;
    let mut intruder = RawDesktop::connect(&control_plane, OTHER_KEY).await;
    let nack: HelloNack = intruder.hello(gateway).await.payload().unwrap();
    assert_eq!(nack.reason, NackReason::GatewayConflict);
    assert_eq!(intruder.closed().await, 4409);
    let owner = control_plane.host().store.borrow().targets[&gateway].1;
    assert_eq!(owner, identity(KEY).unwrap().user_id, "the owner is unchanged");

    control_plane.host().set(|store| store.refuse = Some(NackReason::ComputeTargetRegisterFailed));
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    assert_eq!(raw.hello(Uuid::new_v4()).await.event, event::HELLO_NACK);
    assert_eq!(raw.closed().await, 1011);
}

#[tokio::test]
async fn registration_timeout_is_a_rejection() {
    let timing = ServerTiming { registration_step: Duration::from_millis(50), ..ServerTiming::default() };
    let control_plane = ServerFixture::start_with(timing).await;
    let (_never, gate) = oneshot::channel();
    *control_plane.host().gate.lock().unwrap() = Some(gate);
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    let nack: HelloNack = raw.hello(Uuid::new_v4()).await.payload().unwrap();
    assert_eq!(nack.reason, NackReason::ComputeTargetRegisterFailed);
    assert_eq!(raw.closed().await, 1011);
}

#[tokio::test]
async fn connection_without_hello_is_closed() {
    let timing = ServerTiming { hello: Duration::from_millis(50), ..ServerTiming::default() };
    let control_plane = ServerFixture::start_with(timing).await;
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    raw.send(&Frame::event("not.a.hello", &json!({}))).await;
    assert_eq!(raw.closed().await, 4408);
}

#[tokio::test]
async fn events_before_the_registration_are_handled_after_it() {
    let control_plane = ServerFixture::start().await;
    let gateway = Uuid::new_v4();
    let target = {
        let mut raw = RawDesktop::connect(&control_plane, KEY).await;
        raw.hello(gateway).await.payload::<HelloAck>().unwrap().compute_target_id
    };
    control_plane.order(target, command("c"));
    let (open, gate) = oneshot::channel();
    *control_plane.host().gate.lock().unwrap() = Some(gate);
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    for n in 1..=60 {
        raw.send(&command_event("c", n, "chunk")).await;
    }
    raw.send(&Frame::event(event::HELLO, &hello(gateway))).await;
    for n in 61..=150 {
        raw.send(&command_event("c", n, "chunk")).await;
    }
    open.send(()).unwrap();
    let stored = control_plane.host().until("events", |store| store.entry("c").events.len() == 150).await;
    assert_eq!(numbers(&stored.entry("c").events), (1..=150).collect::<Vec<u64>>());
}

#[tokio::test]
async fn more_than_a_hundred_early_frames_are_dropped() {
    let control_plane = ServerFixture::start().await;
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    for n in 0..120 {
        raw.send(&Frame::event("unknown", &json!({})).with_id(format!("f{n}"))).await;
    }
    raw.hello(Uuid::new_v4()).await;
    for n in 0..100 {
        assert_eq!(raw.frame().await.ack, Some(format!("f{n}")));
    }
    raw.send(&Frame::event("unknown", &json!({})).with_id("last")).await;
    assert_eq!(raw.frame().await.ack.as_deref(), Some("last"));
}

/// The bytes of received frames are bounded, and a flooding desktop does not delay the others.
#[tokio::test]
async fn flooding_desktop_is_throttled_without_delaying_others() {
    let control_plane = ServerFixture::start().await;
    let (mut other, target) = registered_with(&control_plane, OTHER_KEY).await;
    control_plane.order(target, command("honest"));
    other.frame().await;

    // 100 early frames of nearly 10 MiB each. Early frames may occupy 1 MiB, so all of them are dropped.
    let mut hostile = RawDesktop::connect(&control_plane, KEY).await;
    let huge = Frame::event("unknown", &json!({"pad": "x".repeat(MAX_MESSAGE_BYTES - 4096)})).with_id("huge");
    let huge = huge.to_text();
    for _ in 0..100 {
        hostile.send_text(&huge).await;
    }
    hostile.send(&Frame::event("unknown", &json!({})).with_id("small")).await;
    let ack: HelloAck = hostile.hello(Uuid::new_v4()).await.payload().unwrap();
    assert_eq!(hostile.frame().await.ack.as_deref(), Some("small"), "all huge frames were dropped");

    // Flood a command whose events cannot be stored. The other desktop's events must still be acknowledged.
    control_plane.order(ack.compute_target_id, command("flood"));
    hostile.frame().await;
    let (release, blocked) = oneshot::channel();
    *control_plane.host().blocked.lock().unwrap() = Some(("flood".to_owned(), blocked));
    let flood = Frame::event(
        event::COMMAND_EVENT,
        &json!({"commandId": "flood", "sequence": 1, "eventType": "chunk", "data": "x".repeat(4 << 20)}),
    );
    let flood = flood.to_text();
    let mut sent = 0;
    // When the byte limits are reached the server stops reading, which blocks the sender through TCP.
    while sent < 100
        && tokio::time::timeout(Duration::from_secs(1), hostile.0.send(Message::text(flood.as_str())))
            .await
            .is_ok_and(|sent| sent.is_ok())
    {
        sent += 1;
    }
    assert!(sent < 20, "{sent} frames of 4 MiB were accepted");
    other.send(&command_event("honest", 1, "done")).await;
    assert_eq!(other.frame().await.payload::<CommandEventAck>().unwrap().sequence, 1);
    release.send(()).unwrap();
}

// CL-46
#[tokio::test]
async fn invalid_frames_close_with_their_codes() {
    let control_plane = ServerFixture::start().await;
    let frame_of = |size: usize| {
        let frame = Frame::event("x", &json!({"pad": ""})).to_text();
        frame.replace("\"pad\":\"\"", &format!("\"pad\":\"{}\"", "x".repeat(size - frame.len())))
    };
    assert_eq!(frame_of(MAX_MESSAGE_BYTES).len(), MAX_MESSAGE_BYTES);
    let cases = [
        (Message::text("[]"), 4400),
        (Message::text("{\"data\":{}}"), 4400),
        (Message::binary(vec![1, 2]), 1003),
        (Message::text(frame_of(MAX_MESSAGE_BYTES + 1)), 1009),
    ];
    for early in [true, false] {
        for (message, code) in cases.clone() {
            let mut raw = RawDesktop::connect(&control_plane, KEY).await;
            if !early {
                raw.hello(Uuid::new_v4()).await;
            }
            raw.0.send(message).await.unwrap();
            assert_eq!(raw.closed().await, code, "early: {early}");
        }
    }
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    raw.hello(Uuid::new_v4()).await;
    raw.send_text(&frame_of(MAX_MESSAGE_BYTES)).await;
    raw.send(&Frame::event("unknown", &json!({})).with_id("after")).await;
    assert_eq!(raw.frame().await.ack.as_deref(), Some("after"), "a message at the limit is accepted");
}

#[tokio::test]
async fn text_that_is_not_utf8_closes_with_1007() {
    let control_plane = ServerFixture::start().await;
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    // A masked text frame with the single byte 0xff, which is never valid in UTF-8.
    let stream = raw.0.get_mut();
    stream.write_all(&[0x81, 0x81, 0, 0, 0, 0, 0xff]).await.unwrap();
    assert_eq!(raw.closed().await, 1007);
}

// CL-47
#[tokio::test]
async fn unknown_events_and_acks_do_not_close_the_connection() {
    let control_plane = ServerFixture::start().await;
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    raw.hello(Uuid::new_v4()).await;
    raw.send(&Frame::event("unknown", &json!({}))).await;
    raw.send(&Frame::acknowledging("unknown", "unknown-id", &json!({}))).await;
    raw.send(&Frame::event(event::COMMAND_EVENT, &json!({"commandId": 1}))).await;
    raw.send(&Frame::event(event::TELEMETRY, &json!([]))).await;
    assert_eq!(raw.frame().await.event, event::TELEMETRY_VALIDATION_FAILED);
    raw.send(&Frame::event("unknown", &json!({})).with_id("u1")).await;
    let ack = raw.frame().await;
    assert_eq!(
        (ack.ack.as_deref(), ack.data),
        (Some("u1"), json!({"accepted": false, "reason": "unknown_event"}))
    );
    for (event_name, accepted) in
        [("accepted", ReportAck::accepted()), ("other", ReportAck::rejected("feature_disabled"))]
    {
        raw.send(&Frame::event(event::ANALYTICS, &json!({ "event": event_name })).with_id("a1")).await;
        assert_eq!(raw.frame().await.payload::<ReportAck>().unwrap(), accepted);
    }
}

async fn registered(control_plane: &ServerFixture) -> (RawDesktop, Uuid) {
    registered_with(control_plane, KEY).await
}

async fn registered_with(control_plane: &ServerFixture, key: &str) -> (RawDesktop, Uuid) {
    let mut raw = RawDesktop::connect(control_plane, key).await;
    let ack: HelloAck = raw.hello(Uuid::new_v4()).await.payload().unwrap();
    (raw, ack.compute_target_id)
}

// CL-27, CL-28, CL-29
#[tokio::test]
async fn events_are_acknowledged_once_stored_and_a_gap_is_reported() {
    let control_plane = ServerFixture::start().await;
    let (mut raw, target) = registered(&control_plane).await;
    control_plane.order(target, command("c"));
    assert_eq!(raw.frame().await.event, event::COMMAND);
    for (sequence, kind) in [(1, "status"), (2, "chunk"), (2, "chunk")] {
        raw.send(&command_event("c", sequence, kind)).await;
        let ack: CommandEventAck = raw.frame().await.payload().unwrap();
        assert_eq!((ack.command_id.as_str(), ack.sequence), ("c", sequence));
    }
    raw.send(&command_event("c", 5, "chunk")).await;
    let gap = raw.frame().await;
    assert_eq!(gap.event, event::HELLO_ACK);
    assert_eq!(resumes(&gap), [("c".to_owned(), 2)].into());
    // Another target's command, an unknown command and an invalid sequence are not acknowledged.
    control_plane.order(Uuid::new_v4(), command("foreign"));
    raw.send(&command_event("foreign", 1, "status")).await;
    raw.send(&command_event("unknown", 1, "status")).await;
    raw.send(&command_event("c", 0, "status")).await;
    raw.send(&command_event("c", 3, "done")).await;
    assert_eq!(raw.frame().await.payload::<CommandEventAck>().unwrap().sequence, 3);
    let store = control_plane.host().store.borrow().clone();
    assert_eq!(numbers(&store.entry("c").events), [1, 2, 3]);
    assert!(store.entry("foreign").events.is_empty());
}

#[tokio::test]
async fn slow_command_delays_only_its_events() {
    let control_plane = ServerFixture::start().await;
    let (mut raw, target) = registered(&control_plane).await;
    for id in ["slow", "quick"] {
        control_plane.order(target, command(id));
        raw.frame().await;
    }
    let (release, blocked) = oneshot::channel();
    *control_plane.host().blocked.lock().unwrap() = Some(("slow".to_owned(), blocked));
    for n in 1..=3 {
        raw.send(&command_event("slow", n, "chunk")).await;
        raw.send(&command_event("quick", n, "chunk")).await;
    }
    for n in 1..=3 {
        let ack: CommandEventAck = raw.frame().await.payload().unwrap();
        assert_eq!((ack.command_id.as_str(), ack.sequence), ("quick", n));
    }
    release.send(()).unwrap();
    for n in 1..=3 {
        let ack: CommandEventAck = raw.frame().await.payload().unwrap();
        assert_eq!((ack.command_id.as_str(), ack.sequence), ("slow", n));
    }
}

#[tokio::test]
async fn outstanding_commands_follow_the_hello_in_order() {
    let control_plane = ServerFixture::start().await;
    let gateway = Uuid::new_v4();
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    let target = raw.hello(gateway).await.payload::<HelloAck>().unwrap().compute_target_id;
    drop(raw);
    control_plane.host().until("offline", |store| !store.online[&target]).await;
    for id in ["a", "b"] {
        control_plane.order(target, command(id));
    }
    assert_eq!(control_plane.registry.deliver(target, &command("x")), Err(SendError::NotConnected));
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    let ack = raw.hello(gateway).await;
    assert_eq!(resumes(&ack), [("a".to_owned(), 0), ("b".to_owned(), 0)].into());
    for id in ["a", "b"] {
        let frame = raw.frame().await;
        assert_eq!((frame.event.as_str(), &frame.data["commandId"]), (event::COMMAND, &Value::from(id)));
    }
    raw.send(&Frame::event(event::COMMAND_ACK, &CommandAck::rejected("a", "queue_full", "queue full"))).await;
    let store = control_plane.host().until("an ack", |store| store.entry("a").ack.is_some()).await;
    assert_eq!(store.entry("a").ack.as_ref().unwrap().reason.as_deref(), Some("queue full"));
    let cancel = Cancel { command_id: "b".into(), reason: None };
    control_plane.registry.cancel(target, &cancel).unwrap();
    assert_eq!(raw.frame().await.event, event::CANCEL);
    // A desktop that did not receive the acknowledgement sends its hello again.
    assert_eq!(raw.hello(gateway).await.event, event::HELLO_ACK);
    assert_eq!(raw.frame().await.event, event::COMMAND);
}

// CL-44
#[tokio::test]
async fn newer_connection_supersedes_the_older() {
    let control_plane = ServerFixture::start().await;
    let gateway = Uuid::new_v4();
    let mut first = RawDesktop::connect(&control_plane, KEY).await;
    let target = first.hello(gateway).await.payload::<HelloAck>().unwrap().compute_target_id;
    control_plane.order(target, command("c"));
    first.frame().await;
    let mut second = RawDesktop::connect(&control_plane, KEY).await;
    second.hello(gateway).await;
    second.frame().await;
    assert_eq!(first.closed().await, 4410);
    second.send(&command_event("c", 1, "status")).await;
    second.frame().await;
    let store = control_plane.host().store.borrow().clone();
    assert!(store.online[&target]);
    assert_eq!((store.disconnects, store.entry("c").events.len()), (0, 1));
    assert!(control_plane.registry.is_connected(target));
    drop((first, second));
    // The disconnect of the superseded connection must not be reported, only that of its successor.
    assert_eq!(control_plane.stop().await.disconnects, 1);
}

#[tokio::test]
async fn connections_per_key_are_limited_to_ten() {
    let control_plane = ServerFixture::start().await;
    let mut open = Vec::new();
    for _ in 0..10 {
        let mut raw = RawDesktop::connect(&control_plane, KEY).await;
        raw.hello(Uuid::new_v4()).await;
        open.push(raw);
    }
    let mut eleventh = RawDesktop::connect(&control_plane, KEY).await;
    assert_eq!(eleventh.closed().await, 1013);
    RawDesktop::connect(&control_plane, OTHER_KEY).await.hello(Uuid::new_v4()).await;
    for raw in &mut open {
        raw.send(&Frame::event("unknown", &json!({})).with_id("still-open")).await;
        assert_eq!(raw.frame().await.ack.as_deref(), Some("still-open"));
    }
    // The slot is released once the server has noticed the closed socket, so retry.
    drop(open.pop());
    let admitted = async {
        loop {
            let mut next = RawDesktop::connect(&control_plane, KEY).await;
            let _ = next
                .0
                .send(Message::text(Frame::event(event::HELLO, &hello(Uuid::new_v4())).to_text()))
                .await;
            if let SocketEvent::Frame(frame) = next.receive().await {
                break frame;
            }
        }
    };
    assert_eq!(Box::pin(with_timeout("a free connection slot", admitted)).await.event, event::HELLO_ACK);
}

// CL-50
#[tokio::test]
async fn connections_close_when_key_target_or_server_end() {
    let control_plane = ServerFixture::start().await;
    let (mut raw, target) = registered(&control_plane).await;
    let mut unregistered = RawDesktop::connect(&control_plane, KEY).await;
    let mut other = RawDesktop::connect(&control_plane, OTHER_KEY).await;
    other.hello(Uuid::new_v4()).await;
    control_plane.registry.close_key(identity(KEY).unwrap().key_id);
    assert_eq!(raw.closed().await, 4401);
    assert_eq!(unregistered.closed().await, 4401);
    control_plane.host().until("offline", |store| !store.online[&target]).await;
    assert!(!control_plane.registry.is_connected(target));

    let (mut raw, target) = registered(&control_plane).await;
    control_plane.registry.close_target(target);
    assert_eq!(raw.closed().await, 1000);
    let (stopped, code) = tokio::join!(control_plane.stop(), other.closed());
    assert_eq!(code, 1001);
    assert!(stopped.online.values().all(|online| !online));
}

// CL-48
#[tokio::test]
async fn missing_pong_drops_the_connection() {
    let timing = ServerTiming {
        ping: Duration::from_millis(30),
        pong: Duration::from_millis(60),
        touch: Duration::from_millis(20),
        ..ServerTiming::default()
    };
    let control_plane = ServerFixture::start_with(timing).await;
    let (mut raw, target) = registered(&control_plane).await;
    // While the client reads it answers pings automatically, and the connection survives many of them.
    let until = control_plane.host().store.borrow().touches + 20;
    let reading = async { while raw.0.next().await.is_some() {} };
    tokio::select! {
        () = reading => panic!("the connection ended"),
        _ = control_plane.host().until("touches", |store| store.touches >= until) => {}
    }
    // When the client stops reading, pings remain unanswered.
    control_plane.host().until("offline", |store| !store.online[&target]).await;
}

#[tokio::test]
async fn full_send_queue_closes_the_connection() {
    let control_plane = ServerFixture::start().await;
    let (mut raw, target) = registered(&control_plane).await;
    let mut big = command("big");
    big.body = Some(json!("x".repeat(MAX_MESSAGE_BYTES - 4096)));
    let mut delivered = 0;
    while control_plane.registry.deliver(target, &big).is_ok() {
        delivered += 1;
        assert!(delivered < 20, "the send queue is not bounded");
        tokio::task::yield_now().await;
    }
    big.body = Some(json!("x".repeat(MAX_MESSAGE_BYTES)));
    assert_eq!(control_plane.registry.deliver(Uuid::new_v4(), &big), Err(SendError::TooLarge));
    control_plane.host().until("offline", |store| !store.online[&target]).await;
    loop {
        match raw.receive().await {
            SocketEvent::Frame(_) => {}
            SocketEvent::Closed(code) => break assert_eq!(code, 1013),
            SocketEvent::Lost => break,
        }
    }
}

// CL-40
#[tokio::test]
async fn telemetry_of_another_target_is_rejected() {
    let control_plane = ServerFixture::start().await;
    let (mut raw, target) = registered(&control_plane).await;
    let mut telemetry = Telemetry::new(Severity::Info, "job.started", "m");
    telemetry.trace.compute_target_id = Uuid::new_v4().to_string();
    raw.send(&Frame::event(event::TELEMETRY, &telemetry)).await;
    let rejected: TelemetryRejected = raw.frame().await.payload().unwrap();
    assert_eq!(rejected.issues[0].path, "trace.computeTargetId");
    telemetry.trace.compute_target_id = target.to_string();
    raw.send(&Frame::event(event::TELEMETRY, &telemetry)).await;
    raw.send(&Frame::event(
        event::PRESENCE,
        &json!({"state": "online", "activeCommands": 1, "queueDepth": 2}),
    ))
    .await;
    let store = control_plane
        .host()
        .until("telemetry", |store| store.telemetry.len() == 1 && store.presence.len() == 1)
        .await;
    assert_eq!(store.telemetry[0].category, "job.started");
    assert_eq!(store.presence[0].queue_depth, Some(2));
}
