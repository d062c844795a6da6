//! Measures chats from the assistant's output to the client, compared with a plain pipe of the same lines.
//!
//! The assistant is replaced by a shell script that prints prepared lines or the current time.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::gateway::{GatewayProcess, TestDirectories};
use crate::table::Table;

/// Lines of the assistant's output in the throughput measurements.
const LINES: usize = 20_000;
/// Samples for the median of the latency.
const FIRST_BYTES: usize = 21;
/// Number of concurrent chats.
const CHATS: usize = 8;
const TIMEOUT: Duration = Duration::from_secs(120);

const MAX_FIRST_BYTE: Duration = Duration::from_millis(20);
const TARGET_LINES_PER_SECOND: f64 = 260_000.0;
/// In megabytes above the idle gateway.
const MAX_MEMORY: f64 = 60.0;

/// Measures a single chat, then several concurrent ones.
pub async fn measure(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let directories = TestDirectories::new()?;
    let assistant = prepare(&directories)?;
    let gateway = GatewayProcess::start(binary, &directories).await?;
    measure_first_byte(&gateway, &assistant, table).await?;
    measure_lines(&gateway, &assistant, table).await?;
    measure_several(&gateway, &directories.path("gate"), table).await?;
    gateway.stop().await
}

async fn measure_first_byte(
    gateway: &GatewayProcess,
    assistant: &Path,
    table: &mut Table,
) -> anyhow::Result<()> {
    // Chat and pipe alternate, so that a change of the machine's load affects both.
    let (mut latencies, mut baselines) = (Vec::new(), Vec::new());
    let (mut answers, mut starts) = (Vec::new(), Vec::new());
    for _ in 0..FIRST_BYTES {
        let begin = Instant::now();
        let mut chat = Chat::send(gateway, "T-1", "time").await?;
        latencies.push(since(&chat.next_text().await?.context("the chat returned no time")?)?);
        answers.push(begin.elapsed());
        // Drain the response, so that the chat ends before the pipe is measured.
        while chat.next_text().await?.is_some() {}
        let begin = Instant::now();
        let mut pipe = Pipe::start(assistant, "time").await?;
        let line = pipe.lines.next_line().await?.context("the pipe returned no time")?;
        baselines.push(since(&text_of_line(&line)?)?);
        starts.push(begin.elapsed());
        pipe.child.wait().await?;
    }
    table.latency("chat: request to first text, p50 (floor: a pipe)", median(answers)?, median(starts)?);
    let figure = median(latencies)?;
    table.latency("chat: assistant to client, p50 (floor: a pipe)", figure, median(baselines)?);
    table.time("chat: assistant to client, p50", figure, MAX_FIRST_BYTE);
    Ok(())
}

async fn measure_lines(gateway: &GatewayProcess, assistant: &Path, table: &mut Table) -> anyhow::Result<()> {
    let before = gateway.resident_memory()?;
    let mut peak = before;
    let mut chat = Chat::send(gateway, "T-1", "lines").await?;
    let (mut lines, mut first, mut last) = (0, None, None);
    while chat.next_text().await?.is_some() {
        first.get_or_insert_with(Instant::now);
        lines += 1;
        if lines % 1000 == 0 {
            peak = peak.max(gateway.resident_memory()?);
        }
        last = Some(Instant::now());
    }
    ensure!(lines == LINES, "{lines} of {LINES} lines arrived");
    let time = last.zip(first).map(|(last, first)| last - first).context("the chat returned no text")?;

    let mut pipe = Pipe::start(assistant, "lines").await?;
    let mut begin = None;
    while pipe.lines.next_line().await?.is_some() {
        begin.get_or_insert_with(Instant::now);
    }
    let bare = begin.context("the pipe is empty")?.elapsed();
    pipe.child.wait().await?;

    let rate = LINES as f64 / time.as_secs_f64();
    table.rate("chat: lines/s (floor: a pipe)", rate, LINES as f64 / bare.as_secs_f64());
    table.plain("chat: share of 260,000 lines/s", format!("{:.0} %", 100.0 * rate / TARGET_LINES_PER_SECOND));
    table.memory("gateway resident, before 20,000 lines of a chat", before, None);
    table.memory("gateway resident, peak during them", peak, None);
    Ok(())
}

/// Measures concurrent chats. Each assistant prints a line and blocks on a FIFO until all clients have
/// received theirs, which proves that chats do not block each other.
async fn measure_several(gateway: &GatewayProcess, gate: &Path, table: &mut Table) -> anyhow::Result<()> {
    let idle = gateway.resident_memory()?;
    let begin = Instant::now();
    let chats = (0..CHATS).map(async |number| {
        // A chat that waited for another one to finish would never receive its first line: this is a deadlock
        // unless chats are independent.
        let mut chat = Chat::send(gateway, &format!("S-{number}"), "gate").await?;
        chat.next_text().await?.context("a chat returned no text")?;
        anyhow::Ok(chat)
    });
    let chats = tokio::time::timeout(TIMEOUT, try_join_all(chats))
        .await
        .context("a chat is blocked by another one")??;
    let first = begin.elapsed();
    let mut peak = gateway.resident_memory()?;
    let (gate, begin) = (gate.to_owned(), Instant::now());
    // Kept open until the end: an assistant that opens the FIFO later must not block.
    let _open =
        tokio::task::spawn_blocking(move || std::fs::OpenOptions::new().write(true).open(gate)).await??;
    let reads = chats.into_iter().map(async |mut chat| {
        let mut lines = 0;
        while chat.next_text().await?.is_some() {
            lines += 1;
        }
        ensure!(lines == LINES, "{lines} of {LINES} lines arrived");
        anyhow::Ok(())
    });
    let reads = try_join_all(reads);
    tokio::pin!(reads);
    loop {
        // Samples the memory every 20 ms while the responses are read.
        let result = tokio::time::timeout(Duration::from_millis(20), &mut reads).await;
        peak = peak.max(gateway.resident_memory()?);
        if let Ok(result) = result {
            result?;
            break;
        }
    }
    table.plain("8 concurrent chats: first line of the last one", format!("{first:.1?}"));
    let rate = (CHATS * LINES) as f64 / begin.elapsed().as_secs_f64();
    table.plain("8 concurrent chats: total lines/s", format!("{rate:.0}"));
    table.memory("8 concurrent chats: peak memory above idle", peak - idle, Some(MAX_MEMORY));
    Ok(())
}

