//! Failures of git, its hooks and its remotes: error codes, categories and messages.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{act, instead_of};
use crate::test_gateway::{TestGateway, write};

/// Checks code and members of `details` of an error response.
fn expect_error(body: &Value, code: &str, details: &Value) -> Result<()> {
    ensure!(body["code"] == code, "{body}");
    for (name, value) in details.as_object().context("members")? {
        ensure!(&body["details"][name] == value, "{name}: expected {value} in {body}");
    }
    Ok(())
}

fn detail<'a>(body: &'a Value, member: &str) -> &'a str {
    let value = if member == "error" { &body["error"] } else { &body["details"][member] };
    value.as_str().unwrap_or_default()
}

// GF-08, GF-09
#[tokio::test]
async fn failing_pre_commit_hook_is_classified() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let hook = repo.join(".git/hooks/pre-commit");
    for (script, hook_type, expected) in [
        ("echo 'pre-commit hook: eslint failed' >&2; exit 1", "lint", "eslint failed"),
        ("echo 'tsc type error'; exit 1", "typecheck", "tsc type error"),
        ("echo 'vitest: 3 failed' >&2; exit 1", "test", "3 failed"),
        ("echo 'husky - no' >&2; exit 1", "unknown", "husky - no"),
        // Hooks run without stdin and without a controlling terminal.
        (
            "read answer || answer=none; ( : > /dev/tty ) 2>/dev/null && answer=terminal; echo \"hook $answer\" >&2; exit 1",
            "unknown",
            "hook none",
        ),
    ] {
        write(&hook, format!("#!/bin/sh\n{script}\n"))?;
        std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        local.trust(&repo).await?;
        write(&repo.join("a"), script)?;
        let answer = act(&local, &repo, "commit", json!({"message": "No"})).await?;
        ensure!(answer.status == 500 && answer.body["error"] == "Pre-commit hook failed", "{answer:?}");
        let details = json!({"action": "commit", "category": "pre_commit_hook", "hookType": hook_type});
        expect_error(&answer.body, "PROCESS_FAILED", &details)?;
        ensure!(detail(&answer.body, "stderrExcerpt").contains(expected), "{answer:?}");
    }
    assert_eq!(
        git(&repo, &["diff", "--cached", "--name-only"])?.trim(),
        "a",
        "the change is no longer staged"
    );
    Ok(())
}

// GF-13
#[tokio::test]
async fn empty_commit_is_not_a_hook_failure() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("lint/a", "1\n")])?;
    git(&repo, &["checkout", "--quiet", "-b", "feature/format-x"])?;
    let answer = act(&local, &repo, "commit", json!({"message": "Lint the hook"})).await?;
    ensure!(
        answer.status == 500 && answer.body["error"] == "git commit -m Lint the hook failed",
        "{answer:?}"
    );
    let details = json!({"action": "commit", "category": "git_command_failed", "exitCode": 1});
    expect_error(&answer.body, "PROCESS_FAILED", &details)?;
    ensure!(detail(&answer.body, "stderrExcerpt").contains("nothing to commit"), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn index_lock_error_names_file_and_remedy() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("format-hook", &[("a", "1\n")])?;
    write(&repo.join("a"), "2\n")?;
    // `git status` runs with optional locks disabled, so it works while another process holds the lock.
    write(&repo.join(".git/index.lock"), "")?;
    assert_eq!(super::status(&local, &repo).await?["hasChanges"], true, "the status needs a lock");
    let answer = act(&local, &repo, "commit", json!({"message": "Two"})).await?;
    let details = json!({"action": "commit", "category": "git_command_failed", "exitCode": 128});
    expect_error(&answer.body, "PROCESS_FAILED", &details)?;
    let error = detail(&answer.body, "error");
    ensure!(error.contains("index.lock': File exists") && error.contains("remove the file"), "{error}");
    Ok(())
}

// GF-10
#[tokio::test]
async fn refused_push_is_reported() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    let ssh = local.home.path().join("bin/code-host-ssh");
    write(&ssh, "#!/bin/sh\necho 'git@github.com: Permission denied (publickey).' >&2\nexit 255\n")?;
    let answer = act(&local, &clone, "push", json!({})).await?;
    ensure!(answer.status == 500 && answer.body["error"] == "Git push authentication failed", "{answer:?}");
    expect_error(&answer.body, "PROCESS_FAILED", &json!({"action": "push", "category": "git_push_auth"}))?;
    ensure!(detail(&answer.body, "stderrExcerpt").contains("publickey"), "{answer:?}");
    for action in ["pull", "sync-status"] {
        let answer = act(&local, &clone, action, json!({})).await?;
        expect_error(
            &answer.body,
            "PROCESS_FAILED",
            &json!({"action": action, "category": "git_command_failed"}),
        )?;
        ensure!(detail(&answer.body, "error").contains("Permission denied"), "{answer:?}");
    }
    Ok(())
}

/// Starts a server that answers every request with 401. Returns its port.
async fn unauthorized_server() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                           Content-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(refusal.as_bytes()).await;
        }
    });
    Ok(port)
}

#[tokio::test]
async fn password_prompt_of_remote_is_an_error() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    let url = format!("http://127.0.0.1:{}/acme/widget.git", unauthorized_server().await?);
    git(&clone, &["remote", "set-url", "origin", &url])?;
    let answer = act(&local, &clone, "push", json!({})).await?;
    expect_error(&answer.body, "PROCESS_FAILED", &json!({"category": "git_push_auth"}))?;
    for action in ["pull", "sync-status"] {
        let answer = act(&local, &clone, action, json!({})).await?;
        expect_error(
            &answer.body,
            "PROCESS_FAILED",
            &json!({"category": "git_command_failed", "action": action}),
        )?;
        ensure!(detail(&answer.body, "error").contains("could not read Username"), "{answer:?}");
    }
    // Credentials in a remote's URL must not appear in a response.
    git(&clone, &["remote", "set-url", "origin", "http://me:hunter2@127.0.0.1:1/x.git"])?;
    let answer = act(&local, &clone, "pull", json!({})).await?;
    ensure!(answer.status == 500 && !answer.body.to_string().contains("hunter2"), "{answer:?}");
    Ok(())
}

