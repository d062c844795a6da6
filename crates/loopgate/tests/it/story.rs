//! The main flow from end to end: request, plan, change, pull request.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_system::{TestSystem, git};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_becomes_plan_and_pull_request() -> Result<()> {
    let system = TestSystem::story().await?;
    let page = &system.page;
    let before = git(&system.clone, &["rev-parse", "HEAD"])?;

    let document = page.create_document().await?;
    let plan_loop = page.start_loop(&document, "plan").await?;
    let ended = page.wait_for_end(&plan_loop).await?;
    assert_eq!(ended["status"], "COMPLETED", "{ended}\n{}", system.loopgate.output());
    let plan = page.document(ended["producedDocument"]["slug"].as_str().unwrap_or("?")).await?;
    assert_eq!(plan["type"], "IMPLEMENTATION_PLAN");
    assert_eq!(plan["content"], story::PLAN_MARKDOWN);
    assert_eq!(plan["raw"]["pendingTasks"].as_array().map(Vec::len), Some(story::TASKS.len()));
    assert!(
        system.testbed.host.pull_requests(story::REPOSITORY).is_empty(),
        "the plan opened a pull request"
    );

    let execute_loop = page.start_loop(&document, "execute").await?;
    let received = page.follow(&execute_loop, None).await?.remaining().await?;
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

    check_events(&received)?;
    assert_eq!(page.events(&execute_loop).await?, received, "the stream differs from the stored events");
    resumes_after_every_event(&system, &execute_loop, &received).await?;

    assert_eq!(git(&system.clone, &["rev-parse", "HEAD"])?, before);
    assert_eq!(git(&system.clone, &["branch", "--show-current"])?, "main");
    assert_eq!(git(&system.clone, &["status", "--porcelain", "--ignored"])?, "");
    system.no_processes_remain(&execute_loop).await
}

/// Checks for one `started` and one terminal event, gapless sequence numbers, and the assistant's output in
/// order.
fn check_events(received: &[Value]) -> Result<()> {
    let kinds: Vec<&str> = received.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "started").count(), 1, "{kinds:?}");
    let ends = kinds.iter().filter(|kind| matches!(**kind, "completed" | "error" | "cancelled")).count();
    assert_eq!((ends, kinds.contains(&"completed")), (1, true), "{kinds:?}");
    let sequence: Vec<u64> = received.iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert_eq!(sequence, (1..=received.len() as u64).collect::<Vec<_>>());

    let output: String = received
        .iter()
        .filter(|event| event["type"] == "output")
        .filter_map(|event| event["chunk"].as_str())
        .collect::<Vec<_>>()
        .join("\n");
    let mut rest = output.as_str();
    let sentences = ["The plan is approved.".to_owned()]
        .into_iter()
        .chain(story::TASKS.iter().map(|(task, what)| format!("{task}: {what}")))
        .chain(["Every task is done and the tests pass.".to_owned(), "The switch is in:".to_owned()]);
    for sentence in sentences {
        let after = rest.split_once(&sentence).map(|(_, after)| after);
        rest = after.with_context(|| format!("{sentence:?} is missing or out of order in:\n{output}"))?;
    }
    Ok(())
}

/// Resumes the stream after every event, and expects exactly the events that follow it.
async fn resumes_after_every_event(system: &TestSystem, loop_id: &str, received: &[Value]) -> Result<()> {
    for (index, event) in received.iter().enumerate() {
        let after = event["id"].as_str();
        let rest = system.page.follow(loop_id, after).await?.remaining().await?;
        assert_eq!(rest, received[index + 1..], "after event {}", index + 1);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_resumes_after_disconnect() -> Result<()> {
    let system = TestSystem::story().await?;
    let document = system.page.create_document().await?;
    let plan_loop = system.page.start_loop(&document, "plan").await?;
    let mut received = Vec::new();
    // Drops each connection after one event while the loop continues.
    loop {
        let last = received.last().and_then(|event: &Value| event["id"].as_str()).map(str::to_owned);
        let mut events = system.page.follow(&plan_loop, last.as_deref()).await?;
        match events.next().await? {
            Some(event) => received.push(event),
            None => break,
        }
    }
    assert_eq!(system.page.events(&plan_loop).await?, received);
    assert_eq!(system.page.read(&plan_loop).await?["status"], "COMPLETED");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_for_unknown_repository_is_refused() -> Result<()> {
    let system = TestSystem::story().await?;
    let repo = json!({"fullName": "acme/nowhere", "branch": "main"});
    let body = json!({"title": "x", "type": "FEATURE", "content": "x", "repo": repo});
    let document = system.page.0.post("/documents", &body).await?;
    let path = format!("/documents/{}/run-loop", document["data"]["slug"].as_str().unwrap_or_default());
    let request = system.page.0.request(Method::POST, &path).json(&json!({"command": "plan"}));
    let refused = request.send().await?;
    assert_eq!(refused.status(), 403);
    let refused: Value = refused.json().await?;
    assert_eq!(
        refused["error"],
        "Repositories neither found on this machine nor added by an administrator (Loopgate searches the sandbox \
         directory for clones, three levels deep): acme/nowhere"
    );
    assert_eq!(refused["code"], "REPO_NOT_ALLOWED");
    let loops = system.page.0.get("/loops").await?;
    assert_eq!(loops["data"], json!([]));
    assert!(system.testbed.model.requests().is_empty(), "no assistant was started");
    Ok(())
}

// The page lists the clone, and the control plane allows a loop on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_that_is_cloned_later_is_found_without_a_restart() -> Result<()> {
    let system = TestSystem::story().await?;
    let name = "acme/later";
    let repo = json!({"fullName": name, "branch": "main"});
    let body = json!({"title": "x", "type": "FEATURE", "content": "x", "repo": repo});
    let document = system.page.0.post("/documents", &body).await?;
    let path = format!("/documents/{}/run-loop", document["data"]["slug"].as_str().unwrap_or_default());
    let start = || system.page.0.request(Method::POST, &path).json(&json!({"command": "plan"})).send();
    ensure!(start().await?.status() == 403, "the repository is not on this machine yet");

    system.testbed.add_remote(name, &[("README.md", "Something\n")])?;
    let clone = system.testbed.sandbox().join("github.com/acme/later");
    system.testbed.remotes.clone_to(name, &clone)?;
    let listed = system.loopgate.gateway(Method::GET, "/api/gateway/repos").send().await?;
    let listed: Value = listed.json().await?;
    let names: Vec<&Value> =
        listed["repos"].as_array().into_iter().flatten().map(|repo| &repo["fullName"]).collect();
    ensure!(names.contains(&&json!(name)), "{listed}");
    let allowed = system.page.0.get("/repositories").await?;
    ensure!(allowed.to_string().contains(name), "{allowed}");
    let started = start().await?;
    ensure!(started.status().is_success(), "{}", started.text().await?);
    Ok(())
}
