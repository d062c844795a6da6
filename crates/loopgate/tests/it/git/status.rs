//! Status of a working tree, for all kinds of changes and file names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::find_program;
use loopgate_testkit::loopgate::Setup;
use reqwest::Method;
use serde_json::{Value, json};

use super::{act, instead_of, status};
use crate::test_gateway::{TestGateway, write};

const OUTSIDE: &str = "directory not allowed";

fn files(modified: &[&str], created: &[&str], deleted: &[&str], staged: &[&str]) -> Value {
    json!({"modified": modified, "created": created, "deleted": deleted, "staged": staged})
}

// GF-01, GF-02
#[tokio::test]
async fn changes_are_listed_by_kind() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("app.rs", "1\n"), ("old name.rs", "a\nb\nc\n"), ("gone", "x\n")])?;
    let clean = json!({"currentBranch": "main", "hasChanges": false, "files": files(&[], &[], &[], &[])});
    assert_eq!(status(&local, &repo).await?, clean);

    write(&repo.join("app.rs"), "2\n")?;
    let edited = status(&local, &repo).await?;
    assert_eq!(edited["files"], files(&["app.rs"], &[], &[], &[]), "the file name was changed");
    assert_eq!(edited["hasChanges"], true);

    git(&repo, &["mv", "old name.rs", "new name.rs"])?;
    write(&repo.join("added"), "x\n")?;
    git(&repo, &["add", "added", "app.rs"])?;
    write(&repo.join("added"), "y\n")?;
    std::fs::remove_file(repo.join("gone"))?;
    write(&repo.join("folder/a"), "")?;
    write(&repo.join("folder/b"), "")?;
    let all = status(&local, &repo).await?;
    let expected = files(
        &["added", "app.rs", "new name.rs"],
        &["added", "folder/"],
        &["gone"],
        &["added", "app.rs", "new name.rs"],
    );
    assert_eq!(all["files"], expected);
    Ok(())
}

#[tokio::test]
async fn special_file_names_are_listed_unquoted() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("kept", "")])?;
    let names = [" leading", "a b", "line\nbreak", "quote\"s'", "tab\tstop", "tränke", "-dash", "*"];
    for name in names {
        write(&repo.join(name), "\0binary")?;
    }
    write(&repo.join(OsStr::from_bytes(b"caf\xe9")), "")?;
    let answer = status(&local, &repo).await?;
    let mut expected: Vec<&str> = names.into_iter().chain(["caf\u{fffd}"]).collect();
    expected.sort_unstable();
    assert_eq!(answer["files"]["created"], json!(expected));

    // Names that are not valid UTF-8 are shown with replacement characters, but committed unchanged.
    act(&local, &repo, "commit", json!({"message": "All of them"})).await?.ok()?;
    assert_eq!(status(&local, &repo).await?["hasChanges"], false);
    Ok(())
}

/// Installs a `git` that logs its arguments and environment, then runs the real git. Returns the log's path.
fn logging_git(local: &TestGateway) -> Result<PathBuf> {
    let log = local.home.path().join("git-calls");
    let text = format!(
        "#!/bin/sh\necho \"$* locks=$GIT_OPTIONAL_LOCKS prompt=$GIT_TERMINAL_PROMPT lang=$LC_ALL\" >> '{}'\n\
         exec '{}' \"$@\"\n",
        log.display(),
        find_program("git")?.display()
    );
    local.home.script("git", &text)?;
    Ok(log)
}

#[tokio::test]
async fn status_runs_one_git_process() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("app.rs", "1\n")])?;
    let log = logging_git(&local)?;
    status(&local, &repo).await?;
    let calls = std::fs::read_to_string(&log)?;
    // The calls after the status belong to the set-up of the file watcher.
    let status_calls = calls.lines().take_while(|call| !call.starts_with("config --list --show-scope"));
    let status_calls: Vec<_> = status_calls.collect();
    let [status] = status_calls[..] else { bail!("{calls}") };
    ensure!(status.starts_with("status ") && status.ends_with("locks=0 prompt=0 lang=C"), "{calls}");
    Ok(())
}

#[tokio::test]
async fn unchanged_repository_is_answered_from_cache() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("app.rs", "1\n"), (".gitignore", "target/\n"), ("target/x", "")])?;
    let log = logging_git(&local)?;
    let calls = || Ok::<_, anyhow::Error>(std::fs::read_to_string(&log)?.lines().count());
    let path = repo.display().to_string();
    let branches = async || local.get("git/branches", &[("repo", &path)]).await?.ok();
    status(&local, &repo).await?;
    // Background refreshes call git for some time after the first request. Wait for 20 rounds without a call.
    let mut quiet = 0;
    while quiet < 20 {
        let before = calls()?;
        status(&local, &repo).await?;
        branches().await?;
        quiet = if calls()? == before { quiet + 1 } else { 0 };
    }

    // A change of an ignored file does not invalidate the cache.
    write(&repo.join("target/y"), "")?;
    let before = calls()?;
    assert_eq!(status(&local, &repo).await?["hasChanges"], false);
    assert_eq!(calls()?, before);

    write(&repo.join("app.rs"), "2\n")?;
    assert_eq!(status(&local, &repo).await?["files"], files(&["app.rs"], &[], &[], &[]));
    write(&repo.join("src/new.rs"), "")?;
    assert_eq!(status(&local, &repo).await?["files"], files(&["app.rs"], &["src/"], &[], &[]));
    git(&repo, &["checkout", "-q", "-b", "topic"])?;
    assert_eq!(status(&local, &repo).await?["currentBranch"], "topic");
    assert_eq!(branches().await?["defaultBranch"], "topic");
    write(&repo.join(".git/info/exclude"), "src\n")?;
    assert_eq!(status(&local, &repo).await?["files"], files(&["app.rs"], &[], &[], &[]));

    // A different repository at the same path invalidates the cache.
    std::fs::rename(&repo, local.at("moved"))?;
    let repo = local.repository("r", &[("b", "1\n")])?;
    assert_eq!(status(&local, &repo).await?["hasChanges"], false);
    // So does a change of the git program.
    instead_of(&local, "status", "exit 3")?;
    assert_eq!(act(&local, &local.at("moved"), "status", json!({})).await?.status, 500);
    Ok(())
}

