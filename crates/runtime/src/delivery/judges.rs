//! Reports of judges: what can be computed from their metrics is computed here, whatever the model wrote.

use loopgate_api::time::now_iso;
use serde_json::{Map, Value, json};

/// Every metric of the judge reaches its threshold.
const PASSED: u8 = 1;
/// A metric does not.
const BELOW: u8 = 2;
/// The judge could not judge.
const NOT_JUDGED: u8 = 3;

/// The report with its id, its time and the status of each judge. `run` names the run, `file` is the report's own,
/// such as `plan-judges.json`.
pub(super) fn computed(mut report: Map<String, Value>, run: &str, file: &str) -> Map<String, Value> {
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

/// The status that follows from the metrics. That a judge could not judge is the only thing that it says itself.
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

/// Whether a metric reaches its threshold; one without a threshold always does, one without a score says nothing.
fn reaches_threshold(metric: &Value) -> Option<bool> {
    let score = metric["score"].as_f64()?;
    Some(metric["threshold"].as_f64().is_none_or(|threshold| score >= threshold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(stats: &Value) -> Vec<Value> {
        let report = json!({"report_id": "made up", "stats": stats});
        let report = computed(report.as_object().unwrap().clone(), "run-7", "plan-judges.json");
        assert_eq!(report["report_id"], "run-7-plan-judges");
        assert!(report["timestamp"].is_string());
        report["stats"].as_array().unwrap().iter().map(|judge| judge["final_status"].clone()).collect()
    }

    #[test]
    fn status_of_a_judge_follows_from_its_metrics() {
        let metric = |score: f64| json!({"metric_name": "m", "threshold": 0.8, "score": score});
        let found = statuses(&json!([
            {"case_id": "a", "final_status": 2, "metrics": [metric(0.8), metric(1.0)]},
            {"case_id": "b", "final_status": 1, "metrics": [metric(0.9), metric(0.79)]},
            {"case_id": "c", "final_status": 3, "metrics": [metric(1.0)]},
            {"case_id": "d", "metrics": []},
            {"case_id": "e", "metrics": [{"metric_name": "m", "score": "high"}]},
            {"case_id": "f", "metrics": [{"metric_name": "m", "score": 0.1, "threshold": null}]},
        ]));
        assert_eq!(found, [json!(1), json!(2), json!(3), json!(3), json!(3), json!(1)]);
    }
}
