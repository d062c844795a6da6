//! Evidence as text: a sentence, and a section of a pull request's description.

use std::fmt::Write as _;

use loopgate_api::test_evidence::{TestEvidence, TestOutcome, TestRun};

// HTML comments enclose the section, so that a later run can replace it; Markdown renderers do not show them.
const BEGIN: &str = "<!-- loopgate:tests -->";
const END: &str = "<!-- /loopgate:tests -->";
// Footer of the description of a loop's pull request.
const FOOTER: &str = "---\nLoop ID: ";
// Upper bound of names and flags in a text; the stored record contains all of them.
const MAX_SHOWN: usize = 10;
// Upper bound of characters per name or flag.
const MAX_TEXT: usize = 200;

/// Returns the outcome of the tests in one sentence.
#[must_use]
pub fn sentence(evidence: &TestEvidence) -> String {
    let command = evidence.command.as_deref().map(|command| format!(" (`{command}`)")).unwrap_or_default();
    let mut text = match evidence.outcome {
        TestOutcome::Passed => format!("The tests{command} pass."),
        TestOutcome::FailedBefore => format!("The tests{command} fail, as they do at the base."),
        TestOutcome::NewFailures => {
            let names = excerpts(&evidence.new_failures, |name| name.clone());
            let (count, verb) = match evidence.new_failures.len() {
                1 => ("1 test".to_owned(), "fails"),
                many => (format!("{many} tests"), "fail"),
            };
            format!("{count} {verb} that did not fail at the base: {}.", names.join(", "))
        }
        TestOutcome::NotRun | TestOutcome::Inconclusive => String::new(),
    };
    if let Some(note) = &evidence.note {
        text = format!("{text} {note}").trim().to_owned();
    }
    if !evidence.flags.is_empty() {
        let flags = excerpts(&evidence.flags, |flag| {
            let path = flag.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
            format!("{} ({path}{})", flag.kind.as_text(), flag.detail)
        });
        let _ = write!(text, " Check these changes to the tests: {}.", flags.join(", "));
    }
    text
}

/// Returns the section of a pull request's description, as Markdown.
#[must_use]
pub fn markdown(evidence: &TestEvidence) -> String {
    let mut text = format!("{BEGIN}\n### Tests\n\n");
    if let (Some(base), Some(head)) = (&evidence.base, &evidence.head) {
        let command = evidence.command.as_deref().map(code).unwrap_or_default();
        let _ = writeln!(text, "{command}, run by Loopgate in clean worktrees:\n");
        let _ = writeln!(text, "| | base {} | head {} |\n|---|---|---|", commit(base), commit(head));
        let mut row = |name: &str, of: &dyn Fn(&TestRun) -> String| {
            let _ = writeln!(text, "| {name} | {} | {} |", of(base), of(head));
        };
        row("result", &result);
        if base.counts.or(head.counts).is_some() {
            row("passed / failed / skipped", &counts);
        }
        row("duration", &duration);
        text.push('\n');
    }
    let summary = match evidence.outcome {
        TestOutcome::Passed => "The tests pass.".to_owned(),
        TestOutcome::FailedBefore => "The tests fail, as they do at the base.".to_owned(),
        TestOutcome::NewFailures => {
            let names = excerpts(&evidence.new_failures, |name| code(name));
            format!("**New failures:** {}", names.join(", "))
        }
        TestOutcome::NotRun | TestOutcome::Inconclusive => String::new(),
    };
    for part in [summary, evidence.note.as_deref().map(plain).unwrap_or_default()] {
        if !part.is_empty() {
            let _ = writeln!(text, "{part}");
        }
    }
    if !evidence.flags.is_empty() {
        text.push_str("\nChanges to the tests themselves:\n\n");
        let lines = excerpts(&evidence.flags, |flag| {
            let path = flag.path.as_ref().map(|path| format!(" in {}", code(path))).unwrap_or_default();
            format!("- {}{path}: {}", flag.kind.as_text(), code(&flag.detail))
        });
        let _ = writeln!(text, "{}", lines.join("\n"));
    }
    text + END
}

/// Inserts the section into a pull request's description: replaces an earlier section, otherwise inserts it
/// above the footer or at the end.
#[must_use]
pub fn replace_section(body: &str, section: &str) -> String {
    if let Some((before, rest)) = body.split_once(BEGIN)
        && let Some((_, after)) = rest.split_once(END)
    {
        return format!("{before}{section}{after}");
    }
    match body.rfind(FOOTER) {
        Some(at) => format!("{}\n\n{section}\n\n{}", body[..at].trim_end(), &body[at..]),
        None => format!("{}\n\n{section}\n", body.trim_end()),
    }
}

