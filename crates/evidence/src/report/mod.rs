//! Parsers for the output of test runners.
//!
//! Each module parses the plain output of one family of runners, which it recognizes by a line that only that
//! family prints. One output may contain the output of several runners.

mod go;
mod javascript;
mod mocha;
mod node;
mod python;
mod rust;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use loopgate_api::test_evidence::TestCounts;
use regex::Regex;
use serde::{Deserialize, Serialize};

// SGR escape sequences, with which runners color their output.
static STYLE: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"\x1b\[[0-9;]*m").ok());

/// The tests of a run, by the names that the runner prints.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    /// Tests that passed. Many runners name only failed and skipped tests.
    pub passed: BTreeSet<String>,
    /// Names of the tests that failed.
    pub failed: BTreeSet<String>,
    /// Names of the tests that were skipped or ignored.
    pub skipped: BTreeSet<String>,
    /// Counts per status; they may be larger than the number of names.
    pub counts: TestCounts,
}

/// The status of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestStatus {
    Passed,
    Failed,
    Skipped,
}

impl TestReport {
    fn add(&mut self, name: impl Into<String>, status: TestStatus) {
        let names = match status {
            TestStatus::Passed => &mut self.passed,
            TestStatus::Failed => &mut self.failed,
            TestStatus::Skipped => &mut self.skipped,
        };
        names.insert(name.into());
    }

    /// Derives the counts from the names.
    fn counted(mut self) -> Self {
        let count = |names: &BTreeSet<String>| u64::try_from(names.len()).unwrap_or(u64::MAX);
        self.counts = TestCounts {
            passed: count(&self.passed),
            failed: count(&self.failed),
            skipped: count(&self.skipped),
        };
        self
    }

    fn merge(&mut self, other: Self) {
        self.passed.extend(other.passed);
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
        self.counts.passed = self.counts.passed.saturating_add(other.counts.passed);
        self.counts.failed = self.counts.failed.saturating_add(other.counts.failed);
        self.counts.skipped = self.counts.skipped.saturating_add(other.counts.skipped);
    }
}

/// Parses the output of a test command. Returns `None` when no runner is recognized.
///
/// Ignores an unterminated last line: the command was killed while writing it, and a truncated name would be
/// the name of another test.
#[must_use]
pub fn read_report(output: &[u8]) -> Option<TestReport> {
    let whole_lines = output.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let text = String::from_utf8_lossy(&output[..whole_lines]);
    let text = STYLE.as_ref().map_or_else(|| text.clone(), |style| style.replace_all(&text, ""));
    let readers: [fn(&str) -> Option<TestReport>; 10] = [
        rust::libtest,
        rust::nextest,
        python::pytest,
        python::unittest,
        go::go_test,
        javascript::jest,
        javascript::vitest,
        mocha::mocha,
        node::tap,
        node::spec,
    ];
    readers.into_iter().filter_map(|read| read(&text)).reduce(|mut whole, part| {
        whole.merge(part);
        whole
    })
}

/// Compiles a pattern on first use. An invalid pattern matches nothing; the tests cover every pattern.
const fn pattern(compile: fn() -> Option<Regex>) -> LazyLock<Option<Regex>> {
    LazyLock::new(compile)
}

/// Returns the captures of a pattern's first match.
fn captures<'t>(pattern: &Option<Regex>, text: &'t str) -> Option<regex::Captures<'t>> {
    pattern.as_ref()?.captures(text)
}

/// Returns the number before a word in a summary such as `2 passed, 1 failed`.
fn number_before(summary: &str, word: &str) -> u64 {
    let words: Vec<&str> =
        summary.split(|c: char| c.is_whitespace() || matches!(c, ',' | '=' | '(' | ')')).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let pair = words.windows(2).find(|pair| pair[1].trim_end_matches('s') == word.trim_end_matches('s'));
    pair.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
