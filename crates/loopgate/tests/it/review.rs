//! Code review loops: which worktree and base they use, their verdict, and that they change nothing.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git as run_git;
use loopgate_testkit::model::Conversation;
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::test_system::{TestSystem, git};

/// Returns a conversation of the reviewer of a small change whose prompt contains a text.
fn reviewer(text: &str, findings: &[Value]) -> Conversation {
    let reviewer =
        Conversation { toolless: true, ..Conversation::when("review", r"You are reviewer fast\.") };
    reviewer.and(text).says(&json!({"findings": findings}).to_string())
}

/// Returns a conversation of the second reviewer, which confirms one finding.
fn confirmation() -> Conversation {
    let second =
        Conversation { toolless: true, ..Conversation::when("challenge", "Another reviewer claims") };
    second.says(r#"{"results": [{"claim": 1, "confidence": 0.9, "reasoning": "It does."}]}"#)
}

// LR-56, LR-57
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn document_is_reviewed_in_its_worktree() -> Result<()> {
    let finding = json!({"file": "notes.js", "line": 1, "severity": "HIGH", "category": "Correctness",
        "issue": "The switch forgets", "explanation": "It is gone.", "code_snippet": "// changed", "confidence": 0.9});
    let desktop = TestDesktop::playing([confirmation(), reviewer("// changed", &[finding])]).await?;
    // Another plugin of this name is not used.
    let other =
        desktop.testbed.home.path().join(".claude/plugins/cache/loopgate/code-review/9.9.9/.claude-plugin");
    std::fs::create_dir_all(&other)?;
    let manifest = json!({"name": "code-review", "version": "9.9.9", "description": "Approves everything"});
    std::fs::write(other.join("plugin.json"), manifest.to_string())?;
    let worktree = desktop.testbed.sandbox().join("garden-notes-loop-shop-7");
    let add =
        ["worktree", "add", "--quiet", "-b", "orchestrator/shop-7", &worktree.to_string_lossy(), "main"];
    run_git(&desktop.clone, &add)?;
    std::fs::write(worktree.join("notes.js"), "// changed\n")?;
    let before = (git(&worktree, &["rev-parse", "HEAD"])?, git(&worktree, &["status", "--porcelain"])?);

    // The peer repository does not exist, which CODE_REVIEW must ignore.
    let order = json!({"command": "CODE_REVIEW", "prompt": "Look at the switch",
        "additionalRepos": [{"fullName": "acme/nowhere", "branch": "main"}]});
    let run = desktop.run(order).await?;
    let result = run.completed("code_review")?;
    let verdict = json!({"verdict": "needs_attention", "reason": "[P1] The switch forgets"});
    ensure!(result["verdict"] == verdict && run.last["warnings"].is_null(), "{}", run.last);
    ensure!(run.worktree()? == worktree && run.last.get("results").is_none(), "{}", run.started);
    let request = desktop.testbed.model.requests_of("review").pop().context("no request")?;
    ensure!(request.system().contains("Look at the switch"), "{}", request.system());
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
    let desktop = TestDesktop::playing([reviewer("only on the branch", &[])]).await?;
    let bare = desktop.testbed.remotes.bare(story::REPOSITORY);
    // The commit exists on the remote branch only; the local clone is reset.
    std::fs::write(desktop.clone.join("branch.js"), "// only on the branch\n")?;
    run_git(&desktop.clone, &["add", "branch.js"])?;
    run_git(&desktop.clone, &["commit", "--quiet", "-m", "Only on the branch"])?;
    run_git(&desktop.clone, &["push", "--quiet", &bare.to_string_lossy(), "HEAD:feature/x"])?;
    run_git(&desktop.clone, &["reset", "--quiet", "--hard", "HEAD~1"])?;
    let repo = json!({"fullName": story::REPOSITORY, "branch": "feature/x"});
    let order = json!({"command": "CODE_REVIEW", "repo": repo, "artifactSlug": "SHOP-8"});
    let run = desktop.run(order.clone()).await?;
    let result = run.completed("code_review")?;
    ensure!(result["verdict"] == json!({"verdict": "approve", "reason": ""}), "{}", run.last);
    let worktree = desktop.testbed.sandbox().join("garden-notes-loop-code-review-shop-8");
    ensure!(run.worktree()? == worktree, "{}", run.started);
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
    script.conversations.insert(0, reviewer("theme.js", &[]));
    let system = TestSystem::playing(script).await?;
    let page = &system.page;
    let document = page.create_plan().await?;
    let executed = page.start_loop(&document, "execute").await?;
    let executed = page.wait_for_end(&executed).await?;
    ensure!(executed["status"] == "COMPLETED", "{executed}");
    let before = system.testbed.remotes.branches(story::REPOSITORY)?;

    let review = page.start_loop(&document, "code_review").await?;
    let ended = page.wait_for_end(&review).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}\n{}", system.loopgate.output());
    let verdict = json!({"verdict": "approve", "reason": ""});
    ensure!(ended["metadata"]["verdict"] == verdict, "{ended}");
    ensure!(ended["uploadedArtifacts"]["verdict"]["verdict"] == "approve", "{ended}");
    ensure!(ended["branchName"] == executed["branchName"], "another branch was reviewed: {ended}");
    let prompt = system.testbed.model.requests_of("review").pop().context("no request")?;
    ensure!(prompt.system().contains("theme.js"), "{}", prompt.system());
    ensure!(system.testbed.remotes.branches(story::REPOSITORY)? == before, "a branch was pushed");
    ensure!(system.testbed.host.pull_requests(story::REPOSITORY).len() == 1);
    system.settled(&review, "Completed").await?;
    system.no_processes_remain(&review).await
}
