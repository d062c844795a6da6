//! What a delivery leaves out: secrets, dependencies and build output that no rule ignores.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::code_host::HostedPullRequest;
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::delivery::{commits_nothing, ended, executes, started};
use crate::test_system::git;

/// A token of the code host's form, whose parts no scanner of this repository takes for one.
const TOKEN: &str = concat!("ghp", "_16C7e42F292c6912E7710c838347Ae178B4a");

/// An execution that leaves this behind.
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
async fn secrets_and_dependencies_stay_and_the_rest_is_delivered() -> Result<()> {
    let command = format!(
        "echo x > more.txt; echo KEY=1 > .env; echo KEY= > .env.example; echo 'token: {TOKEN}' > config.yml; \
         mkdir -p web/node_modules/a build; seq 1 300 | sed 's|.*|web/node_modules/a/&.js|' | xargs touch; \
         echo 'Signature: 8a477f597d28d172789f06886806bc55' > build/CACHEDIR.TAG; echo y > build/out; git add .env"
    );
    let desktop = TestDesktop::playing([executes(&command), commits_nothing()]).await?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(files(&only_pull_request(&desktop)?)? == [".env.example", "more.txt"]);
    let generated = |path: &str| json!({"path": path, "reason": "generated"});
    let held =
        json!([secret(".env"), generated("build/"), secret("config.yml"), generated("web/node_modules/")]);
    ensure!(run.last["results"][0]["heldBack"] == held, "{}", run.last);
    ensure!(run.last["warnings"] == json!(["FILES_HELD_BACK"]), "{}", run.last);
    let output = desktop.cloud.events(run.id, "output");
    let told =
        output.iter().filter(|one| one.to_string().contains("Held back from the delivery: .env")).count();
    ensure!(told == 1, "{output:?}");
    ensure!(run.worktree()?.join(".env").is_file(), "nothing is lost");
    ensure!(desktop.testbed.model.requests_of("commit").is_empty(), "no assistant could push it");
    desktop.is_tidy(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_of_the_assistant_are_made_anew_without_a_secret() -> Result<()> {
    let command = "echo KEY=1 > .env; echo x > more.txt; git add -A; git commit -qm 'Add a page'; \
                   git rm -q .env; git commit -qm 'Remove the key'";
    let desktop = TestDesktop::playing([executes(command), commits_nothing()]).await?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    let pull = only_pull_request(&desktop)?;
    ensure!(files(&pull)? == ["more.txt"]);
    let commits = pull.commits()?;
    ensure!(commits.len() == 1 && commits[0].message.contains("Add a page"), "{commits:?}");
    let bare = desktop.testbed.remotes.bare(story::REPOSITORY);
    let objects = git(&bare, &["rev-list", "--objects", "--all"])?;
    ensure!(!objects.lines().any(|line| line.ends_with(" .env")), "history has it: {objects}");
    ensure!(run.last["results"][0]["heldBack"] == json!([secret(".env")]), "{}", run.last);
    desktop.is_tidy(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn change_that_is_held_back_as_a_whole_is_no_pull_request() -> Result<()> {
    let desktop = TestDesktop::playing([executes("echo KEY=1 > .env"), commits_nothing()]).await?;
    let run = delivered(&desktop).await?;
    let told = run.completed("execute")?;
    ensure!(told["executeFinalizationStatus"] == "no-changes", "{}", run.last);
    let result = &run.last["results"][0];
    let reason = "Held back, and nothing else has changed: .env (looks like a secret)";
    ensure!(result["status"] == "skipped" && result["reason"] == reason, "{}", run.last);
    ensure!(run.last["warnings"] == json!(["FILES_HELD_BACK"]), "{}", run.last);
    ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY).is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn setting_and_the_base_let_such_files_through() -> Result<()> {
    let desktop =
        TestDesktop::playing([executes("echo KEY=2 > tracked/.env; echo x > more.txt"), commits_nothing()])
            .await?;
    desktop.testbed.remotes.commit(story::REPOSITORY, "main", "Track it", &[("tracked/.env", "KEY=1\n")])?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(files(&only_pull_request(&desktop)?)? == ["more.txt", "tracked/.env"], "the base has it");
    ensure!(run.last["warnings"].is_null(), "{}", run.last);

    let off = |setup: loopgate_testkit::loopgate::Setup| {
        let file = setup.data_dir().join("settings.toml");
        let written = std::fs::create_dir_all(setup.data_dir())
            .and_then(|()| std::fs::write(file, "hold_back_files = false\n"));
        assert!(written.is_ok(), "{written:?}");
        setup
    };
    let desktop = TestDesktop::with([executes("echo KEY=1 > .env"), commits_nothing()], off).await?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(files(&only_pull_request(&desktop)?)? == [".env"], "the setting says so");
    ensure!(run.last["warnings"].is_null(), "{}", run.last);
    Ok(())
}
