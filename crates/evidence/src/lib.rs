#![doc = include_str!("../README.md")]

mod comparison;
mod detect;
mod report;
mod summary;
mod weakening;

pub use comparison::{CompletedRun, RunComparison, compare};
pub use detect::{TestCommand, test_command};
pub use report::{TestReport, read_report};
pub use summary::{markdown, replace_section, sentence};
pub use weakening::{command_flag, diff_flags, flagged_diffs, is_test_file, run_flags};
