//! Preparation of a launch: the worktree, its inputs and its log.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::{Value, json};

use super::LaunchFixture;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worktree_failure_is_reported() -> Result<()> {
    let fixture = LaunchFixture::new().await?;
    let (sandbox, home) = (fixture.testbed.sandbox(), fixture.testbed.home.path().to_owned());
    let slug = |body: &mut Value| body["artifactSlug"] = json!("SHOP-7");
    for (command, branch) in [("PLAN", "no-such-branch"), ("EXECUTE", "feature/none")] {
        let text = format!("Failed to materialize {command} branch: branch \"{branch}\" does not exist");
        let change = |body: &mut Value| {
            body["command"] = json!(command);
            body["repo"]["branch"] = json!(branch);
        };
        fixture
            .refuses(change, 500, &text, "operation_failed", Some(("BRANCH_CREATE_FAILED", &text)))
            .await?;
    }
    // The parent directory of the worktrees is outside the sandbox, then a file.
    let parent = |dir: PathBuf| fixture.edit_list(|list| list["settings"]["worktreeParentDir"] = json!(dir));
    parent(home.join("elsewhere"))?;
    let text = format!("Worktree path not allowed: {}/elsewhere/garden-notes-loop-shop-7", home.display());
    let code = "directory_not_allowed";
    // The slug is lower-cased in the name of the worktree.
    fixture.refuses(slug, 403, &text, code, None).await?;
    ensure!(!home.join("elsewhere").exists(), "a directory was created outside the sandbox");
    std::fs::write(sandbox.join("a-file"), "")?;
    parent(sandbox.join("a-file"))?;
    let (text, code) = ("Failed to materialize EXECUTE branch: …", "operation_failed");
    fixture.refuses(slug, 500, text, code, Some(("BRANCH_CREATE_FAILED", text))).await?;
    // The path of the worktree is occupied by a directory of the user, which is neither used nor removed.
    parent(sandbox.clone())?;
    let other = sandbox.join("garden-notes-loop-shop-7");
    std::fs::create_dir_all(&other)?;
    std::fs::write(other.join("precious"), "mine")?;
    for command in ["EXECUTE", "PLAN"] {
        let text = format!("Failed to materialize {command} branch: …");
        let change = |body: &mut Value| {
            slug(body);
            body["command"] = json!(command);
        };
        fixture.refuses(change, 500, &text, code, Some(("BRANCH_CREATE_FAILED", &text))).await?;
    }
    ensure!(std::fs::read_to_string(other.join("precious"))? == "mine");
    fixture.nothing_remains().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_and_logs_stay_in_the_worktree() -> Result<()> {
    let fixture = LaunchFixture::new().await?;
    let failed = "operation_failed";
    let text = "Failed to write artifacts to workdir";
    let file = fixture.tracking("acme/odd", ".loopgate/work")?;
    let event = Some(("ARTIFACT_WRITE_FAILED", "…"));
    fixture.refuses(|body| body["repo"] = file, 500, text, failed, event).await?;

    // A repository can contain a link to any directory.
    let target = fixture.testbed.home.path().join("elsewhere");
    std::fs::create_dir_all(&target)?;
    let clone = fixture.testbed.add_repository("acme/leading", &[("README.md", "Odd\n")])?;
    std::os::unix::fs::symlink(&target, clone.join(".loopgate"))?;
    git(&clone, &["add", "--force", "."])?;
    git(&clone, &["commit", "--quiet", "--message", "A link"])?;
    let bare = fixture.testbed.remotes.bare("acme/leading");
    git(&clone, &["push", "--quiet", &bare.to_string_lossy(), "HEAD:main"])?;
    let leading = json!({"fullName": "acme/leading", "branch": "main"});
    let event = Some(("ARTIFACT_WRITE_FAILED", "the work directory resolves to a path outside the worktree"));
    fixture.refuses(|body| body["repo"] = leading, 500, text, failed, event).await?;
    ensure!(std::fs::read_dir(&target)?.next().is_none(), "a file was written through the link");

    let log = fixture.tracking("acme/logged", ".loopgate/work/orchestrator-loop.log/keep")?;
    let text = "Cannot open log file: is a directory";
    fixture.refuses(|body| body["repo"] = log, 500, text, failed, Some(("SPAWN_FAILED", text))).await?;
    fixture.nothing_remains().await
}
