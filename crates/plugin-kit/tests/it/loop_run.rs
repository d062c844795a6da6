//! The loop driver as a process, with test doubles of the assistant.

use crate::support::{DONE, Ended, MORE, Project, VERIFIED, runs, shell_words, signal, wait_until};
use serde_json::{Value, json};

// PL-12
#[test]
fn promise_in_an_earlier_record_completes_the_loop() {
    let project = Project::new();
    project.assistant(DONE);
    let ended = project.run(&[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(project.statuses(), ["completed"]);
    assert!(project.is_clean());
    assert_eq!(project.read("session-id.txt"), "s-1");
    let archived = project.read("assistant-output.name.txt");
    assert!(project.read(archived.trim()).contains("<promise>"));
    assert!(!project.workdir.join("assistant-output.jsonl").exists());
    assert!(ended.stdout.contains("All done."));
}

// PL-15, PL-20
#[test]
fn assistant_receives_pinned_arguments_but_no_secret() {
    let project = Project::new()
        .env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key")
        .env("LOOPGATE_COMMAND", "EXECUTE")
        .env("CLAUDE_CODE_SIMPLE", "1")
        .env("LOOPGATE_PERF_V2", "1");
    project.assistant(&format!("printf '%s\\n' \"$@\" > $OUT/argv; env > $OUT/env; {DONE}"));
    assert_eq!(project.run(&["--prompt", "prompt", "--allow-tools", "mcp__team__*"]).code, 0);
    let argv: Vec<String> = project.note("argv").lines().map(str::to_owned).collect();
    assert!(argv[0].starts_with("--tools=Agent,Bash,Edit,") && !argv[0].contains("mcp__"), "{}", argv[0]);
    assert!(argv[1].starts_with("--allowed-tools=Agent,Bash,Edit,") && argv[1].ends_with(",mcp__team__*"));
    assert_eq!(
        argv[2..8],
        ["--model", "claude-opus-4-6", "--effort", "high", "--permission-mode", "acceptEdits"]
    );
    assert!(argv[8] == "--settings" && argv[9].contains("\"disableAllHooks\":false"), "{}", argv[9]);
    assert_eq!(argv[10..13], ["--output-format", "stream-json", "--verbose"]);
    assert_eq!(argv[13], "--plugin-dir", "our own plugin, where none is installed");
    assert!(argv[14].ends_with("/code") && argv[15] == "-p" && argv[16].starts_with("/code:code \""));
    let env = project.note("env");
    assert!(env.contains("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1\n") && !env.contains("CLAUDE_CODE_SIMPLE"));
    assert!(env.contains("LOOPGATE_COMMAND=EXECUTE\n") && env.contains("LOOPGATE_ITERATION=1\n"));
    assert!(!env.contains("USER_VISIBLE_FAILURE_SECRET"));
    assert_eq!(project.events("iteration")[0]["command"], "EXECUTE");
    assert_eq!(project.events("run").len(), 1);
}

// PL-10
#[test]
fn path_with_spaces_dollars_and_quotes_survives_the_prompt() {
    let project = Project::with_workdir("My $HOME \"work\" `x`");
    project.assistant(&format!("for last; do :; done; printf '%s' \"$last\" > $OUT/prompt; {DONE}"));
    assert_eq!(project.run(&[]).code, 0);
    let prompt = project.note("prompt");
    let words = shell_words(prompt.strip_prefix("/code:code ").unwrap());
    assert_eq!(words, [project.workdir.display().to_string()]);
    let set_up = project.loopgate(&["loop", "setup", &words[0]]);
    assert_eq!(set_up.code, 0, "{}", set_up.stderr);
}

// PL-11
#[test]
fn self_learning_is_disabled_by_default() {
    for (args, expected) in [(&["--self-learning"][..], "true"), (&[], "false")] {
        let project = Project::new();
        project.assistant(&format!("cp .loopgate/loopgate-loop.local.md $OUT/state; {DONE}"));
        assert_eq!(project.run(args).code, 0);
        assert!(project.note("state").contains(&format!("self_learning: \"{expected}\"\n")));
        assert!(
            project.read(".loopgate/config.env").contains(&format!("LOOPGATE_SELF_LEARNING={expected}\n"))
        );
        let steps = project.events("pipeline_step");
        assert_eq!(steps.len(), 11);
        // Without learnings and citations, only the goal of the loop is evaluated.
        let has_run = |step: &Value| *step == 1 || (expected == "true" && *step == 4);
        assert!(steps.iter().all(|step| step["skipped"] != has_run(&step["step"])), "{steps:?}");
    }
}

// PL-13
#[test]
fn three_consecutive_empty_runs_end_the_loop() {
    let project = Project::new();
    project.assistant("true");
    let ended = project.run(&["--max-iterations", "9"]);
    assert_eq!(ended.code, 1);
    assert_eq!(project.statuses(), ["in_progress", "in_progress", "ghost_loop_abort"]);
    let expected = "LOOPGATE_FATAL[NO_ANSWER]: The assistant returned no answer 3 times in a row";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert!(project.is_clean());
    let project = Project::new();
    project.assistant(&format!("if [ $LOOPGATE_ITERATION = 3 ]; then\n{MORE}fi"));
    assert_eq!(project.run(&["--max-iterations", "5"]).code, 1);
    assert_eq!(project.statuses().last().unwrap(), "max_iterations");
}

// PL-14
#[test]
fn loop_fails_at_its_iteration_limit() {
    let project = Project::new().env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
    project.assistant("echo broken >&2; exit 1");
    let ended = project.run(&["--max-iterations", "3"]);
    assert_eq!(ended.code, 1);
    assert_eq!(project.statuses(), ["error", "error", "error", "max_iterations"]);
    assert!(ended.stderr.contains("LOOPGATE_FATAL[ITERATION_LIMIT]: The loop reached its limit of 3"));
    let marker: Value = serde_json::from_str(&project.read("loop-error.json")).unwrap();
    assert_eq!(marker["result"]["subcode"], "ITERATION_LIMIT");
    assert!(ended.stderr.contains("broken"));
    let codes: Vec<Value> =
        project.events("iteration").iter().map(|e| e["assistant_exit_code"].clone()).collect();
    assert_eq!(codes, [json!(1), json!(1), json!(1), Value::Null]);
}

#[test]
fn repeated_equal_failures_end_the_loop_with_a_signed_marker() {
    let project = Project::new().env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
    project.assistant("echo 'cannot load the module' >&2; exit 4");
    assert_eq!(project.run(&["--max-iterations", "150"]).code, 1);
    assert_eq!(project.statuses().len(), 5);
    let marker: Value = serde_json::from_str(&project.read("loop-error.json")).unwrap();
    assert_eq!(marker["result"]["subcode"], "REPEATED_FAILURE");
    assert!(marker["message"].as_str().unwrap().contains("cannot load the module"));
}

/// Ends the possibility to write for the driver, which started this script. SIGXFSZ is ignored, so that writes fail with
/// EFBIG.
const FULL: &str = "prlimit --pid $PPID --fsize=0:;";

// A full disk also takes away the marker, and standard error is a file on it.
#[test]
fn full_disk_is_reported_by_the_exit_code() {
    let late = format!("{MORE} trap '{FULL}' EXIT");
    for script in [format!("{FULL} {DONE} sleep 60"), late, format!("{FULL} echo broken >&2; exit 4")] {
        let project = Project::new().env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
        project.assistant(&script);
        let workdir = project.workdir.display().to_string();
        let shell = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
        let ended = project.command_behind(&shell, &["loop", "run", &workdir, "--max-iterations", "9"]);
        let ended = Ended::from({ ended }.output().unwrap());
        assert_eq!(ended.code, 74, "{script}: {}", ended.stderr);
        assert!(ended.stderr.contains("LOOPGATE_FATAL[DISK_FULL]: "), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("The disk of {workdir} ")), "{}", ended.stderr);
        assert!(project.read("loop-error.json").is_empty() && project.is_clean());
    }
    let project = Project::new();
    let shell = ["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"];
    let mut command =
        project.command_behind(&shell, &["loop", "run", &project.workdir.display().to_string()]);
    let ended = Ended::from(command.output().unwrap());
    assert_eq!(ended.code, 74, "{}", ended.stderr);
}

#[test]
fn invalid_plan_is_returned_to_the_assistant() {
    let plan = json!({"content": "", "acceptanceCriteria": [], "pendingTasks": [], "completedTasks": [],
        "openQuestions": [], "answeredQuestions": [], "gaps": []});
    let plans = |second: &str| {
        format!(
            "for last; do :; done; echo \"$*\" >> $OUT/calls
case \"$last\" in *'not a valid plan'*) printf '%s' '{second}' > .loopgate/work/plan.json ;;
*) printf '%s' '{{\"content\": 1' > .loopgate/work/plan.json ;; esac
{DONE}"
        )
    };
    let project = Project::new().env("LOOPGATE_COMMAND", "PLAN");
    project.assistant(&plans(&plan.to_string()));
    let ended = project.run(&["--max-iterations", "9"]);
    assert_eq!((ended.code, project.statuses()), (0, vec!["invalid_plan".into(), "completed".into()]));
    let calls = project.note("calls");
    assert!(calls.contains("--resume s-1 ") && calls.contains("JSON parse error: "), "{calls}");

    let project =
        Project::new().env("LOOPGATE_COMMAND", "PLAN").env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
    project.assistant(&plans(r#"{"content": "", "gaps": {}}"#));
    assert_eq!(project.run(&["--max-iterations", "9"]).code, 1);
    assert_eq!(project.statuses(), ["invalid_plan"; 3]);
    let marker: Value = serde_json::from_str(&project.read("loop-error.json")).unwrap();
    assert_eq!(marker["result"]["subcode"], "INVALID_PLAN");
    assert!(marker["message"].as_str().unwrap().contains("Field gaps must be an array"), "{marker}");
    assert!(project.is_clean());
}

#[test]
fn failure_contains_the_assistants_message() {
    let overloaded = r#"{"type":"result","is_error":true,"result":"API Error: 500 the service is down"}"#;
    for (script, subcode) in [
        (format!("echo '{overloaded}'; exit 1"), "REPEATED_FAILURE"),
        (format!("echo '{overloaded}'"), "ASSISTANT_ERROR"),
    ] {
        let project = Project::new().env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
        project.assistant(&script);
        assert_eq!(project.run(&["--max-iterations", "150"]).code, 1);
        let marker: Value = serde_json::from_str(&project.read("loop-error.json")).unwrap();
        assert_eq!(marker["result"]["subcode"], subcode);
        assert!(marker["message"].as_str().unwrap().contains("API Error: 500 the service is down"));
    }
}

#[test]
fn run_is_killed_at_its_time_limit() {
    let project = Project::new().env("LOOPGATE_ITERATION_TIMEOUT_MS", "300");
    project.assistant(&format!(
        "if [ $LOOPGATE_ITERATION = 1 ]; then echo $$ > $OUT/pid; sleep 600; fi\n{DONE}"
    ));
    let ended = project.run(&[]);
    assert_eq!((ended.code, project.statuses()), (0, vec!["error".to_owned(), "completed".to_owned()]));
    assert!(ended.stdout.contains("ended at its limit") && !runs(&project.note("pid")));
}

#[test]
fn assistant_that_stays_alive_after_its_last_result_is_ended() {
    let started = r#"echo '{"type":"system","subtype":"task_started","task_id":"b"}'"#;
    let notified = r#"echo '{"type":"system","subtype":"task_notification","task_id":"b"}'"#;
    let project = Project::new();
    // First only a result, as with a scheduled wake-up; then the promise, while a server runs in the background.
    project.assistant(&format!(
        "echo $$ >> $OUT/pids
if [ $LOOPGATE_ITERATION = 1 ]; then\n{started}\n{MORE}{notified}\nexec sleep 600; fi
{started}\n{DONE}exec sleep 600"
    ));
    let ended = project.run(&["--max-iterations", "3"]);
    assert_eq!((ended.code, project.statuses()), (0, vec!["in_progress".to_owned(), "completed".to_owned()]));
    let codes = project.events("iteration").into_iter().map(|event| event["assistant_exit_code"].clone());
    assert_eq!(codes.collect::<Vec<_>>(), [json!(0), json!(0)]);
    assert!(project.note("pids").lines().all(|pid| !runs(pid)));
}

// PL-17
#[test]
fn interrupted_loop_is_resumed_at_its_iteration() {
    let project = Project::new();
    project.assistant(&format!(
        "if [ $LOOPGATE_ITERATION = 1 ]; then\n{MORE}exit 0; fi\necho $$ > $OUT/pid; sleep 600"
    ));
    for name in ["INT", "TERM"] {
        let workdir = project.workdir.display().to_string();
        let mut driver = project.start(&["loop", "run", &workdir, "--max-iterations", "7"]);
        wait_until("the second iteration runs", || project.note("pid").ends_with('\n'));
        signal(driver.id(), name);
        assert_eq!(driver.wait().unwrap().code(), Some(130));
        assert!(!runs(&project.note("pid")));
        assert!(!project.workdir.join(".learnings/.lock").exists());
        let state = std::fs::read_to_string(project.state_file()).unwrap();
        assert!(state.contains("\niteration: 2\n"));
        std::fs::remove_file(project.path("pid")).unwrap();
    }
    let run_id = project.read("runs.log").lines().last().unwrap().split('|').next().unwrap().to_owned();
    project.assistant(&format!("echo $LOOPGATE_ITERATION $LOOPGATE_RUN_ID > $OUT/resumed; {DONE}"));
    assert_eq!(project.loopgate(&["loop", "run"]).code, 0);
    assert_eq!(project.note("resumed").trim(), format!("2 {run_id}"));
    assert!(project.is_clean());
    let Ended { code, stderr, .. } = project.loopgate(&["loop", "run"]);
    assert_eq!((code, stderr.as_str()), (1, "Error: No active Loopgate loop found\n"));
}

#[test]
fn removing_the_state_file_stops_a_running_loop() {
    let project = Project::new();
    project.assistant("echo $$ > $OUT/pid; sleep 600");
    let mut driver = project.start(&["loop", "run", &project.workdir.display().to_string()]);
    wait_until("the iteration runs", || project.note("pid").ends_with('\n'));
    std::fs::remove_file(project.state_file()).unwrap();
    assert_eq!(driver.wait().unwrap().code(), Some(130));
    assert!(!runs(&project.note("pid")) && project.is_clean());
}

#[test]
fn second_driver_is_refused() {
    let project = Project::new();
    project.assistant("echo $$ > $OUT/pid; sleep 600");
    let workdir = project.workdir.display().to_string();
    let mut driver = project.start(&["loop", "run", &workdir]);
    wait_until("the iteration runs", || project.note("pid").ends_with('\n'));
    let refused = project.run(&[]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("Another loop is already running"), "{}", refused.stderr);
    assert!(project.state_file().exists());
    signal(driver.id(), "TERM");
    assert_eq!(driver.wait().unwrap().code(), Some(130));
}

#[test]
fn killed_driver_does_not_block_the_next() {
    let project = Project::new();
    project.assistant(&format!("echo '{{\"half\":true}}'; echo $$ > $OUT/pid; exec sleep 600; {DONE}"));
    let mut driver = project.start(&["loop", "run", &project.workdir.display().to_string()]);
    wait_until("the stream has a line", || project.read("assistant-output.jsonl").ends_with('\n'));
    wait_until("the iteration runs", || project.note("pid").ends_with('\n'));
    signal(driver.id(), "KILL");
    driver.wait().unwrap();
    signal(project.note("pid").trim().parse().unwrap(), "KILL");
    project.assistant(DONE);
    assert_eq!(project.run(&[]).code, 0);
    let streams = std::fs::read_dir(&project.workdir)
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("assistant-output-"))
        .count();
    assert_eq!(streams, 2, "the stream of the killed run is kept under its own name");
}

// PL-18
#[test]
fn promise_that_contradicts_the_plan_is_rejected() {
    let plan = json!({"pendingTasks": [{"id": "T-1.1"}], "openQuestions": []}).to_string();
    let says = |status| format!("echo '{{\"status\":\"{status}\"}}' > .loopgate/work/state.json\n{DONE}");
    // The status of an earlier run in state.json must not count for this run.
    for (script, code) in [(says("COMPLETED"), 1), (says("AWAITING_USER"), 0), (DONE.to_owned(), 1)] {
        let project = Project::new().env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
        std::fs::write(project.workdir.join("plan.json"), &plan).unwrap();
        std::fs::write(project.workdir.join("state.json"), r#"{"status":"AWAITING_USER"}"#).unwrap();
        project.assistant(&script);
        let ended = project.run(&[]);
        assert_eq!(ended.code, code);
        assert_eq!(project.workdir.join("loop-error.json").exists(), code == 1);
        if code == 1 {
            assert!(project.read("loop-error.json").contains("PENDING_TASKS_AT_COMPLETION"));
            assert!(ended.stderr.contains("LOOPGATE_FATAL[PENDING_TASKS_AT_COMPLETION]"));
            assert_eq!(project.statuses(), ["spurious_complete"]);
            assert_eq!(project.events("iteration")[0]["status"], "spurious_complete");
        } else {
            assert_eq!(project.statuses(), ["awaiting_user"]);
            assert_eq!(project.events("iteration")[0]["status"], "awaiting_user");
        }
    }
}

// PL-19
#[test]
fn account_failures_end_the_loop_at_once() {
    let cases = [
        (
            r#"{"type":"result","is_error":true,"api_error_status":429,"result":"slow down"}"#,
            "assistant_rate_limit",
        ),
        (r#"{"type":"result","is_error":true,"result":"Prompt is too long"}"#, "context_limit"),
        (r#"{"type":"result","is_error":true,"result":"Invalid API key"}"#, "assistant_auth_error"),
    ];
    for (record, status) in cases {
        let project = Project::new()
            .env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key")
            .env("LOOPGATE_WAIT_FOR_LIMITS", "false");
        project.assistant(&format!("echo '{record}'; exit 1"));
        assert_eq!(project.run(&["--max-iterations", "9"]).code, 1);
        assert_eq!(project.statuses(), [status]);
        assert!(project.workdir.join("loop-error.json").exists() && project.is_clean());
    }
    let project = Project::new();
    project.assistant(&format!(
        "echo '{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"the rate limit is 429\"}}]}}}}'\n{DONE}"
    ));
    assert_eq!(project.run(&[]).code, 0);
}

#[test]
fn error_result_ends_the_loop() {
    let project = Project::new();
    project.assistant(r#"echo '{"type":"result","is_error":true,"result":"internal trouble"}'"#);
    let ended = project.run(&["--max-iterations", "9"]);
    assert_eq!((ended.code, project.statuses()), (1, vec!["error".to_owned()]));
    assert!(ended.stderr.contains("internal trouble") && project.is_clean());
}

#[test]
fn missing_assistant_is_reported() {
    let project = Project::new();
    let ended = project.run(&[]);
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("LOOPGATE_FATAL[ASSISTANT_NOT_STARTED]"), "{}", ended.stderr);
    assert!(project.is_clean());
}

// PL-36
#[test]
fn malformed_line_does_not_disturb_the_loop() {
    let project = Project::new();
    project.assistant(&format!("echo '{{\"type\":\"assistant\",\"mess'\necho noise\n{DONE}"));
    assert_eq!(project.run(&[]).code, 0);
    let stream = project.read(project.read("assistant-output.name.txt").trim());
    assert_eq!(stream.lines().count(), 3, "every line that begins with a brace, and no other");
    assert!(project.is_clean());
}

// PL-38
#[test]
fn promise_in_a_tool_result_is_ignored() {
    let project = Project::new();
    project.assistant(&format!(
        "echo '{{\"type\":\"user\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"content\":\"<promise>COMPLETE</promise>\"}}]}}}}'\n{MORE}"
    ));
    assert_eq!(project.run(&["--max-iterations", "1"]).code, 1);
    assert_eq!(project.statuses(), ["in_progress", "max_iterations"]);
}

#[test]
fn twenty_thousand_lines_are_stored_complete() {
    let project = Project::new();
    project.assistant(&format!("for i in $(seq 20000); do echo \"{{\\\"n\\\":$i}}\"; done\n{DONE}"));
    assert_eq!(project.run(&[]).code, 0);
    let stream = project.read(project.read("assistant-output.name.txt").trim());
    assert_eq!(stream.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count(), 20_002);
}

/// Script that changes a file, then reviews and fixes; it appends each call to `$OUT/calls`. `challenge`: confidence of the
/// second reviewer.
fn reviewing(review: &str, challenge: f64, fix: &str) -> String {
    format!(
        r#"for last; do :; done
result() {{ printf '{{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.01,"result":%s}}\n' "$1"; }}
if [[ $last = -p ]]; then
  case "$(cat)" in
  "You are reviewer fast."*) echo review >> $OUT/calls; {review} ;;
  "Another reviewer claims"*) echo challenge >> $OUT/calls
    result '"{{\"results\": [{{\"claim\": 1, \"confidence\": {challenge}, \"reasoning\": \"Checked.\"}}]}}"' ;;
  "Correct the faults"*) echo fix >> $OUT/calls; {fix} ;;
  esac
else
  echo changed >> README.md
{DONE}
fi"#
    )
}

/// A review with a finding at the line that the loop added.
const FINDING: &str = r#"result '"{\"findings\": [{\"file\": \"README.md\", \"line\": 2, \"severity\": \"HIGH\", \"category\": \"Correctness\", \"issue\": \"Wrong word\", \"explanation\": \"It is wrong.\", \"code_snippet\": \"changed\", \"confidence\": 0.9}]}"'"#;
const NO_FINDING: &str = r#"result '"{\"findings\": []}"'"#;

// PL-21
#[test]
fn two_consecutive_failed_fixes_end_the_reviews() {
    let project = Project::new().env("POST_LOOP_REVIEW_CYCLES", "5");
    let limit = r#"echo '{"type":"result","is_error":true,"api_error_status":429,"result":"Usage limit reached"}'; exit 1"#;
    let project = project.env("LOOPGATE_WAIT_FOR_LIMITS", "false");
    project.assistant(&reviewing(FINDING, 0.9, limit));
    assert_eq!(project.run(&[]).code, 0);
    assert_eq!(project.note("calls"), "review\nchallenge\nfix\nreview\nchallenge\nfix\n");
    assert_eq!(project.events("post_loop_review").len(), 2);
    assert_eq!(project.events("post_loop_fix").len(), 2);
    assert_eq!(
        project.statuses(),
        ["completed", "review_needs_attention", "fix_error", "review_needs_attention", "fix_error"]
    );
    assert!(project.is_clean());
}

// PL-22
#[test]
fn review_cycles_are_configurable() {
    let project = Project::new().env("POST_LOOP_REVIEW_CYCLES", "1");
    project.assistant(&reviewing(FINDING, 0.9, "sed -i s/changed/corrected/ README.md; result '\"Done.\"'"));
    let ended = project.run(&[]);
    assert_eq!(ended.code, 0);
    assert_eq!(project.note("calls"), "review\nchallenge\nfix\n");
    assert_eq!(project.statuses(), ["completed", "review_needs_attention", "fix_completed"]);
    assert!(ended.stdout.contains("1 of 1 findings are fixed"), "{}", ended.stdout);
    assert!(std::fs::read_to_string(project.root.join("README.md")).unwrap().ends_with("corrected\n"));
}

#[test]
fn approval_ends_the_reviews() {
    let project = Project::new().with_reviews();
    project.assistant(&reviewing(NO_FINDING, 0.9, "true"));
    let ended = project.run(&[]);
    assert_eq!(ended.code, 0);
    assert_eq!(
        (project.note("calls").as_str(), project.statuses()[1].as_str()),
        ("review\n", "review_approve")
    );
    // The session is named, and the stream contains the report.
    let session = ended.stdout.split_once("cycle 1: session ").unwrap().1.lines().next().unwrap().to_owned();
    assert!(project.root.join(".loopgate/code-review").join(&session).join("verdict.json").is_file());
    let stream = project.read(project.read("assistant-output.name.txt").trim());
    assert!(stream.contains(&session) && stream.contains("pr_verdict"), "{stream}");
}

#[test]
fn disproved_findings_are_an_approval() {
    let project = Project::new().with_reviews();
    project.assistant(&reviewing(FINDING, 0.2, "true"));
    assert_eq!(project.run(&[]).code, 0);
    assert_eq!(project.note("calls"), "review\nchallenge\n");
    assert_eq!(project.statuses(), ["completed", "review_approve"]);
}

// PR-27
#[test]
fn driver_stops_when_nothing_is_confirmed_or_corrected() {
    // The second reviewer gives no usable answer.
    let project = Project::new().with_reviews();
    project.assistant(&reviewing(FINDING, 7.0, "true"));
    let ended = project.run(&[]);
    assert_eq!(project.note("calls"), "review\nchallenge\nchallenge\n");
    assert_eq!(project.statuses(), ["completed", "review_needs_attention", "fix_completed"]);
    assert!(ended.stdout.contains("Post-loop fix: no finding is confirmed"), "{}", ended.stdout);
    let project = Project::new().with_reviews();
    project.assistant(&reviewing(FINDING, 0.9, "result '\"It is right.\"'"));
    assert!(project.run(&[]).stdout.contains("0 of 1 findings are fixed"));
    assert_eq!(project.note("calls"), "review\nchallenge\nfix\n");
}

// PL-23
#[test]
fn review_is_skipped_without_changes_or_cycles() {
    let project = Project::new().with_reviews();
    project.assistant(DONE);
    assert!(project.run(&[]).stdout.contains("review skipped: nothing has changed"));
    let project = Project::new();
    project.assistant(&reviewing("", 0.0, ""));
    assert!(project.run(&[]).stdout.contains("review skipped: the number of review cycles is 0"));
    assert_eq!((project.note("calls").as_str(), project.events("post_loop_review").len()), ("", 0));
}

// PL-37
#[test]
fn review_without_a_verdict_is_not_an_approval() {
    let limit = r#"echo '{"type":"result","is_error":true,"api_error_status":429,"result":"Usage limit reached"}'; exit 1"#;
    let project = Project::new().with_reviews().env("LOOPGATE_WAIT_FOR_LIMITS", "false");
    project.assistant(&reviewing(limit, 0.9, "true"));
    let ended = project.run(&[]);
    assert_eq!((ended.code, project.note("calls").as_str()), (0, "review\n"));
    assert!(ended.stdout.contains("did not complete"), "{}", ended.stdout);
    assert_eq!(project.statuses()[1], "review_error");
    assert!(project.is_clean());
    // A reviewer without a usable answer leaves the change unreviewed, which is no approval either.
    let project = Project::new().with_reviews();
    project.assistant(&reviewing("result '\"Everything looks fine to me.\"'", 0.9, "true"));
    assert_eq!(project.run(&[]).code, 0);
    assert_eq!(project.statuses(), ["completed", "review_needs_attention", "fix_completed"]);
    assert!(project.is_clean());
}

// PL-39
#[test]
fn command_of_the_environment_takes_precedence() {
    let project = Project::new().env("LOOPGATE_COMMAND", "PLAN");
    project.assistant(&format!("echo $LOOPGATE_COMMAND > $OUT/command; {DONE}"));
    assert_eq!(project.run(&["--prompt", "prompt"]).code, 0);
    assert_eq!(project.note("command").trim(), "PLAN");
}

#[test]
fn invalid_arguments_exit_with_code_one() {
    let project = Project::new();
    for (args, expected) in [
        (&["--fast"][..], "Error: Unknown option: --fast\n"),
        (&["--prompt", "none"], "Error: prompt not found: prompts/none.md\n"),
    ] {
        let ended = project.run(args);
        assert_eq!((ended.code, ended.stderr.as_str()), (1, expected));
    }
    assert_eq!(project.loopgate(&["loop", "run", "--help"]).code, 0);
}

#[test]
fn stalled_loop_waits_for_its_user() {
    let project = Project::new();
    project.assistant(&format!("echo x >> notes-$LOOPGATE_ITERATION; [ $LOOPGATE_ITERATION = 1 ] || rm notes-$LOOPGATE_ITERATION; {MORE}"));
    let ended = project.run(&["--max-iterations", "150"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(project.statuses(), ["in_progress", "in_progress", "in_progress", "awaiting_user"]);
    let state: Value = serde_json::from_str(&project.read("state.json")).unwrap();
    assert_eq!(state["status"], "AWAITING_USER");
    assert!(state["reason"].as_str().unwrap().contains("changed neither the plan nor the files"));
    assert!(project.is_clean() && project.git(&["status", "--porcelain"]) == "?? notes-1");
}

#[test]
fn stalled_planning_loop_fails() {
    let project = Project::new().env("LOOPGATE_COMMAND", "PLAN");
    project.assistant(MORE);
    let ended = project.run(&["--max-iterations", "50"]);
    assert_eq!(ended.code, 1);
    assert!(
        ended.stderr.contains("LOOPGATE_FATAL[NO_PROGRESS]: The last iterations of the loop changed neither"),
        "{}",
        ended.stderr
    );
}

#[test]
fn loop_is_cancelled_from_another_session() {
    let project = Project::new();
    assert_eq!(project.loopgate(&["loop", "cancel"]).stdout, "No loop is active in this project.\n");
    project.assistant("touch $OUT/started; sleep 600");
    let mut driver = project.start(&["loop", "run", &project.workdir.display().to_string()]);
    wait_until("the assistant runs", || project.path("started").exists());
    assert_eq!(project.loopgate(&["loop", "cancel"]).stdout, "The loop was stopped at iteration 1.\n");
    assert_eq!(driver.wait().unwrap().code(), Some(130));
}

#[test]
fn model_and_effort_come_from_the_settings() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("settings.toml"), "loop_model = \"opus\"\nloop_effort = \"max\"\n")
        .unwrap();
    let home = home.path().display().to_string();
    let run = |project: Project| {
        project.assistant(&format!("printf '%s\\n' \"$@\" > $OUT/argv; {DONE}"));
        assert_eq!(project.run(&[]).code, 0);
        let argv = project.note("argv");
        let words: Vec<&str> = argv.lines().skip_while(|word| *word != "--model").take(4).collect();
        words.join(" ")
    };
    assert_eq!(run(Project::new().env("LOOPGATE_HOME", &home)), "--model opus --effort max");
    let overridden = Project::new().env("LOOPGATE_HOME", &home).env("LOOPGATE_LOOP_MODEL", "sonnet");
    assert_eq!(run(overridden), "--model sonnet --effort max");
}

/// Script that ticks the task of a plan by hand, and promises completion.
const TICKED_BY_HAND: &str = r##"sed -i 's/- \[ \] \*\*T-1.1/- [x] **T-1.1/' .loopgate/work/plan.md
"$LOOPGATE_BIN" plan sync .loopgate/work >/dev/null
echo "$@" >> $OUT/argv
"##;

fn project_with_plan() -> Project {
    let project = Project::new().env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
    std::fs::write(project.workdir.join("plan.md"), crate::real_assistant::PLAN_MD).unwrap();
    let work = project.workdir.display().to_string();
    assert_eq!(project.loopgate(&["plan", "build", &work]).code, 0);
    project
}

#[test]
fn task_ticked_without_a_check_is_reopened_until_the_loop_fails() {
    let project = project_with_plan();
    project.assistant(&format!("{TICKED_BY_HAND}{DONE}"));
    let ended = project.run(&[]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(
        project.read("loop-error.json").contains("UNCHECKED_TASKS"),
        "{}",
        project.read("loop-error.json")
    );
    assert_eq!(project.statuses(), ["unchecked_tasks"; 3]);
    assert!(project.read("plan.md").contains("- [ ] **T-1.1**"));
    assert!(
        project
            .note("argv")
            .contains("no checking agent completed these tasks, so they are open again: T-1.1")
    );
}

#[test]
fn task_that_is_removed_from_the_plan_is_not_completed() {
    let project = project_with_plan();
    let remove = "\"$LOOPGATE_BIN\" plan set-state 'Phase 3' IN_PROGRESS --workdir .loopgate/work --task T-1.1 >/dev/null
sed -i '/T-1.1/d' .loopgate/work/plan.md
\"$LOOPGATE_BIN\" plan sync .loopgate/work >/dev/null
";
    project.assistant(&format!("{remove}{DONE}"));
    let ended = project.run(&[]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let error = project.read("loop-error.json");
    assert!(error.contains("TASKS_CHANGED_AT_COMPLETION") && error.contains("T-1.1 was removed"), "{error}");
}

/// Script that starts the task of a plan, and reports the answer of its reviewer.
const CHECKED_TASK: &str = r#""$LOOPGATE_BIN" plan set-state 'Phase 3' IN_PROGRESS --workdir .loopgate/work --task T-1.1 >/dev/null
mkdir -p .loopgate/work/.loopgate/agent-answers
echo '{"agentType": "code:task-reviewer", "agentId": "a", "at": "", "number": 1, "text": "VERIFIED: T-1.1"}' \
  > .loopgate/work/.loopgate/agent-answers/000001.json
"$LOOPGATE_BIN" plan changed --since-start .loopgate/work > $OUT/changed
"$LOOPGATE_BIN" plan report T-1.1 .loopgate/work >/dev/null
"#;

#[test]
fn completed_tasks_without_any_change_are_a_contradiction() {
    let project = project_with_plan();
    project.assistant(&format!("{CHECKED_TASK}{VERIFIED}{DONE}"));
    let ended = project.run(&[]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let error = project.read("loop-error.json");
    assert!(error.contains("NOTHING_DELIVERED") && error.contains("T-1.1"), "{error}");
    assert_eq!(project.note("changed"), "NO_CHANGES\n");
}

#[test]
fn work_before_the_first_task_is_work_of_the_loop() {
    let project = project_with_plan();
    project.assistant(&format!("echo hello > hello.txt\n{CHECKED_TASK}{VERIFIED}{DONE}"));
    let ended = project.run(&[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(project.note("changed"), "A\thello.txt\n");
}

#[test]
fn start_of_a_loop_is_not_recorded_again_when_it_is_resumed() {
    let project = project_with_plan();
    // The first run of the assistant works, and ends with its driver.
    let interrupted = "if [ ! -e hello.txt ]; then echo hello > hello.txt; kill -INT $PPID; sleep 60; fi\n";
    project.assistant(&format!("{interrupted}{CHECKED_TASK}{VERIFIED}{DONE}"));
    assert_eq!(project.run(&[]).code, 130);
    let resumed = project.loopgate(&["loop", "run"]);
    assert_eq!((resumed.code, resumed.stderr.as_str()), (0, ""));
    assert_eq!(project.note("changed"), "A\thello.txt\n");
}

#[test]
fn changes_inside_of_a_submodule_are_changes() {
    let project = project_with_plan();
    let library = Project::new();
    let url = library.root.display().to_string();
    project.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"]);
    project.git(&["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "lib"]);
    project.assistant(&format!(
        "echo hello > lib/hello.txt\necho more >> lib/README.md\n{CHECKED_TASK}{VERIFIED}{DONE}"
    ));
    let ended = project.run(&[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(project.note("changed"), "M\t@{lib}:README.md\nA\t@{lib}:hello.txt\n");
    // The submodule has these changes already when the next loop starts.
    let work = project.workdir.display().to_string();
    std::fs::write(project.workdir.join("plan.md"), crate::real_assistant::PLAN_MD).unwrap();
    std::fs::remove_file(project.workdir.join("plan.json")).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).code, 0);
    project.assistant(&format!("{CHECKED_TASK}{VERIFIED}{DONE}"));
    assert_eq!(project.run(&[]).code, 1);
    assert!(project.read("loop-error.json").contains("NOTHING_DELIVERED"));
    assert_eq!(project.note("changed"), "NO_CHANGES\n");
}

#[test]
fn project_that_git_cannot_compare_counts_as_changed() {
    let project = project_with_plan();
    std::fs::remove_dir_all(project.root.join(".git")).unwrap();
    project.assistant(&format!("{CHECKED_TASK}{VERIFIED}{DONE}"));
    let ended = project.run(&[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(project.note("changed"), format!("?\t{}\n", project.root.display()));
}

#[test]
fn task_that_its_reviewer_refuses_is_blocked_and_the_user_asked() {
    let project = project_with_plan();
    for _ in 0..3 {
        project.store_answer("code:task-reviewer", "NOT_IMPLEMENTED: T-1.1\nmissing:\n- the file is empty");
    }
    // The answers of an earlier loop do not count.
    let answers = project.workdir.join(".loopgate/agent-answers");
    let saved = project.path("answers");
    std::fs::rename(&answers, &saved).unwrap();
    project.assistant(&format!("cp -r {} {}\n{MORE}", saved.display(), answers.display()));
    let ended = project.run(&[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(project.statuses(), ["in_progress", "awaiting_user"], "one iteration is enough");
    let state = project.read("state.json");
    assert!(
        state.contains("The reviewer refused it 3 times") && state.contains("the file is empty"),
        "{state}"
    );
}
