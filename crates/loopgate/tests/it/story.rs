//! The main job from end to end: a wish, a plan, a change, a pull request.

use anyhow::{Context as _, Result};
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_system::{TestSystem, git};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wish_becomes_a_plan_and_then_a_pull_request() -> Result<()> {
    let system = TestSystem::story().await?;
    let page = &system.page;
    let before = git(&system.clone, &["rev-parse", "HEAD"])?;

    let wish = page.wish().await?;
    let plan_loop = page.press(&wish, "plan").await?;
    let ended = page.ended(&plan_loop).await?;
    assert_eq!(ended["status"], "COMPLETED", "{ended}\n{}", system.loopgate.output());
    let plan = page.document(ended["producedDocument"]["slug"].as_str().unwrap_or("?")).await?;
    assert_eq!(plan["type"], "IMPLEMENTATION_PLAN");
    assert_eq!(plan["content"], story::PLAN_MARKDOWN);
    assert_eq!(plan["raw"]["pendingTasks"].as_array().map(Vec::len), Some(story::TASKS.len()));
    assert!(system.testbed.host.pull_requests(story::REPOSITORY).is_empty(), "a plan changes nothing");

    let execute_loop = page.press(&wish, "execute").await?;
    let told = page.follow(&execute_loop, None).await?.rest().await?;
    let ended = page.read(&execute_loop).await?;
    assert_eq!(ended["status"], "COMPLETED", "{ended}\n{}", system.loopgate.output());
    let pulls = system.testbed.host.pull_requests(story::REPOSITORY);
    assert_eq!(pulls.len(), 1);
    let pull = &pulls[0];
    let commits = pull.commits()?;
    let subjects: Vec<&str> = commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert!(subjects.len() == 1 && subjects[0].ends_with(story::TITLE), "{subjects:?}");
    let files: Vec<String> = pull.files()?.into_iter().map(|file| file.path).collect();
    assert_eq!(files, ["index.html", "styles.css", "test/theme.test.js", "theme.js"]);
    assert!(pull.body.contains(&format!("Loop ID: {execute_loop}")), "{}", pull.body);
    assert_eq!(ended["prUrl"], pull.url());
    assert_eq!(ended["branchName"], pull.head);

    reported_once_and_in_order(&told)?;
    assert_eq!(page.events(&execute_loop).await?, told, "the stream tells what is stored");
    resumes_after_each(&system, &execute_loop, &told).await?;

    assert_eq!(git(&system.clone, &["rev-parse", "HEAD"])?, before);
    assert_eq!(git(&system.clone, &["branch", "--show-current"])?, "main");
    assert_eq!(git(&system.clone, &["status", "--porcelain", "--ignored"])?, "");
    system.alone(&execute_loop).await
}

/// One beginning, one end, and between them what the assistant said, in the order it said it.
fn reported_once_and_in_order(told: &[Value]) -> Result<()> {
    let kinds: Vec<&str> = told.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "started").count(), 1, "{kinds:?}");
    let ends = kinds.iter().filter(|kind| matches!(**kind, "completed" | "error" | "cancelled")).count();
    assert_eq!((ends, kinds.contains(&"completed")), (1, true), "{kinds:?}");
    let sequence: Vec<u64> = told.iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert_eq!(sequence, (1..=told.len() as u64).collect::<Vec<_>>());

    let output: String = told
        .iter()
        .filter(|event| event["type"] == "output")
        .filter_map(|event| event["chunk"].as_str())
        .collect::<Vec<_>>()
        .join("\n");
    let mut rest = output.as_str();
    let said = ["The plan is approved.".to_owned()]
        .into_iter()
        .chain(story::TASKS.iter().map(|(task, what)| format!("{task}: {what}")))
        .chain(["Every task is done and the tests pass.".to_owned(), "The switch is in:".to_owned()]);
    for sentence in said {
        let after = rest.split_once(&sentence).map(|(_, after)| after);
        rest = after.with_context(|| format!("{sentence:?} is missing or out of order in:\n{output}"))?;
    }
    Ok(())
}

/// A reader that comes back after any event gets exactly what follows it.
async fn resumes_after_each(system: &TestSystem, loop_id: &str, told: &[Value]) -> Result<()> {
    for (index, event) in told.iter().enumerate() {
        let after = event["id"].as_str();
        let rest = system.page.follow(loop_id, after).await?.rest().await?;
        assert_eq!(rest, told[index + 1..], "after event {}", index + 1);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reader_that_is_cut_off_goes_on_where_it_was() -> Result<()> {
    let system = TestSystem::story().await?;
    let wish = system.page.wish().await?;
    let plan_loop = system.page.press(&wish, "plan").await?;
    let mut told = Vec::new();
    // Each connection is dropped after one event, while the loop goes on.
    loop {
        let last = told.last().and_then(|event: &Value| event["id"].as_str()).map(str::to_owned);
        let mut events = system.page.follow(&plan_loop, last.as_deref()).await?;
        match events.next().await? {
            Some(event) => told.push(event),
            None => break,
        }
    }
    assert_eq!(system.page.events(&plan_loop).await?, told);
    assert_eq!(system.page.read(&plan_loop).await?["status"], "COMPLETED");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wish_for_an_unknown_repository_is_refused() -> Result<()> {
    let system = TestSystem::story().await?;
    let repo = json!({"fullName": "acme/nowhere", "branch": "main"});
    let body = json!({"title": "x", "type": "FEATURE", "content": "x", "repo": repo});
    let wish = system.page.0.post("/documents", &body).await?;
    let path = format!("/documents/{}/run-loop", wish["data"]["slug"].as_str().unwrap_or_default());
    let request = system.page.0.request(Method::POST, &path).json(&json!({"command": "plan"}));
    let refused = request.send().await?;
    assert_eq!(refused.status(), 403);
    let refused: Value = refused.json().await?;
    assert_eq!(refused["error"], "These repositories are not open to loops: acme/nowhere");
    assert_eq!(refused["code"], "REPO_NOT_ALLOWED");
    let loops = system.page.0.get("/loops").await?;
    assert_eq!(loops["data"], json!([]));
    assert!(system.testbed.model.requests().is_empty(), "no assistant was started");
    Ok(())
}
