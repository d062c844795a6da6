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
use crate::commands::TestDesktop;
use crate::foreign::encoded;
use crate::records;
use crate::test_system::{gone, of_loop};

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
async fn killed(desktop: &mut TestDesktop, hold: &str, order: Value) -> Result<(LoopId, Value)> {
    let (id, started) = desktop.start(order).await?;
    desktop.testbed.model.held(hold).await?;
    desktop.loopgate.kill().await?;
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
async fn forgotten(desktop: &TestDesktop, id: LoopId, status: &str) -> Result<()> {
    let logs = desktop.loopgate.setup().data_dir().join("logs");
    let id = id.to_string();
    let over = wait::seen(&logs, async || {
        let record = records::record(&desktop.loopgate, &id).await.ok()??;
        let tokens = records::tokens(&desktop.loopgate, &id).await.ok()?;
        (record["status"] == status && record["cloudFinalizedAt"].is_string() && tokens == 0).then_some(())
    });
    over.await.with_context(|| format!("{id} does not end as {status}, or its token is kept"))
}

/// The results in an answer, without what is told of the tests of the story's repository, which has none.
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

async fn heard_heartbeats(desktop: &TestDesktop, id: LoopId, number: usize) {
    desktop.cloud.seen(|cloud| (heartbeats(cloud, id) >= number).then_some(())).await;
}

// LR-24
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn execution_that_fails_hands_over_the_plan_that_it_was_given() -> Result<()> {
    let local = r##"{"content": "# Another plan", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [],
        "openQuestions": [], "answeredQuestions": [], "gaps": []}"##;
    let planned = in_loop("plan", "PLAN")
        .turn([Step::write("{{workdir}}/plan.json", local)])
        .says("<promise>COMPLETE</promise>");
    let failing = in_loop("execute", "EXECUTE").turn([Step::error(400, "invalid_request_error", "no")]);
    let desktop = TestDesktop::playing([planned, failing]).await?;
    let plan = desktop.run(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    plan.completed("plan")?;

    let given = "# The plan\n\n1. Do it.\n";
    let artifact = json!({"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": given});
    let run = desktop.run(json!({"command": "EXECUTE", "artifacts": [artifact]})).await?;
    ensure!(run.last["type"] == "error", "{}", run.last);
    let work_dir = run.worktree()?.join(".loopgate/work");
    ensure!(!work_dir.join("plan.json").exists(), "the local plan was another one");
    ensure!(std::fs::read_to_string(work_dir.join("imported-plan.md"))? == given);
    let received = desktop.cloud.requests();
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
    let data = desktop.loopgate.setup().data_dir();
    let told = wait::seen(&data, async || {
        let record = records::record(&desktop.loopgate, &id).await.ok()??;
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
async fn loop_that_the_control_plane_gives_up_lives_as_long_as_its_process() -> Result<()> {
    let desktop =
        TestDesktop::with([held_plan()], |setup| setup.env("LOOPGATE_HEARTBEAT_INTERVAL_MS", "100")).await?;
    desktop.cloud.answer_always("heartbeat", 410, json!({"success": false, "error": "gone"}));
    let plan = |slug: &str| json!({"command": "PLAN", "prompt": "Plan it", "artifactSlug": slug});
    let (dead, _) = desktop.start(plan("SHOP-7")).await?;
    desktop.testbed.model.held("planning").await?;
    heard_heartbeats(&desktop, dead, 3).await;
    kill_all(dead).await?;
    let last = desktop.ended(dead).await;
    ensure!(last["code"] == "PROCESS_STOPPED", "{last}");
    desktop.free(dead).await?;
    let status = async |id: LoopId| {
        let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("a record")?;
        anyhow::Ok(record["status"].clone())
    };
    ensure!(status(dead).await? == "UNKNOWN");
    let before = heartbeats(&desktop.cloud, dead);

    let (living, _) = desktop.start(plan("SHOP-8")).await?;
    desktop.testbed.model.held_times("planning", 2).await?;
    heard_heartbeats(&desktop, living, 5).await;
    ensure!(status(living).await? == "RUNNING");
    ensure!(heartbeats(&desktop.cloud, dead) == before, "a dead loop says that it lives");
    desktop.testbed.model.release("planning");
    ensure!(desktop.ended(living).await["type"] == "completed");
    Ok(())
}

// LR-46
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_loop_without_a_token_is_retained_unreported() -> Result<()> {
    let mut desktop = TestDesktop::playing([held_plan()]).await?;
    let (id, _) = killed(&mut desktop, "planning", json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    records::forget_token(&desktop.loopgate, &id.to_string()).await?;
    let before = desktop.cloud.requests().len();
    let desktop = desktop.restart().await?;
    desktop.free(id).await?;
    let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("a record")?;
    ensure!(record["status"] == "UNKNOWN" && record.get("cloudFinalizedAt").is_none(), "{record}");
    ensure!(desktop.cloud.requests().len() == before, "{:?}", desktop.cloud.requests().split_off(before));
    Ok(())
}

// LR-42
/// Nobody saw its end; its state and its result say that it had come to one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn execution_that_died_with_its_work_delivered_is_reported_as_it_says() -> Result<()> {
    let result = json!({"schemaVersion": 2, "results": [delivered(7)]}).to_string();
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::write("{{workdir}}/execution-result.json", &result)])
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .turn([Step::hold("almost"), Step::text("<promise>COMPLETE</promise>")]);
    let mut desktop = TestDesktop::playing([executed]).await?;
    let (id, started) =
        killed(&mut desktop, "almost", json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    let work_dir = std::path::Path::new(started["worktreePath"].as_str().context("a worktree")?);
    ensure!(!work_dir.join(".loopgate/work/exit.json").exists(), "somebody saw its end");
    let desktop = desktop.restart().await?;
    let last = desktop.ended(id).await;
    desktop.free(id).await?;
    ensure!(last["type"] == "completed" && entries_without_tests(&last)? == json!([delivered(7)]), "{last}");
    let told = &last["result"];
    ensure!(told["finalizationSource"] == "boot-recovery", "{last}");
    ensure!(told["executeFinalizationPath"] == "artifact-existing", "{last}");
    let uploaded = &desktop.uploaded(id)["artifacts"]["executionResult"];
    ensure!(entries_without_tests(uploaded)? == json!([delivered(7)]));
    ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY).is_empty(), "nothing is delivered again");
    forgotten(&desktop, id, "COMPLETED").await
}

/// Nobody saw its end, and it had not come to one: nothing is delivered, and the next one goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_execution_had_done_is_kept_for_the_next_one() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::bash("echo done >> half.txt")])
        .turn([Step::hold("half"), Step::text("<promise>COMPLETE</promise>")]);
    let mut desktop = TestDesktop::playing([executed]).await?;
    let order = json!({"command": "EXECUTE", "prompt": "Do it"});
    let (id, started) = killed(&mut desktop, "half", order.clone()).await?;
    let desktop = desktop.restart().await?;
    let last = desktop.ended(id).await;
    desktop.free(id).await?;
    ensure!(last["type"] == "error" && last["code"] == "PROCESS_STOPPED", "{last}");
    let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("a record")?;
    let told = record["liveActivity"].as_str().unwrap_or_default();
    ensure!(told.contains("stays in the worktree"), "{record}");
    ensure!(
        desktop.testbed.host.pull_requests(story::REPOSITORY).is_empty(),
        "half of the work is not delivered"
    );

    desktop.testbed.model.release("half");
    let run = desktop.run(order).await?;
    ensure!(run.completed("execute")?["has_changes"] == true, "{}", run.last);
    ensure!(run.started["worktreePath"] == started["worktreePath"], "{}", run.started);
    ensure!(std::fs::read_to_string(run.worktree()?.join("half.txt"))? == "done\ndone\n");
    Ok(())
}

