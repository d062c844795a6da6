#![doc = include_str!("../README.md")]

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
