//! How a loop ended, and the services with which that is worked on.

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

/// How a loop's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitKind {
    /// With a code, or by a signal.
    Exit {
        /// Its code.
        code: Option<i32>,
        /// The signal.
        signal: Option<i32>,
    },
    /// It exited while Loopgate was down, and its files say that its work is done.
    Done,
    /// It exited while Loopgate was down, and its state file says that it failed.
    ReportedFailure,
    /// It exited while Loopgate was down, and its state file says that it stopped.
    ReportedStop,
    /// It exited while Loopgate was down, without an exit status, a state or results.
    Lost,
}

impl ExitKind {
    /// The code to record; a signal counts as 1.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exit { code, .. } => Some(code.unwrap_or(1)),
            _ => None,
        }
    }

    /// The signal's name.
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
    let known = [
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
    known
        .iter()
        .find(|(number, _)| *number == signal)
        .map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

/// Finishes loops: delivers their work, and records and reports how they ended.
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

/// Everything that is known of an end.
#[derive(Clone, Copy)]
pub(crate) struct LoopOutcome<'a> {
    pub finalizer: &'a Finalizer,
    pub id: LoopId,
    pub exit: ExitKind,
    pub summary: &'a StreamSummary,
    pub source: FinalizationSource,
}

impl LoopOutcome<'_> {
    /// The branch that the worktree is on, when the sandbox still allows a look.
    pub(super) async fn branch_of(&self, job: &Job) -> Option<String> {
        let directory = self.finalizer.layout.allowed(worktree(job)?)?;
        self.finalizer.git.current_branch(directory.as_path()).await.ok().flatten()
    }
}

pub(crate) fn worktree(job: &Job) -> Option<&Path> {
    job.workspace.worktree_dir.as_deref().map(Path::new)
}
