//! A real desktop and the control plane's end, over a real socket.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed setup step fails the test")]

mod bench;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use base64::Engine as _;
use bench::{DesktopFixture, KEY, MemoryStore, ServerFixture, command, numbers, quick, with_timeout};
use bytes::Bytes;
use loopgate_api::link::{Cancel, EventType, LinkCommand};
use loopgate_api::names::{POP_GATEWAY_HEADER, POP_SIGNATURE_HEADER, POP_TIMESTAMP_HEADER};
use loopgate_link::executor::{self, InMemoryCommandLog};
use loopgate_link::{client, server};
use serde_json::json;
use tokio::sync::mpsc;

#[tokio::test]
async fn command_is_executed_and_its_events_are_stored() {
    let control_plane = ServerFixture::start().await;
    let mut desktop = DesktopFixture::start(&control_plane.origin());
    let target = desktop.online().await;
    let id = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";
    control_plane.order(target, LinkCommand { body: Some(json!({"action": "status"})), ..command(id) });
    let call = desktop.call().await;
    assert_eq!(call.request.headers()["x-desktop-command-id"], id);
    assert_eq!(call.request.headers()["x-desktop-source"], "cloud-socket");
    call.answer("{\"clean\":true}");
    let events = control_plane.events_until_end(id).await;
    assert_eq!(numbers(&events), [1, 2, 3]);
    assert_eq!(events[1].data["data"], json!({"clean": true}));
    let store = control_plane.host().until("idle", |store| {
        store.presence.last().is_some_and(|presence| presence.active_commands == Some(0))
            && store.presence.len() > 2
    });
    let store = store.await;
    assert!(store.entry(id).ack.as_ref().unwrap().accepted);
    assert_eq!(store.hellos[0].gateway_id, Some(desktop.credentials.gateway_id()));
    desktop.stop().await;
    control_plane.host().until("offline", |store| !store.online[&target]).await;
}

#[tokio::test]
async fn upgrade_proves_the_possession_of_its_key() {
    let control_plane = ServerFixture::start().await;
    let mut desktop = DesktopFixture::start(&control_plane.origin());
    desktop.online().await;
    let headers = control_plane.upgrades.borrow()[0].clone();
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(headers["sec-websocket-protocol"], "loopgate.v1");
    assert!(!headers.contains_key("origin"));
    let gateway_id = desktop.credentials.gateway_id().to_string();
    assert_eq!(headers[POP_GATEWAY_HEADER], gateway_id.as_str());
    let stamp: i64 = headers[POP_TIMESTAMP_HEADER].to_str().unwrap().parse().unwrap();
    assert!((jiff::Timestamp::now().as_second() - stamp).abs() < 60);
    let signature = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(&headers[POP_SIGNATURE_HEADER]);
    assert_eq!(signature.unwrap().len(), 64);
}

#[tokio::test]
async fn rejected_key_is_reported_and_retried_after_a_change() {
    let control_plane = ServerFixture::start().await;
    let mut desktop = DesktopFixture::start_with(
        &control_plane.origin(),
        Some("lgk_live_bad"),
        quick(),
        executor::ExecutorTiming::default(),
    );
    let text = desktop.degraded("Authentication").await;
    assert_eq!(text, "Authentication failed -- verify your API key in Settings");
    desktop.credentials.store_managed_key(KEY.into()).unwrap();
    desktop.client.settings_changed();
    desktop.online().await;
    assert_eq!(control_plane.upgrades.borrow().len(), 2, "no retry before the change");
}

#[tokio::test]
async fn missing_key_or_invalid_origin_is_reported() {
    let mut desktop =
        DesktopFixture::start_with("http://127.0.0.1:9", None, quick(), executor::ExecutorTiming::default());
    assert_eq!(desktop.degraded("Missing").await, "Missing API key for cloud socket connection");
    let mut desktop = DesktopFixture::start("http://relay.example.test");
    assert!(desktop.degraded("Relay origin").await.contains("must use https"));
    let mut desktop = DesktopFixture::start("http://127.0.0.1:9");
    desktop.degraded("Cloud socket connection failed: ").await;
}

