//! Load by `wrk`, and what it says of it.

use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;

/// Connections that are open at once.
const CONNECTIONS: &str = "32";

/// What one run showed.
pub struct Figures {
    /// Requests a second.
    pub per_second: f64,
    /// Median time of an answer.
    pub p50: Duration,
    /// Time within which 99 of 100 answers came.
    pub p99: Duration,
    /// Answers that were no success.
    pub failures: u64,
}

/// Loads one URL for a while.
#[expect(clippy::disallowed_methods, reason = "a measuring program of its own, outside the product")]
pub async fn run(url: &str, token: Option<&str>, time: Duration) -> anyhow::Result<Figures> {
    let mut command = tokio::process::Command::new("wrk");
    command.args(["-t2", "-c", CONNECTIONS, "-d", &format!("{}s", time.as_secs()), "--latency"]);
    if let Some(token) = token {
        command.arg("-H").arg(format!("X-Desktop-Gateway-Token: {token}"));
    }
    let output = command
        .arg(url)
        .stdin(Stdio::null())
        .output()
        .await
        .context("wrk is needed to measure; on Debian: apt-get install wrk")?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text).with_context(|| format!("wrk said nothing useful of {url}:\n{text}"))
}

fn parse(text: &str) -> Option<Figures> {
    let after = |label: &str| text.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim);
    Some(Figures {
        per_second: after("Requests/sec:")?.parse().ok()?,
        p50: duration(after("50%")?)?,
        p99: duration(after("99%")?)?,
        failures: after("Non-2xx or 3xx responses:").map_or(Some(0), |count| count.parse().ok())?,
    })
}

fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    Some(Duration::from_secs_f64(number.parse::<f64>().ok()? * seconds))
}
