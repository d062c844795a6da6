//! `go test`. Without `-v` it prints packages and failed tests only.

use std::sync::LazyLock;

use regex::Regex;

use super::{TestReport, TestStatus, captures, pattern};

static PACKAGE: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^(ok  |FAIL)\t(\S+)").ok());
static TEST: LazyLock<Option<Regex>> = pattern(|| Regex::new(r"^\s*--- (PASS|FAIL|SKIP): (\S+) \(").ok());

/// Names are `package test`, or the package alone when it names no test.
pub(super) fn go_test(text: &str) -> Option<TestReport> {
    let mut report = TestReport::default();
    let mut recognized = false;
    // Tests are printed before the line with the name of their package.
    let mut tests: Vec<(TestStatus, String)> = Vec::new();
    for line in text.lines() {
        if let Some(test) = captures(&TEST, line) {
            let status = match &test[1] {
                "PASS" => TestStatus::Passed,
                "SKIP" => TestStatus::Skipped,
                _ => TestStatus::Failed,
            };
            tests.push((status, test[2].to_owned()));
        } else if let Some(package) = captures(&PACKAGE, line) {
            recognized = true;
            let passed = &package[1] != "FAIL";
            // A package that fails because of a named test does not count as a failure of its own.
            if passed || !tests.iter().any(|(status, _)| *status == TestStatus::Failed) {
                report.add(&package[2], if passed { TestStatus::Passed } else { TestStatus::Failed });
            }
            for (status, name) in tests.drain(..) {
                report.add(format!("{} {name}", &package[2]), status);
            }
        }
    }
    recognized.then(|| report.counted())
}
