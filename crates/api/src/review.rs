//! What reviews find, as it is stored on disk and travels.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::provider::ProviderId;

/// Largest line number; whole numbers above it lose precision in JavaScript.
const MAX_LINE: u64 = (1 << 53) - 1;

/// One remark of a review. It is read leniently: a member of another type counts as absent. Members that are
/// not known here survive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", from = "Map<String, Value>")]
#[schema(example = json!({"severity": "high", "priority": "P1", "file": "src/cart.rs", "line": 14, "message": "The sum overflows\nLarge carts wrap around.", "suggestion": "use checked_add", "commented": false}))]
pub struct ReviewFinding {
    /// How bad it is: `critical`, `high`, `medium` or `low`, or a word of the client.
    #[schema(required = false)]
    pub severity: String,
    /// P0 to P3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// File it points at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line it points at, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Its title, and the details on the lines that follow.
    #[schema(required = false)]
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Whether it was posted as a comment on the pull request.
    #[schema(required = false)]
    pub commented: bool,
    /// Its text as it is posted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub humanized_body: Option<String>,
    /// The text at its line when it was stored, by which it is found again when the code moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<LineAnchor>,
    /// Whether the text at its line is gone from the file. Never stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub outdated: bool,
    /// Members that other programs wrote.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: Map<String, Value>,
}

/// A line of a file, and the lines around it, without the blanks at their ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineAnchor {
    /// Number of the line when it was stored, from 1.
    pub line: u64,
    /// The lines before it, in their order.
    #[serde(default)]
    pub before: Vec<String>,
    /// Its text.
    pub text: String,
    /// The lines after it.
    #[serde(default)]
    pub after: Vec<String>,
}

impl Default for ReviewFinding {
    fn default() -> Self {
        Self {
            severity: "info".to_owned(),
            priority: None,
            file: None,
            line: None,
            message: String::new(),
            suggestion: None,
            commented: false,
            humanized_body: None,
            anchor: None,
            outdated: false,
            more: Map::new(),
        }
    }
}

impl From<Map<String, Value>> for ReviewFinding {
    fn from(mut members: Map<String, Value>) -> Self {
        let mut text = |name: &str| match members.shift_remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let severity = text("severity").filter(|severity| !severity.is_empty());
        let (priority, file, message) = (text("priority"), text("file"), text("message"));
        let (suggestion, humanized_body) = (text("suggestion"), text("humanizedBody"));
        let line = members.shift_remove("line").as_ref().and_then(line_number);
        let commented = members.shift_remove("commented").as_ref().is_some_and(is_truthy);
        let anchor = members.shift_remove("anchor").and_then(|anchor| serde_json::from_value(anchor).ok());
        let outdated = members.shift_remove("outdated") == Some(Value::Bool(true));
        Self {
            severity: severity.unwrap_or_else(|| "info".to_owned()),
            priority,
            file,
            line,
            message: message.unwrap_or_default(),
            suggestion,
            commented,
            humanized_body,
            anchor,
            outdated,
            more: members,
        }
    }
}

/// The number of a line as reviewers write it: a number, or a text that begins with one, such as `10-14`.
#[must_use]
pub fn line_number(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => match number.as_u64() {
            Some(number) => number,
            None => format!("{:.0}", number.as_f64()?.trunc()).parse().ok()?,
        },
        Value::String(text) => {
            let text = text.trim_start();
            let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
            text[..end].parse().ok()?
        }
        _ => return None,
    };
    Some(number).filter(|number| *number <= MAX_LINE)
}

/// Whether JavaScript takes a value for true.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// What the review of one provider found, as it is stored on disk. Members that are not known here survive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"provider": "reviewer", "model": "m-1", "findings": [{"severity": "high", "priority": "P1", "file": "src/cart.rs", "line": 14, "message": "The sum overflows", "commented": false}]}))]
pub struct ReviewFindings {
    /// Whose review it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Which model reviewed; `unknown` when the client did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the person declined the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<bool>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline_reason: Option<String>,
    /// In the order of the review.
    #[serde(default)]
    pub findings: Vec<ReviewFinding>,
    /// Members that other programs wrote.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: Map<String, Value>,
}

impl ReviewFindings {
    /// The findings of a new review.
    #[must_use]
    pub fn new(provider: &ProviderId, model: Option<String>, findings: Vec<ReviewFinding>) -> Self {
        Self {
            provider: Some(provider.as_str().to_owned()),
            model: Some(model.unwrap_or_else(|| "unknown".to_owned())),
            findings,
            ..Self::default()
        }
    }
}

/// What a reviewer makes of a change as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// It can be merged.
    Approve,
    /// Important findings, none of which is in the way.
    NeedsAttention,
    /// It is needless or harmful, or has critical findings.
    Decline,
}

/// A verdict, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"verdict": "approve", "reason": "The fix is needed and complete."}))]
pub struct Verdict {
    /// The verdict.
    pub verdict: VerdictKind,
    /// Not blank.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> ReviewFinding {
        serde_json::from_value(value).unwrap()
    }

    // RC-26
    #[test]
    fn findings_are_read_leniently_and_keep_what_they_do_not_know() {
        let finding = read(json!({"severity": 5, "line": "12-14", "message": null, "commented": "yes",
            "file": ["a"], "humanizedBody": "Please", "x": {"y": 1}}));
        let stored = serde_json::to_value(&finding).unwrap();
        let expected = json!({"severity": "info", "line": 12, "message": "", "commented": true,
            "humanizedBody": "Please", "x": {"y": 1}});
        assert_eq!(stored, expected);
        assert!(serde_json::from_value::<ReviewFinding>(Value::Null).is_err());
    }

    #[test]
    fn line_numbers_are_whole_and_never_negative() {
        for (value, expected) in [
            (json!(14), Some(14)),
            (json!(14.9), Some(14)),
            (json!(" 7"), Some(7)),
            (json!("10-14"), Some(10)),
            (json!(-3), None),
            (json!(1e300), None),
            (json!("x"), None),
            (json!(""), None),
            (json!(true), None),
        ] {
            assert_eq!(line_number(&value), expected, "{value}");
        }
    }

    proptest! {
        #[test]
        fn stored_findings_are_read_back(
            severity in ".+", file in proptest::option::of(".*"),
            line in proptest::option::of(0..=MAX_LINE), message in ".*", commented in any::<bool>(),
        ) {
            let finding = ReviewFinding { severity, file, line, message, commented, ..ReviewFinding::default() };
            prop_assert_eq!(read(serde_json::to_value(&finding).unwrap()), finding);
        }
    }
}
