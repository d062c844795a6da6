//! Test evidence: Loopgate runs the trusted test command of a repository at the base and at the head of a
//! loop's work, and reports the difference.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_home::TrustStore;
use loopgate_testkit::loopgate::Setup;
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::delivery::{ended, executes, started};
use crate::test_system::git;

const COMMAND: &str = "python3 -m unittest -v";
const SHOP: &str = "def total(a, b):\n    return a + b\n";
const TESTS: &str = "import unittest\n\nimport shop\n\n\nclass Cart(unittest.TestCase):\n    \
    def test_total(self):\n        self.assertEqual(shop.total(1, 2), 3)\n\n    \
    def test_empty(self):\n        self.assertEqual(shop.total(0, 0), 0)\n";
const TOTAL: &str = "test_total (test_shop.Cart.test_total)";

/// Starts a desktop whose repository has these tests and a trusted test command.
async fn desktop_with_tests(command: &str, trusted: &str, tests: &str) -> Result<TestDesktop> {
    let desktop = TestDesktop::playing([executes(command)]).await?;
    add_tests(&desktop, tests)?;
    trust_command(&desktop, &desktop.clone, trusted)?;
    Ok(desktop)
}

fn add_tests(desktop: &TestDesktop, tests: &str) -> Result<()> {
    let files = [("shop.py", SHOP), ("test_shop.py", tests), (".gitignore", "__pycache__\n")];
    desktop.testbed.remotes.commit(story::REPOSITORY, "main", "Test it", &files)?;
    Ok(())
}

fn trust_command(desktop: &TestDesktop, clone: &Path, command: &str) -> Result<()> {
    let store = TrustStore::new(&desktop.loopgate.setup().data_dir());
    Ok(store.set_test_command(&clone.canonicalize()?, Some(command))?)
}

async fn delivered(desktop: &TestDesktop) -> Result<Run> {
    let order = started(desktop).await?;
    desktop.testbed.model.release("working");
    ended(desktop, order).await
}

fn pull_request_body(desktop: &TestDesktop) -> Result<String> {
    let pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1, "{pulls:?}");
    Ok(pulls[0].body.clone())
}

fn tests_of(run: &Run) -> &Value {
    &run.last["results"][0]["tests"]
}

