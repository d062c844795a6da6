//! Loops whose runtime dies on the way: at random moments, in the middle of a commit, with the
//! control plane away. Each ends once, with its work delivered.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_runtime::jobs::Job;
use loopgate_tools::shim;
use serde_json::json;
use support::life::{RuntimeInstance, world};
use support::{COMMITS, Desktop, IMPLEMENTS, PLANS, new_id, request, start};

/// A driver that takes its time over 40 lines and changes a file in between.
const SLOWLY: &str = r#"
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

/// Changes of files within which the first and the second life of a round end.
const FIRST: usize = 400;
const SECOND: usize = 250;

// LR-41
/// Five lives in which four loops at different points die together, and die once more while they
/// are being taken up again.
#[test]
fn twenty_loops_die_at_random_points_and_each_ends_once() {
    let (world, desktop) = world();
    desktop.driver(SLOWLY);
    desktop.program("claude", &format!("sleep 0.2\n{COMMITS}\nsleep 0.2"));
    for round in 0..5 {
        let loops: Vec<(LoopId, String)> = (0..4).map(|n| (new_id(), format!("round-{round}-{n}"))).collect();
        let life = RuntimeInstance::start(&desktop);
        for (id, slug) in &loops {
            let mut body = request(*id, "EXECUTE");
            body["artifactSlug"] = json!(slug);
            life.block_on(start(&life.runtime, &body)).unwrap();
            // The next one begins when this one is under way.
            life.block_on(desktop.cloud.seen(|cloud| cloud.output(*id).get(8).map(drop)));
        }
        let first = rand::random_range(0..FIRST);
        life.live_through(first, &loops);
        drop(life);
        let life = RuntimeInstance::start(&desktop);
        let second = rand::random_range(0..SECOND);
        life.live_through(second, &loops);
        drop(life);
        let life = RuntimeInstance::start(&desktop);
        for (id, slug) in loops {
            let job = life.reported(id);
            let story = format!("killed after {first} and {second} changes: {job:?}");
            ended_once(&world, &desktop, &life, &job, &slug, &story);
        }
        let jobs = life.block_on(life.runtime.jobs.list()).unwrap();
        assert!(jobs.iter().all(|job| job.status().is_terminal()));
    }
}

fn ended_once(
    world: &tokio::runtime::Runtime,
    desktop: &Desktop,
    life: &RuntimeInstance<'_>,
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
    assert_eq!(world.block_on(desktop.pushed(&branch)).len(), 1, "{story}");
    let created = desktop.state("created");
    assert_eq!(created.lines().filter(|line| *line == branch).count(), 1, "one pull request; {story}");
    assert_eq!(life.block_on(shim::reap(id, Duration::ZERO)).found, 0, "no process is left; {story}");
}

#[test]
fn loop_that_ended_while_down_is_finalized_at_the_next_start() {
    let (world, desktop) = world();
    desktop.driver(&format!("until_there go\n{IMPLEMENTS}"));
    let (life, id) = RuntimeInstance::with_loop(&desktop, "EXECUTE");
    drop(life);
    world.block_on(desktop.ends_alone());
    let life = RuntimeInstance::start(&desktop);
    let job = life.reported(id);
    assert_eq!(job.status(), JobStatus::Completed, "{job:?}");
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["finalizationSource"], "boot-recovery");
    assert_eq!(completed["result"]["has_changes"], true);
    // The last one says that no tests were run.
    assert_eq!(desktop.cloud.output(id).len(), 4, "what it printed alone is shown, too");
}

