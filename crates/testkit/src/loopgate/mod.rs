//! Starts a real `loopgate` process with a temporary home and sends it requests.
//!
//! The process is treated as a black box: it signals readiness through its ready file, and can be stopped,
//! killed and restarted with the same home.

mod ready;
mod setup;
mod signed_in;

use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::{Method, RequestBuilder};
use tokio::process::Child;

pub use ready::Ready;
pub use setup::{BINARY_VARIABLE, Setup, binary};
pub use signed_in::BrowserSession;

use crate::home::UserHome;

/// Longer than the grace period of a shutdown.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// Timeout of one HTTP request.
const REQUEST_LIMIT: Duration = Duration::from_secs(60);

/// A running Loopgate. Killed when dropped.
#[derive(Debug)]
pub struct Loopgate {
    setup: Setup,
    child: Child,
    ready: Ready,
    token: String,
    http: reqwest::Client,
}

impl Loopgate {
    /// Starts `loopgate up` with default options.
    pub async fn up(home: &UserHome) -> anyhow::Result<Self> {
        Setup::new(home)?.start().await
    }

    /// Returns the content of its ready file.
    #[must_use]
    pub const fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Returns the options with which it was started.
    #[must_use]
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Returns the credential for the gateway.
    #[must_use]
    pub fn gateway_token(&self) -> &str {
        &self.token
    }

    #[must_use]
    pub fn gateway_origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ready.gateway_port)
    }

    /// Builds a gateway request with the gateway token.
    pub fn gateway(&self, method: Method, path: &str) -> RequestBuilder {
        self.gateway_bare(method, path).header(loopgate_api::names::GATEWAY_TOKEN_HEADER, &self.token)
    }

    /// Builds a gateway request without credentials.
    pub fn gateway_bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.gateway_origin()))
    }

    /// Signs in with the one-time link of the ready file. Fails the second time.
    pub async fn sign_in(&self) -> anyhow::Result<BrowserSession> {
        self.sign_in_by(&self.ready.sign_in_url).await
    }

    /// Signs in with another one-time link.
    pub async fn sign_in_by(&self, link: &str) -> anyhow::Result<BrowserSession> {
        BrowserSession::by_link(&self.ready.api_origin, &self.ready.page_url, link).await
    }

    pub fn is_running(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Waits until the process exits.
    pub async fn wait(&mut self) -> anyhow::Result<ExitStatus> {
        self.child.wait().await.map_err(Into::into)
    }

    /// Sends SIGTERM and waits until the process exits. Fails after `STOP_LIMIT`.
    pub async fn stop(&mut self) -> anyhow::Result<ExitStatus> {
        if let Some(pid) = self.child.id() {
            signal(pid, "TERM")?;
        }
        tokio::time::timeout(STOP_LIMIT, self.child.wait())
            .await
            .context("Loopgate did not exit after SIGTERM")?
            .map_err(Into::into)
    }

    /// Sends SIGKILL to the process, but not to the shims and programs that it started.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().await.map_err(Into::into)
    }

    /// Starts it again with the same home and options. It must have exited.
    pub async fn start_again(self) -> anyhow::Result<Self> {
        self.setup.clone().start().await
    }

    /// Starts it again with the same home and additional arguments. It must have exited.
    pub async fn start_again_with(self, arguments: &[&str]) -> anyhow::Result<Self> {
        let setup = arguments.iter().fold(self.setup.clone(), |setup, argument| setup.arg(*argument));
        setup.start().await
    }

    /// Returns the standard output and standard error of all starts so far.
    #[must_use]
    pub fn output(&self) -> String {
        std::fs::read_to_string(self.setup.output_file()).unwrap_or_default()
    }
}

fn client() -> anyhow::Result<reqwest::Client> {
    Ok(loopgate_http_client::builder().timeout(REQUEST_LIMIT).build()?)
}

/// Sends a signal, named without `SIG`, to a process. Fails when the process does not exist.
pub fn signal(pid: u32, name: &str) -> anyhow::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "signals a process that this test started")]
    let status = std::process::Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .stderr(std::process::Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { bail!("kill -{name} {pid} failed") }
}
