//! Container engines with the command line of docker: which one is installed, and whether it can run containers.

use std::time::Duration;

use loopgate_tools::process::{Command, Limits, RunStatus};
use loopgate_tools::programs::{ProgramSource, Programs, ResolvedProgram};
use thiserror::Error;

use crate::settings::Deployment;

/// Engines in the order in which the commands of [`crate::candidates`] look for them.
const ENGINES: [&str; 2] = ["docker", "podman"];
/// For one answer of an engine.
const ENGINE_TIME: Duration = Duration::from_secs(10);

/// Why no container can be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EngineError {
    /// Neither docker nor podman is on the PATH.
    #[error(
        "no container engine was found; install docker or podman, or set another command for this repository"
    )]
    NotInstalled,
    /// The command line tool is there, and its daemon or virtual machine does not answer.
    #[error("{engine} is installed but cannot run containers ({reason}); start it and deploy again")]
    NotRunning {
        /// Name of the tool.
        engine: &'static str,
        /// The last line that the tool printed.
        reason: String,
    },
    /// The tool has no `compose` command.
    #[error("{engine} has no `compose` command; install its Compose plugin and deploy again")]
    NoCompose {
        /// Name of the tool.
        engine: &'static str,
    },
}

/// Whether a kind of project needs a container engine.
pub(crate) fn needs_engine(deployment: &Deployment) -> bool {
    matches!(deployment.kind.as_deref(), Some("compose" | "dockerfile"))
}

/// The engine on the PATH.
pub(crate) async fn find(programs: &Programs) -> Option<(&'static str, ResolvedProgram)> {
    for name in ENGINES {
        let program = programs.search(name).await;
        if program.source == ProgramSource::Path {
            return Some((name, program));
        }
    }
    None
}

/// Whether the engine can run containers, and has what a kind of project needs.
pub(crate) async fn check(programs: &Programs, deployment: &Deployment) -> Result<(), EngineError> {
    let (engine, program) = find(programs).await.ok_or(EngineError::NotInstalled)?;
    let environment = programs.environment().await;
    let ask = |args: &[&str]| {
        let command = Command::new(&program.path).args(args).environment(environment.clone()).session();
        async move { command.run(Limits::time(ENGINE_TIME)).await }
    };
    let not_running = |reason: String| EngineError::NotRunning { engine, reason };
    let info = ask(&["info"]).await.map_err(|error| not_running(error.to_string()))?;
    if info.status == RunStatus::TimedOut {
        return Err(not_running(format!("no answer within {} s", ENGINE_TIME.as_secs())));
    }
    if !info.status.success() {
        let printed = info.stderr_text();
        let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty());
        let reason = last.unwrap_or("it printed no reason").trim_end_matches('.');
        return Err(not_running(reason.to_owned()));
    }
    if deployment.kind.as_deref() == Some("compose") {
        let compose = ask(&["compose", "version"]).await;
        if !compose.is_ok_and(|output| output.status.success()) {
            return Err(EngineError::NoCompose { engine });
        }
    }
    Ok(())
}
