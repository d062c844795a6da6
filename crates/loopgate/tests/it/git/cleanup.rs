//! Clean-up of the worktrees of closed pull requests.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_gateway::{Answer, TestGateway, write};

struct CleanupFixture {
    local: TestGateway,
    clone: PathBuf,
}

impl CleanupFixture {
    async fn new() -> Result<Self> {
        let local = TestGateway::new().await?;
        let clone = local.clone_of("acme/w", &[("a", "1\n")])?;
        local.manage(&[&clone], Some(&local.at("wt")))?;
        Ok(Self { local, clone })
    }

    /// Adds a worktree below the parent directory, on a branch that exists at origin.
    fn worktree(&self, name: &str, branch: &str) -> Result<PathBuf> {
        let path = self.local.at("wt").join(name);
        git(&self.clone, &["worktree", "add", "--quiet", "-b", branch, &path.to_string_lossy()])?;
        self.local.remotes.commit("acme/w", branch, "Work", &[(branch, "x\n")])?;
        Ok(path)
    }

    fn delete_at_origin(&self, branch: &str) -> Result<()> {
        git(&self.local.remotes.bare("acme/w"), &["branch", "-D", "--quiet", branch]).map(drop)
    }

    async fn clean_up(&self) -> Result<Answer> {
        self.local.send(Method::POST, "git/worktree", "{ not even JSON").await
    }
}

fn empty_result() -> Value {
    json!({"removed": [], "kept": [], "errors": []})
}

// GF-25
#[tokio::test]
async fn only_worktrees_of_closed_pull_requests_are_removed() -> Result<()> {
    let fixture = CleanupFixture::new().await?;
    let closed = fixture.worktree("w-pr-1", "one")?;
    let open = fixture.worktree("w-pr-2", "two")?;
    let other = fixture.worktree("w-x", "three")?;
    let detached = fixture.worktree("w-pr-4", "four")?;
    git(&detached, &["checkout", "--quiet", "--detach"])?;
    // The branch `x/five` at origin ends with `five` but is a different branch.
    let closed_suffix = fixture.worktree("w-pr-5", "five")?;
    fixture.local.remotes.commit("acme/w", "x/five", "Work", &[("x", "x\n")])?;
    let dirty = fixture.worktree("w-pr-6", "six")?;
    write(&dirty.join("untracked"), "x\n")?;
    for branch in ["one", "three", "four", "five", "six"] {
        fixture.delete_at_origin(branch)?;
    }
    let clone = fixture.local.at("wt/clone-pr-7");
    git(&fixture.local.at("wt"), &["clone", "--quiet", &fixture.clone.to_string_lossy(), "clone-pr-7"])?;
    std::fs::create_dir(fixture.local.at("wt/plain-pr-8"))?;

    let answer = fixture.clean_up().await?.ok()?;
    assert_eq!(answer["removed"], json!([closed, closed_suffix]));
    let retained = [clone, fixture.local.at("wt/plain-pr-8"), open, detached, dirty.clone()];
    assert_eq!(answer["kept"], json!(retained));
    let errors = answer["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let reason = errors.first().and_then(Value::as_str).unwrap_or_default();
    ensure!(errors.len() == 1 && reason.starts_with(&format!("{}: ", dirty.display())), "{answer}");
    ensure!(reason.contains("contains modified or untracked files"), "{reason}");
    ensure!(!closed.exists() && !closed_suffix.exists() && other.exists());
    ensure!(retained.iter().all(|path| path.exists()));
    Ok(())
}

#[tokio::test]
async fn unreachable_remote_removes_no_worktree() -> Result<()> {
    let fixture = CleanupFixture::new().await?;
    let closed = fixture.worktree("w-pr-1", "one")?;
    fixture.delete_at_origin("one")?;
    // Without an answer of the remote, a missing branch cannot be distinguished from an unreachable one.
    std::fs::remove_dir_all(fixture.local.remotes.bare("acme/w"))?;
    let answer = fixture.clean_up().await?.ok()?;
    assert_eq!((&answer["removed"], &answer["kept"]), (&json!([]), &json!([closed])));
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(1), "{answer}");
    Ok(())
}

#[tokio::test]
async fn more_than_ten_worktrees_are_checked() -> Result<()> {
    let fixture = CleanupFixture::new().await?;
    for number in 10..21 {
        std::fs::create_dir_all(fixture.local.at(&format!("wt/keep-pr-{number}")))?;
    }
    let closed = fixture.worktree("w-pr-1", "one")?;
    fixture.delete_at_origin("one")?;
    assert_eq!(fixture.clean_up().await?.ok()?["removed"], json!([closed]));
    Ok(())
}

#[tokio::test]
async fn missing_parent_directory_is_refused() -> Result<()> {
    let fixture = CleanupFixture::new().await?;
    let (local, clone) = (&fixture.local, [fixture.clone.as_path()]);
    fixture.clean_up().await?.is(200, &empty_result())?;
    local.manage(&clone, Some(Path::new("/etc")))?;
    fixture.clean_up().await?.is(200, &empty_result())?;
    local.manage(&clone, None)?;
    let text = "Worktree cleanup failed: Worktree parent directory not configured";
    fixture.clean_up().await?.refused(500, text, "operation_failed")?;
    let local =
        TestGateway::with(|setup| setup.without_sandbox().env("ORCHESTRATOR_WORKTREE_PARENT_DIR", "/tmp"));
    let answer = local.await?.send(Method::POST, "git/worktree", "").await?;
    answer.refused(503, "Server not configured — complete onboarding", "not_configured")
}

#[tokio::test]
async fn environment_overrides_configured_parent() -> Result<()> {
    let home = loopgate_testkit::home::UserHome::temporary()?;
    let parent = home.path().join("src/env");
    let local =
        TestGateway::in_home(home, |setup| setup.env("ORCHESTRATOR_WORKTREE_PARENT_DIR", parent)).await?;
    for name in ["env/w-pr-1", "wt/w-pr-2"] {
        std::fs::create_dir_all(local.at(name))?;
    }
    local.manage(&[], Some(&local.at("wt")))?;
    let answer = local.send(Method::POST, "git/worktree", "").await?;
    answer.is(200, &json!({"removed": [], "kept": [local.at("env/w-pr-1")], "errors": []}))
}
