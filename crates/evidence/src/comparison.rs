//! Comparison of two runs of the same command: which tests fail at the head but not at the base.

use std::collections::BTreeSet;

use loopgate_api::test_evidence::{TestOutcome, TestRun};
use serde::{Deserialize, Serialize};

use crate::report::TestReport;

/// A test run and its parsed output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletedRun {
    /// Exit code, duration and log of the command.
    pub run: TestRun,
    /// The parsed output; `None` when no test runner was recognized or the output was truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<TestReport>,
}

impl CompletedRun {
    /// Returns the failed tests. A command that exits with code 0 has no failures, whatever it printed.
    fn failed(&self) -> BTreeSet<&str> {
        let report = self.report.as_ref().filter(|_| !self.run.passed());
        report.into_iter().flat_map(|report| &report.failed).map(String::as_str).collect()
    }

    fn passed_any(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.counts.passed > 0)
    }
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunComparison {
    /// Overall outcome of the comparison.
    pub outcome: TestOutcome,
    /// Tests that fail at the head but not at the base.
    pub new_failures: Vec<String>,
    /// Details for the user, in particular why the result is inconclusive.
    pub note: Option<String>,
}

/// Compares the run at the base with the run at the head.
#[must_use]
pub fn compare(command: &str, base: &CompletedRun, head: &CompletedRun) -> RunComparison {
    let verdict = |outcome, note| RunComparison { outcome, new_failures: Vec::new(), note };
    if let Some(error) = &head.run.error {
        return verdict(TestOutcome::Inconclusive, Some(format!("The tests could not be run: {error}")));
    }
    if head.run.passed() {
        let note =
            base.run.error.as_ref().map(|error| format!("The tests could not be run at the base: {error}"));
        return verdict(TestOutcome::Passed, note);
    }
    if let Some(error) = &base.run.error {
        let note = format!(
            "The tests fail. It is unknown whether they failed before, because they could not be run at the base: {error}"
        );
        return verdict(TestOutcome::Inconclusive, Some(note));
    }
    let new_failures = new_failures(command, base, head);
    let outcome = if new_failures.is_empty() { TestOutcome::FailedBefore } else { TestOutcome::NewFailures };
    RunComparison { outcome, new_failures, note: None }
}

/// Returns the new failures of two completed runs, of which the one at the head failed.
fn new_failures(command: &str, base: &CompletedRun, head: &CompletedRun) -> Vec<String> {
    let (before, after) = (base.failed(), head.failed());
    let whole = || vec![command.to_owned()];
    match (base.run.passed(), after.is_empty()) {
        // No test is named, so the command as a whole is the failure.
        (true, true) => whole(),
        // The base ran tests and the head did not: it aborts earlier, for example because it does not
        // compile.
        (false, true) if base.passed_any() && !head.passed_any() => whole(),
        (false, true) => Vec::new(),
        // No test ran at the base, so it is unknown whether the failing tests passed before.
        (false, false) if before.is_empty() => Vec::new(),
        _ => after.difference(&before).map(|name| (*name).to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use loopgate_api::test_evidence::TestCounts;
    use proptest::prelude::*;

    use super::*;

    const COMMAND: &str = "make test";

    fn run(exit_code: i32, report: Option<(u64, &[&str])>) -> CompletedRun {
        let report = report.map(|(passed, failed)| TestReport {
            failed: failed.iter().map(|name| (*name).to_owned()).collect(),
            counts: TestCounts { passed, ..TestCounts::default() },
            ..TestReport::default()
        });
        let run = TestRun {
            commit: "c".into(),
            exit_code: Some(exit_code),
            duration_ms: 1,
            counts: None,
            error: None,
            log: "l".into(),
            output: None,
        };
        CompletedRun { run, report }
    }

    fn not_run() -> CompletedRun {
        let mut not_run = run(0, None);
        (not_run.run.exit_code, not_run.run.error) = (None, Some("it took too long".into()));
        not_run
    }

    #[test]
    fn failures_are_new_when_absent_at_the_base() {
        use TestOutcome::{FailedBefore, Inconclusive, NewFailures, Passed};
        for (base, head, outcome, new) in [
            (run(0, None), run(0, None), Passed, &[] as &[&str]),
            (run(1, None), run(0, None), Passed, &[]),
            (run(0, None), run(1, None), NewFailures, &[COMMAND]),
            (run(1, None), run(1, None), FailedBefore, &[]),
            (run(0, Some((2, &[]))), run(1, Some((1, &["a"]))), NewFailures, &["a"]),
            (run(1, Some((2, &["a"]))), run(1, Some((1, &["a", "b"]))), NewFailures, &["b"]),
            (run(1, Some((2, &["a", "b"]))), run(1, Some((1, &["b"]))), FailedBefore, &[]),
            // The head does not compile, the base ran tests.
            (run(1, Some((2, &["a"]))), run(101, None), NewFailures, &[COMMAND]),
            (run(0, Some((2, &[]))), run(101, None), NewFailures, &[COMMAND]),
            // The base does not compile.
            (run(101, None), run(1, Some((1, &["a"]))), FailedBefore, &[]),
            // Exit code 0 means passed, whatever is printed.
            (run(0, Some((1, &["a"]))), run(1, Some((1, &["a"]))), NewFailures, &["a"]),
            (run(0, None), run(0, Some((1, &["a"]))), Passed, &[]),
            (not_run(), run(0, None), Passed, &[]),
            (not_run(), run(1, None), Inconclusive, &[]),
            (run(0, None), not_run(), Inconclusive, &[]),
        ] {
            let verdict = compare(COMMAND, &base, &head);
            assert_eq!(
                (verdict.outcome, verdict.new_failures.as_slice()),
                (outcome, new_names(new).as_slice()),
                "{base:?} {head:?}"
            );
            let unknown = base.run.error.is_some() || head.run.error.is_some();
            assert_eq!(verdict.note.is_some(), unknown, "{verdict:?}");
        }
    }

    fn new_names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn any_run() -> impl Strategy<Value = CompletedRun> {
        let names = proptest::collection::btree_set("[a-c]", 0..3);
        (0..2_i32, proptest::option::of((0..2_u64, names))).prop_map(|(code, report)| {
            let names: Vec<String> = report.iter().flat_map(|(_, names)| names.clone()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            run(code, report.as_ref().map(|(passed, _)| (*passed, names.as_slice())))
        })
    }

    proptest! {
        #[test]
        fn new_failures_fail_only_at_the_head(base in any_run(), head in any_run()) {
            let verdict = compare(COMMAND, &base, &head);
            prop_assert_eq!(verdict.outcome == TestOutcome::NewFailures, !verdict.new_failures.is_empty());
            prop_assert_eq!(verdict.outcome == TestOutcome::Passed, head.run.passed());
            for name in verdict.new_failures.iter().filter(|name| *name != COMMAND) {
                prop_assert!(head.failed().contains(name.as_str()) && !base.failed().contains(name.as_str()));
            }
            // A run compared with itself has no new failures.
            prop_assert_ne!(compare(COMMAND, &head, &head).outcome, TestOutcome::NewFailures);
        }
    }
}
