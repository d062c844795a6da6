//! The list of branches and worktrees.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;

fn names(answer: &Value) -> Result<Vec<&str>> {
    let branches = answer["branches"].as_array().context("a list")?;
    Ok(branches.iter().filter_map(|branch| branch["name"].as_str()).collect())
}

/// Points a branch to a new commit with this date.
fn create_dated_commit(clone: &std::path::Path, branch: &str, date: &str) -> Result<()> {
    let tree = git(clone, &["rev-parse", "HEAD^{tree}"])?;
    let signature = format!("Sam Sample <sam@example.com> {date}");
    // `git commit-tree` needs the dates in the environment; `hash-object` accepts the raw commit.
    let commit = format!("tree {}\nauthor {signature}\ncommitter {signature}\n\nDated\n", tree.trim());
    let file = clone.join(".git/commit-to-be");
    std::fs::write(&file, commit)?;
    let hash = git(clone, &["hash-object", "-t", "commit", "-w", &file.to_string_lossy()])?;
    git(clone, &["update-ref", &format!("refs/heads/{branch}"), hash.trim()]).map(drop)
}

// GF-17
#[tokio::test]
async fn switchable_branches_are_listed() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/r", &[("a", "1\n")])?;
    local.remotes.commit("acme/r", "only/there", "There", &[("b", "1\n")])?;
    git(
        &clone,
        &[
            "fetch",
            "--quiet",
            &local.remotes.bare("acme/r").to_string_lossy(),
            "+refs/heads/*:refs/remotes/origin/*",
        ],
    )?;
    ensure!(
        git(&clone, &["symbolic-ref", "refs/remotes/origin/HEAD"]).is_ok(),
        "the clone has no origin/HEAD"
    );
    git(&clone, &["update-ref", "refs/remotes/fork/main", "HEAD"])?;
    // By local time `older` is later; by UTC `newer` is.
    create_dated_commit(&clone, "older", "1900000000 +0900")?;
    create_dated_commit(&clone, "newer", "1900000100 -0900")?;
    create_dated_commit(&clone, "HEADS|up", "1000000000 +0000")?;
    for (name, branch) in [("r-AB-12", "feature/AB-12"), ("plain", "CD-3-fix"), ("none", "x")] {
        let worktree_path = local.at(name);
        git(&clone, &["worktree", "add", "--quiet", "-b", branch, &worktree_path.to_string_lossy()])?;
    }
    git(&local.at("none"), &["checkout", "--quiet", "--detach"])?;

    let answer = local.get("git/branches", &[("repo", &clone.to_string_lossy())]).await?.ok()?;
    assert_eq!(answer["defaultBranch"], "main");
    let worktrees = json!([
        {"path": local.at("none"), "branch": "", "ticketId": null},
        {"path": local.at("plain"), "branch": "CD-3-fix", "ticketId": "CD-3"},
        {"path": local.at("r-AB-12"), "branch": "feature/AB-12", "ticketId": "AB-12"},
    ]);
    let mut listed = answer["worktrees"].as_array().context("a list")?.clone();
    listed.sort_by_key(|worktree| worktree["path"].to_string());
    assert_eq!(Value::from(listed), worktrees, "the list contains the clone");
    let listed_names = names(&answer)?;
    assert_eq!(listed_names[..3], ["main", "newer", "older"]);
    assert_eq!(listed_names.last(), Some(&"HEADS|up"));
    let mut sorted = listed_names.clone();
    sorted.sort_unstable();
    let all =
        ["CD-3-fix", "HEADS|up", "feature/AB-12", "fork/main", "main", "newer", "older", "only/there", "x"];
    assert_eq!(sorted, all);
    let branches = answer["branches"].as_array().context("a list")?;
    let branch =
        |name: &str| branches.iter().find(|branch| branch["name"] == name).cloned().unwrap_or_default();
    assert_eq!(branch("only/there")["isRemote"], true);
    assert_eq!(
        (&branch("main")["isRemote"], &branch("fork/main")["isRemote"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(branch("older")["lastCommitDate"], "2030-03-18T02:46:40+09:00");

    // A symlink to the clone returns the same result.
    std::os::unix::fs::symlink(&clone, local.at("link"))?;
    let linked = local.get("git/branches", &[("repo", &local.at("link").to_string_lossy())]).await?;
    linked.is(200, &answer)
}

#[tokio::test]
async fn current_branch_is_default_without_remote() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    git(&repo, &["checkout", "--quiet", "-b", "work"])?;
    let answer = local.get("git/branches", &[("repo", &repo.to_string_lossy())]).await?.ok()?;
    assert_eq!((&answer["defaultBranch"], names(&answer)?), (&json!("work"), vec!["work", "main"]));
    Ok(())
}

// GF-18
#[tokio::test]
async fn missing_and_disallowed_directories_are_refused() -> Result<()> {
    let local = TestGateway::new().await?;
    let local = &local;
    let ask = |path: String| async move { local.get("git/branches", &[("repo", &path)]).await };
    local.get("git/branches", &[]).await?.refused(400, "repo parameter is required", "missing_field")?;
    ask(String::new()).await?.refused(400, "repo parameter is required", "missing_field")?;
    ask("/etc".to_owned()).await?.refused(403, "directory not allowed", "directory_not_allowed")?;
    let absent = local.at("absent").to_string_lossy().into_owned();
    ask(absent.clone()).await?.refused(404, &format!("Repository not found: {absent}"), "not_found")
}
