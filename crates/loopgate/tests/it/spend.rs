//! Token usage and cost of a loop: each model response counts once, including sub-agents and across a crash
//! of Loopgate, in the loop's record, its events and its ticket's status.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Api, Conversation, ModelStep, ModelUsage, Script};
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use reqwest::Method;
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::test_system::{self, TestSystem};

/// Sums the usage of all model responses, as defined by the script.
fn served_usage(system: &TestSystem, script: &Script) -> ModelUsage {
    let mut sum = ModelUsage { input: 0, output: 0, cache_read: 0, cache_write: 0 };
    for request in system.testbed.model.requests().iter().filter(|request| request.api == Api::Messages) {
        let conversation = script
            .conversations
            .iter()
            .find(|conversation| Some(&conversation.name) == request.conversation.as_ref());
        let turn = conversation.and_then(|conversation| conversation.turns.get(request.turn));
        // The model server reports the last usage of a turn.
        let last_usage = turn.iter().flat_map(|turn| &turn.0).rev().find_map(|step| match step {
            ModelStep::Usage(usage) => Some(*usage),
            _ => None,
        });
        let usage = last_usage.unwrap_or_default();
        sum.input += usage.input;
        sum.output += usage.output;
        sum.cache_read += usage.cache_read;
        sum.cache_write += usage.cache_write;
    }
    sum
}

