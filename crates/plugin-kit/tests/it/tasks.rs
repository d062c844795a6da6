//! Tasks of a plan with the real assistant: a user's answer reaches its task, and changes are tracked per
//! task.

use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, Script};
use serde_json::{Value, json};

use crate::real_assistant::{
    PLAN_MD, accepting_reviewer, orchestrator, report_command, run_with_args, subagent,
};
use crate::support::Project;

fn start_task(task: &str) -> String {
    format!(
        "loopgate plan set-state 'Phase 3: Implementation' IN_PROGRESS --workdir '{{{{workdir}}}}' --task {task}"
    )
}

const COMPLETED: &str = "loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'";

/// Script of an implementer whose prompt matches `place`.
fn implementer(name: &str, place: &str) -> Conversation {
    Conversation::when(name, "You are given one task with its criteria").and(place)
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_in_the_plan_text_reaches_its_task() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    let plan = project.workdir.join("plan.md");
    std::fs::write(&plan, PLAN_MD.replace("Add `hello.txt`", "Add `hello.txt` that says whatever")).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).stdout, "PLAN_BUILT: VALID\n");
    // The user answers the question in the text while no loop runs.
    let question = "- [ ] Q-001: Which words? **[Recommended: hello]**";
    let answered = "- [x] Q-001: Which words? **Answer: good morning**";
    let text = std::fs::read_to_string(&plan).unwrap();
    assert!(text.contains(question));
    std::fs::write(&plan, text.replace(question, answered)).unwrap();

    // Each conversation knows the answer only from the tool results, through the named groups of its
    // patterns.
    let lead = |orchestrator: Conversation| {
        orchestrator
            .runs("loopgate plan validate '{{workdir}}'")
            .turn([subagent("code:answered-questions-subagent", "Work directory: '{{workdir}}'")])
            .runs("loopgate plan validate '{{workdir}}'")
            .runs(&start_task("T-1.1"))
            .turn([subagent("code:implementation-subagent", "T-1.1 in '{{cwd}}': write <{{words}}>")])
            .turn([subagent("code:task-reviewer", "Review T-1.1")])
            .runs(&report_command("T-1.1"))
            .runs(COMPLETED)
            .says("Done.\n\n<promise>COMPLETE</promise>")
    };
    let fold_answer = |agent: Conversation| {
        agent
            .turn([ModelStep::tool("Read", json!({"file_path": "{{workdir}}/plan.md"}))])
            .runs(
                "sed -i -e 's/that says whatever/that says {{answer}}/' -e '/Q-001/d' '{{workdir}}/plan.md'",
            )
            .runs("loopgate plan build '{{workdir}}'")
            .says("PROCESSED: 1\nQ-001: T-1.1")
    };
    let folder = || {
        Conversation::when("folder", "for each answered question").and("Work directory: '(?P<workdir>[^']+)'")
    };
    let script = Script::new([
        implementer("implementer", "in '(?P<root>[^']+)': write <(?P<words>[a-z ]+)>")
            .turn([ModelStep::write("{{root}}/hello.txt", "{{words}}\n")])
            .says("IMPLEMENTATION_VERIFIED: T-1.1\n<promise>IMPLEMENTATION_VERIFIED</promise>"),
        fold_answer(folder().after_result(r"Which words\? \*\*Answer: (?P<answer>[^*]+)\*\*")),
        fold_answer(folder()),
        accepting_reviewer(),
        lead(orchestrator("EXECUTE").after_result("Add `hello.txt` that says (?P<words>good [a-z]+)")),
        lead(orchestrator("EXECUTE")),
    ]);
    let model = ModelServer::start(script).await.unwrap();
    let ended = run_with_args(&project, &model, "EXECUTE", &[]).await;
    assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned()]), "{}", ended.stderr);
    let validated = model.requests_of("orchestrator")[1].tool_results();
    assert!(validated.contains("\"has_answered_questions\":true"), "{validated}");
    assert_eq!(std::fs::read_to_string(project.root.join("hello.txt")).unwrap(), "good morning\n");
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!(plan["completedTasks"][0]["description"], "Add `hello.txt` that says good morning");
    assert_eq!((&plan["openQuestions"], &plan["answeredQuestions"]), (&json!([]), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn review_of_a_task_sees_only_its_changes() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    let tasks = "- [ ] **T-1.1**: Add `first.txt` *(AC-001)*\n- [ ] **T-1.2**: Add `second.txt` *(AC-001)*";
    let plan = PLAN_MD.replace("- [ ] **T-1.1**: Add `hello.txt` *(AC-001)*", tasks);
    std::fs::write(project.workdir.join("plan.md"), plan).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).stdout, "PLAN_BUILT: VALID\n");

    let review = || subagent("code:task-reviewer", "T-1.2 in '{{workdir}}'");
    let lead = orchestrator("EXECUTE")
        .runs(&start_task("T-1.1"))
        .turn([subagent("code:implementation-subagent", "first.txt in '{{cwd}}'")])
        .turn([subagent("code:task-reviewer", "Review T-1.1")])
        .runs(&report_command("T-1.1"))
        .runs(&start_task("T-1.2"))
        .turn([subagent("code:implementation-subagent", "second.txt in '{{cwd}}'")])
        .turn([review()])
        .turn([subagent("code:repair-subagent", "first.txt does not belong to T-1.2, in '{{cwd}}'")])
        .turn([review()])
        .runs(&report_command("T-1.2"))
        .runs(COMPLETED)
        .says("Done.\n\n<promise>COMPLETE</promise>");
    let done = "IMPLEMENTATION_VERIFIED\n<promise>IMPLEMENTATION_VERIFIED</promise>";
    let first = implementer("first", "first.txt in '(?P<root>[^']+)'")
        .runs("echo first > '{{root}}/first.txt'")
        .says(done);
    // The second task also changes the file of the first one, which its reviewer must see.
    let second = implementer("second", "second.txt in '(?P<root>[^']+)'")
        .runs("echo second > '{{root}}/second.txt'; echo changed >> '{{root}}/first.txt'")
        .says(done);
    let repair = Conversation::when("repair", "first.txt does not belong to T-1.2, in '(?P<root>[^']+)'")
        .runs("sed -i /changed/d '{{root}}/first.txt'")
        .says("REPAIRED");
    let list_changes =
        |reviewer: Conversation| reviewer.runs("loopgate plan changed --since-task T-1.2 '{{workdir}}'");
    let reviewer = || {
        Conversation::when("reviewer", "you do not know\\s+what they claim")
            .and("T-1.2 in '(?P<workdir>[^']+)'")
    };
    let script = Script::new([
        repair,
        list_changes(reviewer().after_result("M\tfirst.txt")).says("NOT_IMPLEMENTED\nfiles:\n- first.txt"),
        list_changes(reviewer()).says("VERIFIED"),
        accepting_reviewer(),
        second,
        first,
        lead,
    ]);
    let model = ModelServer::start(script).await.unwrap();
    let ended = run_with_args(&project, &model, "EXECUTE", &[]).await;
    assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned()]), "{}", ended.stderr);
    let change_lists: Vec<String> = model
        .requests_of("reviewer")
        .iter()
        .map(|request| request.tool_results().trim().to_owned())
        .filter(|results| !results.is_empty())
        .collect();
    assert_eq!(change_lists, ["M\tfirst.txt\nA\tsecond.txt", "A\tsecond.txt"]);
    assert_eq!(std::fs::read_to_string(project.root.join("first.txt")).unwrap(), "first\n");
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!(plan["completedTasks"].as_array().map(Vec::len), Some(2));
}
