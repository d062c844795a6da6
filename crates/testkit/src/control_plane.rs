//! A real `loopgate control-plane` process, its owner's page, and desktops that connect to it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
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

/// How often a desktop says that it is there.
const PRESENCE: Duration = Duration::from_secs(30);
const OWNER: &str = "owner@example.org";
const PASSWORD: &str = "correct horse battery";

/// A running control plane; killed when dropped.
#[derive(Debug)]
pub struct ControlPlane {
    child: Child,
    /// Kept open: the program goes on printing.
    _output: Lines<BufReader<ChildStdout>>,
    origin: String,
    client: Client,
    session: OwnerSession,
}

/// Credentials of the owner's page.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct OwnerSession {
    /// `name=value` of the cookie.
    pub cookie: String,
    /// Value of the header `x-session-key`.
    pub key: String,
}

/// A desktop that is present until the program ends, accepts every command, and carries none out.
#[derive(Debug)]
pub struct ConnectedDesktop {
    /// Its id.
    pub target: Uuid,
    /// The commands that it is sent, each the `data` of its frame.
    pub commands: mpsc::UnboundedReceiver<Value>,
}

impl ControlPlane {
    /// Starts the binary with its database in `data` of the directory and signs its owner in.
    ///
    /// # Errors
    /// When it ends before it answers, or does not let its owner in.
    #[expect(clippy::disallowed_methods, reason = "the program under test, outside the product")]
    pub async fn start(binary: &Path, directory: &Path) -> anyhow::Result<Self> {
        let password = directory.join("password");
        std::fs::write(&password, PASSWORD)?;
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
        let mut output = BufReader::new(child.stdout.take().context("its output")?).lines();
        let origin = loop {
            let line = output.next_line().await?.context("the control plane ended before it answered")?;
            if let Some(origin) = line.strip_prefix("control plane on ") {
                break origin.trim().to_owned();
            }
        };
        let session = OwnerSession::default();
        let mut plane = Self { child, _output: output, origin, client: Client::new(), session };
        let sign_in = json!({"email": OWNER, "password": PASSWORD});
        let answer = plane.request("POST", "/auth/sign-in").json(&sign_in).send().await?;
        let cookie = answer.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok());
        let cookie = cookie.and_then(|cookie| cookie.split(';').next()).context("a session")?.to_owned();
        let key = data(answer).await?["sessionKey"].as_str().context("the session's key")?.to_owned();
        plane.session = OwnerSession { cookie, key };
        Ok(plane)
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Its origin.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Address of a route.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// Credentials of its owner's page.
    #[must_use]
    pub const fn session(&self) -> &OwnerSession {
        &self.session
    }

    /// A request of the owner's page.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().unwrap_or_default();
        let request = self.client.request(method, self.url(path)).header("origin", &self.origin);
        if self.session.key.is_empty() {
            return request;
        }
        request.header("cookie", &self.session.cookie).header("x-session-key", &self.session.key)
    }

    /// `data` that a POST of the owner's page is answered with.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn post(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        data(self.request("POST", path).json(&body).send().await?).await.with_context(|| path.to_owned())
    }

    /// Kills it.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().await.map_err(Into::into)
    }

    /// Connects a desktop with a key of its own. It says that it is there each half minute, first after `delay`.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn connect_desktop(&self, name: &str, delay: Duration) -> anyhow::Result<ConnectedDesktop> {
        let key = self.post("/api-keys", json!({"name": name})).await?;
        let key = key["plaintext"].as_str().context("a key")?;
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
                let Message::Text(text) = message else { continue };
                let Ok(mut frame_in) = serde_json::from_str::<Value>(&text) else { return };
                let payload = frame_in["data"].take();
                match frame_in["event"].as_str() {
                    Some("desktop.hello.ack") => {
                        target = payload["computeTargetId"].clone();
                        if let Some(acknowledged) = acknowledged.take() {
                            let _ = acknowledged.send(target.clone());
                        }
                    }
                    Some("desktop.command") => {
                        let accepted =
                            json!({"commandId": payload["commandId"], "accepted": true, "state": "accepted"});
                        if socket.send(frame("desktop.command.ack", accepted)).await.is_err() {
                            return;
                        }
                        let _ = commands.send(payload);
                    }
                    _ => {}
                }
            }
        });
        let target = target.await.context("no acknowledgement of the hello")?;
        Ok(ConnectedDesktop { target: target.as_str().context("an id")?.parse()?, commands: commands_in })
    }

    /// Has a wish for a repository planned on a desktop, and answers the loop with its token.
    ///
    /// # Errors
    /// When it is refused, or the desktop has gone.
    pub async fn plan(
        &self,
        desktop: &mut ConnectedDesktop,
        repository: &str,
        title: &str,
    ) -> anyhow::Result<RunnerLoop> {
        let repo = json!({"fullName": repository, "branch": "main"});
        let document = json!({"title": title, "type": "FEATURE", "content": "A cart.", "repo": repo});
        let document = self.post("/documents", document).await?;
        let document = document["slug"].as_str().context("a slug")?.to_owned();
        let launch = json!({"command": "plan", "computeTargetId": desktop.target});
        let made = self.post(&format!("/documents/{document}/run-loop"), launch).await?;
        let id = made["loopId"].as_str().context("a loop")?.to_owned();
        let launch = desktop.commands.recv().await.context("the desktop is gone")?;
        let token = launch["body"]["loopgateAuthToken"].as_str().context("a token")?.to_owned();
        Ok(RunnerLoop { id, document, token })
    }
}

/// A loop that was sent to a desktop.
#[derive(Debug, Clone)]
pub struct RunnerLoop {
    /// Its id.
    pub id: String,
    /// Slug of its document.
    pub document: String,
    /// Token with which its runner reports.
    pub token: String,
}

/// `data` of a success.
///
/// # Errors
/// When the answer is none, with its text.
pub async fn data(answer: reqwest::Response) -> anyhow::Result<Value> {
    let (status, mut body) = (answer.status(), answer.json::<Value>().await?);
    ensure!(status.is_success(), "{status} {body}");
    Ok(body["data"].take())
}

fn frame(event: &str, mut data: Value) -> Message {
    data["protocolVersion"] = json!("1");
    data["messageId"] = json!(Uuid::new_v4());
    data["timestamp"] = json!(jiff::Timestamp::now().to_string());
    Message::text(json!({"event": event, "data": data}).to_string())
}
