//! `loopgate judges run`: prepares what judges read, asks each of them through the assistant, and writes the report. A judge
//! whose prompt is unchanged since its last usable answer is not asked again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::judge_report::ReportCost;
use loopgate_api::names::STATE_DIR;
use loopgate_api::usd::{SPENDING_LIMIT_EXIT, Usd};
use loopgate_home::untrusted;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::evaluation::{self, ANSWERS, AnswerCheck, AnswerChecks, NO_REPORT};
use super::paid_answers::PaidAnswers;
use super::rules::JudgingRules;
use super::snapshot::RUBRICS;
use super::{Category, Judge, RunJudgesArgs, preparation, prompt, snapshot};
use crate::console::{print_error, print_line};
use crate::loop_run::{self, stop};
use crate::model_calls::{
    CallOutcome, CallPool, CallResult, IsolatedAssistant, LimitWait, MAX_ANSWER, ModelQuestion, NextStep,
    PooledCall, PromptAnswers, RejectedAnswer, correction, prompt_key,
};
use crate::plugins::Plugins;

/// File that is locked while a run uses a work directory.
const LOCK: &str = "judges.lock";
/// Exit code of an interrupted run.
const INTERRUPTED: u8 = 130;
/// Name of the plugin with the rubrics.
const PLUGIN: &str = "judges";
/// Added to the request to correct an answer.
const CORRECTION_ADVICE: &str = " Omit a finding for which no words occur.";

/// A call of the assistant for a judge.
#[derive(Debug, Clone)]
struct JudgeCall {
    judge: &'static Judge,
    /// The answer that this call has to correct.
    rejected: Option<RejectedAnswer>,
}

impl PooledCall for JudgeCall {
    fn cache(&self) -> String {
        self.judge.model.name().to_owned()
    }
}

/// Runs the command to its end. Creates an async runtime, so it must not be called from within one.
pub fn run(args: &RunJudgesArgs) -> ExitCode {
    let result = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("Error: cannot start: {error}"))
        .and_then(|runtime| {
            runtime.block_on(async {
                let stop = CancellationToken::new();
                stop::on_signals(stop.clone()).map_err(|error| format!("Error: cannot start: {error}"))?;
                JudgesRun::from_arguments(args, stop)?.run().await
            })
        });
    match result {
        Ok(EvaluationEnd::Completed(text)) => {
            print_line(text);
            ExitCode::SUCCESS
        }
        Ok(EvaluationEnd::LimitReached(message)) => {
            print_error(message);
            ExitCode::from(SPENDING_LIMIT_EXIT)
        }
        Ok(EvaluationEnd::Interrupted) => {
            print_error("The run was interrupted. Its answers are kept; run the same command to continue.");
            ExitCode::from(INTERRUPTED)
        }
        Err(message) => {
            print_error(message);
            ExitCode::FAILURE
        }
    }
}

/// How a run ended, if it did not fail.
#[derive(Debug, PartialEq, Eq)]
enum EvaluationEnd {
    /// Contains the lines to print.
    Completed(String),
    /// The spending limit is reached. Contains the message to print.
    LimitReached(String),
    Interrupted,
}

/// Settings of a run.
struct JudgesRun {
    /// Absolute path.
    workdir: PathBuf,
    category: Category,
    /// Directory of the project, if it is known.
    project: Option<PathBuf>,
    /// Spending limit of all calls together; `None` without one.
    limit: Option<Usd>,
    /// Directory of the plugin with the rubrics.
    plugin: PathBuf,
    assistant: OsString,
    env: BTreeMap<OsString, OsString>,
    /// Answers of earlier runs in other work directories.
    paid: Option<PaidAnswers>,
    /// Whether the run is that of a loop, which shows the assistant's output and waits for limits of its account.
    in_loop: bool,
    stop: CancellationToken,
}

impl JudgesRun {
    fn from_arguments(args: &RunJudgesArgs, stop: CancellationToken) -> Result<Self, String> {
        let workdir = std::path::absolute(&args.workdir)
            .map_err(|error| format!("Error: invalid work directory: {error}"))?;
        let plugin = match &args.plugin_root {
            Some(plugin) => plugin.clone(),
            None => {
                let data_dir =
                    loopgate_home::default_data_dir().map_err(|error| format!("Error: {error}"))?;
                let plugins = Plugins::unpack(&data_dir)
                    .map_err(|error| format!("Error: cannot unpack the plugins: {error}"))?;
                plugins.root().join(PLUGIN)
            }
        };
        Ok(Self {
            workdir,
            category: args.category,
            project: args.project.clone(),
            limit: args.max_budget_usd.filter(|usd| !usd.is_zero()),
            plugin,
            assistant: loop_run::assistant(),
            env: loop_run::environment(),
            paid: PaidAnswers::open(),
            in_loop: args.in_loop,
            stop,
        })
    }

