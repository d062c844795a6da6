//! Normalizes the reports of judges. Values that follow from the metrics are computed; the model's values are
//! replaced.

use loopgate_api::time::now_iso;
use serde_json::{Map, Value, json};

// Each metric reaches its threshold.
const PASSED: u8 = 1;
// At least one metric is below its threshold.
const BELOW: u8 = 2;
// The judge reported that it could not evaluate, or its scores are missing.
const NOT_JUDGED: u8 = 3;

/// Returns the report with id, timestamp and the status of each judge filled in. `run` is the id of the run
/// and `file` the name of the report, such as `plan-judges.json`.
pub(super) fn normalize(mut report: Map<String, Value>, run: &str, file: &str) -> Map<String, Value> {
    let kind = file.trim_end_matches(".json");
    report.insert("report_id".to_owned(), format!("{run}-{kind}").into());
    report.insert("timestamp".to_owned(), now_iso().into());
    for judge in report.get_mut("stats").and_then(Value::as_array_mut).into_iter().flatten() {
        let status = status(judge);
        if let Some(judge) = judge.as_object_mut() {
            judge.insert("final_status".to_owned(), json!(status));
            judge.entry("type").or_insert_with(|| "case_score".into());
        }
    }
    report
}

/// Computes the status of a judge from its metrics. The only status accepted from the model is
/// [`NOT_JUDGED`].
fn status(judge: &Value) -> u8 {
    let metrics = judge["metrics"].as_array().map(Vec::as_slice).unwrap_or_default();
    let scores: Option<Vec<bool>> = metrics.iter().map(reaches_threshold).collect();
    match scores {
        _ if judge["final_status"] == json!(NOT_JUDGED) => NOT_JUDGED,
        Some(scores) if !scores.is_empty() => {
            if scores.into_iter().all(|reached| reached) {
                PASSED
            } else {
                BELOW
            }
        }
        _ => NOT_JUDGED,
    }
}

/// Returns whether a metric reaches its threshold. A metric without a threshold passes. Returns `None` for a
/// metric without a score.
fn reaches_threshold(metric: &Value) -> Option<bool> {
    let score = metric["score"].as_f64()?;
    Some(metric["threshold"].as_f64().is_none_or(|threshold| score >= threshold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(stats: &Value) -> Vec<Value> {
        let report = json!({"report_id": "chosen by the model", "stats": stats});
        let report = normalize(report.as_object().unwrap().clone(), "run-7", "plan-judges.json");
        assert_eq!(report["report_id"], "run-7-plan-judges");
        assert!(report["timestamp"].is_string());
        report["stats"].as_array().unwrap().iter().map(|judge| judge["final_status"].clone()).collect()
    }

    #[test]
    fn judge_status_is_computed_from_its_metrics() {
        let metric = |score: f64| json!({"metric_name": "m", "threshold": 0.8, "score": score});
        let statuses = statuses(&json!([
            {"case_id": "a", "final_status": 2, "metrics": [metric(0.8), metric(1.0)]},
            {"case_id": "b", "final_status": 1, "metrics": [metric(0.9), metric(0.79)]},
            {"case_id": "c", "final_status": 3, "metrics": [metric(1.0)]},
            {"case_id": "d", "metrics": []},
            {"case_id": "e", "metrics": [{"metric_name": "m", "score": "high"}]},
            {"case_id": "f", "metrics": [{"metric_name": "m", "score": 0.1, "threshold": null}]},
        ]));
        assert_eq!(statuses, [json!(1), json!(2), json!(3), json!(3), json!(3), json!(1)]);
    }
}
