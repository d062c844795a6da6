//! Writes the report of a run from the judges' answers. Every expected judge is in the report: a judge without a usable
//! answer has an error in it, and does not stop the others.

use std::io;
use std::path::Path;

use loopgate_api::names::{PLAN_JSON, PRD_MD};
use loopgate_home::untrusted::{self, MAX_DOCUMENT};

use super::answer;
use super::envelope::JudgeInput;
use super::quotation::ArtifactTexts;
use super::report::{self, CaseKind, CaseScore, EvaluationReport, FinalStatus, MetricStatistics};
use super::scoring::{self, CheckedFinding};
use super::thresholds::ScoreThresholds;
use super::{Category, Judge, ScoringFamily, ValidateReportArgs, WriteReportArgs};
use crate::clock::now;
use crate::console::print_error;
use crate::model_calls::MAX_ANSWER;
use crate::repositories::project_root;

/// Directory of the answers in a work directory.
pub const ANSWERS: &str = "judge-answers";
/// Record of the exploration of the existing code, with which judges compare a plan.
const INVESTIGATION_LOG: &str = "investigation-log.md";
/// Printed when there is nothing to evaluate.
pub const NO_REPORT: &str = "No report";
/// Threshold in the report of a judge that could not judge.
const ERROR_THRESHOLD: f64 = 0.8;

/// What the answers of a run are checked against.
pub struct AnswerChecks {
    texts: ArtifactTexts,
    has_investigation_log: bool,
}

/// Result of checking an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerCheck {
    Usable,
    /// Some findings quote words that occur nowhere, and do not count. Contains the fault, for the judge.
    PartlySupported(String),
    /// There is no result. Contains the fault, for the judge.
    Unusable(String),
    /// The judge says that it cannot judge.
    CannotJudge(String),
}

/// What all judges of a report have in common.
struct JudgeRun {
    category: Category,
    checks: AnswerChecks,
    thresholds: ScoreThresholds,
}

/// A report that was stored.
#[derive(Debug)]
pub struct StoredReport {
    /// The lines to print.
    pub summary: String,
    /// Number of judges whose metrics reach their thresholds.
    pub passed: usize,
    /// Number of judges with a metric below its threshold.
    pub below: usize,
    /// Number of judges that could not judge.
    pub not_judged: usize,
}

/// Writes the report, validates it, and returns the line to print. Prints warnings to standard error.
///
/// # Errors
/// Returns the reason for which there is no valid report. With an invalid `judge-input.json`, there is a report in which
/// each judge has this error.
pub fn write(args: &WriteReportArgs) -> Result<String, String> {
    report::check_workdir(&args.workdir)?;
    if lacks_document(&args.workdir, args.category) {
        return Ok(NO_REPORT.to_owned());
    }
    build(args).map(|report| report.summary)
}

/// Returns whether there is nothing to evaluate, and prints a warning then.
pub fn lacks_document(workdir: &Path, category: Category) -> bool {
    let missing = missing_document(workdir, category);
    if let Some(missing) = missing {
        print_error(format!(
            "Warning: there is no {missing} in {}. The judges of {} have nothing to evaluate; no report was written.",
            workdir.display(),
            category.name()
        ));
    }
    missing.is_some()
}

/// Writes the report and validates it. Prints warnings to standard error.
///
/// # Errors
/// As [`write`].
pub fn build(args: &WriteReportArgs) -> Result<StoredReport, String> {
    let (workdir, category) = (args.workdir.as_path(), args.category);
    let current = std::env::current_dir().map_err(|error| format!("no current directory: {error}"))?;
    let (thresholds, warnings) = ScoreThresholds::load(workdir, &project_root(&current, workdir));
    warnings.iter().for_each(|warning| print_error(format!("Warning: {warning}")));
    let input = JudgeInput::load(workdir, Some(category));
    let stats = match &input {
        Ok(input) => {
            let run = JudgeRun { category, checks: AnswerChecks::new(workdir, input), thresholds };
            let default_answers = workdir.join(ANSWERS);
            let answers = args.answers.as_deref().unwrap_or(&default_answers);
            category.judges().map(|judge| run.case(judge, answers)).collect()
        }
        Err(fault) => return Err(write_failure(workdir, category, fault)),
    };
    store(workdir, category, stats)
}

