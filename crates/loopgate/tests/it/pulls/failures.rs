//! Failures of the code-host CLI and of the code host.

use anyhow::{Result, ensure};
use loopgate_testkit::code_host::HostFault;
use loopgate_testkit::git::git;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe;

use super::PullsFixture;

// GF-30
#[tokio::test]
async fn cli_errors_are_translated() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    desktop.branch("gear")?;
    let body = json!({"repoPath": desktop.clone, "title": "handle 404", "body": "already exists"});
    for (name, stderr, sentence) in [
        ("gh-1", "network is unreachable", "Network error. Check your connection."),
        (
            "gh-2",
            "secret /home/sam/token gh.go:17",
            "Failed to complete GitHub operation. Check logs for details.",
        ),
        ("gh-3", "your token lacks the required scopes", "Permission denied. Check your GitHub access."),
    ] {
        desktop.replace_gh(name, &format!("cat >/dev/null; echo '{stderr}' >&2; exit 1")).await?;
        let failed = desktop.local.post("git/pr", body.clone()).await?;
        failed.refused(500, sentence, "operation_failed")?;
    }
    // Without a URL in the output, the number is requested separately.
    let script = "case \"$2\" in create) cat >/dev/null; echo done;; list) echo '[{\"url\":\"https://h/pull/9\",\"number\":9,\"isCrossRepository\":false}]';; esac";
    desktop.replace_gh("gh-4", script).await?;
    let opened = desktop.local.post("git/pr", body.clone()).await?.ok()?;
    assert_eq!(
        opened,
        json!({"success": true, "url": "https://h/pull/9", "number": 9, "message": "Created PR #9"})
    );
    desktop.replace_gh("gh-5", "cat >/dev/null; test \"$2\" = create").await?;
    let opened = desktop.local.post("git/pr", body).await?.ok()?;
    assert_eq!(opened, json!({"success": true, "message": "Created PR #unknown"}));
    Ok(())
}

// GF-34
#[tokio::test]
async fn graphql_errors_have_codes_and_reasons() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let query = [("repo", desktop.path()), ("pr", "1")];
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
        desktop.replace_gh(name, script).await?;
        let code = if status == 401 { "unauthorized" } else { "unavailable" };
        let expected = json!({"error": error, "code": code, "reason": reason});
        desktop.local.get("git/pr/comments", &query).await?.is(status, &expected)?;
    }
    Ok(())
}

// GF-37
#[tokio::test]
async fn invalid_cli_output_is_an_error() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let files = [("owner", "acme"), ("repo", "widget"), ("number", "1")];
    let local = [("repo", desktop.path()), ("pr", "1")];
    let row = r#"{"filename":"a","additions":1,"deletions":0,"status":null,"previous_filename":null}"#;
    desktop.replace_gh("gh-good", &format!("echo '{row}'")).await?;
    let response = desktop.local.get("git/pr/files", &files).await?.ok()?;
    assert_eq!(response, json!({"files": [{"filename": "a", "additions": 1, "deletions": 0}]}));
    desktop
        .replace_gh("gh-bad", &format!("echo '{row}'; echo '{{\"filename\":\"b\",\"deletions\":0}}'"))
        .await?;
    desktop.local.get("git/pr/files", &files).await?.refused(
        500,
        "Failed to get PR files",
        "operation_failed",
    )?;
    let no_sha = "Could not get head SHA";
    desktop.replace_gh("gh-mute", "true").await?;
    desktop.local.get("git/pr/head-sha", &local).await?.refused(500, no_sha, "operation_failed")?;
    desktop.local.get("git/user", &[]).await?.refused(
        500,
        "Could not determine GitHub user",
        "operation_failed",
    )?;
    desktop.replace_gh("gh-fail", "echo 'gho_secret' >&2; exit 4").await?;
    let failed = "Failed to get GitHub user. Ensure gh is installed and authenticated.";
    desktop.local.get("git/user", &[]).await?.refused(500, failed, "operation_failed")?;
    let list = desktop.local.get("git/pr/list", &[("repo", desktop.path())]).await?;
    let failed = "Failed to complete GitHub operation. Check logs for details.";
    list.refused(500, failed, "operation_failed")
}

const LOGIN: &str = "GitHub CLI not authenticated. Run 'gh auth login' in terminal.";

/// Sends a request to a route that reports the code host's error.
async fn send(desktop: &PullsFixture, route: &str) -> Result<crate::test_gateway::Answer> {
    let local = &desktop.local;
    match route {
        "git/pr/list" => local.get(route, &[("repo", desktop.path())]).await,
        "git/pr" => local.post(route, json!({"repoPath": desktop.clone, "title": "T"})).await,
        _ => local.post(route, json!({"repoPath": desktop.clone, "prNumber": 1, "body": "B"})).await,
    }
}