    /// Runs the judges.
    ///
    /// # Errors
    /// Returns the message to print. The report then contains what was judged before.
    async fn run(&self) -> Result<EvaluationEnd, String> {
        let (workdir, category) = (self.workdir.as_path(), self.category);
        untrusted::create_directory(workdir)
            .map_err(|error| format!("Error: cannot create {}: {error}", workdir.display()))?;
        self.exclude_from_commits()
            .map_err(|error| format!("Error: cannot prepare the directory: {error}"))?;
        let _lock = lock(workdir)?;
        if evaluation::lacks_document(workdir, category) {
            return Ok(EvaluationEnd::Completed(NO_REPORT.to_owned()));
        }
        if let Err(error) = snapshot::take(workdir, &self.plugin) {
            print_error(format!("Warning: the snapshot failed: {error}"));
        }
        let rules = preparation::rules(workdir, self.project.clone(), category).await?;
        rules.warnings.iter().for_each(|warning| print_error(format!("Warning: {warning}")));
        let input = preparation::input(workdir, self.project.clone(), category).await;
        let prepared = input.and_then(|input| {
            let shared_part = prompt::shared_part(category, &input, workdir);
            let shared_part = shared_part.map_err(|fault| evaluation::execution_failed(&fault))?;
            Ok((AnswerChecks::new(workdir, &input), shared_part))
        });
        let (checks, shared_part) =
            prepared.map_err(|justification| evaluation::write_failure(workdir, &rules, &justification))?;
        let mut answers = RunAnswers::new(self, &rules, checks, &shared_part);
        let judges = answers.judges_to_ask();
        self.ask(&mut answers, judges, &shared_part).await?;
        if self.stop.is_cancelled() {
            return Ok(EvaluationEnd::Interrupted);
        }
        self.finish(answers, &rules)
    }

    /// Excludes a work directory in the project's directory of Loopgate from commits, as loops do.
    fn exclude_from_commits(&self) -> io::Result<()> {
        let mut parents = self.workdir.ancestors();
        let state_dir = parents.find(|directory| directory.ends_with(STATE_DIR));
        state_dir.and_then(Path::parent).map_or(Ok(()), loop_run::exclude_state_dir)
    }

    /// Asks the judges, and stores their answers. A loop waits for limits of the account.
    ///
    /// # Errors
    /// Fails when the run cannot start a call.
    async fn ask(
        &self,
        answers: &mut RunAnswers,
        judges: Vec<&'static Judge>,
        shared_part: &str,
    ) -> Result<(), String> {
        let requests = answers.requests.clone();
        let cannot_store = |error: io::Error| format!("Error: cannot store the prompt: {error}");
        // Outside of a loop, the run is a tool call of a session whose account has the same limit.
        let waits = self.in_loop && loop_run::waits_for_limits(loop_run::settings().as_ref());
        let wait = waits.then(|| LimitWait::in_stream(self.workdir.clone()));
        let (program, env, stop) = (self.assistant.clone(), self.env.clone(), self.stop.clone());
        let mut assistant = IsolatedAssistant::new(program, env, wait, stop).map_err(cannot_store)?;
        assistant.prints_output = self.in_loop;
        let shared_part = assistant.share(PLUGIN, shared_part).map_err(cannot_store)?;
        let ask = |call: &JudgeCall, share| {
            let request = requests.get(call.judge.name).map(String::as_str).unwrap_or_default();
            let corrected = call.rejected.as_ref().map(|RejectedAnswer { text, fault, .. }| {
                correction(request, text, fault, CORRECTION_ADVICE)
            });
            let text = corrected.as_deref().unwrap_or(request);
            assistant
                .ask(ModelQuestion { model: call.judge.model.name(), shared_part: &shared_part, text }, share)
        };
        let calls = judges.into_iter().map(|judge| JudgeCall { judge, rejected: None });
        let waiting =
            CallPool::new(calls, self.limit).run(ask, |call, result| answers.finish_call(call, result));
        for JudgeCall { judge, rejected } in waiting.await? {
            let reason = match &answers.end {
                Some(reason) => reason.clone(),
                None if self.stop.is_cancelled() => "the run was interrupted".to_owned(),
                None => {
                    answers.is_limit_reached = true;
                    "the spending limit is reached".to_owned()
                }
            };
            answers.conclude(judge, rejected, &reason);
        }
        Ok(())
    }

