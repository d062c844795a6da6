//! Measures latency with one client that sends requests at a fixed rate, as monitoring does. A client that
//! sends the next request after each response would add load of its own.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

/// Interval between two requests.
const PACE: Duration = Duration::from_millis(1);

/// Nice value of the client's thread.
const PRIORITY: i32 = -10;

/// Sends requests for the given time and returns the 99th percentile of the latency. Latency is measured from
/// the time at which a request was due, so that a request that was delayed by the previous response counts
/// its delay (no coordinated omission).
pub async fn p99(url: String, time: Duration) -> anyhow::Result<Duration> {
    let run_client = move || {
        // The client's own scheduling delay must not count as latency of the server. Only root may raise the
        // priority, so an error is ignored.
        let _ = rustix::process::setpriority_process(None, PRIORITY);
        send_requests(&url, time)
    };
    let thread = std::thread::spawn(run_client);
    let result = tokio::task::spawn_blocking(|| thread.join()).await?;
    let mut times = result.map_err(|_| anyhow::anyhow!("the client thread panicked"))??;
    times.sort_unstable();
    times.get(times.len() * 99 / 100).copied().context("no requests were sent")
}

#[expect(clippy::disallowed_methods, reason = "sends requests at a fixed rate")]
fn send_requests(url: &str, time: Duration) -> anyhow::Result<Vec<Duration>> {
    let (address, path) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).context("the URL has no path")?;
    let mut stream = TcpStream::connect(address)?;
    // Nagle's algorithm would delay small requests and distort the latency.
    stream.set_nodelay(true)?;
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let begin = Instant::now();
    // Due times are independent of the responses.
    let dues = (0..).map(|n| begin + PACE * n).take_while(|due| *due < begin + time);
    let mut times = Vec::new();
    for due in dues {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        stream.write_all(request.as_bytes())?;
        read_response(&mut stream)?;
        times.push(due.elapsed());
    }
    Ok(times)
}

/// Reads one complete response.
fn read_response(stream: &mut TcpStream) -> anyhow::Result<()> {
    let (mut response, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut piece)?;
        ensure!(read > 0, "the connection was closed");
        response.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&response);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.context("the response has no content-length")? {
            return Ok(());
        }
    }
}
