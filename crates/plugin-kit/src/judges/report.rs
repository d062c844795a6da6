//! Validation of the format and the completeness of a report.

use std::collections::BTreeSet;
use std::path::Path;

use loopgate_api::judge_report::{CaseScore, EvaluationReport, FinalStatus, MetricStatistics};
use loopgate_home::untrusted;

use super::{Category, Judge, ValidateReportArgs, table};

/// Validates a report and returns the line to print.
///
/// # Errors
/// Returns the faults of the report, for standard error.
pub fn validate(args: &ValidateReportArgs) -> Result<String, String> {
    check_workdir(&args.workdir)?;
    let default_path = || args.workdir.join(args.category.report_name());
    let path = args.report_path.clone().unwrap_or_else(default_path);
    let report = read(&path)?;
    let errors = errors(&report, args.category);
    if errors.is_empty() {
        return Ok(format!("Valid report of {} judges: {}", report.stats.len(), path.display()));
    }
    Err(format!("Validation errors:\n- {}", errors.join("\n- ")))
}

/// Checks that the work directory of a run exists.
///
/// # Errors
/// Returns the line to print when it does not.
pub fn check_workdir(workdir: &Path) -> Result<(), String> {
    if workdir.is_dir() {
        return Ok(());
    }
    Err(format!("Work directory does not exist or is not a directory: {}", workdir.display()))
}

fn read(path: &Path) -> Result<EvaluationReport, String> {
    let text = match untrusted::read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!("Report file does not exist: {}", path.display()));
        }
        Err(error) => return Err(format!("Cannot read {}: {error}", path.display())),
    };
    // Callers distinguish malformed JSON from a wrong structure by the prefix.
    serde_json::from_str(&text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => format!("Validation failed: {error}"),
        _ => format!("Invalid JSON: {error}"),
    })
}

/// Returns the faults of a well-formed report. Additional judges are allowed.
fn errors(report: &EvaluationReport, category: Category) -> Vec<String> {
    let mut errors = Vec::new();
    if report.stats.is_empty() {
        errors.push("The report has no stats".to_owned());
    }
    let reported: BTreeSet<&str> = report.stats.iter().map(|case| case.case_id.as_str()).collect();
    let names = category.judges().map(|judge| judge.name);
    let missing: Vec<&str> = names.filter(|judge| !reported.contains(judge)).collect();
    if !missing.is_empty() {
        errors.push(format!(
            "Missing expected judges for category '{}': {}",
            category.name(),
            missing.join(", ")
        ));
    }
    let endings = category.id_endings();
    if !endings.iter().any(|ending| report.report_id.ends_with(ending)) {
        errors.push(format!("report_id '{}' must end with {}", report.report_id, endings.join(" or ")));
    }
    for case in &report.stats {
        case_errors(case, table::find(category, &case.case_id), &mut errors);
    }
    errors
}

/// Computes the status of a judge from its metrics. A metric without a threshold has that of the table.
fn status_of(judge: &Judge, metrics: &[MetricStatistics]) -> FinalStatus {
    let metrics = judge.metrics.iter().filter_map(|(name, own)| {
        let metric = metrics.iter().find(|metric| metric.metric_name == *name)?;
        Some(MetricStatistics { threshold: metric.threshold.or(Some(*own)), ..metric.clone() })
    });
    FinalStatus::of(&metrics.collect::<Vec<_>>())
}

