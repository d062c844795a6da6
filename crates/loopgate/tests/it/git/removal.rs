//! Removing a worktree, and what no force removes.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use reqwest::Method;
use serde_json::json;

use crate::local::{Answer, Local, write};

async fn remove(local: &Local, path: &Path, force: bool) -> Result<Answer> {
    local.delete("git/worktree", json!({"worktreePath": path, "force": force})).await
}

fn gone(answer: Answer, message: &str) -> Result<()> {
    answer.is(200, &json!({"success": true, "message": message}))
}

fn not_a_worktree(answer: Answer) -> Result<()> {
    answer.refused(400, "Path is not a git worktree", "invalid_request")
}

fn worktree(local: &Local, repo: &Path, name: &str) -> Result<PathBuf> {
    let place = local.at(name);
    git(repo, &["worktree", "add", "--quiet", "-b", name, &place.to_string_lossy()])?;
    Ok(place)
}

fn listed(repo: &Path) -> Result<usize> {
    Ok(git(repo, &["worktree", "list", "--porcelain"])?.matches("worktree ").count())
}

// GF-22, GF-24
#[tokio::test]
async fn worktree_goes_and_its_branch_stays() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let place = worktree(&local, &repo, "clean")?;
    gone(remove(&local, &place, false).await?, "Worktree removed successfully")?;
    ensure!(!place.exists() && git(&repo, &["rev-parse", "--verify", "refs/heads/clean"]).is_ok());
    gone(remove(&local, &place, false).await?, "Worktree does not exist")?;

    let place = worktree(&local, &repo, "dirty")?;
    write(&place.join("untracked"), "x\n")?;
    let told = json!({"error": "Worktree has uncommitted changes", "code": "conflict", "hasChanges": true,
        "message": "Use force=true to remove anyway"});
    remove(&local, &place, false).await?.is(409, &told)?;
    let answer = local.delete("git/worktree", json!({"worktreePath": place, "force": "true"})).await?;
    answer.is(409, &told)?;
    gone(remove(&local, &place, true).await?, "Worktree removed successfully")?;
    ensure!(!place.exists() && listed(&repo)? == 1);
    Ok(())
}

#[tokio::test]
async fn force_removes_what_git_cannot() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    local.manage(&[&repo], Some(&local.at("wt")))?;
    let locked = worktree(&local, &repo, "locked")?;
    git(&repo, &["worktree", "lock", &locked.to_string_lossy()])?;
    let answer = remove(&local, &locked, false).await?;
    let told =
        answer.body["error"].as_str().is_some_and(|e| e.starts_with("Failed to remove worktree: fatal: "));
    ensure!(answer.status == 500 && told, "{answer:?}");
    gone(remove(&local, &locked, true).await?, "Worktree forcefully removed")?;
    ensure!(!locked.exists() && listed(&repo)? == 1, "it is forgotten as well");

    // Its repository is gone.
    let lost = local.repository("lost", &[("a", "1\n")])?;
    let orphan = worktree(&local, &lost, "orphan")?;
    std::fs::remove_dir_all(&lost)?;
    let kept = local.at("kept");
    write(&kept, "outside of it\n")?;
    std::os::unix::fs::symlink(&kept, orphan.join("link"))?;
    gone(remove(&local, &orphan, true).await?, "Worktree forcefully removed")?;
    ensure!(!orphan.exists() && kept.exists(), "a link is not followed");

    // What is left of a worktree, where worktrees are made.
    for leftover in [local.at("wt/any"), local.at("r-AB-1")] {
        write(&leftover.join("logs/a"), "x\n")?;
        ensure!(remove(&local, &leftover, false).await?.status == 500);
        gone(remove(&local, &leftover, true).await?, "Worktree forcefully removed")?;
        ensure!(!leftover.exists());
    }
    Ok(())
}

// GF-23
#[tokio::test]
async fn no_force_removes_anything_else() -> Result<()> {
    let local = Local::new().await?;
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
    ensure!(answer.status == 500, "git itself refuses: {answer:?}");
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
    let local = Local::new().await?;
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
