//! The work directory of a ticket and the status of its branch. All routes must resolve a ticket to the same
//! worktree.

use std::path::Path;

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::{UserHome, find_program};
use reqwest::Method;
use serde_json::{Value, json};

use super::form::{TestPart, content_type, form};
use crate::test_gateway::{TestGateway, write};

fn unresolved() -> Value {
    json!({"exists": false, "path": null, "pendingClaudeMd": null, "branchStatus": null})
}

fn resolved(path: &Path, source: &str, branch_status: Value) -> Value {
    json!({"exists": true, "path": path, "source": source, "pendingClaudeMd": null, "branchStatus": branch_status})
}

fn sessions(local: &TestGateway, entries: &Value) -> Result<()> {
    write(&local.at(".loopgate/sessions.json"), json!({"sessions": entries}).to_string())
}

async fn expect_directory(local: &TestGateway, ticket: &str, expected: &Value) -> Result<()> {
    local.send(Method::GET, &format!("work-directory/{ticket}"), "").await?.is(200, expected)
}

// GF-44, GF-45
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_directory_precedes_worktrees() -> Result<()> {
    let local = TestGateway::new().await?;
    expect_directory(&local, "AB-999", &unresolved()).await?;
    write(&local.at(".loopgate/sessions.json"), "{")?;
    expect_directory(&local, "AB-999", &unresolved()).await?;

    let (session_dir, sibling) = (local.at("anywhere"), local.at("shop-AB-1"));
    std::fs::create_dir(&session_dir)?;
    std::fs::create_dir(&sibling)?;
    let repo = local.at("shop");
    std::fs::create_dir(&repo)?;
    local.manage(&[Path::new("/etc"), &repo], None)?;
    let outside = local.home.path().join("outside");
    std::fs::create_dir(&outside)?;
    sessions(
        &local,
        &json!([
            {"ticketId": "AB-1"},
            {"ticketId": "ab-1", "worktreePath": outside},
            {"ticketId": "AB-1", "worktreePath": session_dir},
        ]),
    )?;
    expect_directory(&local, "AB-1", &resolved(&session_dir, "session", Value::Null)).await?;
    for elsewhere in [outside.clone(), local.at("vanished"), "/etc".into()] {
        sessions(&local, &json!([{"ticketId": "AB-1", "worktreePath": elsewhere}]))?;
        expect_directory(&local, "AB-1", &resolved(&sibling, "worktree", Value::Null)).await?;
    }
    std::fs::remove_dir(&sibling)?;
    std::os::unix::fs::symlink(&outside, &sibling)?;
    expect_directory(&local, "AB-1", &unresolved()).await?;

    // The id is part of a name; separators in it are replaced.
    std::fs::create_dir(local.at("shop-___x"))?;
    expect_directory(&local, "..%2Fx", &resolved(&local.at("shop-___x"), "worktree", Value::Null)).await?;
    expect_directory(&local, "%2F..%2F..%2Fetc", &unresolved()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branch_status_matches_whole_names() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.clone_of("acme/shop", &[("CLAUDE.md", "Be kind.\n"), ("a.txt", "a\n")])?;
    local.manage(&[&repo], None)?;
    let worktree = |ticket: &str, branch: &str| {
        let path = local.at(&format!("shop-{ticket}"));
        git(&repo, &["worktree", "add", "--quiet", "-b", branch, &path.to_string_lossy(), "origin/main"])?;
        anyhow::Ok(path)
    };
    let status = |merged: bool, missing: bool| json!({"merged": merged, "remoteMissing": missing});
    // `fix` is a suffix of `prefix/fix`: `ls-remote` matches it by its last component.
    let merged = worktree("1", "fix")?;
    let pushed = worktree("2", "prefix/fix")?;
    let fresh = worktree("3", "fresh")?;
    let remote = local.remotes.bare("acme/shop");
    git(&pushed, &["push", "--quiet", &remote.to_string_lossy(), "prefix/fix"])?;
    write(&fresh.join("a.txt"), "changed\n")?;
    git(&fresh, &["commit", "--quiet", "-am", "Change"])?;
    expect_directory(&local, "1", &resolved(&merged, "worktree", status(true, true))).await?;
    expect_directory(&local, "2", &resolved(&pushed, "worktree", status(false, false))).await?;
    expect_directory(&local, "3", &resolved(&fresh, "worktree", status(false, true))).await?;
    git(&fresh, &["checkout", "--quiet", "--detach"])?;
    expect_directory(&local, "3", &resolved(&fresh, "worktree", Value::Null)).await?;

    write(&pushed.join("CLAUDE.md"), "Be kinder.\n")?;
    let mut pending = resolved(&pushed, "worktree", status(false, false));
    pending["pendingClaudeMd"] = json!(pushed.join("CLAUDE.md"));
    expect_directory(&local, "2", &pending).await
}

// GF-53
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_sandbox_and_malformed_id_are_refused() -> Result<()> {
    let local = TestGateway::with(loopgate_testkit::loopgate::Setup::without_sandbox).await?;
    let text = "Server not configured — complete onboarding";
    local.send(Method::GET, "work-directory/AB-1", "").await?.refused(503, text, "not_configured")?;
    local.get("files/search", &[("repo", "/x"), ("base", "true")]).await?.refused(
        403,
        "directory not allowed",
        "directory_not_allowed",
    )?;
    let broken = local.send(Method::GET, "work-directory/%E0%A4%A", "").await?;
    broken.refused(400, "malformed path", "malformed_path")?;
    ensure!(local.loopgate.gateway_bare(Method::GET, "/health").send().await?.status() == 200);
    Ok(())
}

/// Checks that every route that resolves a worktree finds this one.
async fn all_routes_resolve(local: &TestGateway, repo: &Path, worktree: &Path) -> Result<()> {
    expect_directory(local, "AB-1", &resolved(worktree, "worktree", Value::Null)).await?;
    let mark = worktree.file_name().into_iter().chain(worktree.parent().and_then(Path::file_name));
    let mark = mark.map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>().join("-of-");
    write(&worktree.join(&mark), "")?;
    let repo = repo.to_string_lossy();
    let query = [("repo", repo.as_ref()), ("ticket", "AB-1"), ("query", mark.as_str())];
    local.get("files/search", &query).await?.is(200, &json!({"files": [mark], "truncated": false}))?;
    let upload = format!("/api/gateway/orchestrator/upload/AB-1?repo={}", repo.replace('/', "%2F"));
    let image = form(&[TestPart(Some("a"), "image/gif", b"GIF89a")]);
    let request = local.loopgate.gateway(Method::POST, &upload).header("content-type", content_type());
    let answer: Value = request.body(image).send().await?.json().await?;
    let file = &answer["files"][0];
    ensure!(file["path"].as_str().is_some_and(|path| Path::new(path).starts_with(worktree)), "{answer}");
    let url = file["apiUrl"].as_str().unwrap_or_default();
    ensure!(local.loopgate.gateway(Method::GET, url).send().await?.bytes().await?.as_ref() == b"GIF89a");
    Ok(())
}

// GF-51
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_routes_resolve_the_same_worktree() -> Result<()> {
    let home = UserHome::temporary()?;
    let mut local = TestGateway::in_home(home.clone(), |setup| setup).await?;
    let repo = local.at("code/r");
    std::fs::create_dir_all(&repo)?;
    let (configured, sibling, of_env) =
        (local.at("wt/r-AB-1"), local.at("code/r-AB-1"), local.at("env/r-AB-1"));
    for directory in [&configured, &sibling, &of_env] {
        std::fs::create_dir_all(directory)?;
    }
    local.manage(&[&repo], Some(&local.at("wt")))?;
    all_routes_resolve(&local, &repo, &configured).await?;
    std::fs::remove_dir_all(&configured)?;
    // Candidates in order: the configured parent, the sibling of the repository, the parent of the
    // environment.
    all_routes_resolve(&local, &repo, &sibling).await?;
    local.loopgate.stop().await?;
    let parent = local.at("env");
    drop(local);
    let local =
        TestGateway::in_home(home, |setup| setup.env("ORCHESTRATOR_WORKTREE_PARENT_DIR", parent)).await?;
    all_routes_resolve(&local, &repo, &of_env).await
}

// GF-52
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worktree_of_another_repository_with_the_same_name_is_ignored() -> Result<()> {
    let local = TestGateway::new().await?;
    let first = local.repository("a/api", &[("x", "")])?;
    let second = local.repository("b/api", &[("x", "")])?;
    let worktree = local.at("wt/api-AB-1");
    git(&first, &["worktree", "add", "--quiet", "-b", "t", &worktree.to_string_lossy()])?;
    local.manage(&[&second], Some(&local.at("wt")))?;
    expect_directory(&local, "AB-1", &unresolved()).await?;
    local.manage(&[&second, &first], Some(&local.at("wt")))?;
    expect_directory(&local, "AB-1", &resolved(&worktree, "worktree", Value::Null)).await
}

// A tag with the name of a branch makes the short branch name ambiguous: git prints `heads/fix`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branch_status_ignores_tags_and_uses_the_default_branch() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.clone_of("acme/shop", &[("a.txt", "a\n")])?;
    local.manage(&[&repo], None)?;
    let bare = local.remotes.bare("acme/shop");
    let worktree = local.at("shop-1");
    git(&repo, &["worktree", "add", "--quiet", "-b", "fix", &worktree.to_string_lossy()])?;
    git(&worktree, &["push", "--quiet", &bare.to_string_lossy(), "fix"])?;
    git(&repo, &["tag", "fix"])?;
    let unmerged = json!({"merged": false, "remoteMissing": false});
    expect_directory(&local, "1", &resolved(&worktree, "worktree", unmerged)).await?;

    let other = local.clone_of("acme/garden", &[("a.txt", "a\n")])?;
    git(&local.remotes.bare("acme/garden"), &["branch", "-m", "main", "trunk"])?;
    git(&other, &["update-ref", "refs/remotes/origin/trunk", "HEAD"])?;
    git(&other, &["update-ref", "-d", "refs/remotes/origin/main"])?;
    git(&other, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"])?;
    let worktree = local.at("garden-2");
    git(&other, &["worktree", "add", "--quiet", "-b", "done", &worktree.to_string_lossy(), "origin/trunk"])?;
    local.manage(&[&other], None)?;
    let merged = json!({"merged": true, "remoteMissing": true});
    expect_directory(&local, "2", &resolved(&worktree, "worktree", merged)).await
}

// Concurrent requests for the tickets of a page share one `ls-remote`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_query_the_remote_once() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.clone_of("acme/shop", &[("a.txt", "a\n")])?;
    local.manage(&[&repo], None)?;
    let calls = local.home.path().join("git-calls");
    let real = find_program("git")?;
    let script =
        format!("#!/bin/sh\necho \"$1\" >> '{}'\nexec '{}' \"$@\"\n", calls.display(), real.display());
    local.home.script("git", &script)?;
    for ticket in 0..6 {
        let worktree = local.at(&format!("shop-{ticket}"));
        let branch = format!("ticket-{ticket}");
        git(&repo, &["worktree", "add", "--quiet", "-b", &branch, &worktree.to_string_lossy()])?;
    }
    let requests: Vec<_> = (0..6)
        .map(|ticket| {
            let path = format!("/api/gateway/work-directory/{ticket}");
            tokio::spawn(local.loopgate.gateway(Method::GET, &path).send())
        })
        .collect();
    for answer in requests {
        let answer: Value = answer.await??.json().await?;
        ensure!(answer["branchStatus"] == json!({"merged": true, "remoteMissing": true}), "{answer}");
    }
    let calls = std::fs::read_to_string(calls)?;
    ensure!(calls.lines().filter(|call| *call == "ls-remote").count() == 1, "{calls}");
    Ok(())
}
