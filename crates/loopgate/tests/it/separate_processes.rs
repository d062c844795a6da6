//! Each half alone: a control plane that serves the page, and a desktop that connects to it.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::free_port;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::{Setup, SignedIn};
use loopgate_testkit::model::Step;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::{clock, story, wait};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::page::{Page, text};
use crate::test_system::{JobRow, log_in};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// A control plane in a home of its own.
struct ControlPlaneProcess {
    home: UserHome,
    address: String,
    child: Child,
    origin: String,
    sign_in_link: String,
}

impl ControlPlaneProcess {
    /// Starts it and reads what it tells its owner.
    async fn control_plane() -> Result<Self> {
        Self::control_plane_in(UserHome::temporary()?).await
    }

    async fn control_plane_in(home: UserHome) -> Result<Self> {
        let address = format!("127.0.0.1:{}", free_port()?);
        let mut child = Self::command(&home, &address).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().context("its output")?;
        let mut lines = BufReader::new(stdout).lines();
        let sign_in_link = loop {
            let line = lines.next_line().await?.context("it ended before it served")?;
            if let Some(link) = line.strip_prefix("sign in once with ") {
                break link.trim().to_owned();
            }
        };
        let origin = format!("http://{address}");
        Ok(Self { home, address, child, origin, sign_in_link })
    }

    fn command(home: &UserHome, address: &str) -> Command {
        let mut command = home.command(PROGRAM);
        command.arg("control-plane").arg("--home").arg(home.path().join("plane"));
        command.args(["--listen", address]);
        command
    }

    /// Starts it again after its end. It may not answer yet.
    fn start_again(&mut self) -> Result<()> {
        self.child = Self::command(&self.home, &self.address).spawn()?;
        Ok(())
    }

    /// What the page gives out for a desktop.
    async fn attempt(&self, page: &Page) -> Result<String> {
        let request = page.0.request(Method::POST, "/desktop/onboarding-attempt");
        let answer =
            request.json(&json!({"webAppOrigin": self.origin})).send().await?.json::<Value>().await?;
        text(&answer["onboardingAttemptId"])
    }

    /// Gives a desktop a key of its own.
    async fn connect(&self, home: &UserHome, setup: &Setup, page: &Page) -> Result<()> {
        let mut command = home.command(PROGRAM);
        command.args(["connect", &self.origin, "--attempt", &self.attempt(page).await?, "--home"]);
        ensure!(command.arg(setup.data_dir()).status().await?.success(), "not connected");
        Ok(())
    }

    async fn sign_in(&self) -> Result<Page> {
        Ok(Page(SignedIn::by_link(&self.origin, &self.origin, &self.sign_in_link).await?))
    }
}

