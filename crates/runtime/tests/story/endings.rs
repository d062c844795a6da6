//! Loops that fail, and loops that the user stops.

use loopgate_api::job::JobStatus;
use loopgate_api::link::{Severity, Telemetry};
use serde_json::{Value, json};

use crate::support::{Desktop, IMPLEMENTS, new_id, request, start};

// LR-32
#[tokio::test(flavor = "multi_thread")]
async fn execution_without_tokens_and_results_fails_as_ghost_loop() {
    let desktop = Desktop::new().await;
    desktop.driver("exit 0");
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Failed);
    let error = &desktop.cloud.events(id, "error")[0];
    assert_eq!((&error["code"], &error["abortReason"]), (&json!("NO_WORK_PRODUCED"), &json!("ghost-loop")));
    assert!(desktop.cloud.events(id, "completed").is_empty());
}

// LR-24, LR-35
#[tokio::test(flavor = "multi_thread")]
async fn failure_is_reported_with_redacted_diagnostics_after_its_plan() {
    let desktop = Desktop::new().await;
    desktop.driver(
        r#"i=0; while [ $i -lt 400 ]; do printf '\033[31mline %s\033[0m ghp_abcdefghijklmnopqrstuvwxyz\n' $i >> "$W/assistant-stderr.log"; i=$((i+1)); done
        exit 3"#,
    );
    let runtime = desktop.open().await;
    let mut reports = runtime.telemetry.subscribe();
    let id = new_id();
    let mut body = request(id, "EXECUTE");
    body["artifacts"] =
        json!([{"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": "# The plan"}]);
    start(&runtime, &body).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!((job.status(), job.run.exit_code), (JobStatus::Failed, Some(3)));
    assert!(job.report.artifacts_uploaded_at.is_some());
    let received = desktop.cloud.requests();
    let order: Vec<String> = received
        .iter()
        .filter(|h| h.route == "upload-artifacts" || h.body["type"] == "error")
        .map(|h| h.route.clone())
        .collect();
    assert_eq!(order, ["upload-artifacts", "events"]);
    let upload = received.iter().find(|h| h.route == "upload-artifacts").unwrap();
    assert_eq!(upload.body["artifacts"]["plan"], json!({"content": "# The plan"}));
    let error = &desktop.cloud.events(id, "error")[0];
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!("PROCESS_FAILED"), &json!("Process exited with code 3"))
    );
    assert_eq!((&error["diagnosticsVersion"], &error["abortReason"]), (&json!("2"), &json!("process-exit")));
    let stderr = error["stderrTail"].as_str().unwrap();
    assert!(stderr.len() <= 4096 && !stderr.contains('\u{1b}') && !stderr.contains("ghp_"), "{stderr}");
    assert!(error["elapsedMs"].as_u64().is_some());
    let report =
        std::iter::from_fn(|| reports.try_recv().ok()).find(|report| report.category == "job.failed");
    let Telemetry { severity, trace, diagnostics, .. } = report.unwrap();
    assert_eq!((severity, trace.loop_id), (Severity::Error, Some(id.to_string())));
    let diagnostics = Value::from(diagnostics.unwrap());
    assert_eq!((&diagnostics["diagnosticsVersion"], &diagnostics["exitCode"]), (&json!(2), &json!(3)));
    assert_eq!(diagnostics["stderrTail"], error["stderrTail"]);
    let shown = diagnostics["spawnMeta"]["envSnapshot"].as_object().unwrap();
    let allowed = |name: &String| name == "NODE_ENV" || name.starts_with("CLAUDE_CODE_USE_");
    assert!(shown.keys().all(allowed), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_code_of_a_full_disk_is_explained() {
    let desktop = Desktop::new().await;
    desktop.driver("exit 74");
    let runtime = desktop.open().await;
    for command in ["PLAN", "EXECUTE"] {
        let id = new_id();
        start(&runtime, &request(id, command)).await.unwrap();
        assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Failed);
        let error = &desktop.cloud.events(id, "error")[0];
        assert_eq!(
            (&error["code"], &error["result"]),
            (&json!("RUNNER_ERROR"), &json!({"subcode": "DISK_FULL"}))
        );
        let message = error["message"].as_str().unwrap();
        let place = desktop.at("box/api-loop-plan-5/.loopgate/work");
        assert!(message.contains(&format!("The disk of {}", place.display())), "{message}");
    }
}

