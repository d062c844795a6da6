//! Commit messages written by the assistant.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::model::{Conversation, Script};
use reqwest::Method;
use serde_json::{Value, json};

use super::Shop;
use crate::origin_checks::percent_encode;
use crate::test_gateway::write;
use crate::test_system::TestSystem;

fn default_message() -> Value {
    json!({"title": "Work on SHOP-7", "description": "", "source": "default"})
}

impl Shop {
    /// Creates the ticket's worktree with an uncommitted change.
    fn create_change(&self) -> Result<()> {
        let worktree = self.worktree.to_string_lossy().into_owned();
        git(&self.repo, &["worktree", "add", "--quiet", "-b", "shop-7", &worktree])?;
        write(&self.worktree.join("README.md"), "A shop with a cache\n")
    }
}

// OR-42
#[tokio::test]
async fn default_message_without_changes_or_answer() -> Result<()> {
    let shop = Shop::new().await?;
    shop.get("commit-message/SHOP-7").await?.is(200, &default_message())?;
    shop.create_change()?;
    for script in ["exit 1", "echo nothing", "echo '{\"title\": 1'"] {
        shop.assistant(script)?;
        shop.get("commit-message/SHOP-7").await?.is(200, &default_message())?;
    }
    let assistant = shop.local.home.script("own-assistant", "#!/bin/sh\n")?;
    let set = async |path: Value| {
        let paths = json!({"assistant": path}).to_string();
        shop.local.send(Method::PATCH, "settings/binary-paths", paths).await?.ok()
    };
    set(json!(assistant)).await?;
    std::fs::remove_file(&assistant)?;
    shop.get("commit-message/SHOP-7").await?.is(200, &default_message())?;
    set(Value::Null).await?;
    // Untracked files alone do not count as a change to describe.
    git(&shop.worktree, &["checkout", "--quiet", "README.md"])?;
    shop.assistant("echo '{\"title\": \"t\", \"description\": \"d\"}'")?;
    write(&shop.worktree.join("untracked.txt"), "new\n")?;
    shop.get("commit-message/SHOP-7").await?.is(200, &default_message())?;
    let bare = shop.local.get("orchestrator/commit-message/SHOP-7", &[]).await?;
    bare.refused(400, "repo query parameter is required", "missing_field")?;
    let outside = shop.local.get("orchestrator/commit-message/SHOP-7", &[("repo", "/etc")]).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")
}

// OR-42
#[tokio::test]
async fn diff_is_sent_and_assistant_name_removed() -> Result<()> {
    let shop = Shop::new().await?;
    shop.create_change()?;
    shop.assistant(
        "echo \"$@\" > ../args; cat > ../prompt\n\
         echo 'noise {\"title\": \"Cache  with Claude Code\", \"description\": \"Faster.\"} noise'; exit 3",
    )?;
    let message = json!({"title": "Cache with", "description": "Faster.", "source": "assistant"});
    shop.get("commit-message/SHOP-7").await?.is(200, &message)?;
    let parent = shop.local.at("wt");
    ensure!(
        std::fs::read_to_string(parent.join("args"))?
            == "--setting-sources user --add-dir . --model haiku -p\n"
    );
    let prompt = std::fs::read_to_string(parent.join("prompt"))?;
    ensure!(prompt.contains("+A shop with a cache") && prompt.contains("1 file changed"), "{prompt}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_assistant_writes_message() -> Result<()> {
    let mut commit = Conversation::when("commit", "Write a commit message")
        .says("{\"title\": \"Grow a garden\", \"description\": \"It was bare.\"}");
    commit.toolless = true;
    let system = TestSystem::playing(Script::new([commit])).await?;
    let worktree = system.testbed.sandbox().join("garden-notes-SHOP-7");
    git(&system.clone, &["worktree", "add", "--quiet", "-b", "shop-7", &worktree.to_string_lossy()])?;
    write(&worktree.join("README.md"), "A garden\n")?;
    let repo = percent_encode(&system.clone.to_string_lossy());
    let path = format!("/api/gateway/orchestrator/commit-message/SHOP-7?repo={repo}");
    let answer: Value = system.loopgate.gateway(Method::GET, &path).send().await?.json().await?;
    let expected = json!({"title": "Grow a garden", "description": "It was bare.", "source": "assistant"});
    ensure!(answer == expected, "{answer}");
    Ok(())
}
