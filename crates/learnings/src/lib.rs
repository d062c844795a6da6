//! Learnings: what loops and chats taught, kept for later loops.
//!
//! A learning begins as a pending file in a worktree, written by an agent or by the [`extraction`] from a
//! chat. Processing merges the pending files of a worktree into the patterns of the person
//! ([`PatternStore`]), a text file that people read and edit. Recorded uses raise a pattern's confidence,
//! time lowers it, and the ones that matter are given to the next loop within a budget of tokens.
//!
//! Files of worktrees are hostile and are opened through [`loopgate_home::untrusted`] alone. Knows
//! nothing of HTTP.

pub mod extraction;
mod outcomes;
mod pattern;
mod pending;
mod records;
mod service;
mod similarity;
mod status;
mod store;
mod toon;

pub use outcomes::{LearningUse, record_uses};
pub use pattern::{Confidence, Pattern};
pub use pending::{LearningSource, pending_count};
pub use service::{
    BatchStart, BoxFuture, ChatOfTicket, LearningPrograms, Learnings, LearningsConfig, ProcessingStart,
    WorktreeOfTicket, process,
};
pub use status::{BatchStatus, ExtractionStatus, ProcessingStatus, State};
pub use store::{ListedPattern, MergeReport, PatternStore};
