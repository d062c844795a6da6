//! Loops from the request to the last event, on real git, with nothing dying on the way.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use loopgate_api::job::JobStatus;
use loopgate_runtime::LoopHeaders;
use serde_json::{Value, json};
use support::{COMMITS, Desktop, IMPLEMENTS, new_id, request, start};

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_made_and_reported() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let id = new_id();
    let started = start(&runtime, &request(id, "PLAN")).await.unwrap();
    let worktree = started.worktree_path.unwrap();
    assert_eq!(worktree, desktop.at("box/api-loop-plan-5"));

    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status, JobStatus::Completed, "{job:?}");
    assert_eq!(job.facts.exit_code, Some(0));
    assert!(job.facts.artifacts_uploaded_at.is_some());
    assert_eq!(job.warnings(), Vec::<String>::new());

    let cloud = &desktop.cloud;
    assert_eq!(cloud.events(id, "started").len(), 1);
    assert_eq!(cloud.output(id), ["Looking around", "Turn complete"]);
    let uploads = cloud.accepted(id, "upload-artifacts");
    assert_eq!(uploads.len(), 1);
    assert_eq!(uploads[0].body["artifacts"]["plan"]["content"], "# Plan");
    let completed = &cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["subtype"], "plan");
    assert_eq!(completed["result"]["branchName"], "orchestrator/plan-5");
    assert_eq!(completed["result"]["sessionId"], "s-1");
    assert_eq!(completed["tokensUsed"]["input"], 10);
    assert_eq!(completed["apiKeySource"], "none");
    assert_eq!(completed.get("results"), None, "schema v1");

    let environment = desktop.state("env");
    let work_dir = worktree.join(".loopgate/work");
    for line in
        ["LOOPGATE_COMMAND=PLAN", "GIT_AUTHOR_NAME=Ada", &format!("LOOPGATE_WORKDIR={}", work_dir.display())]
    {
        assert!(environment.lines().any(|known| known == line), "{line} is missing in {environment}");
    }
    let argv = desktop.state("argv");
    assert_eq!(
        argv.trim(),
        format!("{} --max-iterations 50 --prd {}", work_dir.display(), work_dir.join("prd.md").display())
    );
    assert!(work_dir.join("process.pid").is_file() && work_dir.join("process.start").is_file());
    assert_eq!(
        desktop.git(&worktree, &["status", "--porcelain"]).await,
        "",
        "nothing of ours is to be committed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_goes_on_where_its_plan_was_made_and_git_delivers() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let plan = new_id();
    let planned = start(&runtime, &request(plan, "PLAN")).await.unwrap();
    desktop.reported(&runtime, plan).await;
    desktop.driver(IMPLEMENTS);
    let id = new_id();
    let started = start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    assert_eq!(started.worktree_path, planned.worktree_path);
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status, JobStatus::Completed, "{job:?}");

    assert_eq!(
        desktop.pushed("orchestrator/plan-5").await,
        [format!("Ada: PLAN-5: Automated changes from loop {}", id.short())]
    );
    let files = desktop
        .git(&desktop.at("remote/acme/api.git"), &["ls-tree", "-r", "--name-only", "orchestrator/plan-5"])
        .await;
    assert_eq!(files, "README.md\nfeature.txt");
    assert_eq!(desktop.state("created").trim(), "orchestrator/plan-5");
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["prUrl"], "https://github.com/acme/api/pull/7");
    assert_eq!(completed["result"]["has_changes"], true);
    assert_eq!(completed["result"]["executeFinalizationPath"], "git-fallback");
    assert_eq!(completed["results"][0]["status"], "success");
    assert_eq!(completed["results"][0]["baseBranch"], "main");
    assert!(desktop.state("argv").contains("--max-iterations 150"));
    assert!(
        !desktop.cloud.output(id).contains(&"Looking around".to_owned()),
        "the plan's output is not shown again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_assistant_delivers_and_is_believed_because_it_is_true() {
    let desktop = Desktop::new().await;
    desktop.driver(IMPLEMENTS);
    desktop.program("claude", COMMITS);
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status, JobStatus::Completed);
    assert_eq!(desktop.pushed("orchestrator/plan-5").await, ["Ada: Add the feature"]);
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["executeFinalizationPath"], "llm");
    assert_eq!(completed["result"]["prNumber"], 7);
    let worktree = desktop.at("box/api-loop-plan-5");
    assert!(!worktree.join("execution-result.json").exists(), "the scratch file is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_did_not_happen_is_made_up_for() {
    let desktop = Desktop::new().await;
    desktop.driver(IMPLEMENTS);
    let lies = COMMITS.replace("&& git push -q -u origin HEAD", "");
    desktop.program("claude", &lies);
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    desktop.reported(&runtime, id).await;
    assert_eq!(desktop.pushed("orchestrator/plan-5").await, ["Ada: Add the feature"]);
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["executeFinalizationPath"], "git-fallback");
    assert_eq!(completed["result"]["has_changes"], true);
    assert_eq!(desktop.state("created").lines().count(), 1, "one pull request");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_that_changes_nothing_completes_without_a_pull_request() {
    let desktop = Desktop::new().await;
    desktop.driver(
        r#"say '{"type":"assistant","message":{"content":[],"usage":{"input_tokens":1,"output_tokens":1}}}'"#,
    );
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status, JobStatus::Completed);
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["prUrl"], Value::Null);
    assert_eq!(completed["result"]["has_changes"], false);
    assert_eq!(
        completed["results"][0],
        json!({"status": "skipped", "fullName": "acme/api", "reason": "no_changes"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_without_tokens_and_results_was_a_ghost() {
    let desktop = Desktop::new().await;
    desktop.driver("exit 0");
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status, JobStatus::Failed);
    let error = &desktop.cloud.events(id, "error")[0];
    assert_eq!((&error["code"], &error["abortReason"]), (&json!("NO_WORK_PRODUCED"), &json!("ghost-loop")));
    assert!(desktop.cloud.events(id, "completed").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_told_with_clean_diagnostics_after_its_plan() {
    let desktop = Desktop::new().await;
    desktop.driver(
        r#"i=0; while [ $i -lt 400 ]; do printf '\033[31mline %s\033[0m ghp_abcdefghijklmnopqrstuvwxyz\n' $i >> "$W/assistant-stderr.log"; i=$((i+1)); done
        exit 3"#,
    );
    let runtime = desktop.open().await;
    let id = new_id();
    let mut body = request(id, "EXECUTE");
    body["artifacts"] =
        json!([{"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": "# The plan"}]);
    start(&runtime, &body).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!((job.status, job.facts.exit_code), (JobStatus::Failed, Some(3)));
    assert!(job.facts.artifacts_uploaded_at.is_some());
    let heard = desktop.cloud.heard();
    let order: Vec<String> = heard
        .iter()
        .filter(|h| h.route == "upload-artifacts" || h.body["type"] == "error")
        .map(|h| h.route.clone())
        .collect();
    assert_eq!(order, ["upload-artifacts", "events"]);
    let upload = heard.iter().find(|h| h.route == "upload-artifacts").unwrap();
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
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_loop_is_gone_with_everything_it_started() {
    let desktop = Desktop::new().await;
    desktop.driver(r#"trap '' TERM; sh -c 'trap "" TERM; echo $$ > "$1/grandchild"; while :; do sleep 0.05; done' x "$STATE" & echo $$ > "$STATE/child"; while :; do sleep 0.05; done"#);
    let pace =
        loopgate_runtime::Pace { kill_grace: std::time::Duration::from_millis(200), ..support::quick() };
    let runtime = desktop.open_with(pace).await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let pids = desktop
        .eventually("both run", || async {
            let pid = |name: &str| desktop.state(name).trim().parse::<u32>().ok();
            Some([pid("child")?, pid("grandchild")?])
        })
        .await;
    let outcome = runtime.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap();
    assert_eq!(outcome.message(), "Loop process terminated");
    for pid in pids {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} still runs");
    }
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status, JobStatus::Cancelled);
    let error = &desktop.cloud.events(id, "error")[0];
    assert_eq!((&error["code"], &error["abortReason"]), (&json!("CANCELLED"), &json!("cancelled")));
    assert!(desktop.cloud.accepted(id, "upload-artifacts").is_empty());
    let again = runtime.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap_err();
    assert_eq!((again.status, again.message.as_str()), (404, "No running process found for this loop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_that_ends_well_when_it_is_killed_is_cancelled_all_the_same() {
    let desktop = Desktop::new().await;
    desktop.driver(r#"trap 'exit 0' TERM; echo up > "$STATE/up"; while :; do sleep 0.02; done"#);
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.eventually("it runs", || async { (!desktop.state("up").is_empty()).then_some(()) }).await;
    runtime.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status, JobStatus::Cancelled);
    assert_eq!(desktop.cloud.events(id, "error").len(), 1);
    assert!(desktop.cloud.events(id, "completed").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_loop_once_and_one_loop_a_worktree() {
    let desktop = Desktop::new().await;
    desktop.driver("until_there go");
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let again = start(&runtime, &request(id, "EXECUTE")).await.unwrap_err();
    assert_eq!((again.status, again.message.as_str()), (409, "Loop is already running on this machine"));
    let other = start(&runtime, &request(new_id(), "EXECUTE")).await.unwrap_err();
    assert_eq!((other.status, other.message.as_str()), (409, "Another loop is running in this worktree"));
    desktop.signal("go");
    desktop.reported(&runtime, id).await;
    desktop.driver(support::PLANS);
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    assert_eq!(desktop.has_status(&runtime, id, JobStatus::Completed).await.facts.exit_code, Some(0));
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
    case(&bootstrap, 501, "operation not implemented", None);
    for (id, body, status, text, event) in cases {
        let error = start(&runtime, &body).await.unwrap_err();
        assert_eq!((error.status, error.message.as_str()), (status, text.as_str()));
        assert_eq!(events(id), event, "{text}");
        assert!(runtime.job(id).await.unwrap().is_none());
    }
    std::fs::remove_dir_all(desktop.at("plugins/code")).unwrap();
    let id = new_id();
    let error = start(&runtime, &request(id, "PLAN")).await.unwrap_err();
    assert_eq!((error.status, error.message.as_str()), (500, "run-loop.sh not found in plugin cache"));
    assert_eq!(events(id)[0].0, "SCRIPT_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_loop_needs_a_way_to_report_and_a_relayed_one_waits_for_it() {
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
        assert!(runtime.job(id).await.unwrap().is_none());
    }
    assert_eq!(desktop.state("argv"), "", "nothing was started");
    let headers = LoopHeaders { from_cloud: true, ..LoopHeaders::default() };
    runtime.start_loop(request(id, "PLAN").to_string().as_bytes(), headers).await.unwrap();
    desktop.has_status(&runtime, id, JobStatus::Completed).await;
    desktop.cloud.answer_well();
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
async fn a_repository_that_is_not_here_is_cloned_and_listed() {
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
    assert_eq!((error.status, error.message.as_str()), (404, "Repository not found locally: acme/api"));
    assert_eq!(desktop.cloud.events(id, "error")[0]["code"], "REPO_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_plan_starts_fresh_and_its_work_never_overwrites_a_branch_of_others() {
    let desktop = Desktop::new().await;
    desktop.driver(IMPLEMENTS);
    let runtime = desktop.open().await;
    let first = new_id();
    start(&runtime, &request(first, "EXECUTE")).await.unwrap();
    desktop.reported(&runtime, first).await;
    let worktree = desktop.at("box/api-loop-plan-5");
    std::fs::write(worktree.join("left-over.txt"), "dirty").unwrap();

    desktop.driver(support::PLANS);
    let plan = new_id();
    start(&runtime, &request(plan, "PLAN")).await.unwrap();
    desktop.reported(&runtime, plan).await;
    assert!(!worktree.join("left-over.txt").exists() && !worktree.join("feature.txt").exists());

    desktop.driver(&IMPLEMENTS.replace("feature.txt", "other.txt"));
    let second = new_id();
    start(&runtime, &request(second, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, second).await;
    assert_eq!(job.warnings(), Vec::<String>::new(), "{job:?}");
    let own = format!("orchestrator/plan-5-{}", second.short());
    assert_eq!(desktop.pushed("orchestrator/plan-5").await.len(), 1);
    assert_eq!(desktop.pushed(&own).await.len(), 1);
    assert_eq!(desktop.cloud.events(second, "completed")[0]["results"][0]["branchName"], own);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_fails_is_a_warning_and_not_lost() {
    let desktop = Desktop::new().await;
    desktop.driver(IMPLEMENTS);
    let hook = desktop.at("remote/acme/api.git/hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho 'no pushes today' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status, JobStatus::Completed);
    assert_eq!(job.warnings(), ["GIT_PUSH_FAILED", "REQUIRED_OUTPUT_MISSING"]);
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["executeFinalizationStatus"], "error");
    assert_eq!(completed["result"]["has_changes"], false);
    std::fs::remove_file(&hook).unwrap();
    let again = new_id();
    start(&runtime, &request(again, "EXECUTE")).await.unwrap();
    desktop.reported(&runtime, again).await;
    assert_eq!(
        desktop.pushed("orchestrator/plan-5").await.len(),
        1,
        "what was committed and not pushed is pushed by the next loop, which adds nothing"
    );
    assert_eq!(desktop.cloud.events(again, "completed")[0]["result"]["has_changes"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_cannot_be_used_for_the_commit_fails_the_loop() {
    let desktop = Desktop::new().await;
    desktop.driver(IMPLEMENTS);
    desktop.program(
        "claude",
        r#"printf '%s\n' '{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","apiErrorStatus":429,"message":{"content":[{"type":"text","text":"limit"}]}}'; exit 1"#,
    );
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status, JobStatus::Failed);
    assert!(job.facts.live_activity.unwrap().starts_with("Auth challenge: "));
    assert_eq!(desktop.cloud.events(id, "error")[0]["code"], "AUTH_CHALLENGE");
    assert_eq!(desktop.state("created"), "", "no pull request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_can_be_killed_while_its_work_is_committed() {
    let desktop = Desktop::new().await;
    desktop.driver(IMPLEMENTS);
    desktop.program("claude", r#"echo $$ > "$STATE/committing"; while :; do sleep 0.02; done"#);
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let pid = desktop
        .eventually("the commit runs", || async { desktop.state("committing").trim().parse::<u32>().ok() })
        .await;
    runtime.kill_loop(json!({"loopId": id}).to_string().as_bytes()).await.unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(desktop.reported(&runtime, id).await.status, JobStatus::Cancelled);
    assert!(desktop.cloud.events(id, "completed").is_empty());
    assert_eq!(desktop.state("created"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_that_is_full_and_a_signed_failure_are_told_as_what_they_are() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    desktop.driver(
        r#"say '{"type":"result","subtype":"error","is_error":true,"result":"Prompt is too long"}'; exit 1"#,
    );
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.reported(&runtime, id).await;
    assert_eq!(desktop.cloud.events(id, "error")[0]["code"], "CONTEXT_LIMIT_EXCEEDED");

    let marker = r#"
signed='{"code":"RUNNER_ERROR","message":"Two tasks are open.","result":{"subcode":"PENDING_TASKS_AT_COMPLETION"}}'
mac=$(printf '%s' "$signed" | openssl dgst -sha256 -hmac "$KEY" | sed 's/.* //')
printf '%s' "${signed%\}},\"signature\":\"sha256=$mac\"}" > "$W/loop-error.json"
exit 1"#;
    for (key, code) in
        [("$LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "RUNNER_ERROR"), ("guessed", "PROCESS_FAILED")]
    {
        desktop.driver(&format!("KEY=\"{key}\"\n{marker}"));
        let id = new_id();
        start(&runtime, &request(id, "PLAN")).await.unwrap();
        let job = desktop.reported(&runtime, id).await;
        let error = &desktop.cloud.events(id, "error")[0];
        assert_eq!(error["code"], code, "{error}");
        if code == "RUNNER_ERROR" {
            assert_eq!(error["result"]["subcode"], "PENDING_TASKS_AT_COMPLETION");
            assert_eq!(job.facts.live_activity.as_deref(), Some("Two tasks are open."));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_that_lead_home_are_refused_and_written_down() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let id = new_id();
    let attachment = |name: &str, url: &str, until: &str| {
        json!({"id": name, "filename": "a b.txt", "mimeType": "text/plain", "sizeBytes": 100,
            "signedUrl": url, "signedUrlExpiresAt": until})
    };
    let own = format!("{}/loops/{id}/file", desktop.cloud.origin());
    let mut body = request(id, "PLAN");
    body["attachments"] = json!([
        attachment("one", "http://169.254.169.254/x", "2040-01-01T00:00:00Z"),
        attachment("two", "https://example.org/x", "2040-01-01T00:00:00Z"),
        attachment("three", &own, "2020-01-01T00:00:00Z"),
        attachment("four", &own, "2040-01-01T00:00:00Z"),
    ]);
    start(&runtime, &body).await.unwrap();
    desktop.reported(&runtime, id).await;
    let work = desktop.at("box/api-loop-plan-5/.loopgate/work");
    let skipped: Value =
        serde_json::from_slice(&std::fs::read(work.join("skipped-attachments.json")).unwrap()).unwrap();
    assert_eq!(
        skipped,
        json!({"skippedAttachments": [{"id": "one", "reason": "unsupported_protocol"},
        {"id": "two", "reason": "attachment_host_not_allowed"}], "allAttachmentsSkipped": false})
    );
    let names: Vec<_> =
        std::fs::read_dir(work.join("attachments")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["four-a_b.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_thousand_lines_arrive_once_and_in_order() {
    const LINES: usize = 20_000;
    let desktop = Desktop::new().await;
    desktop.driver(&format!(
        r#"seq 0 $(({LINES} - 1)) | sed 's/.*/{{"type":"assistant","message":{{"content":[{{"type":"text","text":"line &"}}],"usage":{{"input_tokens":1,"output_tokens":1}}}}}}/' >> "$W/assistant-output.jsonl""#
    ));
    let runtime = desktop.open().await;
    let id = new_id();
    let begun = std::time::Instant::now();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.reported(&runtime, id).await;
    eprintln!(
        "{:.0} lines/s from the start of the loop to its last event",
        LINES as f64 / begun.elapsed().as_secs_f64()
    );
    let shown = desktop.cloud.output(id);
    assert!(shown.iter().enumerate().all(|(n, line)| *line == format!("line {n}")) && shown.len() == LINES);
    assert!(
        desktop
            .cloud
            .events(id, "output")
            .iter()
            .all(|e| e["data"]["chunk"].as_str().unwrap().len() <= 32 * 1024)
    );
}
