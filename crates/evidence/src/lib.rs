//! Test evidence for a change: detects the test command, parses the output of a run, compares two runs, and
//! flags changes that weaken the tests.
//!
//! Starts no programs and has no knowledge of loops: everything is computed from files, texts and diffs, all
//! of which are untrusted.

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
