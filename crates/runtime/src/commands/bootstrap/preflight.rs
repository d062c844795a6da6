//! Writes agents for worktrees that have none before the loop driver starts, if the user has installed the
//! bootstrap plugin. Best-effort: failures are reported in the loop's output and do not stop the launch.

use std::io;
use std::path::Path;
use std::time::Duration;

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::names::env;
use loopgate_api::redact;
use loopgate_home::{DirEntry, Directory, SandboxedPath, untrusted};
use loopgate_tools::process::{Command, Limits, Output, ProcessStatus, StartError};

use super::COMMAND;
use super::result::METADATA;
use crate::commands::plugins;
use crate::jobs::Jobs;
use crate::process::spawn::TOOLS;
use crate::workspace::Workspace;
use loopgate_tools::environment::ProcessEnvironment;

const PLUGIN: &str = "bootstrap";
const AGENTS: &str = ".claude/agents";
// The assistant refuses to write to `.claude` in its working tree, so agents are written here and moved
// afterwards.
const OUTPUT_DIR: &str = ".loopgate/bootstrap/agents";
// 1 MiB. Larger files are not agent definitions and are not copied.
const MAX_AGENT: u64 = 1024 * 1024;
// Upper bounds for the output of a failed run in a message.
const TAIL_BYTES: usize = 4096;
const TAIL_LINES: usize = 50;

/// Writes agents for worktrees that have none.
#[derive(Clone)]
pub(crate) struct AgentBootstrap {
    jobs: Jobs,
    environment: ProcessEnvironment,
    /// Timeout for one worktree.
    time: Duration,
}

impl AgentBootstrap {
    pub const fn new(jobs: Jobs, environment: ProcessEnvironment, time: Duration) -> Self {
        Self { jobs, environment, time }
    }

    /// Prepares the worktrees of a loop, peer repositories first.
    pub async fn prepare(&self, id: LoopId, workspace: &Workspace, assistant: &Path) {
        prepare_agents(self, id, workspace, assistant).await;
    }
}

async fn prepare_agents(service: &AgentBootstrap, id: LoopId, workspace: &Workspace, assistant: &Path) {
    let peers = workspace.peers.iter().map(|place| &place.prepared.dir);
    for worktree in peers.chain(&workspace.worktree) {
        let name = worktree.base_name();
        report(service, id, &format!("[bootstrap-started] {name}")).await;
        let outcome = match reason_to_skip(worktree.as_path()).await {
            Some(reason) => format!("[bootstrap-skipped] {name}: {reason}"),
            None => {
                let result = bootstrap(service, id, worktree.as_path(), assistant).await;
                // A run that timed out may have written some agents already.
                install_agents(worktree.clone()).await;
                outcome(&name, result)
            }
        };
        report(service, id, &outcome).await;
    }
}

async fn reason_to_skip(worktree: &Path) -> Option<&'static str> {
    let worktree = worktree.to_owned();
    let reason = tokio::task::spawn_blocking(move || {
        if untrusted::is_file(&worktree.join(METADATA)) || has_agents(&worktree) {
            Some("agents already exist")
        } else if plugins::installed_for_user(PLUGIN) {
            None
        } else {
            Some("the bootstrap plugin is not installed")
        }
    });
    reason.await.unwrap_or(Some("failed to read the worktree"))
}

fn is_markdown(entry: &DirEntry) -> bool {
    Path::new(&entry.name).extension().is_some_and(|kind| kind == "md")
}

fn has_agents(worktree: &Path) -> bool {
    let agents =
        Directory::of(worktree).and_then(|worktree| worktree.directory(Path::new(AGENTS))?.entries());
    agents.unwrap_or_default().iter().any(is_markdown)
}

async fn bootstrap(
    service: &AgentBootstrap,
    id: LoopId,
    worktree: &Path,
    assistant: &Path,
) -> Result<Output, StartError> {
    // No grace period: nothing of a run that timed out needs to be finished.
    let limits = Limits { grace: Duration::ZERO, ..Limits::time(service.time) };
    let prompt = format!("{COMMAND} --output-dir {}", worktree.join(OUTPUT_DIR).display());
    let (environment, guard) = service.environment.guarded(&[worktree]).await;
    let command = Command::new(assistant)
        .args(&guard.args)
        .args(["-p", &prompt, "--allowedTools", TOOLS])
        .directory(worktree)
        .environment(environment)
        // Recovery finds the process by this variable if the runtime crashes.
        .env(env::LOOP_ID, id.to_string());
    command.run(limits).await
}

/// Copies the agents to the directory in which the assistant searches for them. Existing files are kept.
async fn install_agents(worktree: SandboxedPath) {
    let copied = tokio::task::spawn_blocking(move || -> io::Result<()> {
        // Relative to an open directory: links in the worktree must not redirect the copy.
        let worktree = worktree.open_directory()?;
        let Ok(output) = worktree.directory(Path::new(OUTPUT_DIR)) else { return Ok(()) };
        for DirEntry { name, .. } in output.entries()?.into_iter().filter(is_markdown) {
            let Ok(agent) = output.read(Path::new(&name), MAX_AGENT) else { continue };
            let agents = worktree.create_directory(Path::new(AGENTS))?;
            if !agents.exists(Path::new(&name)) {
                agents.replace_public(&name, &agent)?;
            }
        }
        Ok(())
    });
    if let Ok(Err(error)) = copied.await {
        tracing::warn!(%error, "failed to install the agents of a worktree");
    }
}

fn outcome(name: &str, result: Result<Output, StartError>) -> String {
    let output = match result {
        Ok(output) => output,
        Err(error) => return format!("[bootstrap-failed] {name}: {}", redact::cause(&error.to_string())),
    };
    let status = match output.status {
        ProcessStatus::Exited(0) => return format!("[bootstrap-completed] {name}"),
        ProcessStatus::TimedOut => return format!("[bootstrap-timeout] {name}"),
        ProcessStatus::Exited(code) => format!("exit code {code}"),
        ProcessStatus::Signalled(signal) => format!("signal {signal}"),
        ProcessStatus::OutputTooLarge => "output too large".to_owned(),
    };
    let printed = redact::tail(&output.stderr_text(), TAIL_BYTES, TAIL_LINES)
        .or_else(|| redact::tail(&output.stdout_text(), TAIL_BYTES, TAIL_LINES));
    let printed = printed.map(|text| format!(": {text}")).unwrap_or_default();
    format!("[bootstrap-failed] {name}: {status}{printed}")
}

/// Reports progress through the outbox, which also delivers it when the control plane is temporarily
/// unreachable.
async fn report(service: &AgentBootstrap, id: LoopId, text: &str) {
    let event = LoopEvent::note(text);
    if let Err(error) = service.jobs.enqueue_event(id, &event).await {
        tracing::warn!(loop_id = %id, %error, "failed to enqueue bootstrap progress");
    }
}
