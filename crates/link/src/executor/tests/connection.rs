//! Lost connections, reconnects and restarts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{Timestamp, ToSpan as _};
use loopgate_api::link::{LinkCommand, PresenceState};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{ExecutorFixture, JSON, ack, command, sequences};
use crate::executor::{CommandLog as _, CommandProgress, Executor, ExecutorReport, InMemoryCommandLog};

// CL-26
#[tokio::test(start_paused = true)]
async fn offline_no_command_starts_and_running_ones_continue() {
    let mut bench = ExecutorFixture::online();
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
    assert_eq!(sequences(&events), [2, 3], "only events that the server does not have");
    bench.call().await.answer(200, JSON, "{}");
    assert_eq!(sequences(&bench.events().await), [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn sequence_above_the_limit_is_ignored() {
    let mut bench = ExecutorFixture::new();
    bench.executor.resume(&[("a".to_owned(), u64::MAX)].into());
    bench.accept(command("a")).await;
    bench.executor.resume(&[("a".to_owned(), u64::MAX)].into());
    bench.call().await.answer(200, JSON, "{}");
    assert_eq!(sequences(&bench.events().await), [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn unacknowledged_events_are_replayed_three_times() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    bench.call().await.answer(200, JSON, "{}");
    let first = bench.events().await;
    bench.ack(&first[0]);
    let start = Instant::now();
    for _ in 0..3 {
        assert_eq!(bench.events().await, first[1..]);
    }
    assert_eq!(start.elapsed(), Duration::from_secs(30));
    // Three replays is the limit per connection.
    let never = timeout(Duration::from_secs(3600), bench.event()).await;
    assert!(never.is_err(), "replays stop without progress");
}

// CL-16, CL-36
#[tokio::test(start_paused = true)]
async fn presence_reports_every_change() {
    let mut bench = ExecutorFixture::online();
    let presence = |report| match report {
        ExecutorReport::Presence(presence) => {
            (presence.state, presence.active_commands, presence.queue_depth)
        }
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
        if let report @ ExecutorReport::Presence(_) = bench.executor.next_report().await {
            seen.push(presence(report));
        }
    }
    let error_after = async |change: &dyn Fn(&Executor)| {
        change(&bench.executor);
        match bench.executor.next_report().await {
            ExecutorReport::Presence(presence) => presence.error,
            other => panic!("{other:?}"),
        }
    };
    let paused = "cloud commands paused by user";
    let lost = error_after(&|executor| executor.set_gateway_unreachable(Some("no port".to_owned()))).await;
    assert_eq!(lost.as_deref(), Some("gateway recovering: no port"));
    assert_eq!(
        error_after(&|executor| executor.set_gateway_unreachable(None)).await.as_deref(),
        Some(paused)
    );
    assert_eq!(error_after(&|executor| executor.set_paused(false)).await, None);
}

#[tokio::test(start_paused = true)]
async fn restart_never_runs_a_command_twice() {
    let command_log: Arc<InMemoryCommandLog> = Arc::default();
    let mut before = ExecutorFixture::with_log(command_log.clone());
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

    let mut after = ExecutorFixture::with_log(command_log);
    let resume = [("ended", 1), ("running", 1), ("late", 0)].map(|(id, last)| (id.to_owned(), last));
    after.executor.resume(&resume.into());
    after.accept(command("ended")).await;
    let events = after.events().await;
    assert_eq!(sequences(&events), [2, 3], "sequences continue those of the server");
    assert_eq!(events[0].data["data"], json!({"kept": true}));
    after.accept(command("running")).await;
    let events = after.events().await;
    assert_eq!((events[0].sequence, &events[0].data["code"]), (2, &Value::from("interrupted")));
    assert!(after.no_call());
    after.accept(command("late")).await;
    after.call().await;
}

#[tokio::test(start_paused = true)]
async fn loop_start_is_repeated_after_a_restart() {
    let launch = || LinkCommand { path: "/api/gateway/orchestrator/loop".into(), ..command("loop") };
    let launch = || LinkCommand { operation_id: "orchestrator_loop".into(), ..launch() };
    let command_log: Arc<InMemoryCommandLog> = Arc::default();
    let mut before = ExecutorFixture::with_log(command_log.clone());
    before.executor.resume(&BTreeMap::new());
    before.accept(launch()).await;
    let _unanswered = before.call().await;
    before.executor.shutdown().await;

    let mut after = ExecutorFixture::with_log(command_log.clone());
    after.executor.resume(&[("loop".to_owned(), 1)].into());
    after.accept(launch()).await;
    after.call().await.answer(409, JSON, "{\"error\":\"Loop is already running on this machine\"}");
    let events = after.events().await;
    assert_eq!(sequences(&events), [2, 3], "sequences continue those of the server");
    assert!(events[1].data["error"].as_str().is_some_and(|text| text.starts_with("gateway returned 409")));
    after.executor.shutdown().await;

    let mut later = ExecutorFixture::with_log(command_log);
    later.executor.resume(&[("loop".to_owned(), 1)].into());
    later.accept(launch()).await;
    assert_eq!(sequences(&later.events().await), [2, 3], "a finished launch is not repeated");
    assert!(later.no_call());
}

#[tokio::test(start_paused = true)]
async fn expired_command_is_rejected_unless_it_is_known() {
    let now = Timestamp::now();
    let expiring = |id: &str, expires_at: Timestamp| LinkCommand {
        expires_at: Some(expires_at.to_string()),
        ..command(id)
    };
    let mut bench = ExecutorFixture::online();
    assert_eq!(bench.reject(expiring("late", now - 1.second())).await, "command expired");
    // The server's clock decides, not the local one.
    bench.executor.registered(&ack(&(now - 1.hour()).to_string(), false));
    bench.accept(expiring("early", now - 1.minute())).await;
    bench.executor.registered(&ack(&(now + 1.hour()).to_string(), false));
    // An invalid server time leaves the offset unchanged.
    bench.executor.registered(&ack("no time", false));
    assert_eq!(bench.reject(expiring("soon", now + 1.minute())).await, "command expired");
    bench.accept(LinkCommand { expires_at: Some("never".to_owned()), ..command("odd") }).await;
    bench.call().await.answer(200, JSON, "{}");
    let events = bench.events().await;
    bench.accept(expiring("early", now - 1.minute())).await;
    assert_eq!(
        bench.events().await.last(),
        events.last(),
        "a known command is answered even after its expiry"
    );
}

#[tokio::test(start_paused = true)]
async fn started_loop_launch_is_repeated_after_its_expiry() {
    let launch = || LinkCommand {
        path: "/api/gateway/orchestrator/loop".into(),
        operation_id: "orchestrator_loop".into(),
        expires_at: Some((Timestamp::now() - 9.hours()).to_string()),
        ..command("loop")
    };
    // The log of the previous process: the launch was admitted before it expired.
    let command_log: Arc<InMemoryCommandLog> = Arc::default();
    command_log.record("loop".to_owned(), CommandProgress::Started).await.unwrap();
    let mut bench = ExecutorFixture::with_log(command_log);
    bench.executor.resume(&BTreeMap::new());
    bench.accept(launch()).await;
    bench.call().await;
}

#[tokio::test(start_paused = true)]
async fn settled_commands_are_pruned_before_unsettled_ones() {
    let command_log: Arc<InMemoryCommandLog> = Arc::default();
    let mut bench = ExecutorFixture::with_log(command_log);
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
async fn shutdown_sends_no_report() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    assert_eq!(bench.event().await.sequence, 1);
    bench.executor.shutdown().await;
    call.cancelled().await;
    bench.quiet().await;
}
