//! Every phase of a loop over two repositories with the real assistant: from the requirements to a reviewed
//! plan, and from there to a tested and reviewed change of both repositories.
//!
//! The model's answers are scripted. The prompts that agents receive, the output of their tools and the
//! resulting files are real.

use std::path::{Path, PathBuf};

use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, Script};
use serde_json::{Value, json};

use crate::real_assistant::{orchestrator, report_command, run_with_args, subagent};
use crate::support::Project;

const PLAN: &str = "# Prices with tax\n\n## Summary\nThe shop shows prices with tax.\n\n## Repositories\n\
    | Repo | Path | Primary |\n|---|---|---|\n| shop | . | yes |\n| tax | ../tax | no |\n\n\
    ## Acceptance Criteria\n| ID | Criterion | Source |\n|---|---|---|\n\
    | AC-001 | The rate is there | prd.md |\n| AC-002 | The price has it | prd.md |\n\n\
    ## Architecture Fit\nThe backend has the rate, the frontend shows it.\n\n## Tasks\n\
    - [ ] **T-1.1**: Add `@{tax}:rate.txt` *(AC-001)*\n- [ ] **T-1.2**: Add `price.txt` *(AC-002)*\n\n\
    ## API & Data Impacts\nOne file.\n\n## Risks & Constraints\nNone.\n\n## Test Plan\nRead both files.\n\n\
    ## Rollback\nRemove them.\n\n## Open Questions\nNone are left.\n\n## Gaps\nNone were found.\n";
const PHASES: [&str; 18] = [
    "Phase 0.9: Pre-exploration",
    "Phase 1: Planning",
    "Phase 1.3: Size",
    "Phase 1.4: Other repositories",
    "Phase 2.5: Critics",
    "Phase 2.6: Refinement",
    "Phase 2.7: Finalization",
    "Phase 1.1: Checkpoint",
    "Phase 1: Planning",
    "Phase 2.9: Baseline",
    "Phase 3: Implementation",
    "Phase 3: Implementation",
    "Phase 4: Simplification",
    "Phase 5: Tests and validation",
    "Phase 5.9: Review of the change",
    "Phase 6: Visual check",
    "Phase 7: Completion",
    "Phase 7: Completion",
];
/// Suffix of every request to an agent, from which its script takes the paths.
const PLACE: &str = "workdir '(?P<workdir>[^']+)' peer '(?P<peer>[^']+)' root '(?P<root>[^']+)'";

/// Creates a second repository with an identity file, and a critic in the first one.
fn second_repository(project: &Project) -> PathBuf {
    let peer = project.path("tax");
    let write = |path: PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(peer.join("README.md"), "# Tax\n");
    write(peer.join(".gitignore"), ".loopgate/\n");
    write(
        peer.join(".loopgate/.repo-identity.json"),
        r#"{"name": "tax", "type": "backend", "owns": "rates"}"#,
    );
    let git = |args: &[&str]| project.git(&[&["-C", peer.to_str().unwrap()], args].concat());
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "first"]);
    write(
        project.root.join(".loopgate/settings/critic-gates.json"),
        r#"{"defaults": {"baseCritics": ["tax-critic"], "reviewBudget": 1}}"#,
    );
    write(
        project.root.join(".claude/agents/tax-critic.md"),
        "---\nname: tax-critic\ndescription: Judges plans about tax\ntools: Read, Write\n---\nYou know tax law.\n",
    );
    peer
}

/// Command that validates the change.
const TEST: &str = "loopgate plan test '{{workdir}}'";

fn start_phase(phase: &str) -> String {
    format!("loopgate plan set-state '{phase}' IN_PROGRESS --workdir '{{{{workdir}}}}'")
}

fn end_phase(phase: &str, status: &str) -> String {
    format!("loopgate plan set-state '{phase}' {status} --workdir '{{{{workdir}}}}' --action 'Read the plan'")
}

fn request(agent: &str, what: &str) -> ModelStep {
    subagent(agent, &format!("{what}: workdir '{{{{workdir}}}}' peer '{{{{peer}}}}' root '{{{{cwd}}}}'"))
}

/// Matches an agent by a part of its system prompt and a part of its request.
fn agent(name: &str, system_prompt: &str, request_text: &str) -> Conversation {
    Conversation::when(name, system_prompt).and(&format!("{request_text}: {PLACE}"))
}

