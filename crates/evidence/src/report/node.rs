//! `node --test` with the TAP and spec reporters. TAP of other programs is parsed as well.

use std::sync::LazyLock;

use regex::Regex;

use super::{TestReport, TestStatus, captures, pattern};

static TAP: LazyLock<Option<Regex>> =
    pattern(|| Regex::new(r"^( *)(ok|not ok) \d+(?: -)? (.*?)(?: # (?i:(SKIP|TODO)).*)?$").ok());
static SUBTEST: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^( *)# Subtest: (.*)$").ok());
static SUITE: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^( *)▶ (.*)$").ok());
static SPEC: LazyLock<Option<Regex>> =
    pattern(|| Regex::new(r"^( *)([✔✖﹣]) (.*?) \([\d.]+ms\)(?: # (SKIP|TODO)\b.*)?$").ok());

/// The names of the enclosing suites, by indentation.
#[derive(Default)]
struct Path(Vec<(usize, String)>);

impl Path {
    /// Enters a suite or a test, and leaves those with the same or a deeper indentation.
    fn enter(&mut self, indent: usize, name: &str) {
        self.0.retain(|(outer, _)| *outer < indent);
        self.0.push((indent, name.to_owned()));
    }

    /// Returns the full name of a test at this indentation.
    fn name(&self, indent: usize, name: &str) -> String {
        let outer = self.0.iter().filter(|(outer, _)| *outer < indent).map(|(_, name)| name.as_str());
        outer.chain([name]).collect::<Vec<_>>().join(" › ")
    }
}

/// Names are `suite › test`. A suite that failed because of one of its tests is not counted.
pub(super) fn tap(text: &str) -> Option<TestReport> {
    if !text.lines().any(|line| line.starts_with("TAP version ")) {
        return None;
    }
    let (mut report, mut path) = (TestReport::default(), Path::default());
    let mut suites: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(head) = captures(&SUBTEST, line) {
            path.enter(head[1].len(), &head[2]);
        } else if let Some(test) = captures(&TAP, line) {
            let directive = test.get(4).map(|directive| directive.as_str());
            let name = path.name(test[1].len(), &test[3]);
            suites.extend(name.rsplit_once(" › ").map(|(suite, _)| suite.to_owned()));
            report.add(name, status(&test[2] == "ok", directive));
        }
    }
    Some(without_suites(report, &suites))
}

pub(super) fn spec(text: &str) -> Option<TestReport> {
    if !text.lines().any(|line| line.starts_with("ℹ tests ")) {
        return None;
    }
    let (mut report, mut path) = (TestReport::default(), Path::default());
    let mut suites: Vec<String> = Vec::new();
    // Failures are repeated after the counts, without their suites.
    for line in text.lines().take_while(|line| !line.starts_with("ℹ tests ")) {
        if let Some(head) = captures(&SUITE, line) {
            path.enter(head[1].len(), &head[2]);
        } else if let Some(test) = captures(&SPEC, line) {
            let directive = test.get(4).map(|directive| directive.as_str());
            let name = path.name(test[1].len(), &test[3]);
            suites.extend(name.rsplit_once(" › ").map(|(suite, _)| suite.to_owned()));
            report.add(name, status(&test[2] != "✖", directive));
        }
    }
    Some(without_suites(report, &suites))
}

fn status(ok: bool, directive: Option<&str>) -> TestStatus {
    match (directive, ok) {
        (Some(_), _) => TestStatus::Skipped,
        (None, true) => TestStatus::Passed,
        (None, false) => TestStatus::Failed,
    }
}

fn without_suites(mut report: TestReport, suites: &[String]) -> TestReport {
    for suite in suites {
        report.passed.remove(suite);
        report.skipped.remove(suite);
        // A suite fails on its own when a hook fails; then no test below it failed.
        let inner = format!("{suite} › ");
        if report.failed.iter().any(|name| name.starts_with(&inner)) {
            report.failed.remove(suite);
        }
    }
    report.counted()
}
