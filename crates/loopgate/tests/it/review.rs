//! Code review loops: which worktree and base they use, their verdict, and that they change nothing.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git as run_git;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::story;
use serde_json::json;

use crate::commands::TestDesktop;
use crate::test_system::{TestSystem, git};

/// Installs a plugin whose command only echoes its arguments.
fn install_plugin(home: &UserHome) -> Result<()> {
    let plugin = home.path().join(".claude/plugins/cache/loopgate/code-review/1.2.3");
    std::fs::create_dir_all(plugin.join(".claude-plugin"))?;
    std::fs::create_dir_all(plugin.join("commands"))?;
    let manifest = json!({"name": "code-review", "version": "1.2.3", "description": "Reviews"});
    std::fs::write(plugin.join(".claude-plugin/plugin.json"), manifest.to_string())?;
    let command = "---\ndescription: Review\n---\n\n# A review for a test\n\nAsked for: $ARGUMENTS\n";
    Ok(std::fs::write(plugin.join("commands/start.md"), command)?)
}

/// Returns a conversation that runs a command and, with `verdict`, writes the verdict file of a review
/// session.
fn reviewer(command: &str, verdict: Option<&str>) -> Conversation {
    let conversation =
        Conversation::when("review", "# A review for a test").and(r"Asked for: --base (?P<base>\S+)");
    let conversation =
        conversation.runs(&format!("pwd; git branch --show-current; echo 'base {{{{base}}}}'; {command}"));
    let conversation = match verdict {
        Some(verdict) => conversation.turn([ModelStep::write(
            "{{cwd}}/.loopgate/code-review/cr-00042/verdict.json",
            &json!({"verdict": verdict, "reason": "The switch forgets", "tag": "t"}).to_string(),
        )]),
        None => conversation,
    };
    conversation.says("Reviewed.")
}

// LR-56, LR-57
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn document_is_reviewed_in_its_worktree() -> Result<()> {
    let desktop = TestDesktop::playing([reviewer("git status --short", Some("needs_attention"))]).await?;
    let worktree = desktop.testbed.sandbox().join("garden-notes-loop-shop-7");
    let add =
        ["worktree", "add", "--quiet", "-b", "orchestrator/shop-7", &worktree.to_string_lossy(), "main"];
    run_git(&desktop.clone, &add)?;
    std::fs::write(worktree.join("notes.js"), "// changed\n")?;
    let before = (git(&worktree, &["rev-parse", "HEAD"])?, git(&worktree, &["status", "--porcelain"])?);

    // The peer repository does not exist, which CODE_REVIEW must ignore.
    let order = json!({"command": "CODE_REVIEW", "prompt": "Look at the switch",
        "additionalRepos": [{"fullName": "acme/nowhere", "branch": "main"}]});
    let (_, status, refused) = desktop.order(order.clone()).await?;
    let text = "plugin code-review not found in plugin cache";
    ensure!(status == 500 && refused["error"] == text, "{refused}");
    install_plugin(&desktop.testbed.home)?;
    let run = desktop.run(order).await?;
    let result = run.completed("code_review")?;
    let verdict = json!({"verdict": "needs_attention", "reason": "The switch forgets"});
    ensure!(result["verdict"] == verdict && run.last["warnings"].is_null(), "{}", run.last);
    ensure!(run.worktree()? == worktree && run.last.get("results").is_none(), "{}", run.started);
    let request = desktop.testbed.model.requests_of("review").pop().context("no request")?;
    ensure!(request.tool_results().contains("base main"), "{}", request.tool_results());
    ensure!(request.user_text().contains("Look at the switch"), "{}", request.user_text());
    ensure!(desktop.uploaded(run.id)["artifacts"]["verdict"]["verdict"] == "needs_attention");
    ensure!(worktree.join(".loopgate/work/verdict.json").is_file(), "no verdict in the work directory");
    let after = (git(&worktree, &["rev-parse", "HEAD"])?, git(&worktree, &["status", "--porcelain"])?);
    ensure!(after == before, "{after:?}");
    let branches = desktop.testbed.remotes.branches(story::REPOSITORY)?;
    ensure!(branches.keys().collect::<Vec<_>>() == ["main"], "a branch was pushed: {branches:?}");
    desktop.check_clean(&run, &[]).await
}

