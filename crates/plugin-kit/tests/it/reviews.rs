//! Reviews and fixes after a loop, with the real assistant and a test double of the plugin `code-review`.

use std::path::PathBuf;

use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, Script};
use serde_json::Value;

use crate::real_assistant::{orchestrator, run_with};
use crate::support::{Ended, Project, plugin};

/// Creates a directory with our plugin and the test double side by side, and returns the path of ours.
fn plugins(project: &Project) -> PathBuf {
    let directory = project.path("plugins");
    let commands = directory.join("code-review/commands");
    std::fs::create_dir_all(&commands).unwrap();
    std::fs::create_dir_all(directory.join("code-review/.claude-plugin")).unwrap();
    std::os::unix::fs::symlink(plugin("code"), directory.join("code")).unwrap();
    for (path, text) in [
        (
            ".claude-plugin/plugin.json",
            r#"{"name": "code-review", "version": "0.0.1", "description": "Reviews"}"#,
        ),
        (
            "commands/start.md",
            "---\ndescription: Review a change\n---\n\n# Review of a change\n\nArguments: $ARGUMENTS\n",
        ),
        (
            "commands/fix.md",
            "---\ndescription: Fix findings\n---\n\n# Fix of findings\n\nSession: $ARGUMENTS\n",
        ),
    ] {
        std::fs::write(directory.join("code-review").join(path), text).unwrap();
    }
    directory.join("code")
}

/// Script of a loop that appends a line to the project and completes.
fn change(line: &str) -> Conversation {
    orchestrator("EXECUTE")
        .runs(&format!("echo '{line}' >> README.md"))
        .says("Done.\n\n<promise>COMPLETE</promise>")
}

/// Script of a reviewer that reads the project's file, and writes the verdict when the file contains the
/// text.
fn review(text_in_file: &str, verdict: &str) -> Conversation {
    Conversation::when("review", "# Review of a change\\s+Arguments: --base (?P<base>[0-9a-f]{40})")
        .after_result(text_in_file)
        .runs("cat README.md")
        .runs(&format!(
            "dir=.loopgate/code-review/cr-$(date +%N); mkdir -p $dir; \
             printf '%s' '{{\"verdict\": \"{verdict}\", \"reason\": \"\"}}' > $dir/verdict.json"
        ))
        .says("The review is written.")
}

/// Script of the reviewer before it has read the file.
fn before_reading() -> Conversation {
    Conversation { when_results: Vec::new(), ..review("", "") }
}

async fn execute(project: &Project, script: Script) -> (Ended, ModelServer) {
    let model = ModelServer::start(script).await.unwrap();
    let plugin = plugins(project);
    let ended = run_with(project, &model, "EXECUTE", Some(&plugin)).await;
    (ended, model)
}

fn names(events: &[Value], member: &str) -> Vec<String> {
    events.iter().map(|event| event[member].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_are_fixed_and_the_next_review_approves() {
    let project = Project::new();
    let start = project.git(&["rev-parse", "HEAD"]);
    let fix = Conversation::when("fix", "# Fix of findings\\s+Session: \"(?P<session>[^\"]+)\"")
        .runs("cat '{{session}}/verdict.json'")
        .runs("sed -i s/helo/hello/ README.md")
        .says("Fixed.");
    let script = Script::new([
        fix,
        review("helo", "needs_attention"),
        review("hello", "approve"),
        before_reading(),
        change("helo"),
    ]);
    let (ended, model) = execute(&project, script).await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(
        project.statuses(),
        ["completed", "review_needs_attention", "fix_completed", "review_approve"],
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("Post-loop review: approved\n"), "{}", ended.stdout);
    assert!(std::fs::read_to_string(project.root.join("README.md")).unwrap().ends_with("hello\n"));
    assert_eq!(names(&project.events("post_loop_review"), "verdict"), ["needs_attention", "approve"]);
    assert!(model.requests_of("review")[0].user_text().contains(&format!("--base {start}")));
    let fixes = model.requests_of("fix");
    assert!(fixes[1].tool_results().contains("needs_attention"), "the fix gets the session of the review");
    assert!(project.is_clean());
}

// PL-21
#[tokio::test(flavor = "multi_thread")]
async fn reviews_end_after_two_failed_fixes() {
    // A 400 response is not retried by the assistant, so the fix fails at once.
    let project = Project::new();
    let refused = ModelStep::error(400, "invalid_request_error", "the request is not understood");
    let fix = Conversation::when("fix", "# Fix of findings").turn([refused]);
    let script = Script::new([fix, review("helo", "decline"), before_reading(), change("helo")]);
    let (ended, _) = execute(&project, script).await;
    assert_eq!(ended.code, 0, "the loop itself is done: {}", ended.stderr);
    assert_eq!(
        project.statuses(),
        ["completed", "review_decline", "fix_error", "review_decline", "fix_error"]
    );
    assert!(
        ended.stdout.contains("fix did not complete: ")
            && ended.stdout.contains("two fixes in a row have failed")
    );
    assert!(project.is_clean());
}

// PL-37
#[tokio::test(flavor = "multi_thread")]
async fn incomplete_review_is_not_an_approval() {
    let silent = Conversation::when("review", "# Review of a change").says("Everything looks fine to me.");
    let full = "prompt is too long: 210000 tokens > 200000 maximum";
    let overlong = Conversation::when("review", "# Review of a change").turn([ModelStep::error(
        400,
        "invalid_request_error",
        full,
    )]);
    for (reviewer, status, reason) in [
        (silent, "review_incomplete", "there is no verdict"),
        (overlong, "review_error", "The assistant's context limit is reached."),
    ] {
        let project = Project::new();
        let (ended, _) = execute(&project, Script::new([reviewer, change("helo")])).await;
        assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned(), status.to_owned()]));
        let message = format!("Post-loop review did not complete: {reason}");
        assert!(ended.stdout.contains(&message) && !ended.stdout.contains("approved"), "{}", ended.stdout);
        assert!(project.is_clean());
    }
}
