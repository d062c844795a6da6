//! Comments of a pull request.

use anyhow::{Context as _, Result};
use loopgate_testkit::code_host::HostFault;
use serde_json::{Value, json};

use super::{PullsFixture, WIDGET};

const SCOPED: [(&str, &str); 4] =
    [("owner", "acme"), ("repo", "widget"), ("number", "1"), ("branchId", "acme%2Fwidget::gear")];

async fn local_form(desktop: &PullsFixture) -> Result<Value> {
    desktop.local.get("git/pr/comments", &[("repo", desktop.path()), ("pr", "1")]).await?.ok()
}

// GF-32
#[tokio::test]
async fn empty_comment_list_is_returned() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let answer = local_form(&desktop).await?;
    let verified_at = answer["providerProofedAt"].as_str().context("a time")?;
    assert!(verified_at.ends_with('Z') && verified_at.len() == 24, "{verified_at}");
    let budget = json!({"maxComments": 100, "pageSize": 50, "maxBodyBytes": 16384, "maxResponseBytes": 524288,
                        "providerTruncated": false, "responseTruncated": false, "omittedComments": 0,
                        "bodyTruncatedCount": 0});
    let expected = json!({"branchId": "acme%2Fwidget::gear", "state": "synced_empty", "comments": [],
                        "budget": budget, "providerProofedAt": verified_at, "stale": false, "mixedProjection": false,
                        "prNumber": 1, "prUrl": "https://github.com/acme/widget/pull/1"});
    assert_eq!(answer, expected);

    // Some versions of the CLI print the response without the `data` wrapper.
    let bare = r#"echo '{"repository":{"pullRequest":{"number":1,"url":"https://github.com/acme/widget/pull/1","comments":{"nodes":[],"pageInfo":{"hasNextPage":false}}}}}'"#;
    desktop.replace_gh("gh-bare", bare).await?;
    let mut answer = local_form(&desktop).await?;
    answer["providerProofedAt"] = expected["providerProofedAt"].clone();
    assert_eq!(answer, expected);
    Ok(())
}

#[tokio::test]
async fn comments_are_ordered_and_have_positions() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let host = &desktop.host;
    let issue_comment = host.comment(WIDGET, 1, "ann", "Nice").context("comment")?;
    let line = host.comment_line(WIDGET, 1, "bob", ("src/gear.rs", 2), "Why?").context("line")?;
    let reply = json!({"repoPath": desktop.clone, "prNumber": "1", "body": "Because.", "commentId": line});
    desktop.local.post("git/pr/reply", reply).await?.ok()?;
    let verdict = host.review(WIDGET, 1, "cy", "APPROVED", "Fine").context("review")?;
    host.review(WIDGET, 1, "dee", "APPROVED", " ").context("a review without text")?;

    let answer = local_form(&desktop).await?;
    assert_eq!(answer["state"], "populated");
    let comments = answer["comments"].as_array().context("comments")?;
    let bodies: Vec<_> =
        comments.iter().map(|comment| comment["body"].as_str().unwrap_or_default()).collect();
    assert_eq!(bodies, ["Fine", "Because.", "Why?", "Nice"]);
    let member_of = |at: usize, member: &str| comments[at][member].clone();
    let kinds: Vec<_> = (0..4).map(|at| member_of(at, "kind")).collect();
    assert_eq!(kinds, ["review", "review_reply", "review", "issue"]);
    assert_eq!(
        (member_of(1, "inReplyToId"), member_of(1, "resolved")),
        (json!(line.to_string()), json!(false))
    );
    assert_eq!((member_of(2, "path"), member_of(2, "line")), (json!("src/gear.rs"), json!(2)));
    assert_eq!(member_of(1, "threadId"), member_of(2, "threadId"));
    assert!(member_of(1, "threadId").is_string());
    let (id, url) = (
        format!("PRR_{verdict}"),
        format!("https://github.com/acme/widget/pull/1#issuecomment-{issue_comment}"),
    );
    assert_eq!(
        (member_of(0, "id"), member_of(0, "providerCommentId"), member_of(0, "providerUrl")),
        (json!(id), Value::Null, Value::Null)
    );
    let mut full = json!({
        "id": format!("IC_{issue_comment}"), "providerNodeId": format!("IC_{issue_comment}"), "providerCommentId": issue_comment.to_string(),
        "kind": "issue", "threadId": null, "inReplyToId": null, "path": null, "line": null, "resolved": null,
        "author": {"login": "ann", "displayName": null, "avatarUrl": null, "profileUrl": null},
        "body": "Nice", "createdAt": member_of(3, "createdAt"), "updatedAt": null, "providerUrl": url, "stale": false,
        "bodyTruncated": false, "databaseId": issue_comment, "isReview": false, "url": url});
    assert_eq!(comments[3], full);

    let scoped = desktop.local.get("git/pr/comments", &SCOPED).await?.ok()?;
    assert_eq!(scoped["branchId"], "acme%2Fwidget::gear");
    for member in ["databaseId", "isReview", "url"] {
        full.as_object_mut().context("an object")?.remove(member);
    }
    assert_eq!(scoped["comments"][3], full, "unexpected members in branch comments");
    Ok(())
}

