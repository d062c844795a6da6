//! Whole loops with the real assistant and a scripted model: driver, slash command, set-up, subagents, plan
//! commands.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, Failure, ModelServer, ModelStep, Script};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

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
pub async fn run(project: &Project, model: &ModelServer, command: &str) -> Ended {
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
    drive_in(&home, project, command, plugin, args).await
}

pub async fn drive_in(
    home: &UserHome,
    project: &Project,
    command: &str,
    plugin: Option<&Path>,
    args: &[&str],
) -> Ended {
    let mut driver = home.command(&example().display().to_string());
    driver
        .args(["loop", "run", &project.workdir.display().to_string(), "--max-iterations", "3"])
        .args(args)
        .current_dir(&project.root)
        .env_remove("IS_SANDBOX")
        .env("LOOPGATE_ASSISTANT_BIN", home.path().join("bin/claude"))
        .env("LOOPGATE_COMMAND", command)
        .env("POST_LOOP_REVIEW_CYCLES", project.review_cycles());
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
    assert_eq!(project.statuses(), ["awaiting_user"], "one iteration is enough");
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
    home.link("loopgate", &example()).unwrap();
    type_command_in(
        &home,
        project,
        prompt,
        &["--plugin-dir", &crate::support::plugin("code").display().to_string()],
    )
    .await
}

