//! A real `loopgate` process with a home of its own, and the requests that a test sends it.
//!
//! It is started from the binary, told apart from the machine's own by its home, waited for by
//! the file that it writes once it answers, and can be stopped, killed and started again on the
//! same home. Nothing in here reaches into its internals.

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
pub use signed_in::SignedIn;

use crate::home::UserHome;

/// How long it may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// How long one request of a test may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(60);

/// A running Loopgate. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Loopgate {
    setup: Setup,
    child: Child,
    ready: Ready,
    token: String,
    http: reqwest::Client,
}

impl Loopgate {
    /// Starts everything (`loopgate up`) for a home.
    ///
    /// # Errors
    /// See [`Setup::start`].
    pub async fn up(home: &UserHome) -> anyhow::Result<Self> {
        Setup::new(home)?.start().await
    }

    /// What it said about itself when it was ready.
    #[must_use]
    pub const fn ready(&self) -> &Ready {
        &self.ready
    }

    /// How it was started.
    #[must_use]
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Token of the executor outside.
    #[must_use]
    pub fn gateway_token(&self) -> &str {
        &self.token
    }

    /// Origin of the gateway.
    #[must_use]
    pub fn gateway_origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ready.gateway_port)
    }

    /// A request to the gateway with its token.
    pub fn gateway(&self, method: Method, path: &str) -> RequestBuilder {
        self.gateway_bare(method, path).header(loopgate_api::names::GATEWAY_TOKEN_HEADER, &self.token)
    }

    /// A request to the gateway without a credential.
    pub fn gateway_bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.gateway_origin()))
    }

    /// Signs in by the one-time link, as the page does.
    ///
    /// # Errors
    /// When the link is refused: it works once.
    pub async fn sign_in(&self) -> anyhow::Result<SignedIn> {
        self.sign_in_by(&self.ready.sign_in_url).await
    }

    /// Signs in by another link.
    ///
    /// # Errors
    /// When the link has been used, or the server refuses.
    pub async fn sign_in_by(&self, link: &str) -> anyhow::Result<SignedIn> {
        SignedIn::by_link(&self.ready.api_origin, &self.ready.page_url, link).await
    }

    /// Whether it has not ended.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn is_running(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub async fn wait(&mut self) -> anyhow::Result<ExitStatus> {
        self.child.wait().await.map_err(Into::into)
    }

    /// Asks it to stop (SIGTERM) and waits until it has.
    ///
    /// # Errors
    /// When it does not stop in time.
    pub async fn stop(&mut self) -> anyhow::Result<ExitStatus> {
        if let Some(pid) = self.child.id() {
            signal(pid, "TERM")?;
        }
        tokio::time::timeout(STOP_LIMIT, self.child.wait())
            .await
            .context("it did not stop")?
            .map_err(Into::into)
    }

    /// Kills it (SIGKILL), and nothing that it started.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().await.map_err(Into::into)
    }

    /// Starts it again on the same home. It must have ended.
    ///
    /// # Errors
    /// See [`Setup::start`].
    pub async fn start_again(self) -> anyhow::Result<Self> {
        self.setup.clone().start().await
    }

    /// Starts it again on the same home with these arguments in addition. It must have ended.
    ///
    /// # Errors
    /// See [`Setup::start`].
    pub async fn start_again_with(self, arguments: &[&str]) -> anyhow::Result<Self> {
        let setup = arguments.iter().fold(self.setup.clone(), |setup, argument| setup.arg(*argument));
        setup.start().await
    }

    /// What it printed so far, over all its starts.
    #[must_use]
    pub fn output(&self) -> String {
        std::fs::read_to_string(self.setup.output_file()).unwrap_or_default()
    }
}

fn client() -> anyhow::Result<reqwest::Client> {
    Ok(reqwest::Client::builder().timeout(REQUEST_LIMIT).no_proxy().build()?)
}

/// Sends a signal, by its name without `SIG`, to a process that a test started.
///
/// # Errors
/// When there is no such process.
pub fn signal(pid: u32, name: &str) -> anyhow::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "signals a process that this test started")]
    let status = std::process::Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .stderr(std::process::Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { bail!("kill -{name} {pid} failed") }
}
