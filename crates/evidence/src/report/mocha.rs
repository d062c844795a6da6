//! Mocha's default reporter: a tree of tests, counts, and a list of failures.

use std::sync::LazyLock;

use regex::Regex;

use super::{TestReport, TestStatus, captures, pattern};

static COUNT: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^  (\d+) (passing|failing|pending)\b").ok());
static FAILURE: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^  \d+\) (.+?)\s*$").ok());

/// Names are `suite › test`.
pub(super) fn mocha(text: &str) -> Option<TestReport> {
    let mut report = TestReport::default();
    let (mut recognized, mut in_list) = (false, false);
    // Components of the current name, one per line; the last one ends with a colon.
    let mut name: Option<Vec<&str>> = None;
    for line in text.lines() {
        if let Some(count) = captures(&COUNT, line) {
            let number = count[1].parse().unwrap_or(0);
            match &count[2] {
                "passing" => {
                    recognized = true;
                    report.counts.passed = number;
                }
                "pending" => report.counts.skipped = number,
                _ => {
                    report.counts.failed = number;
                    // Numbered lines above the counts belong to the tree and lack the suite's name.
                    in_list = recognized;
                }
            }
        } else if in_list {
            if let Some(head) = captures(&FAILURE, line) {
                name = head.get(1).map(|head| vec![head.as_str()]);
            } else if let Some(parts) = &mut name {
                parts.push(line.trim());
            }
            let complete =
                name.as_ref().and_then(|parts| parts.last()).is_some_and(|last| last.ends_with(':'));
            if complete && let Some(parts) = name.take() {
                report.add(parts.join(" › ").trim_end_matches(':'), TestStatus::Failed);
            }
        }
    }
    recognized.then_some(report)
}
