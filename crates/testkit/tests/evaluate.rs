//! The evaluation with the real assistant on a scripted model: what it measures, and what it says without an account.

use std::path::Path;
use std::process::Output;

use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::binary;
use loopgate_testkit::model::{Conversation, ModelServer, Script, Step, Usage};
use serde_json::{Value, json};

const PLAN: &str = "# A slug\n\n## Summary\nTexts get a slug.\n\n## Acceptance Criteria\n| ID | Criterion | Source |\n\
    |---|---|---|\n| AC-001 | slug works | prd.md |\n\n## Architecture Fit\nA function beside the others.\n\n## Tasks\n\
    - [ ] **T-1.1**: Add `slug` *(AC-001)*\n\n## API & Data Impacts\nNone.\n\n## Risks & Constraints\nNone.\n\n\
    ## Test Plan\nA test.\n\n## Rollback\nRemove it.\n\n## Open Questions\nNone.\n\n## Gaps\nNone.\n";

/// Fulfils the wish, changes a file that has nothing to do with it, and makes a test of before useless.
const CHANGE: &str = "printf '\\nimport re\\n\\ndef slug(text):\\n    return re.sub(\"[^a-z0-9]+\", \"-\", text.lower()).strip(\"-\")\\n' \
    >> textkit.py; sed -i 's/word.capitalize()/word.upper()/' textkit.py; sed -i 's/The Quick Fox/THE QUICK FOX/' test_textkit.py; \
    echo notes > notes.txt";

fn orchestrator(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
        .and("LOOPGATE_WORKDIR=\"(?P<workdir>[^\"]+)\"")
}

fn script() -> Script {
    let paid = Step::Usage(Usage { input: 100_000, output: 1_000, cache_read: 0, cache_write: 0 });
    let plans = orchestrator("plan", "PLAN")
        .turn([paid.clone(), Step::write("{{workdir}}/plan.md", PLAN)])
        .runs("loopgate plan build '{{workdir}}'")
        .runs("loopgate plan set-state 'Phase 1.1: Checkpoint' AWAITING_USER --workdir '{{workdir}}' --action 'Read it'")
        .says("The plan is there.\n\n<promise>COMPLETE</promise>");
    let implements = orchestrator("execute", "EXECUTE")
        .turn([paid, Step::bash(CHANGE)])
        .runs("loopgate plan report T-1.1 '{{workdir}}' <<'END'\nVERIFIED\nEND")
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("Done.\n\n<promise>COMPLETE</promise>");
    Script::new([plans, implements])
}

async fn evaluate(home: &UserHome, args: &[&str]) -> anyhow::Result<Output> {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/code").canonicalize()?;
    let mut command = home.command(env!("CARGO_BIN_EXE_evaluate"));
    command
        .args(["--only", "textkit-slug"])
        .args(args)
        .current_dir(home.path())
        .env_remove("IS_SANDBOX")
        .env("LOOPGATE_BIN", binary()?)
        .env("LOOPGATE_ASSISTANT_BIN", home.path().join("bin/claude"))
        .env("LOOPGATE_PLUGIN_DIR", plugin)
        .env("LOOPGATE_ITERATION_PAUSE_MS", "1");
    Ok(command.output().await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn task_is_planned_implemented_and_measured() {
    let model = ModelServer::start(script()).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    let output = evaluate(&home, &["--output", "first.json"]).await.unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = std::fs::read_to_string(home.path().join("first.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let task = &report["tasks"][0];
    assert_eq!(
        (&task["completed"], &task["fulfilled"], &task["testsPass"], &task["testsWeakened"]),
        (&json!(true), &json!(true), &json!(true), &json!(true)),
        "{said}"
    );
    assert_eq!((&task["drift"], &task["iterations"]), (&json!(["notes.txt"]), &json!(2)));
    assert!(task["costUsd"].as_f64().unwrap() > 1.0, "{task}");
    assert!(said.contains("changed without need: notes.txt"), "{said}");

    let mut better = report.clone();
    better["tasks"][0]["testsWeakened"] = json!(false);
    std::fs::write(home.path().join("better.json"), better.to_string()).unwrap();
    let output = evaluate(&home, &["--output", "second.json", "--compare", "better.json"]).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("tests weakened: no → yes"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluation_without_an_account_says_what_it_needs() {
    let model = ModelServer::start(Script::new([])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    home.set("ANTHROPIC_API_KEY", "");
    let output = evaluate(&home, &[]).await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("sign in with /login, or set ANTHROPIC_API_KEY"),
        "{said}"
    );
    assert!(model.requests().is_empty() && !home.path().join("evaluation.json").exists());
}
