//! Tests the evaluation with the real assistant and a scripted model: its measurements, and its message
//! without an account.

use std::path::Path;
use std::process::Output;

use loopgate_testkit::home::UserHome;
use loopgate_testkit::loopgate::binary;
use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, ModelUsage, Script};
use serde_json::{Value, json};

const PLAN: &str = "# A slug\n\n## Summary\nTexts get a slug.\n\n## Acceptance Criteria\n| ID | Criterion | Source |\n\
    |---|---|---|\n| AC-001 | slug works | prd.md |\n\n## Architecture Fit\nA function beside the others.\n\n## Tasks\n\
    - [ ] **T-1.1**: Add `slug` *(AC-001)*\n\n## API & Data Impacts\nNone.\n\n## Risks & Constraints\nNone.\n\n\
    ## Test Plan\nA test.\n\n## Rollback\nRemove it.\n\n## Open Questions\nNone.\n\n## Gaps\nNone.\n";

/// Fulfills the request, changes an unrelated file, and weakens an existing test.
const CHANGE: &str = "printf '\\nimport re\\n\\ndef slug(text):\\n    return re.sub(\"[^a-z0-9]+\", \"-\", text.lower()).strip(\"-\")\\n' \
    >> textkit.py; sed -i 's/word.capitalize()/word.upper()/' textkit.py; sed -i 's/The Quick Fox/THE QUICK FOX/' test_textkit.py; \
    echo notes > notes.txt";

fn orchestrator(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
        .and("LOOPGATE_WORKDIR=\"(?P<workdir>[^\"]+)\"")
}

fn script() -> Script {
    let usage = ModelStep::Usage(ModelUsage { input: 100_000, output: 1_000, cache_read: 0, cache_write: 0 });
    let planner = orchestrator("plan", "PLAN")
        .turn([usage.clone(), ModelStep::write("{{workdir}}/plan.md", PLAN)])
        .runs("loopgate plan build '{{workdir}}'")
        .runs("loopgate plan set-state 'Phase 1.1: Checkpoint' AWAITING_USER --workdir '{{workdir}}' --action 'Read it'")
        .says("The plan is ready.\n\n<promise>COMPLETE</promise>");
    let implementer = orchestrator("execute", "EXECUTE")
        .turn([usage, ModelStep::bash(CHANGE)])
        .turn([ModelStep::tool(
            "Agent",
            json!({"description": "review", "prompt": "Review T-1.1", "subagent_type": "code:task-reviewer"}),
        )])
        .runs("loopgate plan report T-1.1 '{{workdir}}'")
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("Done.\n\n<promise>COMPLETE</promise>");
    let reviewer =
        Conversation::when("reviewer", "you do not know\\s+what they claim").says("VERIFIED: T-1.1");
    Script::new([planner, implementer, reviewer])
}

async fn evaluate(home: &UserHome, args: &[&str]) -> anyhow::Result<Output> {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/code").canonicalize()?;
    let mut command = home.command(env!("CARGO_BIN_EXE_evaluate"));
    command
        .args(["--only", "textkit-slug"])
        .args(args)
        .current_dir(home.path())
        // A developer's machine does not set it; the evaluation must work without.
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
    let output_text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{output_text}");
    let text = std::fs::read_to_string(home.path().join("first.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let task = &report["tasks"][0];
    assert_eq!(
        (&task["completed"], &task["fulfilled"], &task["testsPass"], &task["testsWeakened"]),
        (&json!(true), &json!(true), &json!(true), &json!(true)),
        "{output_text}"
    );
    assert_eq!((&task["drift"], &task["iterations"]), (&json!(["notes.txt"]), &json!(2)));
    assert!(task["costUsd"].as_f64().unwrap() > 1.0, "{task}");
    assert!(output_text.contains("unrelated change: notes.txt"), "{output_text}");

    let mut better = report.clone();
    better["tasks"][0]["testsWeakened"] = json!(false);
    std::fs::write(home.path().join("better.json"), better.to_string()).unwrap();
    let output = evaluate(&home, &["--output", "second.json", "--compare", "better.json"]).await.unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && output_text.contains("tests weakened: no → yes"), "{output_text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluation_without_an_account_fails_with_instructions() {
    let model = ModelServer::start(Script::new([])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    // An empty key counts as missing, so the assistant is not signed in.
    home.set("ANTHROPIC_API_KEY", "");
    let output = evaluate(&home, &[]).await.unwrap();
    let output_text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && output_text.contains("sign in with /login, or set ANTHROPIC_API_KEY"),
        "{output_text}"
    );
    assert!(model.requests().is_empty() && !home.path().join("evaluation.json").exists());
}
