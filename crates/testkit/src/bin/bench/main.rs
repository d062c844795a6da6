//! Benchmarks of the release binary, each compared with a baseline from the same run.
//!
//! Started by `cargo xtask bench`, which builds the binary. Requires `wrk` on PATH and sends traffic to
//! loopback only.

mod bare;
mod chats;
mod control_plane;
mod crowd;
mod gateway;
mod hooks;
mod local;
mod loops;
mod past;
mod pulse;
mod stream;
mod table;
mod tokens;
mod wrk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};

use crate::gateway::{GatewayProcess, TestDirectories};
use crate::table::Table;

/// Measure a Loopgate binary.
#[derive(Parser)]
struct BenchOptions {
    /// Path of the Loopgate binary to measure.
    #[arg(long, env = "LOOPGATE_BIN", required_unless_present = "stand_in")]
    binary: Option<PathBuf>,
    /// Duration of the load of each measurement, in seconds.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Run as the assistant of a loop, which starts to print when this FIFO is opened.
    #[arg(long, hide = true)]
    stand_in: Option<PathBuf>,
    /// Run only this benchmark; can be given several times.
    #[arg(long, value_enum)]
    only: Vec<BenchPart>,
}

/// A benchmark that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BenchPart {
    /// Throughput and latency of cheap requests.
    Requests,
    /// Time from the start to the first response.
    Start,
    /// Start with ten thousand finished loops and several running ones.
    Past,
    /// Streaming of one assistant's output to the control plane.
    Stream,
    /// Routes that work on local directories.
    Local,
    /// Resources of many concurrent loops.
    Loops,
    /// Throughput and latency with many clients.
    Crowd,
    /// Chats from the assistant's output to the client.
    Chats,
    /// Commands that block the assistant.
    Hooks,
    /// Control plane with many desktops and loops.
    ControlPlane,
    /// Bytes that a plan and its execution send to the model.
    Tokens,
}

/// Samples for the median of the start time.
const COLD_STARTS: usize = 15;
/// Number of requests before the resident memory is read again.
const MEMORY_REQUESTS: u64 = 10_000;
/// Lines printed by the assistant in the stream benchmark.
const STREAM_LINES: usize = 20_000;

fn main() -> anyhow::Result<()> {
    let options = BenchOptions::parse();
    match (&options.stand_in, &options.binary) {
        (Some(pipe), _) => loops::run_as_assistant(pipe),
        (None, Some(binary)) => measure(binary, &options),
        (None, None) => anyhow::bail!("set the path of the binary with --binary"),
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn measure(binary: &Path, options: &BenchOptions) -> anyhow::Result<()> {
    let load = Duration::from_secs(options.seconds);
    let mut table = Table::default();

    let parts = if options.only.is_empty() { BenchPart::value_variants() } else { &options.only[..] };
    for part in parts {
        match part {
            BenchPart::Requests => {
                measure_requests(binary, &TestDirectories::new()?, load, &mut table).await?
            }
            BenchPart::Start => measure_start(binary, &mut table).await?,
            BenchPart::Past => past::measure(binary, &mut table).await?,
            BenchPart::Stream => stream::measure(binary, STREAM_LINES, &mut table).await?,
            BenchPart::Local => local::measure(binary, &mut table).await?,
            BenchPart::Crowd => crowd::measure(binary, load, &mut table).await?,
            BenchPart::Loops => loops::measure(binary, &mut table).await?,
            BenchPart::Chats => chats::measure(binary, &mut table).await?,
            BenchPart::ControlPlane => control_plane::measure(binary, load, &mut table).await?,
            BenchPart::Hooks => hooks::measure(binary, &mut table)?,
            BenchPart::Tokens => tokens::measure(binary, &mut table).await?,
        }
    }

    println!("{table}");
    Ok(())
}

async fn measure_requests(
    binary: &Path,
    directories: &TestDirectories,
    load: Duration,
    table: &mut Table,
) -> anyhow::Result<()> {
    let gateway = GatewayProcess::start(binary, directories).await?;
    let idle = gateway.resident_memory()?;
    let health = gateway.url("/health");
    let body = loopgate_http_client::builder().build()?.get(&health).send().await?.bytes().await?;
    let baseline = bare::serve(body).await?;

    // Both servers are warmed up, and measured in turn, so that a change of the machine's load affects both.
    wrk::run(&baseline.url, None, Duration::from_secs(1)).await?;
    wrk::run(&health, None, Duration::from_secs(1)).await?;
    let bare = wrk::run(&baseline.url, None, load).await?;
    let token = Some(gateway.token.as_str());
    let listing = format!("/api/gateway/directories?path={}", directories.path("sandbox").display());
    let routes = [
        ("/health", None),
        ("/api/gateway/version", token),
        ("/api/gateway/git/repo-path?repoFullName=acme/shop", token),
        ("/api/gateway/repos", token),
        (listing.as_str(), token),
    ];
    for (path, token) in routes {
        let figures = wrk::run(&gateway.url(path), token, load).await?;
        anyhow::ensure!(figures.failures == 0, "{path} answered {} requests with an error", figures.failures);
        let name = path.split('?').next().unwrap_or(path);
        table.rate(&format!("{name} requests/s"), figures.per_second, bare.per_second);
        table.latency(&format!("{name} p50"), figures.p50, bare.p50);
        table.latency(&format!("{name} p99"), figures.p99, bare.p99);
    }
    table.memory("gateway resident, idle", idle, Some(45.0));

    let directories = TestDirectories::new()?;
    let gateway = GatewayProcess::start(binary, &directories).await?;
    let client = loopgate_http_client::builder().build()?;
    for _ in 0..MEMORY_REQUESTS {
        client.get(gateway.url("/health")).send().await?.bytes().await?;
    }
    table.memory("gateway resident, after 10,000 requests", gateway.resident_memory()?, None);
    Ok(())
}

async fn measure_start(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let mut times = Vec::with_capacity(COLD_STARTS);
    let directories = TestDirectories::new()?;
    for _ in 0..COLD_STARTS {
        let (gateway, time) = GatewayProcess::start_timed(binary, &directories).await?;
        gateway.stop().await?;
        times.push(time);
    }
    times.sort();
    let median = times.get(COLD_STARTS / 2).copied().context("no start was measured")?;
    table.time("cold start to the first 200, median of 15", median, Duration::from_millis(50));
    Ok(())
}
