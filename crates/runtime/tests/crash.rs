//! Loops whose runtime is killed: at random moments, during a commit, and while the control plane is
//! unreachable. Each loop ends exactly once, with its work delivered.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_runtime::jobs::Job;
use loopgate_tools::shim;
use serde_json::json;
use support::instance::{RuntimeInstance, outer};
use support::{Desktop, IMPLEMENTS, PLANS, new_id, request, start};

/// A driver that prints 40 lines slowly and changes a file in between.
const SLOW_DRIVER: &str = r#"
i=0
while [ $i -lt 40 ]; do
  say "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"line $i\"}],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}"
  [ $i -eq 20 ] && echo done > feature.txt
  sleep 0.02
  i=$((i+1))
done
mv "$W/assistant-output.jsonl" "$W/assistant-output-run1.jsonl"
printf assistant-output-run1.jsonl > "$W/assistant-output.name.txt"
"#;

/// Upper bounds of the file changes after which the first and the second instance of a round are killed.
const MAX_FIRST_CHANGES: usize = 400;
const MAX_SECOND_CHANGES: usize = 250;

// LR-41
/// Five rounds: four loops at different points are killed together, and a second time during their recovery.
#[test]
fn twenty_loops_killed_at_random_points_end_once() {
    let (outer, desktop) = outer();
    desktop.driver(SLOW_DRIVER);
    for round in 0..5 {
        let loops: Vec<(LoopId, String)> = (0..4).map(|n| (new_id(), format!("round-{round}-{n}"))).collect();
        let instance = RuntimeInstance::start(&desktop);
        for (id, slug) in &loops {
            let mut body = request(*id, "EXECUTE");
            body["artifactSlug"] = json!(slug);
            instance.block_on(start(&instance.runtime, &body)).unwrap();
            // The next loop starts when this one is in progress, so that all are at different points.
            instance.block_on(desktop.cloud.wait_for(|cloud| cloud.output(*id).get(8).map(drop)));
        }
        // Counting file changes instead of time makes the moment independent of the machine's speed.
        let first = rand::random_range(0..MAX_FIRST_CHANGES);
        instance.run_for(first, &loops);
        drop(instance);
        let instance = RuntimeInstance::start(&desktop);
        let second = rand::random_range(0..MAX_SECOND_CHANGES);
        instance.run_for(second, &loops);
        drop(instance);
        let instance = RuntimeInstance::start(&desktop);
        for (id, slug) in loops {
            let job = instance.reported(id);
            let story = format!("killed after {first} and {second} changes: {job:?}");
            ended_once(&outer, &desktop, &instance, &job, &slug, &story);
        }
        let jobs = instance.block_on(instance.runtime.jobs.list()).unwrap();
        assert!(jobs.iter().all(|job| job.status().is_terminal()));
    }
}

fn ended_once(
    outer: &tokio::runtime::Runtime,
    desktop: &Desktop,
    instance: &RuntimeInstance<'_>,
    job: &Job,
    slug: &str,
    story: &str,
) {
    let (id, cloud) = (job.id, &desktop.cloud);
    assert_eq!(job.status(), JobStatus::Completed, "{story}");
    assert_eq!(cloud.events(id, "completed").len(), 1, "{story}");
    assert!(cloud.events(id, "error").is_empty(), "{story}");
    assert!(!cloud.accepted(id, "upload-artifacts").is_empty(), "{story}");
    let completed = &cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["has_changes"], true, "{story}");
    assert_eq!(completed["tokensUsed"]["input"], 40, "{story}");
    let shown: Vec<String> = cloud.output(id).into_iter().filter(|line| line.starts_with("line ")).collect();
    let expected: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
    assert_eq!(shown, expected, "every line once and in order; {story}");
    let branch = format!("orchestrator/{slug}");
    assert_eq!(outer.block_on(desktop.pushed(&branch)).len(), 1, "{story}");
    let created = desktop.state("created");
    assert_eq!(created.lines().filter(|line| *line == branch).count(), 1, "one pull request; {story}");
    assert_eq!(instance.block_on(shim::reap(id, Duration::ZERO)).running, 0, "no process is left; {story}");
}

