//! Launch of a ticket's loop script. The tests install a script at its path in the assistant's plugin cache.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::{home_processes, wait};
use serde_json::{Value, json};

use super::Shop;
use crate::test_gateway::{Answer, write};

/// Prints its arguments, starts one child in its own session and one in the same, and waits for them.
const SCRIPT: &str = "#!/bin/sh\necho \"$#\" \"$1\" \"$LOOPGATE_WORKDIR\"\npwd\n\
    ls \"$1\" > \"$1/seen\"\nsetsid sleep 600 &\nsleep 600 &\necho complaint >&2\n: > \"$1/started\"\nwait\n";

impl Shop {
    fn script(&self, version: &str, text: &str) -> Result<PathBuf> {
        let home = self.local.home.path();
        let path = home.join(format!(".claude/plugins/cache/loopgate/code/{version}/scripts/run-loop.sh"));
        write(&path, text)?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(path)
    }

    fn launch_body(&self) -> Value {
        json!({"ticketIdentifier": "SHOP-7", "repoPath": self.repo, "ticket": {"title": "Cache",
            "identifier": "SHOP-7", "url": "https://tracker.test/SHOP-7", "description": "Faster.",
            "issueId": "i-1", "mentionedFiles": [{"repoPath": self.repo, "filePath": "README.md"}, 5]}})
    }

    async fn launch(&self, body: Value) -> Result<Answer> {
        self.local.post("orchestrator/launch", body).await
    }

    fn read(&self, name: &str) -> Result<String> {
        let file = self.work_dir.join(name);
        std::fs::read_to_string(&file).with_context(|| file.display().to_string())
    }

    fn other_processes(&self) -> Vec<home_processes::HomeProcess> {
        let mut processes = home_processes::processes(self.local.home.path());
        processes.retain(|process| Some(process.pid) != self.local.loopgate.pid());
        processes
    }

    async fn no_processes_remain(&self) -> Result<()> {
        let others = || self.other_processes().into_iter().map(|process| process.pid).collect();
        wait::all_end(others).await.with_context(|| format!("still running: {:?}", self.other_processes()))
    }
}

// Git stores branches as files: with a branch `feature`, there is no directory for `feature/SHOP-7`.
#[tokio::test]
async fn ticket_branch_that_git_cannot_create_gets_another_name() -> Result<()> {
    let shop = Shop::new().await?;
    git(&shop.repo, &["branch", "feature"])?;
    let launched = shop.launch(shop.launch_body()).await?.ok()?;
    ensure!(launched["branchName"] == "feature-SHOP-7", "{launched}");
    ensure!(git(&shop.worktree, &["branch", "--show-current"])?.trim() == "feature-SHOP-7");
    let again = shop.launch(shop.launch_body()).await?.ok()?;
    ensure!(again["branchName"] == "feature-SHOP-7", "{again}");
    shop.no_processes_remain().await?;

    let shop = Shop::new().await?;
    for name in ["feature/SHOP-7/part", "feature-shop-7"] {
        git(&shop.repo, &["branch", name])?;
    }
    let refused = shop.launch(shop.launch_body()).await?;
    let text = "Failed to launch Orchestrator: git can create neither feature/SHOP-7, because of branch feature/SHOP-7/part, \
                nor feature-SHOP-7, because of branch feature-shop-7; rename or delete one of these branches";
    ensure!(refused.status == 500 && refused.body["error"] == text, "{refused:?}");
    Ok(())
}

