//! Control plane and desktop as separate processes: the control plane serves the page, the desktop connects
//! to it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::free_port;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::{BrowserSession, Setup};
use loopgate_testkit::model::ModelStep;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{clock, story, wait};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::page::{Page, text};
use crate::test_system::{JobRow, log_in};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// A control plane process in a temporary home.
struct ControlPlaneProcess {
    home: UserHome,
    address: String,
    child: Child,
    origin: String,
}

impl ControlPlaneProcess {
    /// Starts a control plane and waits until it accepts connections.
    async fn start() -> Result<Self> {
        Self::start_in(UserHome::temporary()?).await
    }

    async fn start_in(home: UserHome) -> Result<Self> {
        let address = format!("127.0.0.1:{}", free_port()?);
        let child = Self::spawn(&home, &address).await?;
        let origin = format!("http://{address}");
        Ok(Self { home, address, child, origin })
    }

    async fn spawn(home: &UserHome, address: &str) -> Result<Child> {
        let mut child = Self::command(home, address).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().context("no stdout")?;
        let mut lines = BufReader::new(stdout).lines();
        loop {
            let line = lines.next_line().await?.context("the control plane exited")?;
            ensure!(!line.contains("token="), "a log would contain the sign-in link: {line}");
            // The line names the command that prints a link.
            if line.starts_with("to sign in, run: loopgate control-plane sign-in-link --home ") {
                return Ok(child);
            }
        }
    }

    fn command(home: &UserHome, address: &str) -> Command {
        let mut command = home.command(PROGRAM);
        command.arg("control-plane").arg("--home").arg(home.path().join("plane"));
        command.args(["--listen", address]);
        command
    }

    /// Runs a command of the operator. Returns its output, or its error output when it fails.
    async fn operate(&self, arguments: &[&str]) -> Result<Result<String, String>> {
        let mut command = self.home.command(PROGRAM);
        command.arg("control-plane").args(arguments).arg("--home").arg(self.home.path().join("plane"));
        let output = command.output().await?;
        let text = |bytes| anyhow::Ok(String::from_utf8(bytes)?.trim().to_owned());
        Ok(if output.status.success() { Ok(text(output.stdout)?) } else { Err(text(output.stderr)?) })
    }

    /// Returns a new sign-in link of the first administrator.
    async fn sign_in_link(&self) -> Result<String> {
        self.operate(&["sign-in-link"]).await?.map_err(anyhow::Error::msg)
    }

    /// Starts the control plane again after it has ended, and waits until it accepts connections.
    async fn restart(&mut self) -> Result<()> {
        self.child = Self::spawn(&self.home, &self.address).await?;
        Ok(())
    }

