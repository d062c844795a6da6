//! Unusual states of repositories: unborn branch, detached HEAD, merge and rebase in progress, bare, shallow,
//! submodules.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::{act, status};
use crate::test_gateway::{TestGateway, write};

/// Runs a git command that must fail with a conflict.
fn expect_conflict(repo: &std::path::Path, args: &[&str]) {
    assert!(git(repo, args).is_err(), "{args:?} has no conflict");
}

fn expect_failure(answer: &Value, code: i64, text: &str) -> Result<()> {
    let details = &answer["details"];
    ensure!(answer["code"] == "PROCESS_FAILED" && details["category"] == "git_command_failed", "{answer}");
    ensure!(details["exitCode"] == code, "{answer}");
    ensure!(answer["error"].as_str().is_some_and(|error| error.contains(text)), "{answer}");
    Ok(())
}

#[tokio::test]
async fn unborn_branch_supports_all_routes() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.at("fresh");
    std::fs::create_dir_all(&repo)?;
    git(&repo, &["init", "--quiet", "--initial-branch=trunk"])?;
    write(&repo.join("a"), "1\n")?;
    let answer = status(&local, &repo).await?;
    assert_eq!((&answer["currentBranch"], &answer["files"]["created"]), (&json!("trunk"), &json!(["a"])));

    for _ in 0..2 {
        let answer = act(&local, &repo, "branch", json!({"branchName": "first"})).await?.ok()?;
        assert_eq!(answer["branchName"], "first");
    }
    let answer = local.get("git/branches", &[("repo", &repo.to_string_lossy())]).await?.ok()?;
    assert_eq!(answer, json!({"defaultBranch": "first", "worktrees": [], "branches": []}));
    let diff = json!({"repoPath": repo, "filePath": "a"});
    let answer = local.post("git/diff", diff).await?.ok()?;
    assert_eq!((&answer["isNew"], &answer["newContent"]), (&json!(true), &json!("1\n")));

    let pushed = act(&local, &repo, "push", json!({})).await?;
    assert_eq!((pushed.status, &pushed.body["code"]), (500, &json!("PROCESS_FAILED")));
    act(&local, &repo, "commit", json!({"message": "One"})).await?.ok()?;
    assert_eq!(status(&local, &repo).await?["hasChanges"], false);
    Ok(())
}

#[tokio::test]
async fn unborn_branch_is_behind_trunk() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    git(&clone, &["checkout", "--quiet", "--orphan", "new"])?;
    let answer = act(&local, &clone, "sync-status", json!({})).await?.ok()?;
    let expected = json!({"isUpToDate": false, "behindBy": 1, "aheadBy": 0, "currentBranch": "new",
        "trackingBranch": "origin/main"});
    assert_eq!(answer, expected);
    Ok(())
}

#[tokio::test]
async fn detached_head_is_reported() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("a", "1\n")])?;
    git(&clone, &["checkout", "--quiet", "--detach"])?;
    assert_eq!(status(&local, &clone).await?["currentBranch"], "HEAD");
    for action in ["push", "pull"] {
        let answer = act(&local, &clone, action, json!({})).await?;
        assert_eq!(answer.status, 500);
        expect_failure(&answer.body, 1, "not on a branch")?;
    }
    assert_eq!(act(&local, &clone, "branch-diff", json!({})).await?.ok()?["currentBranch"], "HEAD");
    assert_eq!(act(&local, &clone, "sync-status", json!({})).await?.ok()?["currentBranch"], "HEAD");
    write(&clone.join("a"), "2\n")?;
    act(&local, &clone, "commit", json!({"message": "Loose"})).await?.ok()?;
    assert_eq!(act(&local, &clone, "sync-status", json!({})).await?.ok()?["aheadBy"], 1);
    Ok(())
}

#[tokio::test]
async fn merge_and_rebase_in_progress_are_reported() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "base\n")])?;
    git(&repo, &["checkout", "--quiet", "-b", "theirs"])?;
    write(&repo.join("a"), "theirs\n")?;
    git(&repo, &["commit", "--quiet", "-am", "Theirs"])?;
    git(&repo, &["checkout", "--quiet", "main"])?;
    write(&repo.join("a"), "ours\n")?;
    git(&repo, &["commit", "--quiet", "-am", "Ours"])?;

    expect_conflict(&repo, &["merge", "theirs"]);
    let answer = status(&local, &repo).await?;
    assert_eq!((&answer["currentBranch"], &answer["files"]["modified"]), (&json!("main"), &json!(["a"])));
    let diff = json!({"repoPath": repo, "filePath": "a"});
    let answer = local.post("git/diff", diff.clone()).await?.ok()?;
    assert_eq!(answer["oldContent"], "ours\n");
    ensure!(answer["newContent"].as_str().is_some_and(|new| new.contains("<<<<<<<")), "{answer}");
    let answer = act(&local, &repo, "branch", json!({"branchName": "theirs"})).await?;
    assert_eq!(answer.status, 500);
    expect_failure(&answer.body, 1, "resolve")?;
    write(&repo.join("a"), "both\n")?;
    act(&local, &repo, "commit", json!({"message": "Merged"})).await?.ok()?;
    assert_eq!(git(&repo, &["rev-list", "--count", "--merges", "HEAD"])?.trim(), "1");

    git(&repo, &["reset", "--quiet", "--hard", "HEAD^"])?;
    expect_conflict(&repo, &["rebase", "theirs"]);
    let answer = status(&local, &repo).await?;
    assert_eq!((&answer["currentBranch"], &answer["files"]["modified"]), (&json!("HEAD"), &json!(["a"])));
    let answer = act(&local, &repo, "pull", json!({})).await?;
    expect_failure(&answer.body, 1, "not on a branch")
}

