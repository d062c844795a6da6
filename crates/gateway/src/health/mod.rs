//! Health check of everything that loops depend on, with an instruction for each failure, and the liveness
//! response.
//!
//! Checks run concurrently with a timeout each, so that one cannot delay the others. Results are not cached.

mod assistant;
pub(crate) mod check;
pub(crate) mod liveness;
mod plugins;
mod programs;
pub(crate) mod version;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::link::Telemetry;
use loopgate_home::{Program, Repos};
use loopgate_tools::programs::Programs;
use tokio::sync::broadcast;

use self::assistant::AssistantMonitor;
use self::check::Check;
use crate::approval::Approvals;
use crate::approval::command_line::ApprovalsCommand;

/// Runs the health check.
pub(crate) struct HealthChecks {
    programs: Arc<Programs>,
    plugin_root: Option<PathBuf>,
    repos: Arc<Repos>,
    approvals: Approvals,
    approvals_command: ApprovalsCommand,
    /// Timeout of a single probe.
    limit: Duration,
    assistant: AssistantMonitor,
}

impl HealthChecks {
    pub(crate) fn new(
        programs: Arc<Programs>,
        plugin_root: Option<PathBuf>,
        repos: Arc<Repos>,
        approvals: Approvals,
        approvals_command: ApprovalsCommand,
        limit: Duration,
    ) -> Self {
        let assistant = AssistantMonitor::default();
        Self { programs, plugin_root, repos, approvals, approvals_command, limit, assistant }
    }

    /// Subscribes to telemetry about the assistant's check.
    pub(crate) fn reports(&self) -> broadcast::Receiver<Telemetry> {
        self.assistant.reports()
    }

    /// Runs all checks and returns them in a fixed order.
    pub(crate) async fn checks(&self) -> Vec<Check> {
        // Boxed: the future of all probes is large.
        let checks = Box::pin(self.probe_all()).await;
        self.assistant.observe(&checks);
        checks
    }

    async fn probe_all(&self) -> Vec<Check> {
        let row = |program| programs::row(&self.programs, program, self.limit);
        let (git, assistant, code_host, auth, plugins, worktrees, reviewer, python3) = tokio::join!(
            row(Program::Git),
            row(Program::Assistant),
            row(Program::CodeHost),
            programs::code_host_auth(&self.programs, self.limit),
            self.plugins(),
            self.worktree_directory(),
            row(Program::Reviewer),
            row(Program::Python3),
        );
        let mut checks = vec![git, assistant, code_host, auth];
        checks.extend(plugins);
        checks.extend([worktrees, reviewer, python3]);
        checks.extend(self.approval_policies());
        checks
    }

    /// Returns a failed check while rules or policies are unreadable.
    fn approval_policies(&self) -> Option<Check> {
        let problems = self.approvals.problems();
        let remedy = format!("Run `{}` for details.", self.approvals_command.text());
        (!problems.is_empty())
            .then(|| Check::failed("approvals", "Approval policies", false, problems.join("; "), remedy))
    }

    /// Checks the plugins that are shipped with Loopgate.
    async fn plugins(&self) -> Vec<Check> {
        let Some(root) = self.plugin_root.clone() else { return Vec::new() };
        tokio::task::spawn_blocking(move || plugins::rows(&root)).await.unwrap_or_default()
    }

    /// Checks that the directory for worktrees is configured and confirmed.
    async fn worktree_directory(&self) -> Check {
        const ID: &str = "worktree-dir";
        const LABEL: &str = "Worktree Directory";
        let repos = self.repos.clone();
        let list = tokio::task::spawn_blocking(move || repos.list()).await;
        let settings = list.ok().and_then(Result::ok).map(|list| list.settings).unwrap_or_default();
        let directory = settings.worktree_parent_dir.filter(|directory| !directory.trim().is_empty());
        match directory.filter(|_| settings.worktree_parent_dir_confirmed == Some(true)) {
            Some(directory) => Check::passed(ID, LABEL, true, Some(directory)),
            None => Check::failed(
                ID,
                LABEL,
                true,
                "Not configured",
                "Choose a directory for worktrees: PATCH /api/gateway/repos, or start with --sandbox.",
            ),
        }
    }
}
