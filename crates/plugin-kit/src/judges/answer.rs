//! The answer of a judge: findings with quotations. A judge gives no scores; they are computed from its findings.

use serde::Deserialize;

use super::Judge;
use super::scoring::effect;
use crate::model_calls::without_fence;

/// Remark of a judge about one metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeFinding {
    /// Name of the metric in the table of judges.
    pub metric: &'static str,
    /// Severity of a fault, or how far the metric is met.
    pub weight: FindingWeight,
    /// Location, such as `src/main.rs:12` or a heading.
    pub place: String,
    /// Words of an artifact that show the finding.
    pub quote: String,
    /// Reason for the weight.
    pub explanation: String,
}

/// Severity of a finding. Each family of judges accepts some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingWeight {
    Critical,
    Moderate,
    Minor,
    Justified,
    UnaddressedCritical,
    PartialCritical,
    UnaddressedEnhancing,
    PartialEnhancing,
    Drift,
    MajorDrift,
    Met,
    Partly,
    Not,
    Blocking,
    Major,
}

impl FindingWeight {
    /// All weights.
    pub const ALL: [Self; 15] = [
        Self::Critical,
        Self::Moderate,
        Self::Minor,
        Self::Justified,
        Self::UnaddressedCritical,
        Self::PartialCritical,
        Self::UnaddressedEnhancing,
        Self::PartialEnhancing,
        Self::Drift,
        Self::MajorDrift,
        Self::Met,
        Self::Partly,
        Self::Not,
        Self::Blocking,
        Self::Major,
    ];

    /// Returns the name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Moderate => "moderate",
            Self::Minor => "minor",
            Self::Justified => "justified",
            Self::UnaddressedCritical => "unaddressed_critical",
            Self::PartialCritical => "partial_critical",
            Self::UnaddressedEnhancing => "unaddressed_enhancing",
            Self::PartialEnhancing => "partial_enhancing",
            Self::Drift => "drift",
            Self::MajorDrift => "major_drift",
            Self::Met => "met",
            Self::Partly => "partly",
            Self::Not => "not",
            Self::Blocking => "blocking",
            Self::Major => "major",
        }
    }

    /// Returns the weights that a judge may use.
    pub fn of(judge: &Judge) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|weight| effect(judge.family, *weight).is_some())
    }
}

/// An answer as it is written. Exactly one member must be present.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerDocument {
    findings: Option<Vec<FindingDocument>>,
    /// Reason for which the judge could not judge.
    error: Option<String>,
}

/// A finding as it is written. Metric and weight are checked against the judge.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FindingDocument {
    metric: String,
    weight: String,
    place: String,
    quote: String,
    explanation: String,
}

/// Parses the answer of a judge. A code fence around the JSON is accepted, and nothing else around it.
///
/// # Errors
/// Returns the reason for which the answer cannot be used, or the judge's own error.
pub fn parse(text: &str, judge: &Judge) -> Result<Vec<JudgeFinding>, String> {
    let document: AnswerDocument =
        serde_json::from_str(without_fence(text)).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => format!("the answer is not valid: {error}"),
            _ => format!("the answer is no JSON: {error}"),
        })?;
    match document {
        AnswerDocument { findings: None, error: Some(error) } => Err(error),
        AnswerDocument { findings: Some(findings), error: None } => {
            findings.into_iter().enumerate().map(|(index, finding)| checked(finding, index, judge)).collect()
        }
        AnswerDocument { .. } => Err("the answer must have either findings or an error".to_owned()),
    }
}

/// Returns the reason for which the judge says that it cannot judge, and `None` for any other answer.
pub fn own_error(text: &str) -> Option<String> {
    match serde_json::from_str(without_fence(text)) {
        Ok(AnswerDocument { findings: None, error }) => error,
        _ => None,
    }
}

