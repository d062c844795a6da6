//! Measures fifty concurrent loops whose assistants print a thousand lines per second each: completeness and
//! order of the lines, their latency, and the gateway's resources.
//!
//! The assistant is replaced by this program. All instances block on a FIFO until every loop has started, and
//! write a timestamp into each line, which a fake control plane evaluates.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use axum::extract::State;
use axum::http::Uri;
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::gateway::{GatewayProcess, TestDirectories};
use crate::table::Table;

const LOOPS: usize = 50;
/// Lines that each assistant prints, and their rate.
const LINES: usize = 10_000;
const LINES_PER_SECOND: usize = 1_000;
/// Number of lines per write.
const BURST: usize = 10;
/// Upper bound for the whole run. Lines that have not arrived by then count as lost.
const LIMIT: Duration = Duration::from_secs(180);
/// Sampling interval of the memory.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

const MEMORY_LIMIT: f64 = 150.0;
const CORES_LIMIT: f64 = 1.0;
const DELAY_LIMIT: Duration = Duration::from_millis(250);

/// Prefix of measured lines.
const MARK: &str = "measured";

#[derive(Default)]
struct LoopArrivals {
    inner: Mutex<LoopCounts>,
    all_arrived: Notify,
}

#[derive(Default)]
struct LoopCounts {
    /// Next expected line number by the path of the loop's events.
    next: HashMap<String, usize>,
    lines: usize,
    /// Number of lines that arrived out of order.
    misplaced: usize,
    /// Time from writing each line to its arrival.
    delays: Vec<Duration>,
}

/// Runs the loops and reports the measurements.
pub async fn measure(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let arrivals = Arc::new(LoopArrivals::default());
    let mut directories = TestDirectories::new()?;
    directories.api_origin = control_plane(arrivals.clone()).await?;
    let pipe = directories.path("begin");
    prepare(&directories, &pipe)?;
    let gateway = GatewayProcess::start(binary, &directories).await?;
    for _ in 0..LOOPS {
        start_loop(&gateway).await?;
    }

    let (begin, busy_before) = (Instant::now(), gateway.processor_time()?);
    // Kept open until the end: an instance that opens the FIFO later must not block.
    let _open = tokio::task::spawn_blocking(move || OpenOptions::new().write(true).open(pipe)).await??;
    let mut peak = gateway.resident_memory()?;
    let sample_until_done = async {
        loop {
            let notified = tokio::time::timeout(SAMPLE_INTERVAL, arrivals.all_arrived.notified()).await;
            peak = peak.max(gateway.resident_memory()?);
            if notified.is_ok() {
                return anyhow::Ok(());
            }
        }
    };
    let result = tokio::time::timeout(LIMIT, sample_until_done).await;
    let (time, busy) = (begin.elapsed(), gateway.processor_time()? - busy_before);
    let LoopCounts { lines, misplaced, mut delays, .. } =
        std::mem::take(&mut *arrivals.inner.lock().unwrap_or_else(PoisonError::into_inner));
    let printed = LOOPS * LINES;
    result.with_context(|| format!("only {lines} of {printed} lines arrived"))??;
    ensure!(lines == printed && misplaced == 0, "{lines} of {printed} arrived, {misplaced} out of order");
    delays.sort_unstable();
    let percentile = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize];

    table.plain("50 loops of 1,000 lines/s: lines in order", format!("{lines}"));
    table.plain("  from the first line to the last event", format!("{time:.1?}"));
    table.plain("  latency of a line, p50", format!("{:.0?}", percentile(0.50)));
    table.time("  latency of a line, p99", percentile(0.99), DELAY_LIMIT);
    table.memory("  gateway resident, peak", peak, Some(MEMORY_LIMIT));
    table.cores("  gateway, processor", busy.as_secs_f64() / time.as_secs_f64(), CORES_LIMIT);
    gateway.stop().await
}

/// Starts a fake control plane that accepts every event and evaluates its lines.
async fn control_plane(arrivals: Arc<LoopArrivals>) -> anyhow::Result<String> {
    let router = Router::new().fallback(any(receive_event)).with_state(arrivals);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(origin)
}

