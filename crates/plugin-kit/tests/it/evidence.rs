//! Evidence by a program: proofs of tasks, recorded runs, baseline and validation, with real test runners.

use serde_json::Value;

use crate::real_assistant::PLAN_MD;
use crate::support::Project;

const PAGE: &str = "exports.greet = () => 'hello';\n";
const TEST: &str = "const { greet } = require('../page.js');\n\
    require('node:test')('greets', () => require('node:assert').strictEqual(greet(), 'hello'));\n";

/// Creates a project whose tests run with Node, and a plan with the task T-1.1, which has been started.
fn started_task() -> (Project, String) {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    std::fs::write(project.root.join("package.json"), r#"{"scripts": {"test": "node --test test/"}}"#)
        .unwrap();
    write(&project, "test/old.test.js", "require('node:test')('old', () => {});\n");
    std::fs::write(project.workdir.join("plan.md"), PLAN_MD).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).code, 0);
    let start = ["plan", "set-state", "Phase 3", "IN_PROGRESS", "--workdir", &work, "--task", "T-1.1"];
    assert_eq!(project.loopgate(&start).code, 0);
    (project, work)
}

fn write(project: &Project, path: &str, text: &str) {
    let path = project.root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn proof(project: &Project, work: &str) -> String {
    let proof = project.loopgate(&["plan", "prove", "T-1.1", work]);
    assert_eq!(proof.code, 0, "{}", proof.stderr);
    proof.stdout
}

#[test]
fn tests_of_a_task_must_fail_without_it_and_pass_with_it() {
    let (project, work) = started_task();
    write(&project, "page.js", PAGE);
    assert!(proof(&project, &work).starts_with("PROOF: UNPROVEN: `npm test` has the same result"));
    write(&project, "test/page.test.js", TEST);
    let proven = proof(&project, &work);
    assert!(proven.starts_with("PROOF: PROVEN: fails without the change and passes with it: "), "{proven}");
    assert!(project.read("evidence/T-1.1-before.log").contains("Cannot find module '../page.js'"));
    let brief = project.loopgate(&["plan", "brief", "T-1.1", &work]).stdout;
    assert!(std::fs::read_to_string(brief.trim()).unwrap().contains("PROVEN: fails without the change"));
    write(&project, "page.js", "exports.greet = () => 'bye';\n");
    assert!(proof(&project, &work).starts_with("PROOF: FAILING: `npm test` fails: "));
    assert_eq!(project.git(&["status", "--porcelain"]).lines().count(), 3, "the project is not changed");
}

#[test]
fn recorded_failure_proves_tests_inside_of_source_files() {
    let (project, work) = started_task();
    // The file contains its own test, so the files at the start cannot be tested with it.
    let with_test =
        |text: &str| write(&project, "page.js", &format!("if ('{text}' !== 'hello') process.exit(3);\n"));
    let run =
        || project.loopgate(&["plan", "run", "T-1.1", "--workdir", &work, "--", "node", "page.js"]).stdout;
    with_test("");
    assert!(run().starts_with("EXIT: 3\n"));
    assert!(proof(&project, &work).starts_with("PROOF: FAILING"), "it fails before and after");
    with_test("hello");
    assert!(run().starts_with("EXIT: 0\n"));
    let proven = proof(&project, &work);
    assert!(proven.starts_with("PROOF: PROVEN"), "{proven}");
}

#[test]
fn command_that_the_loop_must_not_run_is_refused() {
    let (project, work) = started_task();
    for command in ["git stash", "sh -c 'git reset --hard'"] {
        let refused = project.loopgate(&["plan", "run", "T-1.1", "--workdir", &work, "--", command]);
        assert_eq!(refused.code, 1, "{command}");
        assert!(refused.stderr.starts_with("Error: Blocked: "), "{}", refused.stderr);
    }
    assert!(project.root.join("package.json").exists());
}

#[test]
fn validation_fails_only_for_what_the_baseline_does_not_contain() {
    let (project, work) = started_task();
    let plan = |command: &str| project.loopgate(&["plan", command, &work]).stdout;
    write(
        &project,
        "test/broken.test.js",
        "require('node:test')('broken', () => { throw new Error('x'); });\n",
    );
    assert_eq!(plan("baseline"), "BASELINE_RECORDED\nnpm test: failed\n");
    assert_eq!(plan("baseline"), "BASELINE_RECORDED: by an earlier iteration\n");
    write(&project, "test/page.test.js", TEST);
    let failed = plan("test");
    assert!(failed.starts_with("VALIDATION_FAILED\nnpm test: failed\n- "), "{failed}");
    assert!(failed.ends_with("ROUND 1 of 20\n"), "{failed}");
    write(&project, "page.js", PAGE);
    assert_eq!(plan("test"), "VALIDATION_PASSED\nnpm test: failed before\n");
    assert_eq!(plan("test"), "VALIDATION_PASSED: nothing has changed since the last validation\n");
    let result: Value = serde_json::from_str(&project.read(".learnings/build-result.json")).unwrap();
    assert_eq!(result["status"], "passed");
}

#[test]
fn project_without_tests_has_no_validation() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    for command in ["baseline", "test"] {
        let ended = project.loopgate(&["plan", command, &work]);
        assert_eq!(ended.stdout, "NO_VALIDATION: no test command was detected\n", "{}", ended.stderr);
    }
}
