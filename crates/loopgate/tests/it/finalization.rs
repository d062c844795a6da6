//! Finalization of loops whose process has ended: their uploads and terminal event, their record on the
//! desktop, and recovery after a restart of Loopgate.

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::loopgate::signal;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};

use crate::cli;
use crate::commands::TestDesktop;
use crate::origin_checks::percent_encode;
use crate::records;
use crate::test_system::{processes_of_loop, wait_for_loop_processes};

/// Returns a conversation that answers a coding loop with this command.
pub fn in_loop(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
}

/// Returns a PLAN whose assistant is held at the gate `planning`.
fn held_plan() -> Conversation {
    in_loop("plan", "PLAN")
        .turn([ModelStep::hold("planning"), ModelStep::text("<promise>COMPLETE</promise>")])
}

/// Kills all processes of a loop with SIGKILL, so that none can write an exit code or send an event.
async fn kill_all(id: LoopId) -> Result<()> {
    for pid in processes_of_loop(&id.to_string()) {
        // A process may end together with its parent; the signal then fails with ESRCH.
        let _ = signal(pid, "KILL");
    }
    wait_for_loop_processes(&id.to_string()).await
}

/// Starts a loop, waits until its assistant is held at a gate, and kills Loopgate and the loop there.
async fn start_and_kill(desktop: &mut TestDesktop, hold: &str, order: Value) -> Result<(LoopId, Value)> {
    let (id, started) = desktop.start(order).await?;
    desktop.testbed.model.held(hold).await?;
    desktop.loopgate.kill().await?;
    kill_all(id).await?;
    Ok((id, started))
}

/// Returns the result entry of the story's repository with this pull request.
fn delivered_entry(number: u64) -> Value {
    let page = format!("https://github.com/{}/pull/{number}", story::REPOSITORY);
    json!({"status": "success", "fullName": story::REPOSITORY, "prUrl": page, "prNumber": number,
        "branchName": "orchestrator/shop-7", "baseBranch": "main", "hasChanges": true, "commitSha": "0123abc"})
}

/// Waits until the terminal event of a loop was acknowledged and its token deleted.
async fn wait_for_finalization(desktop: &TestDesktop, id: LoopId, status: &str) -> Result<()> {
    let logs = desktop.loopgate.setup().data_dir().join("logs");
    let id = id.to_string();
    let finalized = wait::until(&logs, async || {
        let record = records::record(&desktop.loopgate, &id).await.ok()??;
        let tokens = records::tokens(&desktop.loopgate, &id).await.ok()?;
        (record["status"] == status && record["cloudFinalizedAt"].is_string() && tokens == 0).then_some(())
    });
    finalized.await.with_context(|| format!("{id} does not end as {status}, or its token still exists"))
}

/// Returns the results without `tests`, which is `not-run`: the story's repository has no trusted test
/// command.
fn entries_without_tests(answer: &Value) -> Result<Value> {
    let mut results = answer["results"].clone();
    let tests = results[0].as_object_mut().and_then(|first| first.remove("tests"));
    ensure!(tests.is_some_and(|tests| tests["outcome"] == "not-run"), "{answer}");
    Ok(results)
}

fn heartbeats(cloud: &Cloud, id: LoopId) -> usize {
    let of = id.to_string();
    cloud.requests().iter().filter(|received| received.route == "heartbeat" && received.loop_id == of).count()
}

async fn wait_for_heartbeats(desktop: &TestDesktop, id: LoopId, number: usize) {
    desktop.cloud.wait_for(|cloud| (heartbeats(cloud, id) >= number).then_some(())).await;
}

