//! What git, its hooks and its remotes refuse, in the words and codes that the page knows.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{act, instead_of};
use crate::local::{Local, write};

/// Whether an answer is a 500 with these members of `details`.
fn says(body: &Value, code: &str, details: &Value) -> Result<()> {
    ensure!(body["code"] == code, "{body}");
    for (name, value) in details.as_object().context("members")? {
        ensure!(&body["details"][name] == value, "{name}: wanted {value} in {body}");
    }
    Ok(())
}

fn shown<'a>(body: &'a Value, member: &str) -> &'a str {
    let place = if member == "error" { &body["error"] } else { &body["details"][member] };
    place.as_str().unwrap_or_default()
}

// GF-08, GF-09
#[tokio::test]
async fn refusing_hooks_have_their_own_codes() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let hook = repo.join(".git/hooks/pre-commit");
    for (script, kind, said) in [
        ("echo 'pre-commit hook: eslint failed' >&2; exit 1", "lint", "eslint failed"),
        ("echo 'tsc type error'; exit 1", "typecheck", "tsc type error"),
        ("echo 'vitest: 3 failed' >&2; exit 1", "test", "3 failed"),
        ("echo 'husky - no' >&2; exit 1", "unknown", "husky - no"),
        // It can ask nobody: there is nothing to read and no terminal.
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
        let details = json!({"action": "commit", "category": "pre_commit_hook", "hookType": kind});
        says(&answer.body, "PROCESS_FAILED", &details)?;
        ensure!(shown(&answer.body, "stderrExcerpt").contains(said), "{answer:?}");
    }
    assert_eq!(git(&repo, &["diff", "--cached", "--name-only"])?.trim(), "a", "it stays staged");
    Ok(())
}

// GF-13
#[tokio::test]
async fn commit_of_nothing_is_no_hook() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("lint/a", "1\n")])?;
    git(&repo, &["checkout", "--quiet", "-b", "feature/format-x"])?;
    let answer = act(&local, &repo, "commit", json!({"message": "Lint the hook"})).await?;
    ensure!(
        answer.status == 500 && answer.body["error"] == "git commit -m Lint the hook failed",
        "{answer:?}"
    );
    let details = json!({"action": "commit", "category": "git_command_failed", "exitCode": 1});
    says(&answer.body, "PROCESS_FAILED", &details)?;
    ensure!(shown(&answer.body, "stderrExcerpt").contains("nothing to commit"), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn foreign_lock_is_named_with_a_remedy() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("format-hook", &[("a", "1\n")])?;
    write(&repo.join("a"), "2\n")?;
    write(&repo.join(".git/index.lock"), "")?;
    assert_eq!(super::status(&local, &repo).await?["hasChanges"], true, "looking needs no lock");
    let answer = act(&local, &repo, "commit", json!({"message": "Two"})).await?;
    let details = json!({"action": "commit", "category": "git_command_failed", "exitCode": 128});
    says(&answer.body, "PROCESS_FAILED", &details)?;
    let error = shown(&answer.body, "error");
    ensure!(error.contains("index.lock': File exists") && error.contains("remove the file"), "{error}");
    Ok(())
}

// GF-10
#[tokio::test]
async fn refused_push_is_reported() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    let ssh = local.home.path().join("bin/code-host-ssh");
    write(&ssh, "#!/bin/sh\necho 'git@github.com: Permission denied (publickey).' >&2\nexit 255\n")?;
    let answer = act(&local, &clone, "push", json!({})).await?;
    ensure!(answer.status == 500 && answer.body["error"] == "Git push authentication failed", "{answer:?}");
    says(&answer.body, "PROCESS_FAILED", &json!({"action": "push", "category": "git_push_auth"}))?;
    ensure!(shown(&answer.body, "stderrExcerpt").contains("publickey"), "{answer:?}");
    for action in ["pull", "sync-status"] {
        let answer = act(&local, &clone, action, json!({})).await?;
        says(&answer.body, "PROCESS_FAILED", &json!({"action": action, "category": "git_command_failed"}))?;
        ensure!(shown(&answer.body, "error").contains("Permission denied"), "{answer:?}");
    }
    Ok(())
}

/// A server that always wants a password; answers its port.
async fn locked_server() -> Result<u16> {
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
async fn remote_that_wants_a_password_is_an_error_and_not_a_wait() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    let url = format!("http://127.0.0.1:{}/acme/widget.git", locked_server().await?);
    git(&clone, &["remote", "set-url", "origin", &url])?;
    let answer = act(&local, &clone, "push", json!({})).await?;
    says(&answer.body, "PROCESS_FAILED", &json!({"category": "git_push_auth"}))?;
    for action in ["pull", "sync-status"] {
        let answer = act(&local, &clone, action, json!({})).await?;
        says(&answer.body, "PROCESS_FAILED", &json!({"category": "git_command_failed", "action": action}))?;
        ensure!(shown(&answer.body, "error").contains("could not read Username"), "{answer:?}");
    }
    // What is in a URL is no one's business.
    git(&clone, &["remote", "set-url", "origin", "http://me:hunter2@127.0.0.1:1/x.git"])?;
    let answer = act(&local, &clone, "pull", json!({})).await?;
    ensure!(answer.status == 500 && !answer.body.to_string().contains("hunter2"), "{answer:?}");
    Ok(())
}

