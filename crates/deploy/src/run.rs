//! One run of a worktree: its record, and the command that starts it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use loopgate_tools::process::{Command, ProcessStart, alive};
use regex::Regex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::loopback::LoopbackUrl;
use crate::markers::{FailedCommand, Failure};
use crate::ports::{Listening, group_of, works_in};
use crate::settings::Deployment;

/// Runs the install command `$1`, then the command `$2`, and notes in `$3` what came of it; then whatever is left of
/// the group ends too. It leads the group, so that a run has one pid for all of its life, and outlives Loopgate.
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

/// What a shell adds to the number of a signal.
const SIGNALLED: i32 = 128;

/// How far a run has come. It goes forward only: `Starting`, then `Up` or `Failed`, then `Ended` or `Stopped`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Phase {
    /// It is installed or started, and does not answer yet.
    Starting,
    /// It answered.
    Up,
    /// It did not answer in time; its process is left alone.
    Failed,
    /// Its process is gone.
    Ended,
    /// Its process is gone because somebody wanted that.
    Stopped,
}

/// The record of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    pub(crate) id: Uuid,
    pub(crate) repository: PathBuf,
    pub(crate) worktree: PathBuf,
    /// Also of its group.
    pub(crate) pid: u32,
    pub(crate) started: ProcessStart,
    pub(crate) phase: Phase,
    /// The port that was chosen for it.
    pub(crate) port: Option<u16>,
    pub(crate) health_url: Option<String>,
    pub(crate) health_log_pattern: Option<String>,
    pub(crate) additional_ports: Vec<u16>,
    pub(crate) teardown_command: Option<String>,
    /// Its ports belong to a container engine.
    pub(crate) in_container: bool,
}

impl Run {
    pub(crate) fn is_alive(&self) -> bool {
        alive(self.pid, self.started)
    }

    /// Whether a process that listens belongs to it.
    pub(crate) fn owns(&self, listening: &Listening) -> bool {
        group_of(listening.pid) == Some(self.pid) || works_in(listening.pid, &self.worktree)
    }
}

/// Whether a kind of project needs a container engine.
pub(crate) fn needs_engine(deployment: &Deployment) -> bool {
    matches!(deployment.kind.as_deref(), Some("compose" | "dockerfile"))
}

/// What starts a run; its note is what [`noted`] reads.
pub(crate) fn command(
    deployment: &Deployment,
    worktree: &Path,
    environment: BTreeMap<OsString, OsString>,
    port: Option<u16>,
    note: &Path,
) -> Command {
    let moved = port.filter(|port| deployment.port != Some(*port));
    let start = deployment.command.as_deref().unwrap_or_default();
    let start = moved.map_or_else(|| start.to_owned(), |port| on_port(deployment, start, port));
    let command = Command::new("/bin/bash")
        .args(["-c", SCRIPT, "loopgate-deploy"])
        .arg(deployment.install_command.as_deref().unwrap_or_default())
        .arg(start)
        .arg(note)
        .directory(worktree)
        .environment(environment);
    match moved {
        Some(port) => command.env("PORT", port.to_string()),
        None => command,
    }
}

static PACKAGE_SCRIPT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(npm run|bun run|pnpm|yarn) [\w:-]+$").ok());

/// A package script of a tool that takes its port as an argument; all others read `PORT`.
fn on_port(deployment: &Deployment, start: &str, port: u16) -> String {
    let flag = match deployment.kind.as_deref() {
        Some("vite") => "--port",
        Some("next") => "-p",
        _ => return start.to_owned(),
    };
    let runner =
        PACKAGE_SCRIPT.as_ref().and_then(|known| known.captures(start)).map(|found| found[1].to_owned());
    match runner.as_deref() {
        Some("npm run") => format!("{start} -- {flag} {port}"),
        Some(_) => format!("{start} {flag} {port}"),
        None => start.to_owned(),
    }
}

/// The health URL, on the port that was chosen.
pub(crate) fn health_url(deployment: &Deployment, port: Option<u16>) -> Option<String> {
    let text = deployment.health_check_url.clone()?;
    let (own, chosen) = (deployment.port?, port?);
    let moved = LoopbackUrl::parse(&text).filter(|url| own != chosen && url.port() == own).and_then(|url| {
        let mut url = url.url().clone();
        url.set_port(Some(chosen)).ok().map(|()| url.to_string().trim_end_matches('/').to_owned())
    });
    Some(moved.unwrap_or(text))
}

/// What a run noted about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Noted {
    Installing,
    Running,
    /// Ended well.
    Done,
    Failed(Failure),
}

/// Reads the note of a run.
pub(crate) fn noted(note: &Path) -> Noted {
    let text = std::fs::read_to_string(note).unwrap_or_default();
    let mut words = text.split_whitespace();
    let command = match words.next() {
        Some("running") => return Noted::Running,
        Some("install") => FailedCommand::Install,
        Some("deploy") => FailedCommand::Deploy,
        _ => return Noted::Installing,
    };
    match words.next().and_then(|code| code.parse::<i32>().ok()) {
        Some(0) => Noted::Done,
        Some(code) => Noted::Failed(Failure::new(command, Some(code).filter(|code| *code <= SIGNALLED))),
        None => Noted::Failed(Failure::new(command, None)),
    }
}
