//! A control plane on SQLite: a thousand connected desktops with the events of loops, and the list of a hundred
//! thousand loops.
//!
//! The desktops are WebSockets that say hello and are present; the loops are dispatched to the first of them. The
//! floor of an answer is that of a bare server beside the same load.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::{Client, RequestBuilder};
use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement, TransactionTrait as _};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use uuid::Uuid;

use crate::bare;
use crate::gateway::{TestDirectories, free_port, resident_memory};
use crate::pulse;
use crate::table::Table;

const DESKTOPS: usize = 1_000;
/// Loops that report, and how often each does.
const LOOPS: usize = 20;
const PACE: Duration = Duration::from_millis(100);
/// How often a desktop says that it is there.
const PRESENCE: Duration = Duration::from_secs(30);
const EVENT_LIMIT: Duration = Duration::from_millis(50);
const LISTED: usize = 100_000;
const LIST_LIMIT: Duration = Duration::from_millis(20);
const LISTINGS: usize = 200;
const START_LIMIT: Duration = Duration::from_secs(60);
/// Between two looks at a control plane that starts.
const LOOK: Duration = Duration::from_millis(5);
const OWNER: &str = "bench@example.org";
const PASSWORD: &str = "correct horse battery";

/// A running control plane; killed when dropped.
struct ControlPlaneProcess {
    child: Child,
    origin: String,
    client: Client,
    /// Credentials of the owner.
    session: Option<(String, String)>,
}

impl ControlPlaneProcess {
    #[expect(clippy::disallowed_methods, reason = "a measuring program of its own, outside the product")]
    async fn start(binary: &Path, directories: &TestDirectories) -> anyhow::Result<Self> {
        let password = directories.path("password");
        std::fs::write(&password, PASSWORD)?;
        std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o600))?;
        let port = free_port()?;
        let child = Command::new(binary)
            .args(["control-plane", "--listen", &format!("127.0.0.1:{port}"), "--owner-email", OWNER])
            .arg("--owner-password-file")
            .arg(password)
            .arg("--home")
            .arg(directories.path("data"))
            .env("HOME", directories.path("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let origin = format!("http://127.0.0.1:{port}");
        let mut plane = Self { child, origin, client: Client::new(), session: None };
        let begin = Instant::now();
        while plane.client.get(plane.url("/health")).send().await.is_err() {
            if let Some(status) = plane.child.try_wait()? {
                anyhow::bail!("the control plane ended at once: {status}");
            }
            ensure!(begin.elapsed() < START_LIMIT, "the control plane does not answer");
            tokio::time::sleep(LOOK).await;
        }
        let sign_in = json!({"email": OWNER, "password": PASSWORD});
        let answer = plane.request("POST", "/auth/sign-in").json(&sign_in).send().await?;
        let cookie = answer.headers().get("set-cookie").and_then(|cookie| cookie.to_str().ok());
        let cookie = cookie.and_then(|cookie| cookie.split(';').next()).context("a session")?.to_owned();
        let key = data(answer).await?["sessionKey"].as_str().context("the session's key")?.to_owned();
        plane.session = Some((cookie, key));
        Ok(plane)
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// A request of the owner's page.
    fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().unwrap_or_default();
        let request = self.client.request(method, self.url(path)).header("origin", &self.origin);
        match &self.session {
            Some((cookie, key)) => request.header("cookie", cookie).header("x-session-key", key),
            None => request,
        }
    }

    async fn post(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        data(self.request("POST", path).json(&body).send().await?).await.with_context(|| path.to_owned())
    }

    fn resident_memory(&self) -> anyhow::Result<f64> {
        resident_memory(self.child.id().context("the control plane has ended")?)
    }

    async fn stop(mut self) -> anyhow::Result<()> {
        self.child.start_kill()?;
        self.child.wait().await?;
        Ok(())
    }
}

/// `data` of a success.
async fn data(answer: reqwest::Response) -> anyhow::Result<Value> {
    let (status, mut body) = (answer.status(), answer.json::<Value>().await?);
    ensure!(status.is_success(), "{status} {body}");
    Ok(body["data"].take())
}

/// Measures both.
pub async fn measure(binary: &Path, load: Duration, table: &mut Table) -> anyhow::Result<()> {
    let directories = TestDirectories::new()?;
    let plane = ControlPlaneProcess::start(binary, &directories).await?;
    table.memory("control plane resident, idle", plane.resident_memory()?, None);
    measure_events(&plane, load, table).await?;
    plane.stop().await?;
    write_loops(&directories.path("data/control-plane.db")).await?;
    let plane = ControlPlaneProcess::start(binary, &directories).await?;
    measure_list(&plane, table).await?;
    plane.stop().await
}

