//! The control plane's end against a raw desktop over a real socket.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod bench;

use std::time::Duration;

use bench::{
    KEY, OTHER_KEY, RawDesktop, ServerFixture, SocketEvent, command, command_event, hello, identity, numbers,
    patiently, resumes,
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
async fn plain_request_must_upgrade_and_a_key_in_the_query_counts_for_nothing() {
    let control_plane = ServerFixture::start().await;
    let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: loopgate.v1\r\n";
    for (query, headers, status) in
        [("", "", "426"), (&*format!("?key={KEY}&authorization=Bearer%20{KEY}"), upgrade, "401")]
    {
        let mut socket = tokio::net::TcpStream::connect(control_plane.address).await.unwrap();
        let request = format!("GET {LINK_PATH}{query} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![0; 12];
        patiently("an answer", socket.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, format!("HTTP/1.1 {status}").as_bytes());
    }
}

// CL-08
#[tokio::test]
async fn hello_is_acknowledged_and_a_second_one_gives_the_same_target() {
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
async fn bad_hello_is_refused_with_its_reason() {
    let control_plane = ServerFixture::start().await;
    let mut without_name = hello(Uuid::new_v4());
    without_name.as_object_mut().unwrap().remove("machineName");
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    raw.send(&Frame::event(event::ANALYTICS, &json!({"event": "x"})).with_id("early")).await;
    raw.send(&Frame::event(event::HELLO, &without_name)).await;
    let early = raw.frame().await;
    assert_eq!(early.ack.as_deref(), Some("early"));
    assert_eq!(early.payload::<ReportAck>().unwrap(), ReportAck::no("validation_failed"));
    let nack: HelloNack = raw.frame().await.payload().unwrap();
    assert_eq!(nack.reason, NackReason::InvalidHello);
    assert_eq!(raw.closed().await, 4400);

    let gateway = Uuid::new_v4();
    RawDesktop::connect(&control_plane, KEY).await.hello(gateway).await;
    let mut thief = RawDesktop::connect(&control_plane, OTHER_KEY).await;
    let nack: HelloNack = thief.hello(gateway).await.payload().unwrap();
    assert_eq!(nack.reason, NackReason::GatewayConflict);
    assert_eq!(thief.closed().await, 4409);
    let owner = control_plane.host().store.borrow().targets[&gateway].1;
    assert_eq!(owner, identity(KEY).unwrap().user_id, "the row is untouched");

    control_plane.host().set(|store| store.refuse = Some(NackReason::ComputeTargetRegisterFailed));
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    assert_eq!(raw.hello(Uuid::new_v4()).await.event, event::HELLO_NACK);
    assert_eq!(raw.closed().await, 1011);
}

#[tokio::test]
async fn registration_that_hangs_is_refused() {
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
async fn desktop_that_says_nothing_is_closed() {
    let timing = ServerTiming { hello: Duration::from_millis(50), ..ServerTiming::default() };
    let control_plane = ServerFixture::start_with(timing).await;
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    raw.send(&Frame::event("not.a.hello", &json!({}))).await;
    assert_eq!(raw.closed().await, 4408);
}

#[tokio::test]
async fn events_before_the_registration_wait_for_it() {
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

/// What it sends is bounded for all connections together; what others send gets through meanwhile.
#[tokio::test]
async fn hostile_desktop_costs_little_and_nobody_else_anything() {
    let control_plane = ServerFixture::start().await;
    let (mut other, target) = registered_with(&control_plane, OTHER_KEY).await;
    control_plane.order(target, command("honest"));
    other.frame().await;

    // 100 early frames of nearly 10 MiB: a megabyte of early frames is kept, and none of these fits.
    let mut hostile = RawDesktop::connect(&control_plane, KEY).await;
    let huge = Frame::event("unknown", &json!({"pad": "x".repeat(MAX_MESSAGE_BYTES - 4096)})).with_id("huge");
    let huge = huge.to_text();
    for _ in 0..100 {
        hostile.say_text(&huge).await;
    }
    hostile.send(&Frame::event("unknown", &json!({})).with_id("small")).await;
    let ack: HelloAck = hostile.hello(Uuid::new_v4()).await.payload().unwrap();
    assert_eq!(hostile.frame().await.ack.as_deref(), Some("small"), "none of the huge ones was kept");

    // It floods a command whose events are not stored, and repeats them; the other one's are.
    control_plane.order(ack.compute_target_id, command("flood"));
    hostile.frame().await;
    let (release, stuck) = oneshot::channel();
    *control_plane.host().stuck.lock().unwrap() = Some(("flood".to_owned(), stuck));
    let flood = Frame::event(
        event::COMMAND_EVENT,
        &json!({"commandId": "flood", "sequence": 1, "eventType": "chunk", "data": "x".repeat(4 << 20)}),
    );
    let flood = flood.to_text();
    let mut sent = 0;
    // The server stops reading, and with it the sender stops: far below what was asked of it.
    while sent < 100
        && tokio::time::timeout(Duration::from_secs(1), hostile.0.send(Message::text(flood.as_str())))
            .await
            .is_ok_and(|sent| sent.is_ok())
    {
        sent += 1;
    }
    assert!(sent < 20, "{sent} frames of 4 MiB were taken");
    other.send(&command_event("honest", 1, "done")).await;
    assert_eq!(other.frame().await.payload::<CommandEventAck>().unwrap().sequence, 1);
    release.send(()).unwrap();
}

// CL-46
#[tokio::test]
async fn wrong_frames_close_with_their_codes() {
    let control_plane = ServerFixture::start().await;
    let whole = |size: usize| {
        let frame = Frame::event("x", &json!({"pad": ""})).to_text();
        frame.replace("\"pad\":\"\"", &format!("\"pad\":\"{}\"", "x".repeat(size - frame.len())))
    };
    assert_eq!(whole(MAX_MESSAGE_BYTES).len(), MAX_MESSAGE_BYTES);
    let cases = [
        (Message::text("[]"), 4400),
        (Message::text("{\"data\":{}}"), 4400),
        (Message::binary(vec![1, 2]), 1003),
        (Message::text(whole(MAX_MESSAGE_BYTES + 1)), 1009),
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
    raw.say_text(&whole(MAX_MESSAGE_BYTES)).await;
    raw.send(&Frame::event("unknown", &json!({})).with_id("after")).await;
    assert_eq!(raw.frame().await.ack.as_deref(), Some("after"), "the largest message is fine");
}

#[tokio::test]
async fn text_that_is_not_utf8_closes_with_1007() {
    let control_plane = ServerFixture::start().await;
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    // A masked text frame of one byte that no UTF-8 text contains.
    let stream = raw.0.get_mut();
    stream.write_all(&[0x81, 0x81, 0, 0, 0, 0, 0xff]).await.unwrap();
    assert_eq!(raw.closed().await, 1007);
}

// CL-47
#[tokio::test]
async fn unknown_events_and_acknowledgements_leave_the_connection_alone() {
    let control_plane = ServerFixture::start().await;
    let mut raw = RawDesktop::connect(&control_plane, KEY).await;
    raw.hello(Uuid::new_v4()).await;
    raw.send(&Frame::event("unknown", &json!({}))).await;
    raw.send(&Frame::acknowledging("unknown", "nobody-waits", &json!({}))).await;
    raw.send(&Frame::event(event::COMMAND_EVENT, &json!({"commandId": 1}))).await;
    raw.send(&Frame::event(event::TELEMETRY, &json!([]))).await;
    assert_eq!(raw.frame().await.event, event::TELEMETRY_VALIDATION_FAILED);
    raw.send(&Frame::event("unknown", &json!({})).with_id("u1")).await;
    let ack = raw.frame().await;
    assert_eq!(
        (ack.ack.as_deref(), ack.data),
        (Some("u1"), json!({"accepted": false, "reason": "unknown_event"}))
    );
    for (event_name, accepted) in [("wanted", ReportAck::yes()), ("other", ReportAck::no("feature_disabled"))]
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
    // Not ours, not known, not an event: no answer at all.
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
async fn slow_command_holds_up_only_itself() {
    let control_plane = ServerFixture::start().await;
    let (mut raw, target) = registered(&control_plane).await;
    for id in ["slow", "quick"] {
        control_plane.order(target, command(id));
        raw.frame().await;
    }
    let (release, stuck) = oneshot::channel();
    *control_plane.host().stuck.lock().unwrap() = Some(("slow".to_owned(), stuck));
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
    // A desktop that missed the acknowledgement asks again.
    assert_eq!(raw.hello(gateway).await.event, event::HELLO_ACK);
    assert_eq!(raw.frame().await.event, event::COMMAND);
}

// CL-44
#[tokio::test]
async fn newer_connection_takes_over() {
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
    // The end of the superseded connection was never reported, only that of its successor.
    assert_eq!(control_plane.stop().await.disconnects, 1);
}

#[tokio::test]
async fn key_opens_ten_connections_at_most() {
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
        raw.send(&Frame::event("unknown", &json!({})).with_id("still there")).await;
        assert_eq!(raw.frame().await.ack.as_deref(), Some("still there"));
    }
    // A place is free once the server has seen the end of one.
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
    assert_eq!(Box::pin(patiently("a free place", admitted)).await.event, event::HELLO_ACK);
}

// CL-50
#[tokio::test]
async fn connections_end_with_their_key_their_target_and_the_server() {
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
async fn desktop_that_answers_no_ping_is_dropped() {
    let timing = ServerTiming {
        ping: Duration::from_millis(30),
        pong: Duration::from_millis(60),
        touch: Duration::from_millis(20),
        ..ServerTiming::default()
    };
    let control_plane = ServerFixture::start_with(timing).await;
    let (mut raw, target) = registered(&control_plane).await;
    // While it reads, it answers: many rounds later it is still there.
    let until = control_plane.host().store.borrow().touches + 20;
    let reading = async { while raw.0.next().await.is_some() {} };
    tokio::select! {
        () = reading => panic!("the connection ended"),
        _ = control_plane.host().until("touches", |store| store.touches >= until) => {}
    }
    // Then it stops reading, and with it answering.
    control_plane.host().until("offline", |store| !store.online[&target]).await;
}

#[tokio::test]
async fn desktop_that_does_not_read_is_too_far_behind() {
    let control_plane = ServerFixture::start().await;
    let (mut raw, target) = registered(&control_plane).await;
    let mut big = command("big");
    big.body = Some(json!("x".repeat(MAX_MESSAGE_BYTES - 4096)));
    let mut delivered = 0;
    while control_plane.registry.deliver(target, &big).is_ok() {
        delivered += 1;
        assert!(delivered < 20, "the queue has no end");
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
async fn telemetry_of_another_target_is_refused_and_of_its_own_taken() {
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
