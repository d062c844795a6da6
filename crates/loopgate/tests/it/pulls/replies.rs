//! Replies, reviews and inline comments on a pull request.

use anyhow::{Context as _, Result};
use loopgate_testkit::code_host::{HostFault, HostedInlineComment};
use loopgate_testkit::git::git;
use loopgate_testkit::home::find_program;
use serde_json::{Value, json};

use super::{PullsFixture, WIDGET};

/// Starts with `@`, which the CLI would take for a file name if it were passed as a field.
const TEXT: &str = "@/etc/hostname is what I mean";

fn reply_body(desktop: &PullsFixture, members: Value) -> Value {
    let mut body = json!({"repoPath": desktop.clone, "prNumber": 1, "body": TEXT});
    if let (Some(body), Value::Object(members)) = (body.as_object_mut(), members) {
        body.extend(members);
    }
    body
}

/// Returns the inline comments of the pull request.
fn inline_comments(desktop: &PullsFixture) -> Vec<HostedInlineComment> {
    desktop.host.pull_requests(WIDGET)[0].inline.clone()
}

// GF-36
#[tokio::test]
async fn replies_and_reviews_are_posted() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let arguments = desktop.local.home.path().join("noted");
    let gh = find_program("gh")?;
    let script =
        format!("printf '%s\\n' \"$@\" >> '{}'\nexec '{}' \"$@\"", arguments.display(), gh.display());
    desktop.replace_gh("gh-logging", &script).await?;
    let line = desktop.host.comment_line(WIDGET, 1, "ann", ("src/gear.rs", 2), "Why?").context("line")?;
    for (members, message) in [
        (json!({"commentId": line}), "Reply posted successfully"),
        (json!({"requestChanges": true, "commentId": line}), "Changes requested"),
        (json!({"requestChanges": 1, "commentId": 0}), "Comment posted successfully"),
    ] {
        let answer = desktop.local.post("git/pr/reply", reply_body(&desktop, members)).await?.ok()?;
        assert_eq!((&answer["success"], &answer["message"]), (&json!(true), &json!(message)));
        assert!(answer["output"].is_string());
    }
    let pull = &desktop.host.pull_requests(WIDGET)[0];
    assert_eq!((pull.inline[1].body.as_str(), pull.inline[1].in_reply_to), (TEXT, Some(line)));
    assert_eq!((pull.reviews[0].state.as_str(), pull.reviews[0].body.as_str()), ("CHANGES_REQUESTED", TEXT));
    assert_eq!(pull.comments[0].body, TEXT);
    let arguments = std::fs::read_to_string(arguments)?;
    assert!(arguments.contains("replies") && arguments.contains("--request-changes"), "{arguments}");
    assert!(!arguments.contains(TEXT), "the text is visible in the process list: {arguments}");

    for (without, error) in [
        ("repoPath", "Missing 'repoPath' in request body"),
        ("body", "Missing 'body' in request body"),
        ("prNumber", "prNumber is required"),
    ] {
        let mut body = reply_body(&desktop, json!({}));
        body[without] = json!(" ");
        desktop.local.post("git/pr/reply", body).await?.refused(400, error, "missing_field")?;
    }
    for number in [json!("12abc"), json!(-1), json!(1.5), json!(0), json!("1/../2"), json!(null)] {
        let body = reply_body(&desktop, json!({"prNumber": number}));
        desktop.local.post("git/pr/reply", body).await?.refused(
            400,
            "prNumber is required",
            "missing_field",
        )?;
    }
    let outside = reply_body(&desktop, json!({"repoPath": "/etc"}));
    desktop.local.post("git/pr/reply", outside).await?.refused(
        403,
        "directory not allowed",
        "directory_not_allowed",
    )?;
    let unknown_comment = reply_body(&desktop, json!({"commentId": 4711}));
    let missing = desktop.local.post("git/pr/reply", unknown_comment).await?;
    missing.refused(500, "Repository not found or no access.", "operation_failed")
}

