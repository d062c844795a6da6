//! One client that asks at a fixed pace, as whoever watches a service does, and how long its answers
//! take. One that asked again at once would be one more load.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

/// From one question to the next.
const PACE: Duration = Duration::from_millis(1);

/// Priority of the client's thread.
const FIRST: i32 = -10;

/// Asks for a while; answers within which time 99 of 100 answers came. Counted from the moment when a
/// question was due: one that had to wait for the answer before it is late, too.
pub async fn p99(url: String, time: Duration) -> anyhow::Result<Duration> {
    let first_in_line = move || {
        // Its own wait for a processor is not the server's. Only root may go first.
        let _ = rustix::process::setpriority_process(None, FIRST);
        ask(&url, time)
    };
    let asking = std::thread::spawn(first_in_line);
    let asked = tokio::task::spawn_blocking(|| asking.join()).await?;
    let mut times = asked.map_err(|_| anyhow::anyhow!("the client ended early"))??;
    times.sort_unstable();
    times.get(times.len() * 99 / 100).copied().context("nothing was asked")
}

#[expect(clippy::disallowed_methods, reason = "the pace of a client is a time")]
fn ask(url: &str, time: Duration) -> anyhow::Result<Vec<Duration>> {
    let (address, path) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).context("a URL")?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let question = format!("GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let begin = Instant::now();
    let dues = (0..).map(|n| begin + PACE * n).take_while(|due| *due < begin + time);
    let mut times = Vec::new();
    for due in dues {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        stream.write_all(question.as_bytes())?;
        answer(&mut stream)?;
        times.push(due.elapsed());
    }
    Ok(times)
}

/// Reads one answer to its end.
fn answer(stream: &mut TcpStream) -> anyhow::Result<()> {
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut piece)?;
        ensure!(read > 0, "the connection was closed");
        answer.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&answer);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.context("an answer without a length")? {
            return Ok(());
        }
    }
}