// GF-11, GF-14
#[tokio::test]
async fn what_git_prints_is_cut() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    instead_of(&local, "status", "printf 'x%.0s' $(seq 5000) >&2; exit 128")?;
    let answer = act(&local, &repo, "status", json!({})).await?;
    says(&answer.body, "PROCESS_FAILED", &json!({"category": "git_command_failed", "exitCode": 128}))?;
    assert_eq!(shown(&answer.body, "stderrExcerpt"), format!("{}...[truncated]", "x".repeat(1200)));
    assert_eq!(shown(&answer.body, "error"), "x".repeat(5000));
    Ok(())
}

#[tokio::test]
async fn oversized_git_output_is_an_error() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    instead_of(&local, "status", "exec head -c 20000000 /dev/zero")?;
    let answer = act(&local, &repo, "status", json!({})).await?;
    ensure!(answer.status == 500 && answer.body["error"] == "git status printed too much", "{answer:?}");
    says(&answer.body, "PROCESS_FAILED", &json!({"category": "git_command_failed", "exitCode": 1}))
}

// GF-12
#[tokio::test]
async fn without_git_the_answer_says_so() -> Result<()> {
    let mut home = UserHome::temporary()?;
    let bin = home.path().join("bin");
    write(&home.path().join(".profile"), format!("PATH='{}'\nexport PATH\n", bin.display()))?;
    home.set("PATH", &bin);
    let local = Local::in_home(home, |setup| setup).await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let answer = act(&local, &repo, "status", json!({})).await?;
    assert_eq!(answer.status, 500);
    says(&answer.body, "SPAWN_FAILED", &json!({"action": "status", "category": "spawn_failed"}))?;
    ensure!(shown(&answer.body, "error").starts_with("git status "), "{answer:?}");
    ensure!(shown(&answer.body, "stderrExcerpt").starts_with("git was not found"), "{answer:?}");
    let answer = local.get("git/branches", &[("repo", &repo.to_string_lossy())]).await?;
    let text =
        "git was not found; install it (https://git-scm.com/downloads), or set its path in the settings";
    answer.refused(500, text, "operation_failed")
}

/// A hook that is no part of a commit is git's own failure, in the hook's words.
#[tokio::test]
async fn other_hooks_refuse_too() -> Result<()> {
    let local = Local::new().await?;
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
    says(&answer.body, "PROCESS_FAILED", &details)?;
    ensure!(answer.status == 500 && shown(&answer.body, "error").contains("lint says no"), "{answer:?}");
    assert_eq!(local.remotes.branches("acme/widget")?, before, "nothing was sent");

    hook("commit-msg", "echo \"commit-msg hook: no ticket in '$(cat \"$1\")'\" >&2; exit 1")?;
    local.trust(&clone).await?;
    write(&clone.join("a"), "2\n")?;
    let answer = act(&local, &clone, "commit", json!({"message": "Three"})).await?;
    says(&answer.body, "PROCESS_FAILED", &json!({"category": "pre_commit_hook", "hookType": "unknown"}))?;
    ensure!(shown(&answer.body, "stderrExcerpt").contains("no ticket in 'Three'"), "{answer:?}");

    hook("post-checkout", "echo 'prettier says no' >&2; exit 3")?;
    local.trust(&clone).await?;
    let answer = act(&local, &clone, "branch", json!({"branchName": "other"})).await?;
    let details = json!({"action": "branch", "category": "git_command_failed", "exitCode": 1});
    says(&answer.body, "PROCESS_FAILED", &details)?;
    ensure!(shown(&answer.body, "error").contains("prettier says no"), "{answer:?}");
    Ok(())
}

/// What only looks may take ten seconds.
#[tokio::test]
async fn hanging_git_times_out() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    instead_of(&local, "status", "echo looking >&2; sleep 600 & wait")?;
    let answer = act(&local, &repo, "status", json!({})).await?;
    let error = "git status took longer than 10 seconds and was ended";
    ensure!(answer.status == 500 && answer.body["error"] == error, "{answer:?}");
    says(&answer.body, "PROCESS_FAILED", &json!({"category": "git_command_failed", "exitCode": 1}))?;
    assert_eq!(shown(&answer.body, "stderrExcerpt"), "looking");
    let own = local.loopgate.pid();
    let mut others = loopgate_testkit::home_processes::processes(local.home.path());
    others.retain(|process| Some(process.pid) != own);
    ensure!(others.is_empty(), "its children are ended as well: {others:?}");
    Ok(())
}
