//! One run of a worktree: its record, and the command that starts it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use loopgate_api::names::env;
use loopgate_tools::process::{
    Command, GroupKillOutcome, ProcessStart, alive, group_members, kill_group, kill_orphaned_group,
    processes_in,
};
use loopgate_tools::shim::{marked_pids, reap_marked};
use regex::Regex;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

use crate::blocking::blocking;
use crate::loopback::LoopbackUrl;
use crate::markers::{DeployFailure, FailedCommand};
use crate::ports::{Listener, group_of, listeners};
use crate::settings::Deployment;

/// Grace period between SIGTERM and SIGKILL.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

// Runs the install command `$1`, then the start command `$2`. Writes to `$3` which command runs and with
// which code it exited, then terminates the remaining group, unless the code is 0: a command that succeeds may
// have started its server in the background. The script is the group's leader, which gives the run a single
// process id for its whole life, even when Loopgate is not running.
const SCRIPT: &str = r#"
finish() {
  printf '%s %s\n' "$1" "$2" > "$3"
  [ "$2" -eq 0 ] && exit 0
  trap '' TERM; kill -TERM 0; exit "$2"
}
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
    /// Whether the port comes from the detection, so that the server may listen on another one.
    #[serde(default)]
    pub(crate) port_is_hint: bool,
    /// URL at which the run responds; absent until a health check succeeds.
    #[serde(default)]
    pub(crate) url: Option<String>,
    /// Directory of the commands, relative to the worktree.
    #[serde(default)]
    pub(crate) directory: Option<String>,
    pub(crate) health_url: Option<String>,
    pub(crate) health_log_pattern: Option<String>,
    pub(crate) additional_ports: Vec<u16>,
    pub(crate) teardown_command: Option<String>,
    /// Processes that could not be terminated. They may have no mark, and no parent by which to find them.
    #[serde(default)]
    pub(crate) survivors: Vec<(u32, ProcessStart)>,
    /// Whether the start command runs containers, whose processes and ports belong to the engine.
    pub(crate) in_container: bool,
}

impl DeployRun {
    /// Returns whether the leader of the group is alive.
    pub(crate) fn is_alive(&self) -> bool {
        alive(self.pid, self.started)
    }

    /// Returns the running processes that the run has started, in whatever group or session, by the id in
    /// their environment. Runs of earlier versions have none. Blocks.
    pub(crate) fn processes(&self) -> io::Result<Vec<u32>> {
        marked_pids(env::DEPLOY_ID, &self.id.to_string())
    }

    /// Returns the ports on which processes of the run listen. Blocks.
    pub(crate) fn ports(&self) -> RunPorts {
        let processes = self.processes().unwrap_or_default();
        let inside = processes_in(&self.worktree);
        let mut all = listeners();
        let is_own = |listener: &Listener| {
            group_of(listener.pid) == Some(self.pid) || processes.contains(&listener.pid)
        };
        let own = all.iter().filter(|listener| is_own(listener)).map(|listener| listener.port);
        let mut own: Vec<u16> = own.collect();
        // Several processes may accept connections on one port.
        own.dedup();
        all.retain(|listener| is_own(listener) || inside.iter().any(|(pid, _)| *pid == listener.pid));
        RunPorts { own, plausible: all.into_iter().map(|listener| listener.port).collect() }
    }

    /// Returns the ports that the run uses, as far as they are known.
    pub(crate) fn known_ports(&self) -> Vec<u16> {
        let served = self.url.as_deref().and_then(LoopbackUrl::parse).map(|url| url.port());
        // Another program may use a port that was only a hint.
        let allocated = self.port.filter(|_| self.in_container || !self.port_is_hint);
        served.into_iter().chain(allocated).chain(self.additional_ports.iter().copied()).collect()
    }
}

/// The ports on which processes of a run listen.
#[derive(Debug, Clone)]
pub(crate) struct RunPorts {
    /// Ports of the processes that the run has started.
    pub(crate) own: Vec<u16>,
    /// These ports, and those of other processes that work in the worktree: a daemon may have cleared its
    /// environment.
    pub(crate) plausible: Vec<u16>,
}

/// The reason why the commands of a run cannot run in their directory.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DirectoryError {
    /// The worktree has no such directory.
    #[error("the worktree has no directory `{0}`; change `directory` in the deployment settings")]
    Missing(String),
    /// The path is absolute, contains `..`, or a symbolic link in it leads out of the worktree.
    #[error(
        "the directory `{0}` is not inside the worktree; set `directory` in the deployment settings to a \
         relative path without `..`"
    )]
    Outside(String),
}

/// Returns the absolute path of the directory in which commands run. Blocks.
pub(crate) fn working_directory(worktree: &Path, directory: Option<&str>) -> Result<PathBuf, DirectoryError> {
    let Some(directory) = directory else { return Ok(worktree.to_owned()) };
    let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(directory).components().all(is_below) {
        return Err(DirectoryError::Outside(directory.to_owned()));
    }
    let path = worktree.join(directory).canonicalize().ok().filter(|path| path.is_dir());
    let path = path.ok_or_else(|| DirectoryError::Missing(directory.to_owned()))?;
    let is_inside = worktree.canonicalize().is_ok_and(|worktree| path.starts_with(worktree));
    if is_inside { Ok(path) } else { Err(DirectoryError::Outside(directory.to_owned())) }
}

