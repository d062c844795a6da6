//! Tests the whole program with real surroundings: a request becomes a pull request, also when the program is
//! killed in between.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::{BrowserSession, Loopgate};
use loopgate_testkit::model::{ModelStep, ModelTurn, Script};
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::wait::until_exited;
use reqwest::Method;
use serde_json::Value;

/// Returns the demo story's script with one response held at a gate.
fn script_with_gate(name: &str, turn: usize, gate: &str) -> Script {
    let mut script = story::script();
    let conversation = script.conversations.iter_mut().find(|candidate| candidate.name == name);
    if let Some(ModelTurn(steps)) = conversation.and_then(|conversation| conversation.turns.get_mut(turn)) {
        steps.insert(0, ModelStep::hold(gate));
    }
    script
}

async fn start(script: Script) -> Result<(Testbed, Loopgate, BrowserSession)> {
    let testbed = Testbed::new(script).await?;
    testbed.add_story()?;
    let loopgate = testbed.loopgate()?.start().await?;
    let session = loopgate.sign_in().await?;
    Ok((testbed, loopgate, session))
}

/// Plans the request. Returns the id of the document with the plan.
async fn create_plan(session: &BrowserSession) -> Result<String> {
    let (_, run) = session.plan(story::REPOSITORY, story::REQUEST).await?;
    let plan = session.wait_for_end(&run).await?;
    ensure!(plan["status"] == "COMPLETED", "{plan:#}");
    let document = plan["producedDocument"]["id"].as_str().context("the loop has no produced document")?;
    Ok(document.to_owned())
}

fn assert_delivered(testbed: &Testbed, finished: &Value) -> Result<()> {
    ensure!(finished["status"] == "COMPLETED", "{finished:#}");
    let pulls = testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1, "{pulls:?}");
    let commits = pulls[0].commits()?;
    assert_eq!(finished["results"][0]["prUrl"], pulls[0].url());
    assert_eq!(
        finished["results"][0]["commitSha"],
        commits.last().map(|c| c.sha.clone()).unwrap_or_default()
    );
    assert!(commits[0].subject.ends_with(story::TITLE), "{commits:?}");
    let files: Vec<String> = pulls[0].files()?.into_iter().map(|file| file.path).collect();
    assert_eq!(files, ["index.html", "styles.css", "test/theme.test.js", "theme.js"]);
    Ok(())
}

/// Asserts that all other processes of the home exit: those of loops with their loops, and a query of the code host by
/// itself.
async fn assert_no_orphans(testbed: &Testbed, loopgate: &Loopgate) -> Result<()> {
    let processes = home_processes::processes(testbed.home.path());
    for process in processes.iter().filter(|process| Some(process.pid) != loopgate.pid()) {
        until_exited(process.pid).await.with_context(|| format!("wait for {process:?}"))?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn request_becomes_a_pull_request() -> Result<()> {
    let (testbed, mut loopgate, session) = start(story::script()).await?;
    let health = loopgate.gateway_bare(Method::GET, "/health").send().await?;
    assert_eq!(health.status(), 200);
    let plan = create_plan(&session).await?;
    let run = session.run(&plan, "execute", story::REPOSITORY).await?;
    assert_delivered(&testbed, &session.wait_for_end(&run).await?)?;
    assert_no_orphans(&testbed, &loopgate).await?;
    assert!(loopgate.stop().await?.success(), "{}", loopgate.output());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn loop_is_delivered_after_loopgate_is_killed_during_the_work() -> Result<()> {
    let gate = "the second task";
    let (testbed, mut loopgate, session) = start(script_with_gate("T-1.2", 0, gate)).await?;
    let plan = create_plan(&session).await?;
    let run = session.run(&plan, "execute", story::REPOSITORY).await?;
    testbed.model.held(gate).await?;
    // SIGKILL, so that no shutdown code runs.
    loopgate.kill().await?;
    // Released before the restart: the assistant continues under its shim while no Loopgate runs.
    testbed.model.release(gate);
    let loopgate = loopgate.start_again().await?;
    let session = session.at(&loopgate);
    assert_delivered(&testbed, &session.wait_for_end(&run).await?)?;
    assert_no_orphans(&testbed, &loopgate).await
}

#[tokio::test(flavor = "multi_thread")]
async fn loop_is_delivered_once_after_loopgate_is_killed_during_delivery() -> Result<()> {
    let (testbed, mut loopgate, session) = start(story::script()).await?;
    let plan = create_plan(&session).await?;
    let mut push = testbed.remotes.hold_push(story::REPOSITORY)?;
    let run = session.run(&plan, "execute", story::REPOSITORY).await?;
    push.started().await?;
    loopgate.kill().await?;
    // The push may finish or fail here; the restarted process must not deliver twice.
    push.release()?;
    let loopgate = loopgate.start_again().await?;
    let session = session.at(&loopgate);
    assert_delivered(&testbed, &session.wait_for_end(&run).await?)?;
    assert_no_orphans(&testbed, &loopgate).await
}
