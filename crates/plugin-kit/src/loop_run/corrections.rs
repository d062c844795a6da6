//! Collects where the work of a loop was corrected, from the records of the loop. No model takes part.

use std::path::Path;

use loopgate_api::loop_message::LoopMessage;
use loopgate_api::names::{DELIVERED_MESSAGES, REVIEW_ANSWERS, REVIEW_COMMENTS, STATE_DIR};
use loopgate_code_review::finding::IssueSeverity;
use loopgate_code_review::validation::Validation;
use loopgate_home::{EntryKind, untrusted};
use loopgate_learnings::ExcerptKind;
use serde_json::Value;

use crate::plan;

/// Report of the last failed check of the loop, in the work directory.
pub const FAILED_CHECK: &str = ".learnings/failed-check.txt";
const BUILD_RESULT: &str = ".learnings/build-result.json";

/// Returns the corrections of a loop that started at an instant, in UTC with whole seconds.
pub fn collect(workdir: &Path, project_root: &Path, started_at: &str) -> Vec<(ExcerptKind, String)> {
    let mut corrections = plan::corrections_of_answers(workdir);
    corrections.extend(repaired_check(workdir));
    corrections.extend(requested_changes(workdir, started_at));
    corrections.extend(confirmed_findings(project_root, started_at));
    corrections
}

/// Returns the last failed check if the checks passed later.
fn repaired_check(workdir: &Path) -> Option<(ExcerptKind, String)> {
    let result: Value = untrusted::read_json(&workdir.join(BUILD_RESULT))?;
    let report = untrusted::read_text(&workdir.join(FAILED_CHECK)).ok()?;
    let passed = result.get("status").and_then(Value::as_str) == Some("passed");
    passed.then(|| {
        (
            ExcerptKind::RepairedCheck,
            format!("The checks of the repository failed, and passed later:\n{report}"),
        )
    })
}

/// Returns the comments of a review with the answers of the loop, and the messages of people to the running loop.
fn requested_changes(workdir: &Path, started_at: &str) -> Vec<(ExcerptKind, String)> {
    let mut texts = Vec::new();
    let comments: Option<Value> = untrusted::read_json(&workdir.join(REVIEW_COMMENTS));
    let answers: Option<Value> = untrusted::read_json(&workdir.join(REVIEW_ANSWERS));
    for comment in comments.iter().filter_map(|list| list.get("comments")?.as_array()).flatten() {
        let number = comment.get("number");
        let all = answers.iter().filter_map(|list| list.get("answers")?.as_array()).flatten();
        let answer = all.into_iter().find(|answer| answer.get("number") == number);
        // What the loop has not answered was not corrected.
        let Some(answer) = answer else { continue };
        texts.push(format!("A person reviewed the change:\n{comment}\n\nAnswer of the loop:\n{answer}"));
    }
    let directory = workdir.join(DELIVERED_MESSAGES);
    let mut names: Vec<_> = untrusted::entries(&directory).into_iter().map(|entry| entry.name).collect();
    // Their ids contain their time.
    names.sort();
    let messages = names.iter().filter_map(|name| untrusted::read_json::<LoopMessage>(&directory.join(name)));
    let of_loop = messages.filter(|message| message.received_at.as_str() >= started_at);
    texts.extend(of_loop.map(|message| format!("A person wrote to the running loop:\n{}", message.text)));
    texts.into_iter().map(|text| (ExcerptKind::RequestedChange, text)).collect()
}

