//! Merging a pull request, and updating its branch.

use anyhow::{Context as _, Result};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::{PullsFixture, WIDGET};

const MOVED: &str = "The pull request has new commits. Read them, then repeat the request.";

/// Returns a request for pull request 1 with its current head.
async fn body(desktop: &PullsFixture, members: Value) -> Result<Value> {
    let head = desktop.standing().await?["headSha"].take();
    let mut body = json!({"repoFullName": WIDGET, "prNumber": 1, "headSha": head});
    if let (Some(body), Value::Object(members)) = (body.as_object_mut(), members) {
        body.extend(members);
    }
    Ok(body)
}

#[tokio::test]
async fn pull_request_is_merged_only_with_the_displayed_head() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let displayed = body(&desktop, json!({"method": "squash"})).await?;
    desktop.local.remotes.commit(WIDGET, "gear", "More gear", &[("src/more.rs", "more\n")])?;
    let moved = desktop.local.post("git/pr/merge", displayed).await?;
    moved.refused(409, MOVED, "head_moved")?;
    assert_eq!(desktop.standing().await?["state"], "open");

    let current = body(&desktop, json!({"method": "squash"})).await?;
    assert_eq!(desktop.local.post("git/pr/merge", current.clone()).await?.ok()?, json!({"success": true}));
    // Not a cached standing from before the merge.
    let query = [("owner", "acme"), ("repo", "widget"), ("number", "1")];
    assert_eq!(desktop.local.get("git/pr/standing", &query).await?.ok()?["state"], "merged");
    let main = desktop.local.remotes.bare(WIDGET);
    let subjects = git(&main, &["log", "--format=%s", "main"])?;
    assert_eq!(subjects, "Add gear (#1)\nBegin\n", "squashed to one commit");

    let again = desktop.local.post("git/pr/merge", current).await?;
    again.refused(422, "Pull Request is not mergeable", "refused_by_code_host")
}

#[tokio::test]
async fn refusal_of_the_code_host_is_passed_on() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    desktop.host.require_approval(WIDGET);
    let merge = body(&desktop, json!({"method": "merge"})).await?;
    let refused = desktop.local.post("git/pr/merge", merge.clone()).await?;
    let reason = "At least 1 approving review is required by reviewers with write access.";
    refused.refused(422, reason, "refused_by_code_host")?;
    desktop.host.review(WIDGET, 1, "ann", "APPROVED", "").context("review")?;
    desktop.host.make_read_only(WIDGET);
    let forbidden = desktop.local.post("git/pr/merge", merge).await?;
    forbidden.refused(500, "Permission denied. Check your GitHub access.", "operation_failed")
}

#[tokio::test]
async fn branch_is_updated_from_its_base() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let displayed = body(&desktop, json!({})).await?;
    let current = desktop.local.post("git/pr/update-branch", displayed.clone()).await?;
    current.refused(422, "There are no new commits on the base branch.", "refused_by_code_host")?;
    desktop.local.remotes.commit(WIDGET, "main", "Elsewhere", &[("docs.md", "docs\n")])?;
    assert_eq!(desktop.standing().await?["canUpdateBranch"], true);
    desktop.local.post("git/pr/update-branch", displayed.clone()).await?.ok()?;
    let updated = desktop.standing().await?;
    assert_eq!(updated["canUpdateBranch"], false);
    assert_ne!(updated["headSha"], displayed["headSha"]);
    let moved = desktop.local.post("git/pr/update-branch", displayed).await?;
    moved.refused(409, MOVED, "head_moved")
}

#[tokio::test]
async fn invalid_requests_are_refused() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let requests = desktop.host.calls().len();
    let valid = json!({"repoFullName": WIDGET, "prNumber": 1, "headSha": "a".repeat(40), "method": "merge"});
    for (member, value, error, code) in [
        ("repoFullName", json!(""), "repoFullName is required", "missing_field"),
        (
            "repoFullName",
            json!("acme/widget/.."),
            "repoFullName must be <owner>/<repository>",
            "invalid_request",
        ),
        ("prNumber", json!("1/../2"), "prNumber is required", "missing_field"),
        ("headSha", json!(null), "headSha is required", "missing_field"),
        ("headSha", json!("@/etc/passwd"), "headSha must be the full hash of a commit", "invalid_request"),
        ("method", json!("force"), "method must be 'merge', 'squash' or 'rebase'", "missing_field"),
    ] {
        let mut body = valid.clone();
        body[member] = value;
        desktop.local.post("git/pr/merge", body.clone()).await?.refused(400, error, code)?;
        if member != "method" {
            desktop.local.post("git/pr/update-branch", body).await?.refused(400, error, code)?;
        }
    }
    assert_eq!(desktop.host.calls().len(), requests, "a request was sent to the code host");
    Ok(())
}
