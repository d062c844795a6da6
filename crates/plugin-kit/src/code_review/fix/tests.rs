//! Fixes with a test double of the assistant.

use super::super::run::tests::{EMPTY, Fixture, confidences, finding, findings};
use super::*;

impl Fixture {
    /// Reviews a change whose first and eighth line are wrong according to the reviewer. `confidences`: those of the second
    /// reviewer. Then sets the script of the corrections, which finds the root of the repository in the current directory.
    fn reviewed(confidence: &[f64], correction: &str) -> Self {
        let claims = [finding(1, "fn function_0() { step(0); }"), finding(8, "fn function_7() { step(7); }")];
        let fixture = Self::new(&format!(
            "case $agent in fast) answer '{}' 0.01 ;; challenge) answer '{}' 0.01 ;; esac",
            findings(&claims),
            confidences(confidence)
        ));
        fixture.write("Makefile", "test:\n\t@sh check.sh\n");
        fixture.write("check.sh", "! grep -q broken src/part_0.rs\n");
        fixture.write(
            "tests/all.rs",
            "#[test]\nfn works() {\n    assert_eq!(one(), 1);\n    assert_eq!(two(), 2);\n}\n",
        );
        fixture.commit();
        fixture.change(10);
        fixture.completed();
        fixture.script(&format!("[[ $agent = fix ]] || exit 9\n{correction}\nanswer '\"Corrected.\"' 0.02"));
        fixture
    }

    fn fix(&self, limit: Option<&str>) -> EndedFix {
        let run = FixRun {
            dir: self.root(),
            session: None,
            limit: limit.map(|usd| usd.parse().unwrap()),
            assistant: self.out("claude").into(),
            env: [("PATH".into(), std::env::var_os("PATH").unwrap())].into(),
            wait: None,
            stop: self.stop.clone(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run.run())
    }

    fn fixed(&self) -> FixResult {
        let ended = self.fix(None);
        let FixOutcome::Completed(result) = ended.outcome else { panic!("{ended:?}") };
        let session = last_completed(&self.root()).unwrap();
        let stored = super::super::session::directory(&self.root(), &session).join(RESULT);
        let stored: FixResult = serde_json::from_slice(&std::fs::read(stored).unwrap()).unwrap();
        assert_eq!(stored, result);
        result
    }

    fn source(&self) -> String {
        std::fs::read_to_string(self.root().join("src/part_0.rs")).unwrap()
    }
}

fn states(result: &FixResult) -> Vec<(Option<u64>, FixState)> {
    result.findings.iter().map(|finding| (finding.line, finding.state)).collect()
}

#[test]
fn confirmed_findings_are_corrected_and_the_others_are_not() {
    let fixture = Fixture::reviewed(&[0.9, 0.2], "sed -i 's/step(0)/step(1)/' src/part_0.rs");
    let result = fixture.fixed();
    assert_eq!(states(&result), [(Some(1), FixState::Fixed)]);
    assert_eq!(
        (result.received, result.confirmed, result.fixed),
        (1, 1, 1),
        "a disproved finding is not received"
    );
    assert!(result.test_command.is_some() && result.findings[0].reason == "Corrected.");
    assert!(fixture.source().contains("fn function_0() { step(1); }"));
    let request = fixture.note("prompts/fix.1");
    assert!(request.contains("\"title\":\"[P1] Step 1 is wrong\"") && !request.contains("Step 8 is wrong"));
    let arguments = fixture.note("calls/fix.1");
    assert!(arguments.contains("--tools=Read,Grep,Glob,Edit ") && !arguments.contains("Bash"), "{arguments}");
    assert!(
        result.text().ends_with("1 findings, 1 confirmed, 1 fixed; tested with `make test`; cost $0.02"),
        "{}",
        result.text()
    );
}

#[test]
fn correction_that_weakens_a_test_or_breaks_one_is_taken_back() {
    for (correction, reason) in [
        ("sed -i 's/step(0)/step(1)/' src/part_0.rs; sed -i '/one()/d' tests/all.rs", "it weakens a test"),
        ("sed -i 's/step(0)/broken(1)/' src/part_0.rs", "tests fail after it"),
    ] {
        let fixture = Fixture::reviewed(&[0.9, 0.9], correction);
        let before = (fixture.source(), fixture.git(&["status", "--porcelain"]));
        let result = fixture.fixed();
        assert_eq!(states(&result), [(Some(1), FixState::TakenBack), (Some(8), FixState::TakenBack)]);
        assert!(result.findings[0].reason.starts_with(reason), "{result:?}");
        assert_eq!((fixture.source(), fixture.git(&["status", "--porcelain"])), before);
        assert_eq!((result.confirmed, result.fixed), (2, 0));
    }
}

#[test]
fn each_end_of_an_attempt_is_recorded() {
    let fixture = Fixture::reviewed(&[0.9, 0.9], "true");
    assert_eq!(states(&fixture.fixed()), [(Some(1), FixState::Unchanged), (Some(8), FixState::Unchanged)]);
    let fixture = Fixture::reviewed(&[0.9, 0.9], "sed -i 's/step(0)/half(0)/' src/part_0.rs; exit 3");
    let result = fixture.fixed();
    assert_eq!(states(&result)[0], (Some(1), FixState::Failed));
    assert!(fixture.source().contains("step(0)"), "a part of a correction is taken back");
    let limit = r#"printf '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Usage limit reached"}\n'; exit 1"#;
    let ended = Fixture::reviewed(&[0.9, 0.9], limit).fix(None);
    assert!(
        matches!(&ended.outcome, FixOutcome::Failed(message) if message.contains("rate limit")),
        "{ended:?}"
    );
}

// PR-27
#[test]
fn nothing_is_edited_without_a_confirmed_finding() {
    let fixture = Fixture::new(EMPTY);
    fixture.change(10);
    fixture.completed();
    fixture.script("exit 9");
    let result = fixture.fixed();
    assert_eq!(result.text(), "No actionable findings. Review complete.");
    // The second reviewer gave no usable answer.
    let claims = [finding(1, "fn function_0() { step(0); }")];
    let fixture = Fixture::new(&format!("case $agent in fast) answer '{}' 0.01 ;; esac", findings(&claims)));
    fixture.change(10);
    fixture.completed();
    fixture.script("exit 9");
    let result = fixture.fixed();
    assert_eq!(states(&result), [(Some(1), FixState::NotConfirmed)]);
    assert_eq!((result.confirmed, fixture.calls().len()), (0, 0));
    let fixture = Fixture::new(EMPTY);
    let ended = fixture.fix(None);
    assert!(
        matches!(&ended.outcome, FixOutcome::Failed(message) if message == "No code review session found. Run a code review first.")
    );
}
