//! What stays of a loop whose process is gone: its plan, its record, and what the control plane is
//! told of it and is not.

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::loopgate::signal;
use loopgate_testkit::model::{Conversation, Step};
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};

use crate::cli;
use crate::commands::Desk;
use crate::foreign::encoded;
use crate::records;
use crate::stage::{gone, of_loop};

/// A run of the coding loop for a command.
pub fn in_loop(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
}

/// A plan whose assistant waits until it is let go on.
fn held_plan() -> Conversation {
    in_loop("plan", "PLAN").turn([Step::hold("planning"), Step::text("<promise>COMPLETE</promise>")])
}

/// Ends every process of a loop at once, so that none of them leaves a word.
async fn kill_all(id: LoopId) -> Result<()> {
    for pid in of_loop(&id.to_string()) {
        // It may have gone with another one.
        let _ = signal(pid, "KILL");
    }
    gone(&id.to_string()).await
}

/// Orders a loop that waits somewhere, and kills it and Loopgate there.
async fn killed(desk: &mut Desk, hold: &str, order: Value) -> Result<(LoopId, Value)> {
    let (id, started) = desk.start(order).await?;
    desk.scene.model.held(hold).await?;
    desk.loopgate.kill().await?;
    kill_all(id).await?;
    Ok((id, started))
}

/// The entry of the story's repository, with a pull request of this number.
fn delivered(number: u64) -> Value {
    let page = format!("https://github.com/{}/pull/{number}", story::REPOSITORY);
    json!({"status": "success", "fullName": story::REPOSITORY, "prUrl": page, "prNumber": number,
        "branchName": "orchestrator/shop-7", "baseBranch": "main", "hasChanges": true, "commitSha": "0123abc"})
}

/// Waits until nothing is left to tell of a loop that ended so.
async fn forgotten(desk: &Desk, id: LoopId, status: &str) -> Result<()> {
    let logs = desk.loopgate.setup().data_dir().join("logs");
    let id = id.to_string();
    let over = wait::seen(&logs, async || {
        let record = records::record(&desk.loopgate, &id).await.ok()??;
        let tokens = records::tokens(&desk.loopgate, &id).await.ok()?;
        (record["status"] == status && record["cloudFinalizedAt"].is_string() && tokens == 0).then_some(())
    });
    over.await.with_context(|| format!("{id} does not end as {status}, or its token is kept"))
}

fn heartbeats(cloud: &Cloud, id: LoopId) -> usize {
    let of = id.to_string();
    cloud.requests().iter().filter(|received| received.route == "heartbeat" && received.loop_id == of).count()
}

async fn heard_heartbeats(desk: &Desk, id: LoopId, number: usize) {
    desk.cloud.seen(|cloud| (heartbeats(cloud, id) >= number).then_some(())).await;
}

// LR-24
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_that_fails_hands_over_the_plan_that_it_was_given() -> Result<()> {
    let local = r##"{"content": "# Another plan", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [],
        "openQuestions": [], "answeredQuestions": [], "gaps": []}"##;
    let planned = in_loop("plan", "PLAN")
        .turn([Step::write("{{workdir}}/plan.json", local)])
        .says("<promise>COMPLETE</promise>");
    let failing = in_loop("execute", "EXECUTE").turn([Step::error(400, "invalid_request_error", "no")]);
    let desk = Desk::playing([planned, failing]).await?;
    let plan = desk.run(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    plan.completed("plan")?;

    let given = "# The plan\n\n1. Do it.\n";
    let artifact = json!({"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": given});
    let run = desk.run(json!({"command": "EXECUTE", "artifacts": [artifact]})).await?;
    ensure!(run.last["type"] == "error", "{}", run.last);
    let work_dir = run.worktree()?.join(".loopgate/work");
    ensure!(!work_dir.join("plan.json").exists(), "the local plan was another one");
    ensure!(std::fs::read_to_string(work_dir.join("imported-plan.md"))? == given);
    let received = desk.cloud.requests();
    let of_the_run = received.iter().filter(|received| received.loop_id == run.id.to_string());
    let told: Vec<&Value> = of_the_run
        .filter(|received| received.route == "upload-artifacts" || received.body["type"] == "error")
        .map(|received| &received.body)
        .collect();
    let [files, error] = told[..] else { anyhow::bail!("{told:?}") };
    ensure!(files["artifacts"]["plan"] == json!({"content": given}), "{files}");
    ensure!(error["type"] == "error" && error["abortReason"] == "process-exit", "{error}");
    let id = run.id.to_string();
    // The last word is marked as told a moment after it was.
    let data = desk.loopgate.setup().data_dir();
    let told = wait::seen(&data, async || {
        let record = records::record(&desk.loopgate, &id).await.ok()??;
        record["cloudFinalizedAt"].is_string().then_some(record)
    });
    let record = told.await?;
    ensure!(record["status"] == "FAILED" && record["exitCode"] == 1, "{record}");
    ensure!(record["artifactsUploadedAt"].is_string(), "{record}");
    Ok(())
}

