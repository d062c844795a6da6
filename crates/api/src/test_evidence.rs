//! Results of a repository's own tests, before and after a loop's changes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Test results of one repository at the base and at the head of a loop's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestEvidence {
    /// Comparison of the two runs.
    pub outcome: TestOutcome,
    /// Test command that was run or would have been run; absent when none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Run at the commit from which the loop started; absent when not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<TestRun>,
    /// Run at the delivered commit; absent when not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<TestRun>,
    /// Names of tests that fail at the head but not at the base. The command counts as one test when its
    /// output names no tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_failures: Vec<String>,
    /// Changes that may weaken the tests. Reported to the user, without effect on the outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<TestFlag>,
    /// Diffs of the files that `flags` name, from base to head; without files whose diff is too long, see
    /// [`MAX_DIFF_BYTES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<TestFileDiff>,
    /// Reason why the tests were not run or not completed, and a remedy; written for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Longest diff of a file that a result contains, in bytes.
pub const MAX_DIFF_BYTES: usize = 32 * 1024;
/// Longest end of a failed run's output that a result contains, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 16 * 1024;

/// Diff of a file with tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TestFileDiff {
    /// Path of the file, as in the flags.
    pub path: String,
    /// Diff in git's unified format.
    pub diff: String,
}

/// Outcome of the comparison of base and head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestOutcome {
    /// The tests pass at the head.
    Passed,
    /// The same tests fail at the head and at the base.
    FailedBefore,
    /// Some tests fail at the head that do not fail at the base.
    NewFailures,
    /// The repository has no test command, or its owner did not approve it.
    NotRun,
    /// A run was not completed, so the comparison has no result.
    Inconclusive,
}

/// One run of a test command in a clean worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestRun {
    /// Full hash of the tested commit.
    pub commit: String,
    /// Exit code of the command; absent when it was terminated or not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Duration of the run in milliseconds.
    pub duration_ms: u64,
    /// Number of tests that passed, failed and were skipped; absent when the output does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<TestCounts>,
    /// Reason why the run was not completed; absent when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// File name of the log in the loop's work directory.
    pub log: String,
    /// End of the output of a run that did not pass, without terminal sequences, at most [`MAX_OUTPUT_BYTES`]; absent
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl TestRun {
    /// Returns whether the command completed with exit code 0.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.exit_code == Some(0)
    }
}

/// Test counts as reported by the test program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct TestCounts {
    /// Number of tests that passed.
    pub passed: u64,
    /// Number of tests that failed.
    pub failed: u64,
    /// Number of tests that were skipped.
    pub skipped: u64,
}

/// A change that may weaken the tests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct TestFlag {
    /// Kind of the change.
    pub kind: TestFlagKind,
    /// Path of the changed file; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Name of the test, text of the line, or the counts.
    pub detail: String,
}

/// Kind of a change that may weaken tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestFlagKind {
    /// A file with tests was deleted.
    FileDeleted,
    /// A test was removed from a file.
    TestRemoved,
    /// A test was marked as skipped or ignored, or the run was restricted to others.
    TestSkipped,
    /// Assertions were removed without replacement.
    AssertionsRemoved,
    /// The command that runs the tests was changed.
    CommandChanged,
}

impl TestFlagKind {
    /// Returns the description that users see.
    #[must_use]
    pub const fn as_text(self) -> &'static str {
        match self {
            Self::FileDeleted => "test file deleted",
            Self::TestRemoved => "test removed",
            Self::TestSkipped => "test skipped",
            Self::AssertionsRemoved => "assertions removed",
            Self::CommandChanged => "test command changed",
        }
    }
}