// CL-50
#[tokio::test]
async fn revoked_key_is_retried_after_a_change() {
    let control_plane = ServerFixture::start().await;
    let mut desktop = DesktopFixture::start(&control_plane.origin());
    desktop.online().await;
    control_plane.registry.close_key(bench::identity(KEY).unwrap().key_id);
    let text = desktop.degraded("Cloud socket disconnected").await;
    assert_eq!(text, "Cloud socket disconnected: key revoked or expired");
    desktop.client.settings_changed();
    desktop.online().await;
    assert_eq!(control_plane.upgrades.borrow().len(), 2);
}

/// Returns a response body and the sender of its lines.
fn stream() -> (mpsc::UnboundedSender<Result<Bytes, std::io::Error>>, Body) {
    let (lines, mut receiver) = mpsc::unbounded_channel();
    (lines, Body::from_stream(futures_util::stream::poll_fn(move |context| receiver.poll_recv(context))))
}

fn line(n: usize) -> Result<Bytes, std::io::Error> {
    Ok(format!("{{\"type\":\"text\",\"content\":\"{n}\"}}\n").into())
}

// CL-26, CL-49
#[tokio::test]
async fn stream_survives_a_restart_of_the_server() {
    let control_plane = ServerFixture::start().await;
    let mut desktop = DesktopFixture::start(&control_plane.origin());
    let target = desktop.online().await;
    control_plane.order(target, command("c"));
    let (lines, body) = stream();
    desktop.call().await.answer_as("application/x-ndjson", body);
    for n in 0..10 {
        lines.send(line(n)).unwrap();
    }
    control_plane.host().until("ten lines", |store| store.entry("c").events.len() == 11).await;
    let address = control_plane.address;
    let store = control_plane.stop().await;
    desktop.degraded("shutting down").await;
    for n in 10..60 {
        lines.send(line(n)).unwrap();
    }
    // Wait for a failed attempt while no server is listening.
    desktop.degraded("Cloud socket connection failed").await;
    let control_plane = ServerFixture::start_at(address, store, server::ServerTiming::default()).await;
    assert_eq!(desktop.online().await, target);
    drop(lines);
    let events = control_plane.events_until_end("c").await;
    assert_eq!(numbers(&events), (1..=62).collect::<Vec<u64>>());
    let contents: Vec<&str> =
        events[1..61].iter().map(|event| event.data["content"].as_str().unwrap()).collect();
    assert_eq!(contents, (0..60).map(|n| n.to_string()).collect::<Vec<String>>());
    let store = control_plane.host().store.borrow().clone();
    assert_eq!(store.duplicates, 0, "only missing events were sent again");
    assert!(desktop.calls.try_recv().is_err(), "the repeated command did not run again");
}

#[tokio::test]
async fn every_event_is_delivered_once_over_reconnects() {
    let control_plane = ServerFixture::start().await;
    let timing = executor::ExecutorTiming {
        ack_progress: Duration::from_millis(50),
        ..executor::ExecutorTiming::default()
    };
    let mut desktop = DesktopFixture::start_with(&control_plane.origin(), Some(KEY), quick(), timing);
    let target = desktop.online().await;
    control_plane.order(target, command("c"));
    let (lines, body) = stream();
    desktop.call().await.answer_as("application/x-ndjson", body);
    for n in 0..200 {
        if n % 20 == 0 {
            control_plane.host().set(|store| store.failing_writes += 1);
        }
        lines.send(line(n)).unwrap();
    }
    // The last event is lost as well. No later event reveals the gap, so only the timeout replays it.
    control_plane.host().until("all lines", |store| store.entry("c").events.len() == 201).await;
    control_plane.host().set(|store| store.failing_writes = 1);
    drop(lines);
    assert_eq!(numbers(&control_plane.events_until_end("c").await), (1..=202).collect::<Vec<u64>>());
}

// CL-43
#[tokio::test]
async fn command_for_an_offline_desktop_is_sent_after_its_hello() {
    let control_plane = ServerFixture::start().await;
    let mut desktop = DesktopFixture::start(&control_plane.origin());
    let target = desktop.online().await;
    control_plane.registry.close_target(target);
    control_plane.host().until("offline", |store| !store.online[&target]).await;
    control_plane.order(target, command("c"));
    desktop.call().await.answer("{}");
    assert_eq!(numbers(&control_plane.events_until_end("c").await), [1, 2, 3]);
    assert_eq!(control_plane.host().store.borrow().targets.len(), 1);
}