/// Writes a report in which each judge has this error, and returns the message to print.
pub fn write_failure(workdir: &Path, category: Category, fault: &str) -> String {
    let stats = category.judges().map(|judge| error_case(judge, fault)).collect();
    match store(workdir, category, stats) {
        Ok(report) => format!("{fault}\nNo judge could judge. {}", report.summary),
        Err(error) => format!("{fault}\n{error}"),
    }
}

/// Stores the report and validates the stored file.
fn store(workdir: &Path, category: Category, stats: Vec<CaseScore>) -> Result<StoredReport, String> {
    let report = EvaluationReport {
        report_id: format!("{}{}", super::run_id(workdir), category.id_endings()[0]),
        timestamp: now(),
        stats,
    };
    let path = workdir.join(category.report_name());
    let json = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    untrusted::write(&path, format!("{json}\n").as_bytes())
        .map_err(|error| format!("Cannot write {}: {error}", path.display()))?;
    let valid =
        report::validate(&ValidateReportArgs { workdir: workdir.to_owned(), report_path: None, category })?;
    let names = |status: FinalStatus| {
        let cases = report.stats.iter().filter(move |case| case.final_status == status);
        cases.map(|case| case.case_id.as_str()).collect::<Vec<_>>()
    };
    let [passed, below, not_judged] =
        [FinalStatus::Passed, FinalStatus::Below, FinalStatus::NotJudged].map(|status| names(status).len());
    let mut summary = format!("{valid}\nPassed: {passed}");
    for (label, status) in
        [("Below a threshold", FinalStatus::Below), ("Could not judge", FinalStatus::NotJudged)]
    {
        let names = names(status);
        if !names.is_empty() {
            summary = format!("{summary}\n{label}: {}", names.join(", "));
        }
    }
    Ok(StoredReport { summary, passed, below, not_judged })
}

/// Returns the name of a document without which there is nothing to judge. A change of the code has no such document.
fn missing_document(workdir: &Path, category: Category) -> Option<&'static str> {
    let documents: &[&str] = match category {
        Category::Plan => &[PRD_MD, PLAN_JSON],
        Category::Code => &[],
        Category::Prd | Category::Feature => &[PRD_MD],
    };
    documents.iter().copied().find(|name| !untrusted::is_file(&workdir.join(name)))
}

impl AnswerChecks {
    /// Reads the artifacts.
    pub fn new(workdir: &Path, input: &JudgeInput) -> Self {
        let mut texts = ArtifactTexts::default();
        let paths = input.paths(workdir);
        for path in &paths {
            // The required ones are readable; words of others are then not found.
            if let Ok(bytes) = untrusted::read(path, MAX_DOCUMENT) {
                texts.add(&String::from_utf8_lossy(&bytes));
            }
        }
        let named_log = paths.into_iter().filter(|path| path.ends_with(INVESTIGATION_LOG));
        let mut logs = std::iter::once(workdir.join(INVESTIGATION_LOG)).chain(named_log);
        Self { texts, has_investigation_log: logs.any(|log| has_text(&log)) }
    }

    /// Checks the answer of a judge.
    pub fn check(&self, text: &str, judge: &Judge) -> AnswerCheck {
        if u64::try_from(text.len()).is_ok_and(|len| len > MAX_ANSWER) {
            return AnswerCheck::Unusable(format!("the answer has more than {MAX_ANSWER} bytes"));
        }
        if let Some(reason) = answer::own_error(text) {
            return AnswerCheck::CannotJudge(reason);
        }
        let findings = match self.findings(text, judge) {
            Ok(findings) => findings,
            Err(fault) => return AnswerCheck::Unusable(fault),
        };
        let unsupported = findings.iter().enumerate().filter(|(_, finding)| !finding.is_supported);
        let faults: Vec<String> = unsupported
            .map(|(index, checked)| {
                format!(
                    "the words of finding {} occur in no document: {:?}",
                    index + 1,
                    checked.finding.quote
                )
            })
            .collect();
        match scoring::scores(judge, &findings, self.has_investigation_log) {
            Err(fault) => AnswerCheck::Unusable([vec![fault], faults].concat().join("; ")),
            Ok(_) if faults.is_empty() => AnswerCheck::Usable,
            Ok(_) => AnswerCheck::PartlySupported(faults.join("; ")),
        }
    }

