//! What the runs of a repository's own tests say about a loop's work: at the base and at the head.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The tests of one repository, before and after a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestEvidence {
    /// What it comes to.
    pub outcome: TestOutcome,
    /// The command that was run, or that would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The commit that the loop's work starts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<TestRun>,
    /// The commit that was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<TestRun>,
    /// Names of tests that fail at the head and not at the base. Where the output names no tests, the command
    /// counts as the one test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_failures: Vec<String>,
    /// Changes that make tests say less. Told, not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<TestFlag>,
    /// Why the tests were not run, or not to their end, and what to do; for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What the tests come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestOutcome {
    /// They pass at the head.
    Passed,
    /// They fail at the head, as they do at the base.
    FailedBefore,
    /// Some fail at the head that do not fail at the base.
    NewFailures,
    /// Nobody agreed to a test command, or there is none.
    NotRun,
    /// A run did not come to an end, so nothing is known.
    Inconclusive,
}

/// One run of a test command in a clean worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestRun {
    /// Full hash of the commit.
    pub commit: String,
    /// Exit code of the command; none when it did not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// How many tests passed, failed and were skipped, where the output says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<TestCounts>,
    /// Why it could not be run to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Name of the log in the loop's work directory.
    pub log: String,
}

impl TestRun {
    /// Whether the command ran to its end with code 0.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.exit_code == Some(0)
    }
}

/// Numbers of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct TestCounts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that were skipped.
    pub skipped: u64,
}

/// A change that makes tests say less.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct TestFlag {
    /// What was changed.
    pub kind: TestFlagKind,
    /// The file, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The test, the line or the numbers.
    pub detail: String,
}

/// How tests were changed to say less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestFlagKind {
    /// A file with tests was deleted.
    FileDeleted,
    /// A test was removed.
    TestRemoved,
    /// A test is skipped or ignored now, or only others are run.
    TestSkipped,
    /// Assertions were removed, and none came in their place.
    AssertionsRemoved,
    /// The command that runs the tests does something else now.
    CommandChanged,
}

impl TestFlagKind {
    /// For a person.
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
