//! Container engines with docker's command line: which one is installed, and whether it can run containers.

use std::time::Duration;

use loopgate_tools::process::{Command, Limits, ProcessStatus};
use loopgate_tools::programs::{ProgramSource, Programs, ResolvedProgram};
use thiserror::Error;

use crate::settings::Deployment;

// In the same order as the shell expression of the detected commands (`detect::containers::ENGINE`).
const ENGINES: [&str; 2] = ["docker", "podman"];
// Time limit of one engine command. A client whose daemon does not respond may otherwise wait forever.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why no container can be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EngineError {
    /// Neither docker nor podman is on the PATH.
    #[error(
        "no container engine was found; install docker or podman, or set another command for this repository"
    )]
    NotInstalled,
    /// The command line tool is installed, but its daemon or virtual machine does not respond.
    #[error("{engine} is installed but cannot run containers ({reason}); start it and deploy again")]
    NotRunning {
        /// Name of the program, `docker` or `podman`.
        engine: &'static str,
        /// The last line that the program printed to stderr.
        reason: String,
    },
    /// The program has no `compose` subcommand.
    #[error("{engine} has no `compose` command; install its Compose plugin and deploy again")]
    NoCompose {
        /// Name of the program, `docker` or `podman`.
        engine: &'static str,
    },
}

/// Returns whether the deployment runs containers.
pub(crate) fn needs_engine(deployment: &Deployment) -> bool {
    matches!(deployment.kind.as_deref(), Some("compose" | "dockerfile"))
}

/// Returns the first container engine on the PATH.
pub(crate) async fn find(programs: &Programs) -> Option<(&'static str, ResolvedProgram)> {
    for name in ENGINES {
        let program = programs.search(name).await;
        if program.source == ProgramSource::Path {
            return Some((name, program));
        }
    }
    None
}

/// Checks that the engine can run containers, and that it supports Compose when the deployment needs it.
pub(crate) async fn check(programs: &Programs, deployment: &Deployment) -> Result<(), EngineError> {
    let (engine, program) = find(programs).await.ok_or(EngineError::NotInstalled)?;
    let environment = programs.environment().await;
    let run = |args: &[&str]| {
        let command = Command::new(&program.path).args(args).environment(environment.clone()).session();
        async move { command.run(Limits::time(COMMAND_TIMEOUT)).await }
    };
    let not_running = |reason: String| EngineError::NotRunning { engine, reason };
    // `docker info` fails when the daemon does not respond; `docker version` would report the client only.
    let info = run(&["info"]).await.map_err(|error| not_running(error.to_string()))?;
    if info.status == ProcessStatus::TimedOut {
        return Err(not_running(format!("no response within {} s", COMMAND_TIMEOUT.as_secs())));
    }
    if !info.status.success() {
        let printed = info.stderr_text();
        let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty());
        let reason = last.unwrap_or("no error message was printed").trim_end_matches('.');
        return Err(not_running(reason.to_owned()));
    }
    if deployment.kind.as_deref() == Some("compose") {
        let compose = run(&["compose", "version"]).await;
        if !compose.is_ok_and(|output| output.status.success()) {
            return Err(EngineError::NoCompose { engine });
        }
    }
    Ok(())
}
