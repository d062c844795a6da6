//! Comparisons of branches: commits ahead and behind, and changed files.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::json;

use super::act;
use crate::test_gateway::{TestGateway, write};

// GF-15
#[tokio::test]
async fn commits_are_counted_against_the_trunk() -> Result<()> {
    let local = TestGateway::new().await?;
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
async fn trunk_is_exactly_main_or_master() -> Result<()> {
    let local = TestGateway::new().await?;
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
    let without_remote = act(&local, &seed, "sync-status", json!({})).await?;
    ensure!(
        without_remote.status == 500 && without_remote.body["details"]["exitCode"] == 128,
        "no remote: {without_remote:?}"
    );
    Ok(())
}

// GF-16
#[tokio::test]
async fn branch_diff_compares_with_base_branch() -> Result<()> {
    let local = TestGateway::new().await?;
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
