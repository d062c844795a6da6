//! How a loop's process exited, and the services that finish the loop.

use std::path::Path;
use std::sync::Arc;

use loopgate_api::assistant_stream::StreamSummary;
use loopgate_api::ids::LoopId;
use loopgate_home::{Credentials, Sandbox, SettingsStore};
use loopgate_tools::code_host::CodeHost;
use loopgate_tools::git::Git;

use crate::jobs::{FinalizationSource, Job, Jobs};
use crate::reporting::outbox::Outbox;
use crate::reporting::telemetry::TelemetrySender;
use crate::timing::RuntimeTiming;
use crate::workspace::Workspaces;
use crate::workspace::worktree_layout::WorktreeLayout;
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::shim::Shims;

/// How a loop's process exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitKind {
    /// Observed by the shim: an exit code, or the signal that terminated the process.
    Exit { code: Option<i32>, signal: Option<i32> },
    /// The process exited while Loopgate was down; its output files are complete.
    Done,
    /// The process exited while Loopgate was down; its state file reports a failure.
    ReportedFailure,
    /// The process exited while Loopgate was down; its state file reports that it was stopped.
    ReportedStop,
    /// The process exited while Loopgate was down and left no exit status, state or outputs.
    Lost,
}

impl ExitKind {
    /// Returns the exit code to record. Termination by a signal counts as 1.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exit { code, .. } => Some(code.unwrap_or(1)),
            _ => None,
        }
    }

    pub fn signal_name(&self) -> Option<String> {
        match self {
            Self::Exit { signal: Some(signal), .. } => Some(signal_name(*signal)),
            _ => None,
        }
    }

    pub fn is_success(self) -> bool {
        matches!(self, Self::Exit { code: Some(0), .. } | Self::Done)
    }
}

fn signal_name(signal: i32) -> String {
    // The numbers of Linux and macOS agree for these. SIGBUS and SIGUSR1, for example, do not.
    let names = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
    ];
    names
        .iter()
        .find(|(number, _)| *number == signal)
        .map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

/// Finishes loops: delivers their work, and records and reports their terminal status.
pub(crate) struct Finalizer {
    pub jobs: Jobs,
    pub outbox: Outbox,
    pub telemetry: TelemetrySender,
    pub workspaces: Workspaces,
    pub git: Git,
    pub code_host: CodeHost,
    pub layout: WorktreeLayout,
    pub sandbox: Arc<Sandbox>,
    pub settings: Arc<SettingsStore>,
    pub credentials: Arc<Credentials>,
    pub environment: ProcessEnvironment,
    pub shims: Shims,
    pub timing: RuntimeTiming,
}

/// The exit of a loop together with the services that process it.
#[derive(Clone, Copy)]
pub(crate) struct LoopOutcome<'a> {
    pub finalizer: &'a Finalizer,
    pub id: LoopId,
    pub exit: ExitKind,
    pub summary: &'a StreamSummary,
    pub source: FinalizationSource,
}

impl LoopOutcome<'_> {
    /// Returns the branch checked out in the loop's worktree, or `None` outside the current sandbox.
    pub(super) async fn branch_of(&self, job: &Job) -> Option<String> {
        let directory = self.finalizer.layout.allowed(worktree(job)?)?;
        self.finalizer.git.current_branch(directory.as_path()).await.ok().flatten()
    }
}

pub(crate) fn worktree(job: &Job) -> Option<&Path> {
    job.workspace.worktree_dir.as_deref().map(Path::new)
}
