//! A real `loopgate` process with a home of its own, and the requests that a test sends it.
//!
//! It is started from the binary, told apart from the machine's own by its home, waited for by
//! the file that it writes once it answers, and can be stopped, killed and started again on the
//! same home. Nothing in here reaches into its internals.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::{Method, RequestBuilder, Response, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::process::Child;

use crate::home::UserHome;

/// Names the binary to test.
pub const BINARY_VARIABLE: &str = "LOOPGATE_BIN";
/// How long it may take to answer.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// How long one request of a test may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(60);
/// How long a loop of a test may take.
const LOOP_LIMIT: Duration = Duration::from_secs(300);
/// Pause between two looks at whether it is ready.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// What it says about itself once it answers: the ready file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Origin of the web app; empty when only the gateway runs.
    #[serde(default)]
    pub page_url: String,
    /// Page with a sign-in link that works once; empty when only the gateway runs.
    #[serde(default)]
    pub sign_in_url: String,
    /// Port of the gateway.
    pub gateway_port: u16,
    /// Origin of the API; empty when only the gateway runs.
    #[serde(default)]
    pub api_origin: String,
}

/// How to start it.
#[derive(Debug, Clone)]
pub struct Setup {
    home: UserHome,
    binary: PathBuf,
    command: String,
    sandbox: PathBuf,
    /// Whether the sandbox is named at the start.
    boxed: bool,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    from_file: bool,
    shown: bool,
}

/// A running Loopgate. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Loopgate {
    setup: Setup,
    child: Child,
    ready: Ready,
    token: String,
    http: reqwest::Client,
}

/// A browser's view of the control plane: signed in, on its own page.
#[derive(Debug, Clone)]
pub struct SignedIn {
    http: reqwest::Client,
    api_origin: String,
    page_url: String,
    cookie: String,
}

impl Setup {
    /// The binary of `LOOPGATE_BIN`, else the one beside the running test.
    ///
    /// # Errors
    /// When there is none; the text says how to build it.
    pub fn new(home: &UserHome) -> anyhow::Result<Self> {
        let sandbox = home.path().join("src");
        std::fs::create_dir_all(&sandbox)?;
        Ok(Self {
            home: home.clone(),
            binary: binary()?,
            command: "up".to_owned(),
            sandbox,
            boxed: true,
            arguments: Vec::new(),
            environment: Vec::new(),
            from_file: false,
            shown: false,
        })
    }

    /// Runs the gateway alone instead of everything.
    #[must_use]
    pub fn gateway_alone(mut self) -> Self {
        "gateway".clone_into(&mut self.command);
        self
    }

