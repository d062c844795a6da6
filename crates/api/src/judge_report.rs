//! Reports of judges: the format that `loopgate judges` writes, that a loop uploads and that pages show. All scores and
//! statuses in it are computed from findings.

use serde::{Deserialize, Serialize};

use crate::usd::Usd;

/// A report of judges. Scores and statuses must be JSON numbers, not strings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Id of the run and an ending for the kind of the judged object.
    pub report_id: String,
    /// Time of the report, ISO 8601.
    pub timestamp: String,
    /// One entry for each judge.
    pub stats: Vec<CaseScore>,
    /// What judges did not read: documents that were missing or shortened, and ignored settings. One sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// Cost of the run that wrote the report. `None` if the answers were collected in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<ReportCost>,
}

/// Cost of a run of the judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportCost {
    /// Cost that the assistant reported for all calls of the run.
    pub total_usd: Usd,
    /// Number of calls of the assistant.
    pub calls: u32,
    /// Number of judges that were not asked, because their prompt has not changed since their last answer.
    pub not_asked_again: usize,
}

/// Result of one judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseScore {
    /// Kind of the entry.
    #[serde(rename = "type", default)]
    pub kind: CaseKind,
    /// Name of the judge.
    pub case_id: String,
    /// Status that follows from the metrics.
    pub final_status: FinalStatus,
    /// The metrics of the judge, or one that says why it could not judge.
    pub metrics: Vec<MetricStatistics>,
}

/// Kind of an entry in a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    /// Result of a judge.
    #[default]
    CaseScore,
}

/// Status of a judge, a number in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum FinalStatus {
    /// 1: all metrics reach their thresholds.
    Passed,
    /// 2: a metric is below its threshold.
    Below,
    /// 3: the judge could not judge.
    NotJudged,
}

/// Score of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricStatistics {
    /// Name of the metric.
    pub metric_name: String,
    /// Lowest score at which the metric passes.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// Between 0 and 1.
    pub score: f64,
    /// The findings as text, one a line, or why there is no score.
    pub justification: String,
    /// The findings about the metric; those that do not count are last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ReportedFinding>,
}

/// A finding about a metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedFinding {
    /// Severity of a fault, or how far the metric is met.
    pub weight: String,
    /// Location in the document as the judge names it, such as a heading or a file and line.
    pub place: String,
    /// Words of the document.
    pub quote: String,
    /// Reason for the weight.
    pub explanation: String,
    /// Whether the words occur in a document that was judged. Otherwise the finding does not count.
    pub is_supported: bool,
    /// Whether a program found it, and not the judge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_computed: bool,
}

impl EvaluationReport {
    /// Returns whether the status of each judge is that of its metrics.
    #[must_use]
    pub fn has_computed_statuses(&self) -> bool {
        self.stats.iter().all(|case| {
            case.final_status == FinalStatus::NotJudged || case.final_status == FinalStatus::of(&case.metrics)
        })
    }
}

impl FinalStatus {
    /// Computes the status of a judge that has judged. A metric without a threshold passes.
    #[must_use]
    pub fn of(metrics: &[MetricStatistics]) -> Self {
        let is_below =
            |metric: &MetricStatistics| metric.threshold.is_some_and(|threshold| metric.score < threshold);
        if metrics.iter().any(is_below) { Self::Below } else { Self::Passed }
    }
}

impl TryFrom<u8> for FinalStatus {
    type Error = String;

    fn try_from(status: u8) -> Result<Self, String> {
        match status {
            1 => Ok(Self::Passed),
            2 => Ok(Self::Below),
            3 => Ok(Self::NotJudged),
            _ => Err(format!("final_status must be 1, 2 or 3, not {status}")),
        }
    }
}

impl From<FinalStatus> for u8 {
    fn from(status: FinalStatus) -> Self {
        match status {
            FinalStatus::Passed => 1,
            FinalStatus::Below => 2,
            FinalStatus::NotJudged => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn report(status: u8, score: f64, threshold: Value) -> EvaluationReport {
        let metric =
            json!({"metric_name": "m", "score": score, "threshold": threshold, "justification": "x"});
        let case = json!({"case_id": "a", "final_status": status, "metrics": [metric]});
        serde_json::from_value(json!({"report_id": "r", "timestamp": "t", "stats": [case]})).unwrap()
    }

    #[test]
    fn status_follows_from_the_metrics() {
        for (status, score, threshold, expected) in [
            (1, 0.8, json!(0.8), true),
            (1, 0.79, json!(0.8), false),
            (2, 0.79, json!(0.8), true),
            (2, 0.8, json!(0.8), false),
            (1, 0.1, Value::Null, true),
            (3, 1.0, json!(0.8), true),
        ] {
            let report = report(status, score, threshold);
            assert_eq!(report.has_computed_statuses(), expected, "{report:?}");
        }
    }

    #[test]
    fn members_that_say_nothing_are_not_written() {
        let report = json!(report(1, 1.0, json!(0.8)));
        assert_eq!(report.as_object().unwrap().len(), 3, "{report}");
        assert_eq!(report["stats"][0]["type"], "case_score");
        assert!(report["stats"][0]["metrics"][0].get("findings").is_none());
    }
}
