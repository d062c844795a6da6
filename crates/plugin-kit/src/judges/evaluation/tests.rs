use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::ContextArgs;
use super::*;

const PLAN: &str = "The loader reads all settings.\nThe writer stores all settings.\n";

struct Run {
    _root: tempfile::TempDir,
    workdir: PathBuf,
    category: Category,
}

impl Run {
    /// Creates a work directory in which each judge has answered that its metrics are met.
    fn new(category: Category) -> Self {
        let root = tempfile::tempdir().unwrap();
        let run = Self { workdir: root.path().join("run-7"), _root: root, category };
        for name in ["prd.md", "plan.json", "context.md", "investigation-log.md"] {
            run.write(name, PLAN);
        }
        let artifact = json!({"id": "context", "path": "context.md", "type": "markdown", "required": true});
        let input = json!({"evaluation_type": category.name(), "task": "Judge", "primary_artifact": artifact,
            "supporting_artifacts": [], "source_of_truth": ["context"], "metadata": {"run_id": "other"},
            "fallback_mode": {"active": false, "reason": "", "fallback_artifacts": []}});
        run.write("judge-input.json", &input.to_string());
        for judge in category.judges() {
            let has_levels = matches!(judge.family, ScoringFamily::Tiered | ScoringFamily::Grounding);
            let metrics = judge.metrics.iter().filter(|_| has_levels);
            let findings: Vec<Value> =
                metrics.map(|(metric, _)| finding(metric, "met", "The loader reads")).collect();
            run.answer(judge.name, &findings);
        }
        run
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.workdir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn answer(&self, judge: &str, findings: &[Value]) {
        self.write(&format!("judge-answers/{judge}.json"), &json!({"findings": findings}).to_string());
    }

    fn report(&self) -> Result<String, String> {
        write(&WriteReportArgs { workdir: self.workdir.clone(), category: self.category, answers: None })
    }

    fn stored(&self) -> Value {
        let path = self.workdir.join(self.category.report_name());
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    fn case(&self, judge: &str) -> Value {
        let report = self.stored();
        let cases = report["stats"].as_array().unwrap();
        cases.iter().find(|case| case["case_id"] == judge).unwrap().clone()
    }
}

fn finding(metric: &str, weight: &str, quote: &str) -> Value {
    json!({"metric": metric, "weight": weight, "place": "plan, line 1", "quote": quote,
        "explanation": "Both know the settings."})
}

#[test]
fn report_has_every_judge_in_the_order_of_the_table() {
    for category in [Category::Plan, Category::Code, Category::Prd, Category::Feature] {
        let run = Run::new(category);
        let text = run.report().unwrap();
        let count = category.judges().count();
        assert!(text.starts_with(&format!("Valid report of {count} judges: ")), "{text}");
        assert!(text.ends_with(&format!("\nPassed: {count}")), "{text}");
        let report = run.stored();
        assert_eq!(report["report_id"], format!("run-7-{}-judges", category.name()));
        let names: Vec<&str> = report["stats"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| case["case_id"].as_str().unwrap())
            .collect();
        assert!(names.is_sorted() && names.len() == count, "{names:?}");
    }
}

// PR-05
#[test]
fn requirements_without_a_document_are_a_warning() {
    for category in [Category::Prd, Category::Feature, Category::Plan] {
        let run = Run::new(category);
        std::fs::remove_file(run.workdir.join("prd.md")).unwrap();
        assert_eq!(run.report().unwrap(), "No report");
        assert!(!run.workdir.join(category.report_name()).exists());
    }
}

// PR-07
#[test]
fn report_is_complete_when_judges_fail() {
    let run = Run::new(Category::Plan);
    std::fs::remove_file(run.workdir.join("judge-answers/kiss-judge.json")).unwrap();
    run.write("judge-answers/ssot-judge.json", "It crashed");
    run.write("judge-answers/test-judge.json", &"x".repeat(300 * 1024));
    run.write("judge-answers/verbosity-judge.json", r#"{"error": "there is no plan"}"#);
    run.answer("readability-judge", &[finding("clarity", "met", "The loader reads")]);
    let text = run.report().unwrap();
    assert!(
        text.ends_with(
            "\nPassed: 11\nCould not judge: kiss-judge, readability-judge, ssot-judge, test-judge, \
             verbosity-judge"
        ),
        "{text}"
    );
    for (judge, reason) in [
        ("kiss-judge", "there is no answer kiss-judge.json"),
        ("ssot-judge", "the answer is no JSON: "),
        ("test-judge", "the answer test-judge.json cannot be read: "),
        ("verbosity-judge", "there is no plan"),
        (
            "readability-judge",
            "no finding with words of an artifact about structure, language_appropriateness, logical_flow, \
             template_adherence",
        ),
    ] {
        let case = run.case(judge);
        let metrics = case["metrics"].as_array().unwrap();
        assert_eq!((&case["final_status"], metrics.len()), (&json!(3), 1), "{judge}");
        assert_eq!((&metrics[0]["score"], &metrics[0]["threshold"]), (&json!(0.0), &json!(0.8)));
        let justification = metrics[0]["justification"].as_str().unwrap();
        assert!(justification.starts_with(&format!("Judge execution failed: {reason}")), "{justification}");
    }
}

#[test]
fn justification_names_findings_and_those_that_do_not_count() {
    let run = Run::new(Category::Code);
    run.answer(
        "dry-judge",
        &[
            finding("dry_score", "critical", "The reader loads all settings"),
            finding("dry_score", "moderate", "loader reads … writer stores"),
            finding("dry_score", "moderate", "stores all   settings."),
        ],
    );
    assert!(run.report().unwrap().ends_with("\nPassed: 10\nBelow a threshold: dry-judge"));
    let case = run.case("dry-judge");
    assert_eq!(case["final_status"], 2);
    let metric = &case["metrics"][0];
    assert_eq!((&metric["score"], &metric["threshold"]), (&json!(0.7), &json!(0.8)));
    let justification = metric["justification"].as_str().unwrap();
    let lines: Vec<&str> = justification.lines().collect();
    assert_eq!(
        lines[0],
        "moderate at plan, line 1: Both know the settings. (\"loader reads … writer stores\")"
    );
    assert!(lines[2].starts_with("unsupported, not counted: critical at plan, line 1: "), "{lines:?}");
    assert_eq!(run.case("kiss-judge")["metrics"][0]["justification"], "No findings.");
}

// PR-08
#[test]
fn effective_threshold_is_in_the_report() {
    let run = Run::new(Category::Code);
    run.report().unwrap();
    assert_eq!(run.case("test-judge")["metrics"][0]["threshold"], 0.75);
    run.answer("kiss-judge", &[finding("kiss_score", "critical", "The loader reads")]);
    run.write(
        ".loopgate/settings/threshold-overrides.json",
        r#"{"overrides": {"code:test-judge": 0.6, "code:kiss-judge": 0.7}}"#,
    );
    run.report().unwrap();
    assert_eq!(run.case("test-judge")["metrics"][3]["threshold"], 0.6);
    assert_eq!(run.case("kiss-judge")["final_status"], 1);
}

#[test]
fn grounding_needs_an_investigation_log() {
    let run = Run::new(Category::Plan);
    run.write("investigation-log.md", "\n");
    assert!(run.report().unwrap().ends_with(
        "Below a threshold: brownfield-accuracy-judge, codebase-grounding-judge, convention-adherence-judge"
    ));
    let case = run.case("codebase-grounding-judge");
    assert_eq!((&case["final_status"], &case["metrics"][0]["score"]), (&json!(2), &json!(0.0)));
    let justification = case["metrics"][0]["justification"].as_str().unwrap();
    assert!(justification.starts_with("There is no investigation-log.md to compare with.\nmet at"));
    // The judge was not asked.
    std::fs::remove_file(run.workdir.join("judge-answers/codebase-grounding-judge.json")).unwrap();
    run.report().unwrap();
    let case = run.case("codebase-grounding-judge");
    assert_eq!((&case["final_status"], case["metrics"].as_array().unwrap().len()), (&json!(2), 3));
}

#[test]
fn invalid_input_is_the_error_of_each_judge() {
    let run = Run::new(Category::Code);
    std::fs::remove_file(run.workdir.join("context.md")).unwrap();
    let error = run.report().unwrap_err();
    assert!(error.contains("Cannot read the required artifact context: "), "{error}");
    let report = run.stored();
    assert_eq!(report["stats"].as_array().unwrap().len(), 11);
    for case in report["stats"].as_array().unwrap() {
        let justification = case["metrics"][0]["justification"].as_str().unwrap();
        assert_eq!(case["final_status"], 3);
        assert!(
            justification.starts_with("Judge execution failed: ") && justification.contains("context.md")
        );
    }
    let args = WriteReportArgs { workdir: "/nonexistent".into(), category: Category::Code, answers: None };
    assert!(write(&args).unwrap_err().starts_with("Work directory does not exist"));
}

#[test]
fn words_of_the_context_support_a_finding() {
    let run = Run::new(Category::Plan);
    run.write("plan.json", &json!({"tasks": [{"text": "Print \"done\"\nat the end"}]}).to_string());
    context::write(&ContextArgs { workdir: run.workdir.clone(), category: Category::Plan }).unwrap();
    let input = std::fs::read_to_string(run.workdir.join("judge-input.json")).unwrap();
    run.write("judge-input.json", &input.replace("context.md", "plan-context.json"));
    run.answer("dry-judge", &[finding("dry_score", "critical", "Print \"done\" at the end")]);
    run.answer("kiss-judge", &[finding("kiss_score", "critical", "The writer … all settings.")]);
    run.answer("ssot-judge", &[finding("ssot_score", "critical", "Print \"other\" at the end")]);
    run.report().unwrap();
    for (judge, status) in [("dry-judge", 2), ("kiss-judge", 2), ("ssot-judge", 1), ("test-judge", 1)] {
        assert_eq!(run.case(judge)["final_status"], status, "{judge}");
    }
}

#[test]
fn answers_may_be_in_another_directory() {
    let run = Run::new(Category::Feature);
    let other = run.workdir.join("elsewhere");
    std::fs::rename(run.workdir.join(ANSWERS), &other).unwrap();
    let args = WriteReportArgs { workdir: run.workdir.clone(), category: run.category, answers: Some(other) };
    assert!(write(&args).unwrap().ends_with("Passed: 3"));
}
