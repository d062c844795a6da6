//! BOOTSTRAP: loops that write agents for repositories, and the bootstrap step before a plan.

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::{story, wait};
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::limits;
use crate::test_system::git;

/// Matches the arguments of the plugin's command.
const ARGUMENTS: &str = r"Arguments: --output-dir (?P<output>\S+)(?P<options>[^\n]*)";
/// Matches the page of the plugin's command.
const PAGE: &str = "# Write the agents of this repository";
/// Text of an agent, with the first names of its facts.
const TEXT: &str = r#"{"description": "Ask about {{agent}}.", "responsibilities": [{"area": "{{agent}}", "blocking": ["{{one}} is lost"], "major": ["{{two}} is stale"], "minor": ["{{three}} is slow"]}], "guidance": []}"#;

/// The assistant's session with the plugin.
fn session() -> Conversation {
    Conversation::when("agents", PAGE)
        .and(ARGUMENTS)
        .runs("loopgate bootstrap run --output-dir '{{output}}'{{options}}")
        .says("Agents are written.")
}

/// The model that writes the texts of agents.
fn texts() -> Conversation {
    let names = [("one", 0), ("two", 1), ("three", 2)];
    let captures = names.map(|(group, skipped)| {
        format!("begin \"facts\"\n(?:[^`]*`[^`]+`){{{skipped}}}[^`]*(?P<{group}>`[^`]+`)")
    });
    Conversation {
        toolless: true,
        captures: captures.to_vec(),
        ..Conversation::when("texts", r"Write the agent (?P<agent>[a-z-]+)\.")
    }
    .says(TEXT)
}

fn repos(run: &Run, desktop: &TestDesktop) -> Result<Vec<Value>> {
    let result = run.completed("bootstrap")?;
    ensure!(result.get("prUrl").is_none() && run.last["warnings"].is_null(), "{}", run.last);
    ensure!(run.started["worktreePath"].is_null() && run.last.get("results").is_none(), "{}", run.started);
    let uploaded = desktop.uploaded(run.id);
    ensure!(uploaded["metadata"]["command"] == "bootstrap", "{uploaded}");
    ensure!(uploaded["artifacts"].as_object().map(|all| all.len()) == Some(1), "{uploaded}");
    let repos = uploaded["artifacts"]["bootstrapResult"]["repos"].as_array();
    Ok(repos.with_context(|| uploaded.to_string())?.clone())
}

/// Returns the agents of a repository's result, by slug.
fn slugs(repo: &Value) -> Vec<&str> {
    repo["agents"].as_array().into_iter().flatten().filter_map(|agent| agent["slug"].as_str()).collect()
}

// LR-09, LR-60
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bootstrap_without_a_prompt_covers_every_managed_repository() -> Result<()> {
    let desktop = TestDesktop::playing([texts(), session()]).await?;
    let web = desktop.testbed.add_repository("acme/web", &[("README.md", "The other page\n")])?;
    // Without a remote, the repository has no full name and no known owner.
    let alone = desktop.testbed.add_repository("acme/alone", &[("README.md", "On its own\n")])?;
    git(&alone, &["remote", "remove", "origin"])?;
    let order = json!({"command": "BOOTSTRAP", "prompt": "  ", "repo": null});
    let run = desktop.run(order).await?;
    let repos = repos(&run, &desktop)?;
    ensure!(repos.len() == 3, "{repos:?}");
    for (repo, name) in repos.iter().zip([story::REPOSITORY, "acme/web"]) {
        ensure!(repo["fullName"] == name && repo["branch"] == "main" && repo["success"] == true, "{repo}");
        ensure!(repo.get("error").is_none() && slugs(repo).contains(&"test-strategist"), "{repo}");
        let prompt = repo["agents"][0]["prompt"].as_str().unwrap_or_default();
        ensure!(prompt.contains(&format!("of the repository {name}.")), "{prompt}");
        ensure!(repo["criticGates"]["defaults"]["reviewBudget"] == 8, "{repo}");
        ensure!(repo["metadata"]["bootstrap_version"] == "1.2.0", "{repo}");
    }
    let without_remote = json!({"fullName": "alone", "branch": "", "success": false, "error": "not found locally",
        "agents": [], "criticGates": null, "metadata": null, "duration": 0});
    ensure!(repos[2] == without_remote, "{}", repos[2]);
    for clone in [&desktop.clone, &web] {
        ensure!(git(clone, &["status", "--porcelain"])?.is_empty(), "bootstrap left uncommitted files");
    }
    ensure!(desktop.cloud.output(run.id).join("\n").contains("Agents are written."));
    let temp_dir =
        std::env::temp_dir().canonicalize()?.join(format!("orchestrator-bootstrap-{}", run.id.short()));
    crate::test_system::wait_for_loop_processes(&run.id.to_string()).await?;
    ensure!(!temp_dir.exists(), "{} still exists", temp_dir.display());

    // A missing prompt means the same as a blank one. The same commits ask for no text.
    let asked = desktop.testbed.model.requests_of("texts").len();
    let run = desktop.run(json!({"command": "BOOTSTRAP", "repo": null})).await?;
    let again = self::repos(&run, &desktop)?;
    for (repo, before) in again.iter().zip(&repos) {
        ensure!(repo["fullName"] == before["fullName"] && repo["agents"] == before["agents"], "{repo}");
    }
    ensure!(asked > 0 && desktop.testbed.model.requests_of("texts").len() == asked);
    Ok(())
}

