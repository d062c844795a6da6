//! Findings of reviews that `loopgate code-review run` has made in a worktree: of loops, of sessions, and of this service.

use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_api::review::ReviewFinding;
use loopgate_code_review::finding::{Finding, FindingSide};
use loopgate_code_review::validation::Validation;
use loopgate_home::untrusted;

/// Directory of the sessions, in the directory of Loopgate in a worktree.
const SESSIONS: &str = "code-review";
/// Prefix of the ids of sessions.
pub(crate) const SESSION_PREFIX: &str = "cr-";
/// File with the id of the session that was completed last.
const COMPLETED: &str = "completed.json";
const VALIDATION: &str = "validate_output.json";
const VERDICT: &str = "verdict.json";
/// Member of the stored findings with the session that they are from.
pub(crate) const SESSION_MEMBER: &str = "reviewSession";

/// Returns the id of the session that was completed last in a worktree. Performs blocking I/O.
pub(crate) fn completed_session(worktree: &Path) -> Option<String> {
    let id: String = untrusted::read_json(&worktree.join(STATE_DIR).join(SESSIONS).join(COMPLETED))?;
    directory(worktree, &id).is_some().then_some(id)
}

/// Returns the findings of a session; `None` if it is not complete. Performs blocking I/O.
pub(crate) fn findings_of(worktree: &Path, id: &str) -> Option<Vec<ReviewFinding>> {
    let session = directory(worktree, id)?;
    // The verdict is written last.
    untrusted::is_file(&session.join(VERDICT)).then_some(())?;
    let validation: Validation = untrusted::read_json(&session.join(VALIDATION))?;
    Some(validation.validated.into_iter().map(finding).collect())
}

/// Returns the directory of a session. `None` for a text that is no id, because it becomes a part of a path.
fn directory(worktree: &Path, id: &str) -> Option<PathBuf> {
    let rest = id.strip_prefix(SESSION_PREFIX)?;
    let is_id = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_id.then(|| worktree.join(STATE_DIR).join(SESSIONS).join(id))
}

fn finding(finding: Finding) -> ReviewFinding {
    let severity = match finding.severity.priority() {
        0 => "critical",
        1 => "high",
        _ => "medium",
    };
    let title = finding.issue.split_once("] ").map_or(finding.issue.as_str(), |(_, title)| title);
    let parts = [title, finding.explanation.as_str()].into_iter().filter(|part| !part.trim().is_empty());
    // A line of the old file is not a line of the current one.
    let line = finding.line.filter(|_| finding.side != Some(FindingSide::Left));
    ReviewFinding {
        severity: severity.to_owned(),
        priority: finding.priority.map(|priority| format!("P{priority}")),
        message: parts.collect::<Vec<_>>().join("\n"),
        file: Some(finding.file).filter(|file| !file.is_empty()),
        line,
        suggestion: Some(finding.recommendation).filter(|text| !text.trim().is_empty()),
        confidence: finding.confidence,
        ..ReviewFinding::default()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Writes a completed session with one finding.
    pub(crate) fn complete(worktree: &Path, id: &str, issue: &str, line: u64) {
        let sessions = worktree.join(".loopgate/code-review");
        std::fs::create_dir_all(sessions.join(id)).unwrap();
        let finding = json!({"file": "a.rs", "line": line, "severity": "HIGH", "category": "Security", "issue": issue,
            "explanation": "It is open.", "recommendation": "Close it.", "confidence": 0.8, "priority": 1});
        let validation = json!({"validated": [finding], "discarded": [], "normalization_warnings": 0,
            "non_standard_values": [], "stats": {"total_input": 1, "validated": 1, "cross_file_grouped": 0,
            "discarded_file_not_changed": 0, "discarded_line_not_changed": 0, "discarded_low_confidence": 0,
            "discarded_low_severity": 0, "discarded_duplicate": 0}});
        let write =
            |name: &str, value: Value| std::fs::write(sessions.join(name), value.to_string()).unwrap();
        write(&format!("{id}/validate_output.json"), validation);
        write(&format!("{id}/verdict.json"), json!({"verdict": "needs_attention"}));
        write("completed.json", json!(id));
    }

    #[test]
    fn findings_of_a_complete_session_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(completed_session(dir.path()), None);
        complete(dir.path(), "cr-7", "[P1] Open door", 3);
        assert_eq!(completed_session(dir.path()).as_deref(), Some("cr-7"));
        let findings = findings_of(dir.path(), "cr-7").unwrap();
        assert_eq!((findings[0].message.as_str(), findings[0].line), ("Open door\nIt is open.", Some(3)));
        assert_eq!((findings[0].severity.as_str(), findings[0].priority.as_deref()), ("high", Some("P1")));
        std::fs::remove_file(dir.path().join(".loopgate/code-review/cr-7/verdict.json")).unwrap();
        assert_eq!(findings_of(dir.path(), "cr-7"), None);
        for id in ["../x", "cr-../x", "cr-", "x"] {
            assert_eq!(findings_of(dir.path(), id), None, "{id}");
        }
    }
}
