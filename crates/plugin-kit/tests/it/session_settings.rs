//! Settings of the user that would keep a loop from working, or its guards from running, with the real assistant.

use loopgate_testkit::model::{ModelServer, Script};
use serde_json::{Value, json};

use crate::real_assistant::{orchestrator, run_with, run_with_settings};
use crate::support::{Ended, Project, plugin};

/// Runs a loop whose orchestrator calls the shell again and again; returns the end, the statuses and the number of its
/// requests.
async fn run_shell_loop(settings: &Value) -> (Ended, Vec<String>, usize) {
    let project = Project::new();
    let orchestrator = orchestrator("EXECUTE").runs("echo one").runs("echo two").says("Nothing works.");
    let model = ModelServer::start(Script::new([orchestrator])).await.unwrap();
    let ended = run_with_settings(&project, &model, "EXECUTE", settings).await;
    (ended, project.statuses(), model.requests_of("orchestrator").len())
}

#[tokio::test(flavor = "multi_thread")]
async fn denied_tool_ends_the_loop_at_once_and_its_rule_is_named() {
    for (settings, tool, rule) in [
        (json!({"permissions": {"deny": ["Bash"]}}), "Bash", "`permissions.deny` contains `Bash`"),
        (
            json!({"permissions": {"deny": ["Task", "Edit(*)"]}}),
            "Agent, Edit",
            "`permissions.deny` contains `Task`",
        ),
        (json!({"permissions": {"ask": ["Bash"]}}), "Bash", "`permissions.ask` contains `Bash`"),
    ] {
        let (ended, statuses, requests) = run_shell_loop(&settings).await;
        assert_eq!((ended.code, statuses), (1, vec!["error".to_owned()]), "{settings}\n{}", ended.stderr);
        assert!(
            ended.stderr.contains("LOOPGATE_FATAL[ASSISTANT_TOOL_DENIED]"),
            "{settings}\n{}",
            ended.stderr
        );
        for part in [format!("every loop needs: {tool}"), rule.to_owned(), ".claude/settings.json".to_owned()]
        {
            assert!(ended.stderr.contains(&part), "{part}\n{}", ended.stderr);
        }
        assert!(requests <= 2, "{settings}: {requests}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_about_some_commands_is_named_when_the_loop_stalls() {
    let (ended, statuses, _) = run_shell_loop(&json!({"permissions": {"deny": ["Bash(echo *)"]}})).await;
    assert_eq!((ended.code, statuses.last().unwrap().as_str()), (0, "awaiting_user"), "{}", ended.stderr);
    assert!(ended.stdout.contains("refused uses of Bash"), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("`permissions.deny` contains `Bash(echo *)`"), "{}", ended.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn session_without_hooks_is_stopped_before_it_works() {
    let project = Project::new();
    // The hook of the command runs, so that the set-up succeeds; a resumed session would not even run that one.
    let code = project.path("plugins/code");
    copy(&plugin("code"), &code);
    let hooks = code.join("hooks/hooks.json");
    let mut shipped: Value = serde_json::from_slice(&std::fs::read(&hooks).unwrap()).unwrap();
    shipped["hooks"].as_object_mut().unwrap().retain(|event, _| event == "UserPromptExpansion");
    std::fs::write(&hooks, shipped.to_string()).unwrap();
    let orchestrator =
        orchestrator("EXECUTE").runs("sleep 60; touch worked").says("<promise>COMPLETE</promise>");
    let model = ModelServer::start(Script::new([orchestrator])).await.unwrap();
    let ended = run_with(&project, &model, "EXECUTE", Some(&code)).await;
    assert_eq!((ended.code, project.statuses()), (1, vec!["error".to_owned()]), "{}", ended.stderr);
    assert!(ended.stderr.contains("LOOPGATE_FATAL[ASSISTANT_HOOKS_INACTIVE]"), "{}", ended.stderr);
    assert!(!project.root.join("worked").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn switched_off_hooks_run_nevertheless() {
    // The hooks find their program by this variable; without it, they would refuse every tool.
    let settings = json!({
        "disableAllHooks": true,
        "disableSkillShellExecution": true,
        "permissions": {"defaultMode": "plan"},
        "env": {"LOOPGATE_BIN": "/nonexistent", "CLAUDE_CODE_SIMPLE": "1", "CLAUDE_CODE_SAFE_MODE": "1"},
    });
    let project = Project::new();
    let orchestrator =
        orchestrator("EXECUTE").runs("git stash").runs("touch worked").says("<promise>COMPLETE</promise>");
    let model = ModelServer::start(Script::new([orchestrator])).await.unwrap();
    let ended = run_with_settings(&project, &model, "EXECUTE", &settings).await;
    assert_eq!((ended.code, project.statuses()), (0, vec!["completed".to_owned()]), "{}", ended.stderr);
    assert!(project.root.join("worked").exists(), "the permission mode of the user prevents the work");
    let results: String =
        model.requests_of("orchestrator").iter().map(|request| request.tool_results()).collect();
    assert!(results.contains("would take work of the loop out of its working tree"), "{results}");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
