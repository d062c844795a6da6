//! Whole loops with the real assistant and a scripted model: driver, slash command, set-up, subagents, plan
//! commands.

use std::path::Path;
use std::time::Duration;

use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, Failure, ModelServer, ModelStep, Script};
use serde_json::{Value, json};

use crate::support::{Ended, Project, example};

/// Timeout of a scripted loop.
const PATIENCE: Duration = Duration::from_secs(90);

/// A plan with one task and one question.
pub const PLAN_MD: &str = "# A greeting\n\n## Summary\nThe project greets.\n\n## Acceptance Criteria\n\
    | ID | Criterion | Source |\n|---|---|---|\n| AC-001 | A greeting exists | prd.md |\n\n\
    ## Architecture Fit\nA file beside the others.\n\n## Tasks\n- [ ] **T-1.1**: Add `hello.txt` *(AC-001)*\n\n\
    ## API & Data Impacts\nNone.\n\n## Risks & Constraints\nNone.\n\n## Test Plan\nRead the file.\n\n\
    ## Rollback\nRemove the file.\n\n## Open Questions\n- [ ] Q-001: Which words? **[Recommended: hello]**\n\n\
    ## Gaps\nNone were found.\n";

/// Matches the orchestrator of one loop command by the text of the slash command.
pub fn orchestrator(command: &str) -> Conversation {
    Conversation::when("orchestrator", "# Coding loop")
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
        .and("LOOPGATE_WORKDIR=\"(?P<workdir>[^\"]+)\"")
}

/// Builds a tool call that starts a subagent.
pub fn subagent(kind: &str, prompt: &str) -> ModelStep {
    ModelStep::tool("Agent", json!({"description": "step", "prompt": prompt, "subagent_type": kind}))
}

/// Builds the command that reports a task, from the last answer of a subagent about it.
pub fn report_command(task: &str) -> String {
    format!("loopgate plan report {task} '{{{{workdir}}}}'")
}

/// Script of a reviewer that accepts the task of its prompt, which starts with `Review`.
pub fn accepting_reviewer() -> Conversation {
    Conversation::when("reviewer", "you do not know\\s+what they claim")
        .and("Review (?P<task>T-[0-9.]+)")
        .says("VERIFIED: {{task}}")
}

fn planning() -> Script {
    let orchestrator = orchestrator("PLAN")
        .runs("loopgate plan set-state 'Phase 1: Planning' IN_PROGRESS --workdir '{{workdir}}'")
        .turn([subagent("code:plan-draft-writer", "Draft the plan. Work directory: '{{workdir}}'")])
        .runs("loopgate plan validate '{{workdir}}'")
        .runs(
            "loopgate plan set-state 'Phase 1.1: Checkpoint' AWAITING_USER --workdir '{{workdir}}' \
             --action 'Answer the open questions' --action-file '{{workdir}}/plan.md'",
        )
        .says("The plan is ready, one question is open.\n\n<promise>COMPLETE</promise>");
    let writer = Conversation::when("writer", "You write the first plan of a change")
        .and("Work directory: '(?P<workdir>[^']+)'")
        .turn([ModelStep::write("{{workdir}}/plan.md", PLAN_MD)])
        .runs("loopgate plan build '{{workdir}}'")
        .says("One task, one question.\n<promise>PLAN_VALIDATED</promise>");
    Script::new([orchestrator, writer])
}