// LR-50
/// A heartbeat that is refused for good ends no process; a process that is gone ends the heartbeats.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_that_the_control_plane_gives_up_lives_as_long_as_its_process() -> Result<()> {
    let desk = Desk::with([held_plan()], |setup| setup.env("LOOPGATE_HEARTBEAT_INTERVAL_MS", "100")).await?;
    desk.cloud.answer_always("heartbeat", 410, json!({"success": false, "error": "gone"}));
    let plan = |slug: &str| json!({"command": "PLAN", "prompt": "Plan it", "artifactSlug": slug});
    let (dead, _) = desk.start(plan("SHOP-7")).await?;
    desk.scene.model.held("planning").await?;
    heard_heartbeats(&desk, dead, 3).await;
    kill_all(dead).await?;
    let last = desk.ended(dead).await;
    ensure!(last["code"] == "PROCESS_STOPPED", "{last}");
    desk.free(dead).await?;
    let status = async |id: LoopId| {
        let record = records::record(&desk.loopgate, &id.to_string()).await?.context("a record")?;
        anyhow::Ok(record["status"].clone())
    };
    ensure!(status(dead).await? == "UNKNOWN");
    let before = heartbeats(&desk.cloud, dead);

    let (living, _) = desk.start(plan("SHOP-8")).await?;
    desk.scene.model.held_times("planning", 2).await?;
    heard_heartbeats(&desk, living, 5).await;
    ensure!(status(living).await? == "RUNNING");
    ensure!(heartbeats(&desk.cloud, dead) == before, "a dead loop says that it lives");
    desk.scene.model.release("planning");
    ensure!(desk.ended(living).await["type"] == "completed");
    Ok(())
}

// LR-46
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_loop_without_a_token_is_kept_and_told_of_to_nobody() -> Result<()> {
    let mut desk = Desk::playing([held_plan()]).await?;
    let (id, _) = killed(&mut desk, "planning", json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    records::forget_token(&desk.loopgate, &id.to_string()).await?;
    let before = desk.cloud.requests().len();
    let desk = desk.restart().await?;
    desk.free(id).await?;
    let record = records::record(&desk.loopgate, &id.to_string()).await?.context("a record")?;
    ensure!(record["status"] == "UNKNOWN" && record.get("cloudFinalizedAt").is_none(), "{record}");
    ensure!(desk.cloud.requests().len() == before, "{:?}", desk.cloud.requests().split_off(before));
    Ok(())
}

// LR-42
/// Nobody saw its end; its state and its result say that it had come to one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_that_died_with_its_work_delivered_is_reported_as_it_says() -> Result<()> {
    let result = json!({"schemaVersion": 2, "results": [delivered(7)]}).to_string();
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::write("{{workdir}}/execution-result.json", &result)])
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .turn([Step::hold("almost"), Step::text("<promise>COMPLETE</promise>")]);
    let mut desk = Desk::playing([executed]).await?;
    let (id, started) = killed(&mut desk, "almost", json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    let work_dir = std::path::Path::new(started["worktreePath"].as_str().context("a worktree")?);
    ensure!(!work_dir.join(".loopgate/work/exit.json").exists(), "somebody saw its end");
    let desk = desk.restart().await?;
    let last = desk.ended(id).await;
    desk.free(id).await?;
    ensure!(last["type"] == "completed" && last["results"] == json!([delivered(7)]), "{last}");
    let told = &last["result"];
    ensure!(told["finalizationSource"] == "boot-recovery", "{last}");
    ensure!(told["executeFinalizationPath"] == "artifact-existing", "{last}");
    ensure!(desk.uploaded(id)["artifacts"]["executionResult"]["results"] == json!([delivered(7)]));
    ensure!(desk.scene.host.pull_requests(story::REPOSITORY).is_empty(), "nothing is delivered again");
    forgotten(&desk, id, "COMPLETED").await
}