/// Returns the command that starts a run. Its shell writes a note, which [`read_note`] parses.
pub(crate) fn command(
    deployment: &Deployment,
    directory: &Path,
    environment: BTreeMap<OsString, OsString>,
    run: &DeployRun,
    note: &Path,
) -> Command {
    let other_port = run.port.filter(|port| deployment.port != Some(*port));
    let start = deployment.command.as_deref().unwrap_or_default();
    let start = other_port.map_or_else(|| start.to_owned(), |port| with_port(deployment, start, port));
    let command = Command::new("/bin/bash")
        .args(["-c", SCRIPT, "loopgate-deploy"])
        .arg(deployment.install_command.as_deref().unwrap_or_default())
        .arg(start)
        .arg(note)
        .directory(directory)
        .environment(environment)
        .env(env::DEPLOY_ID, run.id.to_string());
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

/// Processes of a run that could not be terminated. `Display` is a clause for messages.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Survivors {
    /// Pids, ascending. Empty when the process table could not be read.
    pub pids: Vec<u32>,
}

impl fmt::Display for Survivors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pids.as_slice() {
            [] => f.write_str("the processes of this machine cannot be listed"),
            [pid] => write!(f, "process {pid} is still running"),
            [first @ .., last] => {
                let first: Vec<String> = first.iter().map(u32::to_string).collect();
                write!(f, "processes {} and {last} are still running", first.join(", "))
            }
        }
    }
}

/// Terminates the processes of a run: those with its id in their environment and their descendants, then its group,
/// even when the leader has exited.
///
/// # Errors
/// Fails with [`Survivors`] when a process is still running.
pub(crate) async fn end_process(run: &DeployRun, grace: Duration) -> Result<(), Survivors> {
    let (mut pids, mut verified) = (Vec::new(), true);
    // Processes that the client of a container engine leaves running belong to the engine, and may serve other
    // containers as well. The teardown command stops the containers.
    if !run.in_container {
        // Before the group: descendants that cleared their environment are found only while their parents run.
        let report = reap_marked(env::DEPLOY_ID, &run.id.to_string(), grace).await;
        (pids, verified) = (report.survivors, report.verified);
    }
    let outcome = match kill_group(run.pid, run.started, grace).await {
        GroupKillOutcome::NotAlive => kill_orphaned_group(run.pid, &run.worktree, grace).await,
        other => other,
    };
    if outcome == GroupKillOutcome::StillAlive {
        let group = run.pid;
        let members = blocking(move || group_members(group)).await.flatten();
        verified &= members.is_ok();
        pids.extend(members.unwrap_or_default());
    }
    let earlier = run.survivors.iter().filter(|(pid, started)| alive(*pid, *started));
    pids.extend(earlier.map(|(pid, _)| *pid));
    pids.sort_unstable();
    pids.dedup();
    if verified && pids.is_empty() { Ok(()) } else { Err(Survivors { pids }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survivors_are_named() {
        for (pids, text) in [
            (&[][..], "the processes of this machine cannot be listed"),
            (&[7], "process 7 is still running"),
            (&[7, 8, 9], "processes 7, 8 and 9 are still running"),
        ] {
            assert_eq!(Survivors { pids: pids.to_vec() }.to_string(), text);
        }
    }

    #[test]
    fn record_of_an_earlier_version_is_read() {
        let record = serde_json::json!({"id": Uuid::nil(), "repository": "/r", "worktree": "/w", "pid": 7,
            "started": 1, "phase": "up", "port": 3000, "healthUrl": "http://localhost:3000",
            "healthLogPattern": null, "additionalPorts": [], "teardownCommand": null, "inContainer": false});
        let run: DeployRun = serde_json::from_value(record).unwrap();
        assert_eq!((run.port_is_hint, &run.url, run.known_ports()), (false, &None, vec![3000]));
    }

    #[test]
    fn directory_outside_the_worktree_is_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let worktree = dir.path().join("tree");
        std::fs::create_dir_all(worktree.join("apps/web")).unwrap();
        std::fs::write(worktree.join("file"), "").unwrap();
        let link =
            |target: &Path, name: &str| std::os::unix::fs::symlink(target, worktree.join(name)).unwrap();
        link(dir.path(), "out");
        link(&worktree.join("apps"), "inside");
        link(&worktree.join("loop"), "loop");
        let check = |directory| working_directory(&worktree, Some(directory));
        for inside in ["apps/web", "./apps/web/", "inside/web"] {
            let real = worktree.join("apps/web").canonicalize().unwrap();
            assert_eq!(check(inside), Ok(real), "{inside}");
        }
        for outside in ["..", "apps/../..", "apps/../apps", "/", "/tmp", "out", "out/tree"] {
            let expected = match outside {
                // The link leads out of the worktree and back.
                "out/tree" => Ok(worktree.canonicalize().unwrap()),
                _ => Err(DirectoryError::Outside(outside.to_owned())),
            };
            assert_eq!(check(outside), expected, "{outside}");
        }
        for missing in ["apps/api", "file", "loop", "apps\0web"] {
            assert_eq!(check(missing), Err(DirectoryError::Missing(missing.to_owned())), "{missing}");
        }
    }
}
