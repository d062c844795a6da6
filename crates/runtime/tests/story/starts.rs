//! Launches: refusals, repositories, worktrees, and the callback path to the control plane.

use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_runtime::{LoopHeaders, RuntimeTiming};
use loopgate_testkit::cloud::Cloud;
use serde_json::{Value, json};

use crate::support::{Desktop, IMPLEMENTS, PLANS, new_id, quick, request, start};

#[tokio::test(flavor = "multi_thread")]
async fn loops_and_worktrees_are_exclusive() {
    let desktop = Desktop::new().await;
    desktop.driver("wait_for_signal go");
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let repeated = start(&runtime, &request(id, "EXECUTE")).await.unwrap_err();
    assert_eq!(
        (repeated.status, repeated.message.as_str()),
        (409, "Loop is already running on this machine")
    );
    let other = start(&runtime, &request(new_id(), "EXECUTE")).await.unwrap_err();
    assert_eq!((other.status, other.message.as_str()), (409, "Another loop is running in this worktree"));
    desktop.signal("go");
    desktop.reported(&runtime, id).await;
    desktop.driver(PLANS);
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    assert_eq!(desktop.has_status(&runtime, id, JobStatus::Completed).await.run.exit_code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_mcp_check_does_not_delay_a_launch() {
    let desktop = Desktop::new().await;
    desktop.program("claude", "mkfifo \"$STATE/never\" 2>/dev/null; read word < \"$STATE/never\"");
    let timing = RuntimeTiming { mcp: Duration::from_millis(1), ..quick() };
    let runtime = desktop.open_with(timing).await;
    for url in ["https://mcp.example.test/mcp", "no url"] {
        let id = new_id();
        let mut body = request(id, "PLAN");
        body["expectedMcpUrl"] = json!(url);
        start(&runtime, &body).await.unwrap();
        let job = desktop.reported(&runtime, id).await;
        assert_eq!(job.status(), JobStatus::Completed);
        assert_eq!(job.launch.expected_mcp_url.as_deref(), Some(url));
    }
    let argv = desktop.state("argv");
    assert!(argv.lines().count() == 2 && !argv.contains("--allow-tools"), "{argv}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_have_their_texts_and_events() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let events = |id| {
        let events = desktop.cloud.events(id, "error");
        events
            .iter()
            .map(|e| (e["code"].as_str().unwrap().to_owned(), e["message"].as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let mut cases = Vec::new();
    let mut case = |change: &dyn Fn(&mut Value), status: u16, text: &str, event: Option<(&str, &str)>| {
        let id = new_id();
        let mut body = request(id, "EXECUTE");
        change(&mut body);
        let event: Vec<_> = event.iter().map(|(c, m)| ((*c).to_owned(), (*m).to_owned())).collect();
        cases.push((id, body, status, text.to_owned(), event));
    };
    case(
        &|b| b["localRepoPath"] = json!("/etc"),
        403,
        "directory not allowed",
        Some(("REPO_NOT_ALLOWED", "Repository path not allowed by sandbox policy")),
    );
    let missing = desktop.at("box/nowhere").to_string_lossy().into_owned();
    let text = format!("Repository not found locally: {missing}");
    case(&|b| b["localRepoPath"] = json!(missing), 404, &text, Some(("REPO_NOT_FOUND", &text)));
    case(
        &|b| b["repo"] = Value::Null,
        400,
        "Repository required for PLAN, EXECUTE, REQUEST_CHANGES, and GENERATE_PRD commands",
        None,
    );
    let absent = "Failed to materialize EXECUTE branch: branch \"nope\" does not exist";
    case(&|b| b["repo"]["branch"] = json!("nope"), 500, absent, Some(("BRANCH_CREATE_FAILED", absent)));
    case(
        &|b| b["additionalRepos"] = json!(vec![json!({"fullName": "acme/x"}); 6]),
        400,
        "additionalRepos exceeds maximum of 5 entries (got 6)",
        Some(("PRE_RUN_VALIDATION_FAILED", "additionalRepos exceeds maximum of 5 entries (got 6)")),
    );
    let bootstrap = |b: &mut Value| {
        b["command"] = json!("BOOTSTRAP");
        b["prompt"] = Value::Null;
    };
    let absent = "plugin bootstrap not found in plugin cache";
    case(&bootstrap, 500, absent, Some(("SCRIPT_NOT_FOUND", absent)));
    for (id, body, status, text, event) in cases {
        let error = start(&runtime, &body).await.unwrap_err();
        assert_eq!((error.status, error.message.as_str()), (status, text.as_str()));
        assert_eq!(events(id), event, "{text}");
        assert!(runtime.jobs.get(id).await.unwrap().is_none());
    }
    std::fs::remove_dir_all(desktop.at("plugins/code")).unwrap();
    let id = new_id();
    let error = start(&runtime, &request(id, "PLAN")).await.unwrap_err();
    assert_eq!((error.status, error.message.as_str()), (500, "run-loop.sh not found in plugin cache"));
    assert_eq!(events(id)[0].0, "SCRIPT_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn local_launch_requires_the_callback_path_and_a_relayed_launch_waits_for_it() {
    let desktop = Desktop::new().await;
    desktop.cloud.answer_always("events", 500, json!({"success": false, "error": "down"}));
    let runtime = desktop.open().await;
    let id = new_id();
    for _ in 0..2 {
        let error = start(&runtime, &request(id, "EXECUTE")).await.unwrap_err();
        assert_eq!(error.status, 503);
        assert!(
            error.message.starts_with("Cannot start local loop: cloud callback path is unavailable."),
            "{error}"
        );
        assert!(runtime.jobs.get(id).await.unwrap().is_none());
    }
    assert_eq!(desktop.state("argv"), "", "nothing was started");
    // A launch through the control plane proves that the desktop can reach it, so it does not fail.
    let headers = LoopHeaders { from_cloud: true, ..LoopHeaders::default() };
    runtime.launcher.start_loop(request(id, "PLAN").to_string().as_bytes(), headers).await.unwrap();
    desktop.has_status(&runtime, id, JobStatus::Completed).await;
    desktop.cloud.answer_successfully();
    desktop.reported(&runtime, id).await;
    let kinds: Vec<String> = desktop
        .cloud
        .accepted(id, "events")
        .iter()
        .map(|h| h.body["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds.first().map(String::as_str), Some("started"));
    assert_eq!(kinds.last().map(String::as_str), Some("completed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn loop_that_the_control_plane_has_ended_is_not_started() {
    let desktop = Desktop::new().await;
    desktop.cloud.answer_always("events", 200, json!({"success": true, "data": {"ended": true}}));
    let runtime = desktop.open().await;
    let id = new_id();
    let error = start(&runtime, &request(id, "EXECUTE")).await.unwrap_err();
    assert_eq!((error.status, error.message.as_str()), (409, "The loop has already ended."));
    assert!(runtime.jobs.get(id).await.unwrap().is_none());
    assert_eq!(desktop.state("argv"), "", "nothing was started");
}

// LR-12
#[tokio::test(flavor = "multi_thread")]
async fn missing_repository_is_cloned_and_listed() {
    let desktop = Desktop::new().await;
    std::fs::remove_dir_all(desktop.at("box/api")).unwrap();
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.reported(&runtime, id).await;
    assert!(desktop.state("gh-argv").starts_with("repo clone acme/api "));
    let listed = std::fs::read_to_string(desktop.at("box/.loopgate/config/repos.json")).unwrap();
    assert!(listed.contains("box/api"), "{listed}");

    std::fs::remove_dir_all(desktop.at("box/api")).unwrap();
    desktop.program(
        "gh",
        "echo 'fatal: https://u:hunter2@host 0123456789012345678901234567890123456789' >&2; exit 1",
    );
    let id = new_id();
    let error = start(&runtime, &request(id, "PLAN")).await.unwrap_err();
    let text = "Repository not found locally: acme/api. It could not be cloned: Failed to complete GitHub operation. Check \
                logs for details.";
    assert_eq!((error.status, error.message.as_str()), (404, text));
    assert_eq!(desktop.cloud.events(id, "error")[0]["code"], "REPO_NOT_FOUND");
}

/// Runs EXECUTE, PLAN and EXECUTE for one document, with the first pull request open or not; returns the last
/// loop.
async fn planned_again(desktop: &Desktop, is_open: bool) -> LoopId {
    desktop.driver(IMPLEMENTS);
    let runtime = desktop.open().await;
    let first = new_id();
    start(&runtime, &request(first, "EXECUTE")).await.unwrap();
    desktop.reported(&runtime, first).await;
    let worktree = desktop.at("box/api-loop-plan-5");
    std::fs::write(worktree.join("left-over.txt"), "dirty").unwrap();
    let (clone, remote) = (desktop.at("box/api"), desktop.at("remote/acme/api.git"));
    desktop.git(&remote, &["branch", "unrelated", "main"]).await;
    if is_open {
        // As if another machine had pushed the work: the clone does not have it.
        let tracked = "refs/remotes/origin/orchestrator/plan-5";
        desktop.git(&clone, &["update-ref", tracked, "refs/remotes/origin/main"]).await;
    } else {
        std::fs::remove_file(desktop.at("state/pr-orchestrator_plan-5")).unwrap();
    }

    desktop.driver(PLANS);
    let plan = new_id();
    start(&runtime, &request(plan, "PLAN")).await.unwrap();
    desktop.reported(&runtime, plan).await;
    assert!(!worktree.join("left-over.txt").exists());
    assert_eq!(worktree.join("feature.txt").exists(), is_open);

    desktop.driver(&IMPLEMENTS.replace("feature.txt", "other.txt"));
    let second = new_id();
    start(&runtime, &request(second, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, second).await;
    assert_eq!(job.warnings(), Vec::<String>::new(), "{job:?}");
    let tracked = desktop.git(&clone, &["for-each-ref", "--format=%(refname)", "refs/remotes"]).await;
    assert!(!tracked.contains("unrelated"), "only the base branch and the loop's are fetched: {tracked}");
    second
}

#[tokio::test(flavor = "multi_thread")]
async fn second_plan_starts_fresh_and_does_not_overwrite_the_pushed_branch() {
    let desktop = Desktop::new().await;
    let second = planned_again(&desktop, false).await;
    let own = format!("orchestrator/plan-5-{}", second.short());
    assert_eq!(desktop.pushed("orchestrator/plan-5").await.len(), 1);
    assert_eq!(desktop.pushed(&own).await.len(), 1);
    assert_eq!(desktop.cloud.events(second, "completed")[0]["results"][0]["branchName"], own);
}

// LR-19
#[tokio::test(flavor = "multi_thread")]
async fn second_plan_gets_a_clean_worktree() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let leftover = desktop.at("box/api-loop-plan-5/left-over.txt");
    desktop.driver(&format!("ls > \"$STATE/files\"\n{PLANS}"));
    for _ in 0..2 {
        let id = new_id();
        start(&runtime, &request(id, "PLAN")).await.unwrap();
        desktop.reported(&runtime, id).await;
        assert_eq!(desktop.state("files"), "README.md\n");
        assert!(!leftover.exists());
        std::fs::write(&leftover, "dirty").unwrap();
    }
}

// LR-29
#[tokio::test(flavor = "multi_thread")]
async fn second_plan_continues_from_the_open_pull_request() {
    let desktop = Desktop::new().await;
    let second = planned_again(&desktop, true).await;
    assert_eq!(desktop.pushed("orchestrator/plan-5").await.len(), 2);
    let result = &desktop.cloud.events(second, "completed")[0]["results"][0];
    assert_eq!(result["branchName"], "orchestrator/plan-5", "{result}");
}

// LR-21, LR-22, LR-23
#[tokio::test(flavor = "multi_thread")]
async fn execution_gets_its_plan_in_one_form() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let work = desktop.at("box/api-loop-plan-5/.loopgate/work");
    let (plan, imported) = (work.join("plan.json"), work.join("imported-plan.md"));
    desktop.driver(IMPLEMENTS);
    let execute = async |content: &str, raw: Value| {
        let id = new_id();
        let mut body = request(id, "EXECUTE");
        body["artifacts"] =
            json!([{"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": content, "raw": raw}]);
        start(&runtime, &body).await.unwrap();
        desktop.reported(&runtime, id).await;
        let environment = desktop.state("env");
        environment.lines().find_map(|line| line.strip_prefix("LOOPGATE_PLAN_FILE=")).map(str::to_owned)
    };
    // There is no plan in the worktree yet.
    assert_eq!(execute("# A", Value::Null).await.as_deref(), imported.to_str());
    assert_eq!(std::fs::read_to_string(&imported).unwrap(), "# A");
    assert!(!plan.exists());
    // A structured plan is stored as such.
    let whole = json!({"content": "# B", "tasks": [1]});
    assert_eq!(execute("# B", whole.clone()).await.as_deref(), Some(""));
    assert_eq!(serde_json::from_slice::<Value>(&std::fs::read(&plan).unwrap()).unwrap(), whole);
    assert!(!imported.exists());
    // A plan with the same content keeps its progress.
    let ticked = r##"{ "content":"# B", "completedTasks":[{"id":"1"}] }"##;
    std::fs::write(&plan, ticked).unwrap();
    assert_eq!(execute("# B", Value::Null).await.as_deref(), Some(""));
    assert_eq!(std::fs::read_to_string(&plan).unwrap(), ticked);
    // A different content replaces the plan.
    assert_eq!(execute("# C", Value::Null).await.as_deref(), imported.to_str());
    assert!(!plan.exists() && std::fs::read_to_string(&imported).unwrap() == "# C");
}

// LR-54
#[tokio::test(flavor = "multi_thread")]
async fn attachments_on_private_addresses_are_refused_and_logged() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let id = new_id();
    let attachment = |name: &str, url: &str, until: &str| {
        json!({"id": name, "filename": "a b.txt", "mimeType": "text/plain", "sizeBytes": 100,
            "signedUrl": url, "signedUrlExpiresAt": until})
    };
    let own = format!("{}/loops/{id}/file", desktop.cloud.origin());
    let elsewhere = Cloud::start().await.unwrap();
    let other_server = format!("{}/loops/{id}/file", elsewhere.origin());
    let mut body = request(id, "PLAN");
    body["attachments"] = json!([
        attachment("one", "http://169.254.169.254/x", "2040-01-01T00:00:00Z"),
        attachment("two", "https://example.org/x", "2040-01-01T00:00:00Z"),
        attachment("three", &own, "2020-01-01T00:00:00Z"),
        attachment("four", &own, "2040-01-01T00:00:00Z"),
        attachment("five", &other_server, "2040-01-01T00:00:00Z"),
    ]);
    start(&runtime, &body).await.unwrap();
    desktop.reported(&runtime, id).await;
    let work = desktop.at("box/api-loop-plan-5/.loopgate/work");
    let skipped: Value =
        serde_json::from_slice(&std::fs::read(work.join("skipped-attachments.json")).unwrap()).unwrap();
    assert_eq!(
        skipped,
        json!({"skippedAttachments": [{"id": "one", "reason": "unsupported_protocol"},
        {"id": "two", "reason": "attachment_host_not_allowed"},
        {"id": "five", "reason": "unsupported_protocol"}], "allAttachmentsSkipped": false})
    );
    assert!(elsewhere.requests().is_empty(), "{:?}", elsewhere.requests());
    let names: Vec<_> =
        std::fs::read_dir(work.join("attachments")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["four-a_b.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_start_is_accepted_and_reported_by_events() {
    let desktop = Desktop::new().await;
    desktop.driver(&format!("wait_for_signal go\n{PLANS}"));
    let runtime = desktop.open_with(RuntimeTiming { launch_answer: Duration::ZERO, ..quick() }).await;
    let id = new_id();
    let started = start(&runtime, &request(id, "PLAN")).await.unwrap();
    assert_eq!((started.loop_id, started.pid, started.queue_place), (id, None, None));
    let repeated = start(&runtime, &request(id, "PLAN")).await.unwrap_err();
    assert_eq!(repeated.message, "Loop is already running on this machine");
    desktop.signal("go");
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Completed);
    assert_eq!(desktop.cloud.events(id, "started").len(), 1);

    // A refusal after the launch was accepted is reported until it is acknowledged.
    let id = new_id();
    let mut body = request(id, "PLAN");
    let missing = desktop.at("box/nowhere").to_string_lossy().into_owned();
    body["localRepoPath"] = json!(missing);
    let away = json!({"success": false, "error": "away"});
    desktop.cloud.answer_always("events", 503, away);
    assert_eq!(start(&runtime, &body).await.unwrap().pid, None);
    desktop.has_status(&runtime, id, JobStatus::Failed).await;
    desktop.cloud.answer_successfully();
    desktop.reported(&runtime, id).await;
    let errors = desktop.cloud.events(id, "error");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["message"], format!("Repository not found locally: {missing}"));
}