#[test]
fn loop_that_ended_while_down_is_finalized_at_the_next_start() {
    let (outer, desktop) = outer();
    desktop.driver(&format!("wait_for_signal go\n{IMPLEMENTS}"));
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "EXECUTE");
    drop(instance);
    outer.block_on(desktop.end_without_runtime());
    let instance = RuntimeInstance::start(&desktop);
    let job = instance.reported(id);
    assert_eq!(job.status(), JobStatus::Completed, "{job:?}");
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["finalizationSource"], "boot-recovery");
    assert_eq!(completed["result"]["has_changes"], true);
    // The last line reports that no tests were run.
    assert_eq!(desktop.cloud.output(id).len(), 4, "output without a runtime is shown as well");
}

// LR-41
#[test]
fn running_loop_is_followed_after_a_restart_and_can_be_killed() {
    let (_outer, desktop) = outer();
    desktop.driver("wait_for_signal go");
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    drop(instance);
    let instance = RuntimeInstance::start(&desktop);
    instance.block_on(desktop.eventually("the loop is followed", || async {
        let job = instance.runtime.jobs.get(id).await.unwrap()?;
        (job.progress.live_activity.as_deref() == Some("Boot recovery reattached after desktop restart"))
            .then_some(())
    }));
    let killed = instance
        .block_on(instance.runtime.stopper.kill_loop(json!({"loopId": id}).to_string().as_bytes()))
        .unwrap();
    assert_eq!(killed.message(), "Loop process terminated");
    assert_eq!(instance.reported(id).status(), JobStatus::Cancelled);
    assert_eq!(instance.block_on(shim::reap(id, Duration::ZERO)).running, 0);
}

/// Shims that never start a program: each exits when its instance is killed.
const HANGING_SHIM: &str =
    "echo up >> \"$STATE/shims\"; mkfifo \"$STATE/over\" 2>/dev/null; read word < \"$STATE/over\"; exit 1";

