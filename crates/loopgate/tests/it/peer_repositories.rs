//! Loops over several repositories: each repository has its own worktree, branch and pull request, and a
//! failure in one does not affect the others.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_home::TrustStore;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::test_system::git;

const FILES: [(&str, &str); 1] = [("README.md", "Something\n")];

/// Returns an execution that changes the main repository and all peers except `docs`.
fn implementer() -> Conversation {
    Conversation::when("implement", "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(r#"LOOPGATE_ADD_DIRS="(?P<peers>[^"]+)""#)
        .turn([
            ModelStep::text("Both need a file."),
            ModelStep::bash(
                "echo page > feature.txt; printf '%s\\n' '{{peers}}' | tr '|' '\\n' | grep -v docs-loop | \
                 while read -r dir; do echo peer > \"$dir/feature.txt\"; done; \
                 echo \"names: $LOOPGATE_ADD_DIR_NAMES map: $LOOPGATE_REPO_MAP\"",
            ),
        ])
        .says("Done.\n\n<promise>COMPLETE</promise>")
}

fn worktrees(desktop: &TestDesktop, name: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(desktop.testbed.sandbox())?.flatten().map(|entry| entry.path());
    let prefix = format!("{name}-loop-");
    let matches =
        |path: &PathBuf| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&prefix));
    Ok(entries.filter(matches).collect())
}

/// Returns the results of a completed execution, one entry per repository.
fn results(run: &Run) -> Result<&Vec<Value>> {
    run.completed("execute")?;
    run.last["results"].as_array().with_context(|| format!("{}", run.last))
}

