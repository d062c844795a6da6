//! What happens to a delivered pull request at the code host determines the state of its change request.

use anyhow::{Context as _, Result};
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_system::TestSystem;

const STANDING: &str = "/api/gateway/git/pr/standing?owner=acme&repo=garden-notes&number=1&refresh=true";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comment_and_merge_change_the_state_of_the_change_request() -> Result<()> {
    let system = TestSystem::story().await?;
    let page = &system.page;
    let document = page.create_document().await?;
    for command in ["plan", "execute"] {
        let id = page.start_loop(&document, command).await?;
        let ended = page.wait_for_end(&id).await?;
        assert_eq!(ended["status"], "COMPLETED", "{ended}");
    }
    let host = &system.testbed.host;
    let delivered = |shown: &Value| shown["pullRequests"][0]["standing"]["state"] == "open";
    let shown = system.change_request(&document, delivered).await?;
    assert_eq!((&shown["state"], &shown["attention"]), (&json!("pull_request_open"), &Value::Null));

    host.comment(story::REPOSITORY, 1, "ann", "Which colours?").context("comment")?;
    let read = system.loopgate.gateway(Method::GET, STANDING).send().await?.error_for_status()?;
    let standing: Value = read.json().await?;
    assert_eq!(standing["mergeObstacle"], Value::Null, "{standing}");
    system.change_request(&document, |shown| shown["attention"] == "comments").await?;

    let merge = |head: &str| {
        let body =
            json!({"repoFullName": story::REPOSITORY, "prNumber": 1, "method": "squash", "headSha": head});
        system.loopgate.gateway(Method::POST, "/api/gateway/git/pr/merge").body(body.to_string()).send()
    };
    let head = standing["headSha"].as_str().context("no head")?;
    assert_eq!(merge(&"0".repeat(40)).await?.status(), 409);
    assert_eq!(merge(head).await?.status(), 200);
    let merged = system.change_request(&document, |shown| shown["state"] == "merged").await?;
    assert_eq!((&merged["stage"], &merged["attention"]), (&json!("pull_request"), &Value::Null));
    let rules = system.testbed.remotes.file(story::REPOSITORY, "main", "theme.js");
    assert!(rules.is_ok(), "the base branch does not contain the change");
    Ok(())
}