fn lead_of(command: &str) -> Conversation {
    orchestrator(command).and("LOOPGATE_ADD_DIRS=\"(?P<peer>[^\"]+)\"")
}

fn planning() -> Script {
    let lead = lead_of("PLAN")
        .runs(&start_phase(PHASES[0]))
        .turn([request("code:pre-explorer", "Explore")])
        .runs(&start_phase(PHASES[1]))
        .turn([request("code:plan-draft-writer", "Draft")])
        .turn([request("code:plan-validator", "Validate")])
        .runs(&format!("{}; loopgate plan evaluate '{{{{workdir}}}}'", start_phase(PHASES[2])))
        .runs(&format!(
            "{}; loopgate cache check cross-repo '{{{{workdir}}}}'; loopgate repos discover",
            start_phase(PHASES[3])
        ))
        .turn([request("code:cross-repo-coordinator", "Needs")])
        .turn([request("code:generic-discovery", "Discover")])
        .turn([request("code:cross-repo-prd-writer", "Requirements")])
        .runs("loopgate cache stamp cross-repo '{{workdir}}'; loopgate cache check cross-repo '{{workdir}}'")
        .runs(&format!("{}; loopgate cache check critic '{{{{workdir}}}}'", start_phase(PHASES[4])))
        .turn([request("tax-critic", "Judge")])
        .runs("loopgate cache stamp critic '{{workdir}}'; loopgate cache check critic '{{workdir}}'")
        .runs(&start_phase(PHASES[5]))
        .turn([request("code:plan-writer", "MERGE")])
        .runs(&start_phase(PHASES[6]))
        .turn([request("code:plan-writer", "FINALIZE")])
        .runs("loopgate plan validate '{{workdir}}'")
        .runs(&end_phase(PHASES[7], "AWAITING_USER"))
        .says("The plan is ready.\n\n<promise>COMPLETE</promise>");
    let edits = |agent: Conversation, edit: &str| {
        agent.runs(&format!("{edit} '{{{{workdir}}}}/plan.md' && loopgate plan build '{{{{workdir}}}}'"))
    };
    Script::new([
        lead,
        agent("explorer", "You explore a project before a plan is written", "Explore")
            .turn([
                ModelStep::write("{{workdir}}/requirements-extract.json", "{\"acceptanceCriteria\": []}"),
                ModelStep::write("{{workdir}}/code-map.json", "{\"files\": [{\"path\": \"README.md\"}]}"),
                ModelStep::write(
                    "{{workdir}}/code-map-tax.json",
                    "{\"files\": [{\"path\": \"{{peer}}/README.md\"}]}",
                ),
                ModelStep::write(
                    "{{workdir}}/investigation-log.md",
                    "## Cross-Repo Context: tax ({{peer}})\n",
                ),
            ])
            .says("PRE_EXPLORATION_COMPLETE"),
        agent("drafter", "You write the first plan of a change", "Draft")
            .turn([ModelStep::tool("Read", json!({"file_path": "{{workdir}}/code-map-tax.json"}))])
            .turn([ModelStep::write("{{workdir}}/plan.md", PLAN)])
            .runs("loopgate plan build '{{workdir}}'")
            .says("Two tasks.\n<promise>PLAN_VALIDATED</promise>"),
        agent("validator", "you judge the meaning of `plan.md`", "Validate")
            .says("NO_ISSUES\n<promise>PLAN_VALIDATION_COMPLETE</promise>"),
        agent("coordinator", "A need is something that a task takes for granted", "Needs")
            .turn([ModelStep::write(
                "{{workdir}}/.cross-repo-needs.json",
                &json!({"generatedAt": "2026-01-01T00:00:00Z", "currentRepo": "shop", "needs": [{
                    "peerName": "tax", "peerType": "backend", "peerPath": "{{peer}}", "local": true,
                    "capabilities": [{"type": "file", "description": "a rate", "neededBy": ["T-1.2"]}]}]})
                .to_string(),
            )])
            .says("CAPABILITIES_IDENTIFIED\nCAPABILITIES_LIST:\n- tax: a rate"),
        agent("discoverer", "Search where a repository of that type would have it", "Discover")
            .runs("ls '{{peer}}'")
            .turn([ModelStep::write(
                "{{workdir}}/.discovery-cache/tax.json",
                "{\"peerName\": \"tax\", \"capabilities\": [{\"query\": \"a rate\", \"exists\": false}]}",
            )])
            .says("{\"exists\": false}"),
        agent("requirements", "A peer gets a document when it is not `local`", "Requirements")
            .says("NO_PRDS_NEEDED"),
        agent("critic", "You know tax law", "Judge")
            .turn([ModelStep::write(
                "{{workdir}}/reviews/tax-critic.review.json",
                "{\"agent\": \"tax-critic\", \"mode\": \"critic\", \"items\": [{\"anchor_id\": \"T-1.1\", \
                 \"severity\": \"major\", \"rationale\": \"which rate\"}]}",
            )])
            .says("One item."),
        edits(
            agent("merger", "You change a plan that exists", "MERGE").turn([ModelStep::tool(
                "Read",
                json!({"file_path": "{{workdir}}/reviews/tax-critic.review.json"}),
            )]),
            "sed -i 's/Add `@{tax}:rate.txt`/Add `@{tax}:rate.txt` with the full rate/'",
        )
        .says("T-1.1\n<promise>PLAN_WRITER_COMPLETE</promise>"),
        edits(
            agent("finalizer", "You change a plan that exists", "FINALIZE"),
            "sed -i 's/Add `price.txt`/Add `price.txt` beside `README.md`/'",
        )
        .says("T-1.2\n<promise>PLAN_WRITER_COMPLETE</promise>"),
    ])
}

