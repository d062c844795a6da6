//! What a loop sends to the model: two tasks, with the prompt followed word for word by a scripted model.

use std::collections::BTreeMap;

use loopgate_testkit::model::{Conversation, ModelServer, Script};

use crate::real_assistant::{PLAN_MD, orchestrator, report_command, run_with_args, subagent};
use crate::support::Project;

/// Upper bound of the bytes that the two tasks send: half of what they sent when each step had an agent of its own.
const MAX_BYTES: usize = 2_700_000;
/// Upper bound of the agents: two for each task, one each to simplify, to write tests and to review the change.
const MAX_AGENTS: usize = 7;

const TASKS: [(&str, &str); 2] = [("T-1.1", "first.txt"), ("T-1.2", "second.txt")];

fn state(phase: &str, status: &str) -> String {
    format!("loopgate plan set-state '{phase}' {status} --workdir '{{{{workdir}}}}'")
}

fn lead() -> Conversation {
    let ask = |agent: &str, subject: &str| {
        subagent(
            agent,
            &format!(
                "Subject {subject}, brief '{{{{workdir}}}}/briefs/{subject}.md', work directory '{{{{workdir}}}}'"
            ),
        )
    };
    let brief = |subject: &str| format!("loopgate plan brief {subject} '{{{{workdir}}}}'");
    let mut lead = orchestrator("EXECUTE")
        .runs(&format!(
            "{}; loopgate plan validate '{{{{workdir}}}}'",
            state("Phase 1: Planning", "IN_PROGRESS")
        ))
        .runs(&format!(
            "{}; loopgate plan baseline '{{{{workdir}}}}'",
            state("Phase 2.9: Baseline", "IN_PROGRESS")
        ));
    for (task, _) in TASKS {
        lead = lead
            .runs(&format!(
                "{} --task {task}; loopgate plan changed --since-task {task} '{{{{workdir}}}}'; {}",
                state("Phase 3: Implementation", "IN_PROGRESS"),
                brief(task)
            ))
            .turn([ask("code:implementation-subagent", task)])
            .turn([ask("code:task-reviewer", task)])
            .runs(&report_command(task));
    }
    lead.runs(&format!("{}; {}", state("Phase 4: Simplification", "IN_PROGRESS"), brief("change")))
        .turn([ask("code:code-simplifier", "change")])
        .runs(&state("Phase 5: Tests and validation", "IN_PROGRESS"))
        .turn([ask("code:test-writer", "change")])
        .runs("loopgate plan test '{{workdir}}'")
        .runs(&format!(
            "{}; loopgate plan round review --max 1 '{{{{workdir}}}}'; {}",
            state("Phase 5.9: Review of the change", "IN_PROGRESS"),
            brief("change")
        ))
        .turn([ask("code:code-reviewer", "change")])
        .runs("echo done >> '{{workdir}}/log.md'; loopgate plan validate '{{workdir}}'")
        .runs(&state("Phase 7: Completion", "COMPLETED"))
        .says("Done.\n\n<promise>COMPLETE</promise>")
}

/// Script of an agent whose system prompt matches: it reads its brief with a command, and answers.
fn agent(name: &str, system_prompt: &str, command: &str, answer: &str) -> Conversation {
    Conversation::when(name, system_prompt)
        .and("Subject (?P<task>[^,]+), brief '(?P<brief>[^']+)', work directory '(?P<workdir>[^']+)'")
        .runs(&format!("cat '{{{{brief}}}}'; {command}"))
        .says(answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_cost_half_of_what_they_did() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    std::fs::write(project.root.join("package.json"), r#"{"scripts": {"test": "node --test"}}"#).unwrap();
    std::fs::write(project.root.join("old.test.js"), "require('node:test')('old', () => {});\n").unwrap();
    let lines = TASKS.map(|(task, file)| format!("- [ ] **{task}**: Add `{file}` *(AC-001)*")).join("\n");
    let plan = PLAN_MD
        .replace("- [ ] **T-1.1**: Add `hello.txt` *(AC-001)*", &lines)
        .replace("- [ ] Q-001: Which words? **[Recommended: hello]**", "None are left.");
    std::fs::write(project.workdir.join("plan.md"), plan).unwrap();
    assert_eq!(project.loopgate(&["plan", "build", &work]).stdout, "PLAN_BUILT: VALID\n");

    let implemented = "IMPLEMENTATION_VERIFIED: {{task}}\n<promise>IMPLEMENTATION_VERIFIED</promise>";
    let patch = "loopgate plan prove {{task}} '{{workdir}}'; loopgate plan changed --since-task {{task}} --patch '{{workdir}}'";
    let script = Script::new([
        lead(),
        agent(
            "implementer",
            "You are given one task with its criteria",
            "echo {{task}} > {{task}}.txt",
            implemented,
        ),
        agent("reviewer", "you do not know what they claim", patch, "VERIFIED: {{task}}"),
        agent("simplifier", "Look for what the change made more complicated", "true", "Nothing."),
        agent("tester", "write the smallest test that fails without the change", "true", "None."),
        agent(
            "change-reviewer",
            "Report what is wrong, not what you would have done",
            "true",
            "{\"findings\": []}\n<promise>CODE_REVIEW_PASSED</promise>",
        ),
    ]);
    let model = ModelServer::start(script).await.unwrap();
    let ended = run_with_args(&project, &model, "EXECUTE", &[]).await;
    assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned()]), "{}", ended.stderr);

    let mut sizes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for request in model.requests() {
        let name = request.conversation.clone().unwrap_or_else(|| "other".to_owned());
        let size = sizes.entry(name).or_default();
        *size = (size.0 + 1, size.1 + request.body().to_string().len());
    }
    let bytes: usize = sizes.values().map(|size| size.1).sum();
    let requests: usize = sizes.values().map(|size| size.0).sum();
    let agents = project.events("agent").len();
    assert!(
        bytes <= MAX_BYTES && agents <= MAX_AGENTS,
        "{requests} requests, {bytes} bytes, {agents} agents: {sizes:?}"
    );
}
