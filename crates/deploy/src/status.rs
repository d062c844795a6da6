//! The status of a worktree's deployment.

use std::path::{Path, PathBuf};

use loopgate_api::deployment::DeploymentState;
use loopgate_home::JsonFileError;
use loopgate_tools::process::{alive, identity};
use serde::Serialize;
use utoipa::ToSchema;

use crate::deploys::Deploys;
use crate::log;
use crate::markers::Markers;
use crate::run::{DeployPhase, DeployRun};

/// Status of a deployment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"status": "running", "logs": "> next dev\n", "pid": 4242, "reason": "nothing accepts connections on port 3000"}))]
pub struct DeployStatus {
    /// `running` (installing or starting), `completed` (the server responds), `failed` or `not-started`.
    pub status: &'static str,
    /// Last 256 KiB of the output, without terminal escapes; null when there is no output.
    pub logs: Option<String>,
    /// Process id from the request.
    pub pid: Option<u32>,
    /// URL at which the server responds; absent until a health check succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployed_url: Option<String>,
    /// Id at an external service, from `deploy-result.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_id: Option<String>,
    /// Error message; present when `status` is `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Reason why the last health check failed; present only while `status` is `running`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl DeployStatus {
    /// Returns the status of a ticket without a worktree.
    #[must_use]
    pub const fn not_started(pid: Option<u32>) -> Self {
        Self {
            status: "not-started",
            logs: None,
            pid,
            deployed_url: None,
            service_id: None,
            error: None,
            reason: None,
        }
    }
}

impl Deploys {
    /// Returns the status of a worktree's deployment. `pid` is the process id known to the caller. Performs
    /// blocking I/O.
    #[must_use]
    pub fn status(&self, worktree: &Path, pid: Option<u32>) -> DeployStatus {
        let markers = Markers::of(worktree);
        let run = self.inner().run_in(worktree);
        let logs = log::tail(&markers.log());
        let (failure, success) = (markers.failure(), markers.success());
        let is_stopped =
            run.as_ref().is_some_and(|run| run.phase == DeployPhase::Stopped && Some(run.pid) == pid);
        // Until the monitor has recorded the exit, the markers are not written yet, so an exited run still
        // counts as alive.
        let is_monitored = run.as_ref().is_some_and(|run| run.phase < DeployPhase::Ended);
        let is_alive =
            is_monitored || pid.is_some_and(|pid| identity(pid).is_some_and(|started| alive(pid, started)));
        let status = if failure.is_some() {
            "failed"
        } else if success.is_some() {
            "completed"
        } else if is_alive {
            "running"
        } else if logs.is_some() && pid.is_some() && !is_stopped {
            "completed"
        } else {
            "not-started"
        };
        let reason = run.filter(|_| status == "running").and_then(|run| self.inner().unhealthy(run.id));
        let (deployed_url, service_id) =
            success.map_or((None, None), |result| (Some(result.url), result.service_id));
        let error = failure.map(|failure| failure.text());
        DeployStatus { status, logs, pid, deployed_url, service_id, error, reason }
    }

    /// Returns the worktrees with a deployment, and its state. A stopped deployment, or one whose command has ended
    /// without an error, is none. Performs blocking I/O.
    ///
    /// # Errors
    /// Fails when the records cannot be read.
    pub fn states(&self) -> Result<Vec<(PathBuf, DeploymentState)>, JsonFileError> {
        let state = |run: DeployRun| {
            let state = match run.phase {
                DeployPhase::Starting => DeploymentState::Starting,
                DeployPhase::Up => DeploymentState::Running,
                DeployPhase::Failed => DeploymentState::Failed,
                DeployPhase::Ended => {
                    Markers::of(&run.worktree).failure()?;
                    DeploymentState::Failed
                }
                DeployPhase::Stopped => return None,
            };
            Some((run.worktree, state))
        };
        Ok(self.inner().records()?.into_iter().filter_map(state).collect())
    }

    /// Returns the worktrees whose runs have one of these process ids. Performs blocking I/O.
    #[must_use]
    pub fn worktrees_of(&self, pids: &[u32]) -> Vec<PathBuf> {
        // The leader of a run may have exited while its server runs in the background.
        let is_running = |run: &DeployRun| run.phase < DeployPhase::Ended || run.is_alive();
        let runs = self.inner().all().into_iter().filter(|run| pids.contains(&run.pid) && is_running(run));
        runs.map(|run| run.worktree).collect()
    }

    /// Returns the teardown command that was recorded when the run of a worktree started. Performs blocking
    /// I/O.
    #[must_use]
    pub fn teardown_command(&self, worktree: &Path) -> Option<String> {
        self.inner().run_in(worktree)?.teardown_command
    }

    /// Returns the URL of a worktree's run; `None` when there is no run. The inner value is `None` while the URL
    /// is unknown. Performs blocking I/O.
    #[must_use]
    pub fn running_url(&self, worktree: &Path) -> Option<Option<String>> {
        let run = self.inner().run_in(worktree).filter(|run| run.phase < DeployPhase::Ended)?;
        let port = run.port.filter(|_| !run.port_is_hint);
        Some(run.url.or_else(|| port.map(|port| format!("http://localhost:{port}"))))
    }

    /// Returns the URL of the run of a repository whose log contains this output; `None` when no run or several
    /// ones do. Performs blocking I/O.
    #[must_use]
    pub fn url_of_output(&self, repository: &Path, output: &str) -> Option<String> {
        let output = strip_ansi_escapes::strip_str(output);
        let has_output = |run: &DeployRun| {
            let log = log::tail(&Markers::of(&run.worktree).log()).unwrap_or_default();
            log.contains(output.trim())
        };
        let is_of = |run: &DeployRun| run.repository == repository && run.phase != DeployPhase::Stopped;
        let runs = self.inner().all().into_iter().filter(is_of);
        let mut urls = runs.filter(has_output).map(|run| run.url);
        urls.next().flatten().filter(|_| urls.next().is_none())
    }
}