// GF-33
#[tokio::test]
async fn comments_are_paginated_up_to_limit() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let add_comments = |count: usize| {
        (0..count).try_for_each(|at| {
            desktop.host.comment(WIDGET, 1, "ann", &format!("{at}")).map(drop).context("comment")
        })
    };
    add_comments(51)?;
    let answer = local_form(&desktop).await?;
    let comments = answer["comments"].as_array().context("comments")?;
    assert_eq!((comments.len(), &answer["state"]), (51, &json!("populated")));
    assert_eq!((&comments[0]["body"], &comments[50]["body"]), (&json!("50"), &json!("0")));
    assert_eq!(desktop.request_count("graphql PullRequestComments"), 2);
    add_comments(100)?;
    let answer = local_form(&desktop).await?;
    assert_eq!(answer["state"], "over_limit_truncated");
    let comments = answer["comments"].as_array().context("comments")?;
    assert_eq!(comments.len(), 100);
    // The newest 100 comments: the last of the second batch first, its first one last.
    assert_eq!((&comments[0]["body"], &comments[99]["body"]), (&json!("99"), &json!("0")));
    assert_eq!(answer["budget"]["providerTruncated"], true);
    assert_eq!(
        desktop.request_count("graphql PullRequestComments"),
        4,
        "a page beyond the limit was requested"
    );
    Ok(())
}

#[tokio::test]
async fn errors_have_reasons() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let local = &desktop.local;
    let get_comments = async |query: &[(&str, &str)]| local.get("git/pr/comments", query).await;
    let missing = "owner, repo, number, and branchId are required";
    for query in [&[][..], &[("repo", desktop.path())], &[("pr", "1")], &SCOPED[..3], &SCOPED[1..]] {
        get_comments(query).await?.refused(400, missing, "missing_field")?;
    }
    for number in ["x", "1/files", "@x"] {
        let bad = get_comments(&[("repo", desktop.path()), ("pr", number)]).await?;
        bad.refused(400, "Invalid repo or pr", "invalid_request")?;
    }
    let mut bad = SCOPED;
    bad[0].1 = "@x";
    get_comments(&bad).await?.refused(400, "Invalid owner, repo, or number", "invalid_request")?;
    get_comments(&[("repo", "/etc"), ("pr", "1")]).await?.refused(
        403,
        "directory not allowed",
        "directory_not_allowed",
    )?;
    for branch in ["acme%2Fother::gear", "local::gear"] {
        let mut other = SCOPED;
        other[3].1 = branch;
        let refused = json!({"error": "branch scope does not match pull request", "code": "forbidden",
                             "reason": "forbidden_mismatch"});
        get_comments(&other).await?.is(403, &refused)?;
    }
    let missing = json!({"error": "PR #42 not found", "code": "not_found", "reason": "not_found"});
    get_comments(&[("repo", desktop.path()), ("pr", "42")]).await?.is(404, &missing)?;

    let fail_requests = |status: u16, message: &str| {
        let (on, message) = ("PullRequestComments".to_owned(), message.to_owned());
        desktop.host.clear_faults();
        desktop.host.fail(HostFault { on, status, message, times: None });
    };
    fail_requests(401, "Bad credentials");
    let login = "GitHub CLI not authenticated. Run 'gh auth login' in terminal.";
    let refused = json!({"error": login, "code": "unauthorized", "reason": "auth"});
    get_comments(&SCOPED).await?.is(401, &refused)?;
    fail_requests(403, "Resource not accessible by personal access token");
    let text = "Permission denied. Check your GitHub access.";
    get_comments(&SCOPED)
        .await?
        .is(503, &json!({"error": text, "code": "unavailable", "reason": "provider_unavailable"}))?;
    fail_requests(403, "API rate limit exceeded for user ID 1.");
    let text = "GitHub rate limit reached. Try again later.";
    let limited = json!({"error": text, "code": "unavailable", "reason": "rate_limit"});
    get_comments(&SCOPED).await?.is(503, &limited)?;
    desktop.host.clear_faults();
    let before = desktop.host.calls().len();
    get_comments(&SCOPED).await?.is(503, &limited)?;
    let reviews = desktop.local.get("git/pr/reviews", &SCOPED[..3]).await?;
    reviews.refused(500, text, "operation_failed")?;
    assert_eq!(desktop.host.calls().len(), before, "a request was sent despite the rate limit");
    Ok(())
}
