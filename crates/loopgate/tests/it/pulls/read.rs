//! Reading of pull requests: list, reviews, files, head commit, user.

use anyhow::{Context as _, Result};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::{PullsFixture, WIDGET};

const PULL_QUERY: [(&str, &str); 3] = [("owner", "acme"), ("repo", "widget"), ("number", "1")];
const INVALID_NAME: &str = "Invalid owner, repo, or number";

// GF-31
#[tokio::test]
async fn open_and_merged_pull_requests_are_listed() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let list = async |state: &[(&str, &str)]| -> Result<Value> {
        let query: Vec<_> = [("repo", desktop.path())].into_iter().chain(state.iter().copied()).collect();
        desktop.local.get("git/pr/list", &query).await?.ok()
    };
    let open = list(&[]).await?;
    let created = desktop.host.pull_requests(WIDGET)[0].created_at.clone();
    let row = json!({"number": 1, "title": "Add gear", "url": "https://github.com/acme/widget/pull/1",
                     "author": "octo-dev", "state": "OPEN", "createdAt": created, "headRefName": "gear"});
    assert_eq!(
        open,
        json!({"prs": [row], "hasMore": false, "truncated": false,
               "pageInfo": {"hasNextPage": false, "endCursor": null}})
    );
    assert_eq!(list(&[("state", "merged")]).await?["prs"], json!([]));
    let merge =
        "mutation { mergePullRequest(input: {pullRequestId: \"PR:acme/widget:1\"}) { clientMutationId } }";
    let query = format!("query={merge}");
    let merged = desktop.local.home.command("gh").args(["api", "graphql", "-f", &query]).output().await?;
    assert!(merged.status.success(), "{merged:?}");
    assert_eq!(list(&[("state", "open")]).await?["prs"], json!([]));
    assert_eq!(list(&[("state", "merged")]).await?["prs"][0]["state"], "MERGED");

    let local = &desktop.local;
    let without_repo = local.get("git/pr/list", &[]).await?;
    without_repo.refused(400, "Missing 'repo' query parameter", "missing_field")?;
    let closed = local.get("git/pr/list", &[("repo", desktop.path()), ("state", "closed")]).await?;
    closed.refused(400, "state must be 'open' or 'merged'", "invalid_request")?;
    let outside = local.get("git/pr/list", &[("repo", "/etc")]).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    let missing = local.get("git/pr/list", &[("repo", &format!("{}/none", desktop.path()))]).await?;
    missing.refused(404, "repository not found", "not_found")?;
    git(&desktop.clone, &["remote", "set-url", "origin", "https://elsewhere.example/acme/widget"])?;
    let elsewhere = local.get("git/pr/list", &[("repo", desktop.path())]).await?;
    elsewhere.refused(500, "Repository not found or no access.", "operation_failed")
}

// GF-35, GF-37
#[tokio::test]
async fn last_review_of_each_reviewer_counts() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    for (author, state) in
        [("ann", "CHANGES_REQUESTED"), ("ann", "APPROVED"), ("bob", "APPROVED"), ("bob", "COMMENTED")]
    {
        desktop.host.review(WIDGET, 1, author, state, "Well").context("review")?;
    }
    let answer = desktop.local.get("git/pr/reviews", &PULL_QUERY).await?.ok()?;
    let reviews = &desktop.host.pull_requests(WIDGET)[0].reviews;
    let row = |index: usize| json!({"author": reviews[index].author, "state": reviews[index].state, "submittedAt": reviews[index].submitted_at});
    assert_eq!(
        answer,
        json!({"reviewDecision": "APPROVED", "reviews": [row(1), row(3)], "approvalCount": 2,
               "changesRequestedCount": 0})
    );
    let missing = [("owner", "acme"), ("repo", "widget"), ("number", "42")];
    desktop.local.get("git/pr/reviews", &missing).await?.refused(404, "PR #42 not found", "not_found")?;
    let before = desktop.host.calls().len();
    for (name, value) in
        [("owner", "@x"), ("owner", ".."), ("repo", "@/etc/passwd"), ("number", "1/../2"), ("number", "@x")]
    {
        let query =
            PULL_QUERY.map(|(member, default)| (member, if member == name { value } else { default }));
        for route in ["git/pr/reviews", "git/pr/files"] {
            desktop.local.get(route, &query).await?.refused(400, INVALID_NAME, "invalid_request")?;
        }
    }
    let partial = desktop.local.get("git/pr/reviews", &PULL_QUERY[..2]).await?;
    partial.refused(400, "owner, repo, and number are required", "missing_field")?;
    assert_eq!(desktop.host.calls().len(), before, "a request was sent to the code host");
    Ok(())
}