// GF-11, GF-14
#[tokio::test]
async fn long_git_output_is_truncated() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    instead_of(&local, "status", "printf 'x%.0s' $(seq 5000) >&2; exit 128")?;
    let answer = act(&local, &repo, "status", json!({})).await?;
    expect_error(
        &answer.body,
        "PROCESS_FAILED",
        &json!({"category": "git_command_failed", "exitCode": 128}),
    )?;
    assert_eq!(detail(&answer.body, "stderrExcerpt"), format!("{}...[truncated]", "x".repeat(1200)));
    assert_eq!(detail(&answer.body, "error"), "x".repeat(5000));
    Ok(())
}

#[tokio::test]
async fn oversized_git_output_is_an_error() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    instead_of(&local, "status", "exec head -c 20000000 /dev/zero")?;
    let answer = act(&local, &repo, "status", json!({})).await?;
    ensure!(
        answer.status == 500 && answer.body["error"] == "git status exceeded the output limit",
        "{answer:?}"
    );
    expect_error(&answer.body, "PROCESS_FAILED", &json!({"category": "git_command_failed", "exitCode": 1}))
}

// GF-12
#[tokio::test]
async fn missing_git_is_reported() -> Result<()> {
    let mut home = UserHome::temporary()?;
    // The login shell is searched for programs as well, so its profile must hide git too.
    let bin = home.path().join("bin");
    write(&home.path().join(".profile"), format!("PATH='{}'\nexport PATH\n", bin.display()))?;
    home.set("PATH", &bin);
    let local = TestGateway::in_home(home, |setup| setup).await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let answer = act(&local, &repo, "status", json!({})).await?;
    assert_eq!(answer.status, 500);
    expect_error(&answer.body, "SPAWN_FAILED", &json!({"action": "status", "category": "spawn_failed"}))?;
    ensure!(detail(&answer.body, "error").starts_with("git status "), "{answer:?}");
    ensure!(detail(&answer.body, "stderrExcerpt").starts_with("git was not found"), "{answer:?}");
    let answer = local.get("git/branches", &[("repo", &repo.to_string_lossy())]).await?;
    let text =
        "git was not found; install it (https://git-scm.com/downloads), or set its path in the settings";
    answer.refused(500, text, "operation_failed")
}

/// A failing hook other than pre-commit and commit-msg is reported as a git failure, with the hook's output.
#[tokio::test]
async fn other_failing_hooks_are_git_failures() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    let hook = |name: &str, script: &str| -> Result<()> {
        let path = clone.join(".git/hooks").join(name);
        write(&path, format!("#!/bin/sh\n{script}\n"))?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(())
    };
    hook("pre-push", "cat >/dev/null; read word </dev/tty || echo 'lint says no' >&2; exit 1")?;
    local.trust(&clone).await?;
    let before = local.remotes.branches("acme/widget")?;
    git(&clone, &["commit", "--quiet", "--allow-empty", "-m", "Two"])?;
    let answer = act(&local, &clone, "push", json!({})).await?;
    let details = json!({"action": "push", "category": "git_command_failed", "exitCode": 1});
    expect_error(&answer.body, "PROCESS_FAILED", &details)?;
    ensure!(answer.status == 500 && detail(&answer.body, "error").contains("lint says no"), "{answer:?}");
    assert_eq!(local.remotes.branches("acme/widget")?, before, "commits were pushed");

    hook("commit-msg", "echo \"commit-msg hook: no ticket in '$(cat \"$1\")'\" >&2; exit 1")?;
    local.trust(&clone).await?;
    write(&clone.join("a"), "2\n")?;
    let answer = act(&local, &clone, "commit", json!({"message": "Three"})).await?;
    expect_error(
        &answer.body,
        "PROCESS_FAILED",
        &json!({"category": "pre_commit_hook", "hookType": "unknown"}),
    )?;
    ensure!(detail(&answer.body, "stderrExcerpt").contains("no ticket in 'Three'"), "{answer:?}");

    hook("post-checkout", "echo 'prettier says no' >&2; exit 3")?;
    local.trust(&clone).await?;
    let answer = act(&local, &clone, "branch", json!({"branchName": "other"})).await?;
    let details = json!({"action": "branch", "category": "git_command_failed", "exitCode": 1});
    expect_error(&answer.body, "PROCESS_FAILED", &details)?;
    ensure!(detail(&answer.body, "error").contains("prettier says no"), "{answer:?}");
    Ok(())
}

/// Read-only git commands time out after ten seconds.
#[tokio::test]
async fn hanging_git_times_out() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    instead_of(&local, "status", "echo looking >&2; sleep 600 & wait")?;
    let answer = act(&local, &repo, "status", json!({})).await?;
    let error = "git status took longer than 10 seconds and was terminated";
    ensure!(answer.status == 500 && answer.body["error"] == error, "{answer:?}");
    expect_error(&answer.body, "PROCESS_FAILED", &json!({"category": "git_command_failed", "exitCode": 1}))?;
    assert_eq!(detail(&answer.body, "stderrExcerpt"), "looking");
    let gateway_pid = local.loopgate.pid();
    let mut others = loopgate_testkit::home_processes::processes(local.home.path());
    others.retain(|process| Some(process.pid) != gateway_pid);
    ensure!(others.is_empty(), "children of git remain: {others:?}");
    Ok(())
}
