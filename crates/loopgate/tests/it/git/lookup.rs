//! Finding clones and worktrees by the names that the code host knows.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use crate::local::Local;

const UNSET: &str = "Server not configured — complete onboarding";

/// Where the clone of a name is; `Null` when nowhere.
async fn path_of(local: &Local, name: &str) -> Result<Value> {
    Ok(local.get("git/repo-path", &[("repoFullName", name)]).await?.ok()?["path"].take())
}

// GF-27
#[tokio::test]
async fn clone_is_found_by_its_origin() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let there = json!(clone);
    assert_eq!(path_of(&local, "acme/widget").await?, there);
    assert_eq!(path_of(&local, "Acme/Widget").await?, there, "the code host ignores case");
    assert_eq!(path_of(&local, "acme/other").await?, Value::Null);
    for (url, name) in [
        ("https://github.com/acme/one/", "acme/one"),
        ("ssh://git@github.com:22/acme/two.git", "acme/two"),
        ("git@github.com:acme/three", "acme/three"),
    ] {
        git(&clone, &["remote", "set-url", "origin", url])?;
        assert_eq!(path_of(&local, name).await?, there);
    }
    assert_eq!(path_of(&local, "acme/widget").await?, Value::Null);
    std::fs::rename(&clone, local.at("moved"))?;
    assert_eq!(path_of(&local, "acme/three").await?, Value::Null);
    let unnamed = local.get("git/repo-path", &[]).await?;
    unnamed.refused(400, "repoFullName is required", "missing_field")
}

// GF-27
#[tokio::test]
async fn without_a_sandbox_nothing_is_found() -> Result<()> {
    let local = Local::with(|setup| setup.without_sandbox()).await?;
    let query = [("repoFullName", "acme/widget"), ("headBranch", "main")];
    for route in ["git/repo-path", "git/branch-worktree"] {
        local.get(route, &query).await?.refused(503, UNSET, "not_configured")?;
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
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let place = local.at("line\nbreak");
    git(&clone, &["worktree", "add", "--quiet", "-b", "x/feature", &place.to_string_lossy()])?;
    let ask = |name: &'static str, branch: &'static str| {
        let local = &local;
        let query = [("repoFullName", name), ("headBranch", branch), ("prNumber", "7")];
        async move { local.get("git/branch-worktree", &query).await }
    };
    let nowhere = json!({"path": null, "repoPath": clone});
    ask("acme/widget", "x/feature").await?.is(200, &json!({"path": place, "repoPath": clone}))?;
    ask("acme/widget", "main").await?.is(200, &json!({"path": clone, "repoPath": clone}))?;
    ask("acme/widget", "feature").await?.is(200, &nowhere)?;
    ask("acme/widget", "missing").await?.is(200, &nowhere)?;
    ask("acme/other", "main").await?.is(200, &json!({"path": null, "repoPath": null}))?;
    std::fs::remove_dir_all(&place)?;
    ask("acme/widget", "x/feature").await?.is(200, &nowhere)?;
    let needed = "repoFullName and headBranch are required";
    ask("acme/widget", "").await?.refused(400, needed, "missing_field")?;
    ask("", "main").await?.refused(400, needed, "missing_field")?;
    local.get("git/branch-worktree", &[]).await?.refused(400, needed, "missing_field")
}

#[tokio::test]
async fn clones_outside_or_missing_are_skipped() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    let outside = local.home.path().join("outside");
    local.remotes.clone_to("acme/widget", &outside)?;
    local.manage(&[&local.at("gone"), &outside, &clone], None)?;
    let query = [("repoFullName", "acme/widget"), ("headBranch", "main")];
    let found = local.get("git/branch-worktree", &query).await?;
    found.is(200, &json!({"path": clone, "repoPath": clone}))?;
    assert_eq!(path_of(&local, "acme/widget").await?, json!(clone));
    std::fs::rename(&clone, local.at("moved"))?;
    let found = local.get("git/branch-worktree", &query).await?;
    found.is(200, &json!({"path": null, "repoPath": null}))
}

#[tokio::test]
async fn older_git_lists_worktrees_too() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let place = local.at("a b");
    git(&clone, &["worktree", "add", "--quiet", "-b", "feature", &place.to_string_lossy()])?;
    super::instead_of(&local, "worktree", "case \"$*\" in *-z*) exit 129 ;; esac")?;
    let query = [("repoFullName", "acme/widget"), ("headBranch", "feature")];
    let found = local.get("git/branch-worktree", &query).await?;
    found.is(200, &json!({"path": place, "repoPath": clone}))
}

/// A look-up makes nothing, whatever it is asked for.
// GF-26, GF-28
#[tokio::test]
async fn lookup_changes_nothing() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let listed = || -> Result<Vec<std::ffi::OsString>> {
        let mut names: Vec<_> =
            std::fs::read_dir(local.at(""))?.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        Ok(names)
    };
    let before = (listed()?, git(&clone, &["for-each-ref"])?);
    // Whatever git is called, no shell ever reads its path.
    let odd = local.home.path().join("my git;touch canary");
    std::os::unix::fs::symlink(super::real_git()?, &odd)?;
    let paths = json!({"git": odd}).to_string();
    local.send(reqwest::Method::PATCH, "settings/binary-paths", paths).await?.ok()?;
    for branch in ["main", "missing", "../x", "-b", "$(touch canary)"] {
        let query = [("repoFullName", "acme/widget"), ("headBranch", branch)];
        let found = local.get("git/branch-worktree", &query).await?.ok()?;
        ensure!(found["path"].is_null() == (branch != "main"), "{branch}: {found}");
    }
    assert_eq!(path_of(&local, "acme/widget").await?, json!(clone));
    assert_eq!((listed()?, git(&clone, &["for-each-ref"])?), before);
    assert!(!clone.join("canary").exists() && !local.home.path().join("canary").exists());
    Ok(())
}

#[tokio::test]
async fn unreadable_list_is_an_error() -> Result<()> {
    let local = Local::new().await?;
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