// LR-58, LR-59
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branch_is_reviewed_in_a_temporary_worktree() -> Result<()> {
    let command =
        "echo '// oops' >> notes.js; git rev-parse HEAD; git symbolic-ref --quiet HEAD || echo on no branch";
    let desktop = TestDesktop::playing([reviewer(command, None)]).await?;
    install_plugin(&desktop.testbed.home)?;
    let bare = desktop.testbed.remotes.bare(story::REPOSITORY);
    // The commit exists on the remote branch only; the local clone is reset.
    run_git(&desktop.clone, &["commit", "--quiet", "--allow-empty", "-m", "Only on the branch"])?;
    let newest = git(&desktop.clone, &["rev-parse", "HEAD"])?;
    run_git(&desktop.clone, &["push", "--quiet", &bare.to_string_lossy(), "HEAD:feature/x"])?;
    run_git(&desktop.clone, &["reset", "--quiet", "--hard", "HEAD~1"])?;
    let repo = json!({"fullName": story::REPOSITORY, "branch": "feature/x"});
    let order = json!({"command": "CODE_REVIEW", "repo": repo, "artifactSlug": "SHOP-8"});
    let run = desktop.run(order.clone()).await?;
    let result = run.completed("code_review")?;
    ensure!(result["verdict"].is_null() && result.get("verdict").is_some(), "{}", run.last);
    let warnings = json!(["REQUIRED_OUTPUT_MISSING", "REVIEW_CHANGED_FILES"]);
    ensure!(run.last["warnings"] == warnings, "{}", run.last);
    let worktree = desktop.testbed.sandbox().join("garden-notes-loop-code-review-shop-8");
    ensure!(run.worktree()? == worktree, "{}", run.started);
    let output = desktop.testbed.model.requests_of("review").pop().context("no request")?.tool_results();
    ensure!(
        output.contains("garden-notes-loop-code-review-shop-8") && output.contains("base main"),
        "{output}"
    );
    ensure!(output.contains(&newest) && output.contains("on no branch"), "{output}");
    desktop.check_clean(&run, &[worktree.as_path()]).await?;
    ensure!(git(&desktop.clone, &["branch", "--list", "orchestrator/*"])?.is_empty(), "a branch was created");

    // Without `origin/HEAD` no base can be determined. The worktree must be removed again.
    run_git(&desktop.clone, &["symbolic-ref", "--delete", "refs/remotes/origin/HEAD"])?;
    let mut order = order;
    order["artifactSlug"] = json!("SHOP-9");
    let (id, status, refused) = desktop.order(order).await?;
    let text = "CODE_REVIEW found no base to review against";
    ensure!(status == 400 && refused["error"] == text, "{refused}");
    ensure!(desktop.cloud.events(id, "error")[0]["code"] == "PRE_RUN_VALIDATION_FAILED");
    let worktree = desktop.testbed.sandbox().join("garden-notes-loop-code-review-shop-9");
    ensure!(!worktree.exists(), "the worktree remains");
    Ok(())
}

// LR-57
/// The whole flow from the page: plan, execution, and a review of the execution's branch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn user_reviews_execution_from_page() -> Result<()> {
    let mut script = story::script();
    script.conversations.insert(0, reviewer("ls; git log -1 --format=%s", Some("approve")));
    let system = TestSystem::playing(script).await?;
    install_plugin(&system.testbed.home)?;
    let page = &system.page;
    let document = page.create_plan().await?;
    let executed = page.start_loop(&document, "execute").await?;
    let executed = page.wait_for_end(&executed).await?;
    ensure!(executed["status"] == "COMPLETED", "{executed}");
    let before = system.testbed.remotes.branches(story::REPOSITORY)?;

    let review = page.start_loop(&document, "code_review").await?;
    let ended = page.wait_for_end(&review).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}\n{}", system.loopgate.output());
    let verdict = json!({"verdict": "approve", "reason": "The switch forgets"});
    ensure!(ended["metadata"]["verdict"] == verdict, "{ended}");
    ensure!(ended["uploadedArtifacts"]["verdict"]["verdict"] == "approve", "{ended}");
    ensure!(ended["branchName"] == executed["branchName"], "another branch was reviewed: {ended}");
    let output = system.testbed.model.requests_of("review").pop().context("no request")?.tool_results();
    ensure!(
        output.contains("base main") && output.contains("theme.js") && output.contains(story::TITLE),
        "{output}"
    );
    ensure!(system.testbed.remotes.branches(story::REPOSITORY)? == before, "a branch was pushed");
    ensure!(system.testbed.host.pull_requests(story::REPOSITORY).len() == 1);
    system.settled(&review, "Completed").await?;
    system.no_processes_remain(&review).await
}
