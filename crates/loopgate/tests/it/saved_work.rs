//! Work that no remote has, and that a new plan takes the place of: saved, listed, restored and deleted.

use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::Step;
use loopgate_testkit::wait;
use reqwest::Method;
use serde_json::{Value, json};

use crate::afterwards::in_loop;
use crate::cli;
use crate::commands::TestDesktop;
use crate::records;
use crate::test_system::git;

const KILL: &str = "/api/gateway/orchestrator/loop/kill";

async fn run(desktop: &TestDesktop, words: &[&str]) -> Result<Output> {
    let (data, sandbox) = (desktop.loopgate.setup().data_dir(), desktop.testbed.sandbox());
    let mut arguments = [&["worktrees"], words].concat();
    arguments.extend(["--home", data.to_str().context("a plain path")?]);
    cli::run(&desktop.testbed.home, &arguments, &[("LOOPGATE_SANDBOX", &sandbox.to_string_lossy())]).await
}

/// What a command of `loopgate worktrees` prints.
async fn said(desktop: &TestDesktop, words: &[&str]) -> Result<String> {
    let output = run(desktop, words).await?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The names of what is saved.
async fn saved(desktop: &TestDesktop) -> Result<Vec<String>> {
    let printed = said(desktop, &["--json"]).await?;
    let lines: Vec<Value> = printed.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(lines.iter().filter_map(|line| line["saved"].as_str().map(str::to_owned)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_plan_saves_what_a_cancelled_execution_left() -> Result<()> {
    let executes = in_loop("execute", "EXECUTE")
        .turn([Step::bash(
            "echo half > half.txt; git checkout -q --detach; git commit -q --allow-empty -m Begun",
        )])
        .turn([Step::hold("working"), Step::text("<promise>COMPLETE</promise>")]);
    let plans = in_loop("plan", "PLAN").says("<promise>COMPLETE</promise>");
    let mut desktop = TestDesktop::playing([executes, plans]).await?;
    ensure!(saved(&desktop).await?.is_empty());
    let (id, _) = desktop.start(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    desktop.testbed.model.held("working").await?;
    let ended = desktop.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": id})).send().await?;
    ensure!(ended.status() == 200, "{}", ended.text().await?);
    let plan = desktop.run(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    plan.completed("plan")?;
    ensure!(!plan.worktree()?.join("half.txt").exists(), "a plan begins anew");

    let names = saved(&desktop).await?;
    let [name] = &names[..] else { anyhow::bail!("{names:?}") };
    ensure!(name.starts_with("garden-notes-loop-shop-7/"), "{name}");
    let told = desktop.cloud.output(plan.id).join("\n");
    ensure!(told.contains(&format!("loopgate worktrees restore {name}")), "{told}");
    ensure!(said(&desktop, &[]).await?.contains(name), "it is listed");

    let restored = said(&desktop, &["restore", name]).await?;
    let branch = format!("saved/{name}");
    ensure!(restored.contains(&branch), "{restored}");
    ensure!(git(&desktop.clone, &["show", &format!("{branch}:half.txt")])? == "half");
    ensure!(git(&desktop.clone, &["log", "-1", "--format=%s", &format!("{branch}^")])? == "Begun");
    let refused = run(&desktop, &["clean", "--saved", name]).await?;
    ensure!(!refused.status.success(), "nobody was asked");
    ensure!(!run(&desktop, &["restore", "no-such/work"]).await?.status.success());

    // The same while no Loopgate runs.
    desktop.loopgate.stop().await?;
    ensure!(saved(&desktop).await? == names);
    git(&desktop.clone, &["branch", "-D", &branch])?;
    said(&desktop, &["restore", name]).await?;
    ensure!(git(&desktop.clone, &["show", &format!("{branch}:half.txt")])? == "half");
    ensure!(said(&desktop, &["clean", "--saved", "--dry-run"]).await?.contains("1 would be deleted"));
    ensure!(said(&desktop, &["clean", "--saved", name, "--yes"]).await?.contains("1 deleted"));
    ensure!(saved(&desktop).await?.is_empty());
    let desktop = desktop.restart().await?;
    ensure!(said(&desktop, &["clean", "--saved", "--yes"]).await?.contains("0 deleted"));
    Ok(())
}

/// A program that ignores the request to end keeps its loop in the worktree for a while.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn order_waits_for_the_cancelled_loop_in_its_worktree() -> Result<()> {
    let stubborn = in_loop("execute", "EXECUTE")
        .turn([Step::bash("trap '' TERM; touch stubborn; exec sleep 600")])
        .says("<promise>COMPLETE</promise>");
    let plans = in_loop("plan", "PLAN").says("<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([stubborn, plans]).await?;
    let (id, started) = desktop.start(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    let worktree = std::path::Path::new(started["worktreePath"].as_str().context("a worktree")?);
    wait::appears(&worktree.join("stubborn")).await?;
    let ending = desktop.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": id})).send();
    let ordered = async {
        let data = desktop.loopgate.setup().data_dir();
        let cancelled = wait::seen(&data, async || {
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