// LR-24
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_execute_uploads_the_plan_of_its_request() -> Result<()> {
    // The work directory already has a plan. EXECUTE must use the plan of its request, not this file.
    let local = r##"{"content": "# Another plan", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [],
        "openQuestions": [], "answeredQuestions": [], "gaps": []}"##;
    let planned = in_loop("plan", "PLAN")
        .turn([ModelStep::write("{{workdir}}/plan.json", local)])
        .says("<promise>COMPLETE</promise>");
    let failing = in_loop("execute", "EXECUTE").turn([ModelStep::error(400, "invalid_request_error", "no")]);
    let desktop = TestDesktop::playing([planned, failing]).await?;
    let plan = desktop.run(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    plan.completed("plan")?;

    let requested_plan = "# The plan\n\n1. Do it.\n";
    let artifact = json!({"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": requested_plan});
    let run = desktop.run(json!({"command": "EXECUTE", "artifacts": [artifact]})).await?;
    ensure!(run.last["type"] == "error", "{}", run.last);
    let work_dir = run.worktree()?.join(".loopgate/work");
    ensure!(!work_dir.join("plan.json").exists(), "the local plan was not removed");
    ensure!(std::fs::read_to_string(work_dir.join("imported-plan.md"))? == requested_plan);
    let received = desktop.cloud.requests();
    let from_run = received.iter().filter(|received| received.loop_id == run.id.to_string());
    let bodies: Vec<&Value> = from_run
        .filter(|received| received.route == "upload-artifacts" || received.body["type"] == "error")
        .map(|received| &received.body)
        .collect();
    let [files, error] = bodies[..] else { anyhow::bail!("{bodies:?}") };
    ensure!(files["artifacts"]["plan"] == json!({"content": requested_plan}), "{files}");
    ensure!(error["type"] == "error" && error["abortReason"] == "process-exit", "{error}");
    let id = run.id.to_string();
    // `cloudFinalizedAt` is written after the control plane acknowledged the event, so poll for it.
    let data = desktop.loopgate.setup().data_dir();
    let finalized = wait::until(&data, async || {
        let record = records::record(&desktop.loopgate, &id).await.ok()??;
        record["cloudFinalizedAt"].is_string().then_some(record)
    });
    let record = finalized.await?;
    ensure!(record["status"] == "FAILED" && record["exitCode"] == 1, "{record}");
    ensure!(record["artifactsUploadedAt"].is_string(), "{record}");
    Ok(())
}

// LR-50
// A 410 that does not name the end of the loop terminates no process; heartbeats stop when the process exits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heartbeats_follow_the_process_when_the_control_plane_refuses_them() -> Result<()> {
    let desktop =
        TestDesktop::with([held_plan()], |setup| setup.env("LOOPGATE_HEARTBEAT_INTERVAL_MS", "100")).await?;
    desktop.cloud.answer_always("heartbeat", 410, json!({"success": false, "error": "gone"}));
    let plan = |slug: &str| json!({"command": "PLAN", "prompt": "Plan it", "artifactSlug": slug});
    let (dead, _) = desktop.start(plan("SHOP-7")).await?;
    desktop.testbed.model.held("planning").await?;
    wait_for_heartbeats(&desktop, dead, 3).await;
    kill_all(dead).await?;
    let last = desktop.wait_finished(dead).await;
    ensure!(last["code"] == "PROCESS_STOPPED", "{last}");
    desktop.wait_released(dead).await?;
    let status = async |id: LoopId| {
        let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("no record")?;
        anyhow::Ok(record["status"].clone())
    };
    ensure!(status(dead).await? == "UNKNOWN");
    let before = heartbeats(&desktop.cloud, dead);

    // The second loop proves that time has passed: it sends five heartbeats while the killed loop sends none.
    let (running, _) = desktop.start(plan("SHOP-8")).await?;
    desktop.testbed.model.held_times("planning", 2).await?;
    wait_for_heartbeats(&desktop, running, 5).await;
    ensure!(status(running).await? == "RUNNING");
    ensure!(heartbeats(&desktop.cloud, dead) == before, "a dead loop sent a heartbeat");
    desktop.testbed.model.release("planning");
    ensure!(desktop.wait_finished(running).await["type"] == "completed");
    Ok(())
}

