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

/// Grace period between SIGTERM and SIGKILL.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

// Runs the install command `$1`, then the start command `$2`. Writes to `$3` which command runs and with
// which code it exited, then terminates the remaining group. The script is the group's leader, which gives
// the run a single process id for its whole life, even when Loopgate is not running.
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

// A shell reports a command that a signal has terminated as 128 plus the number of the signal.
const SIGNAL_BASE: i32 = 128;

/// Phase of a run. Phases only advance: `Starting`, then `Up` or `Failed`, then `Ended` or `Stopped`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DeployPhase {
    /// Installing or starting; no health check has succeeded yet.
    Starting,
    /// A health check has succeeded.
    Up,
    /// No health check succeeded in time, or its URL was forbidden. The process keeps running.
    Failed,
    /// The process has exited.
    Ended,
    /// A request has stopped the process.
    Stopped,
}

/// The persisted record of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeployRun {
    pub(crate) id: Uuid,
    pub(crate) repository: PathBuf,
    pub(crate) worktree: PathBuf,
    /// Process id of the leader, and process group id.
    pub(crate) pid: u32,
    pub(crate) started: ProcessStart,
    pub(crate) phase: DeployPhase,
    /// The allocated port, which may differ from the configured one.
    pub(crate) port: Option<u16>,
    pub(crate) health_url: Option<String>,
    pub(crate) health_log_pattern: Option<String>,
    pub(crate) additional_ports: Vec<u16>,
    pub(crate) teardown_command: Option<String>,
    /// Whether the start command runs containers, whose processes and ports belong to the engine.
    pub(crate) in_container: bool,
}

impl DeployRun {
    /// Returns whether the leader of the group is alive.
    pub(crate) fn is_alive(&self) -> bool {
        alive(self.pid, self.started)
    }

    /// Returns the listening processes of the group, and those that work in the worktree: daemons may leave
    /// the group. Blocks.
    pub(crate) fn listeners(&self) -> Vec<Listener> {
        let inside = processes_in(&self.worktree);
        let mut all = listeners();
        all.retain(|listener| {
            group_of(listener.pid) == Some(self.pid) || inside.iter().any(|(pid, _)| *pid == listener.pid)
        });
        all
    }
}

/// Returns the command that starts a run. Its shell writes a note, which [`read_note`] parses.
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

/// Adds the port as an argument to a package script of Vite or Next, which ignore `PORT`.
fn with_port(deployment: &Deployment, start: &str, port: u16) -> String {
    let flag = match deployment.kind.as_deref() {
        Some("vite") => "--port",
        Some("next") => "-p",
        _ => return start.to_owned(),
    };
    let runner = PACKAGE_SCRIPT
        .as_ref()
        .and_then(|script| script.captures(start))
        .map(|captures| captures[1].to_owned());
    match runner.as_deref() {
        // npm passes arguments to a script only after `--`.
        Some("npm run") => format!("{start} -- {flag} {port}"),
        Some(_) => format!("{start} {flag} {port}"),
        None => start.to_owned(),
    }
}

/// Returns the health URL with the configured port replaced by the allocated one.
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

/// What the shell of a run has reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunNote {
    /// No report yet: the install command is running.
    Installing,
    /// The start command is running.
    Running,
    /// The start command exited with code 0.
    Succeeded,
    Failed(DeployFailure),
}

/// Reads the note of a run. A missing note means that the install command is running.
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

/// Terminates the process group of a run, even when its leader has exited. Returns whether no process
/// remains.
pub(crate) async fn end_process(run: &DeployRun, grace: Duration) -> bool {
    let outcome = match kill_group(run.pid, run.started, grace).await {
        GroupKillOutcome::NotAlive => kill_orphaned_group(run.pid, &run.worktree, grace).await,
        other => other,
    };
    outcome != GroupKillOutcome::StillAlive
}