    /// Sends a request, kills the process after a delay, or without one as soon as it has responded, and starts it
    /// again. Returns the response, or `None` when the kill prevented it.
    async fn kill_during(
        &mut self,
        request: RequestBuilder,
        delay: Option<Duration>,
    ) -> Result<Option<Value>> {
        let mut answer =
            tokio::spawn(async move { request.send().await?.error_for_status()?.json::<Value>().await });
        let answered = match delay {
            Some(delay) => {
                tokio::time::sleep(delay).await;
                None
            }
            None => Some((&mut answer).await),
        };
        self.child.kill().await?;
        self.restart().await?;
        let answer = match answered {
            Some(answer) => answer,
            None => answer.await,
        };
        match answer? {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.is_status() || delay.is_none() => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    /// Creates an onboarding attempt, as the page does for a new desktop.
    async fn create_attempt(&self, page: &Page) -> Result<String> {
        let request = page.0.request(Method::POST, "/desktop/onboarding-attempt");
        let answer =
            request.json(&json!({"webAppOrigin": self.origin})).send().await?.json::<Value>().await?;
        text(&answer["onboardingAttemptId"])
    }

    /// Binds a desktop to the control plane with `loopgate connect`.
    async fn connect(&self, home: &UserHome, setup: &Setup, page: &Page) -> Result<()> {
        let mut command = home.command(PROGRAM);
        command.args(["connect", &self.origin, "--home"]).arg(setup.data_dir());
        command.env("LOOPGATE_CONNECT_CODE", self.create_attempt(page).await?);
        ensure!(command.status().await?.success(), "not connected");
        Ok(())
    }

    async fn sign_in(&self) -> Result<Page> {
        self.sign_in_by(&self.sign_in_link().await?).await
    }

    async fn sign_in_by(&self, link: &str) -> Result<Page> {
        Ok(Page(BrowserSession::by_link(&self.origin, &self.origin, link).await?))
    }
}

/// Waits until the page's presence stream reports its only desktop as online or offline.
async fn wait_for_presence(page: &Page, is_online: bool) -> Result<()> {
    let mut changes = page.presence().await?;
    while let Some(change) = changes.next().await? {
        if change["isOnline"] == is_online {
            return Ok(());
        }
    }
    anyhow::bail!("the presence stream ended")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_runs_on_a_desktop_of_another_home() -> Result<()> {
    let mut plane = ControlPlaneProcess::start().await?;
    let page = plane.sign_in().await?;
    let key = page.0.post("/api-keys", &json!({"name": "a desktop"})).await?;
    let key = text(&key["data"]["plaintext"])?;

    let testbed = Testbed::new(story::script()).await?;
    testbed.add_story()?;
    let setup = testbed.loopgate()?.binary(PROGRAM).gateway_alone();
    let setup = setup.env("LOOPGATE_API_KEY", &key).arg("--api-origin").arg(&plane.origin);
    let mut desktop = setup.start().await?;
    wait_for_presence(&page, true).await?;
    page.0.post("/repositories", &json!({"fullName": story::REPOSITORY})).await?;
    assert!(!desktop.output().contains(&key), "the key was printed");

    let plan = page.create_plan().await?;
    ensure!(page.document(&plan).await?["type"] == "FEATURE");
    assert!(!testbed.model.requests().is_empty(), "no assistant was started on the desktop");
    let health = desktop.gateway_bare(Method::GET, "/health").send().await?.json::<Value>().await?;
    assert_eq!(health["onboardingCompleted"], true);

    // Each process survives the end of the other.
    assert_eq!(desktop.stop().await?.code(), Some(0));
    wait_for_presence(&page, false).await?;
    let desktop = desktop.start_again().await?;
    wait_for_presence(&page, true).await?;
    plane.child.kill().await?;
    let alive = desktop.gateway(Method::GET, "/api/gateway/version").send().await?;
    assert_eq!(alive.status(), 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bound_desktop_delivers_events_once_after_a_nine_hour_outage() -> Result<()> {
    deliver_after_nine_hours(true).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_wait_until_the_desktop_is_bound_when_an_api_key_cannot_refresh() -> Result<()> {
    deliver_after_nine_hours(false).await
}

// A loop ends while the control plane is down for nine hours: its token expires, and it is silent for longer
// than the heartbeat timeout.
async fn deliver_after_nine_hours(is_bound: bool) -> Result<()> {
    let mut script = story::script();
    let plan =
        script.conversations.iter_mut().find(|candidate| candidate.name == story::PLAN).context("no plan")?;
    plan.turns.last_mut().context("no turn")?.0.insert(0, ModelStep::hold("last"));
    let testbed = Testbed::new(script).await?;
    testbed.add_story()?;
    // The clock of both processes is simulated, so that nine hours pass at once.
    let clock = clock::environment(&testbed.home)?;
    let mut home = UserHome::temporary()?;
    clock.iter().for_each(|(name, value)| home.set(name, value));
    let mut plane = ControlPlaneProcess::start_in(home).await?;
    let page = plane.sign_in().await?;
    let mut setup = testbed.loopgate()?.binary(PROGRAM).gateway_alone();
    for (name, value) in clock {
        setup = setup.env(name, value);
    }
    if is_bound {
        plane.connect(&testbed.home, &setup, &page).await?;
    } else {
        let key = page.0.post("/api-keys", &json!({"name": "a desktop"})).await?;
        let key = text(&key["data"]["plaintext"])?;
        setup = setup.env("LOOPGATE_API_KEY", key).arg("--api-origin").arg(&plane.origin);
    }
    let mut desktop = setup.start().await?;
    wait_for_presence(&page, true).await?;
    page.0.post("/repositories", &json!({"fullName": story::REPOSITORY})).await?;
    let id = page.start_loop(&page.create_document().await?, "plan").await?;
    testbed.model.held("last").await?;

    plane.child.kill().await?;
    testbed.model.release("last");
    let logs = desktop.setup().data_dir().join("logs");
    let ended = async || {
        let record = JobRow::read(&desktop, &id).await.ok()?;
        (record.status == "Completed" && !record.reported && record.unsent > 0).then_some(())
    };
    wait::until(&logs, ended).await?;
    clock::advance(testbed.home.path(), 9)?;
    plane.restart().await?;
    if !is_bound {
        // A plain API key cannot refresh an expired runner token. The desktop suggests `loopgate connect`.
        wait::until(&logs, async || log_in(&logs).contains("run `loopgate connect`").then_some(())).await?;
        desktop.stop().await?;
        plane.connect(&testbed.home, desktop.setup(), &page).await?;
        desktop = desktop.start_again().await?;
    }
    let finalized = JobRow { status: "Completed".to_owned(), reported: true, unsent: 0, tokens: 0 };
    let delivered = async || (JobRow::read(&desktop, &id).await.ok()? == finalized).then_some(());
    wait::until(&logs, delivered).await?;

    ensure!(page.read(&id).await?["status"] == "COMPLETED");
    let events = page.events(&id).await?;
    let count = |predicate: &dyn Fn(&Value) -> bool| events.iter().filter(|event| predicate(event)).count();
    ensure!(count(&|event| event["type"] == "completed") == 1, "{events:?}");
    let is_plan_output = |event: &Value| {
        event["chunk"].as_str().is_some_and(|chunk| chunk.contains("The plan is ready for you"))
    };
    ensure!(count(&is_plan_output) == 1, "{events:?}");
    ensure!(count(&|event| event["type"] == "error") == 0, "the loop failed: {events:?}");
    Ok(())
}

/// Control plane processes that are killed. `LOOPGATE_TEST_KILLS` sets another number for a longer run.
const KILLS: u64 = 4;
/// Time in which an answered request must take effect after the restart.
const EFFECT_LIMIT: Duration = Duration::from_secs(10);

/// Follows a loop until its runner has started, or until it has failed, and returns the loop.
async fn wait_until_running_or_failed(page: &Page, id: &str) -> Result<Value> {
    let mut events = page.follow(id, None).await?;
    loop {
        let row = page.read(id).await?;
        if row["status"] != "PENDING" && row["status"] != "CLAIMED" {
            return Ok(row);
        }
        ensure!(events.next().await?.is_some(), "the loop ended without a status: {row}");
    }
}

// A request that was answered takes effect, whenever the control plane is killed: a started loop runs or ends with
// a reason, and a cancellation reaches the desktop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answered_requests_survive_kills_of_the_control_plane() -> Result<()> {
    let kills =
        std::env::var("LOOPGATE_TEST_KILLS").ok().map(|count| count.parse()).transpose()?.unwrap_or(KILLS);
    let mut script = story::script();
    let plan =
        script.conversations.iter_mut().find(|candidate| candidate.name == story::PLAN).context("no plan")?;
    plan.turns.first_mut().context("no turn")?.0.insert(0, ModelStep::hold("first"));
    let testbed = Testbed::new(script).await?;
    testbed.add_story()?;
    let mut home = UserHome::temporary()?;
    if let Ok(url) = std::env::var("LOOPGATE_TEST_POSTGRES") {
        home.set("DATABASE_URL", &url);
    }
    let mut plane = ControlPlaneProcess::start_in(home).await?;
    let page = plane.sign_in().await?;
    let setup = testbed.loopgate()?.binary(PROGRAM).gateway_alone();
    plane.connect(&testbed.home, &setup, &page).await?;
    let desktop = setup.start().await?;
    page.0.post("/repositories", &json!({"fullName": story::REPOSITORY})).await?;
    let logs = desktop.setup().data_dir().join("logs");
    let (mut started, mut cancelled) = (0, 0);
    for round in 0..kills {
        wait_for_presence(&page, true).await?;
        let document = page.create_document().await?;
        // In every second round the request has been answered and the work behind it has just begun. In the
        // others, the kill comes at another moment of the request each time.
        let delay = (round % 2 == 1).then(|| Duration::from_millis(round * 60 / kills));
        let path = format!("/documents/{document}/run-loop");
        let answer =
            plane.kill_during(page.0.request(Method::POST, &path).json(&json!({"command": "plan"})), delay);
        let Some(answer) = answer.await? else { continue };
        let id = text(&answer["data"]["loopId"])?;
        started += 1;
        let taken = wait_until_running_or_failed(&page, &id);
        let row = tokio::time::timeout(EFFECT_LIMIT, taken)
            .await
            .with_context(|| format!("round {round}: nothing happens"))??;
        if row["status"] == "FAILED" {
            ensure!(row["error"]["message"].is_string(), "no reason: {row}");
            continue;
        }
        let cancel = page.0.request(Method::POST, &format!("/loops/{id}/cancel")).json(&json!({}));
        let answered = plane.kill_during(cancel, delay).await?.is_some();
        if !answered {
            page.0.post(&format!("/loops/{id}/cancel"), &json!({})).await.ok();
        }
        cancelled += u64::from(answered);
        ensure!(page.read(&id).await?["status"] == "CANCELLED");
        let stopped = wait::until(&logs, async || {
            let record = JobRow::read(&desktop, &id).await.ok()?;
            let is_stopped = ["Cancelled", "Stopped", "Failed"].contains(&&*record.status);
            (is_stopped && record.unsent == 0).then_some(())
        });
        tokio::time::timeout(EFFECT_LIMIT, stopped)
            .await
            .with_context(|| format!("round {round}: runs on"))??;
    }
    eprintln!("{started} of {kills} starts and {cancelled} cancellations were answered before the kill");
    ensure!(started > 0 && cancelled > 0, "no request was answered");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sign_in_link_of_the_control_plane_is_valid_once() -> Result<()> {
    let plane = ControlPlaneProcess::start().await?;
    let link = plane.sign_in_link().await?;
    ensure!(link.starts_with(&format!("{}/sign-in?token=", plane.origin)), "{link}");
    let page = plane.sign_in_by(&link).await?;
    ensure!(plane.sign_in_by(&link).await.is_err(), "a sign-in link is valid once");
    assert_eq!(page.0.get("/compute-targets").await?["data"], json!([]));
    let http = loopgate_http_client::builder().build()?;
    let anonymous = http.get(format!("{}/loops", plane.origin)).send().await?;
    assert_eq!(anonymous.status(), 401);
    let served = http.get(&plane.origin).header("accept", "text/html").send().await?;
    ensure!(served.status() == 200 || served.status() == 501, "{}", served.status());
    // Without a connected desktop the request fails immediately.
    let document = page.create_document().await?;
    let answer = page.0.request(Method::POST, &format!("/documents/{document}/run-loop"));
    let answer = answer.json(&json!({"command": "plan"})).send().await?;
    let (status, body) = (answer.status(), answer.json::<Value>().await?);
    ensure!(status.is_client_error() || status == 503, "{status} {body}");
    ensure!(body["error"].is_string(), "{body}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operator_adds_an_organization_and_backs_up_a_running_control_plane() -> Result<()> {
    let mut plane = ControlPlaneProcess::start().await?;
    let page = plane.sign_in().await?;
    let document = page.create_document().await?;
    let owner = ["--owner-name", "Eve", "--owner-email", "eve@example.org"];
    let link = plane.operate(&[&["organization", "add", "Acme Labs"][..], &owner].concat()).await?;
    let eve = plane.sign_in_by(&link.map_err(anyhow::Error::msg)?).await?;
    ensure!(eve.0.get("/me").await?["data"]["organization"]["slug"] == "acme-labs");
    let users = plane.operate(&["user", "list", "--in", "acme-labs"]).await?;
    ensure!(users == Ok("acme-labs\teve@example.org\tEve\tadministrator".to_owned()), "{users:?}");
    let reset = plane.operate(&["user", "reset-password", "eve@example.org"]).await?;
    ensure!(reset.as_ref().is_ok_and(|link| link.contains("/reset-password?token=")), "{reset:?}");

    let backup = plane.home.path().join("backup");
    let backup = backup.to_str().context("not UTF-8")?;
    let check = plane.operate(&["check"]).await?.map_err(anyhow::Error::msg)?;
    ensure!(check.contains("SQLite") && check.contains("schema      usable by this version"), "{check}");
    let missing = plane.operate(&["migrate", "--check"]).await?;
    ensure!(missing == Ok(String::new()), "{missing:?}");
    let written = plane.operate(&["backup", backup]).await?;
    ensure!(written.is_ok(), "{written:?}");
    let refused = plane.operate(&["restore", backup]).await?;
    ensure!(refused.is_err_and(|error| error.contains("is running")), "a running control plane was replaced");
    plane.child.kill().await?;
    let restored = plane.home.path().join("restored");
    let mut restore = plane.home.command(PROGRAM);
    restore.args(["control-plane", "restore", backup, "--home"]).arg(&restored);
    ensure!(restore.output().await?.status.success());
    let repeated = restore.output().await?;
    ensure!(!repeated.status.success(), "an existing data directory was overwritten");

    // The secrets are part of the backup: without them the start ends with the reason.
    let secrets = restored.join("control-plane-secrets.json");
    let moved = restored.join("moved.json");
    std::fs::rename(&secrets, &moved)?;
    let mut start = plane.home.command(PROGRAM);
    start.args(["control-plane", "--listen", &plane.address, "--home"]).arg(&restored);
    for damaged in [None, Some("{\"half\":")] {
        if let Some(content) = damaged {
            std::fs::write(&secrets, content)?;
            std::fs::set_permissions(&secrets, std::fs::Permissions::from_mode(0o600))?;
        }
        let failed = start.output().await?;
        let reason = String::from_utf8(failed.stderr)?;
        let is_named = reason.contains("control-plane-secrets.json is missing or damaged");
        ensure!(!failed.status.success() && is_named, "{reason}");
        ensure!(!secrets.exists(), "new secrets were created");
    }
    std::fs::rename(&moved, &secrets)?;
    let mut child = start.stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
    lines.next_line().await?.context("the control plane exited")?;
    // The session is in the copy of the database, although it was only in the write-ahead log.
    ensure!(page.document(&document).await?["title"].is_string());
    child.kill().await?;
    Ok(())
}

// With a key that the control plane never issued, the desktop works locally.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn desktop_with_an_invalid_key_is_not_connected() -> Result<()> {
    let plane = ControlPlaneProcess::start().await?;
    let page = plane.sign_in().await?;
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(PROGRAM).gateway_alone();
    let key = "lgk_live_0123456789abcdef0123456789abcdef";
    let mut desktop =
        setup.env("LOOPGATE_API_KEY", key).arg("--api-origin").arg(&plane.origin).start().await?;
    let answer = desktop.gateway(Method::GET, "/api/gateway/repos").send().await?;
    assert_eq!(answer.status(), 200);
    assert_eq!(desktop.stop().await?.code(), Some(0));
    assert_eq!(page.0.get("/compute-targets").await?["data"], json!([]));
    assert!(!desktop.output().contains(key), "{}", desktop.output());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connect_reports_why_it_failed() -> Result<()> {
    let plane = ControlPlaneProcess::start().await?;
    let page = plane.sign_in().await?;
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(PROGRAM).gateway_alone();
    let connect = async |arguments: &[&str], attempt: &str| -> Result<(Option<i32>, String)> {
        let mut command = home.command(PROGRAM);
        command.arg("connect").args(arguments).arg("--home").arg(setup.data_dir());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut input = child.stdin.take().context("standard input")?;
        // A command that fails early does not read the code.
        let _ = input.write_all(format!("{attempt}\n").as_bytes()).await;
        drop(input);
        let output = child.wait_with_output().await?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.code(), String::from_utf8(text)?))
    };
    let attempt = plane.create_attempt(&page).await?;
    let unused_origin = format!("http://127.0.0.1:{}", free_port()?);
    // `localhost` is another origin than `127.0.0.1`, so the attempt does not belong to it.
    let other = plane.origin.replace("127.0.0.1", "localhost");
    for (origin, attempt, reason) in [
        ("http://loopgate.example.com", &*attempt, "must use https"),
        (&unused_origin, &attempt, "cannot reach the control plane"),
        (&plane.origin, "unknown-attempt", "create a new one on the page"),
        // One in 64 codes begins with a hyphen.
        (&plane.origin, "-unknown", "create a new one on the page"),
        (&plane.origin, "", "no code"),
        (&other, &attempt, "--web-origin"),
    ] {
        let (code, message) = connect(&[origin], attempt).await?;
        ensure!(code == Some(1) && message.contains(reason), "{origin}: {code:?} {message}");
    }
    let (code, message) = connect(&[&plane.origin, "--attempt", &attempt], &attempt).await?;
    ensure!(code == Some(1) && message.contains("can be read by other users"), "{message}");
    let (code, message) = connect(&[&other, "--web-origin", &plane.origin], &attempt).await?;
    ensure!(code == Some(0) && !message.contains("lgk_"), "{message}");
    let (code, message) = connect(&[&plane.origin], &attempt).await?;
    ensure!(code == Some(1) && message.contains("ONBOARDING_ATTEMPT_INVALID_OR_EXPIRED"), "{message}");

    let _desktop = setup.clone().start().await?;
    wait_for_presence(&page, true).await?;
    let (code, message) = connect(&[&plane.origin], "x").await?;
    ensure!(code == Some(1) && message.contains("another Loopgate is running"), "{message}");
    Ok(())
}
