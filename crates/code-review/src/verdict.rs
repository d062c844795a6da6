//! The verdict on a change, derived from the validated findings: `verdict.json`.

use loopgate_api::review::VerdictKind;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::finding::{Finding, IssueSeverity};
use crate::validation::Validation;

/// Largest length of a reason in characters.
const MAX_REASON: usize = 80;
/// Category of a finding that the change is not needed.
const PREMISE: &str = "Premise";

/// Content of `verdict.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictReport {
    /// Overall assessment.
    pub verdict: VerdictKind,
    /// Issue of the finding that decided, at most 80 characters. Empty if none did.
    pub reason: String,
    /// Last line of a review's output: verdict and reason as JSON in an element `pr_verdict`.
    pub tag: String,
}

/// Derives the verdict.
#[must_use]
pub fn verdict(validation: &Validation) -> VerdictReport {
    let findings = &validation.validated;
    let is_high = |finding: &&Finding| finding.severity == IssueSeverity::High;
    let (verdict, finding) = match findings.iter().find(|finding| declines(finding)) {
        Some(finding) => (VerdictKind::Decline, Some(finding)),
        None => match findings.iter().find(is_high) {
            Some(finding) => (VerdictKind::NeedsAttention, Some(finding)),
            None => (VerdictKind::Approve, None),
        },
    };
    tagged(verdict, finding.map_or("", |finding| &finding.issue))
}

fn tagged(verdict: VerdictKind, reason: &str) -> VerdictReport {
    let reason: String = reason.chars().take(MAX_REASON).collect();
    // The reason is text of a model: it must not contain the end of the element.
    let text = json!({"verdict": verdict, "reason": reason}).to_string().replace('<', "\\u003c");
    VerdictReport { verdict, reason, tag: format!("<pr_verdict>{text}</pr_verdict>") }
}

/// Returns whether a finding by itself leads to a verdict other than an approval.
#[must_use]
pub fn decides(finding: &Finding) -> bool {
    declines(finding) || finding.severity == IssueSeverity::High
}

/// Returns the verdict on a change that was not reviewed completely: never an approval.
#[must_use]
pub fn incomplete_verdict(validation: &Validation, reason: &str) -> VerdictReport {
    let report = verdict(validation);
    if report.verdict == VerdictKind::Approve { tagged(VerdictKind::NeedsAttention, reason) } else { report }
}

fn declines(finding: &Finding) -> bool {
    let is_premise = finding.category == PREMISE && finding.priority == Some(0);
    finding.severity == IssueSeverity::Blocking || is_premise
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(findings: serde_json::Value) -> VerdictReport {
        let validated = serde_json::from_value(findings).unwrap();
        verdict(&Validation { validated, ..Validation::default() })
    }

    // PR-20
    #[test]
    fn most_severe_finding_decides() {
        let high = json!({"severity": "HIGH", "issue": "[P1] high"});
        let medium = json!({"severity": "MEDIUM", "issue": "[P2] medium"});
        let blocking = json!({"severity": "BLOCKING", "issue": "[P0] blocking"});
        let premise =
            json!({"severity": "HIGH", "category": "Premise", "priority": 0, "issue": "[P0] premise"});
        let minor = json!({"severity": "HIGH", "category": "Premise", "priority": 1, "issue": "[P1] minor"});
        for (findings, kind, reason) in [
            (json!([medium, high, blocking]), VerdictKind::Decline, "[P0] blocking"),
            (json!([medium, high]), VerdictKind::NeedsAttention, "[P1] high"),
            (json!([high, premise, blocking]), VerdictKind::Decline, "[P0] premise"),
            (json!([minor]), VerdictKind::NeedsAttention, "[P1] minor"),
            (json!([medium]), VerdictKind::Approve, ""),
            (json!([]), VerdictKind::Approve, ""),
        ] {
            let report = of(findings.clone());
            assert_eq!((report.verdict, report.reason.as_str()), (kind, reason), "{findings}");
        }
        assert_eq!(of(json!([])).tag, r#"<pr_verdict>{"verdict":"approve","reason":""}</pr_verdict>"#);
    }

    #[test]
    fn reason_is_cut_and_stays_inside_of_its_element() {
        let issue = format!("</pr_verdict>\"{}", "é".repeat(100));
        let report = of(json!([{"severity": "HIGH", "issue": issue}]));
        assert_eq!(report.reason.chars().count(), MAX_REASON);
        let inside = report.tag.strip_prefix("<pr_verdict>").unwrap().strip_suffix("</pr_verdict>").unwrap();
        assert!(!inside.contains('<'));
        let parsed: serde_json::Value = serde_json::from_str(inside).unwrap();
        assert_eq!(
            (parsed["verdict"].as_str(), parsed["reason"].as_str()),
            (Some("needs_attention"), Some(report.reason.as_str()))
        );
    }
}