/// The desktops, and the loops that report beside them.
async fn measure_events(
    plane: &ControlPlaneProcess,
    load: Duration,
    table: &mut Table,
) -> anyhow::Result<()> {
    let settings = json!({"maxConcurrentLoops": LOOPS});
    data(plane.request("PUT", "/organization/settings").json(&settings).send().await?).await?;
    plane.post("/repositories", json!({"fullName": "acme/shop"})).await?;
    let mut first = None;
    let begin = Instant::now();
    for number in 0..DESKTOPS {
        let (launches, launched) = tokio::sync::mpsc::unbounded_channel();
        let target = connect(plane, number, launches).await.with_context(|| format!("desktop {number}"))?;
        first.get_or_insert((target, launched));
    }
    table.plain("1,000 desktops claim a key and connect", format!("{:.1?}", begin.elapsed()));
    table.memory("control plane resident, 1,000 desktops", plane.resident_memory()?, None);

    let (target, mut launched) = first.context("no desktop is connected")?;
    let mut runners = Vec::with_capacity(LOOPS);
    for number in 0..LOOPS {
        let repo = json!({"fullName": "acme/shop", "branch": "main"});
        let document =
            json!({"title": format!("Wish {number}"), "type": "FEATURE", "content": "A cart.", "repo": repo});
        let document = plane.post("/documents", document).await?;
        let path = format!("/documents/{}/run-loop", document["slug"].as_str().context("a slug")?);
        let made = plane.post(&path, json!({"command": "plan", "computeTargetId": target})).await?;
        let id = made["loopId"].as_str().context("a loop")?.to_owned();
        let launch: Value = launched.recv().await.context("the desktop is gone")?;
        let token = launch["body"]["loopgateAuthToken"].as_str().context("a token")?.to_owned();
        runners.push((plane.url(&format!("/loops/{id}/events")), token));
    }
    for (url, token) in &runners {
        report(&plane.client, url, token, json!({"type": "started"})).await?;
    }
    let bare =
        bare::serve(bytes::Bytes::from_static(b"{\"success\":true,\"data\":{\"received\":true}}")).await?;
    let floor = async { pulse::p99(bare.url.clone(), load).await };
    let reports = runners.iter().enumerate().map(|(number, (url, token))| {
        // They do not all report at the same instant.
        let offset = PACE.mul_f64(number as f64 / LOOPS as f64);
        report_for(&plane.client, url, token, offset, load)
    });
    let (times, floor) = tokio::join!(futures_util::future::try_join_all(reports), floor);
    let mut times: Vec<Duration> = times?.into_iter().flatten().collect();
    times.sort_unstable();
    let floor = floor?;
    let percentile = |hundredths: usize| times.get(times.len() * hundredths / 100).copied();
    let (p50, p99) = (percentile(50).context("no event")?, percentile(99).context("no event")?);
    let rate = times.len() as f64 / load.as_secs_f64();
    table.plain("events of loops beside 1,000 desktops, per second", format!("{rate:.0}"));
    table.latency("  event stored, p50 (floor: bare server's p99)", p50, floor);
    table.time("  event stored, p99", p99, EVENT_LIMIT);
    table.memory("control plane resident after them", plane.resident_memory()?, None);
    Ok(())
}

/// Connects a desktop with a key of its own; it is present until this program ends. Answers its id; what it is told
/// to launch goes to `launches`.
async fn connect(
    plane: &ControlPlaneProcess,
    number: usize,
    launches: tokio::sync::mpsc::UnboundedSender<Value>,
) -> anyhow::Result<Uuid> {
    let key = plane.post("/api-keys", json!({"name": format!("desktop {number}")})).await?;
    let key = key["plaintext"].as_str().context("a key")?;
    let url = plane.url("/desktop-gateway").replacen("http", "ws", 1);
    let mut request = url.into_client_request()?;
    request.headers_mut().insert("authorization", format!("Bearer {key}").parse()?);
    request.headers_mut().insert("sec-websocket-protocol", "loopgate.v1".parse()?);
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
    let hello = frame(
        "desktop.hello",
        json!({
            "gatewayId": Uuid::new_v4(), "desktopSecurityUpgradeProtocolVersion": 1,
            "machineName": format!("bench-{number}"), "platform": "linux", "pluginVersion": "1.9.3",
            "desktopClientVersion": "0.13.18", "gatewayProtocolVersion": "0.1.0",
            "supportedOperations": ["orchestrator_loop", "orchestrator_loop_kill"], "maxInFlightCommands": 2,
            "allowedDirectoriesHash": "9b74",
            "capabilities": {"loopRunnerRefreshSupported": true, "loopRunnerHeartbeatSupported": true},
        }),
    );
    socket.send(hello).await?;
    let (acknowledged, target) = oneshot::channel();
    tokio::spawn(async move {
        let mut acknowledged = Some(acknowledged);
        // Not all at the same instant.
        let offset = PRESENCE.mul_f64(number as f64 / DESKTOPS as f64);
        let mut presence = tokio::time::interval_at((Instant::now() + offset).into(), PRESENCE);
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
                    let _ = launches.send(payload);
                }
                _ => {}
            }
        }
    });
    let target = target.await.context("no acknowledgement of the hello")?;
    Ok(target.as_str().context("an id")?.parse()?)
}