/// Sums the stored tokens of all models: input, output, cache write, cache read.
fn totals(by_model: &Value) -> Result<[u64; 4]> {
    let models = by_model.as_object().context("tokens by model")?;
    let of = |member: &str| models.values().filter_map(|model| model[member].as_u64()).sum();
    Ok(["input", "output", "cacheCreation", "cacheRead"].map(of))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_counted_once_across_restart() -> Result<()> {
    let mut script = story::script();
    let plan = script
        .conversations
        .iter_mut()
        .find(|conversation| conversation.name == story::PLAN)
        .context("a plan")?;
    let turns = plan.turns.len();
    plan.turns.get_mut(turns - 1).context("a last turn")?.0.insert(0, ModelStep::hold("almost"));
    let system = TestSystem::playing(script.clone()).await?;
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    system.testbed.model.held("almost").await?;
    let system = system.kill_and_restart().await?;
    system.testbed.model.release("almost");
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");

    let ModelUsage { input, output, cache_read, cache_write } = served_usage(&system, &script);
    let stored_totals = totals(&ended["tokensByModel"])?;
    ensure!(
        stored_totals == [input, output, cache_write, cache_read],
        "{stored_totals:?} of {:?}",
        served_usage(&system, &script)
    );
    ensure!(ended["tokensInput"] == input && ended["tokensOutput"] == output, "{ended}");
    let cost = ended["metadata"]["cost"]["totalUsd"].as_f64().context("no cost")?;
    ensure!(cost > 0.0, "{ended}");

    let events = system.page.events(&loop_id).await?;
    let numbers = |member: &str, number: &str| -> Vec<u64> {
        let lists = events.iter().filter_map(|event| event[member].as_array());
        lists.flatten().filter_map(|item| item[number].as_u64()).collect()
    };
    let (turns, runs) = (numbers("turns", "turn"), numbers("runs", "run"));
    ensure!(
        turns == (1..=turns.len() as u64).collect::<Vec<_>>(),
        "turns are missing or repeated: {turns:?}"
    );
    ensure!(runs == (1..=runs.len() as u64).collect::<Vec<_>>() && !runs.is_empty(), "{runs:?}");

    let repo = system.clone.to_string_lossy();
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("repo", &repo).finish();
    let path = format!("/api/gateway/orchestrator/status/{loop_id}?{query}");
    let status: Value = system.loopgate.gateway(Method::GET, &path).send().await?.json().await?;
    let spend = &status["loop"]["spend"];
    ensure!(totals(&spend["tokensByModel"])? == stored_totals, "{status}");
    ensure!(
        spend["cost"]["totalUsd"] == cost && spend["turns"].as_u64() >= turns.last().copied(),
        "{status}"
    );
    system.no_processes_remain(&loop_id).await
}

/// Delivery runs the assistant a second time, and this usage counts as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commit_run_is_included_in_usage() -> Result<()> {
    let script = story::script();
    let system = TestSystem::playing(script.clone()).await?;
    let document = system.page.create_document().await?;
    let plan_loop = system.page.start_loop(&document, "plan").await?;
    system.page.wait_for_end(&plan_loop).await?;
    let execute_loop = system.page.start_loop(&document, "execute").await?;
    let ended = system.page.wait_for_end(&execute_loop).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    let plan = system.page.read(&plan_loop).await?;
    let (planned, executed) = (totals(&plan["tokensByModel"])?, totals(&ended["tokensByModel"])?);
    let ModelUsage { input, output, cache_read, cache_write } = served_usage(&system, &script);
    let sum: Vec<u64> = planned.iter().zip(executed).map(|(planned, executed)| planned + executed).collect();
    ensure!(
        sum == [input, output, cache_write, cache_read],
        "{sum:?} of {:?}",
        served_usage(&system, &script)
    );
    system.no_processes_remain(&execute_loop).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spending_limit_fails_loop() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    let system = TestSystem::start(test_system::setup(&testbed)?, testbed).await?;
    let limits = json!({"spendingLimits": {"perLoopUsd": 3000}});
    let set = system.page.0.request(Method::PUT, "/organization/settings").json(&limits).send().await?;
    ensure!(set.status().is_success(), "{}", set.text().await?);
    let document = system.page.create_document().await?;
    let plan_loop = system.page.start_loop(&document, "plan").await?;
    ensure!(
        system.page.wait_for_end(&plan_loop).await?["status"] == "COMPLETED",
        "the plan did not complete"
    );

    // The first response of the execution reports one billion input tokens, which cost more than $3000.
    let mut script = story::script();
    let execute = script
        .conversations
        .iter_mut()
        .find(|conversation| conversation.name == story::EXECUTE)
        .context("a conversation")?;
    let first = execute.turns.first_mut().context("a turn")?;
    first.0.insert(0, ModelStep::write("{{cwd}}/expensive.txt", "paid\n"));
    first.0.push(ModelStep::Usage(ModelUsage {
        input: 1_000_000_000,
        output: 1,
        cache_read: 0,
        cache_write: 0,
    }));
    system.testbed.model.play(script)?;
    let execute_loop = system.page.start_loop(&document, "execute").await?;
    let ended = system.page.wait_for_end(&execute_loop).await?;
    ensure!(ended["status"] == "FAILED" && ended["error"]["code"] == "SPENDING_LIMIT", "{ended}");
    let message = ended["error"]["message"].as_str().context("a message")?;
    ensure!(message.contains("its spending limit of $3000.00"), "{message}");
    system.no_processes_remain(&execute_loop).await
}

/// Commands without the driver run the assistant once, and pass the limit to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spending_limit_applies_to_single_run_commands() -> Result<()> {
    let usage = ModelUsage { input: 1_000_000_000, output: 1, cache_read: 0, cache_write: 0 };
    let writer = Conversation::when("write", "# Write requirements")
        .turn([ModelStep::bash("true"), ModelStep::Usage(usage)])
        .says("Written.");
    let desktop = TestDesktop::with([writer], |setup| setup.arg("--max-spend-usd").arg("1")).await?;
    let run = desktop.run(json!({"command": "GENERATE_PRD", "prompt": "Dark mode"})).await?;
    ensure!(run.last["type"] == "error" && run.last["code"] == "SPENDING_LIMIT", "{}", run.last);
    ensure!(desktop.testbed.model.requests_of("write").len() == 1, "the assistant continued after the limit");
    Ok(())
}
