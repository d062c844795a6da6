//! Files that a delivery holds back: secrets, dependencies and build output that no ignore rule covers.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::code_host::HostedPullRequest;
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::delivery::{ended, executes, started};
use crate::test_system::git;

/// A token in the code host's format. It is split so that secret scanners do not flag this file.
const TOKEN: &str = concat!("ghp", "_16C7e42F292c6912E7710c838347Ae178B4a");

/// Runs an EXECUTE to its end.
async fn delivered(desktop: &TestDesktop) -> Result<Run> {
    let order = started(desktop).await?;
    desktop.testbed.model.release("working");
    ended(desktop, order).await
}

fn only_pull_request(desktop: &TestDesktop) -> Result<HostedPullRequest> {
    let mut pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1, "{pulls:?}");
    pulls.pop().context("a pull request")
}

fn files(pull: &HostedPullRequest) -> Result<Vec<String>> {
    Ok(pull.files()?.into_iter().map(|file| file.path).collect())
}

fn secret(path: &str) -> Value {
    json!({"path": path, "reason": "secret"})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_and_generated_files_are_held_back_from_a_delivery() -> Result<()> {
    let command = format!(
        "echo x > more.txt; echo KEY=1 > .env; echo KEY= > .env.example; echo 'token: {TOKEN}' > config.yml; \
         mkdir -p web/node_modules/a build; seq 1 300 | sed 's|.*|web/node_modules/a/&.js|' | xargs touch; \
         echo 'Signature: 8a477f597d28d172789f06886806bc55' > build/CACHEDIR.TAG; echo y > build/out; git add .env"
    );
    // The assistant could commit and push the held-back files itself, so plain git delivers in its place.
    let desktop = TestDesktop::playing([executes(&command)]).await?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(files(&only_pull_request(&desktop)?)? == [".env.example", "more.txt"]);
    let generated = |path: &str| json!({"path": path, "reason": "generated"});
    let held =
        json!([secret(".env"), generated("build/"), secret("config.yml"), generated("web/node_modules/")]);
    ensure!(run.last["results"][0]["heldBack"] == held, "{}", run.last);
    ensure!(run.last["warnings"] == json!(["FILES_HELD_BACK"]), "{}", run.last);
    let output = desktop.cloud.events(run.id, "output");
    let count =
        output.iter().filter(|event| event.to_string().contains("Held back from the delivery: .env")).count();
    ensure!(count == 1, "{output:?}");
    ensure!(run.worktree()?.join(".env").is_file(), "the file was removed from the worktree");
    ensure!(desktop.testbed.model.requests_of("commit").is_empty(), "an assistant was started to commit");
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_of_the_assistant_are_rewritten_without_secrets() -> Result<()> {
    let command = "echo KEY=1 > .env; echo x > more.txt; git add -A; git commit -qm 'Add a page'; \
                   git rm -q .env; git commit -qm 'Remove the key'";
    let desktop = TestDesktop::playing([executes(command)]).await?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    let pull = only_pull_request(&desktop)?;
    ensure!(files(&pull)? == ["more.txt"]);
    let commits = pull.commits()?;
    ensure!(commits.len() == 1 && commits[0].message.contains("Add a page"), "{commits:?}");
    // The secret must not exist in any commit of the remote, not only in the newest one.
    let bare = desktop.testbed.remotes.bare(story::REPOSITORY);
    let objects = git(&bare, &["rev-list", "--objects", "--all"])?;
    ensure!(
        !objects.lines().any(|line| line.ends_with(" .env")),
        "the history contains the secret: {objects}"
    );
    ensure!(run.last["results"][0]["heldBack"] == json!([secret(".env")]), "{}", run.last);
    desktop.check_clean(&run, &[]).await
}

// The base has a key of its own at the name that the lossy text of the other name gives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_found_in_names_and_contents_that_are_not_utf8() -> Result<()> {
    let command = format!(
        r#"echo x > more.txt; name="$(printf 'key\377.txt')"; printf '\377 token: {TOKEN}' > "$name"; ls"#
    );
    let desktop = TestDesktop::playing([executes(&command)]).await?;
    let (lossy, content) = ("key\u{fffd}.txt", format!("token: {TOKEN}\n"));
    desktop.testbed.remotes.commit(story::REPOSITORY, "main", "Add a fixture", &[(lossy, &content)])?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(files(&only_pull_request(&desktop)?)? == ["more.txt"]);
    ensure!(run.last["results"][0]["heldBack"] == json!([secret(lossy)]), "{}", run.last);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delivery_is_skipped_when_all_changes_are_held_back() -> Result<()> {
    let desktop = TestDesktop::playing([executes("echo KEY=1 > .env")]).await?;
    let run = delivered(&desktop).await?;
    let result = run.completed("execute")?;
    ensure!(result["executeFinalizationStatus"] == "no-changes", "{}", run.last);
    let entry = &run.last["results"][0];
    let reason = "All changes were held back: .env (looks like a secret)";
    ensure!(entry["status"] == "skipped" && entry["reason"] == reason, "{}", run.last);
    ensure!(run.last["warnings"] == json!(["FILES_HELD_BACK"]), "{}", run.last);
    ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY).is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tracked_files_and_the_setting_bypass_holding_back() -> Result<()> {
    let desktop = TestDesktop::playing([executes("echo KEY=2 > tracked/.env; echo x > more.txt")]).await?;
    desktop.testbed.remotes.commit(story::REPOSITORY, "main", "Track it", &[("tracked/.env", "KEY=1\n")])?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(
        files(&only_pull_request(&desktop)?)? == ["more.txt", "tracked/.env"],
        "a file that the base tracks was held back"
    );
    ensure!(run.last["warnings"].is_null(), "{}", run.last);

    let off = |setup: loopgate_testkit::loopgate::Setup| {
        let file = setup.data_dir().join("settings.toml");
        let written = std::fs::create_dir_all(setup.data_dir())
            .and_then(|()| std::fs::write(file, "hold_back_files = false\n"));
        assert!(written.is_ok(), "{written:?}");
        setup
    };
    let desktop = TestDesktop::with([executes("echo KEY=1 > .env")], off).await?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(files(&only_pull_request(&desktop)?)? == [".env"], "the setting has no effect");
    ensure!(run.last["warnings"].is_null(), "{}", run.last);
    Ok(())
}