// OR-50, LR-38
#[tokio::test(flavor = "multi_thread")]
async fn killed_loop_ends_with_all_its_processes() {
    let desktop = Desktop::new().await;
    // Both processes ignore SIGTERM, so they end only with SIGKILL after the grace period.
    desktop.driver(r#"trap '' TERM; sh -c 'trap "" TERM; echo $$ > "$1/grandchild"; while :; do sleep 0.05; done' x "$STATE" & echo $$ > "$STATE/child"; while :; do sleep 0.05; done"#);
    let timing = loopgate_runtime::RuntimeTiming {
        kill_grace: std::time::Duration::from_millis(200),
        ..crate::support::quick()
    };
    let runtime = desktop.open_with(timing).await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let pids = desktop
        .eventually("both run", || async {
            let pid = |name: &str| desktop.state(name).trim().parse::<u32>().ok();
            Some([pid("child")?, pid("grandchild")?])
        })
        .await;
    let outcome = runtime.stopper.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap();
    assert_eq!(outcome.message(), "Loop process terminated");
    // `kill_loop` returns after all processes have ended.
    for pid in pids {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} still runs");
    }
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status(), JobStatus::Cancelled);
    let error = &desktop.cloud.events(id, "error")[0];
    assert_eq!((&error["code"], &error["abortReason"]), (&json!("CANCELLED"), &json!("cancelled")));
    assert!(desktop.cloud.accepted(id, "upload-artifacts").is_empty());
    let repeated = runtime.stopper.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap_err();
    assert_eq!((repeated.status, repeated.message.as_str()), (404, "No running process found for this loop"));
}

