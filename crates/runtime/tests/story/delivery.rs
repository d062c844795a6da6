//! Loops that succeed: their artifacts, deliveries and events.

use loopgate_api::job::JobStatus;
use serde_json::{Value, json};

use crate::support::{COMMITS, DESCRIBES, Desktop, IMPLEMENTS, new_id, request, start};

// LR-18
#[tokio::test(flavor = "multi_thread")]
async fn plan_is_created_and_reported() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let id = new_id();
    let started = start(&runtime, &request(id, "PLAN")).await.unwrap();
    let worktree = started.worktree_path.unwrap();
    assert_eq!(worktree, desktop.at("box/api-loop-plan-5"));

    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status(), JobStatus::Completed, "{job:?}");
    assert_eq!(job.run.exit_code, Some(0));
    assert!(job.report.artifacts_uploaded_at.is_some());
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
        assert!(environment.lines().any(|variable| variable == line), "{line} is missing in {environment}");
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
        "Loopgate's files are hidden from git"
    );
}

// LR-20, LR-29
#[tokio::test(flavor = "multi_thread")]
async fn execution_continues_in_the_worktree_of_its_plan_and_git_delivers() {
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
    assert_eq!(job.status(), JobStatus::Completed, "{job:?}");

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
async fn assistant_describes_the_change_and_the_runtime_delivers_it() {
    let desktop = Desktop::new().await;
    desktop.driver(DESCRIBES);
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Completed);
    assert_eq!(desktop.pushed("orchestrator/plan-5").await, ["Ada: PLAN-5: Add the feature"]);
    let message = desktop
        .git(&desktop.at("remote/acme/api.git"), &["log", "-1", "--format=%b", "orchestrator/plan-5"])
        .await;
    assert_eq!(message.trim(), "It was missing.");
    let argv = desktop.state("gh-argv");
    let calls: Vec<&str> = argv.lines().filter(|line| line.starts_with("pr ")).collect();
    assert!(calls[0].starts_with("pr create --title PLAN-5: Add the feature"), "{argv}");
    assert!(calls.len() == 1 && calls[0].contains("--label orchestrator"), "{argv}");
    let body = desktop.state("created-body");
    assert!(body.starts_with("## What\nThe feature.\n\n"), "{body}");
    let tests = body.find("No tests were run").expect("the tests section");
    assert!(tests < body.find(&format!("---\nLoop ID: {id}")).unwrap(), "{body}");
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["executeFinalizationPath"], "llm");
    assert_eq!(completed["results"][0]["tests"]["outcome"], "not-run", "{completed}");
}

