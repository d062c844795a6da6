//! Spending limit of a loop: the charged runs, the budget of each run, and the end of the loop at the limit.

use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, ModelUsage, Script};
use serde_json::Value;

use crate::real_assistant::run_with_args;
use crate::support::{DONE, Project, runs, signal, wait_until};

/// Script of an iteration that changes a file, has more to do, and costs 40 cents.
const FORTY_CENTS: &str = r#"echo "$LOOPGATE_ITERATION" > iteration-$LOOPGATE_ITERATION
printf '%s\n' "$*" >> $OUT/argv
echo '{"type":"result","is_error":false,"result":"more to do","session_id":"s-1","total_cost_usd":0.4}'
"#;

/// Returns the budgets passed to the runs of the assistant.
fn budgets(project: &Project) -> Vec<String> {
    let argv = project.note("argv");
    let budget = |line: &str| {
        let (_, rest) = line.split_once("--max-budget-usd ")?;
        rest.split(' ').next().map(str::to_owned)
    };
    argv.lines().filter_map(budget).collect()
}

#[test]
fn each_run_gets_the_remaining_budget_until_the_loop_ends() {
    let project = Project::new().env("LOOPGATE_USER_VISIBLE_FAILURE_SECRET", "key");
    project.assistant(FORTY_CENTS);
    let ended = project.run(&["--max-iterations", "9", "--max-spend-usd", "1"]);
    assert_eq!(ended.code, 1);
    // Three runs at 40 cents: the last one starts with 20 cents, and exceeds the limit before the loop can
    // stop it.
    assert_eq!(budgets(&project), ["1.000000", "0.600000", "0.200000"]);
    assert_eq!(project.statuses(), ["in_progress", "in_progress", "in_progress", "spending_limit"]);
    let marker: Value = serde_json::from_str(&project.read("loop-error.json")).unwrap();
    assert_eq!(marker["result"]["subcode"], "SPENDING_LIMIT");
    let message = marker["message"].as_str().unwrap();
    assert!(
        message.contains("its spending limit of $1.00") && message.contains("has spent $1.20"),
        "{message}"
    );
    let statuses: Vec<Value> =
        project.events("iteration").iter().map(|event| event["status"].clone()).collect();
    assert_eq!(statuses, ["ok", "ok", "ok", "spending_limit"]);
    assert!(project.is_clean() && project.root.join("iteration-3").is_file(), "the changes are kept");
}

#[test]
fn spending_limit_precedence_is_option_environment_settings() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("settings.toml"), "max_spend_usd = 3\n").unwrap();
    let project = || {
        let project = Project::new().env("LOOPGATE_HOME", &home.path().display().to_string());
        project.assistant(&format!("printf '%s\\n' \"$*\" >> $OUT/argv\n{DONE}"));
        project
    };
    let in_settings = project();
    assert_eq!((in_settings.run(&[]).code, budgets(&in_settings)), (0, vec!["3.000000".to_owned()]));
    let in_environment = project().env("LOOPGATE_MAX_SPEND_USD", "2.50");
    assert_eq!((in_environment.run(&[]).code, budgets(&in_environment)), (0, vec!["2.500000".to_owned()]));
    let without = project();
    assert_eq!((without.run(&["--max-spend-usd", "0"]).code, budgets(&without)), (0, vec![]));
    let invalid = project().env("LOOPGATE_MAX_SPEND_USD", "much");
    let ended = invalid.run(&[]);
    assert_eq!(
        (ended.code, invalid.note("argv")),
        (1, String::new()),
        "an invalid limit must not run without a limit"
    );
    assert!(ended.stderr.contains("LOOPGATE_MAX_SPEND_USD: expected an amount"), "{}", ended.stderr);
}

