//! An EXECUTE that reports its tasks as done although its delivery lacks work, with the real assistant.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::test_system::git;

/// A plan with one task.
const PLAN_MD: &str = "# Notes\n\n## Summary\nThe project has notes.\n\n## Acceptance Criteria\n\
    | ID | Criterion | Source |\n|---|---|---|\n| AC-001 | Notes exist | prd.md |\n\n\
    ## Architecture Fit\nA file next to the others.\n\n## Tasks\n- [ ] **T-1.1**: Add `notes.txt` *(AC-001)*\n\n\
    ## API & Data Impacts\nNone.\n\n## Risks & Constraints\nNone.\n\n## Test Plan\nRead the file.\n\n\
    ## Rollback\nRemove the file.\n\n## Open Questions\nNone.\n\n## Gaps\nNone were found.\n";

/// An EXECUTE that runs commands in its worktree, has its task accepted by the reviewer, and reports completion.
fn script(commands: &[&str]) -> Vec<Conversation> {
    let subagent = |kind: &str, prompt: &str| {
        ModelStep::tool("Agent", json!({"description": "step", "prompt": prompt, "subagent_type": kind}))
    };
    let mut execute = Conversation::when("execute", "# Coding loop")
        .and(r#"LOOPGATE_COMMAND="EXECUTE""#)
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#);
    for command in commands {
        execute = execute.runs(command);
    }
    let execute = execute
        .turn([subagent("code:task-reviewer", "Review T-1.1.")])
        .runs("loopgate plan report T-1.1 '{{workdir}}'")
        .runs("loopgate plan set-state 'Phase 7: Completion' COMPLETED --workdir '{{workdir}}'")
        .says("Everything is done.\n\n<promise>COMPLETE</promise>");
    let reviewer = Conversation::when("reviewer", r"Review T-1\.1\.").says("VERIFIED: T-1.1");
    vec![execute, reviewer]
}

async fn execute(desktop: &TestDesktop) -> Result<Run> {
    let raw = json!({"content": PLAN_MD, "acceptanceCriteria": [{"id": "AC-001", "criterion": "Notes exist", "source": "prd.md"}],
        "pendingTasks": [{"id": "T-1.1", "description": "Add `notes.txt`", "acceptanceCriteria": ["AC-001"]}],
        "completedTasks": [], "openQuestions": [], "answeredQuestions": [], "gaps": []});
    let plan =
        json!({"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "Notes", "content": PLAN_MD, "raw": raw});
    desktop.run(json!({"command": "EXECUTE", "artifacts": [plan]})).await
}

fn failed(run: &Run) -> Result<&str> {
    ensure!(run.last["type"] == "error" && run.last["code"] == "NOTHING_DELIVERED", "{}", run.last);
    run.last["message"].as_str().context("a message")
}

fn undelivered(run: &Run) -> &Value {
    &run.last["results"][0]["undelivered"]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_the_user_ignores_are_named_with_their_rule() -> Result<()> {
    let desktop =
        TestDesktop::playing(script(&["echo x > notes.txt; mkdir docs; echo y > docs/more.txt"])).await?;
    let (config, ignore) =
        (desktop.testbed.home.path().join(".gitconfig"), desktop.testbed.home.path().join("ignored"));
    std::fs::write(&ignore, "# Scratch files\n*.txt\n")?;
    let own = std::fs::read_to_string(&config).unwrap_or_default();
    std::fs::write(config, format!("{own}\n[core]\n\texcludesFile = {}\n", ignore.display()))?;
    let run = execute(&desktop).await?;
    let message = failed(&run)?;
    let rule = format!("{}:2:*.txt", ignore.display());
    ensure!(message.contains("1 task as done (T-1.1)") && message.contains(&rule), "{message}");
    let file = |name: &str| json!({"name": name, "place": "ignored", "detail": rule});
    ensure!(*undelivered(&run) == json!([file("docs/more.txt"), file("notes.txt")]), "{}", run.last);
    ensure!(run.last["warnings"] == json!(["WORK_NOT_DELIVERED"]), "{}", run.last);
    ensure!(run.worktree()?.join("notes.txt").is_file(), "the work was removed");
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_of_allowed_files_hides_no_work() -> Result<()> {
    let desktop =
        TestDesktop::playing(script(&["echo x > notes.txt; mkdir build; echo y > build/a.js"])).await?;
    let rules = "*\n!.gitignore\n!*.html\n!*.css\n!*.js\n!*/\n/build/*\n";
    desktop.testbed.remotes.commit(
        story::REPOSITORY,
        "main",
        "Allow some files",
        &[(".gitignore", rules)],
    )?;
    let run = execute(&desktop).await?;
    failed(&run)?;
    let file = |name: &str, rule: &str| json!({"name": name, "place": "ignored", "detail": rule});
    let expected = json!([file("build/a.js", ".gitignore:7:/build/*"), file("notes.txt", ".gitignore:1:*")]);
    ensure!(*undelivered(&run) == expected, "{}", run.last);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn task_that_was_only_reported_as_done_is_not_completed() -> Result<()> {
    let desktop = TestDesktop::playing(script(&[])).await?;
    let run = execute(&desktop).await?;
    let message = failed(&run)?;
    ensure!(message.contains("No file differs from the start of the loop."), "{message}");
    let plan = std::fs::read_to_string(run.worktree()?.join(".loopgate/work/plan.json"))?;
    ensure!(plan.contains("- [ ] **T-1.1**"), "{plan}");
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_on_another_branch_are_named() -> Result<()> {
    let commands = [
        "git checkout -q -b side",
        "echo x > notes.txt; git add -A; git commit -qm 'Add notes'",
        "git checkout -q orchestrator/shop-7",
    ];
    let desktop = TestDesktop::playing(script(&commands)).await?;
    let run = execute(&desktop).await?;
    ensure!(failed(&run)?.contains("branch side (1 commit)"), "{}", run.last);
    ensure!(
        *undelivered(&run) == json!([{"name": "side", "place": "branch", "detail": "1 commit"}]),
        "{}",
        run.last
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn push_by_a_program_of_the_assistant_is_reported() -> Result<()> {
    // The hook judges command lines, and this one names no push.
    let push = "printf 'import subprocess\\nsubprocess.run([\"git\", \"pu\" + \"sh\", \"-q\", \"origin\", \"HEAD:early\"])' > ../p.py; python3 ../p.py";
    let commands = ["echo x > notes.txt; git add -A; git commit -qm 'Add notes'", push];
    let desktop = TestDesktop::playing(script(&commands)).await?;
    let settings = desktop.testbed.home.path().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().context("a parent")?)?;
    std::fs::write(settings, r#"{"disableAllHooks": true}"#)?;
    let run = execute(&desktop).await?;
    run.completed("execute")?;
    ensure!(run.last["warnings"] == json!(["PUSHED_BEFORE_DELIVERY"]), "{}", run.last);
    let bare = desktop.testbed.remotes.bare(story::REPOSITORY);
    let commit = git(&bare, &["rev-parse", "early"])?;
    let push = json!([{"remote": "origin", "ref": "refs/heads/early", "commit": commit.trim()}]);
    ensure!(run.last["results"][0]["earlyPushes"] == push, "{}", run.last);
    Ok(())
}