// GF-38
#[tokio::test]
async fn inline_comment_falls_back_to_file_and_conversation() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let sha = git(&desktop.clone, &["rev-parse", "HEAD"])?;
    let post_inline_comment = |members: Value| {
        let mut body =
            reply_body(&desktop, json!({"path": "src/gear.rs", "line": "2", "commitSha": sha.trim()}));
        if let (Some(body), Value::Object(members)) = (body.as_object_mut(), members) {
            body.extend(members);
        }
        desktop.local.post("git/pr/inline-comment", body)
    };
    let refuse = |status: u16, message: &str, times: u32| {
        let (on, message) = ("/pulls/1/comments".to_owned(), message.to_owned());
        desktop.host.fail(HostFault { on, status, message, times: Some(times) });
    };
    let posted = post_inline_comment(json!({})).await?.ok()?;
    assert_eq!((&posted["success"], &posted["placement"]), (&json!(true), &json!("line")));
    assert_eq!(
        (inline_comments(&desktop)[0].line, inline_comments(&desktop)[0].body.as_str()),
        (Some(2), TEXT)
    );
    refuse(422, "Validation Failed", 1);
    assert_eq!(post_inline_comment(json!({})).await?.ok()?["placement"], "file");
    assert_eq!((inline_comments(&desktop).len(), inline_comments(&desktop)[1].line), (2, None));
    refuse(422, "Validation Failed", 2);
    assert_eq!(post_inline_comment(json!({})).await?.ok()?["placement"], "conversation");
    let conversation = || desktop.host.pull_requests(WIDGET)[0].comments.clone();
    assert_eq!(conversation()[0].body, format!("On `src/gear.rs`, line 2:\n\n{TEXT}"));
    assert_eq!(post_inline_comment(json!({"path": null})).await?.ok()?["placement"], "conversation");
    assert_eq!(conversation()[1].body, TEXT);
    assert_eq!(post_inline_comment(json!({"line": null})).await?.ok()?["placement"], "file");

    let login = "GitHub CLI not authenticated. Run 'gh auth login' in terminal.";
    for (status, message, error) in [
        (401, "Bad credentials", login),
        (403, "API rate limit exceeded", "GitHub rate limit reached. Try again later."),
        (403, "Resource not accessible by integration", "Permission denied. Check your GitHub access."),
    ] {
        refuse(status, message, 1);
        post_inline_comment(json!({})).await?.refused(500, error, "operation_failed")?;
    }
    assert_eq!((inline_comments(&desktop).len(), conversation().len()), (3, 2), "a comment was posted twice");
    for (without, error) in [
        ("repoPath", "repoPath is required"),
        ("prNumber", "prNumber is required"),
        ("body", "body is required"),
    ] {
        post_inline_comment(json!({without: ""})).await?.refused(400, error, "missing_field")?;
    }
    post_inline_comment(json!({"repoPath": "/etc"})).await?.refused(
        403,
        "directory not allowed",
        "directory_not_allowed",
    )?;
    git(&desktop.clone, &["remote", "set-url", "origin", "https://elsewhere.example/acme/widget"])?;
    post_inline_comment(json!({})).await?.refused(500, "Could not determine repository", "operation_failed")
}

/// The host of the clone's remote is unknown, so the CLI determines the repository.
#[tokio::test]
async fn cli_determines_repository_of_unknown_host() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    git(&desktop.clone, &["remote", "set-url", "origin", "https://elsewhere.example/acme/widget"])?;
    desktop.replace_gh("gh-echo", "cat >/dev/null; printf '%s|' \"$@\"").await?;
    for (members, args) in [
        (json!({}), "pr|comment|1|--body-file|-|"),
        (json!({"commentId": 55}), "pr|comment|1|--body-file|-|"),
        (json!({"requestChanges": true}), "pr|review|1|--request-changes|--body-file|-|"),
    ] {
        assert_eq!(
            desktop.local.post("git/pr/reply", reply_body(&desktop, members)).await?.ok()?["output"],
            args
        );
    }
    Ok(())
}

#[tokio::test]
async fn review_is_posted_with_all_comments_in_one_request() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let sha = git(&desktop.clone, &["rev-parse", "HEAD"])?;
    let comment = |path: &str, body: &str| json!({"path": path, "lines": {"side": "new", "from": 1, "to": 2}, "body": body});
    let post = |comments: Value| {
        let members = json!({"commitSha": sha.trim(), "comments": comments});
        desktop.local.post("git/pr/review", reply_body(&desktop, members))
    };
    let on_file = json!({"path": "src/gear.rs", "body": "Why?"});
    let posted = post(json!([comment("src/gear.rs", "First"), comment("src/gear.rs", "Second"), on_file]));
    assert_eq!(posted.await?.ok()?, json!({"success": true, "onLines": true}));
    let bodies = || inline_comments(&desktop).into_iter().map(|it| (it.body, it.line)).collect::<Vec<_>>();
    assert_eq!(bodies(), [("First".to_owned(), Some(2)), ("Second".to_owned(), Some(2))]);
    let reviews = || desktop.host.pull_requests(WIDGET)[0].reviews.clone();
    assert_eq!(reviews().len(), 1);
    assert_eq!(
        (reviews()[0].state.as_str(), reviews()[0].body.contains("On `src/gear.rs`")),
        ("COMMENTED", true)
    );

    // The code host rejects a line: nothing is lost, and nothing is posted twice.
    let rejected = post(json!([comment("src/gear.rs", "Third"), comment("unchanged.rs", "Fourth")]));
    assert_eq!(rejected.await?.ok()?["onLines"], false);
    assert_eq!((bodies().len(), reviews().len()), (2, 2));
    let text = &reviews()[1].body;
    assert!(text.contains("On `unchanged.rs`, lines 1 to 2:\n\nFourth") && text.contains("Third"), "{text}");

    let nothing = reply_body(&desktop, json!({"body": " ", "comments": []}));
    let refused = desktop.local.post("git/pr/review", nothing).await?;
    refused.refused(400, "body or comments are required", "missing_field")
}
