//! Starts and stops a `loopgate gateway` in temporary directories.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use loopgate_testkit::free_port;
use serde_json::Value;
use tokio::process::{Child, Command};

/// Upper bound for the time until the first response.
const START_LIMIT: Duration = Duration::from_secs(20);

/// Temporary home, data directory and sandbox of a gateway. Removed when dropped.
pub struct TestDirectories {
    dir: tempfile::TempDir,
    /// Origin of the control plane that the gateway reports to.
    pub api_origin: String,
    /// Additional environment variables of the gateway.
    pub environment: Vec<(String, String)>,
}

impl TestDirectories {
    /// Creates empty directories. The default control plane refuses connections.
    pub fn new() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        for name in ["home", "data", "sandbox"] {
            std::fs::create_dir(dir.path().join(name))?;
        }
        std::fs::write(dir.path().join("data/settings.toml"), "onboarding_completed = true\n")?;
        // Port 9 (discard) is normally closed, so connections fail at once.
        Ok(Self { dir, api_origin: "http://127.0.0.1:9".to_owned(), environment: Vec::new() })
    }

    /// Returns a path below the temporary directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// A running gateway process. Killed when dropped.
pub struct GatewayProcess {
    child: Child,
    port: u16,
    /// Token that authorizes all routes.
    pub token: String,
}

impl GatewayProcess {
    /// Starts the binary and waits for its first response.
    pub async fn start(binary: &Path, directories: &TestDirectories) -> anyhow::Result<Self> {
        Ok(Self::start_timed(binary, directories).await?.0)
    }

    /// Like [`GatewayProcess::start`], and returns the time from the spawn to the first response with status
    /// 200.
    #[expect(clippy::disallowed_methods, reason = "part of the benchmark, not of the product")]
    pub async fn start_timed(
        binary: &Path,
        directories: &TestDirectories,
    ) -> anyhow::Result<(Self, Duration)> {
        let port = free_port()?;
        let token_file = directories.path("token");
        let mut command = Command::new(binary);
        command
            .arg("gateway")
            .args(["--port", &port.to_string(), "--api-origin", &directories.api_origin])
            .arg("--home")
            .arg(directories.path("data"))
            .arg("--sandbox")
            .arg(directories.path("sandbox"))
            .arg("--gateway-token-file")
            .arg(&token_file)
            .env("HOME", directories.path("home"))
            .envs(directories.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        let begin = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {}", binary.display()))?;
        // Polls without a sleep, which would limit the resolution of the measurement.
        while !responds(port).await {
            if let Some(status) = child.try_wait()? {
                bail!("the gateway exited during its start: {status}");
            }
            if begin.elapsed() > START_LIMIT {
                bail!("the gateway did not respond within {START_LIMIT:?}");
            }
            tokio::task::yield_now().await;
        }
        let time = begin.elapsed();
        let token = std::fs::read_to_string(&token_file).context("read the gateway's token file")?;
        Ok((Self { child, port, token: token.trim().to_owned() }, time))
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the resident memory of the process in megabytes.
    pub fn resident_memory(&self) -> anyhow::Result<f64> {
        resident_memory(self.child.id().context("the gateway has exited")?)
    }

    /// Returns the user and system CPU time of the process.
    pub fn processor_time(&self) -> anyhow::Result<Duration> {
        let pid = self.child.id().context("the gateway has exited")?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let (_, numbers) = stat.rsplit_once(')').context("/proc/<pid>/stat has an unexpected format")?;
        // The program's name in parentheses may contain spaces. After it, utime and stime (fields 14 and 15)
        // are at index 11 and 12.
        let ticks = numbers.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks = ticks.sum::<Result<u64, _>>()?;
        Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
    }

    /// Sends a JSON body to a path. Fails on an error status.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<()> {
        let request = loopgate_http_client::builder().build()?.post(self.url(path)).json(body);
        let response = request.header("X-Desktop-Gateway-Token", &self.token).send().await?;
        let status = response.status();
        ensure!(status.is_success(), "{path}: {status} {}", response.text().await?);
        Ok(())
    }

    /// Kills the process and waits until it has exited.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        // SIGKILL: measurements do not include a graceful shutdown.
        self.child.start_kill()?;
        self.child.wait().await?;
        Ok(())
    }
}

/// Returns the resident memory of a process in megabytes.
pub fn resident_memory(pid: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok())
        .context("/proc/<pid>/status has no VmRSS")?;
    Ok(kilobytes / 1024.0)
}

async fn responds(port: u16) -> bool {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let Ok(mut stream) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await else { return false };
    let request = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let mut head = [0; 12];
    stream.write_all(request.as_bytes()).await.is_ok()
        && stream.read_exact(&mut head).await.is_ok()
        && &head == b"HTTP/1.1 200"
}
