//! What a loop has used is counted once, as the model served it: through sub-agents, through a kill
//! of Loopgate in the middle, in the loop's record, its events, and the status of its ticket.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Api, Conversation, Script, Step, Usage};
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use reqwest::Method;
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::test_system::{self, TestSystem};

/// What the model served, by the script that it followed.
fn served(system: &TestSystem, script: &Script) -> Usage {
    let mut sum = Usage { input: 0, output: 0, cache_read: 0, cache_write: 0 };
    for request in system.testbed.model.requests().iter().filter(|request| request.api == Api::Messages) {
        let known =
            script.conversations.iter().find(|known| Some(&known.name) == request.conversation.as_ref());
        let turn = known.and_then(|known| known.turns.get(request.turn));
        let said = turn.iter().flat_map(|turn| &turn.0).rev().find_map(|step| match step {
            Step::Usage(usage) => Some(*usage),
            _ => None,
        });
        let usage = said.unwrap_or_default();
        sum.input += usage.input;
        sum.output += usage.output;
        sum.cache_read += usage.cache_read;
        sum.cache_write += usage.cache_write;
    }
    sum
}

/// The totals of all models, as they are stored: input, output, written to the cache, read from it.
fn totals(by_model: &Value) -> Result<[u64; 4]> {
    let models = by_model.as_object().context("tokens by model")?;
    let of = |member: &str| models.values().filter_map(|model| model[member].as_u64()).sum();
    Ok(["input", "output", "cacheCreation", "cacheRead"].map(of))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_token_of_a_loop_counts_once_through_a_restart() -> Result<()> {
    let mut script = story::script();
    let plan = script.conversations.iter_mut().find(|known| known.name == story::PLAN).context("a plan")?;
    let turns = plan.turns.len();
    plan.turns.get_mut(turns - 1).context("a last turn")?.0.insert(0, Step::hold("almost"));
    let system = TestSystem::playing(script.clone()).await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    system.testbed.model.held("almost").await?;
    let system = system.kill_and_restart().await?;
    system.testbed.model.release("almost");
    let ended = system.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");

    let Usage { input, output, cache_read, cache_write } = served(&system, &script);
    let stored = totals(&ended["tokensByModel"])?;
    ensure!(
        stored == [input, output, cache_write, cache_read],
        "{stored:?} of {:?}",
        served(&system, &script)
    );
    ensure!(ended["tokensInput"] == input && ended["tokensOutput"] == output, "{ended}");
    let cost = ended["metadata"]["cost"]["totalUsd"].as_f64().context("the assistant told what it cost")?;
    ensure!(cost > 0.0, "{ended}");

    let events = system.page.events(&loop_id).await?;
    let numbers = |member: &str, number: &str| -> Vec<u64> {
        let lists = events.iter().filter_map(|event| event[member].as_array());
        lists.flatten().filter_map(|item| item[number].as_u64()).collect()
    };
    let (turns, runs) = (numbers("turns", "turn"), numbers("runs", "run"));
    ensure!(turns == (1..=turns.len() as u64).collect::<Vec<_>>(), "each turn is told once: {turns:?}");
    ensure!(runs == (1..=runs.len() as u64).collect::<Vec<_>>() && !runs.is_empty(), "{runs:?}");

    let repo = system.clone.to_string_lossy();
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("repo", &repo).finish();
    let path = format!("/api/gateway/orchestrator/status/{loop_id}?{query}");
    let status: Value = system.loopgate.gateway(Method::GET, &path).send().await?.json().await?;
    let spend = &status["loop"]["spend"];
    ensure!(totals(&spend["tokensByModel"])? == stored, "{status}");
    ensure!(
        spend["cost"]["totalUsd"] == cost && spend["turns"].as_u64() >= turns.last().copied(),
        "{status}"
    );
    system.alone(&loop_id).await
}

/// A delivery is done by another run of the assistant; it costs too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commit_is_part_of_what_a_loop_cost() -> Result<()> {
    let script = story::script();
    let system = TestSystem::playing(script.clone()).await?;
    let wish = system.page.wish().await?;
    let plan_loop = system.page.press(&wish, "plan").await?;
    system.page.ended(&plan_loop).await?;
    let execute_loop = system.page.press(&wish, "execute").await?;
    let ended = system.page.ended(&execute_loop).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    let plan = system.page.read(&plan_loop).await?;
    let (one, two) = (totals(&plan["tokensByModel"])?, totals(&ended["tokensByModel"])?);
    let Usage { input, output, cache_read, cache_write } = served(&system, &script);
    let both: Vec<u64> = one.iter().zip(two).map(|(one, two)| one + two).collect();
    ensure!(both == [input, output, cache_write, cache_read], "{both:?} of {:?}", served(&system, &script));
    system.alone(&execute_loop).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spending_limit_ends_a_loop_and_keeps_its_work() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    let system = TestSystem::start(test_system::setup(&testbed)?, testbed).await?;
    let limits = json!({"spendingLimits": {"perLoopUsd": 3000}});
    let set = system.page.0.request(Method::PUT, "/organization/settings").json(&limits).send().await?;
    ensure!(set.status().is_success(), "{}", set.text().await?);
    let wish = system.page.wish().await?;
    let plan_loop = system.page.press(&wish, "plan").await?;
    ensure!(system.page.ended(&plan_loop).await?["status"] == "COMPLETED", "the limit is not reached");

    // A thousand million tokens are read with the first answer of the execution.
    let mut script = story::script();
    let execute = script
        .conversations
        .iter_mut()
        .find(|known| known.name == story::EXECUTE)
        .context("a conversation")?;
    let first = execute.turns.first_mut().context("a turn")?;
    first.0.insert(0, Step::write("{{cwd}}/expensive.txt", "paid\n"));
    first.0.push(Step::Usage(Usage { input: 1_000_000_000, output: 1, cache_read: 0, cache_write: 0 }));
    system.testbed.model.play(script)?;
    let execute_loop = system.page.press(&wish, "execute").await?;
    let ended = system.page.ended(&execute_loop).await?;
    ensure!(ended["status"] == "FAILED" && ended["error"]["code"] == "SPENDING_LIMIT", "{ended}");
    let message = ended["error"]["message"].as_str().context("a message")?;
    ensure!(message.contains("its spending limit of $3000.00"), "{message}");
    system.alone(&execute_loop).await
}

/// A loop without the driver is one run of the assistant, which keeps to the limit itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spending_limit_ends_a_loop_of_one_run() -> Result<()> {
    let usage = Usage { input: 1_000_000_000, output: 1, cache_read: 0, cache_write: 0 };
    let writer = Conversation::when("write", "# Write requirements")
        .turn([Step::bash("true"), Step::Usage(usage)])
        .says("Written.");
    let desktop = TestDesktop::with([writer], |setup| setup.arg("--max-spend-usd").arg("1")).await?;
    let run = desktop.run(json!({"command": "GENERATE_PRD", "prompt": "Dark mode"})).await?;
    ensure!(run.last["type"] == "error" && run.last["code"] == "SPENDING_LIMIT", "{}", run.last);
    ensure!(desktop.testbed.model.requests_of("write").len() == 1, "the assistant stopped by itself");
    Ok(())
}
