//! One run of a worktree: its record, and the command that starts it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use loopgate_tools::process::{
    Command, GroupKillOutcome, ProcessStart, alive, kill_group, kill_orphaned_group, processes_in,
};
use regex::Regex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::loopback::LoopbackUrl;
use crate::markers::{DeployFailure, FailedCommand};
use crate::ports::{Listener, group_of, listeners};
use crate::settings::Deployment;

/// Between SIGTERM and SIGKILL.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Runs the install command `$1`, then the start command `$2`, and writes to `$3` which one runs or how it ended; then
/// it ends the rest of its group. As the group's leader it gives a run one pid for all of its life, also without
/// Loopgate.
const SCRIPT: &str = r#"
finish() { printf '%s %s\n' "$1" "$2" > "$3"; trap '' TERM; kill -TERM 0; exit "$2"; }
if [ -n "$1" ]; then
  /bin/bash -c "$1"; code=$?
  [ "$code" -eq 0 ] || finish install "$code" "$3"
fi
printf 'running\n' > "$3"
/bin/bash -c "$2"
finish deploy "$?" "$3"
"#;

/// A shell reports a command that a signal ended with this number plus the signal's.
const SIGNAL_BASE: i32 = 128;

/// Phase of a run. It only advances: `Starting`, then `Up` or `Failed`, then `Ended` or `Stopped`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DeployPhase {
    /// It is being installed or started, and no health check has succeeded yet.
    Starting,
    /// A health check succeeded.
    Up,
    /// No health check succeeded in time, or its URL was refused; the process is left running.
    Failed,
    /// Its process exited.
    Ended,
    /// Its process was stopped by a request.
    Stopped,
}

/// The record of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeployRun {
    pub(crate) id: Uuid,
    pub(crate) repository: PathBuf,
    pub(crate) worktree: PathBuf,
    /// Process id of the leader, and id of its group.
    pub(crate) pid: u32,
    pub(crate) started: ProcessStart,
    pub(crate) phase: DeployPhase,
    /// The port that was allocated for it.
    pub(crate) port: Option<u16>,
    pub(crate) health_url: Option<String>,
    pub(crate) health_log_pattern: Option<String>,
    pub(crate) additional_ports: Vec<u16>,
    pub(crate) teardown_command: Option<String>,
    /// The start command runs containers, whose processes and ports belong to the engine.
    pub(crate) in_container: bool,
}

impl DeployRun {
    /// Whether its leader runs.
    pub(crate) fn is_alive(&self) -> bool {
        alive(self.pid, self.started)
    }

    /// The listening processes of its group, and those that work in its worktree. Blocks.
    pub(crate) fn listeners(&self) -> Vec<Listener> {
        let inside = processes_in(&self.worktree);
        let mut all = listeners();
        all.retain(|one| {
            group_of(one.pid) == Some(self.pid) || inside.iter().any(|(pid, _)| *pid == one.pid)
        });
        all
    }
}

/// The command that starts a run. Its shell writes to `note`, which [`read_note`] reads.
pub(crate) fn command(
    deployment: &Deployment,
    worktree: &Path,
    environment: BTreeMap<OsString, OsString>,
    port: Option<u16>,
    note: &Path,
) -> Command {
    let other_port = port.filter(|port| deployment.port != Some(*port));
    let start = deployment.command.as_deref().unwrap_or_default();
    let start = other_port.map_or_else(|| start.to_owned(), |port| with_port(deployment, start, port));
    let command = Command::new("/bin/bash")
        .args(["-c", SCRIPT, "loopgate-deploy"])
        .arg(deployment.install_command.as_deref().unwrap_or_default())
        .arg(start)
        .arg(note)
        .directory(worktree)
        .environment(environment);
    match other_port {
        Some(port) => command.env("PORT", port.to_string()),
        None => command,
    }
}

static PACKAGE_SCRIPT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(npm run|bun run|pnpm|yarn) [\w:-]+$").ok());

/// Adds the port as an argument to a package script of Vite or Next; other commands read `PORT`.
fn with_port(deployment: &Deployment, start: &str, port: u16) -> String {
    let flag = match deployment.kind.as_deref() {
        Some("vite") => "--port",
        Some("next") => "-p",
        _ => return start.to_owned(),
    };
    let runner =
        PACKAGE_SCRIPT.as_ref().and_then(|script| script.captures(start)).map(|found| found[1].to_owned());
    match runner.as_deref() {
        Some("npm run") => format!("{start} -- {flag} {port}"),
        Some(_) => format!("{start} {flag} {port}"),
        None => start.to_owned(),
    }
}

/// The health URL, with the allocated port in the place of the configured one.
pub(crate) fn health_url(deployment: &Deployment, port: Option<u16>) -> Option<String> {
    let text = deployment.health_check_url.clone()?;
    let (configured, allocated) = (deployment.port?, port?);
    let is_configured = |url: &LoopbackUrl| configured != allocated && url.port() == configured;
    let replaced = LoopbackUrl::parse(&text).filter(is_configured).and_then(|url| {
        let mut url = url.url().clone();
        url.set_port(Some(allocated)).ok().map(|()| url.to_string().trim_end_matches('/').to_owned())
    });
    Some(replaced.unwrap_or(text))
}

/// What the shell of a run wrote about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunNote {
    /// Nothing yet: the install command runs.
    Installing,
    /// The start command runs.
    Running,
    /// The start command ended with code 0.
    Succeeded,
    Failed(DeployFailure),
}

/// Reads the note of a run; a missing one means that it is being installed.
pub(crate) fn read_note(note: &Path) -> RunNote {
    let text = std::fs::read_to_string(note).unwrap_or_default();
    let mut words = text.split_whitespace();
    let command = match words.next() {
        Some("running") => return RunNote::Running,
        Some("install") => FailedCommand::Install,
        Some("deploy") => FailedCommand::Deploy,
        _ => return RunNote::Installing,
    };
    match words.next().and_then(|code| code.parse::<i32>().ok()) {
        Some(0) => RunNote::Succeeded,
        Some(code) => {
            RunNote::Failed(DeployFailure::new(command, Some(code).filter(|code| *code <= SIGNAL_BASE)))
        }
        None => RunNote::Failed(DeployFailure::new(command, None)),
    }
}

/// Ends the group of a run, also when its leader is gone. Returns whether nothing of it is left.
pub(crate) async fn end_process(run: &DeployRun, grace: Duration) -> bool {
    let outcome = match kill_group(run.pid, run.started, grace).await {
        GroupKillOutcome::NotAlive => kill_orphaned_group(run.pid, &run.worktree, grace).await,
        other => other,
    };
    outcome != GroupKillOutcome::StillAlive
}
