//! The review of a branch as a loop: where it looks, what it tells, and that it changes nothing.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git as run_git;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, Step};
use loopgate_testkit::story;
use serde_json::json;

use crate::commands::TestDesktop;
use crate::test_system::{TestSystem, git};

/// A plugin whose command only shows how it was called.
fn install(home: &UserHome) -> Result<()> {
    let plugin = home.path().join(".claude/plugins/cache/loopgate/code-review/1.2.3");
    std::fs::create_dir_all(plugin.join(".claude-plugin"))?;
    std::fs::create_dir_all(plugin.join("commands"))?;
    let manifest = json!({"name": "code-review", "version": "1.2.3", "description": "Reviews"});
    std::fs::write(plugin.join(".claude-plugin/plugin.json"), manifest.to_string())?;
    let command = "---\ndescription: Review\n---\n\n# A review for a test\n\nAsked for: $ARGUMENTS\n";
    Ok(std::fs::write(plugin.join("commands/start.md"), command)?)
}

/// A review that writes its verdict into a session, after a command.
fn reviewer(command: &str, verdict: Option<&str>) -> Conversation {
    let asked = Conversation::when("review", "# A review for a test").and(r"Asked for: --base (?P<base>\S+)");
    let asked = asked.runs(&format!("pwd; git branch --show-current; echo 'base {{{{base}}}}'; {command}"));
    let written = match verdict {
        Some(verdict) => asked.turn([Step::write(
            "{{cwd}}/.loopgate/code-review/cr-00042/verdict.json",
            &json!({"verdict": verdict, "reason": "The switch forgets", "tag": "t"}).to_string(),
        )]),
        None => asked,
    };
    written.says("Reviewed.")
}

// LR-56, LR-57
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_of_a_document_is_reviewed_where_it_lies() -> Result<()> {
    let desktop = TestDesktop::playing([reviewer("git status --short", Some("needs_attention"))]).await?;
    let place = desktop.testbed.sandbox().join("garden-notes-loop-shop-7");
    let add = ["worktree", "add", "--quiet", "-b", "orchestrator/shop-7", &place.to_string_lossy(), "main"];
    run_git(&desktop.clone, &add)?;
    std::fs::write(place.join("notes.js"), "// begun\n")?;
    let before = (git(&place, &["rev-parse", "HEAD"])?, git(&place, &["status", "--porcelain"])?);

    let order = json!({"command": "CODE_REVIEW", "prompt": "Look at the switch",
        "additionalRepos": [{"fullName": "acme/nowhere", "branch": "main"}]});
    let (_, status, refused) = desktop.order(order.clone()).await?;
    let text = "plugin code-review not found in plugin cache";
    ensure!(status == 500 && refused["error"] == text, "{refused}");
    install(&desktop.testbed.home)?;
    let run = desktop.run(order).await?;
    let result = run.completed("code_review")?;
    let verdict = json!({"verdict": "needs_attention", "reason": "The switch forgets"});
    ensure!(result["verdict"] == verdict && run.last["warnings"].is_null(), "{}", run.last);
    ensure!(run.worktree()? == place && run.last.get("results").is_none(), "{}", run.started);
    let request = desktop.testbed.model.requests_of("review").pop().context("asked")?;
    ensure!(request.tool_results().contains("base main"), "{}", request.tool_results());
    ensure!(request.user_text().contains("Look at the switch"), "{}", request.user_text());
    ensure!(desktop.uploaded(run.id)["artifacts"]["verdict"]["verdict"] == "needs_attention");
    ensure!(place.join(".loopgate/work/verdict.json").is_file(), "kept beside the run");
    let after = (git(&place, &["rev-parse", "HEAD"])?, git(&place, &["status", "--porcelain"])?);
    ensure!(after == before, "{after:?}");
    let branches = desktop.testbed.remotes.branches(story::REPOSITORY)?;
    ensure!(branches.keys().collect::<Vec<_>>() == ["main"], "nothing was pushed: {branches:?}");
    desktop.is_tidy(&run, &[]).await
}

// LR-58, LR-59
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branch_is_reviewed_in_a_passing_worktree() -> Result<()> {
    let looks =
        "echo '// oops' >> notes.js; git rev-parse HEAD; git symbolic-ref --quiet HEAD || echo on no branch";
    let desktop = TestDesktop::playing([reviewer(looks, None)]).await?;
    install(&desktop.testbed.home)?;
    let bare = desktop.testbed.remotes.bare(story::REPOSITORY);
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
    let place = desktop.testbed.sandbox().join("garden-notes-loop-code-review-shop-8");
    ensure!(run.worktree()? == place, "{}", run.started);
    let seen = desktop.testbed.model.requests_of("review").pop().context("asked")?.tool_results();
    ensure!(seen.contains("garden-notes-loop-code-review-shop-8") && seen.contains("base main"), "{seen}");
    ensure!(seen.contains(&newest) && seen.contains("on no branch"), "{seen}");
    desktop.is_tidy(&run, &[place.as_path()]).await?;
    ensure!(git(&desktop.clone, &["branch", "--list", "orchestrator/*"])?.is_empty(), "on no branch");

    // Without a base there is nothing to compare with, and nothing is left behind.
    run_git(&desktop.clone, &["symbolic-ref", "--delete", "refs/remotes/origin/HEAD"])?;
    let mut order = order;
    order["artifactSlug"] = json!("SHOP-9");
    let (id, status, refused) = desktop.order(order).await?;
    let text = "CODE_REVIEW found no base to review against";
    ensure!(status == 400 && refused["error"] == text, "{refused}");
    ensure!(desktop.cloud.events(id, "error")[0]["code"] == "PRE_RUN_VALIDATION_FAILED");
    let place = desktop.testbed.sandbox().join("garden-notes-loop-code-review-shop-9");
    ensure!(!place.exists(), "nothing is left behind");
    Ok(())
}

// LR-57
/// From the button to the verdict on the page: what an execution has made is what is reviewed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_has_the_work_of_their_wish_reviewed() -> Result<()> {
    let mut script = story::script();
    script.conversations.insert(0, reviewer("ls; git log -1 --format=%s", Some("approve")));
    let system = TestSystem::playing(script).await?;
    install(&system.testbed.home)?;
    let page = &system.page;
    let wish = page.planned().await?;
    let executed = page.press(&wish, "execute").await?;
    let executed = page.ended(&executed).await?;
    ensure!(executed["status"] == "COMPLETED", "{executed}");
    let before = system.testbed.remotes.branches(story::REPOSITORY)?;

    let review = page.press(&wish, "code_review").await?;
    let ended = page.ended(&review).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}\n{}", system.loopgate.output());
    let verdict = json!({"verdict": "approve", "reason": "The switch forgets"});
    ensure!(ended["metadata"]["verdict"] == verdict, "{ended}");
    ensure!(ended["uploadedArtifacts"]["verdict"]["verdict"] == "approve", "{ended}");
    ensure!(ended["branchName"] == executed["branchName"], "it lies elsewhere: {ended}");
    let seen = system.testbed.model.requests_of("review").pop().context("asked")?.tool_results();
    ensure!(seen.contains("base main") && seen.contains("theme.js") && seen.contains(story::TITLE), "{seen}");
    ensure!(system.testbed.remotes.branches(story::REPOSITORY)? == before, "nothing was pushed");
    ensure!(system.testbed.host.pull_requests(story::REPOSITORY).len() == 1);
    system.settled(&review, "Completed").await?;
    system.alone(&review).await
}
