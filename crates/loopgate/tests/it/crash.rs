//! Crash recovery: Loopgate is killed at fixed and at random moments. After a restart every loop ends exactly
//! once, delivers exactly once, and leaves no process.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home_processes::HomeProcess;
use loopgate_testkit::model::{ModelStep, ModelTurn, Script};
use loopgate_testkit::story;
use loopgate_testkit::wait::Changes;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_system::{TestSystem, processes_of_loop, wait_for_loop_processes};

/// Environment variable with the seed of a run to repeat.
const SEED_VARIABLE: &str = "LOOPGATE_CRASH_SEED";
/// Loops of the random test, each of which sees [`KILLS`] kills.
const LOOPS: usize = 4;
const KILLS: usize = 5;
/// Approximate number of model requests between the start of EXECUTE and its pull request.
const REQUESTS: usize = 36;
/// Upper bound of the file changes between a model request and the kill.
const CHANGES: usize = 24;

/// Returns the story's script with a plan of two steps, since planning is not under test here.
fn script_with_short_plan() -> Script {
    let mut script = story::script();
    if let Some(plan) = script.conversations.iter_mut().find(|candidate| candidate.name == story::PLAN) {
        // The last two turns hand the plan over and stay as they are.
        let written = [
            ModelTurn(vec![ModelStep::write("{{workdir}}/plan.md", story::PLAN_MARKDOWN)]),
            ModelTurn(vec![ModelStep::bash("loopgate plan build '{{workdir}}'")]),
        ];
        plan.turns.splice(..plan.turns.len() - 2, written);
    }
    script
}

/// Returns the script with a gate before a turn of a conversation.
fn gated(mut script: Script, conversation: &str, turn: usize, gate: &str) -> Result<Script> {
    let entry = script.conversations.iter_mut().find(|candidate| candidate.name == conversation);
    let turns = &mut entry.context("no such conversation")?.turns;
    turns.get_mut(turn).context("no such turn")?.0.insert(0, ModelStep::hold(gate));
    Ok(script)
}

/// Checks that a loop completed with one commit and one pull request, and left no process.
async fn delivered_once(system: &TestSystem, loop_id: &str, pulls_before: usize) -> Result<()> {
    let ended = system.page.wait_for_end(loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}\n{}", system.loopgate.output());
    ends_once(system, loop_id, "completed", "Completed").await?;
    let pulls = system.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == pulls_before + 1, "{pulls:?}");
    let pull = pulls.last().context("no pull request")?;
    ensure!(ended["prUrl"] == pull.url(), "{ended}");
    let commits = pull.commits()?;
    ensure!(commits.len() == 1, "{commits:?}");
    let files: Vec<String> = pull.files()?.into_iter().map(|file| file.path).collect();
    ensure!(files == ["index.html", "styles.css", "test/theme.test.js", "theme.js"], "{files:?}");
    system.no_processes_remain(loop_id).await
}

/// Returns whether an event is terminal.
fn is_end(event: &Value) -> bool {
    matches!(event["type"].as_str(), Some("completed" | "error" | "cancelled"))
}

/// Returns the seed of this run, and prints it so that the run can be repeated.
fn seed() -> u64 {
    let given = std::env::var(SEED_VARIABLE).ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(rand::random);
    println!("{SEED_VARIABLE}={seed}");
    seed
}

