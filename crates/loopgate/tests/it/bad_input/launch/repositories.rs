//! Validation of a loop's repository and of its additional repositories.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use loopgate_testkit::story;
use serde_json::{Value, json};

use super::LaunchFixture;
use crate::bad_input::DENIED;

const SANDBOX_EVENT: &str = "Repository path not allowed by sandbox policy";

// LR-11, LR-13, LR-14, LR-15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_must_exist_in_the_sandbox() -> Result<()> {
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
    let change = |body: &mut Value| body["localRepoPath"] = json!(missing);
    fixture.refuses(change, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    let text = "Repository not found locally: acme/without_repository. It could not be cloned: Repository not found or no \
                access.";
    let change = |body: &mut Value| body["repo"]["fullName"] = json!("acme/without_repository");
    fixture.refuses(change, 404, text, "not_found", Some(("REPO_NOT_FOUND", text))).await?;

    // Names that are no repository names must not reach the command line of the code-host CLI.
    let home = fixture.testbed.home.path().to_owned();
    let calls = home.join("gh-calls");
    let record = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexit 1\n", calls.display());
    fixture.testbed.home.script("gh", &record)?;
    for name in ["acme/x;touch PWNED", "$(touch PWNED)/x", "--help/x", "acme/..", "../../etc", "acme"] {
        let text = format!("Repository not found locally: {name}");
        let change = |body: &mut Value| body["repo"]["fullName"] = json!(name);
        fixture.refuses(change, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    }
    ensure!(!calls.exists(), "{:?}", std::fs::read_to_string(&calls));

    // A directory with the right name counts only if its origin matches.
    let list = fixture.testbed.sandbox().join(".loopgate/config/repos.json");
    let listed = std::fs::read(&list)?;
    let unknown = "Failed to complete GitHub operation. Check logs for details.";
    let text =
        &format!("Repository not found locally: other/garden-notes. It could not be cloned: {unknown}");
    let change = |body: &mut Value| body["repo"]["fullName"] = json!("other/garden-notes");
    fixture.refuses(change, 404, text, "not_found", Some(("REPO_NOT_FOUND", text))).await?;

    // The output of the code-host CLI may contain secrets, and a clone may be a link out of the sandbox.
    // Neither an entry of the list nor a link makes a repository outside the sandbox usable.
    let hex = "0123456789abcdef0123456789abcdef0123456789abcdef";
    let failing = format!("#!/bin/sh\necho 'fatal: https://u:hunter2@host {hex}' >&2\nexit 1\n");
    let linking = format!("#!/bin/sh\nfor last; do :; done\nln -s '{}' \"$last\"\n", outside.display());
    let unusable = ["acme/secret", "acme/outside", "acme/linked"].map(|name| (name, failing.clone()));
    for (name, script) in unusable.into_iter().chain([("acme/away", linking)]) {
        fixture.testbed.home.script("gh", &script)?;
        let reason = if name == "acme/away" { "the clone is outside the sandbox" } else { unknown };
        let text = format!("Repository not found locally: {name}. It could not be cloned: {reason}");
        let change = |body: &mut Value| body["repo"]["fullName"] = json!(name);
        fixture.refuses(change, 404, &text, "not_found", Some(("REPO_NOT_FOUND", &text))).await?;
    }
    let signed_out = "#!/bin/sh\necho 'To get started, please run:  gh auth login' >&2\nexit 4\n";
    fixture.testbed.home.script("gh", signed_out)?;
    let text = "Repository not found locally: acme/private. It could not be cloned: GitHub CLI not authenticated. \
                Run 'gh auth login' in terminal.";
    let change = |body: &mut Value| body["repo"]["fullName"] = json!("acme/private");
    let event = Some(("REPO_NOT_FOUND/CODE_HOST_NOT_SIGNED_IN", text));
    fixture.refuses(change, 404, text, "not_found", event).await?;
    ensure!(fixture.testbed.sandbox().join("away").symlink_metadata().is_err(), "the clone was not removed");
    ensure!(outside.join("README.md").is_file(), "the target of the link was removed");
    ensure!(std::fs::read(&list)? == listed, "the list of repositories changed");
    fixture.nothing_remains().await?;

    // Logs are flushed when the process stops.
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
async fn invalid_peers_are_refused_and_reported() -> Result<()> {
    let fixture = LaunchFixture::new().await?;
    let text = "additionalRepos exceeds maximum of 5 entries (got 6)";
    let event = Some(("PRE_RUN_VALIDATION_FAILED", text));
    let six = |body: &mut Value| body["additionalRepos"] = json!(vec![json!({"fullName": "acme/x"}); 6]);
    fixture.refuses(six, 400, text, "invalid_request", event).await?;
    let without_repository = |body: &mut Value| {
        six(body);
        body["repo"] = Value::Null;
    };
    fixture.refuses(without_repository, 400, text, "invalid_request", event).await?;
    let outside = fixture.outside("acme/outside")?;
    let web = fixture.testbed.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let with_peer = |peer: Value| json!([{"fullName": "acme/web", "branch": "main"}, peer]);
    let invalid = "PRE_RUN_VALIDATION_FAILED";
    for (peer, code, text) in [
        (
            json!({"fullName": "acme/none"}),
            "REPO_NOT_FOUND",
            format!(
                "Additional repo not found locally: acme/none. Loopgate looked in the list of repositories and, three levels \
                 deep, in the sandbox directory {} for a clone with a remote of that name; clone it there",
                fixture.testbed.sandbox().display()
            ),
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
            json!({"fullName": story::REPOSITORY, "branch": "missing"}),
            invalid,
            format!("Branch \"missing\" not found in additional repo: {}", story::REPOSITORY),
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
        let change = |body: &mut Value| body["additionalRepos"] = with_peer(peer);
        fixture.refuses(change, 400, &text, "invalid_request", Some((code, &text))).await?;
    }
    fixture.no_worktree_remains()?;
    let text = "Repository required for PLAN, EXECUTE, REQUEST_CHANGES, and GENERATE_PRD commands";
    let without_repository = |body: &mut Value| body["repo"] = json!({"fullName": " ", "branch": ""});
    fixture.refuses(without_repository, 400, text, "invalid_request", None).await?;
    fixture.nothing_remains().await
}
