//! Faults around a loop: its process is killed while it waits, its worktree or a program is deleted, a git
//! lock remains, the control plane is unreachable for a long time, the machine is suspended.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use loopgate_api::job::JobStatus;
use serde_json::json;
use support::instance::{RuntimeInstance, outer};
use support::{Desktop, IMPLEMENTS, PLANS, new_id, request, start};

const WORKTREE: &str = "box/api-loop-plan-5";
const BRANCH: &str = "orchestrator/plan-5";

#[test]
fn loop_awaiting_the_user_ends_with_its_process() {
    let (outer, desktop) = outer();
    let waits = "printf '{\"content\":\"# Plan\"}' > \"$W/plan.json\"\n\
                 printf '{\"status\":\"AWAITING_USER\",\"phase\":\"Checkpoint\"}' > \"$W/state.json\"\n\
                 echo up > \"$STATE/up\"; wait_for_signal never";
    desktop.driver(waits);
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    let up = || async { (!desktop.state("up").is_empty()).then_some(()) };
    instance.block_on(desktop.eventually("it waits", up));
    let job = instance.block_on(instance.runtime.jobs.get(id)).unwrap().unwrap();
    let shown = instance.block_on(instance.runtime.snapshots.of(job)).job;
    assert_eq!(shown.status(), JobStatus::AwaitingUser, "shown as waiting while its process runs");
    drop(instance);
    // Without its shim, the outcome is derived from the state file and the outputs.
    outer.block_on(desktop.kill_shim());
    let instance = RuntimeInstance::start(&desktop);
    assert_eq!(instance.reported(id).status(), JobStatus::Completed);
    let files = &desktop.cloud.accepted(id, "upload-artifacts")[0].body;
    assert_eq!(files["artifacts"]["plan"]["content"], "# Plan");
}

#[test]
fn driver_that_died_waiting_for_a_limit_is_restarted() {
    let (outer, desktop) = outer();
    let waits = "mkdir -p .loopgate; echo state > .loopgate/loopgate-loop.local.md\n\
                 printf '{\"status\":\"IN_PROGRESS\",\"waitingUntil\":\"2030-01-01T00:00:00Z\"}' > \"$W/state.json\"\n\
                 echo up > \"$STATE/up\"; wait_for_signal never";
    desktop.driver(waits);
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    let up = || async { (!desktop.state("up").is_empty()).then_some(()) };
    instance.block_on(desktop.eventually("it waits", up));
    let first = desktop.state("env");
    drop(instance);
    outer.block_on(desktop.kill_shim());
    // Without a work directory argument, the driver continues the loop of its directory.
    desktop.driver(&format!("[ -z \"$1\" ] || exit 3\nW=\"$LOOPGATE_WORKDIR\"\n{PLANS}"));
    let instance = RuntimeInstance::start(&desktop);
    assert_eq!(instance.reported(id).status(), JobStatus::Completed);
    assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
    let variable = |env: &str, name: &str| {
        let line = env.lines().find_map(|line| line.strip_prefix(&format!("{name}=")).map(str::to_owned));
        line.unwrap_or_else(|| panic!("no {name}"))
    };
    let second = desktop.state("env");
    for name in ["LOOPGATE_COMMAND", "LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "LOOPGATE_HOME", "PATH"] {
        assert_eq!(variable(&first, name), variable(&second, name));
    }
}

#[test]
fn execution_without_work_fails_after_a_restart() {
    let (outer, desktop) = outer();
    desktop.driver("wait_for_signal go; echo over > \"$STATE/over\"");
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "EXECUTE");
    drop(instance);
    outer.block_on(desktop.end_without_runtime());
    let instance = RuntimeInstance::start(&desktop);
    assert_eq!(instance.reported(id).status(), JobStatus::Failed);
    let error = &desktop.cloud.events(id, "error")[0];
    assert_eq!((&error["code"], &error["abortReason"]), (&json!("NO_WORK_PRODUCED"), &json!("ghost-loop")));
}

