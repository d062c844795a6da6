//! Agents for the worktrees of a loop, before its driver starts: written when there are none and the
//! user has the plugin for it. Whatever comes of it, the loop goes on.

use std::io;
use std::path::Path;
use std::time::Duration;

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::names::env;
use loopgate_api::redact;
use loopgate_home::{DirEntry, Directory, SandboxedPath, untrusted};
use loopgate_tools::process::{Command, Limits, Output, RunStatus, StartError};
use serde_json::json;

use super::COMMAND;
use super::result::METADATA;
use crate::commands::plugins;
use crate::jobs::Jobs;
use crate::process::spawn::TOOLS;
use crate::workspace::Workspace;
use loopgate_tools::environment::ProcessEnvironment;

const PLUGIN: &str = "bootstrap";
const AGENTS: &str = ".claude/agents";
/// Where the agents are written first: the assistant does not write into a directory of its own.
const WRITTEN: &str = ".loopgate/bootstrap/agents";
/// A definition that is larger is left where it is.
const MAX_AGENT: u64 = 1024 * 1024;
/// Of what a failed try printed.
const TAIL_BYTES: usize = 4096;
const TAIL_LINES: usize = 50;

/// Writes agents for worktrees that have none.
#[derive(Clone)]
pub(crate) struct AgentBootstrap {
    jobs: Jobs,
    environment: ProcessEnvironment,
    /// How long the assistant may take for one worktree.
    time: Duration,
}

impl AgentBootstrap {
    pub const fn new(jobs: Jobs, environment: ProcessEnvironment, time: Duration) -> Self {
        Self { jobs, environment, time }
    }

    /// Sees to the agents of every worktree of a loop, those of the peer repositories first.
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
                let ran = bootstrap(service, id, worktree.as_path(), assistant).await;
                put_in_place(worktree.clone()).await;
                outcome(&name, ran)
            }
        };
        report(service, id, &outcome).await;
    }
}

async fn reason_to_skip(worktree: &Path) -> Option<&'static str> {
    let worktree = worktree.to_owned();
    let looked = tokio::task::spawn_blocking(move || {
        if untrusted::is_file(&worktree.join(METADATA)) || has_agents(&worktree) {
            Some("it has agents")
        } else if plugins::installed_for_user(PLUGIN) {
            None
        } else {
            Some("the plugin bootstrap is not installed")
        }
    });
    looked.await.unwrap_or(Some("the worktree cannot be read"))
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
    let limits = Limits { grace: Duration::ZERO, ..Limits::time(service.time) };
    let wish = format!("{COMMAND} --output-dir {}", worktree.join(WRITTEN).display());
    let (environment, guard) = service.environment.guarded(&[worktree]).await;
    let command = Command::new(assistant)
        .args(guard.args)
        .args(["-p", &wish, "--allowedTools", TOOLS])
        .directory(worktree)
        .environment(environment)
        // Found by it when this process dies meanwhile.
        .env(env::LOOP_ID, id.to_string());
    command.run(limits).await
}

/// Hands the agents that were written to the assistant; one that is there already stays.
async fn put_in_place(worktree: SandboxedPath) {
    let moved = tokio::task::spawn_blocking(move || -> io::Result<()> {
        let worktree = worktree.open_directory()?;
        let Ok(written) = worktree.directory(Path::new(WRITTEN)) else { return Ok(()) };
        for DirEntry { name, .. } in written.entries()?.into_iter().filter(is_markdown) {
            let Ok(agent) = written.read(Path::new(&name), MAX_AGENT) else { continue };
            let agents = worktree.make_directory(Path::new(AGENTS))?;
            if !agents.holds(Path::new(&name)) {
                agents.replace_public(&name, &agent)?;
            }
        }
        Ok(())
    });
    if let Ok(Err(error)) = moved.await {
        tracing::warn!(%error, "the agents of a worktree could not be put in their place");
    }
}

fn outcome(name: &str, ran: Result<Output, StartError>) -> String {
    let output = match ran {
        Ok(output) => output,
        Err(error) => return format!("[bootstrap-failed] {name}: {}", redact::cause(&error.to_string())),
    };
    let how = match output.status {
        RunStatus::Exited(0) => return format!("[bootstrap-completed] {name}"),
        RunStatus::TimedOut => return format!("[bootstrap-timeout] {name}"),
        RunStatus::Exited(code) => format!("exit code {code}"),
        RunStatus::Signalled(signal) => format!("signal {signal}"),
        RunStatus::OutputTooLarge => "it printed too much".to_owned(),
    };
    let printed = redact::tail(&output.stderr_text(), TAIL_BYTES, TAIL_LINES)
        .or_else(|| redact::tail(&output.stdout_text(), TAIL_BYTES, TAIL_LINES));
    let printed = printed.map(|text| format!(": {text}")).unwrap_or_default();
    format!("[bootstrap-failed] {name}: {how}{printed}")
}

/// Queued like all output, so that it arrives even when the control plane is away.
async fn report(service: &AgentBootstrap, id: LoopId, text: &str) {
    let event = LoopEvent::new("output", &json!({"data": {"chunk": text}}));
    if let Err(error) = service.jobs.enqueue_event(id, &event).await {
        tracing::warn!(loop_id = %id, %error, "a word about a bootstrap could not be queued");
    }
}
