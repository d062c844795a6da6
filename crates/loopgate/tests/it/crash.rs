//! What a kill leaves: Loopgate dies at known and at random moments, a new one takes the work up,
//! and every loop ends once, delivered once, with nothing left running.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home_processes::HomeProcess;
use loopgate_testkit::model::{ModelRequest, Script, Step, Turn};
use loopgate_testkit::story;
use loopgate_testkit::wait::Changes;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_system::{TestSystem, gone, of_loop};

/// Names the seed of a run that is to be repeated.
const SEED_VARIABLE: &str = "LOOPGATE_CRASH_SEED";
/// Loops of the random test, and kills in each.
const LOOPS: usize = 4;
const KILLS: usize = 5;
/// Requests that the model gets between Execute and the pull request, about.
const REQUESTS: usize = 44;
/// Up to so many changes of files after a request Loopgate is killed.
const CHANGES: usize = 24;

/// The story with a plan that is written at once, by nobody's help: the plan is not what is tested.
fn brisk() -> Script {
    let mut script = story::script();
    if let Some(plan) = script.conversations.iter_mut().find(|known| known.name == story::PLAN) {
        // What hands the plan over stays; it is the last two answers.
        let written = [
            Turn(vec![Step::write("{{workdir}}/plan.md", story::PLAN_MARKDOWN)]),
            Turn(vec![Step::bash("loopgate plan build '{{workdir}}'")]),
        ];
        plan.turns.splice(..plan.turns.len() - 2, written);
    }
    script
}

/// The script, with a gate before an answer.
fn gated(mut script: Script, conversation: &str, turn: usize, gate: &str) -> Result<Script> {
    let found = script.conversations.iter_mut().find(|known| known.name == conversation);
    let turns = &mut found.context("the conversation exists")?.turns;
    turns.get_mut(turn).context("the turn exists")?.0.insert(0, Step::hold(gate));
    Ok(script)
}

/// What must hold when a loop that was to deliver is over.
async fn delivered_once(system: &TestSystem, loop_id: &str, pulls_before: usize) -> Result<()> {
    let ended = system.page.ended(loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}\n{}", system.loopgate.output());
    ends_once(system, loop_id, "completed", "Completed").await?;
    let pulls = system.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == pulls_before + 1, "{pulls:?}");
    let pull = pulls.last().context("there is one")?;
    ensure!(ended["prUrl"] == pull.url(), "{ended}");
    let commits = pull.commits()?;
    ensure!(commits.len() == 1, "{commits:?}");
    let files: Vec<String> = pull.files()?.into_iter().map(|file| file.path).collect();
    ensure!(files == ["index.html", "styles.css", "test/theme.test.js", "theme.js"], "{files:?}");
    system.alone(loop_id).await
}

/// Whether an event tells of a loop's end.
fn is_end(event: &Value) -> bool {
    matches!(event["type"].as_str(), Some("completed" | "error" | "cancelled"))
}

/// The seed of the run, printed so that it can be repeated.
fn seed() -> u64 {
    let given = std::env::var(SEED_VARIABLE).ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(rand::random);
    println!("{SEED_VARIABLE}={seed}");
    seed
}