#[test]
fn unfollowed_loop_is_recovered_without_a_restart() {
    let (_outer, desktop) = outer();
    desktop.driver(&format!("wait_for_signal go\n{PLANS}"));
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    drop(instance);
    // No recovery at the start: only the periodic check finds the loop.
    let instance = RuntimeInstance::start_idle(&desktop);
    assert!(!instance.runtime.launcher.is_followed(id));
    let runtime = instance.runtime.clone();
    instance.spawn(async move { runtime.recovery.run_watch().await });
    desktop.signal("go");
    assert_eq!(instance.reported(id).status(), JobStatus::Completed);
    assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_worktree_blocks_nothing() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let plan = async |driver: &str, during: &dyn Fn()| {
        desktop.driver(driver);
        let id = new_id();
        start(&runtime, &request(id, "PLAN")).await.unwrap();
        during();
        let job = desktop.reported(&runtime, id).await;
        let ends = desktop.cloud.events(id, "completed").len() + desktop.cloud.events(id, "error").len();
        assert_eq!(ends, 1, "{job:?}");
        job.status()
    };
    let delete = || std::fs::remove_dir_all(desktop.at(WORKTREE)).unwrap();
    let during = || {
        delete();
        desktop.signal("go");
    };
    // The worktree disappears while the loop runs.
    assert_eq!(plan("wait_for_signal go", &during).await, JobStatus::Failed);
    assert_eq!(plan(PLANS, &|| ()).await, JobStatus::Completed);
    assert!(desktop.at(WORKTREE).join(".git").is_file(), "recreated");
    delete();
    assert_eq!(plan(PLANS, &|| ()).await, JobStatus::Completed);
    let listed = desktop.git(&desktop.at("box/api"), &["worktree", "list", "--porcelain"]).await;
    assert_eq!(listed.matches("api-loop-plan-5").count(), 1, "{listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stale_git_lock_does_not_block_delivery() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    // A killed git process leaves `index.lock` behind.
    desktop.driver(&format!("{IMPLEMENTS}\n: > \"$(git rev-parse --git-path index.lock)\""));
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    desktop.reported(&runtime, id).await;
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["executeFinalizationPath"], "git-fallback", "{completed}");
    assert_eq!(desktop.pushed(BRANCH).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_an_outage_arrive_in_order_and_once() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let says = |text: &str| {
        format!(
            "say '{{\"type\":\"assistant\",\"message\":{{\"model\":\"m\",\"content\":[{{\"type\":\"text\",\
             \"text\":\"{text}\"}}],\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}'\n"
        )
    };
    desktop.driver(&format!("wait_for_signal go\n{}{PLANS}", says("one") + &says("two") + &says("three")));
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    let away = json!({"success": false, "error": "away"});
    desktop.cloud.answer_always("events", 502, away.clone());
    desktop.cloud.answer_always("upload-artifacts", 503, away);
    desktop.signal("go");
    desktop.has_status(&runtime, id, JobStatus::Completed).await;
    // More attempts than the limit of rejections: failures of this kind do not count.
    let many_failures = |cloud: &loopgate_testkit::cloud::Cloud| {
        (cloud.requests().iter().filter(|received| received.status == 502).count() > 15).then_some(())
    };
    desktop.cloud.wait_for(many_failures).await;
    desktop.cloud.answer_successfully();
    let job = desktop.reported(&runtime, id).await;
    assert!(job.warnings().is_empty(), "{job:?}");
    let output = desktop.cloud.output(id);
    let positions: Vec<_> =
        ["one", "two", "three"].map(|text| output.iter().position(|line| line == text)).into();
    assert!(positions.is_sorted() && positions.iter().all(Option::is_some), "{output:?}");
    assert_eq!(output.iter().filter(|line| *line == "one").count(), 1, "{output:?}");
    assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
    assert_eq!(desktop.cloud.accepted(id, "upload-artifacts").len(), 1);
    let received = desktop.cloud.requests();
    // Every attempt to send an event uses the same nonce.
    for received in received.iter().filter(|received| received.route == "events") {
        let mut same = desktop.cloud.requests();
        same.retain(|other| other.route == "events" && other.body == received.body);
        assert!(same.iter().all(|other| other.nonce == received.nonce), "{received:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resume_from_suspend_renews_the_token_and_sends_a_heartbeat() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    desktop.driver("wait_for_signal go");
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    let calls = |cloud: &loopgate_testkit::cloud::Cloud| -> Vec<String> {
        let received = cloud.requests().into_iter().map(|received| received.route);
        received.filter(|route| route == "heartbeat" || route == "refresh-token").collect()
    };
    desktop.cloud.wait_for(|cloud| (calls(cloud) == ["heartbeat"]).then_some(())).await;
    runtime.recovery.wake_up();
    let expected = ["heartbeat", "refresh-token", "heartbeat"];
    desktop.cloud.wait_for(|cloud| (calls(cloud) == expected).then_some(())).await;
    // A failed renewal does not suppress the heartbeat.
    desktop.cloud.answer_always("refresh-token", 404, json!({"success": false, "error": "unknown"}));
    runtime.recovery.wake_up();
    desktop.cloud.wait_for(|cloud| (calls(cloud).len() == 5).then_some(())).await;
    assert_eq!(calls(&desktop.cloud)[3..], ["refresh-token", "heartbeat"]);
    desktop.signal("go");
    desktop.reported(&runtime, id).await;
}
