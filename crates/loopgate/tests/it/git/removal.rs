//! Removal of worktrees, and what is refused even with `force`.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use reqwest::Method;
use serde_json::json;

use crate::test_gateway::{Answer, TestGateway, write};

async fn remove(local: &TestGateway, path: &Path, force: bool) -> Result<Answer> {
    local.delete("git/worktree", json!({"worktreePath": path, "force": force})).await
}

fn expect_success(answer: Answer, message: &str) -> Result<()> {
    answer.is(200, &json!({"success": true, "message": message}))
}

fn not_a_worktree(answer: Answer) -> Result<()> {
    answer.refused(400, "Path is not a git worktree", "invalid_request")
}

fn worktree(local: &TestGateway, repo: &Path, name: &str) -> Result<PathBuf> {
    let path = local.at(name);
    git(repo, &["worktree", "add", "--quiet", "-b", name, &path.to_string_lossy()])?;
    Ok(path)
}

fn worktree_count(repo: &Path) -> Result<usize> {
    Ok(git(repo, &["worktree", "list", "--porcelain"])?.matches("worktree ").count())
}

// GF-22, GF-24
#[tokio::test]
async fn removal_keeps_branch_and_needs_force_for_changes() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let path = worktree(&local, &repo, "clean")?;
    expect_success(remove(&local, &path, false).await?, "Worktree removed successfully")?;
    ensure!(!path.exists() && git(&repo, &["rev-parse", "--verify", "refs/heads/clean"]).is_ok());
    expect_success(remove(&local, &path, false).await?, "Worktree does not exist")?;

    let path = worktree(&local, &repo, "dirty")?;
    write(&path.join("untracked"), "x\n")?;
    let conflict = json!({"error": "Worktree has uncommitted changes", "code": "conflict", "hasChanges": true,
        "message": "Use force=true to remove anyway"});
    remove(&local, &path, false).await?.is(409, &conflict)?;
    // Only the boolean `true` counts as force, not the string.
    let answer = local.delete("git/worktree", json!({"worktreePath": path, "force": "true"})).await?;
    answer.is(409, &conflict)?;
    expect_success(remove(&local, &path, true).await?, "Worktree removed successfully")?;
    ensure!(!path.exists() && worktree_count(&repo)? == 1);
    Ok(())
}

#[tokio::test]
async fn force_removes_locked_and_orphaned_worktrees() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    local.manage(&[&repo], Some(&local.at("wt")))?;
    let locked = worktree(&local, &repo, "locked")?;
    git(&repo, &["worktree", "lock", &locked.to_string_lossy()])?;
    let answer = remove(&local, &locked, false).await?;
    let conflict =
        answer.body["error"].as_str().is_some_and(|e| e.starts_with("Failed to remove worktree: fatal: "));
    ensure!(answer.status == 500 && conflict, "{answer:?}");
    expect_success(remove(&local, &locked, true).await?, "Worktree forcefully removed")?;
    ensure!(!locked.exists() && worktree_count(&repo)? == 1, "the worktree is still registered");

    // The repository of this worktree was deleted, so git cannot remove it.
    let lost = local.repository("lost", &[("a", "1\n")])?;
    let orphan = worktree(&local, &lost, "orphan")?;
    std::fs::remove_dir_all(&lost)?;
    let outside = local.at("kept");
    write(&outside, "outside\n")?;
    std::os::unix::fs::symlink(&outside, orphan.join("link"))?;
    expect_success(remove(&local, &orphan, true).await?, "Worktree forcefully removed")?;
    ensure!(!orphan.exists() && outside.exists(), "a symlink was followed");

    // Leftover directories without `.git`, at paths where worktrees are created.
    for leftover in [local.at("wt/any"), local.at("r-AB-1")] {
        write(&leftover.join("logs/a"), "x\n")?;
        ensure!(remove(&local, &leftover, false).await?.status == 500);
        expect_success(remove(&local, &leftover, true).await?, "Worktree forcefully removed")?;
        ensure!(!leftover.exists());
    }
    Ok(())
}

// GF-23
#[tokio::test]
async fn force_removes_only_worktrees() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let other = local.repository("other", &[("a", "1\n")])?;
    let managed = worktree(&local, &other, "managed")?;
    local.manage(&[&repo, &managed], Some(&local.at("")))?;
    git(&local.at(""), &["clone", "--quiet", "--bare", "r", "bare.git"])?;
    let holder = local.at("holder");
    std::fs::create_dir(&holder)?;
    git(&holder, &["clone", "--quiet", "../r", "deep/inside"])?;
    write(&local.at("deep/er/plain/a"), "x\n")?;
    write(&local.at("file"), "x\n")?;
    write(&local.at("bent/.git"), format!("gitdir: {}\n", repo.join(".git").display()))?;
    write(&repo.join("sub/a"), "x\n")?;

    let answer = remove(&local, &repo, false).await?;
    ensure!(answer.status == 500, "git did not refuse: {answer:?}");
    for precious in [
        repo.clone(),
        other.clone(),
        managed.clone(),
        local.at(""),
        local.at(".loopgate"),
        local.at("bare.git"),
        holder,
        local.at("deep/er"),
        local.at("file"),
        local.at("bent"),
        repo.join("sub"),
        repo.join(".git"),
    ] {
        not_a_worktree(remove(&local, &precious, true).await?)?;
        ensure!(precious.exists(), "{}", precious.display());
    }
    not_a_worktree(remove(&local, &managed, false).await?)?;
    std::os::unix::fs::symlink(&repo, local.at("link"))?;
    not_a_worktree(remove(&local, &local.at("link"), true).await?)?;
    ensure!(repo.join("a").exists());
    Ok(())
}

#[tokio::test]
async fn worktree_path_is_required_and_checked() -> Result<()> {
    let local = TestGateway::new().await?;
    let send = |body: &'static str| local.send(Method::DELETE, "git/worktree", body);
    send("{").await?.refused(400, "Invalid JSON body", "invalid_json_body")?;
    for body in ["", "[]", "{}", r#"{"worktreePath":""}"#, r#"{"worktreePath":7}"#] {
        let text = "worktreePath is required and must be a string";
        send(body).await?.refused(400, text, "missing_field")?;
    }
    for outside in ["/etc", "/nowhere", "relative"] {
        let answer = remove(&local, outside.as_ref(), true).await?;
        answer.refused(403, "directory not allowed", "directory_not_allowed")?;
    }
    Ok(())
}
