//! Holds findings against the lines that they quote. A model can describe code that the change does not contain; its words
//! are then not at the line that it names.

use std::collections::BTreeMap;

use crate::diff_data::{ChangeStatus, DiffData, PatchLines};
use crate::finding::{Finding, FindingSide};
use crate::validation::{DiscardReason, DiscardedFinding};

/// Number of characters, without white space, from which words of a longer line identify it.
const MIN_CHARS: usize = 8;

/// Divides findings into those whose line is in the change and contains the quoted words, and the others with the reason.
#[must_use]
pub fn check_quotations(findings: Vec<Finding>, data: &DiffData) -> (Vec<Finding>, Vec<DiscardedFinding>) {
    let mut confirmed = Vec::new();
    let mut discarded = Vec::new();
    for finding in findings {
        match fault(&finding, data) {
            None => confirmed.push(finding),
            Some(reason) => discarded.push(DiscardedFinding { finding, reason }),
        }
    }
    (confirmed, discarded)
}

fn fault(finding: &Finding, data: &DiffData) -> Option<DiscardReason> {
    if !data.files_to_review.contains(&finding.file) {
        return Some(DiscardReason::FileNotChanged);
    }
    let lines = data.patch_lines.get(&finding.file);
    let is_old = finding.side == Some(FindingSide::Left)
        || data.file_statuses.get(&finding.file) == Some(&ChangeStatus::Removed);
    let text = lines.zip(finding.line).and_then(|(lines, line)| text_at(lines, line, is_old));
    match text {
        None => Some(DiscardReason::LineNotInDiff),
        Some(text) => (!is_quoted(text, &finding.code_snippet)).then_some(DiscardReason::NotQuoted),
    }
}

/// Returns the text of a line of the change: a removed one of the old file, else an added or unchanged one.
fn text_at(lines: &PatchLines, line: u64, is_old: bool) -> Option<&str> {
    let find = |lines: &BTreeMap<u64, String>| lines.contains_key(&line);
    if is_old {
        return lines.removed_lines.get(&line).map(String::as_str);
    }
    let lines = if find(&lines.added_lines) { &lines.added_lines } else { &lines.context_lines };
    lines.get(&line).map(String::as_str)
}

/// Returns whether a line of the quotation is the text or a part of it that identifies it. White space does not count.
fn is_quoted(text: &str, quotation: &str) -> bool {
    let text = normalized(text);
    let length = text.chars().filter(|letter| !letter.is_whitespace()).count();
    quotation.lines().map(normalized).any(|line| {
        let count = line.chars().filter(|letter| !letter.is_whitespace()).count();
        count > 0 && count >= length.min(MIN_CHARS) && text.contains(&line)
    })
}

fn normalized(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn data() -> DiffData {
        serde_json::from_value(json!({
            "files_to_review": ["a.rs", "gone.rs"],
            "file_statuses": {"a.rs": "modified", "gone.rs": "removed"},
            "patch_lines": {
                "a.rs": {"added_lines": {"5": "    let total = price *  count;", "6": "}"},
                    "removed_lines": {"5": "    let total = 0;"}, "context_lines": {"4": "fn total() {"}},
                "gone.rs": {"removed_lines": {"1": "fn check_permission() {}"}},
            },
        }))
        .unwrap()
    }

    fn reason(finding: serde_json::Value) -> Option<DiscardReason> {
        fault(&serde_json::from_value(finding).unwrap(), &data())
    }

    #[test]
    fn finding_must_quote_its_line() {
        let at =
            |line: u64, snippet: &str| reason(json!({"file": "a.rs", "line": line, "code_snippet": snippet}));
        for (line, snippet) in [
            (5, "let total = price * count;"),
            (5, "total = price"),
            (5, "fn total() {\n    let total = price * count;\n}"),
            (4, "fn total() {"),
            (6, "}"),
        ] {
            assert_eq!(at(line, snippet), None, "{snippet}");
        }
        for (line, snippet) in [
            (5, "let total = price / count;"),
            (5, "let"),
            (5, ""),
            (5, "let total = 0;"),
            (4, "total = price"),
            (6, " "),
        ] {
            assert_eq!(at(line, snippet), Some(DiscardReason::NotQuoted), "{snippet}");
        }
        assert_eq!(at(7, "}"), Some(DiscardReason::LineNotInDiff));
        assert_eq!(reason(json!({"file": "a.rs", "code_snippet": "}"})), Some(DiscardReason::LineNotInDiff));
        let other = json!({"file": "b.rs", "line": 5, "code_snippet": "let total = price * count;"});
        assert_eq!(reason(other), Some(DiscardReason::FileNotChanged));
    }

    #[test]
    fn removed_lines_count_in_the_old_file() {
        let removed = json!({"file": "a.rs", "line": 5, "side": "LEFT", "code_snippet": "let total = 0;"});
        assert_eq!(reason(removed), None);
        let deleted = json!({"file": "gone.rs", "line": 1, "code_snippet": "fn check_permission() {}"});
        assert_eq!(reason(deleted), None);
    }

    proptest! {
        #[test]
        fn each_line_quotes_itself(text in "\\PC*[a-z]\\PC*") {
            prop_assume!(text.lines().count() == 1);
            prop_assert!(is_quoted(&text, &text));
        }
    }
}