/// Checks that the worktrees of test runs were removed.
async fn is_clean(desktop: &TestDesktop, run: &Run) -> Result<()> {
    let worktrees = git(&desktop.clone, &["worktree", "list"])?;
    ensure!(!worktrees.contains("-loop-tests-"), "{worktrees}");
    desktop.check_clean(run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn execute_that_breaks_a_test_is_delivered_and_fails_until_the_next_repairs_it() -> Result<()> {
    let toggle = "if grep -q 'a + b' shop.py; then sed -i.old 's/a + b/a - b/' shop.py; \
                  else sed -i.old 's/a - b/b + a/' shop.py; fi; rm shop.py.old";
    let desktop = desktop_with_tests(toggle, COMMAND, TESTS).await?;
    let run = delivered(&desktop).await?;
    ensure!(run.last["type"] == "error" && run.last["code"] == "NEW_TEST_FAILURES", "{}", run.last);
    let message = run.last["message"].as_str().context("a message")?;
    ensure!(message.contains(TOTAL) && message.contains("tests-head.log"), "{message}");
    ensure!(run.last["result"]["prNumber"] == 1, "not delivered: {}", run.last);
    let tests = tests_of(&run);
    ensure!(tests["outcome"] == "new-failures" && tests["newFailures"] == json!([TOTAL]), "{tests}");
    ensure!(tests["base"]["exitCode"] == 0 && tests["head"]["exitCode"] == 1, "{tests}");
    ensure!(tests["head"]["counts"] == json!({"passed": 1, "failed": 1, "skipped": 0}), "{tests}");
    let output = tests["head"]["output"].as_str().context("the output of the failed run")?;
    ensure!(output.contains("FAIL: test_total") && output.contains("AssertionError"), "{output}");
    ensure!(tests["base"]["output"].is_null(), "the output of a passed run is not sent: {tests}");
    let work_dir = run.worktree()?.join(".loopgate/work");
    // Both logs stay in the work directory, for the user and for the next loop.
    for log in ["tests-base.log", "tests-head.log"] {
        let text = std::fs::read_to_string(work_dir.join(log))?;
        ensure!(text.contains("Ran 2 tests"), "{log}: {text}");
    }
    let written = std::fs::read_to_string(work_dir.join("execution-result.json"))?;
    ensure!(written.contains("new-failures"), "{written}");
    let body = pull_request_body(&desktop)?;
    ensure!(body.contains(&format!("**New failures:** `{TOTAL}`")), "{body}");
    ensure!(body.contains("| result | passed | failed, exit code 1 |"), "{body}");
    ensure!(body.find("### Tests") < body.find("Loop ID"), "{body}");
    is_clean(&desktop, &run).await?;

    let run = delivered(&desktop).await?;
    ensure!(run.completed("execute")?["prNumber"] == 1 && run.last["warnings"].is_null(), "{}", run.last);
    ensure!(tests_of(&run)["outcome"] == "passed", "{}", run.last);
    let body = pull_request_body(&desktop)?;
    ensure!(body.contains("The tests pass.") && !body.contains("New failures"), "{body}");
    // The result at the base is cached by commit, so the second loop runs the tests at the head only.
    let output = desktop.cloud.output(run.id);
    ensure!(
        !output.iter().any(|chunk| chunk.contains("tests at the base")),
        "the tests ran at the base again: {output:?}"
    );
    ensure!(std::fs::read_to_string(work_dir.join("tests-base.log"))?.contains("Ran 2 tests"));
    is_clean(&desktop, &run).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn newly_skipped_test_is_flagged() -> Result<()> {
    let skip = "sed -i.old 's/a + b/0/' shop.py; rm shop.py.old; \
                sed -i.old 's/    def test_total/    @unittest.skip(\"later\")\\n    def test_total/' test_shop.py; \
                rm test_shop.py.old";
    let desktop = desktop_with_tests(skip, COMMAND, TESTS).await?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(run.last["warnings"] == json!(["TESTS_WEAKENED"]), "{}", run.last);
    let tests = tests_of(&run);
    let flag = json!({"kind": "test-skipped", "path": "test_shop.py", "detail": "@unittest.skip(\"later\")"});
    ensure!(tests["outcome"] == "passed" && tests["flags"][0] == flag, "{tests}");
    let diff = &tests["diffs"][0];
    ensure!(diff["path"] == "test_shop.py" && tests["diffs"].as_array().map(Vec::len) == Some(1), "{tests}");
    let diff = diff["diff"].as_str().context("a diff")?;
    ensure!(
        diff.starts_with("diff --git a/test_shop.py") && diff.contains("\n+    @unittest.skip"),
        "{diff}"
    );
    let body = pull_request_body(&desktop)?;
    ensure!(body.contains("- test skipped in `test_shop.py`: `@unittest.skip(\"later\")`"), "{body}");
    is_clean(&desktop, &run).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failure_at_the_base_is_a_warning() -> Result<()> {
    // The test expects 4 instead of 3, so it fails before the loop changes anything.
    let desktop = desktop_with_tests("echo x > more.txt", COMMAND, &TESTS.replace(", 3)", ", 4)")).await?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(run.last["warnings"] == json!(["TESTS_FAILED_BEFORE"]), "{}", run.last);
    let tests = tests_of(&run);
    ensure!(tests["outcome"] == "failed-before" && tests.get("newFailures").is_none(), "{tests}");
    ensure!(
        pull_request_body(&desktop)?.contains("The tests fail, as they do at the base."),
        "{}",
        pull_request_body(&desktop)?
    );
    is_clean(&desktop, &run).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tests_do_not_run_without_a_trusted_command() -> Result<()> {
    // The repository has an untrusted test command until the second EXECUTE removes it.
    let command = "if [ -e more.txt ]; then rm package.json; fi; date >> more.txt";
    let desktop = TestDesktop::playing([executes(command)]).await?;
    let not_run = async |reason: &str| {
        let run = delivered(&desktop).await?;
        run.completed("execute")?;
        ensure!(run.last["warnings"].is_null(), "{}", run.last);
        let tests = tests_of(&run);
        ensure!(tests["outcome"] == "not-run", "{tests}");
        ensure!(tests["note"].as_str().is_some_and(|note| note.contains(reason)), "{tests}");
        ensure!(pull_request_body(&desktop)?.contains(reason), "{}", pull_request_body(&desktop)?);
        anyhow::Ok(())
    };
    not_run("the test command is not trusted").await?;
    not_run("no test command was detected").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tests_that_exceed_the_time_limit_are_inconclusive() -> Result<()> {
    let limited = |setup: Setup| {
        let file = setup.data_dir().join("settings.toml");
        let written = std::fs::create_dir_all(setup.data_dir())
            .and_then(|()| std::fs::write(file, "test_time_limit_seconds = 1\n"));
        assert!(written.is_ok(), "{written:?}");
        setup
    };
    let desktop = TestDesktop::with([executes("echo x > more.txt")], limited).await?;
    trust_command(&desktop, &desktop.clone, "echo started; sleep 1000")?;
    let run = delivered(&desktop).await?;
    run.completed("execute")?;
    ensure!(run.last["warnings"] == json!(["TESTS_INCONCLUSIVE"]), "{}", run.last);
    let tests = tests_of(&run);
    ensure!(tests["outcome"] == "inconclusive" && tests["head"].get("exitCode").is_none(), "{tests}");
    let reason = "The tests could not be run: timed out after 1s";
    ensure!(pull_request_body(&desktop)?.contains(reason), "{}", pull_request_body(&desktop)?);
    let log = run.worktree()?.join(".loopgate/work/tests-head.log");
    ensure!(std::fs::read_to_string(log)? == "started\n", "the output of the tests was lost");
    is_clean(&desktop, &run).await
}

/// Returns a test command that appends a line to `runs` and blocks until `gate` exists.
fn blocking_command(home: &Path, gate: &str) -> String {
    let (runs, gate) = (home.join("runs"), home.join(gate));
    format!("echo run >> '{}'; until [ -e '{}' ]; do sleep 0.02; done", runs.display(), gate.display())
}

async fn wait_for_runs(home: &Path, times: usize) -> Result<()> {
    let runs = home.join("runs");
    let count = || std::fs::read_to_string(&runs).unwrap_or_default().lines().count();
    wait::until(home, async || (count() == times).then_some(())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn test_run_is_reattached_after_a_kill() -> Result<()> {
    let mut desktop = TestDesktop::playing([executes("echo x > more.txt")]).await?;
    let home = desktop.testbed.home.path().to_owned();
    trust_command(&desktop, &desktop.clone, &blocking_command(&home, "gate"))?;
    let order = started(&desktop).await?;
    desktop.testbed.model.release("working");
    wait_for_runs(&home, 1).await?;
    desktop.loopgate.kill().await?;
    let desktop = desktop.restart().await?;
    // The test run survives the kill; the restarted Loopgate waits for it instead of starting a second one.
    std::fs::write(home.join("gate"), "")?;
    let run = ended(&desktop, order).await?;
    run.completed("execute")?;
    ensure!(tests_of(&run)["outcome"] == "passed", "{}", run.last);
    let runs = std::fs::read_to_string(home.join("runs"))?;
    ensure!(runs.lines().count() == 2, "once at the base and once at the head: {runs}");
    is_clean(&desktop, &run).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_terminates_the_tests_and_reports_the_pushed_branch() -> Result<()> {
    let desktop = TestDesktop::playing([executes("echo x > more.txt")]).await?;
    let home = desktop.testbed.home.path().to_owned();
    trust_command(&desktop, &desktop.clone, &blocking_command(&home, "never"))?;
    let order = started(&desktop).await?;
    desktop.testbed.model.release("working");
    wait_for_runs(&home, 1).await?;
    let kill = desktop.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop/kill");
    let answer = kill.json(&json!({"loopId": order.0})).send().await?;
    ensure!(answer.status() == 200, "{}", answer.status());
    let run = ended(&desktop, order).await?;
    ensure!(run.last["code"] == "CANCELLED", "{}", run.last);
    let message = run.last["message"].as_str().unwrap_or_default();
    ensure!(message.contains("already reached the code host (orchestrator/shop-7"), "{}", run.last);
    ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY).is_empty(), "a pull request");
    is_clean(&desktop, &run).await
}