#[tokio::test]
async fn files_head_and_user_are_returned() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    git(&desktop.clone, &["mv", "src/a.rs", "src/b.rs"])?;
    // More files than the code host returns per page.
    for index in 0..120 {
        crate::test_gateway::write(&desktop.clone.join(format!("many/{index:03}")), format!("{index}\n"))?;
    }
    git(&desktop.clone, &["add", "--all"])?;
    git(&desktop.clone, &["commit", "-q", "-m", "More"])?;
    desktop.open("Add gear").await?;
    let by_name = desktop.local.get("git/pr/files", &PULL_QUERY).await?.ok()?;
    let files = by_name["files"].as_array().context("files")?;
    assert_eq!(files.len(), 122);
    assert_eq!(files[0], json!({"filename": "many/000", "additions": 1, "deletions": 0, "status": "added"}));
    let renamed = json!({"filename": "src/b.rs", "status": "renamed", "previous_filename": "src/a.rs"});
    let renamed_file = files.iter().find(|file| file["filename"] == "src/b.rs").context("no renamed file")?;
    for member in ["status", "previous_filename"] {
        assert_eq!(renamed_file[member], renamed[member]);
    }
    let local = [("repo", desktop.path()), ("pr", "1")];
    assert_eq!(desktop.local.get("git/pr/files", &local).await?.ok()?, by_name);

    let head = git(&desktop.clone, &["rev-parse", "HEAD"])?;
    let response = desktop.local.get("git/pr/head-sha", &local).await?.ok()?;
    assert_eq!(response, json!({"sha": head.trim()}));
    let absent = [("repo", desktop.path()), ("pr", "42")];
    let failed = desktop.local.get("git/pr/head-sha", &absent).await?;
    failed.refused(500, "Failed to get PR head SHA", "operation_failed")?;
    desktop.local.get("git/pr/files", &absent).await?.refused(
        500,
        "Failed to get PR files",
        "operation_failed",
    )?;
    for route in ["git/pr/files", "git/pr/head-sha"] {
        for number in ["", "1/../2", "x", "-1"] {
            let bad = desktop.local.get(route, &[("repo", desktop.path()), ("pr", number)]).await?;
            let code = "missing_field";
            bad.refused(400, "repo and pr are required", code)?;
        }
        let outside = desktop.local.get(route, &[("repo", "/etc"), ("pr", "1")]).await?;
        outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    }
    git(&desktop.clone, &["remote", "remove", "origin"])?;
    let unknown = desktop.local.get("git/pr/head-sha", &local).await?;
    unknown.refused(500, "Could not determine repository", "operation_failed")?;
    let user = desktop.local.get("git/user", &[]).await?.ok()?;
    assert_eq!(user, json!({"login": "octo-dev"}));
    Ok(())
}

#[tokio::test]
async fn renamed_repository_is_readable() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    desktop.host.rename(WIDGET, "acme/gadget")?;
    let files = desktop.local.get("git/pr/files", &PULL_QUERY).await?.ok()?;
    assert_eq!(files["files"][0]["filename"], "src/gear.rs");
    let reviews = desktop.local.get("git/pr/reviews", &PULL_QUERY).await?.ok()?;
    assert_eq!(reviews["approvalCount"], 0);
    let reply = json!({"repoPath": desktop.clone, "prNumber": 1, "body": "Hm", "commentId": 55});
    let moved = desktop.local.post("git/pr/reply", reply).await?;
    let text = "The repository has moved. Change the remote of the clone to its new URL.";
    moved.refused(500, text, "operation_failed")
}

/// The code host paginates, and there are far more merged pull requests than open ones.
#[tokio::test]
async fn old_open_pull_request_is_listed_despite_newer_merged_ones() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    for index in 0..120 {
        desktop
            .host
            .merged(WIDGET, &format!("branch-{index}"), &format!("Change {index}"))
            .context("merged")?;
    }
    let list = async |state: &str| -> Result<Value> {
        desktop.local.get("git/pr/list", &[("repo", desktop.path()), ("state", state)]).await?.ok()
    };
    let open = list("open").await?;
    assert_eq!((&open["prs"][0]["number"], open["prs"].as_array().map(Vec::len)), (&json!(1), Some(1)));
    assert_eq!(open["hasMore"], false);
    let merged = list("merged").await?;
    let numbers: Vec<_> = merged["prs"]
        .as_array()
        .context("a list")?
        .iter()
        .filter_map(|pull| pull["number"].as_u64())
        .collect();
    assert_eq!(numbers, (72..=121).rev().collect::<Vec<_>>());
    let more = json!({"hasNextPage": true, "endCursor": null});
    assert_eq!((&merged["hasMore"], &merged["truncated"]), (&json!(true), &json!(true)));
    assert_eq!(merged["pageInfo"], more);
    for index in 0..49 {
        desktop.host.open(WIDGET, &format!("open-{index}"), &format!("Open {index}")).context("opened")?;
    }
    let open = list("open").await?;
    assert_eq!((open["prs"].as_array().map(Vec::len), &open["hasMore"]), (Some(50), &json!(false)));
    assert_eq!(open["prs"][49]["number"], 1);
    Ok(())
}