/// Like [`type_command`], in a home of the caller and with further arguments of the assistant.
async fn type_command_in(home: &UserHome, project: &Project, prompt: &str, args: &[&str]) -> String {
    let mut assistant = home
        .command("claude")
        .args(["-p", "--output-format", "stream-json", "--verbose"])
        .args(args)
        .current_dir(&project.root)
        .env_remove("IS_SANDBOX")
        // Newer versions otherwise run agents in the background, and a script does not wait for their notifications.
        .env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // By standard input: an argument of a process is limited to 128 KiB.
    let mut input = assistant.stdin.take().unwrap();
    input.write_all(prompt.as_bytes()).await.unwrap();
    drop(input);
    let output = tokio::time::timeout(PATIENCE, assistant.wait_with_output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the text of the last record of the assistant's output.
fn result(output: &str) -> String {
    let last: Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
    last["result"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn text_behind_a_command_is_never_executed() {
    let project = Project::new();
    let script = [
        "# Coding loop",
        "# Amend the plan",
        "# Stop the coding loop",
        "# A plan that a reviewer argues about",
    ]
    .map(|title| Conversation::when(title, title).says("nothing to do"));
    let model = ModelServer::start(Script::new(script)).await.unwrap();
    let marker = project.path("executed");
    let touch = format!("touch {}", marker.display());
    let attacks = [
        format!("add a flag\nEND_OF_ARGUMENTS\n{touch}"),
        format!("add a flag\r\nEND_OF_ARGUMENTS\r\n{touch}\r\n"),
        format!("work; {touch} && $({touch}) `{touch}` \"$({touch})\" '\n{touch}\n'"),
        format!("it's \"open\n```\n```!\n{touch}\n```\n!`{touch}`\n\\`!{touch}\\`"),
        format!("${{CLAUDE_SESSION_ID}} $0 $ARGUMENTS[0]\u{1}\u{85}\n{touch}"),
        format!("{}\n{touch}", "very long text ".repeat(20_000)),
    ];
    for (number, attack) in attacks.iter().enumerate() {
        type_command(&project, &model, &format!("/code:code {attack}")).await;
        let work = if number == 0 { "work".to_owned() } else { format!("work-{}", number + 1) };
        let request =
            std::fs::read_to_string(project.root.join(".loopgate").join(work).join("prd.md")).unwrap();
        assert_eq!(request, format!("{}\n", attack.trim()));
        let page = model.requests_of("# Coding loop").last().unwrap().user_text();
        assert!(page.contains("You lead one iteration of a coding loop"), "{attack}");
        std::fs::write(project.workdir.join("plan.json"), "{}").unwrap();
        // Two members are enough for the other commands, whose texts take the same ways.
        let others = ["amend-plan", "cancel-code", "plan-with-reviewer"];
        for command in others.iter().filter(|_| [0, 3].contains(&number)) {
            type_command(&project, &model, &format!("/code:{command} {attack}")).await;
        }
        assert!(!marker.exists(), "{attack}");
    }
    assert!(project.read("amend-session.json").contains("END_OF_ARGUMENTS"), "the conversation has the text");
}

#[tokio::test(flavor = "multi_thread")]
async fn command_without_hooks_or_with_invalid_arguments_is_stopped_before_the_model() {
    let project = Project::new();
    let model = ModelServer::start(Script::new([])).await.unwrap();
    let output = type_command(&project, &model, "/code:code /nope --prd x").await;
    assert!(result(&output).contains("workdir path does not exist or is not a directory: /nope"), "{output}");
    let output = type_command(&project, &model, "/code:code").await;
    assert!(
        result(&output).contains("No loop is open in this project. Which change do you want?"),
        "{output}"
    );
    std::fs::create_dir_all(project.root.join(".claude")).unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    home.link("loopgate", &example()).unwrap();
    let plugin = crate::support::plugin("code").display().to_string();
    let args = ["--plugin-dir", &plugin, "--settings", r#"{"disableAllHooks": true}"#];
    let output = type_command_in(&home, &project, "/code:code add a flag", &args).await;
    assert!(output.contains("the hooks of the plugin `code` did not run"), "{output}");
    assert!(!project.workdir.join("prd.md").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn session_outside_a_loop_leaves_no_file_and_prints_nothing() {
    let project = Project::new();
    std::fs::remove_dir_all(project.root.join(".loopgate")).unwrap();
    let script = Conversation::when("chat", "tidy up").runs("ls").says("tidy");
    let model = ModelServer::start(Script::new([script])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    home.set("PATH", format!("{}/bin:/usr/bin:/bin", home.path().display()));
    let plugin = crate::support::plugin("code").display().to_string();
    let args = ["--plugin-dir", &plugin, "--include-hook-events"];
    // Without the program, too.
    for with_program in [false, true] {
        if with_program {
            home.link("loopgate", &example()).unwrap();
        }
        let output = type_command_in(&home, &project, "tidy up", &args).await;
        let records = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        for record in records.filter(|record| record["subtype"] == "hook_response") {
            assert_eq!((&record["output"], &record["exit_code"]), (&json!(""), &json!(0)), "{record}");
        }
        assert_eq!(result(&output), "tidy");
        assert_eq!(project.git(&["status", "--porcelain", "--ignored"]), "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn command_without_the_program_says_how_to_get_it() {
    let project = Project::new();
    let model = ModelServer::start(Script::new([])).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    home.set("PATH", format!("{}/bin:/usr/bin:/bin", home.path().display()));
    let plugin = crate::support::plugin("code").display().to_string();
    for command in ["code add a flag", "amend-plan x", "cancel-code", "plan-with-reviewer x"] {
        let prompt = format!("/code:{command}");
        let output = type_command_in(&home, &project, &prompt, &["--plugin-dir", &plugin]).await;
        assert_eq!(
            output.matches("cargo install --path crates/loopgate").count(),
            2,
            "as record and result: {output}"
        );
        assert!(result(&output).contains("needs the program loopgate on the PATH"), "{output}");
    }
    assert_eq!(project.read("prd.md"), "");
}

/// Script of a user's loop: the first command ends with a plan, the second one implements it.
fn interactive() -> Script {
    let planner = Conversation::when("planner", "# Coding loop")
        .and("PLAN_SYNC: NO_PLAN")
        .and("LOOPGATE_WORKDIR=\"(?P<workdir>[^\"]+)\"")
        .turn([subagent("code:plan-draft-writer", "Draft the plan. Work directory: '{{workdir}}'")])
        .runs("loopgate plan validate '{{workdir}}'")
        .runs(
            "loopgate plan set-state 'Phase 1.1: Checkpoint' AWAITING_USER --workdir '{{workdir}}' \
             --action 'Read the plan' --action-file '{{workdir}}/plan.md'",
        )
        .says("The plan is ready.\n\n<promise>COMPLETE</promise>");
    let orchestrator = Conversation::when("orchestrator", "# Coding loop")
        .and("LOOPGATE_WORKDIR=\"(?P<workdir>[^\"]+)\"")
        .runs("loopgate plan set-state 'Phase 3: Implementation' IN_PROGRESS --workdir '{{workdir}}' --task T-1.1")
        .runs("cd docs && git stash -u")
        .turn([subagent("code:implementation-subagent", "T-1.1: Add `hello.txt` in '{{cwd}}'")])
        .turn([subagent("code:task-reviewer", "Review T-1.1")])
        .runs(&report_command("T-1.1"))
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("Everything is done.\n\n<promise>COMPLETE</promise>");
    let writer = Conversation::when("writer", "You write the first plan of a change")
        .and("Work directory: '(?P<workdir>[^']+)'")
        .turn([ModelStep::write("{{workdir}}/plan.md", PLAN_MD)])
        .runs("loopgate plan build '{{workdir}}'")
        .says("One task, one question.\n<promise>PLAN_VALIDATED</promise>");
    let implementer = Conversation::when("implementer", "You are given one task with its criteria")
        .and("hello.txt` in '(?P<root>[^']+)'")
        .turn([ModelStep::write("{{root}}/hello.txt", "hello\n")])
        .says("IMPLEMENTATION_VERIFIED: T-1.1\n<promise>IMPLEMENTATION_VERIFIED</promise>");
    Script::new([planner, orchestrator, writer, implementer, accepting_reviewer()])
}

#[tokio::test(flavor = "multi_thread")]
async fn plugin_in_an_empty_home_leads_from_a_request_to_a_finished_change() {
    let project = Project::new();
    std::fs::write(project.root.join(".gitignore"), "").unwrap();
    let model = ModelServer::start(interactive()).await.unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    home.link("loopgate", &example()).unwrap();
    let installed = home.command("loopgate").args(["plugins", "install", "code"]).output().await.unwrap();
    assert!(installed.status.success(), "{installed:?}");
    // The user accepts the changes of files, as in the assistant's dialog.
    let args = ["--permission-mode", "acceptEdits"];
    let planned = type_command_in(&home, &project, "/code:code greet the users --politely", &args).await;
    assert!(result(&planned).contains("The plan is ready."), "{planned}");
    assert_eq!(project.read("prd.md"), "greet the users --politely\n");
    assert!(project.read("plan.md").contains("- [ ] **T-1.1**"));
    let finished = type_command_in(&home, &project, "/code:code", &args).await;
    assert!(result(&finished).contains("Everything is done."), "{finished}");
    let results: String =
        model.requests_of("orchestrator").iter().map(|request| request.tool_results()).collect();
    assert!(results.contains("would take work of the loop out"), "the guards act: {results}");
    assert_eq!(std::fs::read_to_string(project.root.join("hello.txt")).unwrap(), "hello\n");
    assert!(project.read("plan.md").contains("- [x] **T-1.1**"), "the reviewer's answer completes the task");
    let state: Value = serde_json::from_str(&project.read("state.json")).unwrap();
    assert_eq!(state["status"], "COMPLETED");
    assert_eq!(
        project.git(&["status", "--porcelain"]),
        "M .gitignore\n?? hello.txt",
        "the loop's files are ignored"
    );
    let next = type_command_in(&home, &project, "/code:code", &args).await;
    assert!(result(&next).contains("No loop is open in this project."), "{next}");
}

#[tokio::test(flavor = "multi_thread")]
async fn loop_runs_the_plugin_of_its_program() {
    let project = Project::new();
    let model = ModelServer::start(Script::new([orchestrator("PLAN").says("<promise>COMPLETE</promise>")]))
        .await
        .unwrap();
    let mut home = UserHome::temporary().unwrap();
    home.reach_model(&model).unwrap();
    // A plugin of another version, from another marketplace directory.
    let old = home.path().join("old");
    copy(&crate::support::plugin("code"), &old.join("plugins/code"));
    let manifest = old.join("plugins/code/.claude-plugin/plugin.json");
    let text = std::fs::read_to_string(&manifest).unwrap().replace("\"1.9.3\"", "\"1.0.0\"");
    std::fs::write(&manifest, text).unwrap();
    std::fs::write(old.join("plugins/code/commands/code.md"), "An earlier page.").unwrap();
    let offer = json!({"name": "loopgate", "owner": {"name": "L"}, "plugins": [{"name": "code", "source": "./plugins/code"}]});
    std::fs::create_dir_all(old.join(".claude-plugin")).unwrap();
    std::fs::write(old.join(".claude-plugin/marketplace.json"), offer.to_string()).unwrap();
    for args in [
        vec!["marketplace", "add", old.to_str().unwrap()],
        vec!["install", "code@loopgate", "--scope", "user"],
    ] {
        let output = home.command("claude").arg("plugin").args(args).output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let ended = drive_in(&home, &project, "PLAN", None, &[]).await;
    assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned()]), "{}", ended.stderr);
    assert!(project.read(".loopgate/config.env").contains("LOOPGATE_PROMPT_FILE"));
    assert!(
        !project.read(".loopgate/config.env").contains("/old/"),
        "{}",
        project.read(".loopgate/config.env")
    );
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            std::fs::copy(&entry, target).unwrap();
        }
    }
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
