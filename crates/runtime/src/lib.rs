#![doc = include_str!("../README.md")]

mod commands;
mod delivery;
pub mod error;
pub mod jobs;
mod launch;
mod messages;
mod notifications;
mod process;
mod recovery;
mod refusal;
mod reporting;
pub mod request;
mod runtime;
mod snapshot;
mod stop;
mod supervision;
mod support_report;
mod tasks;
pub mod tickets;
mod timing;
mod transcript;
mod workspace;

pub use error::LoopRequestError;
pub use launch::{Launcher, LoopStart, Unapproved};
pub use messages::LoopMessages;
pub use notifications::{ApprovalNotice, Notifications};
pub use process::stall_detection::{Activity, ActivityState, StallDetector};
pub use recovery::Recovery;
pub use reporting::control_plane::{CallError, ControlPlaneClient};
pub use reporting::pull_requests::PullRequestReports;
pub use reporting::telemetry::TelemetrySender;
pub use reporting::worktrees::{ReportError, WorktreeReports};
pub use request::LoopHeaders;
pub use runtime::{ProcessServices, Runtime, RuntimeConfig, RuntimeError};
pub use snapshot::{Snapshot, Snapshots};
pub use stop::{LoopKillOutcome, OwnedProcess, ProcessOwner, StopError, Stopper};
pub use support_report::{LoopDiagnostics, SupportFile, SupportReports};
pub use tickets::commit_text::{CommitText, CommitTextWriter};
pub use tickets::launch::{TicketLaunch, TicketLaunchError, TicketLaunchRequest, TicketLauncher, TicketText};
pub use tickets::learning_programs::PreparedPrograms;
pub use tickets::plan_loop::{
    CancelError, CancelOutcome, PlanConfirmation, PlanContext, PlanError, PlanLoops,
};
pub use timing::RuntimeTiming;
pub use transcript::stream_file::resolve as stream_of_work_dir;
pub use workspace::repository::ClonePlace;
pub use workspace::saved_work::{RestoredWork, SavedEntry, SavedError, SavedWorkStore};
pub use workspace::worktree_gc::{
    GcReport, LoopWorktree, RemovalFailure, RetainReason, WorktreeGc, WorktreeListError,
};
pub use workspace::worktree_layout::WorktreeLayout;