#[test]
fn interrupted_run_is_charged_on_resume() {
    let project = Project::new();
    // 100,000 input and 1,000 output tokens without a result record: 52.5 cents at list price.
    project.assistant(
        r#"if [ $LOOPGATE_ITERATION = 1 ]; then
  printf '%s\n' "$*" >> $OUT/argv
  echo '{"type":"result","is_error":false,"result":"more","session_id":"s-1","total_cost_usd":0.4}'
  exit 0
fi
echo '{"type":"assistant","message":{"id":"m-1","model":"claude-opus-4-6","content":[],"usage":{"input_tokens":100000,"output_tokens":1000}}}'
echo $$ > $OUT/pid; exec sleep 600"#,
    );
    let workdir = project.workdir.display().to_string();
    let mut driver = project.start(&["loop", "run", &workdir, "--max-spend-usd", "2"]);
    wait_until("the second run has answered", || {
        project.note("pid").ends_with('\n') && project.read("assistant-output.jsonl").contains("m-1")
    });
    let state = std::fs::read_to_string(project.state_file()).unwrap();
    assert!(state.contains("\nspent_usd: 0.400000\n"), "{state}");
    // Only the driver is killed; its assistant survives as an orphan and must be ended separately.
    signal(driver.id(), "KILL");
    driver.wait().unwrap();
    signal(project.note("pid").trim().parse().unwrap(), "KILL");
    wait_until("the assistant has ended", || !runs(&project.note("pid")));

    project.assistant(&format!("printf '%s\\n' \"$*\" >> $OUT/argv\n{DONE}"));
    assert_eq!(project.loopgate(&["loop", "run"]).code, 0);
    assert_eq!(budgets(&project), ["2.000000", "1.075000"]);
}

#[test]
fn reviews_and_fixes_share_the_spending_limit() {
    let project = Project::new().with_reviews();
    project.assistant(&format!(
        r#"printf '%s\n' "$*" >> $OUT/argv
for last; do :; done
result() {{ printf '{{"type":"result","subtype":"success","is_error":false,"total_cost_usd":%s,"result":%s}}\n' "$1" "$2"; }}
if [[ $last = -p ]]; then
  case "$(cat)" in
  "You are reviewer fast."*) result 0.3 '"{{\"findings\": [{{\"file\": \"README.md\", \"line\": 2, \"severity\": \"HIGH\", \"category\": \"Correctness\", \"issue\": \"x\", \"explanation\": \"x\", \"code_snippet\": \"changed\", \"confidence\": 0.9}}]}}"' ;;
  "Another reviewer claims"*) result 0.1 '"{{\"results\": [{{\"claim\": 1, \"confidence\": 0.9, \"reasoning\": \"x\"}}]}}"' ;;
  *) result 0.6 '"Nothing."' ;;
  esac
else
  echo changed >> README.md
{DONE}
fi"#
    ));
    let ended = project.run(&["--max-spend-usd", "1"]);
    assert_eq!(ended.code, 0, "the loop itself is done");
    assert_eq!(budgets(&project), ["1.000000", "1.000000", "0.700000", "0.600000"]);
    assert_eq!(project.statuses(), ["completed", "review_needs_attention", "fix_completed"]);
}

/// A model response that costs 52.5 cents: 100,000 input and 1,000 output tokens.
fn paid(step: ModelStep) -> [ModelStep; 2] {
    let usage = ModelUsage { input: 100_000, output: 1_000, cache_read: 0, cache_write: 0 };
    [ModelStep::Usage(usage), step]
}

#[tokio::test(flavor = "multi_thread")]
async fn real_assistant_stops_within_a_run_at_its_budget() {
    let project = Project::new();
    let spending = Conversation::when("spending", "# Coding loop")
        .turn(paid(ModelStep::write("{{cwd}}/first.txt", "first\n")))
        .turn(paid(ModelStep::write("{{cwd}}/second.txt", "second\n")))
        .turn(paid(ModelStep::write("{{cwd}}/third.txt", "third\n")))
        .turn(paid(ModelStep::text("There is more to do.")));
    let model = ModelServer::start(Script::new([spending])).await.unwrap();
    let ended = run_with_args(&project, &model, "EXECUTE", &["--max-spend-usd", "1"]).await;
    assert_eq!(ended.code, 1, "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(project.statuses(), ["spending_limit"]);
    assert!(ended.stderr.contains("LOOPGATE_FATAL[SPENDING_LIMIT]: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("it has spent $1.05"), "{}", ended.stderr);
    assert_eq!(model.requests_of("spending").len(), 2, "the assistant stops at its budget");
    assert!(project.root.join("first.txt").is_file() && !project.root.join("third.txt").exists());
    assert!(project.is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_that_exhausts_the_budget_completes_the_loop() {
    let project = Project::new();
    let done = Conversation::when("done", "# Coding loop")
        .turn(paid(ModelStep::bash("echo hello >> README.md")))
        .turn(paid(ModelStep::text("Done.\n\n<promise>COMPLETE</promise>")));
    let model = ModelServer::start(Script::new([done])).await.unwrap();
    let ended = run_with_args(&project, &model, "EXECUTE", &["--max-spend-usd", "0.6"]).await;
    assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned()]), "{}", ended.stderr);
    assert!(ended.stdout.contains("review skipped: the spending limit is used up"), "{}", ended.stdout);
}