    /// Writes the report and the costs.
    fn finish(&self, answers: RunAnswers, rules: &JudgingRules) -> Result<EvaluationEnd, String> {
        let (workdir, category) = (&self.workdir, self.category);
        let costs = json!({
            "total_usd": answers.total(),
            "judges": answers.costs.iter().map(|(judge, cost)| json!({"judge": judge, "usd": cost.usd,
                "calls": cost.calls})).collect::<Vec<_>>(),
            "not_asked_again": answers.unchanged,
        });
        let path = workdir.join(format!("{}-judges-cost.json", category.name()));
        untrusted::write(&path, format!("{costs:#}\n").as_bytes())
            .map_err(|error| format!("Cannot write {}: {error}", path.display()))?;
        let cost = ReportCost {
            total_usd: answers.total(),
            calls: answers.costs.values().map(|cost| cost.calls).sum(),
            not_asked_again: answers.unchanged.len(),
        };
        let report = evaluation::build(workdir, rules, None, Some(cost))?;
        let text = format!(
            "{}\n{} judges: {} passed, {} below a threshold, {} failed; cost ${:.2}; {} not asked again",
            report.summary,
            rules.judges().count(),
            report.passed,
            report.below,
            report.not_judged,
            answers.total(),
            answers.unchanged.len()
        );
        match answers.end {
            Some(reason) => Err(format!("{text}\n{reason}\nRun the same command to ask the other judges.")),
            None if answers.is_limit_reached => {
                let limit = self.limit.unwrap_or_default();
                Ok(EvaluationEnd::LimitReached(format!(
                    "{text}\nThe spending limit of ${limit:.2} is reached. Run the same command to ask the other judges."
                )))
            }
            None => Ok(EvaluationEnd::Completed(text)),
        }
    }
}

/// Lock of a work directory, which the end of the process releases as well.
#[derive(Debug)]
struct WorkdirLock(File);

impl Drop for WorkdirLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is being started has a copy of the handle.
        let _ = self.0.unlock();
    }
}