/// Checks that a loop has one `started` event and one terminal event, and that the desktop's record is final.
async fn ends_once(system: &TestSystem, loop_id: &str, kind: &str, status: &str) -> Result<()> {
    let events = system.page.events(loop_id).await?;
    let ends: Vec<&Value> = events.iter().filter(|event| is_end(event)).collect();
    ensure!(ends.len() == 1 && ends[0]["type"] == kind, "{ends:?}");
    let started = events.iter().filter(|event| event["type"] == "started").count();
    ensure!(started == 1, "{started} started events");
    system.settled(loop_id, status).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn execute_completes_after_loopgate_is_killed() -> Result<()> {
    let script = gated(script_with_short_plan(), story::EXECUTE, 4, "middle")?;
    let system = TestSystem::playing(script).await?;
    let document = system.page.create_plan().await?;
    let loop_id = system.page.start_loop(&document, "execute").await?;
    system.testbed.model.held("middle").await?;
    let system = system.kill_and_restart().await?;
    // The shim runs in a session of its own, so the shim and the assistant survive the kill of Loopgate.
    ensure!(!processes_of_loop(&loop_id).is_empty(), "the loop does not run without Loopgate");
    system.testbed.model.release("middle");
    delivered_once(&system, &loop_id, 0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn execute_is_delivered_when_its_assistant_ends_while_loopgate_is_down() -> Result<()> {
    let script = gated(script_with_short_plan(), story::EXECUTE, 4, "middle")?;
    let mut system = TestSystem::playing(script).await?;
    let document = system.page.create_plan().await?;
    let loop_id = system.page.start_loop(&document, "execute").await?;
    system.testbed.model.held("middle").await?;
    system.loopgate.kill().await?;
    system.testbed.model.release("middle");
    wait_for_loop_processes(&loop_id).await?;
    ensure!(
        system.testbed.host.pull_requests(story::REPOSITORY).is_empty(),
        "the work was delivered without Loopgate"
    );
    let system = system.restart().await?;
    delivered_once(&system, &loop_id, 0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delivery_is_not_repeated_when_loopgate_is_killed_between_its_steps() -> Result<()> {
    let mut system = TestSystem::playing(script_with_short_plan()).await?;
    let document = system.page.create_plan().await?;
    let remotes = &system.testbed.remotes;
    let mut steps = [
        remotes.hold_push(story::REPOSITORY)?,
        remotes.hold_after_push(story::REPOSITORY)?,
        system.testbed.home.hold_after_pull_request()?,
    ];
    let loop_id = system.page.start_loop(&document, "execute").await?;
    for step in &mut steps {
        step.started().await?;
        system = system.kill_and_restart().await?;
        step.release()?;
    }
    delivered_once(&system, &loop_id, 0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_random_kills() -> Result<()> {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let mut in_time = 0;
    for round in 0..LOOPS {
        let kills_in_time = one_loop_many_kills(&mut random).await;
        in_time += kills_in_time.with_context(|| format!("round {round} of {SEED_VARIABLE}={seed}"))?;
    }
    println!("{in_time} of {} kills before the end of their loop", LOOPS * KILLS);
    // Loops can end before their kills. Fewer than half of the kills in a running loop would test too little.
    ensure!(in_time >= LOOPS * KILLS / 2, "too few kills hit a running loop");
    Ok(())
}

/// Moment of a kill: after this many model requests since EXECUTE started, or after the pull request was opened,
/// when only the report to the control plane remains.
enum KillPoint {
    ModelRequests(usize),
    Delivered,
}

/// Kills Loopgate at random moments of an EXECUTE, the last of them close to its end. Returns the number of
/// kills that hit a running loop.
async fn one_loop_many_kills(random: &mut StdRng) -> Result<usize> {
    let mut system = TestSystem::playing(script_with_short_plan()).await?;
    let document = system.page.create_plan().await?;
    let before = system.testbed.model.requests().len();
    let loop_id = system.page.start_loop(&document, "execute").await?;
    // Sorted, because the moments are reached in the order of the model's requests.
    let mut counts: Vec<usize> = (1..KILLS).map(|_| random.random_range(0..=REQUESTS)).collect();
    counts.sort_unstable();
    let moments = counts.into_iter().map(KillPoint::ModelRequests).chain([KillPoint::Delivered]);
    let mut in_time = 0;
    for moment in moments {
        let changes = random.random_range(0..CHANGES);
        let reached = async {
            match moment {
                KillPoint::ModelRequests(times) => {
                    system.testbed.model.wait_for(|requests| requests.len() >= before + times).await
                }
                KillPoint::Delivered => {
                    system.testbed.host.wait_for(story::REPOSITORY, |pulls| !pulls.is_empty()).await
                }
            }
        };
        let page = system.page.clone();
        tokio::select! {
            reached = reached => reached?,
            ended = page.wait_for_end(&loop_id) => drop(ended?),
        }
        after_changes(&system, &loop_id, changes).await?;
        let ended = system.page.read(&loop_id).await?["completedAt"].is_string();
        in_time += usize::from(!ended);
        system = system.kill_and_restart().await?;
        ensure!(system.testbed.host.pull_requests(story::REPOSITORY).len() <= 1, "a second pull request");
    }
    delivered_once(&system, &loop_id, 0).await?;
    Ok(in_time)
}

/// Waits until files of the home changed this often, or the loop ended.
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
        ended = system.page.wait_for_end(loop_id) => ended.map(drop),
    }
}

// Loopgate is killed between the loop request and its response. A started loop completes; a loop that was not
// may start later, or fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_completes_or_fails_when_loopgate_is_killed_during_its_launch() -> Result<()> {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let mut system = TestSystem::playing(script_with_short_plan()).await?;
    for round in 0..KILLS {
        let document = system.page.create_document().await?;
        let before = system.testbed.model.requests().len();
        let loop_id = system.page.start_loop(&document, "plan").await?;
        after_changes(&system, &loop_id, random.random_range(0..CHANGES)).await?;
        system = system.kill_and_restart().await?;
        let ended = system.page.wait_for_end(&loop_id).await?;
        let events = system.page.events(&loop_id).await?;
        println!("round {round}: {} {}", ended["status"], ended["error"]);
        let context = format!("round {round} of {SEED_VARIABLE}={seed}: {ended}\n{events:?}");
        let ends = events.iter().filter(|event| is_end(event)).count();
        let starts = events.iter().filter(|event| event["type"] == "started").count();
        ensure!(ends == 1 && starts <= 1, "{context}");
        // The requests of the model show whether the loop was started: events may have been lost with the
        // killed process.
        let worked = system.testbed.model.requests().len() > before;
        ensure!(ended["status"] == if worked { "COMPLETED" } else { "FAILED" }, "{context}");
        system.no_processes_remain(&loop_id).await.context(context)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_fails_when_its_shim_is_killed() -> Result<()> {
    let script = gated(script_with_short_plan(), story::EXECUTE, 4, "middle")?;
    let system = TestSystem::playing(script).await?;
    let document = system.page.create_plan().await?;
    let loop_id = system.page.start_loop(&document, "execute").await?;
    system.testbed.model.held("middle").await?;
    let shims = system.other_processes().into_iter().filter(|process| process.command.contains(" shim "));
    let shims: Vec<HomeProcess> = shims.collect();
    ensure!(shims.len() == 1, "{shims:?}");
    // Without its shim the loop has no exit code, so it must fail and not wait for one.
    kill(shims[0].pid, "KILL")?;
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "FAILED", "{ended}");
    ensure!(ended["error"]["code"] == "PROCESS_STOPPED", "{ended}");
    ends_once(&system, &loop_id, "error", "Unknown").await?;
    system.no_processes_remain(&loop_id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_loop_leaves_no_process() -> Result<()> {
    let script = gated(script_with_short_plan(), story::EXECUTE, 4, "middle")?;
    let system = TestSystem::playing(script).await?;
    let document = system.page.create_plan().await?;
    let loop_id = system.page.start_loop(&document, "execute").await?;
    system.testbed.model.held("middle").await?;
    let kill = || async {
        let request = system.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop/kill");
        let answer = request.json(&json!({"loopId": loop_id})).send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };
    ensure!(kill().await? == (200, json!({"success": true, "message": "Loop process terminated"})));
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "CANCELLED", "{ended}");
    ends_once(&system, &loop_id, "cancelled", "Cancelled").await?;
    system.no_processes_remain(&loop_id).await?;
    ensure!(
        system.testbed.host.pull_requests(story::REPOSITORY).is_empty(),
        "a cancelled loop was delivered"
    );
    let (status, again) = kill().await?;
    ensure!(status == 404 && again["error"] == "No running process found for this loop", "{again}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_survives_ctrl_c() -> Result<()> {
    let script = gated(script_with_short_plan(), story::EXECUTE, 4, "middle")?;
    let mut system = TestSystem::playing(script).await?;
    let document = system.page.create_plan().await?;
    let loop_id = system.page.start_loop(&document, "execute").await?;
    system.testbed.model.held("middle").await?;
    kill(system.loopgate.pid().context("not running")?, "INT")?;
    let status = tokio::time::timeout(STOP_TIMEOUT, system.loopgate.wait())
        .await
        .context("Loopgate does not stop")??;
    ensure!(status.code() == Some(0), "{status}");
    ensure!(!processes_of_loop(&loop_id).is_empty(), "the loop was terminated");
    let system = system.restart().await?;
    system.testbed.model.release("middle");
    delivered_once(&system, &loop_id, 0).await
}

/// Timeout of a graceful stop. A slower stop counts as a failure.
const STOP_TIMEOUT: Duration = Duration::from_secs(8);

/// Sends a signal to a process that this test started.
fn kill(pid: u32, signal: &str) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "signals a process of this test")]
    let status =
        std::process::Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status()?;
    ensure!(status.success(), "kill -{signal} {pid}");
    Ok(())
}
