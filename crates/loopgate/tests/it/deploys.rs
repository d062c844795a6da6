//! Deploys across a kill of Loopgate, and in the worktree of a running loop.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::home::UserHome;
use loopgate_testkit::home_processes;
use loopgate_testkit::loopgate::signal;
use loopgate_testkit::{story, wait};
use serde_json::{Value, json};
use tokio::time::{interval, timeout};
use uuid::Uuid;

use crate::loop_routes::{kill, order, plan};
use crate::test_gateway::TestGateway;
use crate::test_system::TestSystem;

const SERVER: &str = "import os
from http.server import HTTPServer, SimpleHTTPRequestHandler
address = ('127.0.0.1', int(os.environ.get('PORT', 8765)))
HTTPServer(address, SimpleHTTPRequestHandler).serve_forever()
";

/// A running deploy of a ticket.
struct Deploy {
    ticket: &'static str,
    worktree: PathBuf,
    pid: u32,
    port: u64,
}

/// Starts a Python server in a worktree of a ticket, and waits until the deploy is completed.
async fn deploy(local: &TestGateway, clone: &Path, ticket: &'static str) -> Result<Deploy> {
    let worktree = clone.with_file_name(format!("shop-{ticket}"));
    git(clone, &["worktree", "add", "--quiet", "-b", ticket, &worktree.to_string_lossy()])?;
    let body = json!({"ticketId": ticket, "repoPath": clone, "worktreePath": worktree});
    let refused = local.post("deploy", body.clone()).await?;
    if refused.status == 403 {
        agree(&local.home, &local.loopgate.setup().data_dir(), &refused.body).await?;
    }
    let started = local.post("deploy", body).await?.ok()?;
    let pid = u32::try_from(started["pid"].as_u64().context("a pid")?)?;
    let port = started["port"].as_u64().context("a port")?;
    let deploy = Deploy { ticket, worktree, pid, port };
    reaches(local, clone, &deploy, "completed").await?;
    Ok(deploy)
}

/// Agrees to the commands of a refused deploy, with the command that the error names.
async fn agree(home: &UserHome, data_dir: &Path, refused: &Value) -> Result<()> {
    let error = refused["error"].as_str().context("an error")?;
    let (_, command) = error.rsplit_once("loopgate trust ").context("a command")?;
    let script = format!("exec \"$0\" trust --home \"$1\" {command}");
    let mut shell = home.command("sh");
    let output = shell.args(["-c", &script, env!("CARGO_BIN_EXE_loopgate")]).arg(data_dir).output().await?;
    ensure!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

async fn status(local: &TestGateway, clone: &Path, deploy: &Deploy) -> Result<Value> {
    let (repo, pid) = (clone.to_string_lossy(), deploy.pid.to_string());
    local.get(&format!("deploy/status/{}", deploy.ticket), &[("repo", &repo), ("pid", &pid)]).await?.ok()
}

/// Polls the status route until a deploy has a status.
async fn reaches(local: &TestGateway, clone: &Path, deploy: &Deploy, expected: &str) -> Result<Value> {
    let mut ticks = interval(Duration::from_millis(100));
    let mut last = Value::Null;
    let reached = async {
        loop {
            ticks.tick().await;
            last = status(local, clone, deploy).await?;
            if last["status"] == expected {
                return anyhow::Ok(());
            }
        }
    };
    timeout(wait::LIMIT, reached).await.with_context(|| format!("not {expected}: {last}"))??;
    Ok(last)
}

/// Returns the pids of the servers in this home, including the shells that started them.
fn servers(local: &TestGateway) -> Vec<u32> {
    let mut processes = home_processes::processes(local.home.path());
    processes.retain(|process| process.command.contains("server.py"));
    processes.into_iter().map(|process| process.pid).collect()
}

// Three deploys survive the kill of Loopgate: one unchanged, one whose worktree is deleted, and one whose
// group leader is killed. The restarted Loopgate terminates the last two, and the first on request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deploys_are_recovered_and_terminated_after_a_restart() -> Result<()> {
    let mut local = TestGateway::new().await?;
    let clone = local.repository("shop", &[("server.py", SERVER)])?;
    local.manage(&[&clone], None)?;
    let unchanged = deploy(&local, &clone, "T-1").await?;
    let removed = deploy(&local, &clone, "T-2").await?;
    let orphaned = deploy(&local, &clone, "T-3").await?;
    local.loopgate.kill().await?;

    for deploy in [&unchanged, &removed, &orphaned] {
        tokio::net::TcpStream::connect(("127.0.0.1", u16::try_from(deploy.port)?)).await?;
    }
    std::fs::remove_dir_all(&removed.worktree)?;
    signal(orphaned.pid, "KILL")?;
    wait::until_exited(orphaned.pid).await?;
    // The leader has exited, but its child still serves the port: the process group has to be terminated as a
    // whole.
    tokio::net::TcpStream::connect(("127.0.0.1", u16::try_from(orphaned.port)?)).await?;

    local.restart().await?;
    wait::until_exited(removed.pid).await?;
    let ended = reaches(&local, &clone, &orphaned, "failed").await?;
    ensure!(ended["error"] == "Deploy command failed because of a signal", "{ended}");
    ensure!(status(&local, &clone, &unchanged).await?["status"] == "completed");
    // A worktree at another place than the settings say.
    let (repo, place) = (clone.to_string_lossy(), unchanged.worktree.to_string_lossy());
    let query = [("repo", &*repo), ("worktree", &*place)];
    ensure!(local.get("deploy/status/T-9", &query).await?.ok()?["status"] == "completed");
    let unchanged_deploy = json!({"repoPath": clone, "worktreePath": unchanged.worktree});
    local.post("deploy/teardown", unchanged_deploy).await?.is(200, &json!({"success": true}))?;
    let removed_deploy = json!({"repoPath": clone, "worktreePath": removed.worktree});
    local.post("deploy/teardown", removed_deploy).await?.is(200, &json!({"success": true}))?;
    wait::all_end(|| servers(&local)).await
}

// DL-42
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deploy_routes_do_not_affect_a_loop_in_the_same_worktree() -> Result<()> {
    let mut script = story::script();
    script.hold(story::PLAN, "planning");
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
    let refused = post("deploy", body.clone()).await?;
    ensure!(refused["code"] == "command_not_trusted", "{refused}");
    agree(&system.testbed.home, &system.loopgate.setup().data_dir(), &refused).await?;
    let deployed = post("deploy", body).await?;
    ensure!(deployed["success"] == true && deployed["pid"] != pid, "{deployed}");
    let killed = post("deploy/kill", json!({"pid": deployed["pid"]})).await?;
    ensure!(killed["message"] == "Process terminated", "{killed}");
    // The pid belongs to a loop, which the deploy routes must not be able to kill.
    let refused = post("deploy/kill", json!({"pid": pid})).await?;
    ensure!(refused["error"] == "process not managed by this gateway", "{refused}");

    ensure!(std::fs::read_to_string(&file)? == before, "the pid file was changed");
    ensure!(Path::new(&format!("/proc/{pid}")).exists(), "the loop was killed");
    kill(&system, loop_id).await?;
    system.no_processes_remain(&loop_id.to_string()).await
}