fn executing() -> Script {
    let build = |lead: Conversation, task: &str| {
        lead.runs(&format!(
            "{} --task {task}; loopgate plan changed --since-task {task} '{{{{workdir}}}}'; {}",
            start_phase(PHASES[10]),
            brief(task)
        ))
        .turn([request("code:implementation-subagent", &format!("Implement {task}"))])
        .turn([request("code:task-reviewer", &format!("Review {task}"))])
        .runs(&report_command(task))
    };
    let execute = |lead: Conversation| {
        let lead = lead
            .runs(&format!("{}; loopgate plan validate '{{{{workdir}}}}'", start_phase(PHASES[8])))
            .runs(&format!("{}; loopgate plan baseline '{{{{workdir}}}}'", start_phase(PHASES[9])));
        build(build(lead, "T-1.1"), "T-1.2")
            .runs(&format!("{}; {}", start_phase(PHASES[12]), brief("change")))
            .turn([request("code:code-simplifier", "Simplify")])
            .runs(&start_phase(PHASES[13]))
            .turn([request("code:test-writer", "Write tests")])
            .runs(TEST)
            .turn([request("code:repair-subagent", "Repair")])
            .runs(TEST)
            .runs(&format!(
                "{}; loopgate plan round review --max 1 '{{{{workdir}}}}'; {}",
                start_phase(PHASES[14]),
                brief("change")
            ))
            .turn([request("code:code-reviewer", "Review all")])
            .runs(&brief("change"))
            .turn([request("code:finding-checker", "Check")])
            .runs(&brief("change"))
            .turn([request("code:repair-subagent", "Findings")])
            .runs(TEST)
            .runs(&start_phase(PHASES[15]))
            .turn([request("code:dev-environment", "Find targets")])
            .turn([request("code:visual-qa-subagent", "Look")])
            .runs("loopgate plan round visual --max 5 '{{workdir}}'")
            .turn([request("code:implementation-subagent", "Complete the requirements")])
            .turn([ModelStep::tool(
                "SendMessage",
                json!({"to": "{{agent}}", "summary": "answered", "message": "The heading is at /prices."}),
            )])
            .runs(&start_phase(PHASES[16]))
            .runs(&format!(
                "{}; loopgate plan validate '{{{{workdir}}}}'",
                end_phase(PHASES[17], "COMPLETED")
            ))
            .says("Done.\n\n<promise>COMPLETE</promise>")
    };
    let implementer = |name: &str, request_text: &str| {
        agent(name, "You are given one task with its criteria", request_text)
    };
    let reviewer =
        |name: &str, request_text: &str| agent(name, "you do not know what they claim", request_text);
    let repair = |name: &str, request_text: &str| {
        agent(name, "You are given failures of the project's checks", request_text)
    };
    let review = |conversation: Conversation, task: &str| {
        conversation
            .runs(&format!(
                "cat '{{{{workdir}}}}/briefs/{task}.md'; loopgate plan prove {task} '{{{{workdir}}}}'"
            ))
            .runs(&format!(
                "loopgate plan changed --since-task {task} --patch '{{{{workdir}}}}'; \
                 cat '{{{{workdir}}}}/changes/{task}.patch'"
            ))
            .says("VERIFIED")
    };
    let read_change = "cat '{{workdir}}/briefs/change.md'";
    let done = "IMPLEMENTATION_VERIFIED\n<promise>IMPLEMENTATION_VERIFIED</promise>";
    Script::new([
        // The id of the visual agent is in the same result as its answer, so one pattern extracts it.
        execute(lead_of("EXECUTE").after_result("(?s)Where is the heading\\?.*?agentId: (?P<agent>[\\w-]+)")),
        execute(lead_of("EXECUTE")),
        implementer("implementer-1", "Implement T-1.1").runs("echo 19 > '{{peer}}/rate.txt'").says(done),
        implementer("implementer-2", "Implement T-1.2").runs("echo 119 > '{{root}}/price.txt'").says(done),
        review(reviewer("reviewer-1", "Review T-1.1"), "T-1.1"),
        review(reviewer("reviewer-2", "Review T-1.2"), "T-1.2"),
        agent("simplifier", "Look for what the change made more complicated", "Simplify")
            .runs(read_change)
            .says("Nothing to simplify."),
        agent("tester", "write the smallest test that fails without the change", "Write tests")
            .runs("echo 'test \"$(cat price.txt)\" = 120' >> '{{root}}/check.sh'")
            .says("AC-002: check.sh, fails"),
        repair("repair", "Repair").runs("echo 120 > '{{root}}/price.txt'").says("REPAIRED"),
        agent("change-reviewer", "Report what is wrong, not what you would have done", "Review all")
            .runs(read_change)
            .says("{\"findings\": [{\"issue\": \"the unit is missing\"}]}\n<promise>CODE_REVIEW_PASSED</promise>"),
        agent("checker", "Try to disprove each finding", "Check")
            .runs(read_change)
            .says("CONFIRMED: 1\nprice.txt:1: confirmed, the unit is ambiguous"),
        repair("finding-repair", "Findings")
            .runs(&format!("{read_change}; echo EUR > '{{{{root}}}}/unit.txt'"))
            .says("REPAIRED"),
        agent("environment", "Find out how a developer starts this project", "Find targets")
            .runs("printf '%s' '{\"environments\": []}' > '{{workdir}}/.dev-environment.json'")
            .says("DEV_ENVIRONMENT_DETECTED"),
        agent("continued", "You know only `visual-requirements.md`", "Look")
            .and("The heading is at /prices")
            .turn([ModelStep::write("{{workdir}}/visual-qa-memory.md", "The heading is at /prices.\n")])
            .says("SUCCESS"),
        agent("visual", "You know only `visual-requirements.md`", "Look")
            .turn([ModelStep::tool("Read", json!({"file_path": "{{workdir}}/visual-requirements.md"}))])
            .says("INCOMPLETE_DOCS\nWhere is the heading?"),
        implementer("documents", "Complete the requirements")
            .runs("echo 'A heading at /prices' > '{{workdir}}/visual-requirements.md'")
            .says(done),
    ])
}