fn frame(event: &str, mut data: Value) -> Message {
    data["protocolVersion"] = json!("1");
    data["messageId"] = json!(Uuid::new_v4());
    data["timestamp"] = json!(jiff::Timestamp::now().to_string());
    Message::text(json!({"event": event, "data": data}).to_string())
}

async fn report(client: &Client, url: &str, token: &str, event: Value) -> anyhow::Result<()> {
    let request =
        client.post(url).bearer_auth(token).header("x-loop-event-nonce", Uuid::new_v4().to_string());
    data(request.json(&event).send().await?).await.map(drop)
}

/// Reports at the pace for a while. Each time is counted from the moment when the report was due.
async fn report_for(
    client: &Client,
    url: &str,
    token: &str,
    offset: Duration,
    time: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let begin = Instant::now() + offset;
    let mut times = Vec::new();
    for number in 0.. {
        let due = begin + PACE * number;
        if due >= begin + time {
            break;
        }
        tokio::time::sleep_until(due.into()).await;
        report(client, url, token, json!({"type": "output", "chunk": format!("Line {number} of a loop.\n")}))
            .await?;
        times.push(due.elapsed());
    }
    Ok(times)
}

/// Loops that ended, each like one that is there.
async fn write_loops(file: &Path) -> anyhow::Result<()> {
    let db = Database::connect(format!("sqlite://{}", file.display())).await?;
    let text = |sql: &str| Statement::from_string(DbBackend::Sqlite, sql.to_owned());
    let columns = db.query_all_raw(text("PRAGMA table_info(loops)")).await?;
    let columns: Vec<String> = columns.iter().map(|row| row.try_get("", "name")).collect::<Result<_, _>>()?;
    let values = columns.iter().map(|column| match column.as_str() {
        "id" => "$1",
        "status" => "'COMPLETED'",
        "created_at" | "updated_at" => "created_at - $2",
        other => other,
    });
    let sql = format!(
        "INSERT INTO loops ({}) SELECT {} FROM loops ORDER BY created_at DESC LIMIT 1",
        columns.join(", "),
        values.collect::<Vec<_>>().join(", ")
    );
    let tx = db.begin().await?;
    for n in 0..LISTED {
        // Older than the row that they are made from, so that it stays the newest.
        let values = [Uuid::now_v7().into(), i64::try_from(n + 1)?.into()];
        tx.execute_raw(Statement::from_sql_and_values(DbBackend::Sqlite, &sql, values)).await?;
    }
    tx.commit().await?;
    db.close().await?;
    Ok(())
}

async fn measure_list(plane: &ControlPlaneProcess, table: &mut Table) -> anyhow::Result<()> {
    let mut last = Value::Null;
    for (name, path) in [
        ("GET /loops of 100,000", "/loops"),
        ("GET /loops, 200 of them", "/loops?limit=200"),
        ("GET /loops by status and command", "/loops?status=COMPLETED&command=PLAN"),
        ("GET /loops, the page after 50,000", "/loops?offset=50000"),
        ("GET /loops, the page after a loop", "/loops?after={}"),
    ] {
        let path = path.replace("{}", last.as_str().unwrap_or_default());
        let mut times = Vec::with_capacity(LISTINGS);
        for _ in 0..LISTINGS {
            let begin = Instant::now();
            let mut listed = data(plane.request("GET", &path).send().await?).await?;
            times.push(begin.elapsed());
            let rows = listed.as_array_mut().context("loops")?;
            ensure!(rows.len() >= 50, "{path} listed {} loops", rows.len());
            last = rows.pop().map_or(Value::Null, |mut row| row["id"].take());
        }
        times.sort_unstable();
        let p99 = times.get(LISTINGS * 99 / 100).copied().context("no answer")?;
        table.time(&format!("{name}, p99"), p99, LIST_LIMIT);
    }
    Ok(())
}
