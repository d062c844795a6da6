//! Jest and Vitest: names of failed tests, and counts of all.

use std::sync::LazyLock;

use loopgate_api::test_evidence::TestCounts;
use regex::Regex;

use super::{TestReport, TestStatus, captures, number_before, pattern};

static JEST_FILE: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^(PASS|FAIL) (\S+)").ok());
static JEST_FAILURE: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^  ● (.+?)\s*$").ok());
static VITEST_FAILURE: LazyLock<Option<Regex>> =
    pattern(|| Regex::new(r"^ FAIL  (\S.*?)(?: \[ .* \])?\s*$").ok());
// The verbose reporter prints status, path and names, and the time of slow tests.
static VITEST_TEST: LazyLock<Option<Regex>> =
    pattern(|| Regex::new(r"^ ([✓↓]) (\S+ > .+?)(?: \d+ms)?(?: \[skipped\])?\s*$").ok());

/// Names are `file › suite › test`. A file that cannot be loaded fails as a whole.
pub(super) fn jest(text: &str) -> Option<TestReport> {
    if !text.lines().any(|line| line.starts_with("Test Suites: ")) {
        return None;
    }
    let mut report = TestReport::default();
    let (mut file, mut failed) = (String::new(), false);
    for line in text.lines() {
        if let Some(head) = captures(&JEST_FILE, line) {
            failed = &head[1] == "FAIL";
            head[2].clone_into(&mut file);
        } else if let Some(test) = captures(&JEST_FAILURE, line).filter(|_| failed) {
            match &test[1] {
                "Test suite failed to run" => report.add(&*file, TestStatus::Failed),
                // Console output of a test is printed with the same bullet.
                "Console" => {}
                name => report.add(format!("{file} › {name}"), TestStatus::Failed),
            }
        } else if let Some(summary) = line.strip_prefix("Tests: ") {
            report.counts = counts(summary);
        }
    }
    Some(report)
}

/// Names are `file > suite > test`.
pub(super) fn vitest(text: &str) -> Option<TestReport> {
    if !text.lines().any(|line| line.trim_start().starts_with("Test Files  ")) {
        return None;
    }
    let mut report = TestReport::default();
    for line in text.lines() {
        if let Some(test) = captures(&VITEST_FAILURE, line) {
            report.add(&test[1], TestStatus::Failed);
        } else if let Some(test) = captures(&VITEST_TEST, line) {
            report.add(&test[2], if &test[1] == "✓" { TestStatus::Passed } else { TestStatus::Skipped });
        } else if let Some(summary) = line.trim_start().strip_prefix("Tests  ") {
            report.counts = counts(summary);
        }
    }
    Some(report)
}

fn counts(summary: &str) -> TestCounts {
    TestCounts {
        passed: number_before(summary, "passed"),
        failed: number_before(summary, "failed"),
        skipped: number_before(summary, "skipped").saturating_add(number_before(summary, "todo")),
    }
}