// GF-11
#[tokio::test]
async fn bare_repository_and_plain_directory_are_reported() -> Result<()> {
    let local = TestGateway::new().await?;
    local.repository("r", &[("a", "1\n")])?;
    git(&local.at(""), &["clone", "--quiet", "--bare", "r", "bare.git"])?;
    let (bare, plain) = (local.at("bare.git"), local.at("plain"));
    std::fs::create_dir(&plain)?;
    expect_failure(&act(&local, &bare, "status", json!({})).await?.body, 128, "work tree")?;
    expect_failure(&act(&local, &plain, "status", json!({})).await?.body, 128, "not a git repository")?;

    let answer = local.get("git/branches", &[("repo", &bare.to_string_lossy())]).await?.ok()?;
    assert_eq!(answer["branches"][0]["name"], "main");
    let answer = local.get("git/branches", &[("repo", &plain.to_string_lossy())]).await?;
    answer.is(200, &json!({"defaultBranch": "main", "worktrees": [], "branches": []}))?;

    for repo in [&bare, &plain] {
        let answer = local.post("git/diff", json!({"repoPath": repo, "filePath": "a"})).await?;
        let is_diff_error =
            answer.body["error"].as_str().is_some_and(|e| e.starts_with("Failed to get diff: fatal: "));
        ensure!(answer.status == 500 && is_diff_error, "{answer:?}");
    }
    let committed = local.post("git/diff", json!({"repoPath": bare, "filePath": "a", "baseBranch": "main"}));
    let committed = committed.await?.ok()?;
    assert_eq!((&committed["isNew"], &committed["newContent"]), (&json!(true), &json!("1\n")));
    Ok(())
}

#[tokio::test]
async fn submodule_is_a_single_entry() -> Result<()> {
    let local = TestGateway::new().await?;
    let (part, repo) = (local.repository("part", &[("p", "1\n")])?, local.repository("r", &[("a", "1\n")])?);
    let source = part.to_string_lossy();
    git(&repo, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &source, "sub"])?;
    git(&repo, &["commit", "--quiet", "-m", "Part"])?;
    let sub = repo.join("sub");
    let before = git(&sub, &["rev-parse", "HEAD"])?;
    write(&sub.join("p"), "2\n")?;
    assert_eq!(status(&local, &repo).await?["files"]["modified"], json!(["sub"]));
    assert_eq!(status(&local, &sub).await?["files"]["modified"], json!(["p"]));
    act(&local, &sub, "commit", json!({"message": "Two"})).await?.ok()?;
    let after = git(&sub, &["rev-parse", "HEAD"])?;

    let answer = local.post("git/diff", json!({"repoPath": repo, "filePath": "sub"})).await?.ok()?;
    let line = |commit: &str| json!(format!("Subproject commit {commit}"));
    assert_eq!((&answer["oldContent"], &answer["newContent"]), (&line(&before), &line(&after)));
    // A submodule has a `.git` file like a worktree, but must not be removed as one.
    let refused = local.delete("git/worktree", json!({"worktreePath": sub, "force": true})).await?;
    refused.refused(400, "Path is not a git worktree", "invalid_request")?;
    ensure!(sub.join("p").exists());
    Ok(())
}

#[tokio::test]
async fn worktree_added_from_worktree_belongs_to_clone() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let (one, two) = (local.at("r-AB-1"), local.at("r-AB-2"));
    git(&repo, &["worktree", "add", "--quiet", "-b", "one", &one.to_string_lossy()])?;
    git(&one, &["worktree", "add", "--quiet", "-b", "two", &two.to_string_lossy()])?;
    write(&two.join("a"), "2\n")?;
    let answer = status(&local, &two).await?;
    assert_eq!((&answer["currentBranch"], &answer["files"]["modified"]), (&json!("two"), &json!(["a"])));
    let answer = local.get("git/branches", &[("repo", &one.to_string_lossy())]).await?.ok()?;
    let expected = json!([{"path": repo, "branch": "main", "ticketId": null},
        {"path": two, "branch": "two", "ticketId": "AB-2"}]);
    assert_eq!(answer["worktrees"], expected);
    act(&local, &two, "commit", json!({"message": "Two"})).await?.ok()?;
    local.delete("git/worktree", json!({"worktreePath": one})).await?.ok()?;
    ensure!(!one.exists() && two.exists());
    assert_eq!(status(&local, &two).await?["hasChanges"], false);
    Ok(())
}

#[tokio::test]
async fn shallow_clone_has_no_merge_base() -> Result<()> {
    let local = TestGateway::new().await?;
    local.clone_of("acme/widget", &[("a", "1\n")])?;
    local.remotes.commit("acme/widget", "main", "Two", &[("a", "2\n")])?;
    local.remotes.commit("acme/widget", "side", "Side", &[("b", "1\n")])?;
    local.remotes.commit("acme/widget", "main", "Three", &[("a", "3\n")])?;
    let shallow = local.at("shallow");
    // `--depth` is ignored for local paths; `file://` uses the transport.
    let url = format!("file://{}", local.remotes.bare("acme/widget").display());
    let target = shallow.to_string_lossy().into_owned();
    git(&local.at(""), &["clone", "--quiet", "--depth=1", "--no-single-branch", &url, &target])?;
    local.trust(&shallow).await?;
    assert_eq!(status(&local, &shallow).await?["currentBranch"], "main");
    let answer = act(&local, &shallow, "branch-diff", json!({"baseBranch": "side"})).await?;
    expect_failure(&answer.body, 128, "no merge base")?;
    let answer = act(&local, &shallow, "sync-status", json!({})).await?.ok()?;
    assert_eq!(answer["isUpToDate"], true);
    Ok(())
}