    /// Leaves sandbox, port and token file to this settings file. Its token file must be
    /// [`Self::token_file`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn settings(mut self, toml: &str) -> anyhow::Result<Self> {
        std::fs::create_dir_all(self.data_dir())?;
        std::fs::write(self.data_dir().join("settings.toml"), toml)?;
        self.from_file = true;
        Ok(self)
    }

    /// Takes another binary, for example the one of `CARGO_BIN_EXE_loopgate`.
    #[must_use]
    pub fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = binary.into();
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a variable to those of the home.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Names no sandbox, so that no path is allowed.
    #[must_use]
    pub const fn without_sandbox(mut self) -> Self {
        self.boxed = false;
        self
    }

    /// Passes its output through instead of keeping it in a file.
    #[must_use]
    pub const fn shown(mut self) -> Self {
        self.shown = true;
        self
    }

    /// The directory that paths must lie in: `src` of the home.
    #[must_use]
    pub fn sandbox(&self) -> &Path {
        &self.sandbox
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.home.path().join("loopgate-data")
    }

    /// Where the gateway token lies.
    #[must_use]
    pub fn token_file(&self) -> PathBuf {
        self.home.path().join("loopgate-gateway-token")
    }

    /// Where output of the process goes.
    #[must_use]
    pub fn output_file(&self) -> PathBuf {
        self.home.path().join("loopgate-output.log")
    }

    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// When it ends or does not answer in time; the text holds what it printed.
    pub async fn start(self) -> anyhow::Result<Loopgate> {
        let ready_file = self.home.path().join("loopgate-ready.json");
        let token_file = self.token_file();
        if ready_file.exists() {
            std::fs::remove_file(&ready_file)?;
        }
        let mut command = self.home.command(&self.binary.to_string_lossy());
        command.arg(&self.command).arg("--home").arg(self.data_dir()).arg("--ready-file").arg(&ready_file);
        if self.boxed && !self.from_file {
            command.arg("--sandbox").arg(&self.sandbox);
        }
        if !self.from_file {
            command.arg("--gateway-token-file").arg(&token_file).args(["--port", "0"]);
        }
        if self.command == "up" {
            command.arg("--no-open");
        }
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(&self.sandbox);
        if !self.shown {
            let output = std::fs::File::options().create(true).append(true).open(self.output_file())?;
            command.stdout(output.try_clone()?).stderr(Stdio::from(output));
        }
        let mut child = command.spawn().with_context(|| format!("start {}", self.binary.display()))?;
        let ready = wait_ready(&mut child, &ready_file, &self.output_file()).await?;
        let token = std::fs::read_to_string(&token_file).context("read the gateway token")?;
        let http = client()?;
        Ok(Loopgate { setup: self, child, ready, token: token.trim().to_owned(), http })
    }
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
        let mut setup = self.setup.clone();
        setup.arguments.extend(arguments.iter().map(OsString::from));
        setup.start().await
    }

    /// What it printed so far, over all its starts.
    #[must_use]
    pub fn output(&self) -> String {
        std::fs::read_to_string(self.setup.output_file()).unwrap_or_default()
    }
}

impl SignedIn {
    /// Signs in by a one-time link, at the control plane that an origin names.
    ///
    /// # Errors
    /// When the link is refused: it works once.
    pub async fn by_link(api_origin: &str, page_url: &str, link: &str) -> anyhow::Result<Self> {
        let (token, http) = (link_token(link)?, client()?);
        let answer = http
            .post(format!("{api_origin}/auth/sign-in-link"))
            .header(header::ORIGIN, page_url)
            .json(&json!({"token": token}))
            .send()
            .await?;
        let answer = refused(answer).await?;
        let cookie = answer
            .headers()
            .get(header::SET_COOKIE)
            .and_then(|cookie| cookie.to_str().ok()?.split(';').next())
            .context("the answer to a sign-in sets a cookie")?
            .to_owned();
        Ok(Self { http, api_origin: api_origin.to_owned(), page_url: page_url.to_owned(), cookie })
    }

    /// A request to the control plane, as the signed-in page sends it.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.api_origin))
            .header(header::COOKIE, &self.cookie)
            .header(header::ORIGIN, &self.page_url)
    }

    /// The JSON of a GET.
    ///
    /// # Errors
    /// When the answer is an error or no JSON.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        json_of(self.request(Method::GET, path).send().await?).await
    }

    /// The JSON that a POST is answered with.
    ///
    /// # Errors
    /// When the answer is an error or no JSON.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        json_of(self.request(Method::POST, path).json(body).send().await?).await
    }

    /// Writes a wish down for a repository and has it planned. Answers the ids of the document and
    /// of the loop.
    ///
    /// # Errors
    /// When the control plane refuses.
    pub async fn plan(&self, full_name: &str, wish: &str) -> anyhow::Result<(String, String)> {
        let repo = json!({"fullName": full_name, "branch": "main"});
        let body = json!({"type": "FEATURE", "title": wish, "content": wish, "repo": repo});
        let document = text_of(&self.post("/documents", &body).await?["data"]["id"])?;
        let run = self.run(&document, "plan", full_name).await?;
        Ok((document, run))
    }

    /// Runs `plan` or `execute` on a document. Answers the id of the loop.
    ///
    /// # Errors
    /// When the control plane refuses.
    pub async fn run(&self, document: &str, command: &str, full_name: &str) -> anyhow::Result<String> {
        let body = json!({"command": command, "repo": {"fullName": full_name, "branch": "main"}});
        let started = self.post(&format!("/documents/{document}/run-loop"), &body).await?;
        text_of(&started["data"]["loopId"])
    }

    /// Follows the events of a loop to its end. Answers the loop as it is then.
    ///
    /// # Errors
    /// When it does not end in five minutes, or the connection breaks.
    pub async fn wait_for_end(&self, run: &str) -> anyhow::Result<Value> {
        let stream = self
            .request(Method::GET, &format!("/loops/{run}/stream"))
            .header(header::ACCEPT, "text/event-stream")
            .timeout(LOOP_LIMIT);
        // The server ends the stream when the loop has ended.
        let seen = refused(stream.send().await?).await?.text().await;
        let events = seen.with_context(|| format!("follow the events of loop {run}"))?;
        let ended = self.get(&format!("/loops/{run}")).await?["data"].take();
        let active = ["PENDING", "CLAIMED", "RUNNING"].iter().any(|status| ended["status"] == *status);
        if active {
            bail!("the stream ended, but the loop has not: {ended}\n{events}");
        }
        Ok(ended)
    }

    /// The same session at a Loopgate that was started again.
    #[must_use]
    pub fn at(&self, loopgate: &Loopgate) -> Self {
        Self {
            api_origin: loopgate.ready.api_origin.clone(),
            page_url: loopgate.ready.page_url.clone(),
            ..self.clone()
        }
    }

    /// The session cookie, `name=value`, for a browser.
    #[must_use]
    pub fn cookie(&self) -> &str {
        &self.cookie
    }
}

