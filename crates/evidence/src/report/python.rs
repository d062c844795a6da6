//! pytest and unittest. Without `-v` both name only tests that did not pass.

use std::sync::LazyLock;

use regex::Regex;

use super::{TestReport, TestStatus, captures, number_before, pattern};

// The last line: `== 1 failed, 2 passed in 0.04s ==`, without equals signs when pytest runs quietly.
static SUMMARY: LazyLock<Option<Regex>> = pattern(|| {
    Regex::new(r"^=*\s*(\d+ (?:passed|failed|skipped|errors?|deselected|xfailed|xpassed|warnings?)\b.*) in [\d.]+s\b")
        .ok()
});
static SHORT: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$").ok());
static VERBOSE: LazyLock<Option<Regex>> =
    pattern(|| Regex::new(r"^(\S+::.+?) (PASSED|SKIPPED|XFAIL|XPASS)\b").ok());
static RAN: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^Ran (\d+) tests? in ").ok());
static UNITTEST: LazyLock<Option<Regex>> =
    pattern(|| Regex::new(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+ \(\S+\))").ok());
static UNITTEST_VERBOSE: LazyLock<Option<Regex>> =
    pattern(|| Regex::new(r"^(\S+ \(\S+\)).* \.\.\. (ok|skipped)\b").ok());
static COUNT: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"(failures|errors|skipped)=(\d+)").ok());

pub(super) fn pytest(text: &str) -> Option<TestReport> {
    let mut summary = None;
    let mut report = TestReport::default();
    let mut in_short = false;
    for line in text.lines() {
        if line.contains(" short test summary info ") {
            in_short = true;
        } else if let Some(found) = captures(&SUMMARY, line) {
            summary = found.get(1).map(|found| found.as_str());
            in_short = false;
        } else if let Some(test) = captures(&SHORT, line).filter(|_| in_short) {
            report.add(&test[1], TestStatus::Failed);
        } else if let Some(test) = captures(&VERBOSE, line) {
            let passed = matches!(&test[2], "PASSED" | "XPASS");
            report.add(&test[1], if passed { TestStatus::Passed } else { TestStatus::Skipped });
        }
    }
    let summary = summary?;
    report.counts.passed = number_before(summary, "passed");
    report.counts.failed = number_before(summary, "failed") + number_before(summary, "error");
    report.counts.skipped = number_before(summary, "skipped");
    Some(report)
}

pub(super) fn unittest(text: &str) -> Option<TestReport> {
    let mut report = TestReport::default();
    let mut total = None;
    let (mut failed, mut skipped) = (0_u64, 0_u64);
    for line in text.lines() {
        if let Some(test) = captures(&UNITTEST, line) {
            report.add(&test[1], TestStatus::Failed);
        } else if let Some(test) = captures(&UNITTEST_VERBOSE, line) {
            let status = if &test[2] == "ok" { TestStatus::Passed } else { TestStatus::Skipped };
            report.add(&test[1], status);
        } else if let Some(found) = captures(&RAN, line) {
            total = Some(found[1].parse::<u64>().unwrap_or(0).saturating_add(total.unwrap_or(0)));
        } else if total.is_some() && (line.starts_with("OK") || line.starts_with("FAILED (")) {
            for count in COUNT.as_ref()?.captures_iter(line) {
                let number = count[2].parse::<u64>().unwrap_or(0);
                let sum = if &count[1] == "skipped" { &mut skipped } else { &mut failed };
                *sum = sum.saturating_add(number);
            }
        }
    }
    report.counts.passed = total?.saturating_sub(failed).saturating_sub(skipped);
    (report.counts.failed, report.counts.skipped) = (failed, skipped);
    Some(report)
}