// The assistant hits the usage limit of its account while it reads a repository.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bootstrap_resumes_when_the_usage_limit_ends() -> Result<()> {
    let desktop = limits::subscribed([
        texts(),
        limits::resumed("continued")
            .and(ARGUMENTS)
            .runs("loopgate bootstrap run --output-dir '{{output}}'")
            .says("Agents are written."),
        Conversation::when("refused", PAGE).turn(limits::refusal(limits::LIMIT_SECONDS)),
    ])
    .await?;
    let run = desktop.run(json!({"command": "BOOTSTRAP", "repo": null})).await?;
    let repos = repos(&run, &desktop)?;
    let output = desktop.cloud.output(run.id).join("\n");
    // No agents: the assistant does not pass the token of the account to the programs that it starts.
    ensure!(repos.len() == 1 && repos[0]["fullName"] == story::REPOSITORY, "{repos:?}\n{output}");
    ensure!(output.contains("The loop waits until") && output.contains("Agents are written."), "{output}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bootstrap_applies_the_repositories_and_options_of_its_prompt() -> Result<()> {
    let desktop =
        TestDesktop::playing([
            texts(),
            // A failure in the first repository must not stop the others.
            Conversation::when("broken", PAGE)
                .and("--output-dir [^ ]*repo-0-agents")
                .turn([ModelStep::error(400, "invalid_request_error", "no")]),
            session(),
        ])
        .await?;
    desktop.testbed.add_repository("acme/web", &[("README.md", "The other page\n")])?;
    let file = desktop.testbed.sandbox().join("file");
    std::fs::write(&file, "")?;
    let prompt = json!({"repos": [
        {"fullName": "acme/web", "branch": "release"},
        {"fullName": story::REPOSITORY, "localPath": desktop.clone},
        {"fullName": "acme/nowhere"},
        {"fullName": "acme/outside", "localPath": "/etc"},
        {"fullName": "acme/gone", "localPath": desktop.testbed.sandbox().join("gone")},
        {"fullName": "acme/file", "localPath": file},
    ], "options": {"depth": "deep", "update": true}});
    let order = json!({"command": "BOOTSTRAP", "prompt": prompt.to_string(), "repo": null});
    let run = desktop.run(order).await?;
    let repos = repos(&run, &desktop)?;
    let errors: Vec<(&Value, &Value)> =
        repos.iter().map(|repo| (&repo["fullName"], repo.get("error").unwrap_or(&Value::Null))).collect();
    let expected = [
        ("acme/web", json!("1")),
        (story::REPOSITORY, Value::Null),
        ("acme/nowhere", json!("not found locally")),
        ("acme/outside", json!("outside sandbox")),
        ("acme/gone", json!("path does not exist")),
        ("acme/file", json!("path is not a directory")),
    ];
    ensure!(
        errors.len() == expected.len()
            && errors
                .iter()
                .zip(&expected)
                .all(|(actual, expected)| actual.0 == expected.0 && actual.1 == &expected.1),
        "{repos:?}"
    );
    ensure!(repos[0]["branch"] == "release" && repos[0]["success"] == false, "{}", repos[0]);
    ensure!(repos[1]["success"] == true && !slugs(&repos[1]).is_empty(), "{}", repos[1]);
    let page = desktop.first_prompt("agents")?;
    ensure!(page.contains("repo-1-agents --depth deep --update"), "{page}");
    Ok(())
}

/// Returns the bootstrap progress lines that were sent before the driver of a loop started.
fn progress_lines(desktop: &TestDesktop, id: LoopId) -> Vec<String> {
    let events = desktop.cloud.events(id, "output");
    let chunks = events.iter().filter_map(|event| event["data"]["chunk"].as_str());
    chunks.filter(|chunk| chunk.starts_with("[bootstrap-")).map(str::to_owned).collect()
}

