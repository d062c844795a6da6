//! Removing the worktrees of pull requests that are over.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use reqwest::Method;
use serde_json::{Value, json};

use crate::local::{Answer, Local, write};

struct CleanupFixture {
    local: Local,
    clone: PathBuf,
}

impl CleanupFixture {
    async fn new() -> Result<Self> {
        let local = Local::new().await?;
        let clone = local.clone_of("acme/w", &[("a", "1\n")])?;
        local.manage(&[&clone], Some(&local.at("wt")))?;
        Ok(Self { local, clone })
    }

    /// A worktree below the parent, on a branch that origin has.
    fn worktree(&self, name: &str, branch: &str) -> Result<PathBuf> {
        let fixture = self.local.at("wt").join(name);
        git(&self.clone, &["worktree", "add", "--quiet", "-b", branch, &fixture.to_string_lossy()])?;
        self.local.remotes.commit("acme/w", branch, "Work", &[(branch, "x\n")])?;
        Ok(fixture)
    }

    fn gone_at_origin(&self, branch: &str) -> Result<()> {
        git(&self.local.remotes.bare("acme/w"), &["branch", "-D", "--quiet", branch]).map(drop)
    }

    async fn clean_up(&self) -> Result<Answer> {
        self.local.send(Method::POST, "git/worktree", "{ not even JSON").await
    }
}

fn nothing() -> Value {
    json!({"removed": [], "kept": [], "errors": []})
}

// GF-25
#[tokio::test]
async fn only_worktrees_of_closed_pull_requests_are_removed() -> Result<()> {
    let fixture = CleanupFixture::new().await?;
    let over = fixture.worktree("w-pr-1", "one")?;
    let open = fixture.worktree("w-pr-2", "two")?;
    let other = fixture.worktree("w-x", "three")?;
    let detached = fixture.worktree("w-pr-4", "four")?;
    git(&detached, &["checkout", "--quiet", "--detach"])?;
    // Another branch's name ends like this one's.
    let tail = fixture.worktree("w-pr-5", "five")?;
    fixture.local.remotes.commit("acme/w", "x/five", "Work", &[("x", "x\n")])?;
    let worked_in = fixture.worktree("w-pr-6", "six")?;
    write(&worked_in.join("untracked"), "x\n")?;
    for branch in ["one", "three", "four", "five", "six"] {
        fixture.gone_at_origin(branch)?;
    }
    let clone = fixture.local.at("wt/clone-pr-7");
    git(&fixture.local.at("wt"), &["clone", "--quiet", &fixture.clone.to_string_lossy(), "clone-pr-7"])?;
    std::fs::create_dir(fixture.local.at("wt/plain-pr-8"))?;

    let answer = fixture.clean_up().await?.ok()?;
    assert_eq!(answer["removed"], json!([over, tail]));
    let kept = [clone, fixture.local.at("wt/plain-pr-8"), open, detached, worked_in.clone()];
    assert_eq!(answer["kept"], json!(kept));
    let errors = answer["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let reason = errors.first().and_then(Value::as_str).unwrap_or_default();
    ensure!(errors.len() == 1 && reason.starts_with(&format!("{}: ", worked_in.display())), "{answer}");
    ensure!(reason.contains("contains modified or untracked files"), "{reason}");
    ensure!(!over.exists() && !tail.exists() && other.exists());
    ensure!(kept.iter().all(|kept| kept.exists()));
    Ok(())
}

#[tokio::test]
async fn remote_that_does_not_answer_keeps_everything() -> Result<()> {
    let fixture = CleanupFixture::new().await?;
    let over = fixture.worktree("w-pr-1", "one")?;
    fixture.gone_at_origin("one")?;
    std::fs::remove_dir_all(fixture.local.remotes.bare("acme/w"))?;
    let answer = fixture.clean_up().await?.ok()?;
    assert_eq!((&answer["removed"], &answer["kept"]), (&json!([]), &json!([over])));
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(1), "{answer}");
    Ok(())
}

#[tokio::test]
async fn more_than_ten_are_looked_at() -> Result<()> {
    let fixture = CleanupFixture::new().await?;
    for number in 10..21 {
        std::fs::create_dir_all(fixture.local.at(&format!("wt/keep-pr-{number}")))?;
    }
    let over = fixture.worktree("w-pr-1", "one")?;
    fixture.gone_at_origin("one")?;
    assert_eq!(fixture.clean_up().await?.ok()?["removed"], json!([over]));
    Ok(())
}

#[tokio::test]
async fn missing_directory_is_refused() -> Result<()> {
    let fixture = CleanupFixture::new().await?;
    let (local, clone) = (&fixture.local, [fixture.clone.as_path()]);
    fixture.clean_up().await?.is(200, &nothing())?;
    local.manage(&clone, Some(Path::new("/etc")))?;
    fixture.clean_up().await?.is(200, &nothing())?;
    local.manage(&clone, None)?;
    let text = "Worktree cleanup failed: Worktree parent directory not configured";
    fixture.clean_up().await?.refused(500, text, "operation_failed")?;
    let local = Local::with(|setup| setup.without_sandbox().env("ORCHESTRATOR_WORKTREE_PARENT_DIR", "/tmp"));
    let answer = local.await?.send(Method::POST, "git/worktree", "").await?;
    answer.refused(503, "Server not configured — complete onboarding", "not_configured")
}

#[tokio::test]
async fn environment_names_the_place_first() -> Result<()> {
    let home = loopgate_testkit::home::UserHome::temporary()?;
    let parent = home.path().join("src/env");
    let local = Local::in_home(home, |setup| setup.env("ORCHESTRATOR_WORKTREE_PARENT_DIR", parent)).await?;
    for name in ["env/w-pr-1", "wt/w-pr-2"] {
        std::fs::create_dir_all(local.at(name))?;
    }
    local.manage(&[], Some(&local.at("wt")))?;
    let answer = local.send(Method::POST, "git/worktree", "").await?;
    answer.is(200, &json!({"removed": [], "kept": [local.at("env/w-pr-1")], "errors": []}))
}