/// Adds the faults of a judge's result. `judge`: `None` for an additional judge, whose metrics are not known.
fn case_errors(case: &CaseScore, judge: Option<&Judge>, errors: &mut Vec<String>) {
    let id = &case.case_id;
    if case.metrics.is_empty() {
        errors.push(format!("Judge {id} has no metrics"));
    }
    for metric in &case.metrics {
        let (name, values) = (&metric.metric_name, [Some(metric.score), metric.threshold]);
        if values.into_iter().flatten().any(|value| !(0.0..=1.0).contains(&value)) {
            errors.push(format!("Judge {id} has a score or threshold of {name} that is not between 0 and 1"));
        }
    }
    // A judge that could not judge has one metric, which says why.
    let Some(judge) = judge.filter(|_| case.final_status != FinalStatus::NotJudged) else { return };
    let unknown = case.metrics.iter().filter(|metric| judge.metric(&metric.metric_name).is_none());
    errors.extend(unknown.map(|metric| format!("Judge {id} has an unknown metric {}", metric.metric_name)));
    let has = |name: &str| case.metrics.iter().any(|metric| metric.metric_name == name);
    let missing = judge.metrics.iter().filter(|(name, _)| !has(name));
    errors.extend(missing.map(|(name, _)| format!("Judge {id} has no metric {name}")));
    match status_of(judge, &case.metrics) {
        expected if expected == case.final_status => {}
        FinalStatus::Below => {
            errors.push(format!("Judge {id} has final_status 1, but a metric below its threshold"));
        }
        _ => errors.push(format!("Judge {id} has final_status 2, but no metric below its threshold")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn report(category: Category) -> Value {
        let metric = |(name, _): &(&str, f64)| json!({"metric_name": name, "threshold": 1, "score": 0.8, "justification": "because"});
        let case = |judge: &Judge| {
            let metrics: Vec<Value> = judge.metrics.iter().map(metric).collect();
            json!({"type": "case_score", "case_id": judge.name, "final_status": 2, "metrics": metrics})
        };
        let stats: Vec<Value> = category.judges().map(case).collect();
        let id = format!("run-7{}", category.id_endings()[0]);
        json!({"report_id": id, "timestamp": "2031-01-01T00:00:00Z", "stats": stats})
    }

    fn validate_report(category: Category, report: Option<&Value>) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        if let Some(report) = report {
            let text = report.as_str().map_or_else(|| report.to_string(), str::to_owned);
            std::fs::write(dir.path().join(format!("{}-judges.json", category.name())), text).unwrap();
        }
        validate(&ValidateReportArgs { workdir: dir.path().to_owned(), report_path: None, category })
    }

    // PR-01, PR-03
    #[test]
    fn complete_report_is_valid_and_may_contain_additional_judges() {
        for category in [Category::Plan, Category::Code, Category::Prd, Category::Feature] {
            let mut report = report(category);
            let count = category.judges().count();
            assert!(validate_report(category, Some(&report)).unwrap().contains(&format!(" {count} judges")));
            let mut more = report["stats"][0].clone();
            more["case_id"] = json!("another-judge");
            report["stats"].as_array_mut().unwrap().push(more);
            assert!(validate_report(category, Some(&report)).is_ok());
        }
        let mut plain = report(Category::Plan);
        plain["report_id"] = json!("run-7-judges");
        assert!(validate_report(Category::Plan, Some(&plain)).is_ok());
        plain["stats"].as_array_mut().unwrap().retain(|case| case["case_id"] != "kiss-judge");
        let missing = validate_report(Category::Plan, Some(&plain)).unwrap_err();
        assert!(missing.contains("Missing expected judges for category 'plan': kiss-judge"), "{missing}");
        let mut code = report(Category::Code);
        code["report_id"] = json!("run-7-plan-judges");
        assert!(
            validate_report(Category::Code, Some(&code)).unwrap_err().contains("must end with -code-judges")
        );
    }

    #[test]
    fn judge_that_could_not_judge_says_why_in_one_metric() {
        let mut report = report(Category::Code);
        let why = json!({"metric_name": "dry_score", "threshold": 0.8, "score": 0.0,
            "justification": "Judge execution failed: it ended"});
        report["stats"][0] =
            json!({"case_id": report["stats"][0]["case_id"], "final_status": 3, "metrics": [why]});
        assert!(validate_report(Category::Code, Some(&report)).is_ok());
    }

    // PR-02, PR-04
    #[test]
    fn each_fault_is_reported() {
        let changed = |at: &str, to: Value| {
            let mut report = report(Category::Prd);
            *report.pointer_mut(at).unwrap() = to;
            validate_report(Category::Prd, Some(&report)).unwrap_err()
        };
        assert!(
            validate_report(Category::Prd, None).unwrap_err().starts_with("Report file does not exist: /")
        );
        assert!(validate_report(Category::Prd, Some(&json!("{"))).unwrap_err().starts_with("Invalid JSON: "));
        for (at, to) in [
            ("/stats/0/metrics/0/score", json!("0.8")),
            ("/stats/0/final_status", json!(4)),
            ("/stats/0/final_status", json!("1")),
            ("/stats/0/type", json!("other")),
            ("/timestamp", json!(7)),
        ] {
            assert!(changed(at, to).starts_with("Validation failed: "), "{at}");
        }
        for (at, to, error) in [
            ("/stats", json!([]), "The report has no stats"),
            (
                "/report_id",
                json!("run-7-plan-judges"),
                "report_id 'run-7-plan-judges' must end with -prd-judges",
            ),
            ("/stats/1/metrics", json!([]), "Judge prd-dependency-judge has no metrics"),
            ("/stats/0/case_id", json!("x"), "Missing expected judges for category 'prd': prd-auditor"),
            (
                "/stats/0/metrics/0/score",
                json!(7.5),
                "Judge prd-auditor has a score or threshold of structural_completeness that is not between 0 and 1",
            ),
            (
                "/stats/0/metrics/0/threshold",
                json!(-0.1),
                "Judge prd-auditor has a score or threshold of structural_completeness that is not between 0 and 1",
            ),
            (
                "/stats/0/metrics/0/metric_name",
                json!("made_up"),
                "Judge prd-auditor has an unknown metric made_up\n- Judge prd-auditor has no metric structural_completeness",
            ),
            (
                "/stats/0/final_status",
                json!(1),
                "Judge prd-auditor has final_status 1, but a metric below its threshold",
            ),
            // The declared threshold is 0.8.
            (
                "/stats/0/metrics/0/threshold",
                Value::Null,
                "Judge prd-auditor has final_status 2, but no metric below its threshold",
            ),
        ] {
            let message = changed(at, to);
            assert!(message.starts_with("Validation errors:\n- ") && message.contains(error), "{message}");
        }
        let missing_workdir = ValidateReportArgs {
            workdir: "/nonexistent".into(),
            report_path: None,
            category: Category::Plan,
        };
        assert!(validate(&missing_workdir).unwrap_err().contains("/nonexistent"));
    }
}
