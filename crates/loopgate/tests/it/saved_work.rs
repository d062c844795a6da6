//! Unpushed work that a new plan replaces: it is saved, listed, restored and deleted.

use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::ModelStep;
use loopgate_testkit::wait;
use reqwest::Method;
use serde_json::{Value, json};

use crate::cli;
use crate::commands::TestDesktop;
use crate::finalization::in_loop;
use crate::records;
use crate::test_system::git;

const KILL: &str = "/api/gateway/orchestrator/loop/kill";

async fn run(desktop: &TestDesktop, words: &[&str]) -> Result<Output> {
    let (data, sandbox) = (desktop.loopgate.setup().data_dir(), desktop.testbed.sandbox());
    let mut arguments = [&["worktrees"], words].concat();
    arguments.extend(["--home", data.to_str().context("a plain path")?]);
    cli::run(&desktop.testbed.home, &arguments, &[("LOOPGATE_SANDBOX", &sandbox.to_string_lossy())]).await
}

/// Returns the output of a `loopgate worktrees` command.
async fn output_of(desktop: &TestDesktop, words: &[&str]) -> Result<String> {
    let output = run(desktop, words).await?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the names of the saved work.
async fn saved_names(desktop: &TestDesktop) -> Result<Vec<String>> {
    let printed = output_of(desktop, &["--json"]).await?;
    let lines: Vec<Value> = printed.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(lines.iter().filter_map(|line| line["saved"].as_str().map(str::to_owned)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_plan_saves_work_of_cancelled_execution() -> Result<()> {
    let execution = in_loop("execute", "EXECUTE")
        .turn([ModelStep::bash(
            // The commit is on a detached HEAD and `half.txt` is not committed: neither is on a branch or a
            // remote.
            "echo half > half.txt; git checkout -q --detach; git commit -q --allow-empty -m Half",
        )])
        .turn([ModelStep::hold("working"), ModelStep::text("<promise>COMPLETE</promise>")]);
    let planning = in_loop("plan", "PLAN").says("<promise>COMPLETE</promise>");
    let mut desktop = TestDesktop::playing([execution, planning]).await?;
    ensure!(saved_names(&desktop).await?.is_empty());
    let (id, _) = desktop.start(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    desktop.testbed.model.held("working").await?;
    let ended = desktop.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": id})).send().await?;
    ensure!(ended.status() == 200, "{}", ended.text().await?);
    let plan = desktop.run(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    plan.completed("plan")?;
    ensure!(!plan.worktree()?.join("half.txt").exists(), "the plan does not start from the base");

    let names = saved_names(&desktop).await?;
    let [name] = &names[..] else { anyhow::bail!("{names:?}") };
    ensure!(name.starts_with("garden-notes-loop-shop-7/"), "{name}");
    let output = desktop.cloud.output(plan.id).join("\n");
    ensure!(output.contains(&format!("loopgate worktrees restore {name}")), "{output}");
    ensure!(output_of(&desktop, &[]).await?.contains(name), "the saved work is not listed");

    let restored = output_of(&desktop, &["restore", name]).await?;
    let branch = format!("saved/{name}");
    ensure!(restored.contains(&branch), "{restored}");
    ensure!(git(&desktop.clone, &["show", &format!("{branch}:half.txt")])? == "half");
    ensure!(git(&desktop.clone, &["log", "-1", "--format=%s", &format!("{branch}^")])? == "Half");
    let refused = run(&desktop, &["clean", "--saved", name]).await?;
    ensure!(!refused.status.success(), "deleted without confirmation");
    ensure!(!run(&desktop, &["restore", "no-such/work"]).await?.status.success());

    // The commands read the store directly, so they also work while Loopgate is stopped.
    desktop.loopgate.stop().await?;
    ensure!(saved_names(&desktop).await? == names);
    git(&desktop.clone, &["branch", "-D", &branch])?;
    output_of(&desktop, &["restore", name]).await?;
    ensure!(git(&desktop.clone, &["show", &format!("{branch}:half.txt")])? == "half");
    ensure!(output_of(&desktop, &["clean", "--saved", "--dry-run"]).await?.contains("1 would be deleted"));
    ensure!(output_of(&desktop, &["clean", "--saved", name, "--yes"]).await?.contains("1 deleted"));
    ensure!(saved_names(&desktop).await?.is_empty());
    let desktop = desktop.restart().await?;
    ensure!(output_of(&desktop, &["clean", "--saved", "--yes"]).await?.contains("0 deleted"));
    Ok(())
}

/// A process that ignores SIGTERM occupies the worktree until it is killed after the grace period.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launch_waits_for_cancelled_loop_in_same_worktree() -> Result<()> {
    let unresponsive = in_loop("execute", "EXECUTE")
        .turn([ModelStep::bash("trap '' TERM; touch stubborn; exec sleep 600")])
        .says("<promise>COMPLETE</promise>");
    let planning = in_loop("plan", "PLAN").says("<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([unresponsive, planning]).await?;
    let (id, started) = desktop.start(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    let worktree = std::path::Path::new(started["worktreePath"].as_str().context("a worktree")?);
    wait::until_exists(&worktree.join("stubborn")).await?;
    let ending = desktop.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": id})).send();
    let ordered = async {
        // The plan is launched after the cancellation was recorded, but before the process exits.
        let data = desktop.loopgate.setup().data_dir();
        let cancelled = wait::until(&data, async || {
            let record = records::record(&desktop.loopgate, &id.to_string()).await.ok()??;
            (record["status"] != "RUNNING").then_some(())
        });
        cancelled.await?;
        desktop.run(json!({"command": "PLAN", "prompt": "Plan it"})).await
    };
    let (ended, plan) = tokio::join!(ending, ordered);
    ensure!(ended?.status() == 200);
    let plan = plan?;
    plan.completed("plan")?;
    ensure!(plan.worktree()? == worktree);
    Ok(())
}