/// Requests a PLAN and kills `times` instances, one after the other, while they start it.
fn kill_during_start(desktop: &Desktop, id: LoopId, times: usize) {
    desktop.set_shim_prelude(HANGING_SHIM);
    for time in 1..=times {
        let instance = RuntimeInstance::start(desktop);
        let up = || async { (desktop.state("shims").lines().count() == time).then_some(()) };
        instance.block_on(async {
            let ordered = async {
                if time == 1 {
                    let _ = start(&instance.runtime, &request(id, "PLAN")).await;
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = desktop.eventually("a shim was started", up) => {}
                () = ordered => {}
            }
        });
        drop(instance);
        desktop.signal("over");
        std::fs::remove_file(desktop.at("state/over")).unwrap();
    }
    desktop.set_shim_prelude("");
}

#[test]
fn unstarted_loop_starts_after_a_restart_and_is_reported_once() {
    let (_outer, desktop) = outer();
    let id = new_id();
    kill_during_start(&desktop, id, 2);
    let instance = RuntimeInstance::start(&desktop);
    let job = instance.reported(id);
    assert_eq!(job.status(), JobStatus::Completed, "{job:?}");
    assert_eq!(desktop.state("argv").lines().count(), 1, "one driver");
    assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
    let received = desktop.cloud.requests();
    let mut started_events: Vec<_> =
        received.iter().filter(|received| received.body["type"] == "started").collect();
    assert_eq!(started_events.len(), 3, "each instance reported the start");
    started_events.dedup_by_key(|received| &received.nonce);
    assert_eq!(started_events.len(), 1, "all attempts share one nonce");
    // The launch request is deleted with the start.
    instance.block_on(desktop.has_none("launch_request"));
}

#[test]
fn interrupted_start_is_resumed_after_a_restart() {
    let (_outer, desktop) = outer();
    let id = kill_during_preparation(&desktop);
    let instance = RuntimeInstance::start(&desktop);
    assert_eq!(instance.reported(id).status(), JobStatus::Completed);
}

#[test]
fn launch_request_file_of_an_earlier_version_is_launched() {
    let (outer, desktop) = outer();
    let id = kill_during_preparation(&desktop);
    outer.block_on(desktop.convert_requests_to_files());
    assert!(desktop.at("data/queue").join(id.to_string()).is_file());
    let instance = RuntimeInstance::start(&desktop);
    assert!(!desktop.at("data/queue").exists(), "the file was imported");
    assert_eq!(instance.reported(id).status(), JobStatus::Completed);
}

/// Returns a loop whose instance was killed while the loop was in preparation.
fn kill_during_preparation(desktop: &Desktop) -> LoopId {
    std::fs::remove_dir_all(desktop.at("box/api")).unwrap();
    let clones = "[ \"$1 $2\" = \"repo clone\" ] && echo here > \"$STATE/clones\"; mkfifo \"$STATE/never\"; read word < \"$STATE/never\"";
    desktop.program("gh", clones);
    let (instance, id) = (RuntimeInstance::start(desktop), new_id());
    let (runtime, body) = (instance.runtime.clone(), request(id, "PLAN"));
    instance.spawn(async move { start(&runtime, &body).await });
    let is_cloning = || async { (!desktop.state("clones").is_empty()).then_some(()) };
    instance.block_on(desktop.eventually("the repository is being cloned", is_cloning));
    let job = instance.block_on(instance.runtime.jobs.get(id)).unwrap().unwrap();
    assert_eq!(job.status(), JobStatus::Queued);
    drop(instance);
    desktop.program("gh", support::CODE_HOST);
    id
}

#[test]
fn start_that_crashes_loopgate_fails_after_three_attempts() {
    let (_outer, desktop) = outer();
    let id = new_id();
    kill_during_start(&desktop, id, 3);
    let instance = RuntimeInstance::start(&desktop);
    assert_eq!(instance.reported(id).status(), JobStatus::Unknown);
    assert_eq!(desktop.cloud.events(id, "error").len(), 1);
    assert_eq!(desktop.state("argv"), "", "no driver ran");
}

#[test]
fn killed_shim_leaves_no_process_and_the_loop_is_reported_lost() {
    let (outer, desktop) = outer();
    desktop.driver("echo up > \"$STATE/up\"; wait_for_signal never");
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    instance.block_on(
        desktop.eventually("it runs", || async { (!desktop.state("up").is_empty()).then_some(()) }),
    );
    drop(instance);
    outer.block_on(desktop.kill_shim());
    let instance = RuntimeInstance::start(&desktop);
    let job = instance.reported(id);
    assert_eq!(job.status(), JobStatus::Unknown);
    assert_eq!(desktop.cloud.events(id, "error")[0]["code"], "PROCESS_STOPPED");
    assert_eq!(instance.block_on(shim::reap(id, Duration::ZERO)).running, 0);
}

/// Returns an ended loop whose final messages are not accepted: several successive instances sent them, and
/// `call` was answered with `status` each time.
fn unaccepted_message(desktop: &Desktop, call: &str, status: u16) -> LoopId {
    desktop.driver("wait_for_signal go");
    let (instance, id) = RuntimeInstance::with_loop(desktop, "PLAN");
    // Only the final messages remain to be sent.
    instance.block_on(desktop.has_reported_all());
    drop(instance);
    desktop.cloud.answer_always(call, status, json!({"success": false, "error": "not now"}));
    desktop.signal("go");
    for _ in 0..5 {
        let before = desktop.cloud.requests().len();
        let instance = RuntimeInstance::start(desktop);
        instance.block_on(desktop.eventually("a message was rejected", || async {
            let ended = instance.runtime.jobs.get(id).await.unwrap()?.status().is_terminal();
            let mut received = desktop.cloud.requests().into_iter().skip(before);
            (ended && received.any(|received| received.status == status)).then_some(())
        }));
    }
    id
}

// LR-43, LR-44
#[test]
fn unaccepted_messages_survive_restarts() {
    for (call, status) in [("upload-artifacts", 500), ("events", 503), ("events", 401), ("events", 403)] {
        let (_outer, desktop) = outer();
        let id = unaccepted_message(&desktop, call, status);
        desktop.cloud.answer_successfully();
        let job = RuntimeInstance::start(&desktop).reported(id);
        assert!(!job.warnings().iter().any(|warning| warning.ends_with("_FAILED")), "{call} {job:?}");
        assert_eq!(job.report.last_recovery_error, None, "{call} {status}");
        assert_eq!(desktop.cloud.accepted(id, "upload-artifacts").len(), 1);
        assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
    }
}

// LR-44
#[test]
fn rejected_report_is_kept_and_shown() {
    let (_outer, desktop) = outer();
    desktop.driver("wait_for_signal go");
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    instance.block_on(desktop.has_reported_all());
    desktop.cloud.answer_always("events", 400, json!({"success": false, "error": "not an event"}));
    desktop.signal("go");
    instance.reported(id);
    drop(instance);
    desktop.cloud.answer_successfully();
    let before = desktop.cloud.requests().len();
    let instance = RuntimeInstance::start(&desktop);
    let shown = instance.block_on(instance.runtime.snapshots.active()).unwrap();
    assert_eq!(shown[0].refused_report.as_deref(), Some("HTTP 400 not an event"));
    assert_eq!(desktop.cloud.requests().len(), before, "it is not sent again");
}

#[test]
fn final_event_that_arrived_before_a_kill_is_not_resent_forever() {
    let (_outer, desktop) = outer();
    desktop.driver("wait_for_signal go; printf '{\"content\":\"# Plan\"}' > \"$W/plan.json\"");
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    instance.block_on(desktop.has_reported_all());
    // The state after the control plane has accepted the final event: the token is no longer valid.
    let rejection = |code: &str| json!({"success": false, "error": code, "code": code});
    desktop.cloud.answer_always("events", 401, rejection("jti_mismatch"));
    desktop.cloud.answer_always("refresh-token", 409, rejection("NOT_RUNNING"));
    desktop.signal("go");
    // The control plane still lists the loop as running, so the rejection does not count as delivery.
    instance.block_on(
        desktop.cloud.wait_for(|cloud| cloud.requests().iter().find(|h| h.route == "loop").map(drop)),
    );
    let job = instance.block_on(instance.runtime.jobs.get(id)).unwrap().unwrap();
    assert_eq!(job.report.cloud_finalized_at, None);
    let completed = json!({"success": true, "data": {"status": "COMPLETED"}});
    desktop.cloud.answer_always("loop", 200, completed);
    let job = instance.reported(id);
    assert_eq!((job.status(), job.warnings().len()), (JobStatus::Completed, 0), "{job:?}");
    instance.block_on(desktop.has_reported_all());
}

#[test]
fn leftovers_of_a_kill_after_the_last_report_are_removed() {
    let (outer, desktop) = outer();
    desktop.driver(&format!("wait_for_signal go\n{PLANS}"));
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    outer.block_on(desktop.change_records("CREATE TABLE kept AS SELECT * FROM loop_token"));
    desktop.signal("go");
    instance.reported(id);
    drop(instance);
    // The state after a crash before the token was deleted and the directory removed.
    let leftovers = "INSERT INTO loop_token SELECT * FROM kept; \
                UPDATE job SET to_clear = 1, record = json_set(record, '$.tempDir', '/nowhere')";
    outer.block_on(desktop.change_records(leftovers));
    let instance = RuntimeInstance::start(&desktop);
    instance.block_on(desktop.has_none("job WHERE to_clear"));
    instance.block_on(desktop.has_none("loop_token"));
    // The same after a cleanup that failed, for example on a full disk: it is retried without a restart.
    outer.block_on(desktop.change_records(leftovers));
    instance.block_on(desktop.has_none("job WHERE to_clear"));
}

// LR-45
#[test]
fn loop_that_the_control_plane_timed_out_is_still_delivered() {
    let (outer, desktop) = outer();
    desktop.driver(&format!("wait_for_signal go\n{PLANS}"));
    let (instance, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    drop(instance);
    // The control plane has timed the loop out while no runtime was running.
    outer.block_on(desktop.end_without_runtime());
    desktop.cloud.answer_always("loop", 200, json!({"success": true, "data": {"status": "TIMED_OUT"}}));
    let job = RuntimeInstance::start(&desktop).reported(id);
    assert_eq!(job.status(), JobStatus::Completed);
    assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
}