// LR-33
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_repository_is_delivered_separately() -> Result<()> {
    let desktop = TestDesktop::playing([implementer()]).await?;
    let names = ["acme/web", "acme/docs", "acme/locked"];
    let mut clones = Vec::new();
    for name in names {
        clones.push(desktop.testbed.add_repository(name, &FILES)?);
    }
    // A `pre-receive` hook rejects every push to acme/locked.
    let hook = desktop.testbed.remotes.bare("acme/locked").join("hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().context("a parent")?)?;
    std::fs::write(&hook, "#!/bin/sh\necho 'this repository is locked' >&2\nexit 1\n")?;
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755))?;
    let peers: Vec<Value> = names.iter().map(|name| json!({"fullName": name, "branch": "main"})).collect();
    let order = json!({"command": "EXECUTE", "prompt": "Add a file", "additionalRepos": peers});
    let trust = TrustStore::new(&desktop.loopgate.setup().data_dir());
    trust.set_test_command(&clones[0].canonicalize()?, Some("test -f README.md"))?;
    let run = desktop.run(order).await?;

    let results = results(&run)?;
    let outcomes = [&results[0], &results[1]].map(|one| &one["tests"]["outcome"]);
    ensure!(outcomes == ["not-run", "passed"], "{results:?}");
    let log = results[1]["tests"]["head"]["log"].as_str().context("a log")?;
    ensure!(run.worktree()?.join(".loopgate/work").join(log).is_file(), "{log}");
    let actual: Vec<(&Value, &Value)> =
        results.iter().map(|one| (&one["status"], &one["fullName"])).collect();
    let expected = [
        ("success", story::REPOSITORY),
        ("success", "acme/web"),
        ("skipped", "acme/docs"),
        ("failed", "acme/locked"),
    ];
    ensure!(
        actual
            .iter()
            .zip(expected)
            .all(|(actual, expected)| actual.0 == expected.0 && actual.1 == expected.1),
        "{results:?}"
    );
    ensure!(results.len() == 4 && results[2]["reason"] == "no_changes", "{results:?}");
    let error = results[3]["error"].as_str().unwrap_or_default();
    ensure!(!error.is_empty() && !error.contains(&*desktop.testbed.home.path().to_string_lossy()), "{error}");
    ensure!(run.last["warnings"] == json!(["GIT_PUSH_FAILED"]), "{}", run.last);
    ensure!(
        run.last["result"]["prUrl"] == results[0]["prUrl"]
            && results[0]["branchName"] == "orchestrator/shop-7"
    );

    for (name, entry) in [(story::REPOSITORY, &results[0]), ("acme/web", &results[1])] {
        let pulls = desktop.testbed.host.pull_requests(name);
        ensure!(pulls.len() == 1, "{name}: {pulls:?}");
        let pull = &pulls[0];
        ensure!(entry["prUrl"] == format!("https://github.com/{name}/pull/{}", pull.number), "{entry}");
        ensure!(entry["branchName"] == pull.head && entry["baseBranch"] == "main", "{entry}");
        let files: Vec<String> = pull.files()?.into_iter().map(|file| file.path).collect();
        ensure!(files == ["feature.txt"], "{files:?}");
        ensure!(entry["commitSha"] == pull.commits()?[0].sha, "{entry}");
    }
    let branch = results[1]["branchName"].as_str().context("a branch")?;
    let key = branch.strip_prefix("orchestrator/shop-7-main-").context(branch.to_owned())?;
    ensure!(key.len() == 8 && key.chars().all(|letter| letter.is_ascii_hexdigit()), "{branch}");
    let worktree = desktop.testbed.sandbox().join(format!("web-loop-shop-7-main-{key}"));
    ensure!(worktrees(&desktop, "web")? == [worktree.clone()], "the worktree with the work was removed");
    ensure!(worktrees(&desktop, "docs")?.is_empty(), "an unchanged worktree remains");
    let locked = worktrees(&desktop, "locked")?;
    ensure!(locked.len() == 1 && locked[0].join("feature.txt").is_file(), "unpushed work was removed");
    ensure!(desktop.testbed.host.pull_requests("acme/docs").is_empty());

    let output = desktop.testbed.model.requests_of("implement").pop().context("no request")?.tool_results();
    ensure!(
        output.contains("names: web|docs|locked")
            && output.contains(&format!("map: web={}|", worktree.display())),
        "{output}"
    );
    let uploaded = desktop.uploaded(run.id);
    ensure!(uploaded["artifacts"]["executionResult"]["results"].as_array() == Some(results), "{uploaded}");
    for clone in &clones {
        ensure!(git(clone, &["status", "--porcelain", "--ignored"])?.is_empty());
        ensure!(git(clone, &["branch", "--show-current"])? == "main");
    }
    desktop.check_clean(&run, &[]).await?;

    // Without the hook, the next run delivers the remaining commit and repeats no other delivery.
    std::fs::remove_file(&hook)?;
    let order = json!({"command": "EXECUTE", "prompt": "Add a file", "additionalRepos": peers});
    let second = desktop.run(order).await?;
    let results = self::results(&second)?;
    ensure!(results[3]["status"] == "success" && results[3]["fullName"] == "acme/locked", "{results:?}");
    for name in [story::REPOSITORY, "acme/web", "acme/locked"] {
        let pulls = desktop.testbed.host.pull_requests(name);
        ensure!(pulls.len() == 1 && pulls[0].commits()?.len() == 1, "{name}: {pulls:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_delivery_resumes_at_its_repository() -> Result<()> {
    let mut desktop = TestDesktop::playing([implementer()]).await?;
    desktop.testbed.add_repository("acme/web", &FILES)?;
    let peers = json!([{"fullName": "acme/web", "branch": "main"}]);
    let order = json!({"command": "EXECUTE", "prompt": "Add a file", "additionalRepos": peers});
    let mut push = desktop.testbed.remotes.hold_push("acme/web")?;
    let (id, started) = desktop.start(order).await?;
    push.started().await?;
    // The main repository is delivered, the peer's delivery is held: the crash falls between the two.
    desktop.loopgate.kill().await?;
    let desktop = desktop.restart().await?;
    push.release()?;
    let last = desktop.wait_finished(id).await;
    desktop.wait_released(id).await?;
    let run = Run { id, started, last };
    let results = results(&run)?;
    ensure!(results.iter().all(|one| one["status"] == "success") && results.len() == 2, "{results:?}");
    for name in [story::REPOSITORY, "acme/web"] {
        let pulls = desktop.testbed.host.pull_requests(name);
        ensure!(pulls.len() == 1 && pulls[0].commits()?.len() == 1, "{name}: {pulls:?}");
    }
    ensure!(desktop.cloud.events(id, "completed").len() == 1);
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_reads_peers_without_changing_them() -> Result<()> {
    let planner = Conversation::when("plan", "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(r#"LOOPGATE_ADD_DIRS="(?P<peer>[^"]+)""#)
        .turn([ModelStep::bash("cat '{{peer}}/README.md'; echo scratch > '{{peer}}/scratch.txt'")])
        .turn([ModelStep::write("{{workdir}}/plan.md", story::PLAN_MARKDOWN)])
        .runs("loopgate plan build '{{workdir}}'")
        .runs(
            "loopgate plan set-state 'Phase 1.1: Checkpoint' AWAITING_USER --workdir '{{workdir}}' \
             --action 'Read the plan' --action-file '{{workdir}}/plan.md'",
        )
        .says("Planned.\n\n<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([planner]).await?;
    let web = desktop.testbed.add_repository("acme/web", &FILES)?;
    let peers = json!([{"localRepoPath": web, "branch": "main"}]);
    let run =
        desktop.run(json!({"command": "PLAN", "prompt": "Add a file", "additionalRepos": peers})).await?;
    run.completed("plan")?;
    ensure!(run.last.get("results").is_none(), "{}", run.last);
    let read = desktop.testbed.model.requests_of("plan").pop().context("no request")?.tool_results();
    ensure!(read.contains("Something"), "{read}");
    // PLAN commits no changes in peers; leftover files remain until the next plan recreates the worktree.
    let peer_worktrees = worktrees(&desktop, "web")?;
    ensure!(
        peer_worktrees.len() == 1 && peer_worktrees[0].join("scratch.txt").is_file(),
        "{peer_worktrees:?}"
    );
    ensure!(git(&peer_worktrees[0], &["log", "--format=%s", "origin/main..HEAD"])?.is_empty());
    let branches = desktop.testbed.remotes.branches("acme/web")?;
    ensure!(branches.keys().collect::<Vec<_>>() == ["main"], "{branches:?}");
    let second =
        desktop.run(json!({"command": "PLAN", "prompt": "Add a file", "additionalRepos": peers})).await?;
    second.completed("plan")?;
    ensure!(worktrees(&desktop, "web")? == peer_worktrees, "the worktree is at another path");
    desktop.check_clean(&second, &[Path::new("/nonexistent")]).await
}
