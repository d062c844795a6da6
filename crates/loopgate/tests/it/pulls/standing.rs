//! The standing of a pull request: state, checks, reviews, comments, and what the account may do.

use anyhow::{Context as _, Result};
use loopgate_testkit::code_host::HostFault;
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::{PullsFixture, WIDGET};

const PULL_QUERY: [(&str, &str); 3] = [("owner", "acme"), ("repo", "widget"), ("number", "1")];

impl PullsFixture {
    /// Reads the standing of pull request 1 again.
    pub(super) async fn standing(&self) -> Result<Value> {
        let query: Vec<_> = PULL_QUERY.into_iter().chain([("refresh", "true")]).collect();
        self.local.get("git/pr/standing", &query).await?.ok()
    }
}

#[tokio::test]
async fn standing_is_read_with_one_query() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let head = git(&desktop.clone, &["rev-parse", "HEAD"])?;
    let requests = desktop.host.calls().len();
    assert_eq!(
        desktop.standing().await?,
        json!({"state": "open", "isDraft": false, "title": "Add gear", "url": "https://github.com/acme/widget/pull/1",
               "headBranch": "gear", "headSha": head.trim(), "baseBranch": "main", "hasConflicts": false,
               "reviewDecision": null, "reviewers": [], "checks": [], "checksTruncated": false, "unresolvedThreads": 0,
               "lastCommentAt": null, "settledAt": null, "mergedBy": null, "mergeObstacle": null, "mergeMethods": ["merge", "squash", "rebase"],
               "canUpdateBranch": false})
    );
    assert_eq!(desktop.host.calls().len(), requests + 1);
    // The next readers within a few seconds share the answer.
    desktop.host.comment(WIDGET, 1, "ann", "Hm").context("comment")?;
    let cached = desktop.local.get("git/pr/standing", &PULL_QUERY).await?.ok()?;
    assert_eq!((&cached["lastCommentAt"], desktop.host.calls().len()), (&Value::Null, requests + 1));
    assert!(desktop.standing().await?["lastCommentAt"].is_string());
    Ok(())
}

#[tokio::test]
async fn checks_reviews_and_threads_are_counted() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let host = &desktop.host;
    host.set_checks(WIDGET, 1, &[("test", Some("FAILURE")), ("lint", None)]);
    host.review(WIDGET, 1, "ann", "CHANGES_REQUESTED", "No").context("review")?;
    let resolved = host.comment_line(WIDGET, 1, "ann", ("src/gear.rs", 1), "Why?").context("line")?;
    host.comment_line(WIDGET, 1, "octo-dev", ("src/gear.rs", 2), "My own remark").context("line")?;
    host.resolve(WIDGET, 1, resolved);
    let standing = desktop.standing().await?;
    let check = |index: usize| {
        let check = &standing["checks"][index];
        (check["name"].as_str(), check["outcome"].as_str(), check["url"].as_str())
    };
    assert_eq!(check(0), (Some("test"), Some("failed"), Some("https://ci.example/test")));
    assert_eq!(check(1), (Some("lint"), Some("pending"), Some("https://ci.example/lint")));
    assert_eq!(
        (&standing["reviewDecision"], &standing["unresolvedThreads"]),
        (&json!("changes_requested"), &json!(1))
    );
    let reviewer = &standing["reviewers"][0];
    assert_eq!((&reviewer["login"], &reviewer["verdict"]), (&json!("ann"), &json!("changes_requested")));
    let of_others = &host.pull_requests(WIDGET)[0].inline[0].created_at;
    assert_eq!(standing["lastCommentAt"], json!(of_others), "the account's own comment counts");
    assert_eq!(standing["mergeObstacle"], Value::Null, "the base branch does not require the checks");
    Ok(())
}

#[tokio::test]
async fn conflict_missing_approval_and_missing_permission_are_obstacles() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let host = &desktop.host;
    host.require_approval(WIDGET);
    let blocked = desktop.standing().await?;
    assert_eq!(
        (&blocked["mergeObstacle"], &blocked["reviewDecision"]),
        (&json!("blocked"), &json!("review_required"))
    );
    desktop.local.remotes.commit(WIDGET, "main", "Other gear", &[("src/gear.rs", "other\n")])?;
    let conflicting = desktop.standing().await?;
    assert_eq!(
        (&conflicting["mergeObstacle"], &conflicting["hasConflicts"]),
        (&json!("conflicts"), &json!(true))
    );
    host.make_read_only(WIDGET);
    let read_only = desktop.standing().await?;
    assert_eq!(
        (&read_only["mergeObstacle"], &read_only["canUpdateBranch"]),
        (&json!("permission"), &json!(false))
    );
    assert!(host.merge(WIDGET, 1));
    let merged = desktop.standing().await?;
    assert_eq!((&merged["state"], &merged["mergeObstacle"]), (&json!("merged"), &json!("not_open")));
    Ok(())
}

#[tokio::test]
async fn errors_name_their_reason() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let partial = desktop.local.get("git/pr/standing", &PULL_QUERY[..2]).await?;
    partial.refused(400, "owner, repo, and number are required", "missing_field")?;
    let invalid = [("owner", ".."), ("repo", "widget"), ("number", "1")];
    let invalid = desktop.local.get("git/pr/standing", &invalid).await?;
    invalid.refused(400, "Invalid owner, repo, or number", "invalid_request")?;
    let missing = [("owner", "acme"), ("repo", "widget"), ("number", "42")];
    let missing = desktop.local.get("git/pr/standing", &missing).await?;
    missing.is(404, &json!({"error": "PR #42 not found", "code": "not_found", "reason": "not_found"}))?;
    let fault = |message: &str, status| HostFault {
        on: "PullRequestStanding".to_owned(),
        status,
        message: message.to_owned(),
        times: Some(1),
    };
    desktop.host.fail(fault("Bad credentials", 401));
    let signed_out = desktop.local.get("git/pr/standing", &PULL_QUERY).await?;
    assert_eq!((signed_out.status, &signed_out.body["reason"]), (401, &json!("auth")));
    // Failures are not cached.
    assert_eq!(desktop.local.get("git/pr/standing", &PULL_QUERY).await?.status, 200);
    Ok(())
}
