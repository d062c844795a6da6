//! Generates load with `wrk` and parses its report.

use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;

/// Default number of open connections.
const CONNECTIONS: usize = 32;

/// The request that is sent repeatedly.
pub struct Load {
    url: String,
    token: Option<String>,
    /// Body and content type of a POST.
    body: Option<(Vec<u8>, String)>,
}

impl Load {
    pub fn get(url: String, token: Option<&str>) -> Self {
        Self { url, token: token.map(ToOwned::to_owned), body: None }
    }

    pub fn post(url: String, token: Option<&str>, body: Vec<u8>, kind: &str) -> Self {
        Self { body: Some((body, kind.to_owned())), ..Self::get(url, token) }
    }
}

/// Results of one run.
pub struct WrkFigures {
    pub per_second: f64,
    /// Median of the latency.
    pub p50: Duration,
    /// 99th percentile of the latency.
    pub p99: Duration,
    /// Number of responses with an error status.
    pub failures: u64,
}

/// Loads one URL with GET requests for the given time.
pub async fn run(url: &str, token: Option<&str>, time: Duration) -> anyhow::Result<WrkFigures> {
    load(&Load::get(url.to_owned(), token), CONNECTIONS, time).await
}

/// Sends a request from this many clients for the given time.
#[expect(clippy::disallowed_methods, reason = "part of the benchmark, not of the product")]
pub async fn load(load: &Load, clients: usize, time: Duration) -> anyhow::Result<WrkFigures> {
    let folder = tempfile::tempdir()?;
    let mut command = tokio::process::Command::new("wrk");
    let threads = clients.min(2).to_string();
    command.args(["-t", &threads, "-c", &clients.to_string(), "-d", &format!("{}s", time.as_secs())]);
    command.args(["--latency", "--timeout", "20s"]);
    if let Some(token) = &load.token {
        command.arg("-H").arg(format!("X-Desktop-Gateway-Token: {token}"));
    }
    if let Some((body, kind)) = &load.body {
        let (script, file) = (folder.path().join("post.lua"), folder.path().join("body"));
        std::fs::write(&file, body)?;
        let text = format!(
            "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"{kind}\"\n\
             wrk.body = io.open(\"{}\", \"rb\"):read(\"*all\")\n",
            file.display()
        );
        std::fs::write(&script, text)?;
        command.arg("-s").arg(script);
    }
    let output = command
        .arg(&load.url)
        .stdin(Stdio::null())
        .output()
        .await
        .context("wrk is not installed; on Debian: apt-get install wrk")?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse(&text).with_context(|| format!("cannot parse the report of wrk for {}:\n{text}", load.url))
}

fn parse(text: &str) -> Option<WrkFigures> {
    let value_of = |label: &str| text.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim);
    Some(WrkFigures {
        per_second: value_of("Requests/sec:")?.parse().ok()?,
        p50: duration(value_of("50%")?)?,
        p99: duration(value_of("99%")?)?,
        failures: value_of("Non-2xx or 3xx responses:").map_or(Some(0), |count| count.parse().ok())?,
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
