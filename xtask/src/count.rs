//! Counts of passed and failed checks, read from the reports that the test runners write.

use std::path::Path;
use std::str::FromStr;

use anyhow::Context as _;
use serde_json::Value;

/// Number of passed and failed checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u64,
    /// Checks that failed or did not run.
    pub failed: u64,
}

impl Count {
    /// Counts a single check as passed or failed.
    pub const fn one(passed: bool) -> Self {
        if passed { Self { passed: 1, failed: 0 } } else { Self { passed: 0, failed: 1 } }
    }

    /// Adds the checks of another count.
    pub const fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// Reads the totals of nextest's JUnit report.
    pub fn of_junit(report: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(report).context("nextest wrote no report")?;
        // Only attributes of the root element are needed, which is not worth an XML parser.
        let head = text.split("<testsuites").nth(1).and_then(|rest| rest.split('>').next());
        let head = head.context("nextest's report has no counts")?;
        let failed = attribute::<u64>(head, "failures")? + attribute::<u64>(head, "errors")?;
        Ok(Self { passed: attribute::<u64>(head, "tests")?.saturating_sub(failed), failed })
    }

    /// Reads the JSON report of vitest.
    pub fn of_vitest(report: &Path) -> anyhow::Result<Self> {
        let report = json(report).context("vitest wrote no report")?;
        let number = |name: &str| report[name].as_u64().unwrap_or(0);
        let failed = number("numFailedTests") + number("numPendingTests");
        // Vitest reports a file that fails to load as a failed suite without failed tests.
        let broken = number("numFailedTestSuites").min(u64::from(failed == 0));
        Ok(Self { passed: number("numPassedTests"), failed: failed + broken })
    }

    /// Reads the JSON report of Playwright. Skipped tests count as failed.
    pub fn of_playwright(report: &Path) -> anyhow::Result<Self> {
        let report = json(report).context("playwright wrote no report")?;
        let number = |name: &str| report["stats"][name].as_u64().unwrap_or(0);
        let broken = report["errors"].as_array().map_or(0, |errors| errors.len() as u64);
        // A flaky test failed first and passed on a retry.
        Ok(Self {
            passed: number("expected") + number("flaky"),
            failed: number("unexpected") + number("skipped") + broken,
        })
    }
}

/// One test of nextest's JUnit report.
#[derive(Debug, PartialEq, Eq)]
pub struct TestCase {
    /// Nextest's id of the test binary, `package::target`.
    pub binary: String,
    pub name: String,
    pub passed: bool,
}

impl TestCase {
    /// Reads the tests of nextest's JUnit report.
    pub fn of_junit(report: &Path) -> anyhow::Result<Vec<Self>> {
        let text = std::fs::read_to_string(report).context("nextest wrote no report")?;
        // Output of tests is escaped in the report, so only elements contain this text.
        text.split("<testcase").skip(1).map(Self::parse).collect()
    }

    fn parse(element: &str) -> anyhow::Result<Self> {
        let head = element.split('>').next().unwrap_or_default();
        // A test that failed first and passed on a retry has a `flakyFailure`.
        let passed = !element.contains("<failure") && !element.contains("<error");
        Ok(Self { binary: attribute(head, "classname")?, name: attribute(head, "name")?, passed })
    }
}

fn json(path: &Path) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

fn attribute<T: FromStr>(head: &str, name: &str) -> anyhow::Result<T> {
    let value = head.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
    value.and_then(|value| value.parse().ok()).with_context(|| format!("nextest's report lacks {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> std::path::PathBuf {
        let name = format!("xtask-count-{}-{:?}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn failed_and_skipped_tests_are_not_counted_as_passed() {
        let junit =
            r#"<?xml version="1.0"?><testsuites name="r" tests="16" failures="3" errors="1" uuid="u">"#;
        assert_eq!(Count::of_junit(&report(junit)).unwrap(), Count { passed: 12, failed: 4 });
        let vitest =
            r#"{"numPassedTests": 5, "numFailedTests": 0, "numPendingTests": 0, "numFailedTestSuites": 2}"#;
        assert_eq!(Count::of_vitest(&report(vitest)).unwrap(), Count { passed: 5, failed: 1 });
        let playwright =
            r#"{"stats": {"expected": 4, "unexpected": 1, "flaky": 0, "skipped": 2}, "errors": []}"#;
        assert_eq!(Count::of_playwright(&report(playwright)).unwrap(), Count { passed: 4, failed: 3 });
        assert!(Count::of_junit(&report("nothing")).is_err());
    }

    #[test]
    fn failed_tests_are_read_from_a_report() {
        let junit = r#"<testsuites name="ci" tests="4" failures="2" errors="0">
            <testsuite name="loopgate::it" tests="4">
              <testcase name="story::plan" classname="loopgate::it" time="1.0"/>
              <testcase name="story::flaky" classname="loopgate::it" time="1.0">
                <flakyFailure type="test failure"><system-out>a</system-out></flakyFailure>
              </testcase>
              <testcase name="story::wrong" classname="loopgate::it" time="1.0">
                <failure type="test failure with exit code 101"/><system-out>&lt;testcase</system-out>
              </testcase>
              <testcase name="story::absent" classname="loopgate::it" time="0.0"><error type="x"/></testcase>
            </testsuite></testsuites>"#;
        let cases = TestCase::of_junit(&report(junit)).unwrap();
        let cases: Vec<_> = cases.iter().map(|case| (case.name.as_str(), case.passed)).collect();
        let expected = [
            ("story::plan", true),
            ("story::flaky", true),
            ("story::wrong", false),
            ("story::absent", false),
        ];
        assert_eq!(cases, expected);
    }
}
