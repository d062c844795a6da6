//! Steps after each iteration: bookkeeping for the learnings. A failing step never stops the loop.
//!
//! Step 1 lists the changed files. The remaining steps belong to self-learning and are reported as skipped without it.
//! Learnings are processed at the end of the loop (see `learning`), so steps 8 and 8.5 are skipped here; step 10 is,
//! because no learning is about Loopgate itself.

use std::path::{Component, Path};

use loopgate_home::untrusted;
use loopgate_learnings::{
    FailureEntry, Goal, LearningOutcome, LearningUse, OutcomeLog, append_failure, evaluate,
};
use serde_json::{Value, json};

use super::driver::Driver;
use super::learning::patterns;
use crate::clock::{self, Span};
use crate::hook::answers::IMPLEMENTING;
use crate::project_git::ProjectGit;
use crate::variables as var;

/// Number and name of the steps after the first, as the timing events report them.
const LEARNING_STEPS: [(f64, &str); 10] = [
    (2.0, "pattern_relevance"),
    (3.0, "merge_relevance"),
    (4.0, "evaluate_goal"),
    (5.0, "merge_goal_outcome"),
    (6.0, "verify_citations"),
    (7.0, "merge_build_result"),
    (8.0, "process_learnings"),
    (8.5, "write_merged_patterns"),
    (9.0, "compute_success_rates"),
    (10.0, "export_loopgate_learnings"),
];

/// Result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepEnd {
    Done,
    /// The step failed, or found something false.
    Failed,
    Skipped,
}

/// Runs the steps of the current iteration.
pub async fn run(driver: &Driver) {
    let span = Span::start();
    let changed = changed_files(driver).await;
    let end = match &changed {
        None => StepEnd::Skipped,
        Some(None) => StepEnd::Failed,
        Some(Some(_)) => StepEnd::Done,
    };
    report(driver, &json!(1), "changed_files", &span, end);
    if !driver.state.self_learning {
        for (number, name) in LEARNING_STEPS {
            report(driver, &step(number), name, &Span::start(), StepEnd::Skipped);
        }
        return;
    }
    let mut steps = LearningSteps::new(driver, changed.flatten());
    for (number, name) in LEARNING_STEPS {
        let span = Span::start();
        let end = steps.run(name).await;
        report(driver, &step(number), name, &span, end);
    }
}

fn report(driver: &Driver, number: &Value, name: &str, span: &Span, end: StepEnd) {
    let exit_code = i32::from(end == StepEnd::Failed);
    driver.perf.step(driver.state.iteration, number, name, span, exit_code, end == StepEnd::Skipped);
}

/// Writes the list of changed files and returns it; `Some(None)` if that failed, `None` without a start commit to compare
/// with.
async fn changed_files(driver: &Driver) -> Option<Option<Vec<String>>> {
    let sha = Some(driver.state.start_sha.as_str()).filter(|sha| !sha.is_empty())?;
    let git = ProjectGit::at(&driver.context.project_root, &driver.context.env, &driver.stop);
    // A failed git call is reported as a failed step, not as an empty list.
    let Some(files) = git.changed_since(sha).await else { return Some(None) };
    let path = driver.state.workdir.join(".learnings/changed-files.json");
    let written = untrusted::write(&path, json!(files).to_string().as_bytes());
    Some(written.is_ok().then_some(files))
}

/// The steps of one iteration with what they pass to each other.
struct LearningSteps<'a> {
    driver: &'a Driver,
    /// Files that the loop has changed.
    changed_files: Option<Vec<String>>,
    /// Outcomes of the work directory; `None` if the log cannot be read.
    log: Option<OutcomeLog>,
    relevance: Vec<loopgate_learnings::Relevance>,
    goal_score: Option<f64>,
}

impl<'a> LearningSteps<'a> {
    fn new(driver: &'a Driver, changed_files: Option<Vec<String>>) -> Self {
        let log = OutcomeLog::read(&driver.state.workdir).ok();
        Self { driver, changed_files, log, relevance: Vec::new(), goal_score: None }
    }

    async fn run(&mut self, name: &str) -> StepEnd {
        match name {
            "pattern_relevance" => self.rate_relevance(),
            "merge_relevance" => self.change_outcomes(|steps, outcome| {
                let known = steps.iter().find(|relevance| relevance.pattern_id == outcome.pattern_id);
                outcome.relevance = known.map(|relevance| relevance.score).or(outcome.relevance);
            }),
            "evaluate_goal" => self.evaluate_goal(),
            "merge_goal_outcome" => {
                let score = self.goal_score;
                self.change_outcomes(|_, outcome| outcome.goal_score = score.or(outcome.goal_score))
            }
            "verify_citations" => self.verify_citations().await,
            "merge_build_result" => self.merge_build_result(),
            "compute_success_rates" => self.count_uses(),
            _ => StepEnd::Skipped,
        }
    }

