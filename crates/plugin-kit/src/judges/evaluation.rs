//! Writes the report of a run from the judges' answers. Every expected judge is in the report: a judge without a usable
//! answer has an error in it, and does not stop the others.

use std::io;
use std::path::Path;

use loopgate_api::judge_report::{
    CaseKind, CaseScore, EvaluationReport, FinalStatus, MetricStatistics, ReportCost, ReportedFinding,
};
use loopgate_api::names::{PLAN_JSON, PRD_MD};
use loopgate_home::untrusted::{self, MAX_DOCUMENT};

use super::answer::{self, JudgeFinding};
use super::envelope::JudgeInput;
use super::project::JudgedProject;
use super::quotation::ArtifactTexts;
use super::requirements::{self, STRUCTURE_JUDGE};
use super::rules::JudgingRules;
use super::scoring::{self, CheckedFinding};
use super::{
    Category, Judge, ScoringFamily, ValidateReportArgs, WriteReportArgs, context, plan_document, report,
};
use crate::clock::now;
use crate::console::print_error;
use crate::model_calls::MAX_ANSWER;

/// Directory of the answers in a work directory.
pub const ANSWERS: &str = "judge-answers";
/// Record of the exploration of the existing code, with which judges compare a plan.
pub const INVESTIGATION_LOG: &str = "investigation-log.md";
/// Printed when there is nothing to evaluate.
pub const NO_REPORT: &str = "No report";
/// Beginning of the justification of a judge that failed.
const EXECUTION_FAILED: &str = "Judge execution failed: ";
/// Threshold in the report of a judge that could not judge.
const ERROR_THRESHOLD: f64 = 0.8;

/// What the answers of a run are checked against.
pub struct AnswerChecks {
    texts: ArtifactTexts,
    has_investigation_log: bool,
    /// Faults of the requirements that need no model.
    structure: Vec<JudgeFinding>,
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
struct ReportSource<'a> {
    rules: &'a JudgingRules,
    checks: AnswerChecks,
    /// Directory of the answers.
    answers: &'a Path,
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
    let project = JudgedProject::find(&args.workdir, None, args.category)?;
    let rules = JudgingRules::load(&args.workdir, &project, args.category);
    rules.warnings.iter().for_each(|warning| print_error(format!("Warning: {warning}")));
    build(&args.workdir, &rules, args.answers.as_deref(), None).map(|report| report.summary)
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

/// Writes the report and validates it. `answers`: directory of the answers, if not the default. `cost`: cost of the run
/// that collected them.
///
/// # Errors
/// As [`write`].
pub fn build(
    workdir: &Path,
    rules: &JudgingRules,
    answers: Option<&Path>,
    cost: Option<ReportCost>,
) -> Result<StoredReport, String> {
    let input = JudgeInput::load(workdir, Some(rules.category));
    let input = input.map_err(|fault| write_failure(workdir, rules, &execution_failed(&fault)))?;
    let default_answers = workdir.join(ANSWERS);
    let checks = AnswerChecks::new(workdir, &input);
    let source = ReportSource { rules, checks, answers: answers.unwrap_or(&default_answers) };
    let stats = rules.judges().map(|judge| source.case(judge)).collect();
    let report = EvaluationReport {
        omitted: omissions(workdir, rules, &input),
        cost,
        ..new_report(workdir, rules.category, stats)
    };
    store(workdir, rules.category, &report)
}

/// Returns what judges did not read.
fn omissions(workdir: &Path, rules: &JudgingRules, input: &JudgeInput) -> Vec<String> {
    let context = context::file_name(rules.category);
    let of_context = match input.artifacts.iter().any(|artifact| artifact.path == context) {
        true => context::omissions(workdir, rules.category),
        false => Vec::new(),
    };
    let fallback = Some(&input.fallback_reason).filter(|reason| !reason.is_empty()).map(|reason| {
        format!(
            "The judges have read the documents and not the context, which could not be prepared: {reason}"
        )
    });
    fallback.into_iter().chain(of_context).chain(rules.warnings.iter().cloned()).collect()
}

/// Writes a report in which each judge has this justification, and returns the message to print.
pub fn write_failure(workdir: &Path, rules: &JudgingRules, justification: &str) -> String {
    let stats = rules.judges().map(|judge| error_case(judge, justification)).collect();
    let report =
        EvaluationReport { omitted: rules.warnings.clone(), ..new_report(workdir, rules.category, stats) };
    let fault = justification.strip_prefix(EXECUTION_FAILED).unwrap_or(justification);
    match store(workdir, rules.category, &report) {
        Ok(report) => format!("{fault}\nNo judge could judge. {}", report.summary),
        Err(error) => format!("{fault}\n{error}"),
    }
}

/// Returns the justification of a judge that failed.
pub fn execution_failed(fault: &str) -> String {
    format!("{EXECUTION_FAILED}{fault}")
}

fn new_report(workdir: &Path, category: Category, stats: Vec<CaseScore>) -> EvaluationReport {
    EvaluationReport {
        report_id: format!("{}{}", super::run_id(workdir), category.id_endings()[0]),
        timestamp: now(),
        stats,
        omitted: Vec::new(),
        cost: None,
    }
}

/// Stores the report and validates the stored file.
fn store(workdir: &Path, category: Category, report: &EvaluationReport) -> Result<StoredReport, String> {
    let path = workdir.join(category.report_name());
    let json = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
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
    let has_requirements = untrusted::is_file(&workdir.join(PRD_MD));
    match category {
        Category::Code => None,
        _ if !has_requirements => Some(PRD_MD),
        Category::Plan if plan_document(workdir).is_none() => Some(PLAN_JSON),
        _ => None,
    }
}

impl AnswerChecks {
    /// Reads the artifacts.
    pub fn new(workdir: &Path, input: &JudgeInput) -> Self {
        let mut texts = ArtifactTexts::default();
        let paths = input.paths(workdir);
        let mut structure = Vec::new();
        for path in &paths {
            // The required ones are readable; words of others are then not found.
            if let Ok(bytes) = untrusted::read(path, MAX_DOCUMENT) {
                let text = String::from_utf8_lossy(&bytes);
                texts.add(&text);
                if path.ends_with(PRD_MD) {
                    structure = requirements::faults(&text);
                }
            }
        }
        let named_log = paths.into_iter().filter(|path| path.ends_with(INVESTIGATION_LOG));
        let mut logs = std::iter::once(workdir.join(INVESTIGATION_LOG)).chain(named_log);
        Self { texts, has_investigation_log: logs.any(|log| has_text(&log)), structure }
    }