/// The real CLI with a code host that returns errors.
#[tokio::test]
async fn code_host_errors_have_one_sentence_on_all_routes() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    git(&desktop.clone, &["checkout", "-q", "-b", "another"])?;
    let routes = ["git/pr/list", "git/pr", "git/pr/reply", "git/pr/inline-comment"];
    for (status, message, sentence) in [
        (401, "Bad credentials", LOGIN),
        (403, "API rate limit exceeded for user ID 1.", "GitHub rate limit reached. Try again later."),
        (
            403,
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            "GitHub secondary rate limit reached. Try again later.",
        ),
        (
            403,
            "Resource not accessible by personal access token",
            "Permission denied. Check your GitHub access.",
        ),
        (404, "Not Found", "Repository not found or no access."),
    ] {
        desktop.host.clear_faults();
        desktop.host.fail(HostFault { on: String::new(), status, message: message.to_owned(), times: None });
        for route in routes {
            send(&desktop, route).await?.refused(500, sentence, "operation_failed")?;
        }
        let query = [("owner", "acme"), ("repo", "widget"), ("number", "1")];
        let files = desktop.local.get("git/pr/files", &query).await?;
        files.refused(500, "Failed to get PR files", "operation_failed")?;
        let head = desktop.local.get("git/pr/head-sha", &[("repo", desktop.path()), ("pr", "1")]).await?;
        head.refused(500, "Failed to get PR head SHA", "operation_failed")?;
        let user = desktop.local.get("git/user", &[]).await?;
        let text = "Failed to get GitHub user. Ensure gh is installed and authenticated.";
        user.refused(500, text, "operation_failed")?;
    }
    Ok(())
}

#[tokio::test]
async fn missing_login_is_reported() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    std::fs::remove_file(desktop.local.home.path().join(".config/gh/hosts.yml"))?;
    for route in ["git/pr/list", "git/pr", "git/pr/reply", "git/pr/inline-comment"] {
        send(&desktop, route).await?.refused(500, LOGIN, "operation_failed")?;
    }
    let refused = json!({"error": LOGIN, "code": "unauthorized", "reason": "auth"});
    let comments = desktop.local.get("git/pr/comments", &[("repo", desktop.path()), ("pr", "1")]).await?;
    comments.is(401, &refused)?;
    let query = [("owner", "acme"), ("repo", "widget"), ("number", "1")];
    desktop.local.get("git/pr/reviews", &query).await?.refused(500, LOGIN, "operation_failed")
}

/// The body exceeds the capacity of a pipe, and the program closes its stdin.
#[tokio::test]
async fn closed_stdin_of_cli_is_an_error() -> Result<()> {
    let desktop = PullsFixture::with_pull().await?;
    desktop.replace_gh("gh-deaf", "exec <&-; echo 'network is unreachable' >&2; exit 1").await?;
    let text = "x".repeat(200_000);
    for (route, member) in
        [("git/pr/reply", "prNumber"), ("git/pr/inline-comment", "prNumber"), ("git/pr", "title")]
    {
        let mut body = json!({"repoPath": desktop.clone, "body": text});
        body[member] = json!("1");
        let answer = desktop.local.post(route, body).await?;
        answer.refused(500, "Network error. Check your connection.", "operation_failed")?;
    }
    Ok(())
}

/// At most three GraphQL requests run at once. Each script reports its start and its end, and blocks until it
/// is released.
#[tokio::test]
async fn graphql_requests_are_limited_to_three() -> Result<()> {
    const ALL: usize = 6;
    let desktop = PullsFixture::new().await?;
    let home = desktop.local.home.path();
    for pipe in ["events", "go"] {
        ensure!(desktop.local.home.command("mkfifo").arg(home.join(pipe)).status().await?.success());
    }
    let script = "echo in >'HOME/events'; read word <'HOME/go'; echo out >'HOME/events'; echo '{}'";
    desktop.replace_gh("gh-counting", &script.replace("HOME", &home.display().to_string())).await?;
    // Both pipes are opened for reading and writing, so that neither side receives EOF when the other side
    // closes its end.
    let mut pipes = pipe::OpenOptions::new();
    let events = pipes.read_write(true).open_receiver(home.join("events"))?;
    let mut go = pipes.read_write(true).open_sender(home.join("go"))?;
    let count = async {
        let (mut lines, mut running, mut peak, mut finished) = (BufReader::new(events).lines(), 0, 0, 0);
        while finished < ALL {
            match lines.next_line().await?.as_deref() {
                Some("in") => running += 1,
                _ => (running, finished) = (running - 1, finished + 1),
            }
            peak = peak.max(running);
            // Release the first requests once the limit is reached.
            if peak >= 3 {
                go.write_all(b"go\n").await?;
            }
        }
        anyhow::Ok(peak)
    };
    let send = || {
        let path = "/api/gateway/git/pr/reviews?owner=acme&repo=widget&number=1";
        tokio::spawn(desktop.local.loopgate.gateway(reqwest::Method::GET, path).send())
    };
    let requests: Vec<_> = (0..ALL).map(|_| send()).collect();
    assert_eq!(count.await?, 3);
    for answer in requests {
        assert_eq!(answer.await??.status(), 404, "an empty response is not a missing pull request");
    }
    Ok(())
}
