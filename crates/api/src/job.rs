//! Statuses of the desktop's jobs and of the control plane's loops.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Status of a job, the desktop's record of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobStatus {
    /// Recorded; no process has been started.
    Queued,
    /// The worktree and the inputs are being prepared.
    Starting,
    /// The process runs, or its results are being delivered.
    Running,
    /// The process exited with a question for the user; a later loop resumes the work.
    AwaitingUser,
    /// Cancellation was requested; the process may still run.
    CancelPending,
    /// Finished successfully; see also `warnings` of its event.
    Completed,
    /// Finished with an error.
    Failed,
    /// Cancelled by the user before it finished.
    Cancelled,
    /// The process disappeared without an exit code.
    Stopped,
    /// The outcome cannot be determined after a restart.
    Unknown,
    /// Timed out by the control plane.
    TimedOut,
}

impl JobStatus {
    /// Returns whether the status is final.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::AwaitingUser
                | Self::Completed
                | Self::Failed
                | Self::Cancelled
                | Self::Stopped
                | Self::Unknown
                | Self::TimedOut
        )
    }
}

/// Status of a loop in the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LoopStatus {
    /// Created but not dispatched to a desktop.
    Pending,
    /// Dispatched to a desktop, not started yet.
    Claimed,
    /// The desktop reported the start.
    Running,
    /// Finished successfully; may have warnings.
    Completed,
    /// Finished with an error.
    Failed,
    /// Cancelled by the user before it finished.
    Cancelled,
    /// No report arrived in time.
    TimedOut,
    /// Finished with a question for the user; a later loop resumes the work.
    AwaitingUser,
}

impl LoopStatus {
    /// Returns the wire name, for example `PENDING`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Claimed => "CLAIMED",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
            Self::TimedOut => "TIMED_OUT",
            Self::AwaitingUser => "AWAITING_USER",
        }
    }

    /// Returns whether the status is terminal.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::TimedOut | Self::AwaitingUser)
    }

    /// Returns whether a transition to `next` is allowed.
    ///
    /// Reports of runners take precedence over the control plane's own conclusions: any other terminal status
    /// may still become [`LoopStatus::Completed`], and a timed-out loop returns to [`LoopStatus::Running`]
    /// when its desktop reports it.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        use LoopStatus::{AwaitingUser, Cancelled, Claimed, Completed, Failed, Pending, Running, TimedOut};
        match self {
            // A start report can arrive before the dispatch is recorded.
            Pending => matches!(next, Claimed | Running | Cancelled | Failed | TimedOut),
            Claimed => matches!(next, Running | Completed | Failed | Cancelled | TimedOut | AwaitingUser),
            Running => matches!(next, Completed | Failed | Cancelled | TimedOut | AwaitingUser),
            // The desktop may only have been unreachable while its loop continued.
            TimedOut => matches!(next, Running | Completed | AwaitingUser),
            // A late report of success is true: the work was delivered. Late reports of other outcomes add
            // nothing.
            Failed | Cancelled | AwaitingUser => matches!(next, Completed),
            Completed => false,
        }
    }
}
