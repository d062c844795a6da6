//! How far a branch is from others, and what it changed.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::json;

use super::act;
use crate::local::{Local, write};

// GF-15
#[tokio::test]
async fn commits_are_counted_against_the_trunk() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    local.remotes.commit("acme/widget", "main", "Two", &[("a", "2\n")])?;
    local.remotes.commit("acme/widget", "main", "Three", &[("a", "3\n")])?;
    git(&clone, &["commit", "--quiet", "--allow-empty", "-m", "Ours"])?;
    let expected = json!({"isUpToDate": false, "behindBy": 2, "aheadBy": 1, "currentBranch": "main",
        "trackingBranch": "origin/main"});
    act(&local, &clone, "sync-status", json!({})).await?.is(200, &expected)?;
    git(&clone, &["reset", "--quiet", "--hard", "origin/main"])?;
    let expected = json!({"isUpToDate": true, "behindBy": 0, "aheadBy": 0, "currentBranch": "main",
        "trackingBranch": "origin/main"});
    act(&local, &clone, "sync-status", json!({})).await?.is(200, &expected)
}

#[tokio::test]
async fn trunk_is_called_main_or_master_and_nothing_like_it() -> Result<()> {
    let local = Local::new().await?;
    let bare = local.at("maintained.git");
    let seed = local.repository("seed", &[("a", "1\n")])?;
    git(&seed, &["branch", "-m", "maintenance"])?;
    git(&local.at(""), &["clone", "--quiet", "--bare", "seed", "maintained.git"])?;
    git(&local.at(""), &["clone", "--quiet", "maintained.git", "r"])?;
    let repo = local.at("r");
    local.trust(&repo).await?;
    let expected = json!({"isUpToDate": true, "behindBy": 0, "aheadBy": 0, "currentBranch": "maintenance",
        "trackingBranch": null});
    act(&local, &repo, "sync-status", json!({})).await?.is(200, &expected)?;
    git(&bare, &["branch", "main/below", "maintenance"])?;
    act(&local, &repo, "sync-status", json!({})).await?.is(200, &expected)?;
    git(&bare, &["branch", "master", "maintenance"])?;
    let answer = act(&local, &repo, "sync-status", json!({})).await?.ok()?;
    assert_eq!(answer["trackingBranch"], "origin/master");
    let alone = act(&local, &seed, "sync-status", json!({})).await?;
    ensure!(alone.status == 500 && alone.body["details"]["exitCode"] == 128, "no remote: {alone:?}");
    Ok(())
}

// GF-16
#[tokio::test]
async fn branch_is_held_against_the_one_it_came_from() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of(
        "acme/widget",
        &[("a b.txt", "1\n"), ("gone", "1\n"), ("old", "1\n2\n3\n4\n"), ("x", "1\n")],
    )?;
    git(&clone, &["checkout", "--quiet", "-b", "feature/x"])?;
    write(&clone.join("a b.txt"), "2\n")?;
    write(&clone.join("new \"line\nbreak"), "\0binary")?;
    git(&clone, &["rm", "--quiet", "gone"])?;
    git(&clone, &["mv", "old", "moved"])?;
    git(&clone, &["add", "--all"])?;
    git(&clone, &["commit", "--quiet", "-m", "Work"])?;
    write(&clone.join("x"), "not committed\n")?;
    let expected = json!({"baseBranch": "main", "currentBranch": "feature/x", "totalChanges": 4,
        "files": {"modified": ["a b.txt", "moved"], "created": ["new \"line\nbreak"], "deleted": ["gone"]}});
    act(&local, &clone, "branch-diff", json!({})).await?.is(200, &expected)?;
    act(&local, &clone, "branch-diff", json!({"baseBranch": ""})).await?.is(200, &expected)?;

    let answer = act(&local, &clone, "branch-diff", json!({"baseBranch": "nowhere"})).await?;
    let details = &answer.body["details"];
    ensure!(answer.status == 500 && details["exitCode"] == 128, "{answer:?}");
    ensure!(details["category"] == "git_command_failed", "{answer:?}");
    for refused in ["-x", "--output=/tmp/x", "a:b", "a b"] {
        let answer = act(&local, &clone, "branch-diff", json!({"baseBranch": refused})).await?;
        answer.refused(400, "Invalid baseBranch", "invalid_request")?;
    }
    Ok(())
}