async fn receive_event(
    State(arrivals): State<Arc<LoopArrivals>>,
    uri: Uri,
    body: bytes::Bytes,
) -> Json<Value> {
    // The clock is read before parsing, which must not count as latency of the gateway.
    let now = now();
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    let chunk = event.pointer("/data/chunk").and_then(Value::as_str).unwrap_or_default();
    let mut counts = arrivals.inner.lock().unwrap_or_else(PoisonError::into_inner);
    for line in chunk.lines() {
        if let Some((number, written_at)) = parse_line(line) {
            counts.record(uri.path(), number, now.saturating_sub(written_at));
        }
    }
    if counts.lines >= LOOPS * LINES {
        arrivals.all_arrived.notify_one();
    }
    Json(json!({"success": true, "data": {"received": true}}))
}

impl LoopCounts {
    fn record(&mut self, path: &str, number: usize, delay: Duration) {
        let next = match self.next.get_mut(path) {
            Some(next) => next,
            None => self.next.entry(path.to_owned()).or_default(),
        };
        self.misplaced += usize::from(*next != number);
        *next = number + 1;
        self.lines += 1;
        self.delays.push(delay);
    }
}

/// Parses the number and the timestamp of a measured line.
fn parse_line(line: &str) -> Option<(usize, Duration)> {
    let mut words = line.strip_prefix(MARK)?.split_whitespace();
    let number = words.next()?.parse().ok()?;
    Some((number, Duration::from_micros(words.next()?.parse().ok()?)))
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Creates the FIFO and configures this program as the assistant.
fn prepare(directories: &TestDirectories, pipe: &Path) -> anyhow::Result<()> {
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)?;
    let assistant = directories.path("home/claude");
    let this = std::env::current_exe()?;
    let script = format!("#!/bin/sh\nexec '{}' --stand-in '{}'\n", this.display(), pipe.display());
    std::fs::write(&assistant, script)?;
    std::fs::set_permissions(&assistant, std::fs::Permissions::from_mode(0o755))?;
    let settings =
        format!("onboarding_completed = true\n\n[binary_paths]\nassistant = \"{}\"\n", assistant.display());
    Ok(std::fs::write(directories.path("data/settings.toml"), settings)?)
}

async fn start_loop(gateway: &GatewayProcess) -> anyhow::Result<()> {
    let requirements = json!({"id": "1", "type": "PRD", "title": "", "content": "Everything"});
    let body = json!({"loopId": Uuid::new_v4(), "command": "DECOMPOSE", "loopgateAuthToken": "opaque",
        "artifacts": [requirements]});
    gateway.post("/api/gateway/orchestrator/loop", &body).await
}

/// Runs as the assistant: blocks on the FIFO, then prints lines at a fixed rate.
#[expect(clippy::disallowed_methods, reason = "prints lines at a fixed rate")]
pub fn run_as_assistant(pipe: &Path) -> anyhow::Result<()> {
    // Blocks until the FIFO is opened for writing.
    let _pipe = std::fs::File::open(pipe)?;
    let mut out = std::io::stdout().lock();
    let begin = Instant::now();
    let mut burst = String::new();
    for number in 0..LINES {
        if number % BURST == 0 {
            // Sleeps until an absolute due time, so that the rate does not drift.
            let due = Duration::from_secs_f64(number as f64 / LINES_PER_SECOND as f64);
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
        }
        let text = format!("{MARK} {number} {}", now().as_micros());
        let content = json!([{"type": "text", "text": text}]);
        let usage = json!({"input_tokens": 1, "output_tokens": 1});
        let message = json!({"model": "m", "usage": usage, "content": content});
        burst.push_str(&format!("{}\n", json!({"type": "assistant", "message": message})));
        if (number + 1) % BURST == 0 {
            out.write_all(burst.as_bytes())?;
            out.flush()?;
            burst.clear();
        }
    }
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "done"});
    writeln!(out, "{result}")?;
    Ok(())
}