    fn findings(&self, text: &str, judge: &Judge) -> Result<Vec<CheckedFinding>, String> {
        let findings = answer::parse(text, judge)?.into_iter();
        Ok(findings
            .map(|finding| CheckedFinding { is_supported: self.texts.contain(&finding.quote), finding })
            .collect())
    }
}

impl JudgeRun {
    /// Returns the result of a judge.
    fn case(&self, judge: &Judge, answers: &Path) -> CaseScore {
        self.judged(judge, answers).unwrap_or_else(|fault| error_case(judge, &fault))
    }

    fn judged(&self, judge: &Judge, answers: &Path) -> Result<CaseScore, String> {
        let file = format!("{}.json", judge.name);
        let text = untrusted::read(&answers.join(&file), MAX_ANSWER).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("there is no answer {file}"),
            _ => format!("the answer {file} cannot be read: {error}"),
        })?;
        let text = String::from_utf8(text).map_err(|_| format!("the answer {file} is not UTF-8"))?;
        let findings = self.checks.findings(&text, judge)?;
        let scores = scoring::scores(judge, &findings, self.checks.has_investigation_log)?;
        let metrics = judge.metrics.iter().zip(scores).map(|((name, own), score)| MetricStatistics {
            metric_name: (*name).to_owned(),
            threshold: Some(self.thresholds.effective(self.category, judge, *own)),
            score,
            justification: self.justification(judge, name, &findings),
        });
        let metrics: Vec<_> = metrics.collect();
        Ok(CaseScore {
            kind: CaseKind::CaseScore,
            case_id: judge.name.to_owned(),
            final_status: FinalStatus::of(judge, &metrics),
            metrics,
        })
    }

    /// Returns one line for each finding of a metric; those that do not count are last.
    fn justification(&self, judge: &Judge, metric: &str, findings: &[CheckedFinding]) -> String {
        let mut lines = Vec::new();
        if judge.family == ScoringFamily::Grounding && !self.checks.has_investigation_log {
            lines.push(format!("There is no {INVESTIGATION_LOG} to compare with."));
        }
        for is_supported in [true, false] {
            let of_metric = |checked: &&CheckedFinding| {
                checked.finding.metric == metric && checked.is_supported == is_supported
            };
            for CheckedFinding { finding, .. } in findings.iter().filter(of_metric) {
                let prefix = if is_supported { "" } else { "unsupported, not counted: " };
                lines.push(format!(
                    "{prefix}{} at {}: {} (\"{}\")",
                    finding.weight.name(),
                    finding.place,
                    finding.explanation,
                    finding.quote
                ));
            }
        }
        if lines.is_empty() {
            lines.push("No findings.".to_owned());
        }
        lines.join("\n")
    }
}

fn has_text(path: &Path) -> bool {
    untrusted::read(path, MAX_DOCUMENT).is_ok_and(|bytes| !bytes.trim_ascii().is_empty())
}

/// Returns the result of a judge that could not judge.
fn error_case(judge: &Judge, fault: &str) -> CaseScore {
    CaseScore {
        kind: CaseKind::CaseScore,
        case_id: judge.name.to_owned(),
        final_status: FinalStatus::NotJudged,
        metrics: vec![MetricStatistics {
            metric_name: judge.metrics.first().map_or("error", |(metric, _)| metric).to_owned(),
            threshold: Some(ERROR_THRESHOLD),
            score: 0.0,
            justification: format!("Judge execution failed: {fault}"),
        }],
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::{Value, json};

    use super::super::{ContextArgs, context};
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
            let artifact =
                json!({"id": "context", "path": "context.md", "type": "markdown", "required": true});
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
            assert!(
                justification.starts_with(&format!("Judge execution failed: {reason}")),
                "{justification}"
            );
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
        let args =
            WriteReportArgs { workdir: "/nonexistent".into(), category: Category::Code, answers: None };
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
        let args =
            WriteReportArgs { workdir: run.workdir.clone(), category: run.category, answers: Some(other) };
        assert!(write(&args).unwrap().ends_with("Passed: 3"));
    }
}
