//! What a repository's tests say about a change: the command that runs them, the output of a run, two runs
//! compared, and changes to the tests that make them say less.
//!
//! Starts no program and knows nothing of loops: everything here is computed from files, texts and diffs, all of
//! which are untrusted.

mod comparison;
mod detect;
mod report;
mod summary;
mod weakening;

pub use comparison::{CompletedRun, Verdict, compare};
pub use detect::{TestCommand, test_command};
pub use report::{TestReport, read_report};
pub use summary::{markdown, replace_section, sentence};
pub use weakening::{command_flag, diff_flags, run_flags};
