//! What the desktop knows of its loops: their records, the state machine of a record, the database that
//! keeps both, and which loops and worktrees are in use by this process.

mod job;
pub mod lifecycle;
mod notification;
mod record;
pub(crate) mod reservations;
pub mod store;

pub use job::Job;
pub use notification::{AwaitingUserSince, Notification, UserAction};
pub use record::{
    DeliveryPath, DeliveryStatus, Facts, FileIdentity, FinalizationSource, LoopApproval, PeerWorktree,
    PerfMark, ProcessKind, ProcessRecord, SpawnMeta, StartAttempt, UserVisibleFailure,
};
