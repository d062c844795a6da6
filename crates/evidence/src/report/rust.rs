//! `cargo test` (libtest) and `cargo nextest`.

use std::sync::LazyLock;

use regex::Regex;

use super::{TestReport, TestStatus, captures, pattern};

// The header of a test binary: its name from the path, or the crate of documentation tests.
static BINARY: LazyLock<Option<Regex>> = pattern(|| {
    Regex::new(r"^\s+(?:Running .*[/\\]([\w-]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)|Doc-tests (\S+))$").ok()
});
static LIBTEST: LazyLock<Option<Regex>> =
    pattern(|| Regex::new(r"^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b").ok());
// The line number of a documentation test changes with every line above it, so it is removed from the name.
static LINE: LazyLock<Option<Regex>> = pattern(|| Regex::new(r" \(line \d+\)").ok());
static NEXTEST: LazyLock<Option<Regex>> = pattern(|| {
    Regex::new(r"^\s+([A-Z][A-Z-]*(?: \d+/\d+)?)\s+\[[^\]]*\]\s+(?:\(\s*\d+/\d+\)\s+)?(\S+)\s+(.+)$").ok()
});

/// Names are those of libtest, prefixed by the name of the binary.
pub(super) fn libtest(text: &str) -> Option<TestReport> {
    let mut report = TestReport::default();
    let (mut binary, mut recognized) = (String::new(), false);
    for line in text.lines() {
        if let Some(head) = captures(&BINARY, line) {
            binary =
                head.get(1).or(head.get(2)).map(|name| format!("{} ", name.as_str())).unwrap_or_default();
        }
        let Some(test) = captures(&LIBTEST, line) else { continue };
        recognized = true;
        let name = LINE.as_ref().map_or(test[1].into(), |line| line.replace(&test[1], ""));
        let status = match &test[2] {
            "ok" => TestStatus::Passed,
            "ignored" => TestStatus::Skipped,
            _ => TestStatus::Failed,
        };
        report.add(format!("{binary}{name}"), status);
    }
    // Documentation tests of one item share a name, which counts as failed when one of them fails.
    report.passed.retain(|name| !report.failed.contains(name));
    recognized.then(|| report.counted())
}

pub(super) fn nextest(text: &str) -> Option<TestReport> {
    if !text.lines().any(|line| line.trim_start().starts_with("Nextest run ID")) {
        return None;
    }
    let mut report = TestReport::default();
    for line in text.lines() {
        let Some(test) = captures(&NEXTEST, line) else { continue };
        let status = match test[1].split(' ').next().unwrap_or_default() {
            "PASS" | "FLAKY" | "LEAK" => TestStatus::Passed,
            "SKIP" => TestStatus::Skipped,
            // Intermediate lines; the final result follows.
            "SLOW" | "TRY" => continue,
            _ => TestStatus::Failed,
        };
        report.add(format!("{} {}", &test[2], &test[3]), status);
    }
    Some(report.counted())
}
