//! Executes loop commands and loses nothing when anything dies.
//!
//! Owns a loop from the request to the last event: the job record, the worktree, the inputs on
//! disk, the process under its shim, what it prints, how its work is delivered, and what the
//! control plane hears of it. Knows nothing of HTTP serving; the gateway turns its answers into
//! responses.

mod admission;
mod aside;
mod attachments;
mod bootstrap;
pub mod chat;
mod cloud;
mod commit_text;
mod diagnostics;
pub mod error;
mod failure_marker;
mod finalize;
mod ground;
mod heartbeat;
mod held;
pub mod job;
mod kill;
mod launch;
mod leftovers;
pub mod lifecycle;
mod lines;
mod notice;
mod orders;
mod outage;
mod outbound;
mod outbox;
mod pace;
mod peers;
mod perf;
mod places;
mod plan_loop;
mod plugins;
mod processes;
mod prompt;
mod queue;
mod recovery;
mod refusal;
mod repository;
pub mod request;
mod reservations;
mod review;
mod runtime;
mod saved;
mod snapshot;
mod spawn;
mod staging;
mod start;
mod stillness;
pub mod store;
mod stream_file;
mod stream_reader;
mod supervise;
mod support;
mod tailer;
mod telemetry;
mod tokens;
mod trust;
mod watch;
mod work_dirs;
mod worktree;

pub use cloud::CallError;
pub use commit_text::CommitText;
pub use error::LoopError;
pub use kill::KillOutcome;
pub use launch::{LaunchError, LaunchRequest, Launched, TicketText};
pub use leftovers::{Held, LeftoverError, LoopWorktree, Stuck, Tidied};
pub use notice::HeldRequest;
pub use pace::Pace;
pub use places::Places;
pub use plan_loop::{Cancelled, CannotCancel, PlanConfirmation, PlanError, PlanFacts};
pub use processes::{Ours, Owner, StopError};
pub use request::LoopHeaders;
pub use runtime::{OpenError, Runtime, RuntimeConfig};
pub use saved::{RestoredWork, SavedEntry, SavedError};
pub use snapshot::Snapshot;
pub use start::Started;
pub use stillness::{Pulse, Stillness};
pub use stream_file::resolve as stream_of_work_dir;
pub use support::{SupportFacts, SupportFile};
