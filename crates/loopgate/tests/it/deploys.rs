//! Deploys across the death of Loopgate, and beside a loop in the same worktree.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::signal;
use loopgate_testkit::model::Step;
use loopgate_testkit::{story, wait};
use serde_json::{Value, json};
use tokio::time::{interval, timeout};
use uuid::Uuid;

use crate::direct::{kill, order, plan};
use crate::local::Local;
use crate::test_system::TestSystem;

const SERVER: &str = "import os
from http.server import HTTPServer, SimpleHTTPRequestHandler
address = ('127.0.0.1', int(os.environ.get('PORT', 8765)))
HTTPServer(address, SimpleHTTPRequestHandler).serve_forever()
";

/// A run of a ticket.
struct Deploy {
    ticket: &'static str,
    worktree: PathBuf,
    pid: u32,
    port: u64,
}

/// Starts a Python server for a ticket, and waits until it answers.
async fn deploy(local: &Local, clone: &Path, ticket: &'static str) -> Result<Deploy> {
    let worktree = clone.with_file_name(format!("shop-{ticket}"));
    git(clone, &["worktree", "add", "--quiet", "-b", ticket, &worktree.to_string_lossy()])?;
    let body = json!({"ticketId": ticket, "repoPath": clone, "worktreePath": worktree});
    let started = local.post("deploy", body).await?.ok()?;
    let pid = u32::try_from(started["pid"].as_u64().context("a pid")?)?;
    let port = started["port"].as_u64().context("a port")?;
    let deploy = Deploy { ticket, worktree, pid, port };
    reaches(local, clone, &deploy, "completed").await?;
    Ok(deploy)
}

async fn status(local: &Local, clone: &Path, deploy: &Deploy) -> Result<Value> {
    let (repo, pid) = (clone.to_string_lossy(), deploy.pid.to_string());
    local.get(&format!("deploy/status/{}", deploy.ticket), &[("repo", &repo), ("pid", &pid)]).await?.ok()
}

/// Waits until a deploy has a status.
async fn reaches(local: &Local, clone: &Path, deploy: &Deploy, wanted: &str) -> Result<Value> {
    let mut ticks = interval(Duration::from_millis(100));
    let mut last = Value::Null;
    let reached = async {
        loop {
            ticks.tick().await;
            last = status(local, clone, deploy).await?;
            if last["status"] == wanted {
                return anyhow::Ok(());
            }
        }
    };
    timeout(wait::LIMIT, reached).await.with_context(|| format!("not {wanted}: {last}"))??;
    Ok(last)
}

/// Living servers of the home, with the shells that started them.
fn servers(local: &Local) -> Vec<u32> {
    let mut found = home_processes::processes(local.home.path());
    found.retain(|process| process.command.contains("server.py"));
    found.into_iter().map(|process| process.pid).collect()
}

/// Three runs live on while Loopgate is dead: one as it is, one without its worktree, and one whose leader is killed
/// meanwhile. The next Loopgate ends the last two, and the first on request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_deploy_is_left_after_a_kill_and_a_restart() -> Result<()> {
    let mut local = Local::new().await?;
    let clone = local.repository("shop", &[("server.py", SERVER)])?;
    local.manage(&[&clone], None)?;
    let kept = deploy(&local, &clone, "T-1").await?;
    let removed = deploy(&local, &clone, "T-2").await?;
    let orphaned = deploy(&local, &clone, "T-3").await?;
    local.loopgate.kill().await?;

    for deploy in [&kept, &removed, &orphaned] {
        tokio::net::TcpStream::connect(("127.0.0.1", u16::try_from(deploy.port)?)).await?;
    }
    std::fs::remove_dir_all(&removed.worktree)?;
    signal(orphaned.pid, "KILL")?;
    wait::end_of(orphaned.pid).await?;
    tokio::net::TcpStream::connect(("127.0.0.1", u16::try_from(orphaned.port)?)).await?;

    local.again().await?;
    wait::end_of(removed.pid).await?;
    let ended = reaches(&local, &clone, &orphaned, "failed").await?;
    ensure!(ended["error"] == "Deploy command failed because of a signal", "{ended}");
    ensure!(status(&local, &clone, &kept).await?["status"] == "completed");
    let both = json!({"repoPath": clone, "worktreePath": kept.worktree});
    local.post("deploy/teardown", both).await?.is(200, &json!({"success": true}))?;
    let gone = json!({"repoPath": clone, "worktreePath": removed.worktree});
    local.post("deploy/teardown", gone).await?.is(200, &json!({"success": true}))?;
    wait::all_end(|| servers(&local)).await
}

// DL-42
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deploy_in_the_worktree_of_a_loop_leaves_the_loop_alone() -> Result<()> {
    let mut script = story::script();
    script.conversations[0].turns[0].0.insert(0, Step::hold("planning"));
    let system = TestSystem::playing(script).await?;
    let loop_id = Uuid::new_v4();
    let (code, started) = order(&system, &plan(loop_id, story::REPOSITORY)).await?;
    ensure!(code == 200, "{code} {started}");
    let worktree = Path::new(started["worktreePath"].as_str().context("a worktree")?);
    let pid = u32::try_from(started["pid"].as_u64().context("a pid")?)?;
    system.testbed.model.held("planning").await?;
    let file = worktree.join(".loopgate/work/process.pid");
    let before = std::fs::read_to_string(&file).context("the pid file of the loop")?;

    let post = async |route: &str, body: Value| {
        let request = system.loopgate.gateway(reqwest::Method::POST, &format!("/api/gateway/{route}"));
        anyhow::Ok(request.json(&body).send().await?.json::<Value>().await?)
    };
    let body = json!({"ticketId": "SHOP-7", "repoPath": system.clone, "worktreePath": worktree});
    let deployed = post("deploy", body).await?;
    ensure!(deployed["success"] == true && deployed["pid"] != pid, "{deployed}");
    let killed = post("deploy/kill", json!({"pid": deployed["pid"]})).await?;
    ensure!(killed["message"] == "Process terminated", "{killed}");
    let refused = post("deploy/kill", json!({"pid": pid})).await?;
    ensure!(refused["error"] == "process not managed by this gateway", "{refused}");

    ensure!(std::fs::read_to_string(&file)? == before, "the pid file was changed");
    ensure!(Path::new(&format!("/proc/{pid}")).exists(), "the loop lives");
    kill(&system, loop_id).await?;
    system.alone(&loop_id.to_string()).await
}