/// Locks a work directory.
fn lock(workdir: &Path) -> Result<WorkdirLock, String> {
    let path = workdir.join(LOCK);
    let failed = |error: io::Error| format!("Error: cannot lock {}: {error}", path.display());
    let file = untrusted::append(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(WorkdirLock(file)),
        Err(TryLockError::WouldBlock) => Err(format!(
            "Error: judges already run in {}. Wait for their end, or use another work directory.",
            workdir.display()
        )),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Cost of a judge in this run.
#[derive(Debug, Clone, Copy, Default)]
struct JudgeCost {
    usd: Usd,
    calls: u32,
}

/// The answers of a run, stored in its work directory.
struct RunAnswers {
    store: PromptAnswers,
    paid: Option<PaidAnswers>,
    checks: AnswerChecks,
    judges: Vec<&'static Judge>,
    /// Requests by judge; a judge without a rubric has none.
    requests: BTreeMap<&'static str, String>,
    /// Identities of the prompts, by judge.
    keys: BTreeMap<&'static str, String>,
    costs: BTreeMap<&'static str, JudgeCost>,
    /// Judges that were not asked, because their prompt is that of their stored answer.
    unchanged: BTreeSet<&'static str>,
    /// Reason for which no further judge is asked.
    end: Option<String>,
    is_limit_reached: bool,
}

impl RunAnswers {
    fn new(run: &JudgesRun, rules: &JudgingRules, checks: AnswerChecks, shared_part: &str) -> Self {
        let mut answers = Self {
            store: PromptAnswers::in_directory(run.workdir.join(ANSWERS)),
            paid: run.paid.clone(),
            checks,
            judges: rules.judges().collect(),
            requests: BTreeMap::new(),
            keys: BTreeMap::new(),
            costs: BTreeMap::new(),
            unchanged: BTreeSet::new(),
            end: None,
            is_limit_reached: false,
        };
        for judge in rules.judges() {
            let rubric = rules.own_rubric(judge).cloned().unwrap_or_else(|| {
                let path = run.plugin.join(RUBRICS).join(format!("{}.md", judge.name));
                std::fs::read_to_string(&path)
                    .map_err(|error| format!("cannot read the rubric {}: {error}", path.display()))
            });
            match rubric {
                Ok(rubric) => {
                    let request = prompt::request(judge, &rubric);
                    let key = prompt_key(&[judge.model.name(), shared_part, &request]);
                    answers.keys.insert(judge.name, key);
                    answers.requests.insert(judge.name, request);
                }
                Err(fault) => answers.fail(judge, &fault),
            }
        }
        answers
    }

    /// Selects the judges that can judge and have no usable answer to the same prompt, and removes their earlier answers: an
    /// answer about other documents must not be in the report.
    fn judges_to_ask(&mut self) -> Vec<&'static Judge> {
        let mut judges = Vec::new();
        for judge in self.judges.clone() {
            let Some(key) = self.keys.get(judge.name).cloned() else { continue };
            if !self.checks.can_judge(judge) {
                self.store.remove(judge.name);
            } else if self.has_answer(judge, &key) || self.restore(judge, &key) {
                self.unchanged.insert(judge.name);
            } else {
                self.store.remove(judge.name);
                judges.push(judge);
            }
        }
        judges
    }

    fn has_answer(&self, judge: &Judge, key: &str) -> bool {
        self.store.answer(judge.name, key).is_some_and(|answer| self.is_usable(judge, &answer))
    }

    /// Copies a usable answer to the same prompt from the data directory.
    fn restore(&self, judge: &Judge, key: &str) -> bool {
        let Some(answer) = self.paid.as_ref().and_then(|paid| paid.get(key)) else { return false };
        let is_usable = self.is_usable(judge, &answer);
        if is_usable {
            self.store(judge, &answer);
        }
        is_usable
    }

    fn is_usable(&self, judge: &Judge, answer: &str) -> bool {
        matches!(self.checks.check(answer, judge), AnswerCheck::Usable | AnswerCheck::PartlySupported(_))
    }

    /// Stores the result of a call, or sends a faulty answer back once.
    fn finish_call(&mut self, call: JudgeCall, result: CallResult) -> NextStep<JudgeCall> {
        let JudgeCall { judge, rejected } = call;
        let cost = self.costs.entry(judge.name).or_default();
        cost.usd += result.cost;
        cost.calls += 1;
        let answer = match result.outcome {
            CallOutcome::Answer(text) => Some(text),
            CallOutcome::Oversized => None,
            CallOutcome::Failed(reason) => {
                self.conclude(judge, rejected, &reason);
                return NextStep::Continue;
            }
            CallOutcome::Fatal(reason) => {
                self.conclude(judge, rejected, &reason);
                self.end.get_or_insert(reason);
                return NextStep::End;
            }
            CallOutcome::Stopped => return NextStep::End,
        };
        let check = match &answer {
            Some(text) => self.checks.check(text, judge),
            None => AnswerCheck::Unusable(format!("the answer has more than {MAX_ANSWER} bytes")),
        };
        let text = answer.unwrap_or_default();
        let (fault, is_usable) = match check {
            AnswerCheck::Usable => {
                self.store(judge, &text);
                return NextStep::Continue;
            }
            AnswerCheck::CannotJudge(reason) => {
                self.conclude(judge, rejected, &reason);
                return NextStep::Continue;
            }
            AnswerCheck::PartlySupported(fault) => (fault, true),
            AnswerCheck::Unusable(fault) => (fault, false),
        };
        match rejected {
            // After the end of the run, the pool starts no corrections, and concludes them with its reason.
            None => {
                let rejected = Some(RejectedAnswer { text, fault, is_usable });
                NextStep::Correct(JudgeCall { judge, rejected })
            }
            Some(_) if is_usable => {
                self.store(judge, &text);
                NextStep::Continue
            }
            rejected => {
                self.conclude(judge, rejected, &fault);
                NextStep::Continue
            }
        }
    }

    /// Stores the usable part of an earlier answer, else the reason for which the judge failed.
    fn conclude(&self, judge: &Judge, rejected: Option<RejectedAnswer>, reason: &str) {
        match rejected {
            Some(RejectedAnswer { text, is_usable: true, .. }) => self.store(judge, &text),
            _ => self.fail(judge, reason),
        }
    }

    fn store(&self, judge: &Judge, answer: &str) {
        match self.keys.get(judge.name) {
            Some(key) => {
                self.store.store(judge.name, key, answer);
                self.paid.iter().for_each(|paid| paid.put(key, answer));
            }
            None => self.store.store_failure(judge.name, answer),
        }
    }

    /// Stores the reason for which a judge failed. The next run asks the judge again.
    fn fail(&self, judge: &Judge, reason: &str) {
        self.store.store_failure(judge.name, &json!({"error": reason}).to_string());
    }

    fn total(&self) -> Usd {
        self.costs.values().fold(Usd::default(), |mut total, cost| {
            total += cost.usd;
            total
        })
    }
}

#[cfg(test)]
mod tests;
