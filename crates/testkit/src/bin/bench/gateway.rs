//! A `loopgate gateway` in a place of its own, from its start to its end.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use loopgate_testkit::free_port;
use serde_json::Value;
use tokio::process::{Child, Command};

/// A gateway that is not there after this long will not come.
const START_LIMIT: Duration = Duration::from_secs(20);

/// Home, data directory and sandbox of a gateway, thrown away at the end.
pub struct TestDirectories {
    dir: tempfile::TempDir,
    /// Origin of the control plane that it is told to call.
    pub api_origin: String,
    /// Further environment of the gateway.
    pub environment: Vec<(String, String)>,
}

impl TestDirectories {
    /// An empty place whose control plane does not exist.
    pub fn new() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        for name in ["home", "data", "sandbox"] {
            std::fs::create_dir(dir.path().join(name))?;
        }
        std::fs::write(dir.path().join("data/settings.toml"), "onboarding_completed = true\n")?;
        Ok(Self { dir, api_origin: "http://127.0.0.1:9".to_owned(), environment: Vec::new() })
    }

    /// A path in the place.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// A running gateway; killed when dropped.
pub struct GatewayProcess {
    child: Child,
    port: u16,
    /// The token for every route.
    pub token: String,
}

impl GatewayProcess {
    /// Starts the binary and waits until it answers.
    pub async fn start(binary: &Path, directories: &TestDirectories) -> anyhow::Result<Self> {
        Ok(Self::start_timed(binary, directories).await?.0)
    }

    /// As [`GatewayProcess::start`], with the time from the spawn to the first 200.
    #[expect(clippy::disallowed_methods, reason = "a measuring program of its own, outside the product")]
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
        while !answers(port).await {
            if let Some(status) = child.try_wait()? {
                bail!("the gateway ended at once: {status}");
            }
            if begin.elapsed() > START_LIMIT {
                bail!("the gateway does not answer");
            }
            tokio::task::yield_now().await;
        }
        let time = begin.elapsed();
        let token = std::fs::read_to_string(&token_file).context("the gateway wrote no token file")?;
        Ok((Self { child, port, token: token.trim().to_owned() }, time))
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Resident memory in megabytes.
    pub fn resident_memory(&self) -> anyhow::Result<f64> {
        resident_memory(self.child.id().context("the gateway has ended")?)
    }

    /// How long processors have worked for it.
    pub fn processor_time(&self) -> anyhow::Result<Duration> {
        let pid = self.child.id().context("the gateway has ended")?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let (_, numbers) = stat.rsplit_once(')').context("the kernel does not tell the processor time")?;
        // User and system time are members 14 and 15 of the line; the first two are before the bracket.
        let ticks = numbers.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks = ticks.sum::<Result<u64, _>>()?;
        Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
    }

    /// Sends a JSON body to a path; anything but a success is an error.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<()> {
        let request = reqwest::Client::new().post(self.url(path)).json(body);
        let answer = request.header("X-Desktop-Gateway-Token", &self.token).send().await?;
        let status = answer.status();
        ensure!(status.is_success(), "{path}: {status} {}", answer.text().await?);
        Ok(())
    }

    /// Asks it to end and waits for that.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.child.start_kill()?;
        self.child.wait().await?;
        Ok(())
    }
}

/// Resident memory of a process in megabytes.
pub fn resident_memory(pid: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok())
        .context("the kernel does not tell the resident memory")?;
    Ok(kilobytes / 1024.0)
}

async fn answers(port: u16) -> bool {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let Ok(mut stream) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await else { return false };
    let request = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let mut head = [0; 12];
    stream.write_all(request.as_bytes()).await.is_ok()
        && stream.read_exact(&mut head).await.is_ok()
        && &head == b"HTTP/1.1 200"
}