// GF-04, GF-05, GF-06, GF-49, GF-50
#[tokio::test]
async fn requests_are_validated_in_order() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("app.rs", "1\n")])?;
    let post = |body: Value| local.post("git", body);
    let send = |body: &'static str| local.send(Method::POST, "git", body);
    send("null").await?.refused(400, "Invalid JSON body", "invalid_json_body")?;
    send("{").await?.refused(400, "Invalid JSON body", "invalid_json_body")?;
    for body in ["", "[]", "7", "{}", r#"{"repoPath":5}"#, r#"{"repoPath":""}"#] {
        send(body).await?.refused(400, "repoPath is required", "missing_field")?;
    }
    let missing = json!({"error": "repository not found", "code": "REPO_NOT_FOUND",
        "details": {"category": "repo_not_found"}});
    post(json!({"action": "explode", "repoPath": local.at("absent")})).await?.is(404, &missing)?;
    act(&local, &local.at("absent"), "status", json!({})).await?.is(404, &missing)?;
    act(&local, &repo.join("app.rs"), "status", json!({})).await?.is(404, &missing)?;
    let outside =
        json!({"error": OUTSIDE, "code": "REPO_NOT_ALLOWED", "details": {"category": "repo_not_allowed"}});
    for path in [local.home.path().to_owned(), local.at("r/../.."), "/etc".into(), "relative".into()] {
        act(&local, &path, "status", json!({})).await?.is(403, &outside)?;
    }
    std::os::unix::fs::symlink(local.home.path(), local.at("link"))?;
    act(&local, &local.at("link"), "status", json!({})).await?.is(403, &outside)?;
    for action in [json!("explode"), json!(7), json!(null)] {
        let answer = act(&local, &repo, "", json!({"action": action})).await?;
        answer.refused(400, "Invalid action", "invalid_request")?;
    }
    let answer = act(&local, &repo, "branch", json!({})).await?;
    answer.refused(400, "branchName is required for branch action", "missing_field")?;
    let answer = act(&local, &repo, "commit", json!({"message": ""})).await?;
    answer.refused(400, "message is required for commit action", "missing_field")?;

    let large = local.send(Method::POST, "git", "x".repeat(262_145)).await?;
    assert_eq!((large.status, &large.body["maxBytes"]), (413, &json!(262_144)), "{large:?}");
    assert_eq!(large.body["code"], "request_body_too_large");
    for (method, route) in [(Method::PUT, "git"), (Method::GET, "git/diff")] {
        let answer = local.send(method.clone(), route, "").await?;
        let error = json!({"error": "operation not implemented", "code": "operation_not_implemented",
            "method": method.as_str(), "path": format!("/api/gateway/{route}")});
        answer.is(501, &error)?;
    }
    Ok(())
}

// GC-37, GF-07
#[tokio::test]
async fn key_directories_are_refused_when_home_is_sandbox() -> Result<()> {
    let home = loopgate_testkit::home::UserHome::temporary()?;
    let path = home.path().to_owned();
    std::fs::create_dir(path.join(".ssh"))?;
    // The data directory must not be within the sandbox, which is the whole home here.
    let data_directory = tempfile::tempdir()?;
    let data = data_directory.path().to_owned();
    std::fs::write(data.join("settings.toml"), "onboarding_completed = true\n")?;
    let start = |setup: Setup| setup.without_sandbox().arg("--sandbox").arg(path).arg("--yes").data_in(data);
    let local = TestGateway::in_home(home, start).await?;
    for keys in ["~/.ssh", "~/.SSH", "~/src/../.ssh"] {
        let answer = act(&local, keys.as_ref(), "status", json!({})).await?;
        assert_eq!((answer.status, &answer.body["code"]), (403, &json!("REPO_NOT_ALLOWED")), "{keys}");
        assert_eq!(answer.body["error"], OUTSIDE);
    }
    Ok(())
}

/// The configured path of git is used as is, without a shell.
// GF-28
#[tokio::test]
async fn configured_git_is_used() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("app.rs", "1\n")])?;
    instead_of(&local, "status", "echo 'the wrong one' >&2; exit 3")?;
    for name in ["with space/git", "git;touch canary", "git$(touch canary)"] {
        let program = local.home.path().join("tools").join(name);
        let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", find_program("git")?.display());
        write(&program, script)?;
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let set = local.send(Method::PATCH, "settings/binary-paths", json!({"git": program}).to_string());
        set.await?.ok()?;
        assert_eq!(status(&local, &repo).await?["currentBranch"], "main", "{name}");
    }
    let canaries = [repo.join("canary"), local.at("canary"), local.home.path().join("canary")];
    ensure!(canaries.iter().all(|canary| !canary.exists()));
    Ok(())
}