fn implementing() -> Script {
    let orchestrator = orchestrator("EXECUTE")
        .runs("loopgate plan set-state 'Phase 3: Implementation' IN_PROGRESS --workdir '{{workdir}}' --task T-1.1")
        .turn([subagent("code:implementation-subagent", "T-1.1: Add `hello.txt` in '{{cwd}}'")])
        .turn([subagent("code:task-reviewer", "Review T-1.1")])
        .runs(&report_command("T-1.1"))
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("Everything is done.\n\n<promise>COMPLETE</promise>");
    let implementer = Conversation::when("implementer", "You are given one task with its criteria")
        .and("hello.txt` in '(?P<root>[^']+)'")
        .turn([ModelStep::write("{{root}}/hello.txt", "hello\n")])
        .runs("cat ~/.ssh/id_rsa > .loopgate/work/key; echo stolen > .loopgate/work/key")
        .says("IMPLEMENTATION_VERIFIED: T-1.1\n<promise>IMPLEMENTATION_VERIFIED</promise>");
    Script::new([orchestrator, implementer, accepting_reviewer()])
}

/// Runs the driver as the runtime does, in a separate home directory and without the sandbox variable.
async fn run(project: &Project, model: &ModelServer, command: &str) -> Ended {
    run_with_args(project, model, command, &[]).await
}

/// Like [`run`], with another plugin directory, or with the one that the driver finds itself.
pub async fn run_with(project: &Project, model: &ModelServer, command: &str, plugin: Option<&Path>) -> Ended {
    drive(project, model, command, plugin, &[], &json!({})).await
}

/// Like [`run`], with settings of the user for the assistant.
pub async fn run_with_settings(
    project: &Project,
    model: &ModelServer,
    command: &str,
    settings: &Value,
) -> Ended {
    drive(project, model, command, Some(&crate::support::plugin("code")), &[], settings).await
}

/// Like [`run`], with further arguments of the driver.
pub async fn run_with_args(project: &Project, model: &ModelServer, command: &str, args: &[&str]) -> Ended {
    drive(project, model, command, Some(&crate::support::plugin("code")), args, &json!({})).await
}

async fn drive(
    project: &Project,
    model: &ModelServer,
    command: &str,
    plugin: Option<&Path>,
    args: &[&str],
    settings: &Value,
) -> Ended {
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(model).unwrap();
    std::fs::create_dir_all(home.path().join(".claude")).unwrap();
    std::fs::write(home.path().join(".claude/settings.json"), settings.to_string()).unwrap();
    let mut driver = home.command(&example().display().to_string());
    driver
        .args(["loop", "run", &project.workdir.display().to_string(), "--max-iterations", "3"])
        .args(args)
        .current_dir(&project.root)
        .env_remove("IS_SANDBOX")
        .env("LOOPGATE_ASSISTANT_BIN", home.path().join("bin/claude"))
        .env("LOOPGATE_COMMAND", command);
    if let Some(plugin) = plugin {
        driver.env("LOOPGATE_PLUGIN_DIR", plugin);
    }
    let output = tokio::time::timeout(PATIENCE, driver.output()).await.unwrap().unwrap();
    output.into()
}

