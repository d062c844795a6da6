#![doc = include_str!("../README.md")]

mod assistant;
mod citations;
mod classification;
mod corrections;
mod extraction;
mod goals;
mod hostile;
mod jobs;
mod outcomes;
mod pattern;
mod pending;
mod processing;
mod programs;
mod records;
mod repository;
mod retention;
mod service;
mod similarity;
mod status;
mod store;
mod toon;
mod worktree;

pub use citations::{Acknowledgement, ChangedLines, Citation, PatternCitation, without_acknowledgement};
pub use classification::{Classification, ClassificationBatch, UnclassifiedLearning, classify};
pub use corrections::{
    CorrectionAnswer, Excerpt, ExcerptKind, MAX_CORRECTIONS, create_directories, question, system_prompt,
};
pub use extraction::{Extractions, TicketChat};
pub use goals::{Goal, GoalOutcome, evaluate};
pub use outcomes::{
    AcknowledgementEntry, FailureEntry, LearningOutcome, LearningUse, OutcomeLog, OutcomeStatus, UseEffect,
    append_acknowledgement, append_failure, append_outcomes, record_uses,
};
pub use pattern::{Confidence, Pattern};
pub use pending::{LearningSource, pending_count};
pub use processing::{Batch, BatchStart, PendingBatch, Processing, ProcessingStart, process};
pub use programs::{BoxFuture, LearningPrograms, PluginDirs};
pub use records::PatternAgreement;
pub use repository::repository_key;
pub use retention::{Retention, prune};
pub use service::{Learnings, LearningsConfig};
pub use status::{BatchStatus, ExtractionStatus, ProcessingStatus, State};
pub use store::{
    AgreementError, ListedPattern, MergeReport, MergeResult, Note, NoteQuery, Notes, PatternHistory,
    PatternStore, Relevance, ReplacementError, ToolSubject,
};
pub use worktree::LearningCheckout;
