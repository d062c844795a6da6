//! Each half alone: a control plane that serves the page, and a desktop that connects to it.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::free_port;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::{Setup, SignedIn};
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;

use crate::page::{Page, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// A control plane in a home of its own.
struct ControlPlaneProcess {
    _home: UserHome,
    child: Child,
    origin: String,
    sign_in_link: String,
}

impl ControlPlaneProcess {
    /// Starts it and reads what it tells its owner.
    async fn control_plane() -> Result<Self> {
        let home = UserHome::temporary()?;
        let address = format!("127.0.0.1:{}", free_port()?);
        let mut command = home.command(PROGRAM);
        command
            .arg("control-plane")
            .arg("--home")
            .arg(home.path().join("plane"))
            .args(["--listen", &address]);
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().context("its output")?;
        let mut lines = BufReader::new(stdout).lines();
        let sign_in_link = loop {
            let line = lines.next_line().await?.context("it ended before it served")?;
            if let Some(link) = line.strip_prefix("sign in once with ") {
                break link.trim().to_owned();
            }
        };
        Ok(Self { _home: home, child, origin: format!("http://{address}"), sign_in_link })
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