/// Checks that a desktop stops a loop that the control plane has ended, although no kill command arrives.
async fn ensure_cancelled(desktop: &TestDesktop, id: LoopId) -> Result<()> {
    let last = desktop.wait_finished(id).await;
    ensure!(last["code"] == "CANCELLED", "{last}");
    wait_for_loop_processes(&id.to_string()).await?;
    let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("no record")?;
    ensure!(record["status"] == "CANCELLED", "{record}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_whose_heartbeat_the_control_plane_answers_as_ended_is_stopped() -> Result<()> {
    let desktop =
        TestDesktop::with([held_plan()], |setup| setup.env("LOOPGATE_HEARTBEAT_INTERVAL_MS", "100")).await?;
    let (id, _) = desktop.start(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    desktop.testbed.model.held("planning").await?;
    let ended = json!({"success": false, "error": "Loop is no longer running", "code": "TERMINAL_LOOP"});
    desktop.cloud.answer_always("heartbeat", 410, ended);
    ensure_cancelled(&desktop, id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_whose_event_the_control_plane_answers_as_ended_is_stopped() -> Result<()> {
    let desktop = TestDesktop::playing([held_plan()]).await?;
    // The report of the start is accepted.
    desktop.cloud.answer_once("events", 200, json!({"success": true, "data": {"received": true}}));
    let ended = json!({"success": true, "data": {"received": true, "ignored": true, "ended": true}});
    desktop.cloud.answer_always("events", 200, ended);
    let (id, _) = desktop.start(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    ensure_cancelled(&desktop, id).await
}

// LR-46
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_loop_without_a_token_keeps_its_record_and_is_not_reported() -> Result<()> {
    let mut desktop = TestDesktop::playing([held_plan()]).await?;
    let (id, _) =
        start_and_kill(&mut desktop, "planning", json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    // Without a runner token nothing can be reported. The record stays, and no request is made.
    records::forget_token(&desktop.loopgate, &id.to_string()).await?;
    let before = desktop.cloud.requests().len();
    let desktop = desktop.restart().await?;
    desktop.wait_released(id).await?;
    let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("no record")?;
    ensure!(record["status"] == "UNKNOWN" && record.get("cloudFinalizedAt").is_none(), "{record}");
    ensure!(desktop.cloud.requests().len() == before, "{:?}", desktop.cloud.requests().split_off(before));
    Ok(())
}

// LR-42
// The exit code is lost, but the assistant's state and result files record a finished execution.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn execute_killed_after_its_delivery_completes_with_its_result_file() -> Result<()> {
    let result = json!({"schemaVersion": 2, "results": [delivered_entry(7)]}).to_string();
    let executed = in_loop("execute", "EXECUTE")
        .turn([ModelStep::write("{{workdir}}/execution-result.json", &result)])
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .turn([ModelStep::hold("almost"), ModelStep::text("<promise>COMPLETE</promise>")]);
    let mut desktop = TestDesktop::playing([executed]).await?;
    let (id, started) =
        start_and_kill(&mut desktop, "almost", json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    let work_dir = std::path::Path::new(started["worktreePath"].as_str().context("a worktree")?);
    ensure!(!work_dir.join(".loopgate/work/exit.json").exists(), "the shim wrote an exit code");
    let desktop = desktop.restart().await?;
    let last = desktop.wait_finished(id).await;
    desktop.wait_released(id).await?;
    ensure!(
        last["type"] == "completed" && entries_without_tests(&last)? == json!([delivered_entry(7)]),
        "{last}"
    );
    let result = &last["result"];
    ensure!(result["finalizationSource"] == "boot-recovery", "{last}");
    ensure!(result["executeFinalizationPath"] == "artifact-existing", "{last}");
    let uploaded = &desktop.uploaded(id)["artifacts"]["executionResult"];
    ensure!(entries_without_tests(uploaded)? == json!([delivered_entry(7)]));
    ensure!(
        desktop.testbed.host.pull_requests(story::REPOSITORY).is_empty(),
        "the work was delivered a second time"
    );
    wait_for_finalization(&desktop, id, "COMPLETED").await
}

// The exit code is lost and the state is unfinished: nothing is delivered, and the next EXECUTE reuses the
// worktree.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_a_killed_execute_are_reused_by_the_next() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([ModelStep::bash("echo done >> half.txt")])
        .turn([ModelStep::hold("half"), ModelStep::text("<promise>COMPLETE</promise>")]);
    let mut desktop = TestDesktop::playing([executed]).await?;
    let order = json!({"command": "EXECUTE", "prompt": "Do it"});
    let (id, started) = start_and_kill(&mut desktop, "half", order.clone()).await?;
    let desktop = desktop.restart().await?;
    let last = desktop.wait_finished(id).await;
    desktop.wait_released(id).await?;
    ensure!(last["type"] == "error" && last["code"] == "PROCESS_STOPPED", "{last}");
    let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("no record")?;
    let activity = record["liveActivity"].as_str().unwrap_or_default();
    ensure!(activity.contains("kept in the worktree"), "{record}");
    ensure!(
        desktop.testbed.host.pull_requests(story::REPOSITORY).is_empty(),
        "unfinished work was delivered"
    );

    // The repeated command appends to the file of the killed execution, which proves that the worktree was
    // reused.
    desktop.testbed.model.release("half");
    let run = desktop.run(order).await?;
    ensure!(run.completed("execute")?["has_changes"] == true, "{}", run.last);
    ensure!(run.started["worktreePath"] == started["worktreePath"], "{}", run.started);
    ensure!(std::fs::read_to_string(run.worktree()?.join("half.txt"))? == "done\ndone\n");
    Ok(())
}

// LR-45
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terminal_event_is_sent_for_a_timed_out_loop() -> Result<()> {
    let mut desktop = TestDesktop::playing([held_plan()]).await?;
    let (id, _) =
        start_and_kill(&mut desktop, "planning", json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    // The control plane timed the loop out while the desktop was down. The terminal event is sent
    // nevertheless.
    desktop.cloud.answer_always("loop", 200, json!({"success": true, "data": {"status": "TIMED_OUT"}}));
    let desktop = desktop.restart().await?;
    wait_for_finalization(&desktop, id, "UNKNOWN").await?;
    let [error] = &desktop.cloud.events(id, "error")[..] else { anyhow::bail!("expected one error event") };
    ensure!(error["code"] == "PROCESS_STOPPED", "{error}");
    Ok(())
}

// LR-27
// The assistant pushed and opened the pull request by itself, as its result file records.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delivery_by_the_assistant_is_not_repeated() -> Result<()> {
    let failed_entry = json!({"status": "failed", "fullName": "acme/web", "error": "the push was refused"});
    // A URL of a sub-page is normalized to the URL of the pull request.
    let mut own_entry = delivered_entry(41);
    own_entry["prUrl"] = json!(format!("https://github.com/{}/pull/41/files", story::REPOSITORY));
    let result = json!({"schemaVersion": 2, "results": [own_entry, failed_entry]}).to_string();
    let executed = in_loop("execute", "EXECUTE")
        .turn([
            ModelStep::write("{{workdir}}/execution-result.json", &result),
            ModelStep::bash("echo x > more.txt"),
        ])
        .says("<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([executed]).await?;
    desktop.testbed.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let peers = json!([{"fullName": "acme/web", "branch": "main"}]);
    let order = json!({"command": "EXECUTE", "prompt": "Do it", "additionalRepos": peers});
    let run = desktop.run(order).await?;
    let result = run.completed("execute")?;
    ensure!(result["executeFinalizationPath"] == "artifact-existing", "{}", run.last);
    ensure!(result["prUrl"] == delivered_entry(41)["prUrl"] && result["has_changes"] == true, "{}", run.last);
    ensure!(entries_without_tests(&run.last)? == json!([delivered_entry(41), failed_entry]), "{}", run.last);
    ensure!(run.last["warnings"] == json!(["GIT_PUSH_FAILED"]), "{}", run.last);
    let status = records::record(&desktop.loopgate, &run.id.to_string()).await?.context("no record")?;
    ensure!(status["status"] == "COMPLETED", "{status}");
    desktop.check_clean(&run, &[]).await
}

// LR-53
// The process has exited and the delivery is in flight: every view shows the loop as running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_is_shown_as_running_during_its_delivery() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([ModelStep::bash("echo x > more.txt")])
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([executed]).await?;
    let mut push = desktop.testbed.remotes.hold_push(story::REPOSITORY)?;
    let (id, _) = desktop.start(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    push.started().await?;
    let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("no record")?;
    ensure!(record["status"] == "RUNNING" && record["exitCode"] == 0, "{record}");
    let rows = cli::loops(&desktop.testbed.home, &desktop.loopgate).await?;
    ensure!(rows.len() == 1 && rows[0]["status"] == "RUNNING", "{rows:?}");
    let repo = percent_encode(&desktop.clone.to_string_lossy());
    let path = format!("/api/gateway/orchestrator/status/{id}?repo={repo}");
    let shown: Value = desktop.loopgate.gateway(Method::GET, &path).send().await?.json().await?;
    ensure!(shown["status"] == "IN_PROGRESS" && shown["processRunning"] == true, "{shown}");
    push.release()?;
    let last = desktop.wait_finished(id).await;
    ensure!(last["result"]["executeFinalizationPath"] == "git-fallback", "{last}");
    ensure!(last["result"]["has_changes"] == true, "{last}");
    Ok(())
}

// LR-30
// With a corrupt index, git cannot list the changes: the loop completes with a warning and without a pull
// request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_worktree_completes_the_loop_with_a_warning() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([ModelStep::bash("echo x > more.txt; echo broken > \"$(git rev-parse --git-path index)\"")])
        .says("<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([executed]).await?;
    let run = desktop.run(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    let result = run.completed("execute")?;
    ensure!(result["prUrl"].is_null() && result["prNumber"].is_null(), "{}", run.last);
    ensure!(result["has_changes"] == false && result["executeFinalizationStatus"] == "error", "{}", run.last);
    ensure!(run.last["warnings"] == json!(["GIT_PUSH_FAILED"]), "{}", run.last);
    let results = run.last["results"].as_array().context("results")?;
    ensure!(results.len() == 1 && results[0]["fullName"] == story::REPOSITORY, "{results:?}");
    ensure!(results[0]["status"] == "failed" && results[0]["error"].is_string(), "{results:?}");
    ensure!(run.worktree()?.join("more.txt").is_file(), "the work was deleted");
    Ok(())
}

// LR-51
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn newest_hundred_finished_loops_are_retained() -> Result<()> {
    let quick = in_loop("plan", "PLAN").says("<promise>COMPLETE</promise>");
    let mut desktop = TestDesktop::playing([quick]).await?;
    let order = json!({"command": "PLAN", "prompt": "Plan it"});
    let first = desktop.run(order.clone()).await?.id.to_string();
    desktop.loopgate.stop().await?;
    // 100 copies plus this loop exceed the retention limit of 100 by one; the next finished loop prunes two.
    let past = records::write_past(&desktop.loopgate, &first, 100).await?;
    ensure!(records::terminal_loop_ids(&desktop.loopgate).await?.len() == 101);
    let desktop = desktop.restart().await?;
    let last = desktop.run(order).await?.id.to_string();
    let retained = records::terminal_loop_ids(&desktop.loopgate).await?;
    let newest_first = [last, first].into_iter().chain(past[2..].iter().rev().cloned());
    ensure!(retained == newest_first.collect::<Vec<_>>(), "{retained:?}");
    Ok(())
}
