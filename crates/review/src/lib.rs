#![doc = include_str!("../README.md")]

mod anchors;
mod blocking;
mod chat;
mod debate;
mod duplicates;
mod engine_result;
mod extraction;
mod files;
mod findings;
mod json_text;
mod log;
mod merged;
mod plain;
mod prompt;
mod review_store;
mod reviews;
mod scope;
mod sessions;
mod state;
mod structured_output;
mod unreported;
mod verdict;
mod worktree;

pub use anchors::SourceLines;
pub use chat::ReviewerChatRequest;
pub use debate::{DebateRequest, DebateStream, MAX_ROUNDS};
pub use duplicates::{Comparison, DuplicatePair, compare_findings, resolve_uncertain_pairs};
pub use extraction::{findings_in, interpret_findings, review_text};
pub use files::ReviewDirectory;
pub use findings::{FindingsError, FindingsFile};
pub use reviews::{
    ReviewReport, ReviewRequest, Reviews, StartReviewError, StopReviewError, StopReviewOutcome,
};
pub use scope::{CommitHash, RequestedScope};
pub use state::{ReviewConfig, ReviewMode, ReviewState, ReviewStatus};
pub use structured_output::{StructuredOutput, StructuredOutputError};
pub use unreported::UnreportedFindings;
pub use verdict::{VerdictAnswer, parse_verdict};