// OR-18, OR-20, OR-21, OR-55
#[tokio::test]
async fn ticket_is_launched_once_and_killed_with_children() -> Result<()> {
    let shop = Shop::new().await?;
    // Versions are compared numerically: 1.10.0 is newer than 1.9.3.
    shop.script("1.9.3", "#!/bin/sh\nexit 1\n")?;
    shop.script("1.10.0", SCRIPT)?;
    let launched = shop.launch(shop.launch_body()).await?.ok()?;
    let pid = launched["pid"].as_u64().context("a pid")?;
    let expected = json!({"success": true, "ticketId": "SHOP-7", "branchName": "feature/SHOP-7",
        "worktreePath": shop.worktree, "pid": pid, "logFile": shop.work_dir.join("orchestrator-launch.log"),
        "prdFile": shop.work_dir.join("prd.md"), "baseBranch": "HEAD"});
    ensure!(launched == expected, "{launched}\n{expected}");
    wait::until_exists(&shop.work_dir.join("started")).await?;
    ensure!(git(&shop.worktree, &["branch", "--show-current"])?.trim() == "feature/SHOP-7");
    let log = shop.read("orchestrator-launch.log")?;
    let expected_output = format!("1 {w} {w}\n{}\n", shop.worktree.display(), w = shop.work_dir.display());
    ensure!(log.starts_with(&expected_output) && log.contains("complaint"), "{log}");
    ensure!(
        shop.read("seen")?.contains("launch-metadata.json"),
        "the metadata was not written before the start"
    );
    ensure!(shop.read("process.pid")? == pid.to_string() && !shop.read("process.start")?.is_empty());
    let prd = shop.read("prd.md")?;
    ensure!(prd.starts_with("# Cache\n\n**Ticket:** [SHOP-7](https://tracker.test/SHOP-7)\n"), "{prd}");
    ensure!(prd.contains(&format!("- `{}`", shop.worktree.join("README.md").display())), "{prd}");
    let metadata: Value = serde_json::from_str(&shop.read("launch-metadata.json")?)?;
    ensure!(
        metadata == json!({"issueId": "i-1", "ticketTitle": "Cache", "baseBranch": "HEAD"}),
        "{metadata}"
    );

    let mut second = shop.launch_body();
    second["ticket"]["title"] = json!("Bigger cache");
    let second = shop.launch(second).await?.ok()?;
    ensure!(second["alreadyRunning"] == true && second["pid"] == pid, "{second}");
    ensure!(shop.read("prd.md")?.starts_with("# Bigger cache\n"));

    // The other routes read the worktree below the configured parent as well.
    shop.write("plan.json", r#"{"content":"Do it"}"#)?;
    shop.write("state.json", r#"{"status":"IN_PROGRESS","phase":"p"}"#)?;
    let status = shop.get("status/SHOP-7").await?.ok()?;
    ensure!(status["pid"] == pid && status["processRunning"] == true, "{status}");
    let logs = shop.get("logs/SHOP-7").await?.ok()?;
    ensure!(logs["format"] == "text" && logs["exists"] == true, "{logs}");
    shop.get("plan/SHOP-7").await?.ok()?;
    ensure!(
        git(&shop.worktree, &["status", "--porcelain"])?.is_empty(),
        "files of the launch are visible to git"
    );

    shop.write(".agent-types/a1", "x|y|")?;
    let ended = shop.local.post("orchestrator/kill", json!({"ticketId": "SHOP-7", "repoPath": shop.repo}));
    let message = json!({"success": true, "message": "Process terminated", "pid": pid});
    ended.await?.is(200, &message)?;
    shop.no_processes_remain().await?;
    ensure!(!shop.work_dir.join("process.pid").exists() && !shop.work_dir.join(".agent-types/a1").exists());
    ensure!(serde_json::from_str::<Value>(&shop.read("state.json")?)?["status"] == "STOPPED");
    Ok(())
}

#[tokio::test]
async fn running_script_is_recognized_after_restart() -> Result<()> {
    let mut shop = Shop::new().await?;
    shop.script("1.9.3", SCRIPT)?;
    let launched = shop.launch(shop.launch_body()).await?.ok()?;
    wait::until_exists(&shop.work_dir.join("started")).await?;
    shop.local.loopgate.kill().await?;
    shop.local.restart().await?;
    let second = shop.launch(shop.launch_body()).await?.ok()?;
    ensure!(second["alreadyRunning"] == true && second["pid"] == launched["pid"], "{second}");
    shop.local.post("orchestrator/kill", json!({"pid": launched["pid"]})).await?.ok()?;
    shop.no_processes_remain().await
}

/// Loopgate crashes before it has recorded the script's process.
#[tokio::test]
async fn script_is_recognized_with_partial_records() -> Result<()> {
    let mut shop = Shop::new().await?;
    shop.script("1.9.3", SCRIPT)?;
    let launched = shop.launch(shop.launch_body()).await?.ok()?;
    wait::until_exists(&shop.work_dir.join("started")).await?;
    shop.local.loopgate.kill().await?;
    for name in ["process.pid", "process.start"] {
        std::fs::remove_file(shop.work_dir.join(name))?;
    }
    shop.local.restart().await?;
    let second = shop.launch(shop.launch_body()).await?.ok()?;
    ensure!(second["alreadyRunning"] == true && second["pid"] == launched["pid"], "{second}");
    let ended = shop.local.post("orchestrator/kill", json!({"ticketId": "SHOP-7", "repoPath": shop.repo}));
    let message = json!({"success": true, "message": "Process terminated", "pid": launched["pid"]});
    ended.await?.is(200, &message)?;
    shop.no_processes_remain().await
}

// OR-22
#[tokio::test]
async fn concurrent_launches_start_one_script() -> Result<()> {
    let shop = Shop::new().await?;
    shop.script("1.9.3", SCRIPT)?;
    let launch = || shop.launch(shop.launch_body());
    let (one, two) = tokio::try_join!(launch(), launch())?;
    for answer in [&one, &two] {
        let started = answer.status == 200;
        let refused = answer.status == 409 && answer.body["error"] == "Launch already in progress";
        ensure!(started || refused, "{answer:?}");
    }
    let pid = shop.read("process.pid")?;
    let started: Vec<&Answer> = [&one, &two].into_iter().filter(|answer| answer.status == 200).collect();
    ensure!(!started.is_empty());
    for answer in started {
        ensure!(answer.body["pid"].as_u64() == pid.parse().ok(), "{answer:?}, process.pid: {pid}");
    }
    Ok(())
}

// OR-23
#[tokio::test]
async fn launch_lock_is_valid_while_owner_runs() -> Result<()> {
    let shop = Shop::new().await?;
    shop.script("1.9.3", "#!/bin/sh\n")?;
    let lock = shop.local.at("wt/.loopgate/locks/shop-SHOP-7/launch.lock");
    write(&lock, "")?;
    let busy = shop.launch(shop.launch_body()).await?;
    busy.refused(409, "Launch already in progress", "conflict")?;
    write(&lock, json!({"pid": std::process::id(), "timestamp": 1}).to_string())?;
    let busy = shop.launch(shop.launch_body()).await?;
    busy.refused(409, "Launch already in progress", "conflict")?;
    ensure!(!shop.worktree.exists());
    write(&lock, json!({"pid": 4_194_305, "timestamp": 1}).to_string())?;
    shop.launch(shop.launch_body()).await?.ok()?;
    ensure!(!lock.exists(), "the lock was not released");

    let lock = shop.local.at("wt/.loopgate/locks/shop-SHOP-8/launch.lock");
    write(&lock, "")?;
    // A lock without a readable owner expires by age.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(10);
    std::fs::File::options().write(true).open(&lock)?.set_modified(old)?;
    shop.launch(json!({"ticketIdentifier": "SHOP-8", "repoPath": shop.repo})).await?.ok()?;
    ensure!(!lock.exists(), "the lock was not released");
    Ok(())
}

// OR-25
#[tokio::test]
async fn existing_files_at_worktree_path_are_preserved() -> Result<()> {
    let shop = Shop::new().await?;
    shop.script("1.9.3", "#!/bin/sh\n")?;
    let message = json!({"message": {"id": "1", "role": "user", "content": "Why?", "timestamp": "t"}});
    shop.post("chat-history/SHOP-7", &message).await?.ok()?;
    // State of an interrupted launch, which moves existing files aside before it creates the worktree.
    write(&shop.local.at("wt/.shop-SHOP-7.launch-state/work/earlier.md"), "kept")?;
    let launched = shop.launch(shop.launch_body()).await?.ok()?;
    ensure!(launched["pid"].is_u64() && shop.read("earlier.md")? == "kept", "{launched}");
    ensure!(shop.worktree.join(".git").is_file() && shop.worktree.join("README.md").exists());
    let history = shop.get("chat-history/SHOP-7").await?.ok()?;
    ensure!(history["messages"][0]["content"] == "Why?", "{history}");
    let mut entries = std::fs::read_dir(shop.local.at("wt"))?.flatten().map(|entry| entry.file_name());
    ensure!(!entries.any(|name| name.to_string_lossy().ends_with("-state")), "a temporary directory remains");
    Ok(())
}

// OR-26
#[tokio::test]
async fn base_branch_is_never_an_option() -> Result<()> {
    let shop = Shop::new().await?;
    shop.script("1.9.3", "#!/bin/sh\n")?;
    git(&shop.repo, &["branch", "release"])?;
    for (ticket, base, expected) in [
        ("A-1", "--upload-pack=x", "HEAD"),
        ("A-2", " release ", "release"),
        ("A-3", "missing", "HEAD"),
        ("A-4", "a..b", "HEAD"),
    ] {
        let body = json!({"ticketIdentifier": ticket, "repoPath": shop.repo, "baseBranch": base});
        let launched = shop.launch(body).await?.ok()?;
        ensure!(launched["baseBranch"] == expected, "{base}: {launched}");
    }
    Ok(())
}

// OR-24
#[tokio::test]
async fn launch_needs_a_ticket_and_allowed_paths() -> Result<()> {
    let shop = Shop::new().await?;
    for name in ["ticketIdentifier", "repoPath"] {
        let mut body = shop.launch_body();
        body[name] = Value::Null;
        let text = format!("{name} is required and must be a string");
        shop.launch(body).await?.refused(400, &text, "missing_field")?;
    }
    let mut outside = shop.launch_body();
    outside["ticket"]["contextRepoPaths"] = json!(["/etc"]);
    shop.launch(outside).await?.refused(403, "directory not allowed", "directory_not_allowed")?;
    ensure!(!shop.worktree.exists());
    Ok(())
}

#[tokio::test]
async fn worktree_starts_at_newest_remote_commit() -> Result<()> {
    let shop = Shop::new().await?;
    let remote = shop.local.at("remote.git");
    let remote = remote.to_string_lossy();
    git(&shop.repo, &["clone", "--quiet", "--bare", ".", &remote])?;
    git(&shop.repo, &["remote", "add", "origin", &remote])?;
    shop.local.trust(&shop.repo).await?;
    git(&shop.repo, &["fetch", "--quiet", "origin"])?;
    git(&shop.repo, &["remote", "set-head", "origin", "main"])?;
    git(&shop.repo, &["commit", "--quiet", "--allow-empty", "-m", "Newer"])?;
    let newest = git(&shop.repo, &["rev-parse", "HEAD"])?;
    git(&shop.repo, &["push", "--quiet", &remote, "HEAD:main", "HEAD:side"])?;
    git(&shop.repo, &["reset", "--quiet", "--hard", "HEAD~1"])?;
    for (ticket, base, expected) in [("A-1", "", "origin/main"), ("A-2", "side", "origin/side")] {
        let body = json!({"ticketIdentifier": ticket, "repoPath": shop.repo, "baseBranch": base});
        let launched = shop.launch(body).await?.ok()?;
        ensure!(launched["baseBranch"] == expected, "{launched}");
        let worktree = shop.local.at(&format!("wt/shop-{ticket}"));
        ensure!(git(&worktree, &["rev-parse", "HEAD"])? == newest, "{ticket}");
    }
    Ok(())
}

#[tokio::test]
async fn missing_script_creates_worktree_with_warning() -> Result<()> {
    let shop = Shop::new().await?;
    let body = json!({"ticketIdentifier": "SHOP-7", "repoPath": shop.repo, "ticket": "no object"});
    let launched = shop.launch(body).await?.ok()?;
    ensure!(launched["pid"].is_null() && launched["warning"] == "loop script not installed", "{launched}");
    ensure!(launched["prdFile"].is_string() && !shop.work_dir.join("prd.md").exists());
    ensure!(shop.worktree.join("README.md").exists() && !shop.work_dir.join("process.pid").exists());
    Ok(())
}

#[tokio::test]
async fn unstartable_script_and_occupied_path_are_reported() -> Result<()> {
    let shop = Shop::new().await?;
    let script = shop.script("1.9.3", "#!/nowhere/sh\n")?;
    let refused = shop.launch(shop.launch_body()).await?;
    let text = "failed to launch work loop: process did not start";
    refused.refused(500, text, "operation_failed")?;
    ensure!(!shop.work_dir.join("process.pid").exists());
    std::fs::write(script, "#!/bin/sh\n")?;
    shop.launch(shop.launch_body()).await?.ok()?;

    write(&shop.local.at("wt/shop-SHOP-8/notes.txt"), "mine")?;
    let conflict = shop.launch(json!({"ticketIdentifier": "SHOP-8", "repoPath": shop.repo})).await?;
    let text = "Failed to launch Orchestrator: the directory of the worktree is not empty";
    conflict.refused(500, text, "operation_failed")?;
    ensure!(std::fs::read_to_string(shop.local.at("wt/shop-SHOP-8/notes.txt"))? == "mine");
    Ok(())
}
