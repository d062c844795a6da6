//! `loopgate judges run`: prepares what judges read, asks each of them through the assistant, and writes the report. A judge
//! whose prompt is unchanged since its last usable answer is not asked again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::names::{PRD_MD, STATE_DIR};
use loopgate_api::usd::Usd;
use loopgate_home::untrusted;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::envelope::{JUDGE_INPUT, JudgeInput};
use super::evaluation::{self, ANSWERS, AnswerCheck, AnswerChecks, NO_REPORT};
use super::snapshot::RUBRICS;
use super::{Category, ContextArgs, Judge, RunJudgesArgs, WriteReportArgs, context, prompt, snapshot};
use crate::clock::now;
use crate::console::{print_error, print_line};
use crate::loop_run::{self, stop};
use crate::model_calls::{
    CallOutcome, CallPool, CallResult, IsolatedAssistant, MAX_ANSWER, ModelQuestion, NextStep, PooledCall,
    PromptAnswers, RejectedAnswer, correction, prompt_key,
};
use crate::plugins::Plugins;

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
    Interrupted,
}

/// Settings of a run.
struct JudgesRun {
    /// Absolute path.
    workdir: PathBuf,
    category: Category,
    /// Spending limit of all calls together; `None` without one.
    limit: Option<Usd>,
    /// Directory of the plugin with the rubrics.
    plugin: PathBuf,
    assistant: OsString,
    env: BTreeMap<OsString, OsString>,
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
            limit: args.max_budget_usd.filter(|usd| !usd.is_zero()),
            plugin,
            assistant: loop_run::assistant(),
            env: loop_run::environment(),
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
        if evaluation::lacks_document(workdir, category) {
            return Ok(EvaluationEnd::Completed(NO_REPORT.to_owned()));
        }
        if let Err(error) = snapshot::take(workdir, &self.plugin) {
            print_error(format!("Warning: the snapshot failed: {error}"));
        }
        let prepared = self.prepare().await.and_then(|input| {
            let shared_part = prompt::shared_part(category, &input, workdir)?;
            Ok((AnswerChecks::new(workdir, &input), shared_part))
        });
        let (checks, shared_part) =
            prepared.map_err(|fault| evaluation::write_failure(workdir, category, &fault))?;
        let mut answers = RunAnswers::new(self, checks, &shared_part);
        let judges = answers.judges_to_ask();
        self.ask(&mut answers, judges, &shared_part).await?;
        if self.stop.is_cancelled() {
            return Ok(EvaluationEnd::Interrupted);
        }
        self.finish(answers)
    }

    /// Excludes a work directory in the project's directory of Loopgate from commits, as loops do.
    fn exclude_from_commits(&self) -> io::Result<()> {
        let mut parents = self.workdir.ancestors();
        let state_dir = parents.find(|directory| directory.ends_with(STATE_DIR));
        state_dir.and_then(Path::parent).map_or(Ok(()), loop_run::exclude_state_dir)
    }

    /// Writes the context and, if it does not exist, the description of the input.
    async fn prepare(&self) -> Result<JudgeInput, String> {
        if matches!(self.category, Category::Plan | Category::Code) {
            let args = ContextArgs { workdir: self.workdir.clone(), category: self.category };
            // It waits for git with a runtime of its own, which cannot be nested.
            let written = tokio::task::spawn_blocking(move || context::write(&args)).await;
            let text = written.map_err(|error| error.to_string())??;
            text.lines().filter(|line| line.starts_with("Warning: ")).for_each(print_error);
        }
        let path = self.workdir.join(JUDGE_INPUT);
        if untrusted::kind(&path).is_none() {
            let input = default_input(&self.workdir, self.category);
            untrusted::write(&path, format!("{input:#}\n").as_bytes())
                .map_err(|error| format!("Cannot write {}: {error}", path.display()))?;
        }
        JudgeInput::load(&self.workdir, Some(self.category))
    }

    /// Asks the judges, and stores their answers.
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
        // No wait for usage limits: the run is a tool call of a session whose account has the same limit.
        let assistant =
            IsolatedAssistant::new(self.assistant.clone(), self.env.clone(), None, self.stop.clone())
                .map_err(cannot_store)?;
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
        let judges = judges.into_iter().map(|judge| JudgeCall { judge, rejected: None });
        let waiting =
            CallPool::new(judges, self.limit).run(ask, |call, result| answers.finish_call(call, result));
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
    fn finish(&self, answers: RunAnswers) -> Result<EvaluationEnd, String> {
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
        let report =
            evaluation::build(&WriteReportArgs { workdir: workdir.clone(), category, answers: None })?;
        let text = format!(
            "{}\n{} judges: {} passed, {} below a threshold, {} failed; cost ${:.2}; {} not asked again",
            report.summary,
            category.judges().count(),
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
                Err(format!(
                    "{text}\nThe spending limit of ${limit:.2} is reached. Run the same command to ask the other judges."
                ))
            }
            None => Ok(EvaluationEnd::Completed(text)),
        }
    }
}