// LR-45
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_of_a_timed_out_loop_is_still_reported() -> Result<()> {
    let mut desktop = TestDesktop::playing([held_plan()]).await?;
    let (id, _) = killed(&mut desktop, "planning", json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    desktop.cloud.answer_always("loop", 200, json!({"success": true, "data": {"status": "TIMED_OUT"}}));
    let desktop = desktop.restart().await?;
    forgotten(&desktop, id, "UNKNOWN").await?;
    let [error] = &desktop.cloud.events(id, "error")[..] else { anyhow::bail!("it is told once") };
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
    let desktop = TestDesktop::playing([executed]).await?;
    desktop.testbed.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let peers = json!([{"fullName": "acme/web", "branch": "main"}]);
    let order = json!({"command": "EXECUTE", "prompt": "Do it", "additionalRepos": peers});
    let run = desktop.run(order).await?;
    let told = run.completed("execute")?;
    ensure!(told["executeFinalizationPath"] == "artifact-existing", "{}", run.last);
    ensure!(told["prUrl"] == delivered(41)["prUrl"] && told["has_changes"] == true, "{}", run.last);
    ensure!(entries_without_tests(&run.last)? == json!([delivered(41), beside]), "{}", run.last);
    ensure!(run.last["warnings"] == json!(["GIT_PUSH_FAILED"]), "{}", run.last);
    let status = records::record(&desktop.loopgate, &run.id.to_string()).await?.context("a record")?;
    ensure!(status["status"] == "COMPLETED", "{status}");
    let asked = desktop.testbed.model.requests();
    let commits = asked.iter().filter(|one| one.user_text().contains("git push -u origin HEAD")).count();
    ensure!(commits == 0, "an assistant was asked to commit");
    desktop.is_tidy(&run, &[]).await
}

// LR-53
/// Its process is gone and its work is being delivered: to whoever looks it is not stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_that_is_delivered_looks_like_one_that_runs() -> Result<()> {
    let executed = in_loop("execute", "EXECUTE")
        .turn([Step::bash("echo x > more.txt")])
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("<promise>COMPLETE</promise>");
    let commits = Conversation::when("commit", "git push -u origin HEAD")
        .turn([Step::hold("committing"), Step::text("Not I.")]);
    let desktop = TestDesktop::playing([executed, commits]).await?;
    let (id, _) = desktop.start(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    desktop.testbed.model.held("committing").await?;
    let record = records::record(&desktop.loopgate, &id.to_string()).await?.context("a record")?;
    ensure!(record["status"] == "RUNNING" && record["exitCode"] == 0, "{record}");
    let rows = cli::loops(&desktop.testbed.home, &desktop.loopgate).await?;
    ensure!(rows.len() == 1 && rows[0]["status"] == "RUNNING", "{rows:?}");
    let repo = encoded(&desktop.clone.to_string_lossy());
    let path = format!("/api/gateway/orchestrator/status/{id}?repo={repo}");
    let shown: Value = desktop.loopgate.gateway(Method::GET, &path).send().await?.json().await?;
    ensure!(shown["status"] == "IN_PROGRESS" && shown["processRunning"] == true, "{shown}");
    desktop.testbed.model.release("committing");
    let last = desktop.ended(id).await;
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
    let desktop = TestDesktop::playing([executed]).await?;
    let run = desktop.run(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
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
    let mut desktop = TestDesktop::playing([quick]).await?;
    let wish = json!({"command": "PLAN", "prompt": "Plan it"});
    let first = desktop.run(wish.clone()).await?.id.to_string();
    desktop.loopgate.stop().await?;
    let past = records::write_past(&desktop.loopgate, &first, 100).await?;
    ensure!(records::ended(&desktop.loopgate).await?.len() == 101);
    let desktop = desktop.restart().await?;
    let last = desktop.run(wish).await?.id.to_string();
    let kept = records::ended(&desktop.loopgate).await?;
    let newest_first = [last, first].into_iter().chain(past[2..].iter().rev().cloned());
    ensure!(kept == newest_first.collect::<Vec<_>>(), "{kept:?}");
    Ok(())
}