fn checked(finding: FindingDocument, index: usize, judge: &Judge) -> Result<JudgeFinding, String> {
    let FindingDocument { metric, weight, place, quote, explanation } = finding;
    let number = index + 1;
    let Some(metric) = judge.metric(&metric) else {
        let known: Vec<&str> = judge.metrics.iter().map(|(metric, _)| *metric).collect();
        return Err(format!(
            "finding {number} has an unknown metric {metric:?}; expected {}",
            known.join(" or ")
        ));
    };
    let Some(weight) = FindingWeight::of(judge).find(|known| known.name() == weight) else {
        let known: Vec<&str> = FindingWeight::of(judge).map(FindingWeight::name).collect();
        return Err(format!(
            "finding {number} has an unknown weight {weight:?}; expected {}",
            known.join(" or ")
        ));
    };
    for (name, text) in [("place", &place), ("explanation", &explanation)] {
        if text.trim().is_empty() {
            return Err(format!("finding {number} has an empty {name}"));
        }
    }
    Ok(JudgeFinding { metric, weight, place, quote, explanation })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{Category, table::find};
    use super::*;

    fn judge(name: &str) -> &'static Judge {
        find(Category::Plan, name).unwrap()
    }

    fn finding() -> Value {
        json!({"metric": "dry_score", "weight": "minor", "place": "src/a.rs:3", "quote": "fn load_settings",
            "explanation": "Repeats the loader."})
    }

    fn fault(change: impl FnOnce(&mut Value)) -> String {
        let mut answer = json!({"findings": [finding(), finding()]});
        change(&mut answer);
        parse(&answer.to_string(), judge("dry-judge")).unwrap_err()
    }

    #[test]
    fn code_fence_around_the_answer_is_accepted_and_nothing_else() {
        let answer = json!({"findings": [finding()]}).to_string();
        for text in [
            answer.clone(),
            format!("\n```json\n{answer}\n```\n"),
            format!("```\n{answer}```"),
            json!({"findings": []}).to_string(),
        ] {
            assert!(parse(&text, judge("dry-judge")).is_ok(), "{text}");
        }
        for text in [
            format!("Here it is:\n{answer}"),
            format!("{answer}\nDone."),
            format!("```json\n{answer}"),
            format!("Text\n```json\n{answer}\n```"),
            "[]".to_owned(),
            String::new(),
        ] {
            let error = parse(&text, judge("dry-judge")).unwrap_err();
            assert!(error.starts_with("the answer is n"), "{text}: {error}");
        }
    }

    #[test]
    fn unknown_metric_or_weight_is_named() {
        assert_eq!(
            fault(|answer| answer["findings"][1]["metric"] = json!("kiss_score")),
            "finding 2 has an unknown metric \"kiss_score\"; expected dry_score"
        );
        assert_eq!(
            fault(|answer| answer["findings"][0]["weight"] = json!("met")),
            "finding 1 has an unknown weight \"met\"; expected critical or moderate or minor or justified"
        );
        assert_eq!(
            fault(|answer| answer["findings"][0]["place"] = json!(" ")),
            "finding 1 has an empty place"
        );
        let weights =
            |name: &str| FindingWeight::of(judge(name)).map(FindingWeight::name).collect::<Vec<_>>();
        assert_eq!(weights("test-judge"), ["met", "partly", "not"]);
        assert_eq!(weights("codebase-grounding-judge"), ["met", "partly", "not"]);
        let requirements = find(Category::Prd, "prd-scope-judge").unwrap();
        let weights: Vec<_> = FindingWeight::of(requirements).map(FindingWeight::name).collect();
        assert_eq!(weights, ["minor", "blocking", "major"]);
    }

    #[test]
    fn scores_and_other_members_are_refused() {
        assert!(fault(|answer| answer["score"] = json!(1)).contains("unknown field `score`"));
        assert!(fault(|answer| answer["findings"][0]["score"] = json!(1)).contains("unknown field `score`"));
        assert!(fault(|answer| answer["error"] = json!("x")).contains("either findings or an error"));
        assert!(fault(|answer| *answer = json!({})).contains("either findings or an error"));
        assert_eq!(fault(|answer| *answer = json!({"error": "no context"})), "no context");
    }
}