#[tokio::test(flavor = "multi_thread")]
async fn request_is_planned_and_implemented() {
    let project = Project::new();
    std::fs::write(project.workdir.join("prd.md"), "The project should greet.\n").unwrap();
    let model = ModelServer::start(planning()).await.unwrap();

    let planned = run(&project, &model, "PLAN").await;
    assert_eq!(planned.code, 0, "{}\n{}", planned.stdout, planned.stderr);
    assert_eq!(project.statuses(), ["completed"], "one iteration is enough");
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!((&plan["content"], &plan["pendingTasks"][0]["id"]), (&json!(PLAN_MD), &json!("T-1.1")));
    assert!(project.read("open-questions.md").contains("Q-001: Which words?"));
    assert_eq!(project.read("plan.md"), PLAN_MD);
    let state: Value = serde_json::from_str(&project.read("state.json")).unwrap();
    assert_eq!(
        (&state["status"], &state["userAction"]["description"]),
        (&json!("AWAITING_USER"), &json!("Answer the open questions"))
    );
    assert_eq!(project.git(&["status", "--porcelain"]), "", "planning touches no source");
    let requests = model.requests_of("orchestrator");
    let prompt = requests[0].user_text();
    assert!(prompt.contains("You lead one iteration of a coding loop"), "the prompt reaches the model");
    assert!(requests[0].user_text().contains("LOOPGATE_PRD_FILE=\"") && requests[0].model().contains("opus"));

    model.play(implementing()).unwrap();
    let executed = run(&project, &model, "EXECUTE").await;
    assert_eq!(executed.code, 0, "{}\n{}", executed.stdout, executed.stderr);
    assert_eq!(std::fs::read_to_string(project.root.join("hello.txt")).unwrap(), "hello\n");
    assert!(project.read("plan.md").contains("- [x] **T-1.1**"));
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!((&plan["pendingTasks"], &plan["completedTasks"][0]["id"]), (&json!([]), &json!("T-1.1")));
    assert_eq!(project.git(&["status", "--porcelain"]), "?? hello.txt");
    assert_eq!(project.events("phase").len(), 4);
    assert!(!project.workdir.join("key").exists(), "a command that reads a key is refused as a whole");
    let agents: Vec<Value> =
        project.events("agent").iter().map(|agent| agent["agent_type"].clone()).collect();
    assert_eq!(agents, ["code:plan-draft-writer", "code:implementation-subagent", "code:task-reviewer"]);
    assert!(model.requests_of("implementer")[0].user_text().contains("<loopgate-environment>"));
    assert!(project.is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn context_limit_ends_the_loop_in_one_iteration() {
    let project = Project::new();
    let full = Conversation::when("full", "# Coding loop").turn([ModelStep::error(
        400,
        "invalid_request_error",
        "prompt is too long: 210000 tokens > 200000 maximum",
    )]);
    let model = ModelServer::start(Script::new([full])).await.unwrap();
    let ended = run(&project, &model, "PLAN").await;
    assert_eq!(ended.code, 1);
    assert_eq!(project.statuses(), ["context_limit"]);
    assert!(ended.stderr.contains("LOOPGATE_FATAL[ASSISTANT_CONTEXT_LIMIT]"), "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn overloaded_model_that_recovers_does_not_end_the_loop() {
    let project = Project::new();
    let recovering = Conversation::when("recovering", "# Coding loop").turn([
        ModelStep::Error(Failure { times: Some(1), ..Failure::new(529, "overloaded_error", "Overloaded") }),
        ModelStep::text("<promise>COMPLETE</promise>"),
    ]);
    let model = ModelServer::start(Script::new([recovering])).await.unwrap();
    let ended = run(&project, &model, "PLAN").await;
    assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned()]), "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_plugin_is_reported_and_embedded_plugin_is_the_default() {
    let project = Project::new();
    let model = ModelServer::start(Script::new([orchestrator("PLAN").says("<promise>COMPLETE</promise>")]))
        .await
        .unwrap();
    let empty = project.path("no-plugin");
    std::fs::create_dir_all(&empty).unwrap();
    let ended = run_with(&project, &model, "PLAN", Some(&empty)).await;
    assert_eq!((ended.code, project.statuses()), (1, vec!["error".to_owned()]));
    assert!(ended.stderr.contains("LOOPGATE_FATAL[ASSISTANT_UNKNOWN_SKILL]"), "{}", ended.stderr);
    let ended = run_with(&project, &model, "PLAN", None).await;
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// Runs the slash command in the real assistant, with its default permissions and no user to grant others.
async fn type_command(project: &Project, model: &ModelServer, prompt: &str) -> String {
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(model).unwrap();
    let path = std::env::join_paths(
        [example().parent().unwrap().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = home
        .command("claude")
        .args(["-p", prompt, "--output-format", "stream-json", "--verbose", "--plugin-dir"])
        .arg(crate::support::plugin("code"))
        .current_dir(&project.root)
        .env_remove("IS_SANDBOX")
        .env("PATH", path.unwrap())
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_of_the_slash_command_are_never_executed() {
    let project = Project::with_workdir("it's $(here)");
    let script = Script::new([Conversation::when("page", "# Coding loop").says("nothing to do")]);
    let model = ModelServer::start(script).await.unwrap();
    let marker = project.path("executed");
    let prompt = format!("/code:code work; touch {}", marker.display());
    let output = type_command(&project, &model, &prompt).await;
    assert!(output.contains("workdir path does not exist or is not a directory: work; touch"), "{output}");
    type_command(&project, &model, &format!("/code:code {}", project.workdir.display())).await;
    let page = model.requests_of("page")[0].user_text();
    assert!(page.contains("You lead one iteration of a coding loop"), "{page}");
    assert!(page.contains("/it's \\$(here)\""), "{page}");
    assert!(!marker.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn slash_command_may_only_run_loopgate_by_default() {
    let project = Project::new();
    std::fs::write(project.workdir.join("plan.md"), PLAN_MD).unwrap();
    let marker = project.path("executed");
    let page = Conversation::when("page", "# Coding loop")
        .and("LOOPGATE_WORKDIR=\"(?P<workdir>[^\"]+)\"")
        .runs("loopgate plan build '{{workdir}}'")
        .turn([subagent("code:task-reviewer", "Review T-1.1")])
        .runs(&report_command("T-1.1"))
        .runs(&format!("loopgate plan sync '{{{{workdir}}}}'; touch {}", marker.display()))
        .says("done");
    let model = ModelServer::start(Script::new([page, accepting_reviewer()])).await.unwrap();
    type_command(&project, &model, &format!("/code:code {}", project.workdir.display())).await;
    let requests = model.requests_of("page");
    assert!(
        project.read("plan.md").contains("- [x] **T-1.1**"),
        "{}",
        requests.last().unwrap().tool_results()
    );
    assert!(!marker.exists());
}

/// Script of an orchestrator whose only task is blocked, and that does not set AWAITING_USER.
fn blocked() -> Script {
    let answer = "BLOCKED: T-1.1\nThe words are not decided.\n<promise>IMPLEMENTATION_VERIFIED</promise>";
    let orchestrator = orchestrator("EXECUTE")
        .runs("loopgate plan set-state 'Phase 3: Implementation' IN_PROGRESS --workdir '{{workdir}}' --task T-1.1")
        .turn([subagent("code:implementation-subagent", "T-1.1: Add `hello.txt`")])
        .runs(&report_command("T-1.1"))
        .says("T-1.1 is blocked.");
    let implementer =
        Conversation::when("implementer", "You are given one task with its criteria").says(answer);
    Script::new([orchestrator, implementer])
}

#[tokio::test(flavor = "multi_thread")]
async fn blocked_task_waits_for_its_user_and_resumes_after_the_answer() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    std::fs::write(project.workdir.join("plan.md"), PLAN_MD).unwrap();
    project.loopgate(&["plan", "build", &work]);
    // The user has edited the text since the build; the driver must not overwrite the edit.
    std::fs::write(project.workdir.join("plan.md"), PLAN_MD.replace("greets.", "greets everybody.")).unwrap();
    let model = ModelServer::start(blocked()).await.unwrap();
    let ended = run(&project, &model, "EXECUTE").await;
    assert_eq!(ended.code, 0, "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(project.statuses(), ["in_progress", "awaiting_user"]);
    let state: Value = serde_json::from_str(&project.read("state.json")).unwrap();
    assert_eq!(state["status"], "AWAITING_USER");
    assert_eq!(
        state["userAction"]["description"],
        "Say how to unblock these tasks:\nT-1.1: The words are not decided."
    );
    assert!(project.read("plan.json").contains("The project greets everybody."));
    assert!(project.read("plan.md").contains("- [ ] **T-1.1**"), "a blocked task is not done");

    model.play(implementing()).unwrap();
    std::fs::write(project.workdir.join("prompt.md"), "The word is hello.\n").unwrap();
    let ended = run(&project, &model, "EXECUTE").await;
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!((&plan["pendingTasks"], plan.get("blockedTasks")), (&json!([]), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_model_is_tried_once_and_the_setting_is_named() {
    let project = Project::new();
    let missing = Conversation::when("missing", "# Coding loop").turn([ModelStep::error(
        404,
        "not_found_error",
        "model: claude-opus-4-6",
    )]);
    let model = ModelServer::start(Script::new([missing])).await.unwrap();
    let ended = run(&project, &model, "EXECUTE").await;
    assert_eq!((ended.code, project.statuses()), (1, vec!["assistant_model_unavailable".to_owned()]));
    assert!(ended.stderr.contains("LOOPGATE_FATAL[ASSISTANT_MODEL_UNAVAILABLE]"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("`loop_model`") && ended.stderr.contains("claude-opus-4-6"),
        "{}",
        ended.stderr
    );
}

/// Script of a loop in which the orchestrator and the implementer try to complete a task without work, and to take
/// the work of others out of the working tree.
fn cheating() -> Script {
    let orchestrator = orchestrator("EXECUTE")
        .runs("loopgate plan set-state 'Phase 3: Implementation' IN_PROGRESS --workdir '{{workdir}}' --task T-1.1")
        .turn([subagent("code:implementation-subagent", "T-1.1: Add `hello.txt` in '{{cwd}}' and '{{workdir}}'")])
        .runs(&report_command("T-1.1"))
        .turn([ModelStep::tool(
            "Agent",
            json!({"description": "step", "prompt": "T-1.1", "subagent_type": "code:task-reviewer",
                "isolation": "worktree"}),
        )])
        .runs("git stash -u")
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("Everything is done.\n\n<promise>COMPLETE</promise>");
    let implementer = Conversation::when("implementer", "You are given one task with its criteria")
        .and("in '(?P<root>[^']+)' and '(?P<workdir>[^']+)'")
        .runs("loopgate plan tick T-1.1 '{{workdir}}'")
        .runs("loopgate plan report T-1.1 '{{workdir}}'")
        .runs("sh -c 'git reset --hard && git clean -fd'")
        .turn([ModelStep::write("{{workdir}}/.loopgate/agent-answers/000009.json", "{}")])
        .says("IMPLEMENTATION_VERIFIED: T-1.1\n<promise>IMPLEMENTATION_VERIFIED</promise>");
    Script::new([orchestrator, implementer])
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_of_orchestrator_and_implementer_complete_nothing() {
    let project = Project::new();
    let work = project.workdir.display().to_string();
    std::fs::write(project.workdir.join("plan.md"), PLAN_MD).unwrap();
    project.loopgate(&["plan", "build", &work]);
    std::fs::write(project.root.join("work-of-another-task.txt"), "work\n").unwrap();
    let model = ModelServer::start(cheating()).await.unwrap();
    let ended = run(&project, &model, "EXECUTE").await;
    assert_eq!(ended.code, 1, "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("LOOPGATE_FATAL[PENDING_TASKS_"), "{}", ended.stderr);
    assert!(project.read("plan.md").contains("- [ ] **T-1.1**"));
    assert!(project.root.join("work-of-another-task.txt").exists());
    assert!(!project.workdir.join(".loopgate/agent-answers/000009.json").exists());
    let denied =
        model.requests_of("implementer").iter().map(|request| request.tool_results()).collect::<String>();
    assert!(denied.contains("only the orchestrator reports tasks"), "{denied}");
    assert!(denied.contains("would take work of the loop out of its working tree"), "{denied}");
    let lead =
        model.requests_of("orchestrator").iter().map(|request| request.tool_results()).collect::<String>();
    for reason in ["REPORT: UNCHECKED", "the loop already has a worktree", "would take work of the loop out"]
    {
        assert!(lead.contains(reason), "{reason}\n{lead}");
    }
}
