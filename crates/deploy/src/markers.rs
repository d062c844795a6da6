//! Files in a worktree that publish the state of its deployment to other programs. Programs in the worktree
//! can write them too, so their content never causes a signal or a command.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::WORK_DIR;
use loopgate_home::untrusted;
use loopgate_tools::process::ProcessStart;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::loopback::LoopbackUrl;

/// The step of a run that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailedCommand {
    Install,
    Deploy,
    HealthCheckTimeout,
    HealthCheckPolicy,
}

/// The content of `deploy-exit.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeployFailure {
    /// Exit code of the command; `None` after a signal, -1 for a failed health check.
    pub(crate) exit_code: Option<i32>,
    pub(crate) failed_command: FailedCommand,
    /// Details for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl DeployFailure {
    pub(crate) const fn new(failed_command: FailedCommand, exit_code: Option<i32>) -> Self {
        Self { exit_code, failed_command, reason: None }
    }

    /// Returns the error message for the user.
    pub(crate) fn text(&self) -> String {
        let message = match self.failed_command {
            FailedCommand::Install => "Install command failed",
            FailedCommand::Deploy => "Deploy command failed",
            FailedCommand::HealthCheckTimeout => "Health check timed out",
            FailedCommand::HealthCheckPolicy => "The health check URL is not a loopback URL; use localhost",
        };
        let is_command = matches!(self.failed_command, FailedCommand::Install | FailedCommand::Deploy);
        let code = match self.exit_code {
            Some(code) if is_command => format!(" with exit code {code}"),
            None if is_command => " because of a signal".to_owned(),
            _ => String::new(),
        };
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{message}{code}{reason}")
    }
}

/// The content of `deploy-result.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeployResult {
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) service_id: Option<String>,
}

/// The marker files of one worktree. All methods perform blocking I/O.
#[derive(Debug, Clone)]
pub(crate) struct Markers(PathBuf);

impl Markers {
    pub(crate) fn of(worktree: &Path) -> Self {
        Self(worktree.join(WORK_DIR))
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.join("deploy.log")
    }

    fn exit(&self) -> PathBuf {
        self.0.join("deploy-exit.json")
    }

    fn result(&self) -> PathBuf {
        self.0.join("deploy-result.json")
    }

    fn pid(&self) -> PathBuf {
        self.0.join("deploy.pid")
    }

    pub(crate) fn failure(&self) -> Option<DeployFailure> {
        untrusted::read_json(&self.exit())
    }

    /// Reads `deploy-result.json`; ignores it when its URL is not on this machine.
    pub(crate) fn success(&self) -> Option<DeployResult> {
        untrusted::read_json(&self.result())
            .filter(|success: &DeployResult| LoopbackUrl::parse(&success.url).is_some())
    }

    pub(crate) fn write_failure(&self, failure: &DeployFailure) {
        self.write(&self.exit(), &json!(failure));
    }

    pub(crate) fn write_success(&self, url: &str) {
        self.write(&self.result(), &json!({"url": url}));
    }

    pub(crate) fn write_pid(&self, pid: u32, started: ProcessStart) {
        self.write(&self.pid(), &json!({"pid": pid, "startedAt": started}));
    }

    fn write(&self, path: &Path, content: &serde_json::Value) {
        // Best-effort: a worktree that is read-only or was removed must not fail the run.
        if let Err(error) = untrusted::write(path, content.to_string().as_bytes()) {
            tracing::warn!(%error, "failed to write a deployment marker");
        }
    }

    /// Removes the markers of the previous run and renames its log to `deploy.log.1`.
    pub(crate) fn reset(&self) -> io::Result<()> {
        untrusted::create_directory(&self.0)?;
        self.clear();
        match untrusted::rename(&self.log(), "deploy.log.1".as_ref()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the markers, after which the status is `not-started`.
    pub(crate) fn clear(&self) {
        for path in [self.exit(), self.result(), self.pid()] {
            match untrusted::remove(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, "failed to remove a deployment marker");
                }
                _ => {}
            }
        }
    }
}
