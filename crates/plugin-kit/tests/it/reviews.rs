//! Reviews and fixes after a loop, with the real assistant and scripted models.

use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, Script};
use serde_json::{Value, json};

use crate::real_assistant::{orchestrator, run_with};
use crate::support::{Ended, Project, plugin};

/// Script of a loop that appends a line to the project and completes.
fn change(line: &str) -> Conversation {
    orchestrator("EXECUTE")
        .runs(&format!("echo '{line}' >> README.md"))
        .says("Done.\n\n<promise>COMPLETE</promise>")
}

/// Script of the reviewer of a small change that contains a text.
fn review(text: &str, findings: &[Value]) -> Conversation {
    let reviewer =
        Conversation { toolless: true, ..Conversation::when("review", "You are reviewer fast\\.") };
    reviewer.and(text).says(&json!({"findings": findings}).to_string())
}

fn misspelled() -> Value {
    json!({"file": "README.md", "line": 2, "severity": "HIGH", "category": "Correctness", "issue": "Misspelled word",
        "explanation": "Readers search for hello.", "code_snippet": "helo world", "confidence": 0.9})
}

/// Script of the second reviewer.
fn challenge(confidence: f64) -> Conversation {
    let second =
        Conversation { toolless: true, ..Conversation::when("challenge", "Another reviewer claims") };
    let result = json!({"claim": 1, "confidence": confidence, "reasoning": "I have looked at the line."});
    second.says(&json!({"results": [result]}).to_string())
}

fn fix() -> Conversation {
    let edit = json!({"file_path": "{{cwd}}/README.md", "old_string": "helo", "new_string": "hello"});
    Conversation::when("fix", "Correct the faults below")
        .turn([ModelStep::tool("Read", json!({"file_path": "{{cwd}}/README.md"}))])
        .turn([ModelStep::tool("Edit", edit)])
        .says("Corrected the word.")
}

async fn execute(conversations: impl IntoIterator<Item = Conversation>) -> (Project, Ended, ModelServer) {
    let project = Project::new().with_reviews();
    let model = ModelServer::start(Script::new(conversations)).await.unwrap();
    let ended = run_with(&project, &model, "EXECUTE", Some(&plugin("code"))).await;
    (project, ended, model)
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_are_fixed_and_the_next_review_approves() {
    let script = [
        fix(),
        challenge(0.9),
        review("helo world", &[misspelled()]),
        review("hello world", &[]),
        change("helo world"),
    ];
    let (project, ended, model) = execute(script).await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(
        project.statuses(),
        ["completed", "review_needs_attention", "fix_completed", "review_approve"],
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("Post-loop review: approved\n"), "{}", ended.stdout);
    assert!(std::fs::read_to_string(project.root.join("README.md")).unwrap().ends_with("hello world\n"));
    let verdicts: Vec<Value> =
        project.events("post_loop_review").into_iter().map(|event| event["verdict"].clone()).collect();
    assert_eq!(verdicts, ["needs_attention", "approve"]);
    let (first, second) = (&model.requests_of("review")[0], &model.requests_of("challenge")[0]);
    assert_eq!(first.system(), second.system(), "the second reviewer reads the cache of the first");
    assert!(first.tools().is_empty() && second.tools().is_empty());
    let tools = model.requests_of("fix")[0].tools().to_vec();
    assert!(tools.iter().all(|tool| ["Read", "Grep", "Glob", "Edit"].contains(&tool.as_str())), "{tools:?}");
    assert!(project.is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn disproved_findings_change_nothing() {
    let script = [fix(), challenge(0.1), review("helo world", &[misspelled()]), change("helo world")];
    let (project, ended, model) = execute(script).await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(project.statuses(), ["completed", "review_approve"], "{}", ended.stdout);
    assert!(model.requests_of("fix").is_empty() && project.is_clean());
}
