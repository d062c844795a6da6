//! Which repository a loop is for, and which are beside it.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use loopgate_testkit::story;
use serde_json::{Value, json};

use super::LaunchFixture;
use crate::bad_input::DENIED;

const SANDBOX_EVENT: &str = "Repository path not allowed by sandbox policy";

// LR-11, LR-13, LR-14, LR-15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_must_be_here_and_in_the_sandbox() -> Result<()> {
    let mut fixture = LaunchFixture::new().await?;
    let not_allowed = Some(("REPO_NOT_ALLOWED", SANDBOX_EVENT));
    let denied = (DENIED.0, DENIED.1);
    let outside = fixture.outside("acme/outside")?;
    let linked = fixture.outside("acme/linked")?;
    let way_out = fixture.testbed.sandbox().join("linked");
    std::os::unix::fs::symlink(&linked, &way_out)?;
    for path in ["/etc".into(), outside.clone(), way_out, "relative".into(), fixture.data("")] {
        let path: PathBuf = path;
        let path = json!(path);
        fixture.refuses(|body| body["localRepoPath"] = path, 403, denied.0, denied.1, not_allowed).await?;
    }
    fixture.edit_list(|list| {
        let entry = json!({"path": outside, "addedAt": "2030-01-01T00:00:00.000Z"});
        list["repos"].as_array_mut().into_iter().for_each(|repos| repos.push(entry.clone()));
    })?;
    let missing = fixture.testbed.sandbox().join("missing").to_string_lossy().into_owned();
    let text = format!("Repository not found locally: {missing}");
    let named = |body: &mut Value| body["localRepoPath"] = json!(missing);
    fixture.refuses(named, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    let text = "Repository not found locally: acme/nowhere";
    let named = |body: &mut Value| body["repo"]["fullName"] = json!("acme/nowhere");
    fixture.refuses(named, 404, text, "not_found", Some(("REPO_NOT_FOUND", text))).await?;

    // A name that is none never becomes an argument.
    let home = fixture.testbed.home.path().to_owned();
    let asked = home.join("asked");
    let record = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexit 1\n", asked.display());
    fixture.testbed.home.script("gh", &record)?;
    for name in ["acme/x;touch PWNED", "$(touch PWNED)/x", "--help/x", "acme/..", "../../etc", "acme"] {
        let text = format!("Repository not found locally: {name}");
        let named = |body: &mut Value| body["repo"]["fullName"] = json!(name);
        fixture.refuses(named, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    }
    ensure!(!asked.exists(), "{:?}", std::fs::read_to_string(&asked));

    // A clone of that name is one of its own origin only.
    let list = fixture.testbed.sandbox().join(".loopgate/config/repos.json");
    let listed = std::fs::read(&list)?;
    let text = "Repository not found locally: other/garden-notes";
    let named = |body: &mut Value| body["repo"]["fullName"] = json!("other/garden-notes");
    fixture.refuses(named, 404, text, "not_found", Some(("REPO_NOT_FOUND", text))).await?;

    // What the code-host CLI says may hold secrets; a clone may lead out of the sandbox. Neither an entry
    // of the list nor a link makes a repository outside of it one that is here.
    let hex = "0123456789abcdef0123456789abcdef01234567";
    let says = format!("#!/bin/sh\necho 'fatal: https://u:hunter2@host {hex}' >&2\nexit 1\n");
    let leads = format!("#!/bin/sh\nfor last; do :; done\nln -s '{}' \"$last\"\n", outside.display());
    let not_here = ["acme/secret", "acme/outside", "acme/linked"].map(|name| (name, says.clone()));
    for (name, script) in not_here.into_iter().chain([("acme/away", leads)]) {
        fixture.testbed.home.script("gh", &script)?;
        let text = format!("Repository not found locally: {name}");
        let named = |body: &mut Value| body["repo"]["fullName"] = json!(name);
        fixture.refuses(named, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    }
    ensure!(fixture.testbed.sandbox().join("away").symlink_metadata().is_err(), "the clone was removed");
    ensure!(outside.join("README.md").is_file(), "what it led to was not");
    ensure!(std::fs::read(&list)? == listed, "what was not cloned is not listed");
    fixture.nothing_is_left().await?;

    fixture.loopgate.stop().await?;
    let mut logs = fixture.loopgate.output();
    for entry in std::fs::read_dir(fixture.data("logs"))? {
        logs.push_str(&std::fs::read_to_string(entry?.path())?);
    }
    ensure!(logs.contains("acme/secret") && !logs.contains("hunter2") && !logs.contains(hex), "{logs}");
    Ok(())
}

// LR-34
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_peers_are_refused_and_reported() -> Result<()> {
    let fixture = LaunchFixture::new().await?;
    let text = "additionalRepos exceeds maximum of 5 entries (got 6)";
    let event = Some(("PRE_RUN_VALIDATION_FAILED", text));
    let six = |body: &mut Value| body["additionalRepos"] = json!(vec![json!({"fullName": "acme/x"}); 6]);
    fixture.refuses(six, 400, text, "invalid_request", event).await?;
    let nowhere = |body: &mut Value| {
        six(body);
        body["repo"] = Value::Null;
    };
    fixture.refuses(nowhere, 400, text, "invalid_request", event).await?;
    let outside = fixture.outside("acme/outside")?;
    let web = fixture.testbed.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let beside = |peer: Value| json!([{"fullName": "acme/web", "branch": "main"}, peer]);
    let invalid = "PRE_RUN_VALIDATION_FAILED";
    for (peer, code, text) in [
        (
            json!({"fullName": "acme/none"}),
            "REPO_NOT_FOUND",
            "Additional repo not found locally: acme/none".to_owned(),
        ),
        (
            json!({"branch": "main"}),
            "REPO_NOT_FOUND",
            "Additional repo entry must have localRepoPath or fullName".to_owned(),
        ),
        (
            json!({"localRepoPath": outside}),
            "REPO_NOT_ALLOWED",
            format!("Additional repo path not allowed: {}", outside.display()),
        ),
        (
            json!({"fullName": story::REPOSITORY, "branch": "gone"}),
            invalid,
            format!("Branch \"gone\" not found in additional repo: {}", story::REPOSITORY),
        ),
        (
            json!({"fullName": "Acme/Garden-Notes"}),
            invalid,
            "Duplicate repository fullName across repos: Acme/Garden-Notes".to_owned(),
        ),
        (
            json!({"localRepoPath": web}),
            invalid,
            "Duplicate repository fullName across repos: acme/web".to_owned(),
        ),
        (
            json!({"fullName": "acme/other", "localRepoPath": web}),
            invalid,
            format!("Duplicate repository path across repos: {}", web.display()),
        ),
    ] {
        let change = |body: &mut Value| body["additionalRepos"] = beside(peer);
        fixture.refuses(change, 400, &text, "invalid_request", Some((code, &text))).await?;
    }
    fixture.no_worktree_is_left()?;
    let text = "Repository required for PLAN, EXECUTE, REQUEST_CHANGES, and GENERATE_PRD commands";
    let nowhere = |body: &mut Value| body["repo"] = json!({"fullName": " ", "branch": ""});
    fixture.refuses(nowhere, 400, text, "invalid_request", None).await?;
    fixture.nothing_is_left().await
}
