//! Starts a real `loopgate control-plane` process, signs its owner in and connects simulated desktops.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use uuid::Uuid;

/// Interval of a desktop's presence messages, as the real link client sends them.
const PRESENCE: Duration = Duration::from_secs(30);
const OWNER: &str = "owner@example.org";
const PASSWORD: &str = "correct horse battery";

/// A running control-plane process. Killed when dropped.
#[derive(Debug)]
pub struct TestControlPlane {
    child: Child,
    /// Keeps the pipe open: the process would fail with EPIPE on its next line of output.
    _output: Lines<BufReader<ChildStdout>>,
    origin: String,
    client: Client,
    session: PersonSession,
}

/// Session credentials of a person's browser.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct PersonSession {
    /// Session cookie as `name=value`.
    pub cookie: String,
    /// Value of the header `x-session-key`.
    pub key: String,
}

/// A simulated desktop that acknowledges every command and executes none. Connected until the runtime shuts
/// down.
#[derive(Debug)]
pub struct ConnectedDesktop {
    /// Id of its compute target.
    pub target: Uuid,
    /// Commands received over the link, each the `data` of its frame.
    pub commands: mpsc::UnboundedReceiver<Value>,
}

impl TestControlPlane {
    /// Starts the binary with `directory/data` as its home, waits until it listens and signs the owner in.
    #[expect(clippy::disallowed_methods, reason = "starts the program under test")]
    pub async fn start(binary: &Path, directory: &Path) -> anyhow::Result<Self> {
        let password = directory.join("password");
        std::fs::write(&password, PASSWORD)?;
        // The control plane rejects a password file that other users can read.
        std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o600))?;
        let mut child = Command::new(binary)
            .args(["control-plane", "--listen", "127.0.0.1:0", "--owner-email", OWNER])
            .arg("--owner-password-file")
            .arg(password)
            .arg("--home")
            .arg(directory.join("data"))
            .env("HOME", directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut output =
            BufReader::new(child.stdout.take().context("the process's standard output is not piped")?)
                .lines();
        let origin = loop {
            // With port 0 the system chooses the port, which is only known from this line.
            let line = output.next_line().await?.context("the control plane exited before it listened")?;
            if let Some(origin) = line.strip_prefix("control plane on ") {
                break origin.trim().to_owned();
            }
        };
        let mut plane = Self {
            child,
            _output: output,
            origin,
            client: loopgate_http_client::builder().build()?,
            session: PersonSession::default(),
        };
        let sign_in = json!({"email": OWNER, "password": PASSWORD});
        plane.session = plane.session_of("/auth/sign-in", sign_in).await?;
        Ok(plane)
    }

    /// Sends a request that signs a person in.
    async fn session_of(&self, path: &str, body: Value) -> anyhow::Result<PersonSession> {
        let request = self.client.post(self.url(path)).header("origin", &self.origin).json(&body);
        let response = request.send().await?;
        let cookie = response.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok());
        let cookie = cookie
            .and_then(|cookie| cookie.split(';').next())
            .context("the response to the sign-in has no session cookie")?
            .to_owned();
        let key = data(response).await?["sessionKey"]
            .as_str()
            .context("the response to the sign-in has no session key")?
            .to_owned();
        Ok(PersonSession { cookie, key })
    }

    /// Adds a member to the owner's organization.
    pub async fn add_member(&self, email: &str) -> anyhow::Result<PersonSession> {
        let invited = self.post("/invitations", json!({"email": email, "role": "org:member"})).await?;
        let accepted =
            json!({"token": invited["token"], "firstName": "A", "lastName": "Member", "password": PASSWORD});
        self.session_of("/invitations/accept", accepted).await
    }

    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    #[must_use]
    pub const fn session(&self) -> &PersonSession {
        &self.session
    }

    /// Builds a request with the owner's session credentials.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.request_as(&self.session, method, path)
    }

    fn request_as(&self, session: &PersonSession, method: &str, path: &str) -> RequestBuilder {
        let request = self.client.request(method.parse().unwrap_or_default(), self.url(path));
        let request = request.header("origin", &self.origin);
        request.header("cookie", &session.cookie).header("x-session-key", &session.key)
    }

    /// Sends a POST as the owner and returns `data` of the response. Fails on an error status.
    pub async fn post(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        data(self.request("POST", path).json(&body).send().await?).await.with_context(|| path.to_owned())
    }

    /// Waits until the process has ended.
    pub async fn wait(&mut self) -> anyhow::Result<ExitStatus> {
        self.child.wait().await.map_err(Into::into)
    }

    /// Kills the process with SIGKILL.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().await.map_err(Into::into)
    }

    /// Connects a desktop of the owner; see [`TestControlPlane::connect_desktop_of`].
    pub async fn connect_desktop(&self, name: &str, delay: Duration) -> anyhow::Result<ConnectedDesktop> {
        self.connect_desktop_of(&self.session, name, delay).await
    }

    /// Connects a person's desktop with its own API key. It sends presence every 30 s, first after `delay`, which lets
    /// many desktops spread their messages over the interval.
    pub async fn connect_desktop_of(
        &self,
        person: &PersonSession,
        name: &str,
        delay: Duration,
    ) -> anyhow::Result<ConnectedDesktop> {
        let request = self.request_as(person, "POST", "/api-keys").json(&json!({"name": name}));
        let key = data(request.send().await?).await?;
        let key = key["plaintext"].as_str().context("the response has no API key")?;
        let mut request = self.url("/desktop-gateway").replacen("http", "ws", 1).into_client_request()?;
        request.headers_mut().insert("authorization", format!("Bearer {key}").parse()?);
        request.headers_mut().insert("sec-websocket-protocol", "loopgate.v1".parse()?);
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
        let hello = json!({
            "gatewayId": Uuid::new_v4(), "desktopSecurityUpgradeProtocolVersion": 1,
            "machineName": name, "platform": "linux", "pluginVersion": "1.9.3",
            "desktopClientVersion": "0.13.18", "gatewayProtocolVersion": "0.1.0",
            "supportedOperations": ["orchestrator_loop", "orchestrator_loop_kill"], "maxInFlightCommands": 2,
            "allowedDirectoriesHash": "9b74",
            "capabilities": {"loopRunnerRefreshSupported": true, "loopRunnerHeartbeatSupported": true},
        });
        socket.send(frame("desktop.hello", hello)).await?;
        let (acknowledged, target) = oneshot::channel();
        let (commands, commands_in) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut acknowledged = Some(acknowledged);
            let mut presence = tokio::time::interval_at((Instant::now() + delay).into(), PRESENCE);
            let mut target = Value::Null;
            loop {
                let message = tokio::select! {
                    message = socket.next() => message,
                    _ = presence.tick() => {
                        let state = json!({"computeTargetId": target, "state": "online"});
                        if socket.send(frame("desktop.presence", state)).await.is_err() {
                            return;
                        }
                        continue;
                    }
                };
                let Some(Ok(message)) = message else { return };
                // Pings are answered by the library.
                let Message::Text(text) = message else { continue };
                let Ok(mut frame_in) = serde_json::from_str::<Value>(&text) else { return };
                let payload = frame_in["data"].take();
                match frame_in["event"].as_str() {
                    Some("desktop.hello.ack") => {
                        // Presence messages must carry the id that the control plane assigned.
                        target = payload["computeTargetId"].clone();
                        if let Some(acknowledged) = acknowledged.take() {
                            // The receiver is dropped when `connect_desktop` was cancelled.
                            let _ = acknowledged.send(target.clone());
                        }
                    }
                    Some("desktop.command") => {
                        let accepted =
                            json!({"commandId": payload["commandId"], "accepted": true, "state": "accepted"});
                        if socket.send(frame("desktop.command.ack", accepted)).await.is_err() {
                            return;
                        }
                        // The desktop stays connected when its handle, and with it the receiver, has been
                        // dropped.
                        let _ = commands.send(payload);
                    }
                    _ => {}
                }
            }
        });
        let target = target.await.context("the connection closed before desktop.hello.ack")?;
        Ok(ConnectedDesktop {
            target: target.as_str().context("the acknowledgement has no compute target id")?.parse()?,
            commands: commands_in,
        })
    }

    /// Creates a document for a repository, starts PLAN on the desktop and waits for the command. Returns the
    /// loop with its runner token.
    pub async fn plan(
        &self,
        desktop: &mut ConnectedDesktop,
        repository: &str,
        title: &str,
    ) -> anyhow::Result<RunnerLoop> {
        let repo = json!({"fullName": repository, "branch": "main"});
        let document = json!({"title": title, "type": "FEATURE", "content": "A cart.", "repo": repo});
        let document = self.post("/documents", document).await?;
        let document = document["slug"].as_str().context("the document has no slug")?.to_owned();
        let launch = json!({"command": "plan", "computeTargetId": desktop.target});
        let started = self.post(&format!("/documents/{document}/run-loop"), launch).await?;
        let id = started["loopId"].as_str().context("the response has no loop id")?.to_owned();
        let launch = desktop.commands.recv().await.context("the desktop's connection is closed")?;
        let token = launch["body"]["loopgateAuthToken"]
            .as_str()
            .context("the command has no runner token")?
            .to_owned();
        Ok(RunnerLoop { id, document, token })
    }
}

/// A loop that was dispatched to a desktop.
#[derive(Debug, Clone)]
pub struct RunnerLoop {
    pub id: String,
    /// Slug of its document.
    pub document: String,
    /// Runner token that authorizes the loop's events.
    pub token: String,
}

/// Returns `data` of a successful response. Fails with status and body otherwise.
pub async fn data(response: reqwest::Response) -> anyhow::Result<Value> {
    let (status, mut body) = (response.status(), response.json::<Value>().await?);
    ensure!(status.is_success(), "{status} {body}");
    Ok(body["data"].take())
}

fn frame(event: &str, mut data: Value) -> Message {
    data["protocolVersion"] = json!("1");
    data["messageId"] = json!(Uuid::new_v4());
    data["timestamp"] = json!(jiff::Timestamp::now().to_string());
    Message::text(json!({"event": event, "data": data}).to_string())
}