/// Returns the description of the input for a work directory without one.
fn default_input(workdir: &Path, category: Category) -> serde_json::Value {
    let (task, path, kind) = match category {
        Category::Plan => ("Evaluate the plan", "plan-context.json", "json"),
        Category::Code => ("Evaluate the change of the code", "code-context.json", "json"),
        Category::Prd => ("Evaluate the requirements", PRD_MD, "markdown"),
        Category::Feature => ("Evaluate the requirements of the feature", PRD_MD, "markdown"),
    };
    let id = path.split('.').next().unwrap_or(path).replace('-', "_");
    json!({
        "evaluation_type": category.name(),
        "task": task,
        "primary_artifact": {"id": id, "path": path, "type": kind, "required": true},
        "supporting_artifacts": [],
        "source_of_truth": [id],
        "fallback_mode": {"active": false, "reason": "", "fallback_artifacts": []},
        "metadata": {"run_id": super::run_id(workdir), "generated_at": now()},
    })
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
    checks: AnswerChecks,
    category: Category,
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
    fn new(run: &JudgesRun, checks: AnswerChecks, shared_part: &str) -> Self {
        let mut answers = Self {
            store: PromptAnswers::in_directory(run.workdir.join(ANSWERS)),
            checks,
            category: run.category,
            requests: BTreeMap::new(),
            keys: BTreeMap::new(),
            costs: BTreeMap::new(),
            unchanged: BTreeSet::new(),
            end: None,
            is_limit_reached: false,
        };
        for judge in run.category.judges() {
            let path = run.plugin.join(RUBRICS).join(format!("{}.md", judge.name));
            match std::fs::read_to_string(&path) {
                Ok(rubric) => {
                    let request = prompt::request(judge, &rubric);
                    let key = prompt_key(&[judge.model.name(), shared_part, &request]);
                    answers.keys.insert(judge.name, key);
                    answers.requests.insert(judge.name, request);
                }
                Err(error) => {
                    answers.fail(judge, &format!("cannot read the rubric {}: {error}", path.display()));
                }
            }
        }
        answers
    }

    /// Selects the judges without a usable answer to the same prompt, and removes their earlier answers: an answer about
    /// other documents must not be in the report.
    fn judges_to_ask(&mut self) -> Vec<&'static Judge> {
        let mut judges = Vec::new();
        for judge in self.category.judges() {
            let Some(key) = self.keys.get(judge.name) else { continue };
            if self.has_answer(judge, key) {
                self.unchanged.insert(judge.name);
            } else {
                self.store.remove(judge.name);
                judges.push(judge);
            }
        }
        judges
    }

    fn has_answer(&self, judge: &Judge, key: &str) -> bool {
        let Some(answer) = self.store.answer(judge.name, key) else { return false };
        matches!(self.checks.check(&answer, judge), AnswerCheck::Usable | AnswerCheck::PartlySupported(_))
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
            Some(key) => self.store.store(judge.name, key, answer),
            None => self.store.store_failure(judge.name, answer),
        }
    }

    /// Stores the reason for which a judge failed.
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
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::Value;

    use super::*;

    /// Prints the record of a result. The arguments are the text and the cost.
    const ANSWER: &str = r#"answer() { printf '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":%s,"result":%s}\n' "$2" "$1"; }"#;
    const EMPTY: &str = r#"answer '"{\"findings\": []}"' 0.01"#;

    struct Fixture {
        root: tempfile::TempDir,
        workdir: &'static str,
        limit: Option<Usd>,
        stop: CancellationToken,
    }

    impl Fixture {
        /// Creates a work directory with requirements, rubrics, and a test double of the assistant. The script finds the
        /// judge's name in `$judge`, the number of the judge's call in `$n`, and the directory of the test in `$OUT`.
        fn new(script: &str) -> Self {
            let fixture = Self {
                root: tempfile::tempdir().unwrap(),
                workdir: "run-7",
                limit: None,
                stop: CancellationToken::new(),
            };
            for judge in Category::Prd.judges() {
                fixture.write(&format!("plugin/rubrics/{}.md", judge.name), "Look at the requirements.");
            }
            fixture.write("run-7/prd.md", "# Export\nUsers export their orders as a file.\n");
            fixture.script(script);
            fixture
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        }

        fn script(&self, script: &str) {
            let out = self.root.path().display();
            let text = format!(
                "#!/bin/bash\nOUT='{out}'\n{ANSWER}\nprompt=$(cat)\njudge=$(sed -n '1s/^You are \\(.*\\)\\.$/\\1/p' <<< \"$prompt\")\n\
                 n=$(( $(ls \"$OUT/calls\" | grep -c \"^$judge\\.\") + 1 ))\n\
                 echo \"$@\" > \"$OUT/calls/$judge.$n\"\nprintf '%s' \"$prompt\" > \"$OUT/prompts/$judge.$n\"\n\
                 cp judges.md \"$OUT/shared/$judge.$n\"\n{script}\n"
            );
            self.write("claude", &text);
            std::fs::set_permissions(self.path("claude"), std::fs::Permissions::from_mode(0o755)).unwrap();
            self.forget_calls();
        }

        fn forget_calls(&self) {
            for directory in ["calls", "prompts", "shared"] {
                let _ = std::fs::remove_dir_all(self.path(directory));
                std::fs::create_dir_all(self.path(directory)).unwrap();
            }
        }

        /// Returns the calls, `<judge>.<number>`, sorted.
        fn calls(&self) -> Vec<String> {
            let entries = std::fs::read_dir(self.path("calls")).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn run(&self) -> Result<EvaluationEnd, String> {
            let run = JudgesRun {
                workdir: self.path(self.workdir),
                category: Category::Prd,
                limit: self.limit,
                plugin: self.path("plugin"),
                assistant: self.path("claude").into(),
                env: [("PATH".into(), std::env::var_os("PATH").unwrap())].into(),
                stop: self.stop.clone(),
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(run.run())
        }

        /// Runs to the end, and returns the last line.
        fn completed(&self) -> String {
            match self.run() {
                Ok(EvaluationEnd::Completed(text)) => text.lines().last().unwrap().to_owned(),
                other => panic!("{other:?}"),
            }
        }

        fn case(&self, judge: &str) -> Value {
            let report: Value = serde_json::from_str(&self.read("run-7/prd-judges.json")).unwrap();
            report["stats"].as_array().unwrap().iter().find(|case| case["case_id"] == judge).unwrap().clone()
        }

        fn justification(&self, judge: &str) -> String {
            self.case(judge)["metrics"][0]["justification"].as_str().unwrap().to_owned()
        }
    }

    const JUDGES: [&str; 4] =
        ["prd-auditor", "prd-dependency-judge", "prd-scope-judge", "prd-testability-judge"];

    #[test]
    fn all_judges_are_asked_with_the_same_first_part() {
        let fixture = Fixture::new(EMPTY);
        assert_eq!(
            fixture.completed(),
            "4 judges: 4 passed, 0 below a threshold, 0 failed; cost $0.04; 0 not asked again"
        );
        assert_eq!(fixture.calls(), JUDGES.map(|judge| format!("{judge}.1")));
        let shared = fixture.read("shared/prd-auditor.1");
        assert!(shared.starts_with("You are a judge.") && shared.contains("Users export their orders"));
        for judge in JUDGES {
            assert_eq!(fixture.read(&format!("shared/{judge}.1")), shared);
            let request = fixture.read(&format!("prompts/{judge}.1"));
            assert!(request.starts_with(&format!("You are {judge}.\n\nLook at the requirements.")));
            let arguments = fixture.read(&format!("calls/{judge}.1"));
            assert!(arguments.contains("--tools= ") && arguments.contains("--model sonnet"), "{arguments}");
        }
        let costs: Value = serde_json::from_str(&fixture.read("run-7/prd-judges-cost.json")).unwrap();
        assert_eq!((&costs["total_usd"], costs["judges"].as_array().unwrap().len()), (&json!(0.04), 4));
        let manifest: Value =
            serde_json::from_str(&fixture.read("run-7/agents-snapshot/manifest.json")).unwrap();
        assert_eq!(manifest["file_count"], 4);
    }

    #[test]
    fn unchanged_judges_are_not_asked_again() {
        let fixture = Fixture::new(EMPTY);
        fixture.completed();
        fixture.forget_calls();
        assert!(fixture.completed().ends_with("cost $0.00; 4 not asked again"));
        assert!(fixture.calls().is_empty());
        fixture.write("plugin/rubrics/prd-scope-judge.md", "Look at the scope.");
        assert!(fixture.completed().ends_with("cost $0.01; 3 not asked again"));
        assert_eq!(fixture.calls(), ["prd-scope-judge.1"]);
        fixture.forget_calls();
        fixture.write("run-7/prd.md", "# Export\nUsers export their invoices as a file.\n");
        assert!(fixture.completed().ends_with("0 not asked again"));
        assert_eq!(fixture.calls().len(), 4);
        // An answer that was changed to one without a result is not taken for the judge's.
        fixture.forget_calls();
        fixture.write("run-7/judge-answers/prd-auditor.json", "{}");
        assert!(fixture.completed().ends_with("3 not asked again"));
    }

    #[test]
    fn faulty_answer_is_sent_back_once() {
        let finding = |quote: &str| {
            let finding = json!({"metric": "scope_discipline", "weight": "major", "place": "Export",
                "quote": quote, "explanation": "Not limited."});
            json!(json!({"findings": [finding]}).to_string()).to_string()
        };
        let (unsupported, supported) =
            (finding("Users import their orders"), finding("Users export their orders"));
        let script = |second: &str| {
            format!(
                "if [[ $judge = prd-scope-judge ]]; then\n if [[ $n = 1 ]]; then answer '{unsupported}' 0.01; else {second}; fi\n\
                 elif [[ $judge = prd-auditor && $n = 1 ]]; then answer '\"It is good.\"' 0.01\nelse {EMPTY}; fi"
            )
        };
        let fixture = Fixture::new(&script(&format!("answer '{supported}' 0.01")));
        assert_eq!(
            fixture.completed(),
            "4 judges: 4 passed, 0 below a threshold, 0 failed; cost $0.06; 0 not asked again"
        );
        assert_eq!(fixture.case("prd-scope-judge")["metrics"][0]["score"], json!(0.8));
        let correction = fixture.read("prompts/prd-scope-judge.2");
        assert!(
            correction.contains("the words of finding 1 occur in no document: \"Users import their orders\""),
            "{correction}"
        );
        assert!(fixture.read("prompts/prd-auditor.2").contains("the answer is no JSON"));
        // Without a correction, the finding is shown and does not count.
        for second in [
            format!("answer '{unsupported}' 0.01"),
            "answer '\"Sorry.\"' 0.01".to_owned(),
            "exit 3".to_owned(),
        ] {
            let fixture = Fixture::new(&script(&second));
            assert!(fixture.completed().starts_with("4 judges: 4 passed"));
            let text = fixture.justification("prd-scope-judge");
            assert!(text.starts_with("unsupported, not counted: major at Export"), "{text}");
            assert!(!fixture.path("calls/prd-scope-judge.3").exists());
        }
    }

    // PR-07
    #[test]
    fn unusable_answers_fail_only_their_judge() {
        let foreign = json!({"findings": [{"metric": "dry_score", "weight": "minor", "place": "1",
            "quote": "Users export their orders", "explanation": "x"}]});
        let foreign = json!(foreign.to_string());
        let script = format!(
            "case $judge in\nprd-auditor) answer '\"{{\\\"findings\\\": [\"' 0.01 ;;\nprd-dependency-judge) answer '{foreign}' 0.01 ;;\n\
             prd-scope-judge) printf '{{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"'; head -c 40000000 /dev/zero | tr '\\0' x; echo '\"}}' ;;\n\
             *) echo 'out of order' >&2; exit 3 ;;\nesac"
        );
        let fixture = Fixture::new(&script);
        assert!(fixture.completed().starts_with("4 judges: 0 passed, 0 below a threshold, 4 failed;"));
        for (judge, reason) in JUDGES.into_iter().zip([
            "the answer is no JSON: EOF",
            "finding 1 has an unknown metric \"dry_score\"",
            "the answer has more than 262144 bytes",
            "the assistant failed with exit code 3: out of order",
        ]) {
            let text = fixture.justification(judge);
            assert!(text.starts_with(&format!("Judge execution failed: {reason}")), "{judge}: {text}");
            assert_eq!(fixture.case(judge)["final_status"], 3);
        }
        assert_eq!(fixture.calls().len(), 7, "three answers were sent back, a failed call was not");
        // Empty output, and a judge that cannot judge, which is not sent back.
        let fixture = Fixture::new(
            r#"if [[ $judge = prd-auditor ]]; then answer '"{\"error\": \"there are no rows\"}"' 0.01; else true; fi"#,
        );
        fixture.completed();
        assert!(fixture.justification("prd-auditor").ends_with(": there are no rows"));
        assert!(fixture.justification("prd-scope-judge").contains("the answer is no JSON"));
        // They are asked again.
        fixture.script(EMPTY);
        assert!(fixture.completed().starts_with("4 judges: 4 passed"));
    }

    #[test]
    fn usage_limit_ends_the_run_and_the_next_one_continues() {
        let limit = r#"printf '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Usage limit reached"}\n'; exit 1"#;
        let fixture = Fixture::new(&format!("if [[ $judge = prd-auditor ]]; then {EMPTY}; else {limit}; fi"));
        let error = fixture.run().unwrap_err();
        assert!(error.contains("4 judges: 1 passed, 0 below a threshold, 3 failed"), "{error}");
        assert!(error.contains("\nThe assistant's rate limit is reached."), "{error}");
        fixture.script(EMPTY);
        assert_eq!(
            fixture.completed(),
            "4 judges: 4 passed, 0 below a threshold, 0 failed; cost $0.03; 1 not asked again"
        );
        let missing = Fixture::new(EMPTY);
        std::fs::remove_file(missing.path("claude")).unwrap();
        assert!(missing.run().unwrap_err().contains("4 failed"));
    }

    #[test]
    fn spending_limit_is_that_of_all_judges() {
        let mut fixture = Fixture::new(&EMPTY.replace("0.01", "0.06"));
        fixture.limit = Some("0.05".parse().unwrap());
        let error = fixture.run().unwrap_err();
        assert!(
            error.ends_with(
                "The spending limit of $0.05 is reached. Run the same command to ask the other judges."
            ),
            "{error}"
        );
        let budget =
            |call: &str| fixture.read(call).split_once("--max-budget-usd ").unwrap().1[..8].to_owned();
        assert_eq!(budget("calls/prd-auditor.1"), "0.012500");
        assert_eq!(fixture.calls(), ["prd-auditor.1"]);
        let used_up = r#"printf '{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":0.03}\n'; exit 1"#;
        let mut fixture = Fixture::new(used_up);
        fixture.limit = Some("1".parse().unwrap());
        fixture.completed();
        assert!(fixture.justification("prd-auditor").contains("share of the spending limit is used up"));
    }

    #[test]
    fn interruption_ends_the_calls() {
        let fixture = Fixture::new("echo $$ > \"$OUT/pid\"; mkfifo \"$OUT/never\"; read < \"$OUT/never\"");
        let (stop, pid) = (fixture.stop.clone(), fixture.path("pid"));
        let watcher = std::thread::spawn(move || {
            // The file appears when the script waits.
            while std::fs::read_to_string(&pid).map_or(true, |text| !text.ends_with('\n')) {
                std::thread::yield_now();
            }
            stop.cancel();
            std::fs::read_to_string(&pid).unwrap().trim().parse::<u32>().unwrap()
        });
        assert_eq!(fixture.run(), Ok(EvaluationEnd::Interrupted));
        assert!(!loop_run::child::process_exists(watcher.join().unwrap()));
        assert!(!fixture.path("run-7/prd-judges.json").exists());
    }

    // PR-05
    #[test]
    fn run_without_requirements_starts_no_judge() {
        let fixture = Fixture::new(EMPTY);
        std::fs::remove_file(fixture.path("run-7/prd.md")).unwrap();
        assert_eq!(fixture.completed(), "No report");
        assert!(fixture.calls().is_empty());
        // The default directory is created, and not committed.
        let mut fixture = Fixture::new(EMPTY);
        fixture.workdir = ".loopgate/judges";
        assert_eq!(fixture.completed(), "No report");
        assert!(fixture.path(".loopgate/judges").is_dir());
        assert_eq!(fixture.read(".loopgate/.gitignore"), "*\n");
        // A wrong input file is not replaced.
        let fixture = Fixture::new(EMPTY);
        fixture.write("run-7/judge-input.json", "{}");
        assert!(fixture.run().unwrap_err().contains("Validation errors in "));
        assert!(fixture.calls().is_empty() && fixture.case("prd-auditor")["final_status"] == 3);
        // A missing rubric fails its judge only.
        let fixture = Fixture::new(EMPTY);
        std::fs::remove_file(fixture.path("plugin/rubrics/prd-auditor.md")).unwrap();
        assert!(fixture.completed().starts_with("4 judges: 3 passed, 0 below a threshold, 1 failed"));
    }
}