    /// Returns whether the documents contain what a judge compares with. Otherwise its scores do not depend on its answer.
    pub fn can_judge(&self, judge: &Judge) -> bool {
        judge.family != ScoringFamily::Grounding || self.has_investigation_log
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
        let findings = answer::parse(text, judge)?.into_iter().map(|finding| CheckedFinding {
            is_supported: self.texts.contain(&finding.quote),
            is_computed: false,
            finding,
        });
        let computed = self.structure.iter().filter(|_| judge.name == STRUCTURE_JUDGE).map(|finding| {
            CheckedFinding { finding: finding.clone(), is_supported: true, is_computed: true }
        });
        Ok(findings.chain(computed).collect())
    }
}

impl ReportSource<'_> {
    /// Returns the result of a judge.
    fn case(&self, judge: &Judge) -> CaseScore {
        self.judged(judge).unwrap_or_else(|fault| error_case(judge, &execution_failed(&fault)))
    }

    fn judged(&self, judge: &Judge) -> Result<CaseScore, String> {
        let file = format!("{}.json", judge.name);
        let findings = match untrusted::read(&self.answers.join(&file), MAX_ANSWER) {
            Ok(text) => {
                let text = String::from_utf8(text).map_err(|_| format!("the answer {file} is not UTF-8"))?;
                Some(self.checks.findings(&text, judge)?)
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(format!("the answer {file} cannot be read: {error}"));
            }
            Err(_) if self.checks.can_judge(judge) => return Err(format!("there is no answer {file}")),
            Err(_) => None,
        };
        let scores = match &findings {
            Some(findings) => scoring::scores(judge, findings, self.checks.has_investigation_log)?,
            None => vec![0.0; judge.metrics.len()],
        };
        let findings = findings.unwrap_or_default();
        let metrics = judge.metrics.iter().zip(scores).map(|((name, own), score)| MetricStatistics {
            metric_name: (*name).to_owned(),
            threshold: Some(self.rules.thresholds.effective(self.rules.category, judge, *own)),
            score,
            justification: self.justification(judge, name, &findings),
            findings: reported(name, &findings),
        });
        let metrics: Vec<_> = metrics.collect();
        Ok(CaseScore {
            kind: CaseKind::CaseScore,
            case_id: judge.name.to_owned(),
            final_status: FinalStatus::of(&metrics),
            metrics,
        })
    }

    /// Returns one line for each finding of a metric; those that do not count are last.
    fn justification(&self, judge: &Judge, metric: &str, findings: &[CheckedFinding]) -> String {
        let mut lines = Vec::new();
        if !self.checks.can_judge(judge) {
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

/// Returns the findings about a metric; those that do not count are last.
fn reported(metric: &str, findings: &[CheckedFinding]) -> Vec<ReportedFinding> {
    let of_metric = findings.iter().filter(|checked| checked.finding.metric == metric);
    let (supported, others): (Vec<_>, Vec<_>) = of_metric.partition(|checked| checked.is_supported);
    let findings = supported.into_iter().chain(others).map(|checked| {
        let CheckedFinding { finding, is_supported, is_computed } = checked.clone();
        ReportedFinding {
            weight: finding.weight.name().to_owned(),
            place: finding.place,
            quote: finding.quote,
            explanation: finding.explanation,
            is_supported,
            is_computed,
        }
    });
    findings.collect()
}

fn has_text(path: &Path) -> bool {
    untrusted::read(path, MAX_DOCUMENT).is_ok_and(|bytes| !bytes.trim_ascii().is_empty())
}

/// Returns the result of a judge that could not judge.
fn error_case(judge: &Judge, justification: &str) -> CaseScore {
    CaseScore {
        kind: CaseKind::CaseScore,
        case_id: judge.name.to_owned(),
        final_status: FinalStatus::NotJudged,
        metrics: vec![MetricStatistics {
            metric_name: judge.metrics.first().map_or("error", |(metric, _)| metric).to_owned(),
            threshold: Some(ERROR_THRESHOLD),
            score: 0.0,
            justification: justification.to_owned(),
            findings: Vec::new(),
        }],
    }
}

#[cfg(test)]
mod tests;