// LR-31
#[tokio::test(flavor = "multi_thread")]
async fn delivery_needs_no_assistant() {
    let desktop = Desktop::new().await;
    desktop.driver(&format!("{DESCRIBES}\nrm \"$STATE/../bin/claude\""));
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Completed);
    assert_eq!(desktop.state("created").trim(), "orchestrator/plan-5");
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_is_repeated_with_the_files_that_a_hook_formats() {
    let desktop = Desktop::new().await;
    let hook = desktop.at("box/api/.git/hooks/pre-commit");
    let script = format!(
        "#!/bin/sh\necho run >> '{}'\ngrep -q formatted feature.txt && exit\necho formatted >> feature.txt\nexit 1\n",
        desktop.at("state/hook").display()
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    desktop.trust().await;
    desktop.driver(DESCRIBES);
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    desktop.reported(&runtime, id).await;
    let remote = desktop.at("remote/acme/api.git");
    let pushed = desktop.git(&remote, &["show", "orchestrator/plan-5:feature.txt"]).await;
    assert_eq!(pushed, "done by EXECUTE\nformatted");
    assert_eq!(desktop.state("hook").lines().count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn delivery_by_the_assistant_is_accepted_after_verification() {
    let desktop = Desktop::new().await;
    desktop.driver(&format!("{IMPLEMENTS}\n{COMMITS}"));
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status(), JobStatus::Completed);
    assert_eq!(desktop.pushed("orchestrator/plan-5").await, ["Ada: Add the feature"]);
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["executeFinalizationPath"], "artifact-existing");
    assert_eq!(completed["result"]["prNumber"], 7);
    let worktree = desktop.at("box/api-loop-plan-5");
    assert!(!worktree.join("execution-result.json").exists(), "the scratch file is removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_push_is_done_by_loopgate() {
    let desktop = Desktop::new().await;
    // The assistant reports a push that it did not make.
    let without_push = COMMITS.replace("&& git push -q -u origin HEAD", "");
    desktop.driver(&format!("{IMPLEMENTS}\n{without_push}"));
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

// LR-28
#[tokio::test(flavor = "multi_thread")]
async fn execution_that_changes_nothing_completes_without_a_pull_request() {
    let desktop = Desktop::new().await;
    desktop.driver(
        r#"say '{"type":"assistant","message":{"content":[],"usage":{"input_tokens":1,"output_tokens":1}}}'"#,
    );
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Completed);
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["result"]["prUrl"], Value::Null);
    assert_eq!(completed["result"]["has_changes"], false);
    let results = json!([{"status": "skipped", "fullName": "acme/api", "reason": "no_changes"}]);
    assert_eq!(completed["results"], results);
    let file = desktop.at("box/api-loop-plan-5/.loopgate/work/execution-result.json");
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(document, json!({"schemaVersion": 2, "results": results}));
}

#[tokio::test(flavor = "multi_thread")]
async fn push_that_keeps_stalling_is_reported() {
    let desktop = Desktop::new().await;
    desktop.driver(IMPLEMENTS);
    std::fs::write(desktop.at("settings.toml"), "git_idle_limit_seconds = 2\n").unwrap();
    let hook = desktop.at("remote/acme/api.git/hooks/pre-receive");
    // A program of git waits for input that never arrives, as it waits for a remote.
    let script = format!(
        "#!/bin/sh\necho attempt >> '{}'\ntest -p pipe || mkfifo pipe\nexec git cat-file --batch <> pipe\n",
        desktop.at("state/attempts").display()
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (runtime, id) = (desktop.open().await, new_id());
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.warnings(), ["GIT_PUSH_FAILED"]);
    let last = desktop.cloud.events(id, "completed").pop().unwrap();
    let error = last["results"][0]["error"].as_str().unwrap();
    assert!(error.contains("git push showed no activity for 2 seconds, last in `git`"), "{error}");
    assert_eq!(desktop.state("attempts").lines().count(), 5);
    let output = desktop.cloud.output(id).join("\n");
    assert!(output.contains("Loopgate tries it up to 5 times; cancel the loop to stop."), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_push_is_a_warning_and_repeated_by_the_next_loop() {
    let desktop = Desktop::new().await;
    desktop.driver(IMPLEMENTS);
    // The remote rejects every push until the hook is removed.
    let hook = desktop.at("remote/acme/api.git/hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho 'no pushes today' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "EXECUTE")).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status(), JobStatus::Completed);
    assert_eq!(job.warnings(), ["GIT_PUSH_FAILED"]);
    let completed = &desktop.cloud.events(id, "completed")[0];
    let result = &completed["results"][0];
    assert_eq!((&result["status"], &result["fullName"]), (&json!("failed"), &json!("acme/api")));
    assert!(result["error"].as_str().unwrap().contains("no pushes today"), "{result}");
    assert_eq!(completed["result"]["executeFinalizationStatus"], "error");
    assert_eq!(completed["result"]["has_changes"], false);
    std::fs::remove_file(&hook).unwrap();
    let next = new_id();
    start(&runtime, &request(next, "EXECUTE")).await.unwrap();
    desktop.reported(&runtime, next).await;
    assert_eq!(
        desktop.pushed("orchestrator/plan-5").await.len(),
        1,
        "the next loop pushes the existing commit and adds none"
    );
    assert_eq!(desktop.cloud.events(next, "completed")[0]["result"]["has_changes"], true);
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
    let launched_at = std::time::Instant::now();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.reported(&runtime, id).await;
    eprintln!(
        "{:.0} lines/s from the start of the loop to its last event",
        LINES as f64 / launched_at.elapsed().as_secs_f64()
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
