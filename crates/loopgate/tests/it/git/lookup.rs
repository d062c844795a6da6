//! Lookup of clones and worktrees by repository name and branch.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::find_program;
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;

const NOT_CONFIGURED: &str = "Server not configured — complete onboarding";

/// Returns the path of the clone of a repository, or `Null`.
async fn path_of(local: &TestGateway, name: &str) -> Result<Value> {
    Ok(local.get("git/repo-path", &[("repoFullName", name)]).await?.ok()?["path"].take())
}

// GF-27
#[tokio::test]
async fn clone_is_found_by_its_origin() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let expected = json!(clone);
    assert_eq!(path_of(&local, "acme/widget").await?, expected);
    assert_eq!(path_of(&local, "Acme/Widget").await?, expected, "the code host ignores case");
    assert_eq!(path_of(&local, "acme/other").await?, Value::Null);
    for (url, name) in [
        ("https://github.com/acme/one/", "acme/one"),
        ("ssh://git@github.com:22/acme/two.git", "acme/two"),
        ("git@github.com:acme/three", "acme/three"),
    ] {
        git(&clone, &["remote", "set-url", "origin", url])?;
        assert_eq!(path_of(&local, name).await?, expected);
    }
    assert_eq!(path_of(&local, "acme/widget").await?, Value::Null);
    std::fs::rename(&clone, local.at("moved"))?;
    assert_eq!(path_of(&local, "acme/three").await?, Value::Null);
    let unnamed = local.get("git/repo-path", &[]).await?;
    unnamed.refused(400, "repoFullName is required", "missing_field")
}

// GF-27
#[tokio::test]
async fn lookup_fails_without_sandbox() -> Result<()> {
    let local = TestGateway::with(|setup| setup.without_sandbox()).await?;
    let query = [("repoFullName", "acme/widget"), ("headBranch", "main")];
    for route in ["git/repo-path", "git/branch-worktree"] {
        local.get(route, &query).await?.refused(503, NOT_CONFIGURED, "not_configured")?;
    }
    let path = local.at("r");
    std::fs::create_dir_all(&path)?;
    let answer = super::act(&local, &path, "status", json!({})).await?;
    assert_eq!((answer.status, &answer.body["code"]), (403, &json!("REPO_NOT_ALLOWED")));
    Ok(())
}

// GF-26
#[tokio::test]
async fn branch_is_found_where_it_is_checked_out() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let worktree = local.at("line\nbreak");
    git(&clone, &["worktree", "add", "--quiet", "-b", "x/feature", &worktree.to_string_lossy()])?;
    let lookup = |name: &'static str, branch: &'static str| {
        let local = &local;
        let query = [("repoFullName", name), ("headBranch", branch), ("prNumber", "7")];
        async move { local.get("git/branch-worktree", &query).await }
    };
    let nowhere = json!({"path": null, "repoPath": clone});
    lookup("acme/widget", "x/feature").await?.is(200, &json!({"path": worktree, "repoPath": clone}))?;
    lookup("acme/widget", "main").await?.is(200, &json!({"path": clone, "repoPath": clone}))?;
    lookup("acme/widget", "feature").await?.is(200, &nowhere)?;
    lookup("acme/widget", "missing").await?.is(200, &nowhere)?;
    lookup("acme/other", "main").await?.is(200, &json!({"path": null, "repoPath": null}))?;
    std::fs::remove_dir_all(&worktree)?;
    lookup("acme/widget", "x/feature").await?.is(200, &nowhere)?;
    let needed = "repoFullName and headBranch are required";
    lookup("acme/widget", "").await?.refused(400, needed, "missing_field")?;
    lookup("", "main").await?.refused(400, needed, "missing_field")?;
    local.get("git/branch-worktree", &[]).await?.refused(400, needed, "missing_field")
}

#[tokio::test]
async fn missing_clones_and_clones_outside_are_skipped() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    let outside = local.home.path().join("outside");
    local.remotes.clone_to("acme/widget", &outside)?;
    local.manage(&[&local.at("gone"), &outside, &clone], None)?;
    let query = [("repoFullName", "acme/widget"), ("headBranch", "main")];
    let response = local.get("git/branch-worktree", &query).await?;
    response.is(200, &json!({"path": clone, "repoPath": clone}))?;
    assert_eq!(path_of(&local, "acme/widget").await?, json!(clone));
    std::fs::rename(&clone, local.at("moved"))?;
    let response = local.get("git/branch-worktree", &query).await?;
    response.is(200, &json!({"path": null, "repoPath": null}))
}

#[tokio::test]
async fn worktree_is_found_with_older_git() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let worktree = local.at("a b");
    git(&clone, &["worktree", "add", "--quiet", "-b", "feature", &worktree.to_string_lossy()])?;
    super::instead_of(&local, "worktree", "case \"$*\" in *-z*) exit 129 ;; esac")?;
    let query = [("repoFullName", "acme/widget"), ("headBranch", "feature")];
    let response = local.get("git/branch-worktree", &query).await?;
    response.is(200, &json!({"path": worktree, "repoPath": clone}))
}

/// A lookup creates neither files nor refs, for any input.
// GF-26, GF-28
#[tokio::test]
async fn lookup_changes_nothing() -> Result<()> {
    let local = TestGateway::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let listed = || -> Result<Vec<std::ffi::OsString>> {
        let mut names: Vec<_> =
            std::fs::read_dir(local.at(""))?.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        Ok(names)
    };
    let before = (listed()?, git(&clone, &["for-each-ref"])?);
    // Programs are started without a shell, so special characters in git's path are harmless.
    let program = local.home.path().join("my git;touch canary");
    std::os::unix::fs::symlink(find_program("git")?, &program)?;
    let paths = json!({"git": program}).to_string();
    local.send(reqwest::Method::PATCH, "settings/binary-paths", paths).await?.ok()?;
    for branch in ["main", "missing", "../x", "-b", "$(touch canary)"] {
        let query = [("repoFullName", "acme/widget"), ("headBranch", branch)];
        let response = local.get("git/branch-worktree", &query).await?.ok()?;
        ensure!(response["path"].is_null() == (branch != "main"), "{branch}: {response}");
    }
    assert_eq!(path_of(&local, "acme/widget").await?, json!(clone));
    assert_eq!((listed()?, git(&clone, &["for-each-ref"])?), before);
    assert!(!clone.join("canary").exists() && !local.home.path().join("canary").exists());
    Ok(())
}

#[tokio::test]
async fn unreadable_repository_list_is_an_error() -> Result<()> {
    let local = TestGateway::new().await?;
    let list = local.at(".loopgate/config/repos.json");
    std::fs::remove_file(&list)?;
    std::fs::create_dir(&list)?;
    let query = [("repoFullName", "acme/widget"), ("headBranch", "main")];
    for (route, begin) in [
        ("repo-path", "Failed to resolve repo path: "),
        ("branch-worktree", "Failed to resolve branch worktree: "),
    ] {
        let answer = local.get(&format!("git/{route}"), &query).await?;
        let error = answer.body["error"].as_str().unwrap_or_default();
        ensure!(answer.status == 500 && answer.body["code"] == "operation_failed", "{answer:?}");
        ensure!(error.starts_with(begin) && !error.contains('/'), "{answer:?}");
    }
    let nothing = json!({"exists": false, "path": null, "pendingClaudeMd": null, "branchStatus": null});
    local.get("work-directory/AB-1", &[]).await?.is(200, &nothing)
}
