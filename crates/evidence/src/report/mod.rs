//! What a test runner printed, read into names and numbers.
//!
//! Each module reads the plain output of one family of runners and recognizes it by a line that only that family
//! prints. One output may hold that of several.

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

/// Colours of a terminal.
static STYLE: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"\x1b\[[0-9;]*m").ok());

/// The tests of a run, by their names as far as the runner prints them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    /// Tests that passed. Many runners name only those that did not.
    pub passed: BTreeSet<String>,
    /// Tests that failed.
    pub failed: BTreeSet<String>,
    /// Tests that were skipped or ignored.
    pub skipped: BTreeSet<String>,
    /// How many there were of each.
    pub counts: TestCounts,
}

/// The result of one test.
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

    /// Takes the numbers from the names.
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

/// Reads what a test command printed; `None` when no runner is recognized.
///
/// A last line without its end is not read: the command was killed while it wrote it, and half a name is
/// another name.
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

/// Compiles a pattern of this module's readers on first use. One that does not compile matches nothing; the
/// tests use every one.
const fn pattern(compile: fn() -> Option<Regex>) -> LazyLock<Option<Regex>> {
    LazyLock::new(compile)
}

/// The captures of the first match of a pattern.
fn captures<'t>(pattern: &Option<Regex>, text: &'t str) -> Option<regex::Captures<'t>> {
    pattern.as_ref()?.captures(text)
}

/// The number before a word in a summary: `2 passed, 1 failed`.
fn number_before(summary: &str, word: &str) -> u64 {
    let words: Vec<&str> =
        summary.split(|c: char| c.is_whitespace() || matches!(c, ',' | '=' | '(' | ')')).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let found = words.windows(2).find(|pair| pair[1].trim_end_matches('s') == word.trim_end_matches('s'));
    found.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
