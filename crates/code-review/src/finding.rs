//! A finding of a code review, as reviewers write it and as the steps of a review exchange it.

use loopgate_api::review::line_number;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Lowest priority, P3.
const MAX_PRIORITY: u64 = 3;

/// A finding. Parsed leniently: a member of an unexpected type counts as absent. Unknown members are preserved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Value")]
pub struct Finding {
    /// Path of the file, relative to the root of the repository.
    pub file: String,
    /// Line, from 1: of the new file, or of the old one with [`FindingSide::Left`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Severity, normalized.
    pub severity: IssueSeverity,
    /// Kind of defect.
    pub category: String,
    /// Title in one line: `[P1] …`.
    pub issue: String,
    /// Why it is a defect.
    pub explanation: String,
    /// How to resolve it.
    pub recommendation: String,
    /// The code that the finding refers to.
    pub code_snippet: String,
    /// Priority from 0 (highest) to 3; absent if the reviewer wrote none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How sure the reviewer is, from 0 to 1; absent if it wrote none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The file that `line` counts in; the new one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<FindingSide>,
    /// Other places with the same defect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_locations: Vec<FindingLocation>,
    /// `false` for a finding that is not posted at its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline: Option<bool>,
    /// Unknown members, which are preserved.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Severity of a finding, in the words of all reviewers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum IssueSeverity {
    /// The change must not be merged. Reviewers also write `critical`.
    Blocking,
    /// Must be resolved.
    High,
    /// Should be resolved.
    Medium,
    /// Not reported.
    Low,
    /// Another word, as the reviewer wrote it.
    Other(String),
}

/// Side of a change, in the words of the code host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FindingSide {
    /// The old file, whose lines were removed.
    Left,
    /// The new file.
    Right,
}

/// Another place with the same defect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingLocation {
    /// Path of the file.
    pub file: String,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Severity of the finding there.
    pub severity: IssueSeverity,
}

impl Default for IssueSeverity {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl From<String> for IssueSeverity {
    fn from(text: String) -> Self {
        match text.trim().to_ascii_lowercase().as_str() {
            "critical" | "blocking" => Self::Blocking,
            "high" => Self::High,
            "medium" => Self::Medium,
            "low" => Self::Low,
            _ => Self::Other(text),
        }
    }
}

impl From<IssueSeverity> for String {
    fn from(severity: IssueSeverity) -> Self {
        match severity {
            IssueSeverity::Blocking => "BLOCKING".to_owned(),
            IssueSeverity::High => "HIGH".to_owned(),
            IssueSeverity::Medium => "MEDIUM".to_owned(),
            IssueSeverity::Low => "LOW".to_owned(),
            IssueSeverity::Other(text) => text,
        }
    }
}

impl IssueSeverity {
    /// Returns the priority of a finding without one: 0 for `BLOCKING`, 1 for `HIGH`, else 2. Lower is more severe.
    #[must_use]
    pub const fn priority(&self) -> u8 {
        match self {
            Self::Blocking => 0,
            Self::High => 1,
            Self::Medium | Self::Low | Self::Other(_) => 2,
        }
    }
}

impl From<Value> for Finding {
    fn from(value: Value) -> Self {
        let Value::Object(mut members) = value else {
            // Not a finding, but still an entry of the list. Without a file, validation discards it.
            return Self { more: Map::from_iter([("value".to_owned(), value)]), ..Self::default() };
        };
        let mut text = |name: &str| match members.shift_remove(name) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let (file, severity, category) = (text("file"), text("severity").into(), text("category"));
        let (issue, explanation) = (text("issue"), text("explanation"));
        let (recommendation, code_snippet) = (text("recommendation"), text("code_snippet"));
        let mut member = |name: &str| members.shift_remove(name).filter(|value| !value.is_null());
        let line = member("line").as_ref().and_then(line_number).filter(|line| *line > 0);
        let priority = member("priority").as_ref().and_then(priority);
        let confidence = member("confidence").as_ref().and_then(number);
        let side = member("side").and_then(|side| serde_json::from_value(side).ok());
        let other_locations = member("other_locations").and_then(|list| serde_json::from_value(list).ok());
        let inline = member("inline").as_ref().and_then(Value::as_bool);
        Self {
            file,
            line,
            severity,
            category,
            issue,
            explanation,
            recommendation,
            code_snippet,
            priority,
            confidence,
            side,
            other_locations: other_locations.unwrap_or_default(),
            inline,
            more: members,
        }
    }
}

/// Parses a priority: a number, or a text such as `P1`.
fn priority(value: &Value) -> Option<u8> {
    let number = match value {
        Value::String(text) => text.trim().trim_start_matches(['P', 'p']).parse().ok(),
        other => other.as_u64(),
    };
    number.filter(|number| *number <= MAX_PRIORITY).and_then(|number| u8::try_from(number).ok())
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        other => other.as_f64(),
    }
}

