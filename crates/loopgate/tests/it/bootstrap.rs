//! Agents for repositories: a loop that writes them for many, and the try before a plan.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::model::{Conversation, Step};
use loopgate_testkit::{story, wait};
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::limits;
use crate::test_system::git;

const AGENT: &str = "---\nname: Tester\ndescription: Tests it\n---\n\nBe thorough.\n";

/// A plugin whose command only shows how it was called.
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

/// Writes an agent where it is asked to, and the facts of the repository into it.
fn writer() -> Conversation {
    Conversation::when("agents", "# Agents for a test")
        .and(r"Asked for: --output-dir (?P<output>\S+)(?P<options>[^\n]*)")
        .runs(
            "pwd; mkdir -p .loopgate/settings; echo '{\"defaults\":{}}' > .loopgate/settings/critic-gates.json; \
             echo '{\"bootstrap_version\":\"1\"}' > .loopgate/bootstrap-metadata.json; echo 'options{{options}}'",
        )
        .turn([Step::write("{{output}}/tester.md", AGENT)])
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
async fn every_known_repository_gets_agents() -> Result<()> {
    let desktop = TestDesktop::playing([writer()]).await?;
    let web = desktop.testbed.add_repository("acme/web", &[("README.md", "The other page\n")])?;
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
    let progress_lines = json!({"fullName": "alone", "branch": "", "success": false, "error": "not found locally",
        "agents": [], "criticGates": null, "metadata": null, "duration": 0});
    ensure!(repos[2] == progress_lines, "{}", repos[2]);
    let seen: Vec<String> =
        desktop.testbed.model.requests_of("agents").iter().map(|request| request.tool_results()).collect();
    for clone in [&desktop.clone, &web] {
        let place = format!("{}\n", clone.display());
        ensure!(seen.iter().any(|seen| seen.contains(&place)), "{place} is missing in {seen:?}");
        ensure!(git(clone, &["status", "--porcelain"])?.is_empty(), "nothing is to be committed");
    }
    ensure!(desktop.cloud.output(run.id).join("\n").contains("One agent."));
    let place =
        std::env::temp_dir().canonicalize()?.join(format!("orchestrator-bootstrap-{}", run.id.short()));
    crate::test_system::gone(&run.id.to_string()).await?;
    ensure!(!place.exists(), "{} is left", place.display());

    // No wish at all says the same as a blank one.
    let run = desktop.run(json!({"command": "BOOTSTRAP", "repo": null})).await?;
    let names = self::repos(&run, &desktop)?;
    let names: Vec<&str> = names.iter().filter_map(|repo| repo["fullName"].as_str()).collect();
    ensure!(names == [story::REPOSITORY, "acme/web", "alone"], "{names:?}");
    Ok(())
}

/// The assistant that looks at a repository meets a limit of its account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_is_looked_at_after_the_end_of_a_limit() -> Result<()> {
    let asked = r"Asked for: --output-dir (?P<output>\S+)";
    let desktop = limits::subscribed([
        limits::goes_on("continued")
            .and(asked)
            .turn([Step::write("{{output}}/tester.md", AGENT)])
            .says("One agent."),
        Conversation::when("refused", "# Agents for a test").turn(limits::refused(limits::LIMIT_SECONDS)),
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
async fn named_repositories_are_looked_at_as_closely_as_wished() -> Result<()> {
    let desktop = TestDesktop::playing([
        // The one that fails is named first, and stops nobody.
        Conversation::when("broken", "# Agents for a test")
            .and("--output-dir [^ ]*repo-0-agents")
            .turn([Step::error(400, "invalid_request_error", "no")]),
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
    let progress_lines: Vec<(&Value, &Value)> =
        repos.iter().map(|repo| (&repo["fullName"], repo.get("error").unwrap_or(&Value::Null))).collect();
    let wanted = [
        ("acme/web", json!("1")),
        (story::REPOSITORY, Value::Null),
        ("acme/nowhere", json!("not found locally")),
        ("acme/outside", json!("outside sandbox")),
        ("acme/gone", json!("path does not exist")),
        ("acme/file", json!("path is not a directory")),
    ];
    ensure!(
        progress_lines.len() == wanted.len()
            && progress_lines.iter().zip(&wanted).all(|(progress_lines, wanted)| progress_lines.0 == wanted.0 && progress_lines.1 == &wanted.1),
        "{repos:?}"
    );
    ensure!(repos[0]["branch"] == "release" && repos[0]["success"] == false, "{}", repos[0]);
    ensure!(repos[1]["success"] == true && repos[1]["agents"][0]["slug"] == "tester", "{}", repos[1]);
    let seen = desktop.testbed.model.requests_of("agents").pop().context("asked")?.tool_results();
    ensure!(seen.contains("options --depth deep --update"), "{seen}");
    Ok(())
}

/// What was told about agents before the driver of a loop started.
fn progress_lines(desktop: &TestDesktop, id: LoopId) -> Vec<String> {
    let events = desktop.cloud.events(id, "output");
    let chunks = events.iter().filter_map(|event| event["data"]["chunk"].as_str());
    chunks.filter(|chunk| chunk.starts_with("[bootstrap-")).map(str::to_owned).collect()
}

fn planner() -> Conversation {
    Conversation::when("plan", "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .turn([Step::write("{{workdir}}/plan.md", story::PLAN_MARKDOWN)])
        .runs("loopgate plan build '{{workdir}}'")
        .runs(
            "loopgate plan set-state 'Phase 1.1: Checkpoint' AWAITING_USER --workdir '{{workdir}}' \
             --action 'Read the plan' --action-file '{{workdir}}/plan.md'",
        )
        .says("Planned.\n\n<promise>COMPLETE</promise>")
}

/// Installs the plugin for the user by the assistant itself.
async fn install_for_user(desktop: &TestDesktop) -> Result<()> {
    let market = desktop.testbed.home.path().join("market");
    write_plugin(&market.join("bootstrap"))?;
    std::fs::create_dir_all(market.join(".claude-plugin"))?;
    let listed = json!({"name": "loopgate", "owner": {"name": "Test"},
        "plugins": [{"name": "bootstrap", "source": "./bootstrap", "description": "Writes agents"}]});
    std::fs::write(market.join(".claude-plugin/marketplace.json"), listed.to_string())?;
    let market = market.to_string_lossy().into_owned();
    for words in [
        ["plugin", "marketplace", "add", &market].as_slice(),
        ["plugin", "install", "bootstrap@loopgate", "--scope", "user"].as_slice(),
    ] {
        let output = desktop.testbed.home.command("claude").args(words).output().await?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_begins_with_agents_for_its_worktrees_when_the_user_has_the_plugin() -> Result<()> {
    let agents = Conversation::when("agents", "# Agents for a test")
        .and(r"Asked for: --output-dir (?P<output>\S+)")
        .turn([Step::write("{{output}}/tester.md", AGENT)])
        .says("One agent.");
    let desktop = TestDesktop::playing([agents, planner()]).await?;
    let order = json!({"command": "PLAN", "prompt": "Add a file"});
    let run = desktop.run(order.clone()).await?;
    run.completed("plan")?;
    let name = "garden-notes-loop-shop-7";
    let wanted = [
        format!("[bootstrap-started] {name}"),
        format!("[bootstrap-skipped] {name}: the plugin bootstrap is not installed"),
    ];
    ensure!(progress_lines(&desktop, run.id) == wanted, "{:?}", progress_lines(&desktop, run.id));

    install_for_user(&desktop).await?;
    desktop.testbed.add_repository("acme/web", &[("README.md", "The other page\n")])?;
    let mut both = order.clone();
    both["additionalRepos"] = json!([{"fullName": "acme/web", "branch": "main"}]);
    let run = desktop.run(both).await?;
    run.completed("plan")?;
    let told_now = progress_lines(&desktop, run.id);
    ensure!(told_now.len() == 4 && told_now[0].starts_with("[bootstrap-started] web-loop-shop-7-main-"));
    ensure!(
        told_now[1].starts_with("[bootstrap-completed] web-loop-"),
        "the others come first: {told_now:?}"
    );
    ensure!(
        told_now[2..] == [format!("[bootstrap-started] {name}"), format!("[bootstrap-completed] {name}")]
    );
    let worktree = run.worktree()?;
    let seen = desktop.testbed.model.requests_of("agents").pop().context("asked")?.tool_results();
    let agent = std::fs::read_to_string(worktree.join(".claude/agents/tester.md"));
    ensure!(agent.with_context(|| seen)? == AGENT);

    // Agents that are there, or facts of an earlier try, are enough. EXECUTE goes on in the worktree.
    std::fs::remove_dir_all(worktree.join(".claude"))?;
    std::fs::create_dir_all(worktree.join(".loopgate"))?;
    std::fs::write(worktree.join(".loopgate/bootstrap-metadata.json"), "{}")?;
    let id = desktop.run(json!({"command": "EXECUTE", "prompt": "Add a file"})).await?.id;
    ensure!(
        progress_lines(&desktop, id)[1] == format!("[bootstrap-skipped] {name}: it has agents"),
        "{:?}",
        progress_lines(&desktop, id)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_that_cannot_be_written_hold_up_no_plan() -> Result<()> {
    let broken = Conversation::when("agents", "# Agents for a test").turn([Step::error(
        400,
        "invalid_request_error",
        "not today",
    )]);
    let hanging = Conversation::when("agents", "# Agents for a test").turn([Step::hold("agents")]);
    for (begin, wanted) in [(broken, "[bootstrap-failed]"), (hanging, "[bootstrap-timeout]")] {
        let mut desktop = TestDesktop::playing([begin, planner()]).await?;
        install_for_user(&desktop).await?;
        if wanted == "[bootstrap-timeout]" {
            desktop.loopgate.stop().await?;
            let setup = desktop.loopgate.setup().clone().env("LOOPGATE_BOOTSTRAP_TIMEOUT_MS", "1");
            desktop.loopgate = setup.start().await?;
        }
        let run = desktop.run(json!({"command": "PLAN", "prompt": "Add a file"})).await?;
        run.completed("plan")?;
        let progress_lines = progress_lines(&desktop, run.id);
        ensure!(progress_lines.len() == 2 && progress_lines[1].starts_with(wanted), "{progress_lines:?}");
        let all = || loopgate_testkit::home_processes::processes(desktop.testbed.home.path());
        let others =
            || all().into_iter().map(|one| one.pid).filter(|pid| Some(*pid) != desktop.loopgate.pid());
        wait::all_end(|| others().collect()).await?;
    }
    Ok(())
}