/// One event tells of the end, and the desktop's record agrees that it is over.
async fn ends_once(system: &TestSystem, loop_id: &str, kind: &str, status: &str) -> Result<()> {
    let events = system.page.events(loop_id).await?;
    let ends: Vec<&Value> = events.iter().filter(|event| is_end(event)).collect();
    ensure!(ends.len() == 1 && ends[0]["type"] == kind, "{ends:?}");
    let started = events.iter().filter(|event| event["type"] == "started").count();
    ensure!(started == 1, "{started} beginnings");
    system.settled(loop_id, status).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_of_execute() -> Result<()> {
    let script = gated(brisk(), story::EXECUTE, 4, "middle")?;
    let system = TestSystem::playing(script).await?;
    let wish = system.page.planned().await?;
    let loop_id = system.page.press(&wish, "execute").await?;
    system.testbed.model.held("middle").await?;
    let system = system.kill_and_restart().await?;
    ensure!(!of_loop(&loop_id).is_empty(), "the loop goes on without Loopgate");
    system.testbed.model.release("middle");
    delivered_once(&system, &loop_id, 0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn assistant_ends_while_loopgate_is_dead() -> Result<()> {
    let script = gated(brisk(), story::EXECUTE, 4, "middle")?;
    let mut system = TestSystem::playing(script).await?;
    let wish = system.page.planned().await?;
    let loop_id = system.page.press(&wish, "execute").await?;
    system.testbed.model.held("middle").await?;
    system.loopgate.kill().await?;
    system.testbed.model.release("middle");
    gone(&loop_id).await?;
    ensure!(system.testbed.host.pull_requests(story::REPOSITORY).is_empty(), "nobody delivers meanwhile");
    let system = system.restart().await?;
    delivered_once(&system, &loop_id, 0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_before_the_push_after_it_and_after_the_pull_request() -> Result<()> {
    let mut script = brisk();
    let gates = [(2, "before the push"), (3, "after the push"), (6, "after the pull request")];
    for (turn, gate) in gates {
        script = gated(script, story::COMMIT, turn, gate)?;
    }
    let mut system = TestSystem::playing(script).await?;
    let wish = system.page.planned().await?;
    let loop_id = system.page.press(&wish, "execute").await?;
    for (_, gate) in gates {
        system.testbed.model.held(gate).await?;
        system = system.kill_and_restart().await?;
        system.testbed.model.release(gate);
    }
    delivered_once(&system, &loop_id, 0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_random_kills() -> Result<()> {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let mut in_time = 0;
    for round in 0..LOOPS {
        let killed = one_loop_many_kills(&mut random).await;
        in_time += killed.with_context(|| format!("round {round} of {SEED_VARIABLE}={seed}"))?;
    }
    println!("{in_time} of {} kills before the end of their loop", LOOPS * KILLS);
    ensure!(in_time >= LOOPS * KILLS / 2, "too few kills hit a loop that was under way");
    Ok(())
}

/// When Loopgate is killed: so many changes of files after the model was asked so often since Execute, or after
/// the assistant was told that it has delivered, when only the report is left.
enum KillPoint {
    Asked(usize),
    Delivered,
}

/// Kills Loopgate at some moments between Execute and the end, the last one close to the end.
/// Answers how many came in time.
async fn one_loop_many_kills(random: &mut StdRng) -> Result<usize> {
    let mut system = TestSystem::playing(brisk()).await?;
    let wish = system.page.planned().await?;
    let before = system.testbed.model.requests().len();
    let loop_id = system.page.press(&wish, "execute").await?;
    let mut asked: Vec<usize> = (1..KILLS).map(|_| random.random_range(0..=REQUESTS)).collect();
    asked.sort_unstable();
    let moments = asked.into_iter().map(KillPoint::Asked).chain([KillPoint::Delivered]);
    let mut in_time = 0;
    for moment in moments {
        let signs = random.random_range(0..CHANGES);
        let reached = |requests: &[ModelRequest]| match moment {
            KillPoint::Asked(times) => requests.len() >= before + times,
            KillPoint::Delivered => requests.iter().any(has_delivered),
        };
        let page = system.page.clone();
        tokio::select! {
            reached = system.testbed.model.wait_for(reached) => reached?,
            ended = page.ended(&loop_id) => drop(ended?),
        }
        after_changes(&system, &loop_id, signs).await?;
        let ended = system.page.read(&loop_id).await?["completedAt"].is_string();
        in_time += usize::from(!ended);
        system = system.kill_and_restart().await?;
        ensure!(system.testbed.host.pull_requests(story::REPOSITORY).len() <= 1, "a second pull request");
    }
    delivered_once(&system, &loop_id, 0).await?;
    Ok(in_time)
}

/// Waits until files of the home have changed so often, or the loop is over.
async fn after_changes(system: &TestSystem, loop_id: &str, times: usize) -> Result<()> {
    let mut changes = Changes::below(system.testbed.home.path())?;
    let changing = async {
        for _ in 0..times {
            changes.next().await?;
        }
        Ok(())
    };
    tokio::select! {
        changed = changing => changed,
        ended = system.page.ended(loop_id) => ended.map(drop),
    }
}

/// Whether this asks what to say when everything is committed, pushed and opened.
fn has_delivered(request: &ModelRequest) -> bool {
    request.conversation.as_deref() == Some(story::COMMIT) && request.tool_results().contains("\"prUrl\"")
}

/// Loopgate dies between the order and the answer to it. A loop that works is not given up, and
/// one that never began begins, or says that it did not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_a_loop_is_prepared() -> Result<()> {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let mut system = TestSystem::playing(brisk()).await?;
    for round in 0..KILLS {
        let wish = system.page.wish().await?;
        let before = system.testbed.model.requests().len();
        let loop_id = system.page.press(&wish, "plan").await?;
        after_changes(&system, &loop_id, random.random_range(0..CHANGES)).await?;
        system = system.kill_and_restart().await?;
        let ended = system.page.ended(&loop_id).await?;
        let told = system.page.events(&loop_id).await?;
        println!("round {round}: {} {}", ended["status"], ended["error"]);
        let said = format!("round {round} of {SEED_VARIABLE}={seed}: {ended}\n{told:?}");
        let ends = told.iter().filter(|event| is_end(event)).count();
        let starts = told.iter().filter(|event| event["type"] == "started").count();
        ensure!(ends == 1 && starts <= 1, "{said}");
        let worked = system.testbed.model.requests().len() > before;
        ensure!(ended["status"] == if worked { "COMPLETED" } else { "FAILED" }, "{said}");
        system.alone(&loop_id).await.context(said)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_shim_ends_its_loop() -> Result<()> {
    let script = gated(brisk(), story::EXECUTE, 4, "middle")?;
    let system = TestSystem::playing(script).await?;
    let wish = system.page.planned().await?;
    let loop_id = system.page.press(&wish, "execute").await?;
    system.testbed.model.held("middle").await?;
    let shims = system.others().into_iter().filter(|process| process.command.contains(" shim "));
    let shims: Vec<HomeProcess> = shims.collect();
    ensure!(shims.len() == 1, "{shims:?}");
    kill(shims[0].pid, "KILL")?;
    let ended = system.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "FAILED", "{ended}");
    ensure!(ended["error"]["code"] == "PROCESS_STOPPED", "{ended}");
    ends_once(&system, &loop_id, "error", "Unknown").await?;
    system.alone(&loop_id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_loop_leaves_no_process() -> Result<()> {
    let script = gated(brisk(), story::EXECUTE, 4, "middle")?;
    let system = TestSystem::playing(script).await?;
    let wish = system.page.planned().await?;
    let loop_id = system.page.press(&wish, "execute").await?;
    system.testbed.model.held("middle").await?;
    let kill = || async {
        let request = system.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop/kill");
        let answer = request.json(&json!({"loopId": loop_id})).send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };
    ensure!(kill().await? == (200, json!({"success": true, "message": "Loop process terminated"})));
    let ended = system.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "CANCELLED", "{ended}");
    ends_once(&system, &loop_id, "cancelled", "Cancelled").await?;
    system.alone(&loop_id).await?;
    ensure!(
        system.testbed.host.pull_requests(story::REPOSITORY).is_empty(),
        "a cancelled loop delivers nothing"
    );
    let (status, again) = kill().await?;
    ensure!(status == 404 && again["error"] == "No running process found for this loop", "{again}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_goes_on_after_ctrl_c() -> Result<()> {
    let script = gated(brisk(), story::EXECUTE, 4, "middle")?;
    let mut system = TestSystem::playing(script).await?;
    let wish = system.page.planned().await?;
    let loop_id = system.page.press(&wish, "execute").await?;
    system.testbed.model.held("middle").await?;
    kill(system.loopgate.pid().context("it runs")?, "INT")?;
    let status =
        tokio::time::timeout(STOP_LIMIT, system.loopgate.wait()).await.context("it does not stop")??;
    ensure!(status.code() == Some(0), "{status}");
    ensure!(!of_loop(&loop_id).is_empty(), "the loop goes on");
    let system = system.restart().await?;
    system.testbed.model.release("middle");
    delivered_once(&system, &loop_id, 0).await
}

/// A stop that takes longer is no clean stop.
const STOP_LIMIT: Duration = Duration::from_secs(8);

/// Signals a process that this test's Loopgate started.
fn kill(pid: u32, signal: &str) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "signals a process of this test")]
    let status =
        std::process::Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status()?;
    ensure!(status.success(), "kill -{signal} {pid}");
    Ok(())
}
