//! Fifty loops at once, whose assistants print a thousand lines a second each: whether every line
//! arrives and in its order, how long each is on its way, and what Loopgate takes for it.
//!
//! Each stand-in assistant is this program once more. They all wait at one pipe until every loop
//! runs, and write into each line when they wrote it; a control plane of our own reads that.

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
/// Lines of each assistant, and how many of them a second.
const LINES: usize = 10_000;
const LINES_PER_SECOND: usize = 1_000;
/// Lines that are written at once.
const BURST: usize = 10;
/// What arrives no more by then has been lost.
const LIMIT: Duration = Duration::from_secs(180);
/// Between two looks at the memory.
const LOOK: Duration = Duration::from_millis(100);

const MEMORY_LIMIT: f64 = 150.0;
const CORES_LIMIT: f64 = 1.0;
const DELAY_LIMIT: Duration = Duration::from_millis(250);

/// What a line begins with.
const MARK: &str = "measured";

#[derive(Default)]
struct LoopArrivals {
    inner: Mutex<LoopCounts>,
    all: Notify,
}

#[derive(Default)]
struct LoopCounts {
    /// Number of the next line of each loop.
    next: HashMap<String, usize>,
    lines: usize,
    /// Lines that were not the next one.
    misplaced: usize,
    /// From the writing of each line to its arrival.
    delays: Vec<Duration>,
}

/// Runs the loops and measures what comes out.
pub async fn measure(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let arrived = Arc::new(LoopArrivals::default());
    let mut directories = TestDirectories::new()?;
    directories.api_origin = control_plane(arrived.clone()).await?;
    let pipe = directories.path("begin");
    prepare(&directories, &pipe)?;
    let gateway = GatewayProcess::start(binary, &directories).await?;
    for _ in 0..LOOPS {
        start_loop(&gateway).await?;
    }

    let (begin, busy_before) = (Instant::now(), gateway.processor_time()?);
    // Held until the end: a stand-in that comes later goes on at once.
    let _open = tokio::task::spawn_blocking(move || OpenOptions::new().write(true).open(pipe)).await??;
    let mut most = gateway.resident_memory()?;
    let watching = async {
        loop {
            let waited = tokio::time::timeout(LOOK, arrived.all.notified()).await;
            most = most.max(gateway.resident_memory()?);
            if waited.is_ok() {
                return anyhow::Ok(());
            }
        }
    };
    let over = tokio::time::timeout(LIMIT, watching).await;
    let (time, busy) = (begin.elapsed(), gateway.processor_time()? - busy_before);
    let LoopCounts { lines, misplaced, mut delays, .. } =
        std::mem::take(&mut *arrived.inner.lock().unwrap_or_else(PoisonError::into_inner));
    let printed = LOOPS * LINES;
    over.with_context(|| format!("only {lines} of {printed} lines arrived"))??;
    ensure!(lines == printed && misplaced == 0, "{lines} of {printed} arrived, {misplaced} out of order");
    delays.sort_unstable();
    let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize];

    table.plain("50 loops of 1,000 lines/s: lines in order", format!("{lines}"));
    table.plain("  from the first line to the last event", format!("{time:.1?}"));
    table.plain("  a line's way out, p50", format!("{:.0?}", at(0.50)));
    table.time("  a line's way out, p99", at(0.99), DELAY_LIMIT);
    table.memory("  gateway resident, most", most, Some(MEMORY_LIMIT));
    table.cores("  gateway, processor", busy.as_secs_f64() / time.as_secs_f64(), CORES_LIMIT);
    gateway.stop().await
}

/// A control plane that believes everything and reads every line.
async fn control_plane(arrived: Arc<LoopArrivals>) -> anyhow::Result<String> {
    let router = Router::new().fallback(any(answer)).with_state(arrived);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(origin)
}

async fn answer(State(arrived): State<Arc<LoopArrivals>>, uri: Uri, body: bytes::Bytes) -> Json<Value> {
    let now = now();
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    let chunk = event.pointer("/data/chunk").and_then(Value::as_str).unwrap_or_default();
    let mut counted = arrived.inner.lock().unwrap_or_else(PoisonError::into_inner);
    for line in chunk.lines() {
        if let Some((number, written)) = read(line) {
            counted.take(uri.path(), number, now.saturating_sub(written));
        }
    }
    if counted.lines >= LOOPS * LINES {
        arrived.all.notify_one();
    }
    Json(json!({"success": true, "data": {"received": true}}))
}

impl LoopCounts {
    fn take(&mut self, path: &str, number: usize, delay: Duration) {
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

/// Number and time of a line that a stand-in has printed.
fn read(line: &str) -> Option<(usize, Duration)> {
    let mut words = line.strip_prefix(MARK)?.split_whitespace();
    let number = words.next()?.parse().ok()?;
    Some((number, Duration::from_micros(words.next()?.parse().ok()?)))
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// An assistant that is this program.
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

/// What a stand-in does: waits for the beginning, then prints at its pace.
#[expect(clippy::disallowed_methods, reason = "the pace of an assistant is a time")]
pub fn stand_in(pipe: &Path) -> anyhow::Result<()> {
    let _begun = std::fs::File::open(pipe)?;
    let mut out = std::io::stdout().lock();
    let begin = Instant::now();
    let mut burst = String::new();
    for number in 0..LINES {
        if number % BURST == 0 {
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
