//! Creation of pull requests.

use anyhow::Result;
use loopgate_testkit::git::git;
use loopgate_testkit::home::find_program;
use serde_json::json;

use super::{PullsFixture, WIDGET};
use crate::test_gateway::TestGateway;

const NOTHING_NEW: &str = "No commits to create a PR. Make sure changes are committed first.";

// GF-29
#[tokio::test]
async fn pull_request_is_created_once() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let body = json!({"repoPath": desktop.clone, "title": "-- Handle 404, @all", "body": "Why: it already exists",
                      "ticketUrl": "https://tracker.example/AB-1"});
    let refused = desktop.local.post("git/pr", body.clone()).await?;
    refused.refused(500, NOTHING_NEW, "operation_failed")?;
    assert_eq!(desktop.host.pull_requests(WIDGET).len(), 0, "a pull request of the base branch was opened");

    desktop.branch("gear#1")?;
    let url = "https://github.com/acme/widget/pull/1";
    let opened = desktop.local.post("git/pr", body.clone()).await?.ok()?;
    assert_eq!(opened, json!({"success": true, "url": url, "number": 1, "message": "Created PR #1"}));
    let pulls = desktop.host.pull_requests(WIDGET);
    assert_eq!((pulls[0].title.as_str(), pulls[0].base.as_str()), ("-- Handle 404, @all", "main"));
    assert_eq!(pulls[0].body, "Why: it already exists\n\n---\nTicket: https://tracker.example/AB-1");
    assert_eq!(pulls[0].commits()?.len(), 1, "the branch was not pushed");

    let second = desktop.local.post("git/pr", body).await?.ok()?;
    assert_eq!(second, json!({"success": true, "url": url, "number": 1, "message": "PR #1 already exists"}));
    assert_eq!(desktop.host.pull_requests(WIDGET).len(), 1);
    Ok(())
}

// GF-29
#[tokio::test]
async fn invalid_pull_requests_are_refused() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let local = &desktop.local;
    let send = |body: &'static str| local.send(reqwest::Method::POST, "git/pr", body);
    for body in ["", "[]", "7", r#"{"repoPath":7,"title":"T"}"#, r#"{"repoPath":" ","title":"T"}"#] {
        send(body).await?.refused(400, "repoPath is required", "missing_field")?;
    }
    for body in ["{", "null"] {
        send(body).await?.refused(400, "Invalid JSON body", "invalid_json_body")?;
    }
    let untitled = local.post("git/pr", json!({"repoPath": desktop.clone})).await?;
    untitled.refused(400, "title is required", "missing_field")?;
    for path in ["/etc", "relative", "~/.ssh"] {
        let outside = local.post("git/pr", json!({"repoPath": path, "title": "T"})).await?;
        outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    }
    for path in [local.at("absent"), desktop.clone.join("README.md")] {
        let missing = local.post("git/pr", json!({"repoPath": path, "title": "T"})).await?;
        missing.refused(404, "repository not found", "not_found")?;
    }
    let plain = local.at("plain");
    std::fs::create_dir(&plain)?;
    let no_git = local.post("git/pr", json!({"repoPath": plain, "title": "T"})).await?;
    no_git.refused(500, "Not a git repository.", "operation_failed")?;
    git(&desktop.clone, &["checkout", "-q", "--detach"])?;
    let detached = local.post("git/pr", json!({"repoPath": desktop.clone, "title": "T"})).await?;
    detached.refused(400, "Cannot create a PR from a detached HEAD", "invalid_request")?;
    assert_eq!(desktop.host.calls().len(), 0, "a request was sent to the code host");
    Ok(())
}

#[tokio::test]
async fn program_names_are_not_interpreted_by_shell() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let folder = desktop.local.home.path().join("my tools");
    std::fs::create_dir(&folder)?;
    for (program, name) in [("git", "git;touch canary"), ("codeHost", "gh $(touch canary)")] {
        let path = folder.join(name);
        std::os::unix::fs::symlink(find_program(if program == "git" { "git" } else { "gh" })?, &path)?;
        desktop.set_program(program, json!(path)).await?;
    }
    let listed = desktop.local.get("git/pr/list", &[("repo", desktop.path())]).await?.ok()?;
    assert_eq!(listed["prs"][0]["number"], 1);
    for directory in [desktop.clone.as_path(), desktop.local.home.path(), folder.as_path()] {
        assert!(!directory.join("canary").exists());
    }
    Ok(())
}

#[tokio::test]
async fn clones_are_refused_without_sandbox() -> Result<()> {
    let local = TestGateway::with(|setup| setup.without_sandbox()).await?;
    let listed = local.get("git/pr/list", &[("repo", "/tmp")]).await?;
    listed.refused(403, "directory not allowed", "directory_not_allowed")
}
