//! Judges with the real assistant and a scripted model.

use std::collections::BTreeSet;

use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, Script};
use serde_json::Value;

use crate::support::{Ended, Project, example};

const JUDGES: [&str; 4] = ["prd-auditor", "prd-dependency-judge", "prd-scope-judge", "prd-testability-judge"];

/// Scripts of the judges, without findings.
fn judges() -> impl Iterator<Item = Conversation> {
    JUDGES.into_iter().map(|name| {
        let judge =
            Conversation { toolless: true, ..Conversation::when(name, &format!("You are {name}\\.\\s")) };
        judge.says("{\"findings\": []}")
    })
}

#[tokio::test]
async fn session_runs_the_judges_without_a_permission_prompt() {
    let session = Conversation::when("session", "Run the judges with one command")
        .runs("loopgate judges run --category 'prd' --workdir 'run-7'")
        .says("All judges passed.");
    let model = ModelServer::start(Script::new(judges().chain([session]))).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    home.link("loopgate", &example()).unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join("run-7")).unwrap();
    std::fs::write(
        project.join("run-7/prd.md"),
        "# Export\nUsers export their orders as a file.\n\n## Scope\nFiles.\n",
    )
    .unwrap();
    let plugin = crate::support::plugin("judges");
    let mut command = home.command("claude");
    command.current_dir(&project).args(["--plugin-dir", &plugin.display().to_string()]);
    command.args(["-p", "/judges:run-judges --artifact-type prd --workdir run-7"]);
    let ended = Ended::from(command.output().await.unwrap());
    assert_eq!(ended.stdout.trim(), "All judges passed.", "{}", ended.stderr);

    let results = model.requests_of("session").last().unwrap().tool_results();
    assert!(results.contains("4 judges: 4 passed, 0 below a threshold, 0 failed; cost $"), "{results}");
    let report = std::fs::read(project.join("run-7/prd-judges.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["stats"].as_array().unwrap().len(), JUDGES.len());
    // The model's service can read from its cache only what is equal, up to the end of the system prompt.
    let requests: Vec<_> = JUDGES.iter().flat_map(|name| model.requests_of(name)).collect();
    assert_eq!(requests.len(), JUDGES.len());
    let prefixes: BTreeSet<&str> = requests.iter().map(|request| request.system()).collect();
    assert_eq!(prefixes.len(), 1, "{prefixes:?}");
    assert!(prefixes.iter().all(|prefix| prefix.contains("Users export their orders")), "{prefixes:?}");
    for request in &requests {
        assert!(request.tools().is_empty() && request.model().contains("sonnet"), "{:?}", request.tools());
    }
}

#[test]
fn change_of_the_code_is_judged_with_its_diff() {
    let project = Project::new();
    // Without the start of a loop, the diff begins before the last commit.
    project.git(&[
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.org",
        "commit",
        "-qm",
        "second",
        "--allow-empty",
    ]);
    std::fs::write(project.root.join("export.txt"), "orders as a file\n").unwrap();
    // Most judges of code must report about each metric, and fail with this answer.
    project.assistant(
        r#"cat > /dev/null; cp judges.md "$OUT/shared"
printf '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"{\\"findings\\": []}"}\n'"#,
    );
    let work = project.workdir.display().to_string();
    let ended = project.loopgate(&["judges", "run", "--category", "code", "--workdir", &work]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("11 judges: 3 passed, 0 below a threshold, 8 failed"), "{}", ended.stdout);
    assert!(project.note("shared").contains("+orders as a file"), "{}", project.note("shared"));
}
