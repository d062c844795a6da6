//! A code-host CLI that fails in its own ways.

use anyhow::Result;
use serde_json::json;

use super::Desk;

#[tokio::test]
async fn complaints_become_known_sentences() -> Result<()> {
    let desk = Desk::new().await?;
    desk.branch("gear")?;
    let wish = json!({"repoPath": desk.clone, "title": "handle 404", "body": "already exists"});
    for (name, complaint, sentence) in [
        ("gh-1", "network is unreachable", "Network error. Check your connection."),
        (
            "gh-2",
            "secret /home/sam/token gh.go:17",
            "Failed to complete GitHub operation. Check logs for details.",
        ),
        ("gh-3", "your token lacks the required scopes", "Permission denied. Check your GitHub access."),
    ] {
        desk.replace_gh(name, &format!("cat >/dev/null; echo '{complaint}' >&2; exit 1")).await?;
        let failed = desk.local.post("git/pr", wish.clone()).await?;
        failed.refused(500, sentence, "operation_failed")?;
    }
    // The number has to be looked up when the answer does not tell it.
    let script = "case \"$2\" in create) cat >/dev/null; echo done;; view) echo '{\"url\":\"https://h/pull/9\",\"number\":9}';; esac";
    desk.replace_gh("gh-4", script).await?;
    let opened = desk.local.post("git/pr", wish.clone()).await?.ok()?;
    assert_eq!(
        opened,
        json!({"success": true, "url": "https://h/pull/9", "number": 9, "message": "Created PR #9"})
    );
    desk.replace_gh("gh-5", "cat >/dev/null; test \"$2\" = create").await?;
    let opened = desk.local.post("git/pr", wish).await?.ok()?;
    assert_eq!(opened, json!({"success": true, "message": "Created PR #unknown"}));
    Ok(())
}

#[tokio::test]
async fn the_graph_is_refused_in_five_ways() -> Result<()> {
    let desk = Desk::new().await?;
    let query = [("repo", desk.path()), ("pr", "1")];
    for (name, script, status, error, reason) in [
        (
            "gh-a",
            "echo 'gh auth login required' >&2; exit 1",
            401,
            "GitHub CLI not authenticated. Run 'gh auth login' in terminal.",
            "auth",
        ),
        (
            "gh-b",
            "echo 'API rate limit exceeded' >&2; exit 1",
            503,
            "GitHub rate limit reached. Try again later.",
            "rate_limit",
        ),
        (
            "gh-c",
            "echo 'secondary rate limit' >&2; exit 1",
            503,
            "GitHub secondary rate limit reached. Try again later.",
            "secondary_limit",
        ),
        (
            "gh-d",
            "echo 'request timed out' >&2; exit 1",
            503,
            "GitHub request timed out. Try again.",
            "timeout",
        ),
        ("gh-e", "echo '{bad'", 503, "GitHub returned an invalid response.", "provider_unavailable"),
        (
            "gh-f",
            "exit 1",
            503,
            "GitHub CLI unavailable. Ensure gh is installed and authenticated.",
            "provider_unavailable",
        ),
    ] {
        desk.replace_gh(name, script).await?;
        let code = if status == 401 { "unauthorized" } else { "unavailable" };
        let wanted = json!({"error": error, "code": code, "reason": reason});
        desk.local.get("git/pr/comments", &query).await?.is(status, &wanted)?;
    }
    Ok(())
}

#[tokio::test]
async fn answers_that_are_none_are_refused() -> Result<()> {
    let desk = Desk::new().await?;
    let files = [("owner", "acme"), ("repo", "widget"), ("number", "1")];
    let local = [("repo", desk.path()), ("pr", "1")];
    let row = r#"{"filename":"a","additions":1,"deletions":0,"status":null,"previous_filename":null}"#;
    desk.replace_gh("gh-good", &format!("echo '{row}'")).await?;
    let told = desk.local.get("git/pr/files", &files).await?.ok()?;
    assert_eq!(told, json!({"files": [{"filename": "a", "additions": 1, "deletions": 0}]}));
    desk.replace_gh("gh-bad", &format!("echo '{row}'; echo '{{\"filename\":\"b\",\"deletions\":0}}'"))
        .await?;
    desk.local.get("git/pr/files", &files).await?.refused(
        500,
        "Failed to get PR files",
        "operation_failed",
    )?;
    let mute = "Could not get head SHA";
    desk.replace_gh("gh-mute", "true").await?;
    desk.local.get("git/pr/head-sha", &local).await?.refused(500, mute, "operation_failed")?;
    desk.local.get("git/user", &[]).await?.refused(
        500,
        "Could not determine GitHub user",
        "operation_failed",
    )?;
    desk.replace_gh("gh-fail", "echo 'gho_secret' >&2; exit 4").await?;
    let failed = "Failed to get GitHub user. Ensure gh is installed and authenticated.";
    desk.local.get("git/user", &[]).await?.refused(500, failed, "operation_failed")?;
    let list = desk.local.get("git/pr/list", &[("repo", desk.path())]).await?;
    let failed = "Failed to complete GitHub operation. Check logs for details.";
    list.refused(500, failed, "operation_failed")
}