/// A chat whose response is being streamed.
struct Chat {
    response: reqwest::Response,
    pending: Vec<u8>,
    /// Texts that were received but not returned yet, in reverse order.
    texts: Vec<String>,
}

impl Chat {
    async fn send(gateway: &GatewayProcess, ticket: &str, message: &str) -> anyhow::Result<Self> {
        let context = json!({"identifier": ticket, "title": "t", "url": "https://tickets.example.com/1"});
        let body = json!({"ticketId": ticket, "message": message, "ticketContext": context});
        let request = loopgate_http_client::builder()
            .build()?
            .post(gateway.url("/api/gateway/ticket-chat"))
            .json(&body);
        let response = request.header("X-Desktop-Gateway-Token", &gateway.token).send().await?;
        ensure!(response.status().is_success(), "a chat was rejected: {}", response.text().await?);
        Ok(Self { response, pending: Vec::new(), texts: Vec::new() })
    }

    /// Returns the next text, or `None` at the end of the response.
    async fn next_text(&mut self) -> anyhow::Result<Option<String>> {
        while self.texts.is_empty() {
            let Some(piece) = tokio::time::timeout(TIMEOUT, self.response.chunk()).await?? else {
                return Ok(None);
            };
            self.pending.extend_from_slice(&piece);
            let Some(end) = self.pending.iter().rposition(|byte| *byte == b'\n') else { continue };
            // A chunk may end in the middle of a line; the incomplete line stays in the buffer.
            let lines: Vec<u8> = self.pending.drain(..=end).collect();
            for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let event: Value = serde_json::from_slice(line)?;
                ensure!(event["type"] != "error", "a chat failed: {event}");
                if event["type"] == "text" {
                    self.texts.push(event["content"].as_str().unwrap_or_default().to_owned());
                }
            }
            self.texts.reverse();
        }
        Ok(self.texts.pop())
    }
}

/// The assistant with its output connected directly to a pipe.
struct Pipe {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Pipe {
    #[expect(clippy::disallowed_methods, reason = "part of the benchmark, not of the product")]
    async fn start(assistant: &Path, message: &str) -> anyhow::Result<Self> {
        let mut child = Command::new(assistant)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        child.stdin.take().context("standard input is not piped")?.write_all(message.as_bytes()).await?;
        let stdout = child.stdout.take().context("standard output is not piped")?;
        Ok(Self { child, lines: BufReader::new(stdout).lines() })
    }
}

/// Formats a text as an output line of the assistant.
fn line(text: &str) -> String {
    json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}).to_string()
}

fn text_of_line(line: &str) -> anyhow::Result<String> {
    let record: Value = serde_json::from_str(line)?;
    Ok(record["delta"]["text"].as_str().context("a line without text")?.to_owned())
}

/// Writes the assistant's script, which selects its behavior by the last word of the prompt, and the prepared
/// lines.
fn prepare(directories: &TestDirectories) -> anyhow::Result<PathBuf> {
    let (lines, gate) = (directories.path("lines"), directories.path("gate"));
    let text: String = (0..LINES).map(|number| line(&format!("measured line {number} ")) + "\n").collect();
    std::fs::write(&lines, text)?;
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, rustix::fs::Mode::RWXU)?;
    let script = format!(
        "#!/bin/sh\ncase \"$(cat)\" in\n\
         *time) printf '{}\\n' \"$(date +%s%N)\" ;;\n\
         *lines) exec cat '{lines}' ;;\n\
         *gate) printf '%s\\n' '{}'; : < '{gate}'; exec cat '{lines}' ;;\n\
         esac\n",
        line("%s"),
        line("first"),
        lines = lines.display(),
        gate = gate.display(),
    );
    let assistant = directories.path("home/claude");
    std::fs::write(&assistant, script)?;
    std::fs::set_permissions(&assistant, std::fs::Permissions::from_mode(0o755))?;
    let settings =
        format!("onboarding_completed = true\n\n[binary_paths]\nassistant = \"{}\"\n", assistant.display());
    std::fs::write(directories.path("data/settings.toml"), settings)?;
    Ok(assistant)
}

/// Returns the time elapsed since a timestamp in nanoseconds since the Unix epoch.
fn since(nanoseconds: &str) -> anyhow::Result<Duration> {
    let start = Duration::from_nanos(nanoseconds.trim().parse()?);
    Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.saturating_sub(start))
}

fn median(mut times: Vec<Duration>) -> anyhow::Result<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied().context("no samples")
}
