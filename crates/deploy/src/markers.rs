//! Files in a worktree with the state of its deploy, for other programs. Programs in the worktree can write them too,
//! so no process is signalled and no command is run because of them.

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

/// `deploy-exit.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeployFailure {
    /// `None` for a signal, -1 for a health check.
    pub(crate) exit_code: Option<i32>,
    pub(crate) failed_command: FailedCommand,
    /// Why, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl DeployFailure {
    pub(crate) const fn new(failed_command: FailedCommand, exit_code: Option<i32>) -> Self {
        Self { exit_code, failed_command, reason: None }
    }

    /// Error text for a person.
    pub(crate) fn text(&self) -> String {
        let what = match self.failed_command {
            FailedCommand::Install => "Install command failed",
            FailedCommand::Deploy => "Deploy command failed",
            FailedCommand::HealthCheckTimeout => "Health check timed out",
            FailedCommand::HealthCheckPolicy => "The health check URL does not lead to this machine",
        };
        let by_program = matches!(self.failed_command, FailedCommand::Install | FailedCommand::Deploy);
        let code = match self.exit_code {
            Some(code) if by_program => format!(" with exit code {code}"),
            None if by_program => " because of a signal".to_owned(),
            _ => String::new(),
        };
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{what}{code}{reason}")
    }
}

/// `deploy-result.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeployResult {
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) service_id: Option<String>,
}

/// The files of one worktree. Everything here blocks on the disk.
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

    /// `deploy-result.json`, when its URL leads to this machine.
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
        if let Err(error) = untrusted::write(path, content.to_string().as_bytes()) {
            tracing::warn!(%error, "cannot write a marker of a deploy");
        }
    }

    /// Removes the markers of the earlier run, and renames its log to `deploy.log.1`.
    pub(crate) fn reset(&self) -> io::Result<()> {
        untrusted::make_directory(&self.0)?;
        self.clear();
        match untrusted::rename(&self.log(), "deploy.log.1".as_ref()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the markers, so that the status is `not-started`.
    pub(crate) fn clear(&self) {
        for path in [self.exit(), self.result(), self.pid()] {
            match untrusted::remove(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, "cannot remove a marker of a deploy");
                }
                _ => {}
            }
        }
    }
}
