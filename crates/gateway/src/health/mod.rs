//! The health of this machine for loops, row by row, each with its remedy, and the liveness document.
//!
//! Rows are probed at the same time and each has its limit, so that none can hold up the others. Nothing
//! is cached.

mod assistant;
pub(crate) mod check;
pub(crate) mod liveness;
mod marketplace;
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

/// Looks at everything that a loop needs.
pub(crate) struct HealthChecks {
    programs: Arc<Programs>,
    plugin_root: Option<PathBuf>,
    repos: Arc<Repos>,
    approvals: Approvals,
    approvals_command: ApprovalsCommand,
    /// For each probe.
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

    /// Reports about the assistant's row, from now on.
    pub(crate) fn reports(&self) -> broadcast::Receiver<Telemetry> {
        self.assistant.reports()
    }

    /// The rows, in their fixed order.
    pub(crate) async fn checks(&self) -> Vec<Check> {
        // On the heap: many probes at once.
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
            plugins::rows(&self.programs, self.plugin_root.as_deref(), self.limit),
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

    /// The row of the owner's rules and policies, while something is wrong with them.
    fn approval_policies(&self) -> Option<Check> {
        let problems = self.approvals.problems();
        let remedy = format!("Look at `{}`.", self.approvals_command.text());
        (!problems.is_empty())
            .then(|| Check::failed("approvals", "Approval policies", false, problems.join("; "), remedy))
    }

    /// The row of the directory in which worktrees are made.
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
                "Choose the directory that worktrees are made in: PATCH /api/gateway/repos, or start with --sandbox.",
            ),
        }
    }
}
