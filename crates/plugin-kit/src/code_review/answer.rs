//! The answer of a reviewer: findings in a fixed form.

use loopgate_code_review::finding::{Finding, FindingSide, IssueSeverity};
use serde::Deserialize;

use super::reviewers::ChangeReviewer;
use crate::model_calls::without_fence;

/// Characters of a title.
const MAX_TITLE: usize = 75;
/// Lowest confidence of a finding about the purpose of a change, which few facts can show.
const MIN_PREMISE_CONFIDENCE: f64 = 0.7;

/// An answer as it is written. Exactly one member must be present.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewerAnswer {
    findings: Option<Vec<AnsweredFinding>>,
    error: Option<String>,
}

/// A finding as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredFinding {
    file: String,
    line: u64,
    #[serde(default)]
    side: Option<FindingSide>,
    severity: String,
    category: String,
    issue: String,
    explanation: String,
    #[serde(default)]
    recommendation: String,
    code_snippet: String,
    confidence: f64,
}

/// Parses the answer of a reviewer. A code fence around the JSON is accepted, and nothing else around it.
///
/// # Errors
/// Returns the reason for which the answer cannot be used, for the model.
pub fn parse(text: &str, reviewer: &ChangeReviewer) -> Result<Vec<Finding>, String> {
    let answer: ReviewerAnswer =
        serde_json::from_str(without_fence(text)).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => format!("the answer is not valid: {error}"),
            _ => format!("the answer is no JSON: {error}"),
        })?;
    match answer {
        ReviewerAnswer { findings: Some(findings), error: None } => findings
            .into_iter()
            .enumerate()
            .filter_map(|(index, finding)| checked(finding, index + 1, reviewer).transpose())
            .collect(),
        ReviewerAnswer { findings: None, error: Some(error) } => {
            Err(format!("the answer reports an error: {error}"))
        }
        ReviewerAnswer { .. } => Err("the answer must have the member findings".to_owned()),
    }
}

/// Returns a finding in the form of the review; `None` for one about the purpose of the change that is not sure enough.
fn checked(
    finding: AnsweredFinding,
    number: usize,
    reviewer: &ChangeReviewer,
) -> Result<Option<Finding>, String> {
    let severity = IssueSeverity::from(finding.severity.clone());
    if !matches!(severity, IssueSeverity::Blocking | IssueSeverity::High | IssueSeverity::Medium) {
        return Err(format!(
            "finding {number} has an unknown severity {:?}; expected BLOCKING, HIGH or MEDIUM",
            finding.severity
        ));
    }
    if !reviewer.categories.contains(&finding.category.as_str()) {
        return Err(format!(
            "finding {number} has an unknown category {:?}; expected {}",
            finding.category,
            reviewer.categories.join(" or ")
        ));
    }
    let texts = [
        ("file", &finding.file),
        ("issue", &finding.issue),
        ("explanation", &finding.explanation),
        ("code_snippet", &finding.code_snippet),
    ];
    if let Some((name, _)) = texts.into_iter().find(|(_, text)| text.trim().is_empty()) {
        return Err(format!("finding {number} has an empty {name}"));
    }
    if !(0.0..=1.0).contains(&finding.confidence) {
        return Err(format!("finding {number} has a confidence that is not between 0 and 1"));
    }
    let is_premise = finding.category == "Premise";
    if is_premise && (severity == IssueSeverity::Medium || finding.confidence < MIN_PREMISE_CONFIDENCE) {
        return Ok(None);
    }
    let priority = severity.priority();
    let title: String =
        finding.issue.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE).collect();
    let mut more = serde_json::Map::new();
    more.insert("agent".to_owned(), reviewer.id.as_str().into());
    Ok(Some(Finding {
        file: finding.file,
        line: Some(finding.line),
        severity,
        category: finding.category,
        issue: format!("[P{priority}] {title}"),
        explanation: finding.explanation,
        recommendation: finding.recommendation,
        code_snippet: finding.code_snippet,
        priority: Some(priority),
        confidence: Some(finding.confidence),
        side: finding.side,
        more,
        ..Finding::default()
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn reviewer() -> ChangeReviewer {
        ChangeReviewer {
            id: "premise".to_owned(),
            model: "sonnet".to_owned(),
            categories: vec!["Premise"],
            files: None,
            reads_whole_change: true,
            request: String::new(),
            scope: String::new(),
        }
    }

    fn finding() -> Value {
        json!({"file": "a.rs", "line": 3, "severity": "high", "category": "Premise", "issue": "Wrong  place",
            "explanation": "It is there.", "code_snippet": "fn a()", "confidence": 0.8})
    }

    fn fault(change: impl FnOnce(&mut Value)) -> String {
        let mut answer = json!({"findings": [finding()]});
        change(&mut answer);
        parse(&answer.to_string(), &reviewer()).unwrap_err()
    }

    #[test]
    fn findings_get_priority_and_author() {
        let answer = format!("```json\n{}\n```", json!({"findings": [finding()]}));
        let findings = parse(&answer, &reviewer()).unwrap();
        assert_eq!((findings[0].issue.as_str(), findings[0].priority), ("[P1] Wrong place", Some(1)));
        assert_eq!(findings[0].more["agent"], "premise");
        let mut unsure = finding();
        unsure["confidence"] = json!(0.69);
        assert_eq!(parse(&json!({"findings": [unsure]}).to_string(), &reviewer()), Ok(Vec::new()));
    }

    #[test]
    fn other_forms_are_refused() {
        for (fault, expected) in [
            (
                fault(|answer| answer["findings"][0]["category"] = json!("Security")),
                "unknown category \"Security\"",
            ),
            (fault(|answer| answer["findings"][0]["severity"] = json!("fatal")), "unknown severity"),
            (fault(|answer| answer["findings"][0]["confidence"] = json!(7)), "not between 0 and 1"),
            (fault(|answer| answer["findings"][0]["code_snippet"] = json!(" ")), "empty code_snippet"),
            (fault(|answer| answer["findings"][0]["line"] = json!("3")), "not valid"),
            (fault(|answer| answer["verdict"] = json!("approve")), "unknown field `verdict`"),
            (fault(|answer| *answer = json!({"error": "no files"})), "reports an error: no files"),
            (parse("It is fine.", &reviewer()).unwrap_err(), "no JSON"),
            (parse("{\"findings\": [", &reviewer()).unwrap_err(), "no JSON"),
            (parse("", &reviewer()).unwrap_err(), "no JSON"),
        ] {
            assert!(fault.contains(expected), "{fault}");
        }
    }
}