/// Nobody saw its end, and it had not come to one: nothing is delivered, and the next one goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_execution_had_done_is_kept_for_the_next_one() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::bash("echo done >> half.txt")])
        .turn([Step::hold("half"), Step::text("<promise>COMPLETE</promise>")]);
    let mut desk = Desk::playing([executed]).await?;
    let order = json!({"command": "EXECUTE", "prompt": "Do it"});
    let (id, started) = killed(&mut desk, "half", order.clone()).await?;
    let desk = desk.restart().await?;
    let last = desk.ended(id).await;
    desk.free(id).await?;
    ensure!(last["type"] == "error" && last["code"] == "PROCESS_STOPPED", "{last}");
    let record = records::record(&desk.loopgate, &id.to_string()).await?.context("a record")?;
    let told = record["liveActivity"].as_str().unwrap_or_default();
    ensure!(told.contains("stays in the worktree"), "{record}");
    ensure!(desk.scene.host.pull_requests(story::REPOSITORY).is_empty(), "half of the work is not delivered");

    desk.scene.model.release("half");
    let run = desk.run(order).await?;
    ensure!(run.completed("execute")?["has_changes"] == true, "{}", run.last);
    ensure!(run.started["worktreePath"] == started["worktreePath"], "{}", run.started);
    ensure!(std::fs::read_to_string(run.worktree()?.join("half.txt"))? == "done\ndone\n");
    Ok(())
}

// LR-45
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_loop_that_the_control_plane_gave_up_is_told_nevertheless() -> Result<()> {
    let mut desk = Desk::playing([held_plan()]).await?;
    let (id, _) = killed(&mut desk, "planning", json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    desk.cloud.answer_always("loop", 200, json!({"success": true, "data": {"status": "TIMED_OUT"}}));
    let desk = desk.restart().await?;
    forgotten(&desk, id, "UNKNOWN").await?;
    let [error] = &desk.cloud.events(id, "error")[..] else { anyhow::bail!("it is told once") };
    ensure!(error["code"] == "PROCESS_STOPPED", "{error}");
    Ok(())
}

// LR-27
/// A result of an assistant that has done everything by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_execution_says_of_its_own_delivery_is_not_done_again() -> Result<()> {
    let beside = json!({"status": "failed", "fullName": "acme/web", "error": "the push was refused"});
    let mut own = delivered(41);
    own["prUrl"] = json!(format!("https://github.com/{}/pull/41/files", story::REPOSITORY));
    let result = json!({"schemaVersion": 2, "results": [own, beside]}).to_string();
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::write("{{workdir}}/execution-result.json", &result), Step::bash("echo x > more.txt")])
        .says("<promise>COMPLETE</promise>");
    let desk = Desk::playing([executed]).await?;
    desk.scene.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let peers = json!([{"fullName": "acme/web", "branch": "main"}]);
    let order = json!({"command": "EXECUTE", "prompt": "Do it", "additionalRepos": peers});
    let run = desk.run(order).await?;
    let told = run.completed("execute")?;
    ensure!(told["executeFinalizationPath"] == "artifact-existing", "{}", run.last);
    ensure!(told["prUrl"] == delivered(41)["prUrl"] && told["has_changes"] == true, "{}", run.last);
    ensure!(run.last["results"] == json!([delivered(41), beside]), "{}", run.last);
    ensure!(run.last["warnings"] == json!(["GIT_PUSH_FAILED"]), "{}", run.last);
    let status = records::record(&desk.loopgate, &run.id.to_string()).await?.context("a record")?;
    ensure!(status["status"] == "COMPLETED", "{status}");
    let asked = desk.scene.model.requests();
    let commits = asked.iter().filter(|one| one.user_text().contains("git push -u origin HEAD")).count();
    ensure!(commits == 0, "an assistant was asked to commit");
    desk.is_tidy(&run, &[]).await
}

