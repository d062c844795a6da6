//! Learnings: what loops and chats taught, kept for later loops.
//!
//! A learning begins as a pending file in a worktree, written by an agent or by [`Extractions`] from a
//! chat. [`Processing`] has those of agents classified, and merges the pending files of a worktree into the patterns of the person
//! ([`PatternStore`]), a text file that people read and edit. Recorded uses raise a pattern's confidence,
//! time lowers it, and the ones that matter are given to the next loop within a budget of tokens.
//!
//! Files of worktrees are hostile and are opened through [`loopgate_home::untrusted`] alone. Knows
//! nothing of HTTP.

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
pub use worktree::Worktree;