fn client() -> anyhow::Result<reqwest::Client> {
    Ok(reqwest::Client::builder().timeout(REQUEST_LIMIT).no_proxy().build()?)
}

/// Finds the binary: the variable, else the target directory that this test was built in.
///
/// # Errors
/// When there is none; the text says how to build it.
pub fn binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os(BINARY_VARIABLE) {
        return Ok(PathBuf::from(path));
    }
    let own = std::env::current_exe()?;
    let found = own.ancestors().skip(1).take(3).map(|dir| dir.join("loopgate")).find(|path| path.is_file());
    found.with_context(|| {
        format!("no loopgate binary: run `cargo build -p loopgate`, or name one in {BINARY_VARIABLE}")
    })
}

async fn wait_ready(child: &mut Child, file: &Path, output: &Path) -> anyhow::Result<Ready> {
    let printed = || std::fs::read_to_string(output).unwrap_or_default();
    let deadline = tokio::time::Instant::now() + START_LIMIT;
    loop {
        // The file appears whole: it is written beside its place and renamed.
        if let Ok(text) = std::fs::read_to_string(file) {
            return serde_json::from_str(&text).with_context(|| format!("the ready file says {text}"));
        }
        tokio::select! {
            ended = child.wait() => bail!("it ended before it was ready ({}): {}", ended?, printed()),
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
        if tokio::time::Instant::now() > deadline {
            bail!("it was not ready within {START_LIMIT:?}: {}", printed());
        }
    }
}

/// The link carries its token as `token=` in its query or fragment.
fn link_token(link: &str) -> anyhow::Result<String> {
    let link = url::Url::parse(link).with_context(|| format!("the sign-in link is {link:?}"))?;
    let parts = [link.query(), link.fragment()];
    let pairs = parts.into_iter().flatten().flat_map(|part| url::form_urlencoded::parse(part.as_bytes()));
    let token = pairs.into_iter().find(|(name, _)| name == "token").map(|(_, token)| token.into_owned());
    token.context("the sign-in link carries no token")
}

fn text_of(value: &Value) -> anyhow::Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("expected a text, got {value}"))
}

async fn json_of(answer: Response) -> anyhow::Result<Value> {
    refused(answer).await?.json().await.map_err(Into::into)
}

async fn refused(answer: Response) -> anyhow::Result<Response> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let path = answer.url().path().to_owned();
    bail!("{path} answered {status}: {}", answer.text().await.unwrap_or_default())
}

pub(crate) fn signal(pid: u32, name: &str) -> anyhow::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "signals a process that this test started")]
    let status = std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status()?;
    if status.success() { Ok(()) } else { bail!("kill -{name} {pid} failed") }
}
