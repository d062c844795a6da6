//! Actions of repositories: switch, commit, push, pull.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::json;

use super::{act, status};
use crate::test_gateway::{TestGateway, write};

// GF-03
#[tokio::test]
async fn branch_is_created_and_checked_out() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n"), ("feature", "a file of that name\n")])?;
    let expected = json!({"success": true, "branchName": "feature/AB-1-2",
        "message": "Switched to branch 'feature/AB-1-2'"});
    for _ in 0..2 {
        act(&local, &repo, "branch", json!({"branchName": "feature/AB 1.2"})).await?.is(200, &expected)?;
        assert_eq!(git(&repo, &["symbolic-ref", "HEAD"])?.trim(), "refs/heads/feature/AB-1-2");
        act(&local, &repo, "branch", json!({"branchName": "main"})).await?.ok()?;
    }
    // `a` is also a file and a tag; both must not be taken for the branch.
    git(&repo, &["branch", "a"])?;
    git(&repo, &["tag", "a"])?;
    act(&local, &repo, "branch", json!({"branchName": "a"})).await?.ok()?;
    assert_eq!(status(&local, &repo).await?["currentBranch"], "a");

    for refused in ["-x", "--orphan", "/x", "x/", "a//b", "..", " lead"] {
        let answer = act(&local, &repo, "branch", json!({"branchName": refused})).await?;
        answer.refused(400, "Invalid branch name", "invalid_request")?;
    }
    assert_eq!(status(&local, &repo).await?["currentBranch"], "a");
    Ok(())
}

#[tokio::test]
async fn switch_is_refused_when_it_would_overwrite_changes() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    git(&repo, &["checkout", "--quiet", "-b", "other"])?;
    write(&repo.join("a"), "other\n")?;
    git(&repo, &["commit", "--quiet", "-am", "Other"])?;
    write(&repo.join("a"), "unsaved\n")?;
    let answer = act(&local, &repo, "branch", json!({"branchName": "main"})).await?;
    ensure!(answer.status == 500 && answer.body["details"]["action"] == "branch", "{answer:?}");
    ensure!(answer.body["error"].as_str().is_some_and(|e| e.contains("would be overwritten")), "{answer:?}");
    assert_eq!(std::fs::read_to_string(repo.join("a"))?, "unsaved\n");
    Ok(())
}

#[tokio::test]
async fn commit_includes_all_changes_below_directory() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("top", "1\n"), ("sub/low", "1\n"), ("sub/gone", "1\n")])?;
    write(&repo.join("top"), "2\n")?;
    write(&repo.join("sub/low"), "2\n")?;
    write(&repo.join("sub/new \"file\""), "2\n")?;
    std::fs::remove_file(repo.join("sub/gone"))?;
    let message = "-m is no option\n\nNor is $(this) `a command`";
    let answer = act(&local, &repo.join("sub"), "commit", json!({"message": message})).await?.ok()?;
    let short = git(&repo, &["rev-parse", "--short", "HEAD"])?;
    assert_eq!(answer, json!({"success": true, "commit": short.trim(), "message": "Committed changes"}));
    assert_eq!(git(&repo, &["log", "-1", "--format=%B"])?.trim(), message);
    assert_eq!(
        status(&local, &repo).await?["files"]["modified"],
        json!(["top"]),
        "changes outside of the directory were committed"
    );
    Ok(())
}

#[tokio::test]
async fn push_reaches_origin_and_sets_the_upstream() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    // Names that need escaping in a refspec, each with a tag that makes a short ref ambiguous.
    for branch in ["größe#1+x", "side"] {
        git(&clone, &["checkout", "--quiet", "-b", branch])?;
        git(&clone, &["tag", branch])?;
        git(&clone, &["commit", "--quiet", "--allow-empty", "-m", branch])?;
        let message = format!("Pushed branch '{branch}' to remote");
        let expected = json!({"success": true, "pushed": true, "message": message});
        act(&local, &clone, "push", json!({})).await?.is(200, &expected)?;
        let head = git(&clone, &["rev-parse", "HEAD"])?;
        assert_eq!(local.remotes.branches("acme/widget")?.get(branch).map(String::as_str), Some(head.trim()));
        let upstream = git(&clone, &["rev-parse", "--symbolic-full-name", "@{upstream}"])?;
        assert_eq!(upstream.trim(), format!("refs/remotes/origin/{branch}"));
    }
    Ok(())
}

#[tokio::test]
async fn push_is_rejected_when_behind() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    local.remotes.commit("acme/widget", "main", "Elsewhere", &[("b", "1\n")])?;
    git(&clone, &["commit", "--quiet", "--allow-empty", "-m", "Here"])?;
    let answer = act(&local, &clone, "push", json!({})).await?;
    let details = &answer.body["details"];
    ensure!(answer.status == 500 && details["category"] == "git_command_failed", "{answer:?}");
    ensure!(answer.body["error"].as_str().is_some_and(|e| e.contains("[rejected]")), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn pull_updates_or_leaves_conflict() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    local.remotes.commit("acme/widget", "main", "Two", &[("a", "2\n")])?;
    let expected = json!({"success": true, "message": "Pulled latest changes for 'main'"});
    act(&local, &clone, "pull", json!({})).await?.is(200, &expected)?;
    assert_eq!(std::fs::read_to_string(clone.join("a"))?, "2\n");

    local.remotes.commit("acme/widget", "main", "Three", &[("a", "3\n")])?;
    write(&clone.join("a"), "ours\n")?;
    git(&clone, &["commit", "--quiet", "-am", "Ours"])?;
    git(&clone, &["config", "pull.rebase", "false"])?;
    let answer = act(&local, &clone, "pull", json!({})).await?;
    ensure!(answer.status == 500 && answer.body["details"]["exitCode"] == 1, "{answer:?}");
    assert_eq!(answer.body["details"]["action"], "pull");
    assert_eq!(status(&local, &clone).await?["files"]["modified"], json!(["a"]));
    ensure!(std::fs::read_to_string(clone.join("a"))?.contains("<<<<<<<"), "no conflict markers");
    Ok(())
}
