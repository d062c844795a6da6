//! Reports changed queue counters as telemetry, debounced: one event per burst of changes.

use loopgate_api::link::{Severity, Telemetry};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::timing::ClientTiming;
use crate::executor::QueueStats;

/// Emits the last counters of each burst. Emits nothing after the future is dropped.
pub(super) async fn report(
    mut stats: watch::Receiver<QueueStats>,
    timing: &ClientTiming,
    emit: impl Fn(Telemetry),
) {
    while stats.changed().await.is_ok() {
        let latest = Instant::now() + timing.stats_latest;
        loop {
            let quiet = Instant::now() + timing.stats_quiet;
            tokio::select! {
                changed = stats.changed() => if changed.is_err() { return },
                () = sleep_until(quiet.min(latest)) => break,
            }
        }
        emit(telemetry(*stats.borrow_and_update()));
    }
}

fn telemetry(stats: QueueStats) -> Telemetry {
    let mut telemetry = Telemetry::new(Severity::Info, "queue.stats_changed", "Queue stats changed");
    let extra = json!({"activeCommands": stats.active_commands, "queueDepth": stats.queue_depth});
    telemetry.diagnostics = json!({ "extra": extra }).as_object().cloned();
    telemetry
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;
    use tokio::time::advance;

    use super::*;

    fn stats(queue_depth: u32) -> QueueStats {
        QueueStats { active_commands: 2, queue_depth }
    }

    fn depth(telemetry: &Telemetry) -> u64 {
        telemetry.diagnostics.as_ref().unwrap()["extra"]["queueDepth"].as_u64().unwrap()
    }

    async fn run_pending_tasks() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    // CL-37, CL-39, GC-39
    #[tokio::test(start_paused = true)]
    async fn burst_is_reported_once_with_its_last_counters() {
        let (sender, receiver) = watch::channel(QueueStats::default());
        let (emitted, mut seen) = mpsc::unbounded_channel();
        let timing = ClientTiming::default();
        let reporting = tokio::spawn(async move {
            report(receiver, &timing, |telemetry| emitted.send(telemetry).unwrap()).await;
        });
        run_pending_tasks().await;
        for n in 1..=20 {
            sender.send_replace(stats(n));
            run_pending_tasks().await;
            advance(Duration::from_millis(40)).await;
        }
        assert!(seen.try_recv().is_err(), "the counters still change");
        let quiet = Instant::now();
        assert_eq!(depth(&seen.recv().await.unwrap()), 20);
        assert!(quiet.elapsed() + Duration::from_millis(40) >= Duration::from_secs(1));
        advance(Duration::from_secs(10)).await;
        run_pending_tasks().await;
        assert!(seen.try_recv().is_err(), "reported only once");
        // A continuous stream of changes is still reported every five seconds.
        let start = Instant::now();
        for n in 21..=32 {
            sender.send_replace(stats(n));
            run_pending_tasks().await;
            advance(Duration::from_millis(500)).await;
            run_pending_tasks().await;
        }
        let first = seen.try_recv().unwrap();
        assert!(depth(&first) < 32 && start.elapsed() >= Duration::from_secs(5));
        // The pending change must not be emitted after the future was dropped.
        sender.send_replace(stats(99));
        run_pending_tasks().await;
        reporting.abort();
        let _ = reporting.await;
        advance(Duration::from_secs(10)).await;
        assert!(seen.try_recv().is_err_and(|error| error == mpsc::error::TryRecvError::Disconnected));
    }
}
