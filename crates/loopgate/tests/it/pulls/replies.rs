//! Saying something about a pull request.

use anyhow::{Context as _, Result};
use loopgate_testkit::code_host::{HostFault, HostedInlineComment};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::{PullsFixture, WIDGET, found};

/// What was said begins like a file's name, which must never be opened.
const TEXT: &str = "@/etc/hostname is what I mean";

fn said(desktop: &PullsFixture, more: Value) -> Value {
    let mut body = json!({"repoPath": desktop.clone, "prNumber": 1, "body": TEXT});
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}

/// The remarks on lines of the pull request.
fn remarks(desktop: &PullsFixture) -> Vec<HostedInlineComment> {
    desktop.host.pull_requests(WIDGET)[0].inline.clone()
}

// GF-36
#[tokio::test]
async fn comments_answers_and_demands_arrive() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let noted = desktop.local.home.path().join("noted");
    let gh = found("gh")?;
    let script = format!("printf '%s\\n' \"$@\" >> '{}'\nexec '{}' \"$@\"", noted.display(), gh.display());
    desktop.replace_gh("gh-noting", &script).await?;
    let line = desktop.host.comment_line(WIDGET, 1, "ann", ("src/gear.rs", 2), "Why?").context("line")?;
    for (more, message) in [
        (json!({"commentId": line}), "Reply posted successfully"),
        (json!({"requestChanges": true, "commentId": line}), "Changes requested"),
        (json!({"requestChanges": 1, "commentId": 0}), "Comment posted successfully"),
    ] {
        let answer = desktop.local.post("git/pr/reply", said(&desktop, more)).await?.ok()?;
        assert_eq!((&answer["success"], &answer["message"]), (&json!(true), &json!(message)));
        assert!(answer["output"].is_string());
    }
    let pull = &desktop.host.pull_requests(WIDGET)[0];
    assert_eq!((pull.inline[1].body.as_str(), pull.inline[1].in_reply_to), (TEXT, Some(line)));
    assert_eq!((pull.reviews[0].state.as_str(), pull.reviews[0].body.as_str()), ("CHANGES_REQUESTED", TEXT));
    assert_eq!(pull.comments[0].body, TEXT);
    let noted = std::fs::read_to_string(noted)?;
    assert!(noted.contains("replies") && noted.contains("--request-changes"), "{noted}");
    assert!(!noted.contains(TEXT), "others can see arguments: {noted}");

    for (without, error) in [
        ("repoPath", "Missing 'repoPath' in request body"),
        ("body", "Missing 'body' in request body"),
        ("prNumber", "prNumber is required"),
    ] {
        let mut body = said(&desktop, json!({}));
        body[without] = json!(" ");
        desktop.local.post("git/pr/reply", body).await?.refused(400, error, "missing_field")?;
    }
    for number in [json!("12abc"), json!(-1), json!(1.5), json!(0), json!("1/../2"), json!(null)] {
        let body = said(&desktop, json!({"prNumber": number}));
        desktop.local.post("git/pr/reply", body).await?.refused(
            400,
            "prNumber is required",
            "missing_field",
        )?;
    }
    let outside = said(&desktop, json!({"repoPath": "/etc"}));
    desktop.local.post("git/pr/reply", outside).await?.refused(
        403,
        "directory not allowed",
        "directory_not_allowed",
    )?;
    let nobody = said(&desktop, json!({"commentId": 4711}));
    let missing = desktop.local.post("git/pr/reply", nobody).await?;
    missing.refused(500, "Repository not found or no access.", "operation_failed")
}

// GF-38
#[tokio::test]
async fn inline_comment_falls_back_to_file_and_conversation() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    let sha = git(&desktop.clone, &["rev-parse", "HEAD"])?;
    let remark = |more: Value| {
        let mut body = said(&desktop, json!({"path": "src/gear.rs", "line": "2", "commitSha": sha.trim()}));
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        desktop.local.post("git/pr/inline-comment", body)
    };
    let refuse = |status: u16, message: &str, times: u32| {
        let (on, message) = ("/pulls/1/comments".to_owned(), message.to_owned());
        desktop.host.fail(HostFault { on, status, message, times: Some(times) });
    };
    let placed = remark(json!({})).await?.ok()?;
    assert_eq!((&placed["success"], &placed["placement"]), (&json!(true), &json!("line")));
    assert_eq!((remarks(&desktop)[0].line, remarks(&desktop)[0].body.as_str()), (Some(2), TEXT));
    refuse(422, "Validation Failed", 1);
    assert_eq!(remark(json!({})).await?.ok()?["placement"], "file");
    assert_eq!((remarks(&desktop).len(), remarks(&desktop)[1].line), (2, None));
    refuse(422, "Validation Failed", 2);
    assert_eq!(remark(json!({})).await?.ok()?["placement"], "conversation");
    let conversation = || desktop.host.pull_requests(WIDGET)[0].comments.clone();
    assert_eq!(conversation()[0].body, format!("On `src/gear.rs`, line 2:\n\n{TEXT}"));
    assert_eq!(remark(json!({"path": null})).await?.ok()?["placement"], "conversation");
    assert_eq!(conversation()[1].body, TEXT);
    assert_eq!(remark(json!({"line": null})).await?.ok()?["placement"], "file");

    let login = "GitHub CLI not authenticated. Run 'gh auth login' in terminal.";
    for (status, message, error) in [
        (401, "Bad credentials", login),
        (403, "API rate limit exceeded", "GitHub rate limit reached. Try again later."),
        (403, "Resource not accessible by integration", "Permission denied. Check your GitHub access."),
    ] {
        refuse(status, message, 1);
        remark(json!({})).await?.refused(500, error, "operation_failed")?;
    }
    assert_eq!((remarks(&desktop).len(), conversation().len()), (3, 2), "nothing was said twice");
    for (without, error) in [
        ("repoPath", "repoPath is required"),
        ("prNumber", "prNumber is required"),
        ("body", "body is required"),
    ] {
        remark(json!({without: ""})).await?.refused(400, error, "missing_field")?;
    }
    remark(json!({"repoPath": "/etc"})).await?.refused(
        403,
        "directory not allowed",
        "directory_not_allowed",
    )?;
    git(&desktop.clone, &["remote", "set-url", "origin", "https://elsewhere.example/acme/widget"])?;
    remark(json!({})).await?.refused(500, "Could not determine repository", "operation_failed")
}

/// A clone that comes from elsewhere is left to the program, which may know the host.
#[tokio::test]
async fn without_a_name_the_program_finds_the_repository_itself() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    git(&desktop.clone, &["remote", "set-url", "origin", "https://elsewhere.example/acme/widget"])?;
    desktop.replace_gh("gh-echo", "cat >/dev/null; printf '%s|' \"$@\"").await?;
    for (more, args) in [
        (json!({}), "pr|comment|1|--body-file|-|"),
        (json!({"commentId": 55}), "pr|comment|1|--body-file|-|"),
        (json!({"requestChanges": true}), "pr|review|1|--request-changes|--body-file|-|"),
    ] {
        assert_eq!(desktop.local.post("git/pr/reply", said(&desktop, more)).await?.ok()?["output"], args);
    }
    Ok(())
}