/// Findings as a file contains them: `{"findings": […]}`, or only the list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "FindingsDocument")]
pub struct FindingList {
    /// Findings in the order of the file.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum FindingsDocument {
    List(Vec<Finding>),
    Object { findings: Vec<Finding> },
}

impl From<FindingsDocument> for FindingList {
    fn from(document: FindingsDocument) -> Self {
        let (FindingsDocument::List(findings) | FindingsDocument::Object { findings }) = document;
        Self { findings }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse(value: Value) -> Finding {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn findings_are_parsed_leniently_and_preserve_unknown_members() {
        let finding = parse(json!({"file": "a.rs", "line": "12-14", "severity": "Critical", "category": 5,
            "issue": "[P1] x", "priority": "P1", "confidence": "0.4", "side": "LEFT", "inline": false,
            "other_locations": [{"file": "b.rs", "line": 3, "severity": "high"}], "agent": {"id": 7}}));
        let expected = json!({"file": "a.rs", "line": 12, "severity": "BLOCKING", "category": "", "issue": "[P1] x",
            "explanation": "", "recommendation": "", "code_snippet": "", "priority": 1, "confidence": 0.4,
            "side": "LEFT", "other_locations": [{"file": "b.rs", "line": 3, "severity": "HIGH"}], "inline": false,
            "agent": {"id": 7}});
        assert_eq!(serde_json::to_value(&finding).unwrap(), expected);
        let finding =
            parse(json!({"line": 0, "priority": 4, "confidence": "sure", "side": "up", "severity": "weird"}));
        assert_eq!(
            (finding.line, finding.priority, finding.confidence, finding.side),
            (None, None, None, None)
        );
        assert_eq!(finding.severity, IssueSeverity::Other("weird".to_owned()));
        assert_eq!(parse(json!("text")).more["value"], "text");
    }

    #[test]
    fn list_is_an_array_or_a_member() {
        for value in [json!([{"file": "a"}, 5]), json!({"findings": [{"file": "a"}, 5], "more": 1})] {
            let list: FindingList = serde_json::from_value(value).unwrap();
            assert_eq!((list.findings.len(), list.findings[0].file.as_str()), (2, "a"));
        }
        assert!(serde_json::from_value::<FindingList>(json!({"error": "x"})).is_err());
    }

    proptest! {
        #[test]
        fn serialized_finding_is_parsed_back(
            file in ".*", line in proptest::option::of(1..1000_u64), severity in ".*", priority in proptest::option::of(0..4_u8),
            confidence in proptest::option::of(0.0..1.0), inline in any::<Option<bool>>(), extra in ".*",
        ) {
            let more = Map::from_iter([("extra".to_owned(), Value::String(extra))]);
            let severity = severity.into();
            let finding = Finding { file, line, severity, priority, confidence, inline, more, ..Finding::default() };
            prop_assert_eq!(parse(serde_json::to_value(&finding).unwrap()), finding);
        }
    }
}