    fn write(&self, name: &str, value: &Value) -> StepEnd {
        let path = self.driver.state.workdir.join(".learnings").join(name);
        let written = untrusted::write(&path, value.to_string().as_bytes());
        if written.is_ok() { StepEnd::Done } else { StepEnd::Failed }
    }

    fn rate_relevance(&mut self) -> StepEnd {
        let Some(files) = self.changed_files.as_ref().filter(|files| !files.is_empty()) else {
            return StepEnd::Skipped;
        };
        let repo = self.driver.context.env.get(std::ffi::OsStr::new(var::LEARNINGS_REPO));
        let repo = repo.map(|repo| repo.to_string_lossy().into_owned()).unwrap_or_default();
        self.relevance = patterns().relevance(&repo, files);
        self.write("relevance-scores.json", &json!(self.relevance))
    }

    fn evaluate_goal(&mut self) -> StepEnd {
        let state = &self.driver.state;
        let goal = Goal::load(&state.workdir);
        if let Some(warning) = &goal.warning {
            self.driver.journal.progress(&format!("Warning: {warning}; the goal is {}", goal.name));
        }
        let outcome = evaluate(&goal, &state.run_id, state.iteration, None, clock::now());
        self.goal_score = Some(outcome.score);
        self.write("goal-outcome.json", &json!(outcome))
    }

    fn merge_build_result(&mut self) -> StepEnd {
        let state = &self.driver.state;
        let result: Option<Value> = untrusted::read_json(&state.workdir.join(".learnings/build-result.json"));
        // The file stays: judges read it, and its member `iteration` names its iteration.
        let Some(result) = result.filter(|result| {
            let text = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
            text("iteration") == state.iteration.to_string() && text("run_id") == state.run_id
        }) else {
            return StepEnd::Skipped;
        };
        let status = result.get("status").and_then(Value::as_str).map(str::to_owned);
        self.change_outcomes(|_, outcome| {
            if outcome.agent == IMPLEMENTING {
                outcome.build.clone_from(&status);
            }
        })
    }

    async fn verify_citations(&mut self) -> StepEnd {
        let driver = self.driver;
        let changed = driver.changed_lines().await;
        // Without a change nothing can be cited, for instance while a loop plans.
        let Some(changed) = changed.filter(|changed| !changed.is_empty()) else { return StepEnd::Skipped };
        let repositories: Vec<_> = driver.repositories().collect();
        let exists = |file: &str| {
            let is_inside = Path::new(file).components().all(|part| part != Component::ParentDir);
            is_inside && repositories.iter().any(|root| root.join(file).is_file())
        };
        let mut failures = Vec::new();
        let end = self.change_outcomes(|_, outcome| {
            outcome.verify(&changed, exists);
            if outcome.verified == Some(false) {
                failures.push(failure(outcome));
            }
        });
        for entry in &failures {
            let _ = append_failure(&driver.state.workdir, entry);
        }
        if failures.is_empty() { end } else { StepEnd::Failed }
    }

    fn count_uses(&mut self) -> StepEnd {
        let mut uses: Vec<LearningUse> = Vec::new();
        if self.change_outcomes(|_, outcome| uses.push(outcome.to_use())) == StepEnd::Failed {
            return StepEnd::Failed;
        }
        if uses.is_empty() {
            return StepEnd::Skipped;
        }
        match patterns().count_uses(&uses, jiff::Timestamp::now()) {
            Ok(_) => StepEnd::Done,
            Err(_) => StepEnd::Failed,
        }
    }

    /// Changes the outcomes of the iteration and writes them.
    fn change_outcomes(
        &mut self,
        mut change: impl FnMut(&[loopgate_learnings::Relevance], &mut LearningOutcome),
    ) -> StepEnd {
        let state = &self.driver.state;
        let Some(log) = &mut self.log else { return StepEnd::Failed };
        let mut count = 0;
        for outcome in log.of_iteration(&state.run_id, state.iteration) {
            change(&self.relevance, outcome);
            count += 1;
        }
        match count {
            0 => StepEnd::Skipped,
            _ if log.write().is_ok() => StepEnd::Done,
            _ => StepEnd::Failed,
        }
    }
}

fn failure(outcome: &LearningOutcome) -> FailureEntry {
    let places = outcome.citations.iter().map(|citation| format!("{}:{}", citation.file, citation.line));
    FailureEntry {
        timestamp: clock::now(),
        run_id: outcome.run_id.clone(),
        iteration: outcome.iteration,
        agent: outcome.agent.clone(),
        reason: format!(
            "unverified citation of {}: {}",
            outcome.pattern_id,
            places.collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Formats whole numbers without a fraction: consumers of the events expect `2`, not `2.0`.
fn step(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number.round() as i64) } else { json!(number) }
}
