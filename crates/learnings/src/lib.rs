//! Learnings: findings of loops and chats that are kept for later loops.
//!
//! A learning starts as a pending file in a worktree, written by an agent or extracted from a chat by
//! [`Extractions`]. [`Processing`] has the learnings of agents classified and merges the pending files of a
//! worktree into the user's patterns ([`PatternStore`]), a text file that users read and edit. Recorded uses
//! change a pattern's confidence, idle time lowers it, and the most relevant patterns are included in the
//! prompts of later loops, within a token budget.
//!
//! Files in worktrees are untrusted and are accessed through [`loopgate_home::untrusted`] only. This crate
//! does not depend on HTTP.

mod assistant;
mod classification;
mod extraction;
mod jobs;
mod outcomes;
mod pattern;
mod pending;
mod processing;
mod programs;
mod records;
mod service;
mod similarity;
mod status;
mod store;
mod toon;
mod worktree;

pub use classification::{Classification, UnclassifiedLearning, classify};
pub use extraction::{Extractions, TicketChat};
pub use outcomes::{LearningUse, record_uses};
pub use pattern::{Confidence, Pattern};
pub use pending::{LearningSource, pending_count};
pub use processing::{Batch, BatchStart, Processing, ProcessingStart, process};
pub use programs::{BoxFuture, LearningPrograms, PluginDirs};
pub use service::{Learnings, LearningsConfig};
pub use status::{BatchStatus, ExtractionStatus, ProcessingStatus, State};
pub use store::{ListedPattern, MergeReport, PatternStore};
pub use worktree::LearningCheckout;