fn planner() -> Conversation {
    Conversation::when("plan", "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .turn([ModelStep::write("{{workdir}}/plan.md", story::PLAN_MARKDOWN)])
        .runs("loopgate plan build '{{workdir}}'")
        .runs(
            "loopgate plan set-state 'Phase 1.1: Checkpoint' AWAITING_USER --workdir '{{workdir}}' \
             --action 'Read the plan' --action-file '{{workdir}}/plan.md'",
        )
        .says("Planned.\n\n<promise>COMPLETE</promise>")
}

/// Installs the plugin in the user scope.
async fn install_for_user(desktop: &TestDesktop) -> Result<()> {
    let mut command = desktop.testbed.home.command(env!("CARGO_BIN_EXE_loopgate"));
    let output = command.args(["plugins", "install", "bootstrap"]).output().await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_bootstraps_its_worktrees_when_the_plugin_is_installed() -> Result<()> {
    let desktop = TestDesktop::playing([texts(), session(), planner()]).await?;
    let order = json!({"command": "PLAN", "prompt": "Add a file"});
    let run = desktop.run(order.clone()).await?;
    run.completed("plan")?;
    let name = "garden-notes-loop-shop-7";
    let expected = [
        format!("[bootstrap-started] {name}"),
        format!("[bootstrap-skipped] {name}: the bootstrap plugin is not installed"),
    ];
    ensure!(progress_lines(&desktop, run.id) == expected, "{:?}", progress_lines(&desktop, run.id));

    install_for_user(&desktop).await?;
    desktop.testbed.add_repository("acme/web", &[("README.md", "The other page\n")])?;
    let mut both = order.clone();
    both["additionalRepos"] = json!([{"fullName": "acme/web", "branch": "main"}]);
    let run = desktop.run(both).await?;
    run.completed("plan")?;
    let lines = progress_lines(&desktop, run.id);
    ensure!(
        lines.len() == 6 && lines[0].starts_with("[bootstrap-started] web-loop-shop-7-main-"),
        "{lines:?}"
    );
    ensure!(
        lines[2].starts_with("[bootstrap-completed] web-loop-"),
        "additional repositories come first: {lines:?}"
    );
    ensure!(lines[3] == format!("[bootstrap-started] {name}"), "{lines:?}");
    let cost = &lines[4];
    ensure!(
        cost.starts_with(&format!("[bootstrap-cost] {name}: ")) && cost.contains(" to be written; about ")
    );
    ensure!(lines[5] == format!("[bootstrap-completed] {name}"), "{lines:?}");
    let worktree = run.worktree()?;
    let results = desktop.testbed.model.requests_of("agents").pop().context("no request")?.tool_results();
    let agent = std::fs::read_to_string(worktree.join(".claude/agents/test-strategist.md"));
    let agent = agent.with_context(|| results)?;
    ensure!(agent.contains("name: test-strategist"), "{agent}");

    // Metadata of an earlier bootstrap skips the step. EXECUTE reuses the worktree.
    std::fs::remove_dir_all(worktree.join(".claude"))?;
    let execute = json!({"command": "EXECUTE", "prompt": "Add a file"});
    let id = desktop.run(execute.clone()).await?.id;
    ensure!(
        progress_lines(&desktop, id)[1] == format!("[bootstrap-skipped] {name}: agents already exist"),
        "{:?}",
        progress_lines(&desktop, id)
    );

    // The agents of this commit are stored: neither a session nor a model is needed.
    std::fs::remove_file(worktree.join(".loopgate/bootstrap-metadata.json"))?;
    let asked = |name: &str| desktop.testbed.model.requests_of(name).len();
    let before = (asked("agents"), asked("texts"));
    let id = desktop.run(execute).await?.id;
    let lines = progress_lines(&desktop, id);
    ensure!(lines.len() == 3 && lines[1].contains(" agents: 0 to be written; "), "{lines:?}");
    ensure!(lines[2] == format!("[bootstrap-completed] {name}"), "{lines:?}");
    ensure!((asked("agents"), asked("texts")) == before);
    ensure!(std::fs::read_to_string(worktree.join(".claude/agents/test-strategist.md"))? == agent);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_slow_or_disabled_bootstrap_does_not_block_the_plan() -> Result<()> {
    let broken = || {
        Conversation::when("agents", PAGE).turn([ModelStep::error(400, "invalid_request_error", "not today")])
    };
    for (variable, outcome) in [
        (None, "[bootstrap-failed]"),
        // With a limit of 1 ms the bootstrap always times out.
        (Some(("LOOPGATE_BOOTSTRAP_TIMEOUT_MS", "1")), "[bootstrap-timeout]"),
        (Some(("LOOPGATE_AGENT_BOOTSTRAP", "false")), "[bootstrap-skipped]"),
    ] {
        let mut desktop = TestDesktop::playing([broken(), planner()]).await?;
        install_for_user(&desktop).await?;
        if let Some((name, value)) = variable {
            desktop.loopgate.stop().await?;
            let setup = desktop.loopgate.setup().clone().env(name, value);
            desktop.loopgate = setup.start().await?;
        }
        let run = desktop.run(json!({"command": "PLAN", "prompt": "Add a file"})).await?;
        run.completed("plan")?;
        let lines = progress_lines(&desktop, run.id);
        ensure!(lines.last().is_some_and(|line| line.starts_with(outcome)), "{lines:?}");
        // The assistant of the bootstrap must be terminated as well.
        let all = || loopgate_testkit::home_processes::processes(desktop.testbed.home.path());
        let others = || {
            all().into_iter().map(|process| process.pid).filter(|pid| Some(*pid) != desktop.loopgate.pid())
        };
        wait::all_end(|| others().collect()).await?;
    }
    Ok(())
}
