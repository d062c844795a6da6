//! Executes loop commands and loses nothing when anything dies.
//!
//! Owns a loop from the request to the last event: the job record, the worktree, the inputs on
//! disk, the process under its shim, what it prints, how its work is delivered, and what the
//! control plane hears of it. Knows nothing of HTTP serving; the gateway turns its answers into
//! responses.

pub mod chats;
mod commands;
mod delivery;
pub mod error;
pub mod jobs;
mod launch;
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
mod tickets;
mod timing;
mod transcript;
mod workspace;

pub use error::LoopError;
pub use launch::LoopStart;
pub use notifications::ApprovalNotice;
pub use process::owners::{OwnedProcess, ProcessOwner, StopError};
pub use process::stall_detection::{Activity, ActivityState};
pub use reporting::control_plane::CallError;
pub use request::LoopHeaders;
pub use runtime::{OpenError, Runtime, RuntimeConfig};
pub use snapshot::Snapshot;
pub use stop::KillOutcome;
pub use support_report::{LoopDiagnostics, SupportFile};
pub use tickets::commit_text::CommitText;
pub use tickets::launch::{TicketLaunch, TicketLaunchError, TicketLaunchRequest, TicketText};
pub use tickets::plan_loop::{CancelError, CancelOutcome, PlanConfirmation, PlanContext, PlanError};
pub use timing::Timing;
pub use transcript::stream_file::resolve as stream_of_work_dir;
pub use workspace::saved_work::{RestoredWork, SavedEntry, SavedError};
pub use workspace::worktree_gc::{GcReport, LoopWorktree, RemovalFailure, RetainReason, WorktreeListError};
pub use workspace::worktree_layout::WorktreeLayout;