// OR-50
/// The stop request is recorded before the signal, so that it survives a crash in between.
#[tokio::test(flavor = "multi_thread")]
async fn stop_is_recorded_before_the_process_is_signalled() {
    let desktop = Desktop::new().await;
    desktop.driver(r#"trap 'echo received > "$STATE/sigterm"; wait_for_signal end; exit 1' TERM; echo up > "$STATE/up"; while :; do sleep 0.02; done"#);
    let timing =
        loopgate_runtime::RuntimeTiming { kill_grace: crate::support::TIMEOUT, ..crate::support::quick() };
    let runtime = desktop.open_with(timing).await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    let exists = |name: &'static str| (!desktop.state(name).is_empty()).then_some(());
    desktop.eventually("it runs", || async { exists("up") }).await;
    let killing = async {
        runtime.stopper.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap();
    };
    // The driver has received SIGTERM and is still running when the record is read.
    let check = async {
        desktop.eventually("the process received SIGTERM", || async { exists("sigterm") }).await;
        let job = runtime.jobs.get(id).await.unwrap().unwrap();
        desktop.signal("end");
        assert_eq!(job.status(), JobStatus::CancelPending);
    };
    tokio::join!(killing, check);
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn successful_exit_after_a_kill_counts_as_cancelled() {
    let desktop = Desktop::new().await;
    desktop.driver(r#"trap 'exit 0' TERM; echo up > "$STATE/up"; while :; do sleep 0.02; done"#);
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.eventually("it runs", || async { (!desktop.state("up").is_empty()).then_some(()) }).await;
    runtime.stopper.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Cancelled);
    assert_eq!(desktop.cloud.events(id, "error").len(), 1);
    assert!(desktop.cloud.events(id, "completed").is_empty());
}

// LR-39
#[tokio::test(flavor = "multi_thread")]
async fn cancellation_ends_a_push_and_names_a_branch_that_had_arrived() {
    for (hook, arrived) in [("pre-receive", false), ("post-receive", true)] {
        let desktop = Desktop::new().await;
        desktop.driver(IMPLEMENTS);
        let hook = desktop.at("remote/acme/api.git/hooks").join(hook);
        let running = desktop.at("state/push");
        // Blocks the push until it is killed.
        let script =
            format!("#!/bin/sh\nmkfifo '{0}.pipe'\n: > '{0}'\nread word < '{0}.pipe'\n", running.display());
        std::fs::write(&hook, script).unwrap();
        std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let runtime = desktop.open().await;
        let id = new_id();
        start(&runtime, &request(id, "EXECUTE")).await.unwrap();
        desktop.eventually("the push runs", || async { running.exists().then_some(()) }).await;
        runtime.stopper.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap();
        assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Cancelled);
        let refs = desktop.git(&desktop.at("remote/acme/api.git"), &["for-each-ref"]).await;
        assert_eq!(refs.contains("refs/heads/orchestrator/plan-5"), arrived, "{refs}");
        let message = desktop.cloud.events(id, "error")[0]["message"].to_string();
        assert_eq!(message.contains("code host (orchestrator/plan-5 of acme/api)"), arrived, "{message}");
        std::fs::remove_file(&hook).unwrap();
        let next = new_id();
        start(&runtime, &request(next, "EXECUTE")).await.unwrap();
        assert_eq!(desktop.reported(&runtime, next).await.status(), JobStatus::Completed);
    }
}

// LR-36, LR-37
#[tokio::test(flavor = "multi_thread")]
async fn full_context_and_signed_failure_have_their_own_codes() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    desktop.driver(
        r#"say '{"type":"result","subtype":"error","is_error":true,"result":"Prompt is too long"}'; exit 1"#,
    );
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.reported(&runtime, id).await;
    assert_eq!(desktop.cloud.events(id, "error")[0]["code"], "CONTEXT_LIMIT_EXCEEDED");

    // A marker that is not signed with the loop's secret is ignored.
    for (key, code) in [(SECRET, "RUNNER_ERROR"), ("guessed", "PROCESS_FAILED")] {
        desktop.driver(&fails_with(key, "PENDING_TASKS_AT_COMPLETION", "Two tasks are open."));
        let id = new_id();
        start(&runtime, &request(id, "PLAN")).await.unwrap();
        let job = desktop.reported(&runtime, id).await;
        let error = &desktop.cloud.events(id, "error")[0];
        assert_eq!(error["code"], code, "{error}");
        if code == "RUNNER_ERROR" {
            assert_eq!(error["result"]["subcode"], "PENDING_TASKS_AT_COMPLETION");
            assert_eq!(job.progress.live_activity.as_deref(), Some("Two tasks are open."));
        }
    }
}

/// The variable with the secret that the driver signs with.
const SECRET: &str = "$LOOPGATE_USER_VISIBLE_FAILURE_SECRET";

/// Returns a driver script that ends with a signed failure for the user.
fn fails_with(key: &str, subcode: &str, message: &str) -> String {
    format!(
        r#"
signed='{{"code":"RUNNER_ERROR","message":"{message}","result":{{"subcode":"{subcode}"}}}}'
mac=$(printf '%s' "$signed" | openssl dgst -sha256 -hmac "{key}" | sed 's/.* //')
printf '%s' "${{signed%\}}}},\"signature\":\"sha256=$mac\"}}" > "$W/loop-error.json"
exit 1"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn iteration_limit_fails_the_execution_and_commits_without_a_push() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    desktop.driver(&format!("{IMPLEMENTS}\n{}", fails_with(SECRET, "ITERATION_LIMIT", "Not done yet.")));
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status(), JobStatus::Failed);
    let error = &desktop.cloud.events(id, "error")[0];
    assert_eq!((&error["code"], &error["message"]), (&json!("ITERATION_LIMIT"), &json!("Not done yet.")));
    assert!(desktop.cloud.events(id, "completed").is_empty());
    let worktree = std::path::PathBuf::from(job.workspace.worktree_dir.unwrap());
    assert_eq!(desktop.git(&worktree, &["status", "--porcelain"]).await, "");
    assert!(desktop.git(&worktree, &["log", "-1", "--format=%s"]).await.ends_with("(unfinished)"));
    let pushed = desktop.git(&worktree, &["branch", "--remotes", "--contains", "HEAD"]).await;
    assert_eq!((pushed, desktop.state("created")), (String::new(), String::new()));
}