fn brief(subject: &str) -> String {
    format!("loopgate plan brief {subject} '{{{{workdir}}}}'")
}

fn results_of(model: &ModelServer, conversation: &str) -> String {
    let requests = model.requests_of(conversation);
    assert!(!requests.is_empty(), "{conversation} received no request");
    requests.last().unwrap().tool_results()
}

fn phases(project: &Project) -> Vec<String> {
    let text = |event: Value| event["phase"].as_str().unwrap_or_default().to_owned();
    project.events("phase").into_iter().map(text).collect()
}

fn exists(dir: &Path, name: &str) -> bool {
    dir.join(name).exists()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_phase_runs_over_two_repositories() {
    let project = Project::new();
    let peer = second_repository(&project);
    std::fs::write(project.root.join("package.json"), r#"{"scripts": {"test": "sh check.sh"}}"#).unwrap();
    std::fs::write(project.root.join("check.sh"), "echo old\n").unwrap();
    std::fs::write(project.workdir.join("prd.md"), "The shop's frontend shows prices with tax.\n").unwrap();
    let add_dir = ["--add-dir", peer.to_str().unwrap()];

    let model = ModelServer::start(planning()).await.unwrap();
    let planned = run_with_args(&project, &model, "PLAN", &add_dir).await;
    assert_eq!(
        (planned.code, project.statuses()),
        (0, vec!["awaiting_user".to_owned()]),
        "{}",
        planned.stderr
    );
    let lead = results_of(&model, "orchestrator");
    for part in [
        "simple_mode: false",
        "selected_critics: [\"tax-critic\"]",
        "CROSS_REPO_CACHE_MISS",
        "\"discoveryMethod\":\"add_dir\"",
        "CROSS_REPO_CACHE_HIT",
        "CRITIC_CACHE_MISS",
        "CRITIC_CACHE_HIT",
        "\"status\":\"VALID\"",
    ] {
        assert!(lead.contains(part), "{part}\n{lead}");
    }
    assert!(
        results_of(&model, "drafter").contains("tax/README.md"),
        "the map of the other repository is read"
    );
    assert!(results_of(&model, "merger").contains("which rate"), "the review is merged");
    for agent in ["explorer", "validator", "coordinator", "discoverer", "requirements", "critic", "finalizer"]
    {
        let request = &model.requests_of(agent)[0];
        assert!(request.user_text().contains("<loopgate-environment>"), "{agent}");
        assert!(request.user_text().contains(peer.to_str().unwrap()), "{agent}");
    }
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    let tasks: Vec<&Value> =
        plan["pendingTasks"].as_array().unwrap().iter().map(|task| &task["description"]).collect();
    assert_eq!(
        tasks,
        ["Add `@{tax}:rate.txt` with the full rate", "Add `price.txt` beside `README.md`"],
        "{plan}"
    );
    assert_eq!(phases(&project), PHASES[..8]);
    assert!(!exists(&peer, "rate.txt") && !exists(&project.root, "price.txt"), "planning changes no source");

    std::fs::write(project.workdir.join("visual-requirements.md"), "A heading\n").unwrap();
    model.play(executing()).unwrap();
    let executed = run_with_args(&project, &model, "EXECUTE", &add_dir).await;
    let lead = results_of(&model, "orchestrator");
    assert_eq!(executed.code, 0, "{}\n{}\n{lead}", executed.stdout, executed.stderr);
    assert_eq!(project.statuses(), ["awaiting_user", "completed"], "{lead}");
    for part in [
        "BASELINE_RECORDED",
        "NO_CHANGES",
        "VALIDATION_FAILED",
        "ROUND 1 of 20",
        "VALIDATION_PASSED",
        "\"pending_tasks\":[]",
    ] {
        assert!(lead.contains(part), "{part}\n{lead}");
    }
    let first = results_of(&model, "reviewer-1");
    assert!(
        first.contains("# @{tax}")
            && first.contains("+19")
            && first.contains("PROOF: NO_TESTS")
            && !first.contains("price.txt"),
        "{first}"
    );
    let second = results_of(&model, "reviewer-2");
    assert!(second.contains("PROOF: UNPROVEN"), "{second}");
    assert!(second.contains("+119") && !second.contains("rate.txt"), "{second}");
    assert!(second.contains("# Task T-1.2") && second.contains("AC-002: The price has it"), "{second}");
    let simplified = results_of(&model, "simplifier");
    assert!(simplified.contains("A\t@{tax}:rate.txt") && simplified.contains("A\tprice.txt"), "{simplified}");
    assert!(results_of(&model, "checker").contains("the unit is missing"));
    let repaired = results_of(&model, "finding-repair");
    assert!(repaired.contains("confirmed, the unit is ambiguous"), "{repaired}");
    let visual = model.requests_of("continued");
    assert!(visual[0].user_text().contains("Look: workdir"), "the same session is resumed");
    assert_eq!(project.read("visual-qa-memory.md"), "The heading is at /prices.\n");
    assert_eq!(phases(&project), PHASES);
    assert_eq!(std::fs::read_to_string(peer.join("rate.txt")).unwrap(), "19\n");
    assert_eq!(std::fs::read_to_string(project.root.join("price.txt")).unwrap(), "120\n");
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!(
        (&plan["pendingTasks"], plan["completedTasks"].as_array().map(Vec::len)),
        (&json!([]), Some(2))
    );
    assert!(project.is_clean());
}
