//! Writes agents for worktrees that have none before the loop driver starts, if the user has installed the
//! bootstrap plugin. Best-effort: failures are reported in the loop's output and do not stop the launch.
//!
//! The program first says what a model has to write and what that will cost. If nothing, because the agents of
//! the clone are stored for the same facts, no assistant is started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
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
use crate::process::spawn::{TOOLS, prepend_exe_to_path};
use crate::workspace::Workspace;
use loopgate_tools::environment::{ProcessEnvironment, TrustGuard};

/// Turns the step off with the value `false`.
const SWITCH: &str = "LOOPGATE_AGENT_BOOTSTRAP";
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
    /// This program.
    exe: PathBuf,
    /// Timeout for one worktree.
    time: Duration,
    is_enabled: bool,
}

impl AgentBootstrap {
    pub fn new(jobs: Jobs, environment: ProcessEnvironment, exe: PathBuf, time: Duration) -> Self {
        let is_enabled = std::env::var(SWITCH).map_or(true, |value| value.trim() != "false");
        Self { jobs, environment, exe, time, is_enabled }
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
        let outcome = match reason_to_skip(worktree.as_path(), service.is_enabled).await {
            Some(reason) => format!("[bootstrap-skipped] {name}: {reason}"),
            None => {
                let outcome = service.write_agents(id, worktree, assistant).await;
                // A run that timed out may have written some agents already.
                install_agents(worktree.clone()).await;
                outcome
            }
        };
        report(service, id, &outcome).await;
    }
}

async fn reason_to_skip(worktree: &Path, is_enabled: bool) -> Option<&'static str> {
    if !is_enabled {
        return Some("turned off by LOOPGATE_AGENT_BOOTSTRAP");
    }
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

impl AgentBootstrap {
    /// Writes the agents of a worktree, and returns the line to report.
    async fn write_agents(&self, id: LoopId, worktree: &SandboxedPath, assistant: &Path) -> String {
        let (name, path) = (worktree.base_name(), worktree.as_path());
        let output_dir = path.join(OUTPUT_DIR);
        let (mut environment, guard) = self.environment.guarded(&[path]).await;
        // The plugin calls the program by its name.
        prepend_exe_to_path(&mut environment, &self.exe);
        let dry_run = match self.program(id, path, &environment, &["--dry-run"]).await {
            Ok(output) => output,
            Err(error) => return outcome(&name, Err(error)),
        };
        if !dry_run.status.success() {
            return outcome(&name, Ok(dry_run));
        }
        let text = dry_run.stdout_text();
        let cost = text.lines().last().unwrap_or_default();
        report(self, id, &format!("[bootstrap-cost] {name}: {cost}")).await;
        let result = if is_complete(cost) {
            self.program(id, path, &environment, &["--output-dir", &output_dir.to_string_lossy()]).await
        } else {
            self.session(id, path, environment, &guard, assistant).await
        };
        outcome(&name, result)
    }

    /// Runs the program itself. Agents that failed with the same facts are not asked for again.
    async fn program(
        &self,
        id: LoopId,
        worktree: &Path,
        environment: &BTreeMap<OsString, OsString>,
        args: &[&str],
    ) -> Result<Output, StartError> {
        let command = Command::new(&self.exe).args(["bootstrap", "run", "--skip-failed"]).args(args);
        self.run(command, id, worktree, environment.clone()).await
    }

    /// Runs the assistant with the plugin.
    async fn session(
        &self,
        id: LoopId,
        worktree: &Path,
        environment: BTreeMap<OsString, OsString>,
        guard: &TrustGuard,
        assistant: &Path,
    ) -> Result<Output, StartError> {
        let prompt = format!("{COMMAND} --output-dir {}", worktree.join(OUTPUT_DIR).display());
        let command =
            Command::new(assistant).args(&guard.args).args(["-p", &prompt, "--allowedTools", TOOLS]);
        self.run(command, id, worktree, environment).await
    }

    async fn run(
        &self,
        command: Command,
        id: LoopId,
        worktree: &Path,
        environment: BTreeMap<OsString, OsString>,
    ) -> Result<Output, StartError> {
        // No grace period: nothing of a run that timed out needs to be finished.
        let limits = Limits { grace: Duration::ZERO, ..Limits::time(self.time) };
        let command = command
            .directory(worktree)
            .environment(environment)
            // Recovery finds the process by this variable if the runtime crashes.
            .env(env::LOOP_ID, id.to_string());
        command.run(limits).await
    }
}

/// Returns whether a dry run says that a model has nothing to write.
fn is_complete(cost: &str) -> bool {
    cost.split_once(" agents: ").is_some_and(|(_, rest)| rest.starts_with("0 to be written"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_agents_need_no_assistant() {
        assert!(is_complete("7 agents: 0 to be written; about 0 input and 0 output tokens, $0.00"));
        assert!(!is_complete("7 agents: 10 to be written; about 9000 input and 8400 output tokens, $0.15"));
        assert!(!is_complete(""));
    }
}