// CL-17
#[tokio::test]
async fn cancelled_command_ends_with_its_reason() {
    let control_plane = ServerFixture::start().await;
    let mut desktop = DesktopFixture::start(&control_plane.origin());
    let target = desktop.online().await;
    control_plane.order(target, command("c"));
    let _call = desktop.call().await;
    control_plane
        .registry
        .cancel(target, &Cancel { command_id: "c".into(), reason: Some("no".into()) })
        .unwrap();
    let last = control_plane.events_until_end("c").await.pop().unwrap();
    assert_eq!(last.data, json!({"type": "done", "cancelled": true, "reason": "no"}));
}

#[tokio::test]
async fn restarted_desktop_reports_the_interrupted_command() {
    let control_plane = ServerFixture::start().await;
    let command_log = Arc::new(InMemoryCommandLog::default());
    let start = || {
        DesktopFixture::start_with_log(
            &control_plane.origin(),
            Some(KEY),
            quick(),
            executor::ExecutorTiming::default(),
            command_log.clone(),
        )
    };
    let mut desktop = start();
    let target = desktop.online().await;
    control_plane.order(target, command("c"));
    let _call = desktop.call().await;
    control_plane.host().until("a first event", |store| store.entry("c").events.len() == 1).await;
    desktop.stop().await;
    // The new fixture has a new gateway id. Map it to the old target, as if it were the same installation.
    let old_target = control_plane.host().store.borrow().targets.values().next().copied().unwrap();
    let mut desktop = start();
    desktop.online().await;
    let gateway = desktop.credentials.gateway_id();
    control_plane.host().set(|store| {
        store.targets.insert(gateway, old_target);
    });
    // Reconnect, so that the desktop registers with the mapped target.
    control_plane
        .registry
        .connected_targets()
        .into_iter()
        .for_each(|t| control_plane.registry.close_target(t));
    let events = control_plane.events_until_end("c").await;
    assert_eq!(numbers(&events), [1, 2]);
    assert_eq!((events[1].event_type, &events[1].data["code"]), (EventType::Error, &json!("interrupted")));
    assert!(desktop.calls.try_recv().is_err());
}

// CL-37, CL-38
#[tokio::test]
async fn queue_counters_are_reported_once_per_burst() {
    let control_plane = ServerFixture::start().await;
    let short = Duration::from_millis(100);
    let timing = client::ClientTiming { stats_quiet: short, stats_latest: short * 20, ..quick() };
    let mut desktop = DesktopFixture::start_with(
        &control_plane.origin(),
        Some(KEY),
        timing,
        executor::ExecutorTiming::default(),
    );
    let target = desktop.online().await;
    for n in 0..12 {
        control_plane.order(target, command(&n.to_string()));
    }
    let stats_reports = |store: &MemoryStore| {
        let stats = store.telemetry.iter().filter(|telemetry| telemetry.category == "queue.stats_changed");
        stats.cloned().collect::<Vec<_>>()
    };
    let store = control_plane.host().until("counters", |store| !stats_reports(store).is_empty()).await;
    let telemetry = &stats_reports(&store)[0];
    assert_eq!(
        telemetry.diagnostics.as_ref().unwrap()["extra"],
        json!({"activeCommands": 2, "queueDepth": 10})
    );
    assert_eq!(telemetry.trace.compute_target_id, target.to_string());
    assert!(store.presence.len() >= 12, "presence is not debounced");
    assert!(store.telemetry.iter().any(|telemetry| telemetry.category == "connection.established"));
    // A reconnect without commands changes no counter, so nothing is reported.
    control_plane.registry.close_target(target);
    control_plane
        .host()
        .until("a resumed connection", |store| {
            store.telemetry.iter().any(|telemetry| telemetry.category == "connection.reconnection_resumed")
        })
        .await;
    assert_eq!(stats_reports(&control_plane.host().store.borrow()).len(), 1);
    with_timeout("the desktop to stop", desktop.stop()).await;
}
