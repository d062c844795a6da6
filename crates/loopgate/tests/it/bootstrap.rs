//! BOOTSTRAP: loops that write agents for repositories, and the bootstrap step before a plan.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::{story, wait};
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::limits;
use crate::test_system::git;

const AGENT: &str = "---\nname: Tester\ndescription: Tests it\n---\n\nBe thorough.\n";

/// Writes a plugin whose command only repeats its arguments.
fn write_plugin(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder.join(".claude-plugin"))?;
    std::fs::create_dir_all(folder.join("commands"))?;
    let manifest = json!({"name": "bootstrap", "version": "1.2.3", "description": "Writes agents"});
    std::fs::write(folder.join(".claude-plugin/plugin.json"), manifest.to_string())?;
    let command = "---\ndescription: Write agents\n---\n\n# Agents for a test\n\nAsked for: $ARGUMENTS\n";
    Ok(std::fs::write(folder.join("commands/agent-bootstrap.md"), command)?)
}

fn install(desktop: &TestDesktop) -> Result<()> {
    write_plugin(&desktop.testbed.home.path().join(".claude/plugins/cache/loopgate/bootstrap/1.2.3"))
}

/// Writes one agent into the requested directory, and bootstrap metadata into the repository.
fn writer() -> Conversation {
    Conversation::when("agents", "# Agents for a test")
        .and(r"Asked for: --output-dir (?P<output>\S+)(?P<options>[^\n]*)")
        .runs(
            "pwd; mkdir -p .loopgate/settings; echo '{\"defaults\":{}}' > .loopgate/settings/critic-gates.json; \
             echo '{\"bootstrap_version\":\"1\"}' > .loopgate/bootstrap-metadata.json; echo 'options{{options}}'",
        )
        .turn([ModelStep::write("{{output}}/tester.md", AGENT)])
        .says("One agent.")
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

// LR-09, LR-60
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bootstrap_without_a_prompt_covers_every_managed_repository() -> Result<()> {
    let desktop = TestDesktop::playing([writer()]).await?;
    let web = desktop.testbed.add_repository("acme/web", &[("README.md", "The other page\n")])?;
    // Without a remote, the repository has no full name and no known owner.
    let alone = desktop.testbed.add_repository("acme/alone", &[("README.md", "On its own\n")])?;
    git(&alone, &["remote", "remove", "origin"])?;
    let order = json!({"command": "BOOTSTRAP", "prompt": "  ", "repo": null});
    let (_, status, refused) = desktop.order(order.clone()).await?;
    ensure!(status == 500 && refused["error"] == "plugin bootstrap not found in plugin cache", "{refused}");
    install(&desktop)?;
    let run = desktop.run(order).await?;
    let repos = repos(&run, &desktop)?;
    ensure!(repos.len() == 3, "{repos:?}");
    let agent = json!({"name": "Tester", "slug": "tester", "role": "tester", "description": "Tests it",
        "prompt": AGENT});
    for (repo, name) in repos.iter().zip([story::REPOSITORY, "acme/web"]) {
        ensure!(repo["fullName"] == name && repo["branch"] == "main" && repo["success"] == true, "{repo}");
        ensure!(repo["agents"] == json!([agent]) && repo.get("error").is_none(), "{repo}");
        ensure!(repo["criticGates"] == json!({"defaults": {}}), "{repo}");
        ensure!(repo["metadata"] == json!({"bootstrap_version": "1"}), "{repo}");
    }
    let without_remote = json!({"fullName": "alone", "branch": "", "success": false, "error": "not found locally",
        "agents": [], "criticGates": null, "metadata": null, "duration": 0});
    ensure!(repos[2] == without_remote, "{}", repos[2]);
    let tool_results: Vec<String> =
        desktop.testbed.model.requests_of("agents").iter().map(|request| request.tool_results()).collect();
    for clone in [&desktop.clone, &web] {
        let clone_line = format!("{}\n", clone.display());
        ensure!(
            tool_results.iter().any(|text| text.contains(&clone_line)),
            "{clone_line} is missing in {tool_results:?}"
        );
        ensure!(git(clone, &["status", "--porcelain"])?.is_empty(), "bootstrap left uncommitted files");
    }
    ensure!(desktop.cloud.output(run.id).join("\n").contains("One agent."));
    let temp_dir =
        std::env::temp_dir().canonicalize()?.join(format!("orchestrator-bootstrap-{}", run.id.short()));
    crate::test_system::wait_for_loop_processes(&run.id.to_string()).await?;
    ensure!(!temp_dir.exists(), "{} still exists", temp_dir.display());

    // A missing prompt means the same as a blank one.
    let run = desktop.run(json!({"command": "BOOTSTRAP", "repo": null})).await?;
    let names = self::repos(&run, &desktop)?;
    let names: Vec<&str> = names.iter().filter_map(|repo| repo["fullName"].as_str()).collect();
    ensure!(names == [story::REPOSITORY, "acme/web", "alone"], "{names:?}");
    Ok(())
}

// The assistant hits the usage limit of its account while it reads a repository.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bootstrap_resumes_when_the_usage_limit_ends() -> Result<()> {
    let arguments = r"Asked for: --output-dir (?P<output>\S+)";
    let desktop = limits::subscribed([
        limits::resumed("continued")
            .and(arguments)
            .turn([ModelStep::write("{{output}}/tester.md", AGENT)])
            .says("One agent."),
        Conversation::when("refused", "# Agents for a test").turn(limits::refusal(limits::LIMIT_SECONDS)),
    ])
    .await?;
    install(&desktop)?;
    let run = desktop.run(json!({"command": "BOOTSTRAP", "repo": null})).await?;
    let repos = repos(&run, &desktop)?;
    ensure!(repos.len() == 1 && repos[0]["agents"][0]["slug"] == "tester", "{repos:?}");
    let output = desktop.cloud.output(run.id).join("\n");
    ensure!(output.contains("The loop waits until"), "{output}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bootstrap_applies_the_repositories_and_options_of_its_prompt() -> Result<()> {
    let desktop = TestDesktop::playing([
        // A failure in the first repository must not stop the others.
        Conversation::when("broken", "# Agents for a test")
            .and("--output-dir [^ ]*repo-0-agents")
            .turn([ModelStep::error(400, "invalid_request_error", "no")]),
        writer(),
    ])
    .await?;
    install(&desktop)?;
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
    ensure!(repos[1]["success"] == true && repos[1]["agents"][0]["slug"] == "tester", "{}", repos[1]);
    let results = desktop.testbed.model.requests_of("agents").pop().context("no request")?.tool_results();
    ensure!(results.contains("options --depth deep --update"), "{results}");
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

/// Installs the plugin in the user scope with the assistant's own CLI.
async fn install_for_user(desktop: &TestDesktop) -> Result<()> {
    let market = desktop.testbed.home.path().join("market");
    write_plugin(&market.join("bootstrap"))?;
    std::fs::create_dir_all(market.join(".claude-plugin"))?;
    let marketplace = json!({"name": "loopgate", "owner": {"name": "Test"},
        "plugins": [{"name": "bootstrap", "source": "./bootstrap", "description": "Writes agents"}]});
    std::fs::write(market.join(".claude-plugin/marketplace.json"), marketplace.to_string())?;
    let market = market.to_string_lossy().into_owned();
    for arguments in [
        ["plugin", "marketplace", "add", &market].as_slice(),
        ["plugin", "install", "bootstrap@loopgate", "--scope", "user"].as_slice(),
    ] {
        let output = desktop.testbed.home.command("claude").args(arguments).output().await?;
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_bootstraps_its_worktrees_when_the_plugin_is_installed() -> Result<()> {
    let agents = Conversation::when("agents", "# Agents for a test")
        .and(r"Asked for: --output-dir (?P<output>\S+)")
        .turn([ModelStep::write("{{output}}/tester.md", AGENT)])
        .says("One agent.");
    let desktop = TestDesktop::playing([agents, planner()]).await?;
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
    ensure!(lines.len() == 4 && lines[0].starts_with("[bootstrap-started] web-loop-shop-7-main-"));
    ensure!(
        lines[1].starts_with("[bootstrap-completed] web-loop-"),
        "additional repositories come first: {lines:?}"
    );
    ensure!(lines[2..] == [format!("[bootstrap-started] {name}"), format!("[bootstrap-completed] {name}")]);
    let worktree = run.worktree()?;
    let results = desktop.testbed.model.requests_of("agents").pop().context("no request")?.tool_results();
    let agent = std::fs::read_to_string(worktree.join(".claude/agents/tester.md"));
    ensure!(agent.with_context(|| results)? == AGENT);

    // Existing agents, or metadata of an earlier bootstrap, skip the step. EXECUTE reuses the worktree.
    std::fs::remove_dir_all(worktree.join(".claude"))?;
    std::fs::create_dir_all(worktree.join(".loopgate"))?;
    std::fs::write(worktree.join(".loopgate/bootstrap-metadata.json"), "{}")?;
    let id = desktop.run(json!({"command": "EXECUTE", "prompt": "Add a file"})).await?.id;
    ensure!(
        progress_lines(&desktop, id)[1] == format!("[bootstrap-skipped] {name}: agents already exist"),
        "{:?}",
        progress_lines(&desktop, id)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_or_slow_bootstrap_does_not_block_the_plan() -> Result<()> {
    let broken = Conversation::when("agents", "# Agents for a test").turn([ModelStep::error(
        400,
        "invalid_request_error",
        "not today",
    )]);
    let hanging = Conversation::when("agents", "# Agents for a test").turn([ModelStep::hold("agents")]);
    for (conversation, outcome) in [(broken, "[bootstrap-failed]"), (hanging, "[bootstrap-timeout]")] {
        let mut desktop = TestDesktop::playing([conversation, planner()]).await?;
        install_for_user(&desktop).await?;
        if outcome == "[bootstrap-timeout]" {
            desktop.loopgate.stop().await?;
            // With a limit of 1 ms the bootstrap always times out while the model holds its answer.
            let setup = desktop.loopgate.setup().clone().env("LOOPGATE_BOOTSTRAP_TIMEOUT_MS", "1");
            desktop.loopgate = setup.start().await?;
        }
        let run = desktop.run(json!({"command": "PLAN", "prompt": "Add a file"})).await?;
        run.completed("plan")?;
        let lines = progress_lines(&desktop, run.id);
        ensure!(lines.len() == 2 && lines[1].starts_with(outcome), "{lines:?}");
        // The assistant of the bootstrap must be terminated as well.
        let all = || loopgate_testkit::home_processes::processes(desktop.testbed.home.path());
        let others = || {
            all().into_iter().map(|process| process.pid).filter(|pid| Some(*pid) != desktop.loopgate.pid())
        };
        wait::all_end(|| others().collect()).await?;
    }
    Ok(())
}