/// Waits until the page is told that its one desktop is there, or is not.
async fn online(page: &Page, wanted: bool) -> Result<()> {
    let mut told = page.presence().await?;
    while let Some(change) = told.next().await? {
        if change["isOnline"] == wanted {
            return Ok(());
        }
    }
    anyhow::bail!("the page was told nothing more")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn halves_work_together_across_homes() -> Result<()> {
    let mut plane = ControlPlaneProcess::control_plane().await?;
    let page = plane.sign_in().await?;
    let key = page.0.post("/api-keys", &json!({"name": "a desktop"})).await?;
    let key = text(&key["data"]["plaintext"])?;

    let testbed = Testbed::new(story::script()).await?;
    testbed.add_story()?;
    let setup = testbed.loopgate()?.binary(PROGRAM).gateway_alone();
    let setup = setup.env("LOOPGATE_API_KEY", &key).arg("--api-origin").arg(&plane.origin);
    let mut desktop = setup.start().await?;
    online(&page, true).await?;
    page.0.post("/repositories", &json!({"fullName": story::REPOSITORY})).await?;
    assert!(!desktop.output().contains(&key), "the key is not printed");

    let plan = page.planned().await?;
    ensure!(page.document(&plan).await?["type"] == "FEATURE");
    assert!(!testbed.model.requests().is_empty(), "the plan was made on the desktop");
    let health = desktop.gateway_bare(Method::GET, "/health").send().await?.json::<Value>().await?;
    assert_eq!(health["onboardingCompleted"], true);

    // Each half goes on without the other.
    assert_eq!(desktop.stop().await?.code(), Some(0));
    online(&page, false).await?;
    let desktop = desktop.start_again().await?;
    online(&page, true).await?;
    plane.child.kill().await?;
    let alive = desktop.gateway(Method::GET, "/api/gateway/version").send().await?;
    assert_eq!(alive.status(), 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_plane_that_was_away_for_nine_hours_gets_everything_once() -> Result<()> {
    deliver_after_nine_hours(true).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_plain_key_could_not_deliver_waits_for_a_bound_one() -> Result<()> {
    deliver_after_nine_hours(false).await
}

/// A loop ends while the control plane is away for nine hours. Its token ends in that time, and nothing was heard of it
/// for longer than it may be silent.
async fn deliver_after_nine_hours(is_bound: bool) -> Result<()> {
    let mut script = story::script();
    let plan = script.conversations.iter_mut().find(|known| known.name == story::PLAN).context("a plan")?;
    plan.turns.last_mut().context("its last answer")?.0.insert(0, Step::hold("last"));
    let testbed = Testbed::new(script).await?;
    testbed.add_story()?;
    let clock = clock::environment(testbed.home.path())?;
    let mut home = UserHome::temporary()?;
    clock.iter().for_each(|(name, value)| home.set(name, value));
    let mut plane = ControlPlaneProcess::control_plane_in(home).await?;
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
    online(&page, true).await?;
    page.0.post("/repositories", &json!({"fullName": story::REPOSITORY})).await?;
    let id = page.press(&page.wish().await?, "plan").await?;
    testbed.model.held("last").await?;

    plane.child.kill().await?;
    testbed.model.release("last");
    let logs = desktop.setup().data_dir().join("logs");
    let ended = async || {
        let record = JobRow::read(&desktop, &id).await.ok()?;
        (record.status == "Completed" && !record.reported && record.unsent > 0).then_some(())
    };
    wait::seen(&logs, ended).await?;
    clock::advance(testbed.home.path(), 9)?;
    plane.start_again()?;
    if !is_bound {
        wait::seen(&logs, async || log_in(&logs).contains("see loopgate connect").then_some(())).await?;
        desktop.stop().await?;
        plane.connect(&testbed.home, desktop.setup(), &page).await?;
        desktop = desktop.start_again().await?;
    }
    let told = JobRow { status: "Completed".to_owned(), reported: true, unsent: 0, tokens: 0 };
    let delivered = async || (JobRow::read(&desktop, &id).await.ok()? == told).then_some(());
    wait::seen(&logs, delivered).await?;

    ensure!(page.read(&id).await?["status"] == "COMPLETED");
    let events = page.events(&id).await?;
    let count = |wanted: &dyn Fn(&Value) -> bool| events.iter().filter(|event| wanted(event)).count();
    ensure!(count(&|event| event["type"] == "completed") == 1, "{events:?}");
    let said = |event: &Value| {
        event["chunk"].as_str().is_some_and(|chunk| chunk.contains("The plan is ready for you"))
    };
    ensure!(count(&said) == 1, "{events:?}");
    ensure!(count(&|event| event["type"] == "error") == 0, "the loop was given up: {events:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_plane_alone_lets_nobody_in_twice() -> Result<()> {
    let plane = ControlPlaneProcess::control_plane().await?;
    let page = plane.sign_in().await?;
    let again = plane.sign_in().await;
    ensure!(again.is_err(), "a link works once");
    assert_eq!(page.0.get("/compute-targets").await?["data"], json!([]));
    let http = reqwest::Client::new();
    let anonymous = http.get(format!("{}/loops", plane.origin)).send().await?;
    assert_eq!(anonymous.status(), 401);
    let served = http.get(&plane.origin).header("accept", "text/html").send().await?;
    ensure!(served.status() == 200 || served.status() == 501, "{}", served.status());
    // No desktop is connected: a loop says so and does not wait for ever.
    let wish = page.wish().await?;
    let answer = page.0.request(Method::POST, &format!("/documents/{wish}/run-loop"));
    let answer = answer.json(&json!({"command": "plan"})).send().await?;
    let (status, body) = (answer.status(), answer.json::<Value>().await?);
    ensure!(status.is_client_error() || status == 503, "{status} {body}");
    ensure!(body["error"].is_string(), "{body}");
    Ok(())
}

/// A key that nobody issued leaves the desktop working for itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn desktop_with_an_invalid_key_is_not_connected() -> Result<()> {
    let plane = ControlPlaneProcess::control_plane().await?;
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
async fn connect_says_why_a_desktop_got_no_key() -> Result<()> {
    let plane = ControlPlaneProcess::control_plane().await?;
    let page = plane.sign_in().await?;
    let home = UserHome::temporary()?;
    let setup = Setup::new(&home)?.binary(PROGRAM).gateway_alone();
    let connect = async |words: &[&str], attempt: &str| -> Result<(Option<i32>, String)> {
        let mut command = home.command(PROGRAM);
        command.arg("connect").args(words).args(["--attempt", attempt, "--home"]).arg(setup.data_dir());
        let output = command.output().await?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.code(), String::from_utf8(said)?))
    };
    let attempt = plane.attempt(&page).await?;
    let nobody = format!("http://127.0.0.1:{}", free_port()?);
    // The page has another origin than this one.
    let other = plane.origin.replace("127.0.0.1", "localhost");
    for (origin, attempt, reason) in [
        ("http://loopgate.example.com", &*attempt, "must use https"),
        (&nobody, &attempt, "does not answer"),
        (&plane.origin, "never-given-out", "get a new one from the page"),
        (&other, &attempt, "--web-origin"),
    ] {
        let (code, said) = connect(&[origin], attempt).await?;
        ensure!(code == Some(1) && said.contains(reason), "{origin}: {code:?} {said}");
    }
    let (code, said) = connect(&[&other, "--web-origin", &plane.origin], &attempt).await?;
    ensure!(code == Some(0) && !said.contains("lgk_"), "{said}");
    let (code, said) = connect(&[&plane.origin], &attempt).await?;
    ensure!(code == Some(1) && said.contains("ONBOARDING_ATTEMPT_INVALID_OR_EXPIRED"), "{said}");

    let _desktop = setup.clone().start().await?;
    online(&page, true).await?;
    let (code, said) = connect(&[&plane.origin], "x").await?;
    ensure!(code == Some(1) && said.contains("another Loopgate is running"), "{said}");
    Ok(())
}