/// Returns the findings of severity HIGH and above of the reviews after the loop.
fn confirmed_findings(project_root: &Path, started_at: &str) -> Vec<(ExcerptKind, String)> {
    let directory = project_root.join(STATE_DIR).join("code-review");
    let Ok(started) = started_at.parse::<jiff::Timestamp>() else { return Vec::new() };
    let mut sessions: Vec<_> = untrusted::entries(&directory)
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Directory)
        .map(|entry| directory.join(entry.name).join("validate_output.json"))
        .filter(|path| {
            let modified = untrusted::metadata(path).and_then(|file| file.modified());
            modified.is_ok_and(|at| jiff::Timestamp::try_from(at).is_ok_and(|at| at >= started))
        })
        .collect();
    sessions.sort();
    let validations = sessions.iter().filter_map(|path| untrusted::read_json::<Validation>(path));
    let findings = validations.flat_map(|validation| validation.validated);
    let confirmed =
        findings.filter(|finding| matches!(finding.severity, IssueSeverity::Blocking | IssueSeverity::High));
    confirmed
        .map(|finding| {
            let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
            let text = format!(
                "Finding in {}{line}: {}\n{}\nRecommendation: {}",
                finding.file, finding.issue, finding.explanation, finding.recommendation
            );
            (ExcerptKind::ConfirmedFinding, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn write(path: &Path, value: &Value) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    }

    fn answer(workdir: &Path, number: u32, agent: &str, text: &str) {
        let path = workdir.join(format!(".loopgate/agent-answers/{number:06}.json"));
        write(&path, &json!({"agentType": agent, "agentId": "a", "at": "x", "number": number, "text": text}));
    }

    fn kinds(corrections: &[(ExcerptKind, String)]) -> Vec<ExcerptKind> {
        corrections.iter().map(|(kind, _)| *kind).collect()
    }

    #[test]
    fn loop_without_corrections_has_no_excerpts() {
        let dir = tempfile::tempdir().unwrap();
        answer(dir.path(), 1, "code:implementation-subagent", "IMPLEMENTATION_VERIFIED: T-1.1");
        answer(dir.path(), 2, "code:task-reviewer", "VERIFIED: T-1.1");
        write(&dir.path().join(BUILD_RESULT), &json!({"status": "passed"}));
        assert_eq!(collect(dir.path(), dir.path(), "2030-01-01T00:00:00Z"), []);
    }

    #[test]
    fn corrections_of_all_kinds_are_collected() {
        let dir = tempfile::tempdir().unwrap();
        let workdir = dir.path();
        answer(workdir, 1, "code:implementation-subagent", "NEEDS_CONTEXT: T-1.1 Which currency?");
        answer(workdir, 2, "code:implementation-subagent", "IMPLEMENTATION_VERIFIED: T-1.1 in euros");
        answer(workdir, 3, "code:task-reviewer", "NOT_IMPLEMENTED: T-1.1\nThe price is a float");
        answer(workdir, 4, "code:implementation-subagent", "IMPLEMENTATION_VERIFIED: T-1.1 in cents");
        answer(workdir, 5, "code:task-reviewer", "NOT_IMPLEMENTED: T-1.2\nNothing was done");
        write(&workdir.join(BUILD_RESULT), &json!({"status": "passed"}));
        std::fs::write(workdir.join(FAILED_CHECK), "npm test: failed").unwrap();
        let comment = |number| json!({"number": number, "text": "Use the helper"});
        write(&workdir.join(REVIEW_COMMENTS), &json!({"comments": [comment(1), comment(2)]}));
        write(&workdir.join(REVIEW_ANSWERS), &json!({"answers": [{"number": 1, "status": "done"}]}));
        let id = uuid::Uuid::now_v7();
        let message = workdir.join(DELIVERED_MESSAGES).join(loopgate_api::loop_message::file_name(id));
        write(&message, &json!({"text": "Say cents", "receivedAt": "2030-01-01T00:00:01Z"}));
        let finding = |severity: &str| {
            json!({"file": "a.ts", "line": 3, "severity": severity, "category": "x",
            "issue": "[P1] leak", "explanation": "e", "recommendation": "r", "code_snippet": ""})
        };
        let stats = json!({"total_input": 2, "validated": 2, "cross_file_grouped": 0, "discarded_file_not_changed": 0,
            "discarded_line_not_changed": 0, "discarded_low_confidence": 0, "discarded_low_severity": 0,
            "discarded_duplicate": 0});
        let validation = json!({"validated": [finding("HIGH"), finding("MEDIUM")], "discarded": [],
            "normalization_warnings": 0, "non_standard_values": [], "stats": stats});
        write(&workdir.join(".loopgate/code-review/cr-1/validate_output.json"), &validation);
        let corrections = collect(workdir, workdir, "2020-01-01T00:00:00Z");
        use ExcerptKind::{BlockedTask, ConfirmedFinding, RepairedCheck, RequestedChange, TaskSentBack};
        let expected =
            [BlockedTask, TaskSentBack, RepairedCheck, RequestedChange, RequestedChange, ConfirmedFinding];
        assert_eq!(kinds(&corrections), expected, "{corrections:?}");
        assert!(corrections[1].1.contains("The price is a float") && corrections[1].1.contains("in cents"));
        assert!(!format!("{corrections:?}").contains("Nothing was done"), "it was not repaired");
        let later = collect(workdir, workdir, "2999-01-01T00:00:00Z");
        assert!(!kinds(&later).contains(&ConfirmedFinding), "{later:?}");
    }
}