// LR-53
/// Its process is gone and its work is being delivered: to whoever looks it is not stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_that_is_delivered_looks_like_one_that_runs() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::bash("echo x > more.txt")])
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("<promise>COMPLETE</promise>");
    let commits = Conversation::when("commit", "git push -u origin HEAD")
        .turn([Step::hold("committing"), Step::text("Not I.")]);
    let desk = Desk::playing([executed, commits]).await?;
    let (id, _) = desk.start(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    desk.scene.model.held("committing").await?;
    let record = records::record(&desk.loopgate, &id.to_string()).await?.context("a record")?;
    ensure!(record["status"] == "RUNNING" && record["exitCode"] == 0, "{record}");
    let rows = cli::loops(&desk.scene.home, &desk.loopgate).await?;
    ensure!(rows.len() == 1 && rows[0]["status"] == "RUNNING", "{rows:?}");
    let repo = encoded(&desk.clone.to_string_lossy());
    let path = format!("/api/gateway/orchestrator/status/{id}?repo={repo}");
    let shown: Value = desk.loopgate.gateway(Method::GET, &path).send().await?.json().await?;
    ensure!(shown["status"] == "IN_PROGRESS" && shown["processRunning"] == true, "{shown}");
    desk.scene.model.release("committing");
    let last = desk.ended(id).await;
    ensure!(last["result"]["executeFinalizationPath"] == "git-fallback", "{last}");
    ensure!(last["result"]["has_changes"] == true, "{last}");
    Ok(())
}

// LR-30
/// Git cannot say what was changed: the loop is over, and its person learns that nothing was delivered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_git_cannot_read_is_a_warning() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::bash("echo x > more.txt; echo broken > \"$(git rev-parse --git-path index)\"")])
        .says("<promise>COMPLETE</promise>");
    let desk = Desk::playing([executed]).await?;
    let run = desk.run(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    let told = run.completed("execute")?;
    ensure!(told["prUrl"].is_null() && told["prNumber"].is_null(), "{}", run.last);
    ensure!(told["has_changes"] == false && told["executeFinalizationStatus"] == "error", "{}", run.last);
    ensure!(run.last["warnings"] == json!(["GIT_PUSH_FAILED"]), "{}", run.last);
    let results = run.last["results"].as_array().context("results")?;
    ensure!(results.len() == 1 && results[0]["fullName"] == story::REPOSITORY, "{results:?}");
    ensure!(results[0]["status"] == "failed" && results[0]["error"].is_string(), "{results:?}");
    ensure!(run.worktree()?.join("more.txt").is_file(), "the work is kept");
    Ok(())
}

// LR-51
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_loops_that_ended_the_newest_hundred_are_kept() -> Result<()> {
    let quick = in_loop("plan", "PLAN").says("<promise>COMPLETE</promise>");
    let mut desk = Desk::playing([quick]).await?;
    let wish = json!({"command": "PLAN", "prompt": "Plan it"});
    let first = desk.run(wish.clone()).await?.id.to_string();
    desk.loopgate.stop().await?;
    let past = records::write_past(&desk.loopgate, &first, 100).await?;
    ensure!(records::ended(&desk.loopgate).await?.len() == 101);
    let desk = desk.restart().await?;
    let last = desk.run(wish).await?.id.to_string();
    let kept = records::ended(&desk.loopgate).await?;
    let newest_first = [last, first].into_iter().chain(past[2..].iter().rev().cloned());
    ensure!(kept == newest_first.collect::<Vec<_>>(), "{kept:?}");
    Ok(())
}
