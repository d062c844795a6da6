//! Statuses of a desktop job and of a control-plane loop.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Status of a job, the desktop's record of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobStatus {
    /// Known, nothing started.
    Queued,
    /// Being prepared.
    Starting,
    /// Its process lives, or its work is being finalized.
    Running,
    /// Its process ended with a question for a person; a later loop goes on with its work.
    AwaitingUser,
    /// Asked to stop; its process may still live.
    CancelPending,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Stopped by a person.
    Cancelled,
    /// Its process vanished.
    Stopped,
    /// Nobody can tell how it ended.
    Unknown,
    /// Given up by the control plane.
    TimedOut,
}

impl JobStatus {
    /// Whether nothing further can happen to the job.
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
    /// Created, not dispatched.
    Pending,
    /// Dispatched to a desktop.
    Claimed,
    /// Reported as started.
    Running,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Stopped by a person.
    Cancelled,
    /// Given up.
    TimedOut,
    /// Ended with a question for a person; a later loop goes on with its work.
    AwaitingUser,
}

impl LoopStatus {
    /// The name as it travels.
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

    /// Whether the loop has ended.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::TimedOut | Self::AwaitingUser)
    }

    /// Whether the table of transitions allows going from here to `next`.
    ///
    /// A runner that reports finished work is believed, so the other terminal states may still
    /// become [`LoopStatus::Completed`]. One that timed out runs again when its desktop
    /// reports it.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        use LoopStatus::{AwaitingUser, Cancelled, Claimed, Completed, Failed, Pending, Running, TimedOut};
        match self {
            Pending => matches!(next, Claimed | Running | Cancelled | Failed | TimedOut),
            Claimed => matches!(next, Running | Completed | Failed | Cancelled | TimedOut | AwaitingUser),
            Running => matches!(next, Completed | Failed | Cancelled | TimedOut | AwaitingUser),
            TimedOut => matches!(next, Running | Completed | AwaitingUser),
            Failed | Cancelled | AwaitingUser => matches!(next, Completed),
            Completed => false,
        }
    }
}
