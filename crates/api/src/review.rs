//! Results of reviews, as stored on disk and sent on the wire.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::provider::ProviderId;

/// Highest line number: JavaScript clients represent larger integers inexactly.
const MAX_LINE: u64 = (1 << 53) - 1;

/// One finding of a review. Parsed leniently: a member of an unexpected type counts as absent. Unknown
/// members are preserved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", from = "Map<String, Value>")]
#[schema(example = json!({"severity": "high", "priority": "P1", "file": "src/cart.rs", "line": 14, "message": "The sum overflows\nLarge carts wrap around.", "suggestion": "use checked_add", "commented": false}))]
pub struct ReviewFinding {
    /// Severity: `critical`, `high`, `medium`, `low` or a client-defined word; `info` when absent.
    #[schema(required = false)]
    pub severity: String,
    /// Priority from `P0` (highest) to `P3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// Path of the file that the finding refers to; absent for a general finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line that the finding refers to, from 1; absent for a general finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Title in the first line, details in the following lines.
    #[schema(required = false)]
    pub message: String,
    /// Suggested change to resolve the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// How sure the reviewer is, from 0 to 1; absent if it did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether the finding was posted as a comment on the pull request.
    #[schema(required = false)]
    pub commented: bool,
    /// Whether a person decided against the finding.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub declined: bool,
    /// Reason for the decision against the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decline_reason: Option<String>,
    /// Reworded text for the posted comment; absent until one was generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub humanized_body: Option<String>,
    /// Content around the line when the finding was stored, used to locate it after the code moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<LineAnchor>,
    /// Whether the file no longer contains the line's text. Computed for responses, never stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub outdated: bool,
    /// Unknown members, written by other programs and preserved.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: Map<String, Value>,
}

/// A line of a file with its surrounding lines, each without leading and trailing whitespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineAnchor {
    /// Line number when the finding was stored, from 1.
    pub line: u64,
    /// Preceding lines in file order.
    #[serde(default)]
    pub before: Vec<String>,
    /// Text of the line itself.
    pub text: String,
    /// Following lines in file order.
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
            confidence: None,
            commented: false,
            declined: false,
            decline_reason: None,
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
        let decline_reason = text("declineReason");
        let confidence = members.shift_remove("confidence").as_ref().and_then(Value::as_f64);
        let line = members.shift_remove("line").as_ref().and_then(line_number);
        let commented = members.shift_remove("commented").as_ref().is_some_and(is_truthy);
        let anchor = members.shift_remove("anchor").and_then(|anchor| serde_json::from_value(anchor).ok());
        let declined = members.shift_remove("declined") == Some(Value::Bool(true));
        let outdated = members.shift_remove("outdated") == Some(Value::Bool(true));
        Self {
            severity: severity.unwrap_or_else(|| "info".to_owned()),
            priority,
            file,
            line,
            message: message.unwrap_or_default(),
            suggestion,
            confidence,
            commented,
            declined,
            decline_reason,
            humanized_body,
            anchor,
            outdated,
            more: members,
        }
    }
}

/// Parses a line number as written by reviewers: a number, or a string that starts with one, such as `10-14`.
#[must_use]
pub fn line_number(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => match number.as_u64() {
            Some(number) => number,
            // Not an unsigned integer: a fraction is truncated. A negative number fails to parse; the result
            // of -0.4, "-0", does too.
            None => format!("{:.0}", number.as_f64()?.trunc()).parse().ok()?,
        },
        // Reviewers often name a range; its first line is used.
        Value::String(text) => {
            let text = text.trim_start();
            let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
            text[..end].parse().ok()?
        }
        _ => return None,
    };
    Some(number).filter(|number| *number <= MAX_LINE)
}

/// Returns whether JavaScript considers a value truthy, for clients that write other types than booleans.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Findings of one provider's review, as stored on disk. Unknown members are preserved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"provider": "reviewer", "model": "m-1", "findings": [{"severity": "high", "priority": "P1", "file": "src/cart.rs", "line": 14, "message": "The sum overflows", "commented": false}]}))]
pub struct ReviewFindings {
    /// Id of the reviewing provider; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Model used for the review; `unknown` when the client did not specify one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the user declined the reviewed change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined: Option<bool>,
    /// Reason for declining the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline_reason: Option<String>,
    /// Findings in the order of the review.
    #[serde(default)]
    pub findings: Vec<ReviewFinding>,
    /// Unknown members, written by other programs and preserved.
    #[serde(flatten)]
    #[schema(ignore)]
    pub more: Map<String, Value>,
}

impl ReviewFindings {
    /// Creates the findings of a new review.
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

/// Overall assessment of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// The change can be merged.
    Approve,
    /// The change has important findings that do not block a merge.
    NeedsAttention,
    /// The change is unnecessary or harmful, or has critical findings.
    Decline,
}

/// A verdict of a reviewer with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"verdict": "approve", "reason": "The fix is needed and complete."}))]
pub struct Verdict {
    /// Overall assessment of the change.
    pub verdict: VerdictKind,
    /// Reason for the verdict; never blank.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse(value: Value) -> ReviewFinding {
        serde_json::from_value(value).unwrap()
    }

    // RC-26
    #[test]
    fn findings_are_parsed_leniently_and_preserve_unknown_members() {
        let finding = parse(json!({"severity": 5, "line": "12-14", "message": null, "commented": "yes",
            "file": ["a"], "humanizedBody": "Please", "x": {"y": 1}}));
        let serialized = serde_json::to_value(&finding).unwrap();
        let expected = json!({"severity": "info", "line": 12, "message": "", "commented": true,
            "humanizedBody": "Please", "x": {"y": 1}});
        assert_eq!(serialized, expected);
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
        fn stored_findings_are_parsed_back(
            severity in ".+", file in proptest::option::of(".*"),
            line in proptest::option::of(0..=MAX_LINE), message in ".*", commented in any::<bool>(),
        ) {
            let finding = ReviewFinding { severity, file, line, message, commented, ..ReviewFinding::default() };
            prop_assert_eq!(parse(serde_json::to_value(&finding).unwrap()), finding);
        }
    }
}