/// Returns the first items as text, followed by the number of omitted ones.
fn excerpts<T>(all: &[T], text: impl Fn(&T) -> String) -> Vec<String> {
    let mut texts: Vec<String> = all.iter().take(MAX_SHOWN).map(text).collect();
    if all.len() > MAX_SHOWN {
        texts.push(format!("{} more", all.len() - MAX_SHOWN));
    }
    texts
}

fn commit(run: &TestRun) -> String {
    code(run.commit.get(..10).unwrap_or(&run.commit))
}

fn result(run: &TestRun) -> String {
    match (&run.error, run.exit_code) {
        (Some(_), _) | (None, None) => "could not be run".to_owned(),
        (None, Some(0)) => "passed".to_owned(),
        (None, Some(code)) => format!("failed, exit code {code}"),
    }
}

fn counts(run: &TestRun) -> String {
    run.counts.map_or_else(
        || "unknown".to_owned(),
        |counts| format!("{} / {} / {}", counts.passed, counts.failed, counts.skipped),
    )
}

#[expect(clippy::cast_precision_loss, reason = "printed with one decimal")]
fn duration(run: &TestRun) -> String {
    format!("{:.1} s", run.duration_ms as f64 / 1000.0)
}

/// Returns text of a repository as inline code. The text cannot terminate the code span or the table cell, so
/// that it cannot inject Markdown into the description.
fn code(text: &str) -> String {
    format!("`{}`", plain(text).replace('`', "'").replace('|', "\\|"))
}

/// Returns text without line breaks and control characters, truncated to [`MAX_TEXT`] characters.
fn plain(text: &str) -> String {
    let clean = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    clean.take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use loopgate_api::test_evidence::{TestCounts, TestFlag, TestFlagKind};
    use proptest::prelude::*;

    use super::*;

    fn run(exit_code: i32, passed: u64, failed: u64) -> TestRun {
        TestRun {
            commit: "0123456789abcdef".into(),
            exit_code: Some(exit_code),
            duration_ms: 1250,
            counts: Some(TestCounts { passed, failed, skipped: 0 }),
            error: None,
            log: "tests-head.log".into(),
            output: None,
        }
    }

    fn evidence() -> TestEvidence {
        TestEvidence {
            outcome: TestOutcome::NewFailures,
            command: Some("npm test".into()),
            base: Some(run(0, 3, 0)),
            head: Some(run(1, 1, 1)),
            new_failures: vec!["cart › `adds` | @you".into()],
            flags: vec![TestFlag {
                kind: TestFlagKind::TestSkipped,
                path: Some("a.test.js".into()),
                detail: "it.skip('x')".into(),
            }],
            diffs: Vec::new(),
            note: None,
        }
    }

    #[test]
    fn section_shows_both_runs_and_new_failures() {
        let text = markdown(&evidence());
        for part in [
            "`npm test`, run by Loopgate",
            "| | base `0123456789` | head `0123456789` |",
            "| result | passed | failed, exit code 1 |",
            "| passed / failed / skipped | 3 / 0 / 0 | 1 / 1 / 0 |",
            "| duration | 1.2 s | 1.2 s |",
            "**New failures:** `cart › 'adds' \\| @you`",
            "- test skipped in `a.test.js`: `it.skip('x')`",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert_eq!(
            sentence(&evidence()),
            "1 test fails that did not fail at the base: cart › `adds` | @you. \
             Check these changes to the tests: test skipped (a.test.js: it.skip('x'))."
        );
    }

    #[test]
    fn section_is_inserted_above_the_footer_and_replaced() {
        let section = markdown(&evidence());
        let body = replace_section("Text\n\n---\nLoop ID: 7\n", &section);
        assert_eq!(body, format!("Text\n\n{section}\n\n---\nLoop ID: 7\n"));
        let later = markdown(&TestEvidence { outcome: TestOutcome::Passed, ..evidence() });
        assert_eq!(replace_section(&body, &later), format!("Text\n\n{later}\n\n---\nLoop ID: 7\n"));
        assert_eq!(replace_section("Text\n", &section), format!("Text\n\n{section}\n"));
    }

    proptest! {
        #[test]
        fn section_is_inserted_once_in_any_text(body in "(?s).{0,60}", note in "(?s).{0,60}") {
            let first = markdown(&TestEvidence { note: Some(note), ..evidence() });
            let once = replace_section(&body, &first);
            prop_assert_eq!(replace_section(&once, &first), once);
        }

        #[test]
        fn code_span_cannot_be_terminated(text in "(?s).{0,40}") {
            let span = code(&text);
            prop_assert_eq!(span.matches('`').count(), 2);
            prop_assert!(!span.contains('\n'));
        }
    }
}