// LR-41
#[test]
fn running_loop_is_followed_after_a_restart_and_can_be_killed() {
    let (_world, desktop) = world();
    desktop.driver("until_there go");
    let (life, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    drop(life);
    let life = RuntimeInstance::start(&desktop);
    life.block_on(desktop.eventually("it is followed", || async {
        let job = life.runtime.jobs.get(id).await.unwrap()?;
        (job.progress.live_activity.as_deref() == Some("Boot recovery reattached after desktop restart"))
            .then_some(())
    }));
    let killed =
        life.block_on(life.runtime.stopper.kill_loop(json!({"loopId": id}).to_string().as_bytes())).unwrap();
    assert_eq!(killed.message(), "Loop process terminated");
    assert_eq!(life.reported(id).status(), JobStatus::Cancelled);
    assert_eq!(life.block_on(shim::reap(id, Duration::ZERO)).found, 0);
}

/// Shims that come to nothing: each is ended with the life that started it.
const STILLBORN: &str =
    "echo up >> \"$STATE/shims\"; mkfifo \"$STATE/over\" 2>/dev/null; read word < \"$STATE/over\"; exit 1";

/// Orders a plan and lets so many lives die while they start it.
fn dies_while_it_starts(desktop: &Desktop, id: LoopId, times: usize) {
    desktop.shims_do(STILLBORN);
    for time in 1..=times {
        let life = RuntimeInstance::start(desktop);
        let up = || async { (desktop.state("shims").lines().count() == time).then_some(()) };
        life.block_on(async {
            let ordered = async {
                if time == 1 {
                    let _ = start(&life.runtime, &request(id, "PLAN")).await;
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = desktop.eventually("it is being started", up) => {}
                () = ordered => {}
            }
        });
        drop(life);
        desktop.signal("over");
        std::fs::remove_file(desktop.at("state/over")).unwrap();
    }
    desktop.shims_do("");
}

#[test]
fn unstarted_loop_starts_after_a_restart_and_is_reported_once() {
    let (_world, desktop) = world();
    let id = new_id();
    dies_while_it_starts(&desktop, id, 2);
    let life = RuntimeInstance::start(&desktop);
    let job = life.reported(id);
    assert_eq!(job.status(), JobStatus::Completed, "{job:?}");
    assert_eq!(desktop.state("argv").lines().count(), 1, "one driver");
    assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
    let received = desktop.cloud.requests();
    let mut begins: Vec<_> = received.iter().filter(|received| received.body["type"] == "started").collect();
    assert_eq!(begins.len(), 3, "each life has said so");
    begins.dedup_by_key(|received| &received.nonce);
    assert_eq!(begins.len(), 1, "and it counts once");
    // Its request is deleted.
    life.block_on(desktop.has_none("launch_request"));
}

#[test]
fn interrupted_start_is_resumed_after_a_restart() {
    let (_world, desktop) = world();
    let id = dies_while_it_prepares(&desktop);
    let life = RuntimeInstance::start(&desktop);
    assert_eq!(life.reported(id).status(), JobStatus::Completed);
}

#[test]
fn loop_that_an_earlier_version_kept_as_a_file_is_started() {
    let (world, desktop) = world();
    let id = dies_while_it_prepares(&desktop);
    world.block_on(desktop.keep_requests_as_files());
    assert!(desktop.at("data/queue").join(id.to_string()).is_file());
    let life = RuntimeInstance::start(&desktop);
    assert!(!desktop.at("data/queue").exists(), "the file is in the database now");
    assert_eq!(life.reported(id).status(), JobStatus::Completed);
}

/// A loop that is being prepared when its life ends.
fn dies_while_it_prepares(desktop: &Desktop) -> LoopId {
    std::fs::remove_dir_all(desktop.at("box/api")).unwrap();
    let clones = "[ \"$1 $2\" = \"repo clone\" ] && echo here > \"$STATE/clones\"; mkfifo \"$STATE/never\"; read word < \"$STATE/never\"";
    desktop.program("gh", clones);
    let (life, id) = (RuntimeInstance::start(desktop), new_id());
    let (runtime, body) = (life.runtime.clone(), request(id, "PLAN"));
    life.spawn(async move { start(&runtime, &body).await });
    let is_cloning = || async { (!desktop.state("clones").is_empty()).then_some(()) };
    life.block_on(desktop.eventually("the repository is being cloned", is_cloning));
    let job = life.block_on(life.runtime.jobs.get(id)).unwrap().unwrap();
    assert_eq!(job.status(), JobStatus::Queued);
    drop(life);
    desktop.program("gh", support::CODE_HOST);
    id
}

#[test]
fn start_that_crashes_loopgate_is_given_up() {
    let (_world, desktop) = world();
    let id = new_id();
    dies_while_it_starts(&desktop, id, 3);
    let life = RuntimeInstance::start(&desktop);
    assert_eq!(life.reported(id).status(), JobStatus::Unknown);
    assert_eq!(desktop.cloud.events(id, "error").len(), 1);
    assert_eq!(desktop.state("argv"), "", "no driver ran");
}

#[test]
fn killed_shim_leaves_no_process_and_the_loop_is_reported_lost() {
    let (world, desktop) = world();
    desktop.driver("echo up > \"$STATE/up\"; until_there never");
    let (life, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    life.block_on(
        desktop.eventually("it runs", || async { (!desktop.state("up").is_empty()).then_some(()) }),
    );
    drop(life);
    world.block_on(desktop.kill_shim());
    let life = RuntimeInstance::start(&desktop);
    let job = life.reported(id);
    assert_eq!(job.status(), JobStatus::Unknown);
    assert_eq!(desktop.cloud.events(id, "error")[0]["code"], "PROCESS_STOPPED");
    assert_eq!(life.block_on(shim::reap(id, Duration::ZERO)).found, 0);
}

/// A loop that has ended, and of which many lives in a row told in vain, while this call was answered so.
fn unaccepted_message(desktop: &Desktop, call: &str, status: u16) -> LoopId {
    desktop.driver("until_there go");
    let (life, id) = RuntimeInstance::with_loop(desktop, "PLAN");
    // Nothing but its end is left to tell.
    life.block_on(desktop.has_reported_all());
    drop(life);
    desktop.cloud.answer_always(call, status, json!({"success": false, "error": "not now"}));
    desktop.signal("go");
    for _ in 0..5 {
        let before = desktop.cloud.requests().len();
        let life = RuntimeInstance::start(desktop);
        life.block_on(desktop.eventually("it was told in vain", || async {
            let ended = life.runtime.jobs.get(id).await.unwrap()?.status().is_terminal();
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
        let (_world, desktop) = world();
        let id = unaccepted_message(&desktop, call, status);
        desktop.cloud.answer_well();
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
    let (_world, desktop) = world();
    desktop.driver("until_there go");
    let (life, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    life.block_on(desktop.has_reported_all());
    desktop.cloud.answer_always("events", 400, json!({"success": false, "error": "not an event"}));
    desktop.signal("go");
    life.reported(id);
    drop(life);
    desktop.cloud.answer_well();
    let before = desktop.cloud.requests().len();
    let life = RuntimeInstance::start(&desktop);
    let shown = life.block_on(life.runtime.snapshots.active()).unwrap();
    assert_eq!(shown[0].refused_report.as_deref(), Some("HTTP 400 not an event"));
    assert_eq!(desktop.cloud.requests().len(), before, "it is not sent again");
}

#[test]
fn end_that_arrived_before_a_kill_is_not_resent_forever() {
    let (_world, desktop) = world();
    desktop.driver("until_there go; printf '{\"content\":\"# Plan\"}' > \"$W/plan.json\"");
    let (life, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    life.block_on(desktop.has_reported_all());
    // As when the end has been taken: with it the token is not in force any more.
    let refused = |code: &str| json!({"success": false, "error": code, "code": code});
    desktop.cloud.answer_always("events", 401, refused("jti_mismatch"));
    desktop.cloud.answer_always("refresh-token", 409, refused("NOT_RUNNING"));
    desktop.signal("go");
    // A loop that runs has not ended, whatever is said of its token.
    life.block_on(desktop.cloud.seen(|cloud| cloud.requests().iter().find(|h| h.route == "loop").map(drop)));
    let stands = life.block_on(life.runtime.jobs.get(id)).unwrap().unwrap();
    assert_eq!(stands.report.cloud_finalized_at, None);
    let over = json!({"success": true, "data": {"status": "COMPLETED"}});
    desktop.cloud.answer_always("loop", 200, over);
    let job = life.reported(id);
    assert_eq!((job.status(), job.warnings().len()), (JobStatus::Completed, 0), "{job:?}");
    life.block_on(desktop.has_reported_all());
}

#[test]
fn leftovers_of_a_kill_after_the_last_report_are_removed() {
    let (world, desktop) = world();
    desktop.driver(&format!("until_there go\n{PLANS}"));
    let (life, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    world.block_on(desktop.change_records("CREATE TABLE kept AS SELECT * FROM loop_token"));
    desktop.signal("go");
    life.reported(id);
    drop(life);
    // As when the token was still to be deleted and a directory to be removed.
    let left = "INSERT INTO loop_token SELECT * FROM kept; \
                UPDATE job SET to_clear = 1, record = json_set(record, '$.passingDir', '/nowhere')";
    world.block_on(desktop.change_records(left));
    let life = RuntimeInstance::start(&desktop);
    life.block_on(desktop.has_none("job WHERE to_clear"));
    life.block_on(desktop.has_none("loop_token"));
    // As when the disk was full.
    world.block_on(desktop.change_records(left));
    life.block_on(desktop.has_none("job WHERE to_clear"));
}

// LR-45
#[test]
fn loop_that_the_control_plane_gave_up_delivers_what_it_did() {
    let (world, desktop) = world();
    desktop.driver(&format!("until_there go\n{PLANS}"));
    let (life, id) = RuntimeInstance::with_loop(&desktop, "PLAN");
    drop(life);
    world.block_on(desktop.ends_alone());
    desktop.cloud.answer_always("loop", 200, json!({"success": true, "data": {"status": "TIMED_OUT"}}));
    let job = RuntimeInstance::start(&desktop).reported(id);
    assert_eq!(job.status(), JobStatus::Completed);
    assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
}
