//! The whole program with everything real around it: a wish becomes a pull request, also when the
//! program is killed in between.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::{Loopgate, SignedIn};
use loopgate_testkit::model::{Script, Step, Turn};
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use reqwest::Method;
use serde_json::Value;

/// The script of the story, with one answer held back until the test lets it go.
fn script_with_gate(conversation: &str, turn: usize, gate: &str) -> Script {
    let mut script = story::script();
    let held = script.conversations.iter_mut().find(|known| known.name == conversation);
    if let Some(Turn(steps)) = held.and_then(|conversation| conversation.turns.get_mut(turn)) {
        steps.insert(0, Step::hold(gate));
    }
    script
}

async fn start(script: Script) -> Result<(Testbed, Loopgate, SignedIn)> {
    let testbed = Testbed::new(script).await?;
    testbed.add_story()?;
    let loopgate = testbed.loopgate()?.start().await?;
    let person = loopgate.sign_in().await?;
    Ok((testbed, loopgate, person))
}

/// Plans the wish; answers the document that holds the plan.
async fn planned(person: &SignedIn) -> Result<String> {
    let (_, run) = person.plan(story::REPOSITORY, story::WISH).await?;
    let plan = person.wait_for_end(&run).await?;
    ensure!(plan["status"] == "COMPLETED", "{plan:#}");
    let document = plan["producedDocument"]["id"].as_str().context("a plan becomes a document")?;
    Ok(document.to_owned())
}

fn assert_delivered(testbed: &Testbed, ended: &Value) -> Result<()> {
    ensure!(ended["status"] == "COMPLETED", "{ended:#}");
    let pulls = testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1, "{pulls:?}");
    let commits = pulls[0].commits()?;
    assert_eq!(ended["results"][0]["prUrl"], pulls[0].url());
    assert_eq!(ended["results"][0]["commitSha"], commits.last().map(|c| c.sha.clone()).unwrap_or_default());
    assert!(commits[0].subject.ends_with(story::TITLE), "{commits:?}");
    let files: Vec<String> = pulls[0].files()?.into_iter().map(|file| file.path).collect();
    assert_eq!(files, ["index.html", "styles.css", "test/theme.test.js", "theme.js"]);
    Ok(())
}

/// Only the program itself is left.
fn assert_no_orphans(testbed: &Testbed, loopgate: &Loopgate) -> Result<()> {
    let mut left = home_processes::processes(testbed.home.path());
    left.retain(|process| Some(process.pid) != loopgate.pid());
    ensure!(left.is_empty(), "{left:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn wish_becomes_a_pull_request() -> Result<()> {
    let (testbed, mut loopgate, person) = start(story::script()).await?;
    let health = loopgate.gateway_bare(Method::GET, "/health").send().await?;
    assert_eq!(health.status(), 200);
    let plan = planned(&person).await?;
    let run = person.run(&plan, "execute", story::REPOSITORY).await?;
    assert_delivered(&testbed, &person.wait_for_end(&run).await?)?;
    assert_no_orphans(&testbed, &loopgate)?;
    assert!(loopgate.stop().await?.success(), "{}", loopgate.output());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_in_the_middle_of_the_work_loses_nothing() -> Result<()> {
    let gate = "the second task";
    let (testbed, mut loopgate, person) = start(script_with_gate("T-1.2", 0, gate)).await?;
    let plan = planned(&person).await?;
    let run = person.run(&plan, "execute", story::REPOSITORY).await?;
    testbed.model.held(gate).await?;
    loopgate.kill().await?;
    testbed.model.release(gate);
    let loopgate = loopgate.start_again().await?;
    let person = person.at(&loopgate);
    assert_delivered(&testbed, &person.wait_for_end(&run).await?)?;
    assert_no_orphans(&testbed, &loopgate)
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_while_the_work_is_delivered_delivers_it_once() -> Result<()> {
    let gate = "before the pull request";
    let (testbed, mut loopgate, person) = start(script_with_gate(story::COMMIT, 4, gate)).await?;
    let plan = planned(&person).await?;
    let run = person.run(&plan, "execute", story::REPOSITORY).await?;
    testbed.model.held(gate).await?;
    loopgate.kill().await?;
    testbed.model.release(gate);
    let loopgate = loopgate.start_again().await?;
    let person = person.at(&loopgate);
    assert_delivered(&testbed, &person.wait_for_end(&run).await?)?;
    assert_no_orphans(&testbed, &loopgate)
}
