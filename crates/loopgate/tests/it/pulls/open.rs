//! Opening pull requests.

use anyhow::Result;
use loopgate_testkit::git::git;
use serde_json::json;

use super::{PullsFixture, WIDGET, found};
use crate::local::Local;

const NOTHING_NEW: &str = "No commits to create a PR. Make sure changes are committed first.";

// GF-29
#[tokio::test]
async fn branch_becomes_a_pull_request_once() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let wish = json!({"repoPath": desktop.clone, "title": "-- Handle 404, @all", "body": "Why: it already exists",
                      "ticketUrl": "https://tracker.example/AB-1"});
    let refused = desktop.local.post("git/pr", wish.clone()).await?;
    refused.refused(500, NOTHING_NEW, "operation_failed")?;
    assert_eq!(desktop.host.pull_requests(WIDGET).len(), 0, "work goes into main, not out of it");

    desktop.branch("gear#1")?;
    let url = "https://github.com/acme/widget/pull/1";
    let opened = desktop.local.post("git/pr", wish.clone()).await?.ok()?;
    assert_eq!(opened, json!({"success": true, "url": url, "number": 1, "message": "Created PR #1"}));
    let pulls = desktop.host.pull_requests(WIDGET);
    assert_eq!((pulls[0].title.as_str(), pulls[0].base.as_str()), ("-- Handle 404, @all", "main"));
    assert_eq!(pulls[0].body, "Why: it already exists\n\n---\nTicket: https://tracker.example/AB-1");
    assert_eq!(pulls[0].commits()?.len(), 1, "the branch was sent");

    let again = desktop.local.post("git/pr", wish).await?.ok()?;
    assert_eq!(again, json!({"success": true, "url": url, "number": 1, "message": "PR #1 already exists"}));
    assert_eq!(desktop.host.pull_requests(WIDGET).len(), 1);
    Ok(())
}

// GF-29
#[tokio::test]
async fn what_cannot_become_a_pull_request_is_refused() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let local = &desktop.local;
    let sent = |body: &'static str| local.send(reqwest::Method::POST, "git/pr", body);
    for body in ["", "[]", "7", r#"{"repoPath":7,"title":"T"}"#, r#"{"repoPath":" ","title":"T"}"#] {
        sent(body).await?.refused(400, "repoPath is required", "missing_field")?;
    }
    for body in ["{", "null"] {
        sent(body).await?.refused(400, "Invalid JSON body", "invalid_json_body")?;
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
    assert_eq!(desktop.host.calls().len(), 0, "nobody was asked");
    Ok(())
}

#[tokio::test]
async fn programs_may_have_any_name() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let folder = desktop.local.home.path().join("my tools");
    std::fs::create_dir(&folder)?;
    for (program, name) in [("git", "git;touch canary"), ("codeHost", "gh $(touch canary)")] {
        let path = folder.join(name);
        std::os::unix::fs::symlink(found(if program == "git" { "git" } else { "gh" })?, &path)?;
        desktop.set(program, json!(path)).await?;
    }
    let listed = desktop.local.get("git/pr/list", &[("repo", desktop.path())]).await?.ok()?;
    assert_eq!(listed["prs"][0]["number"], 1);
    for place in [desktop.clone.as_path(), desktop.local.home.path(), folder.as_path()] {
        assert!(!place.join("canary").exists());
    }
    Ok(())
}

#[tokio::test]
async fn without_a_sandbox_every_clone_is_refused() -> Result<()> {
    let local = Local::with(|setup| setup.without_sandbox()).await?;
    let listed = local.get("git/pr/list", &[("repo", "/tmp")]).await?;
    listed.refused(403, "directory not allowed", "directory_not_allowed")
}
