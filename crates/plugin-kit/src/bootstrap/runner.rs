//! `loopgate bootstrap run`: analyzes the repository, asks for the texts of agents whose facts have changed, and writes the
//! agents, the critic gates and the documents of the run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::usd::Usd;
use loopgate_bootstrap::{
    AGENT_MODEL, AgentFileResult, AgentValidation, ProjectAnalysis, RosterOptions, agent_file,
    check_agent_file, validate_generation,
};
use loopgate_home::{Directory, origin_of_clone};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::agent_files::{AgentDirectory, FileOutcome};
use super::estimate::estimate;
use super::run_files::{AgentMetadata, BootstrapMetadata, BootstrapRunFiles, content_hash};
use super::written_agents::{DraftCall, DraftText, WrittenAgents, remove_old_answers};
use super::{ExistingFiles, RunBootstrapArgs, prompt};
use crate::clock;
use crate::console::{print_error, print_line};
use crate::loop_run::{self, stop};
use crate::model_calls::{CallPool, IsolatedAssistant, LimitWait, ModelQuestion};
use crate::project_git::ProjectGit;

/// Exit code of an interrupted run.
const INTERRUPTED: u8 = 130;
/// Directory of the stored answers in the directory of git, where no commit can place any.
const STORE: &str = "loopgate/bootstrap";
/// Share of the agents that must be written for a run to succeed, in percent.
const MIN_WRITTEN: usize = 80;
const VALIDATION: &str = "synthesis/agent-validation.json";

/// Runs the command to its end. Creates an async runtime, so it must not be called from within one.
pub fn run(args: &RunBootstrapArgs) -> ExitCode {
    let result = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("Error: cannot start: {error}"))
        .and_then(|runtime| {
            runtime.block_on(async {
                let stop = CancellationToken::new();
                stop::on_signals(stop.clone()).map_err(|error| format!("Error: cannot start: {error}"))?;
                BootstrapRun::from_arguments(args, stop)?.run().await
            })
        });
    match result {
        Ok(BootstrapEnd::Completed(text)) => {
            print_line(text);
            ExitCode::SUCCESS
        }
        Ok(BootstrapEnd::Interrupted) => {
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
pub enum BootstrapEnd {
    /// Contains the lines to print.
    Completed(String),
    Interrupted,
}

/// Settings of a run.
#[derive(Debug)]
pub struct BootstrapRun {
    /// Directory in the repository.
    pub current: PathBuf,
    pub output_dir: PathBuf,
    pub options: RosterOptions,
    pub existing: (ExistingFiles, bool),
    pub dry_run: bool,
    pub skip_failed: bool,
    /// Spending limit of all calls together; `None` without one.
    pub limit: Option<Usd>,
    pub wait: Option<LimitWait>,
    pub assistant: OsString,
    pub env: BTreeMap<OsString, OsString>,
    pub stop: CancellationToken,
}

/// The repository of a run.
struct BootstrappedClone {
    root: PathBuf,
    /// Full name at its remote, else the name of the directory.
    name: String,
    store: PathBuf,
    files: Vec<String>,
}

impl BootstrapRun {
    fn from_arguments(args: &RunBootstrapArgs, stop: CancellationToken) -> Result<Self, String> {
        let current =
            std::env::current_dir().map_err(|error| format!("Error: no current directory: {error}"))?;
        Ok(Self {
            current,
            output_dir: args.output_dir.clone(),
            options: args.roster_options(),
            existing: args.existing_files(),
            dry_run: args.dry_run,
            skip_failed: args.skip_failed,
            limit: args.max_budget_usd.filter(|usd| !usd.is_zero()),
            wait: args.wait_for_limits.then(LimitWait::of_environment),
            assistant: loop_run::assistant(),
            env: loop_run::environment(),
            stop,
        })
    }

    /// Writes the agents.
    ///
    /// # Errors
    /// Returns the message to print. Agents that were written stay.
    pub async fn run(&self) -> Result<BootstrapEnd, String> {
        let repository = self.repository().await?;
        let now = clock::now();
        let tree = Directory::of(&repository.root).map_err(|error| format!("Error: {error}"))?;
        let analysis = ProjectAnalysis::new(tree, repository.files.iter().cloned(), &self.options, &now);
        if analysis.overview.is_empty() {
            return Err(format!(
                "Error: {} has neither a README.md nor a CLAUDE.md at its root: nothing says what it is for. Add one, and run \
                 the same command.",
                repository.root.display()
            ));
        }
        let validation = validate_generation(&analysis.agents, now.clone());
        let shared_part = prompt::shared_part(&analysis);
        let mut agents = WrittenAgents::new(&analysis, &shared_part, &repository.store);
        let calls = agents.calls(self.skip_failed);
        if self.dry_run {
            return Ok(BootstrapEnd::Completed(description(&agents, &calls, &shared_part)));
        }
        loop_run::exclude_state_dir(&repository.root)
            .map_err(|error| format!("Error: cannot prepare the directory of Loopgate: {error}"))?;
        let run = BootstrapRunFiles::create(&repository.root, &clock::run_id())?;
        run.write_analysis(&analysis)?;
        run.write("synthesis/generation-validation.json", &validation)?;
        if !validation.valid {
            return Err(format!("Error: the roster is invalid: {}", validation.errors.join("; ")));
        }
        if !calls.is_empty() {
            self.ask(&mut agents, calls, &shared_part, &repository.store).await?;
        }
        if self.stop.is_cancelled() {
            return Ok(BootstrapEnd::Interrupted);
        }
        let mut written = WrittenRun {
            run: &run,
            analysis: &analysis,
            repository: &repository,
            now: &now,
            lines: Vec::new(),
        };
        written.lines.extend(validation.warnings.iter().map(|warning| format!("Warning: {warning}")));
        written.finish(self, &agents)
    }

    async fn repository(&self) -> Result<BootstrappedClone, String> {
        let git = ProjectGit::at(&self.current, &self.env, &self.stop);
        let none = || {
            format!(
                "Error: {} is in no git repository. Run the command in the repository that the agents are for.",
                self.current.display()
            )
        };
        let (root, _) = git.position().await.ok_or_else(none)?;
        let store = git.common_dir().await.ok_or_else(none)?.join(STORE);
        let git = ProjectGit::at(&root, &self.env, &self.stop);
        let files = git
            .files()
            .await
            .ok_or_else(|| format!("Error: git cannot list the files of {}", root.display()))?;
        let clone = git.clone_root().await.unwrap_or_else(|| root.clone());
        let name = origin_of_clone(&clone).map(|name| name.to_string());
        let directory = || clone.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(BootstrappedClone { name: name.unwrap_or_else(directory), root, store, files })
    }

    /// Asks for the texts of agents.
    ///
    /// # Errors
    /// Fails when the run cannot start a call.
    async fn ask(
        &self,
        agents: &mut WrittenAgents<'_>,
        calls: Vec<DraftCall>,
        shared_part: &str,
        store: &Path,
    ) -> Result<(), String> {
        std::fs::create_dir_all(store)
            .map_err(|error| format!("Error: cannot create {}: {error}", store.display()))?;
        remove_old_answers(store);
        let cannot_store = |error: std::io::Error| format!("Error: cannot store the prompt: {error}");
        let assistant = IsolatedAssistant::new(
            self.assistant.clone(),
            self.env.clone(),
            self.wait.clone(),
            self.stop.clone(),
        )
        .map_err(cannot_store)?;
        let shared_part = assistant.share("bootstrap", shared_part).map_err(cannot_store)?;
        let requests = agents.requests(&calls);
        let ask = |call: &DraftCall, share| {
            let request = requests.get(&call.index).map(String::as_str).unwrap_or_default();
            let text = WrittenAgents::request_text(request, call.rejected.as_ref());
            assistant.ask(ModelQuestion { model: AGENT_MODEL, shared_part: &shared_part, text: &text }, share)
        };
        let pool = CallPool::new(calls, self.limit);
        let waiting = pool.run(ask, |call, result| agents.finish_call(call, result)).await?;
        for DraftCall { index, rejected } in waiting {
            let limit = self.limit.unwrap_or_default();
            let reason = match &agents.end {
                Some(reason) => reason.clone(),
                None if self.stop.is_cancelled() => "the run was interrupted".to_owned(),
                None => format!("the spending limit of ${limit:.2} is reached"),
            };
            agents.conclude(index, rejected, &reason);
            if !self.stop.is_cancelled() {
                agents.end.get_or_insert(reason);
            }
        }
        Ok(())
    }
}

/// Describes a run that did not start.
fn description(agents: &WrittenAgents<'_>, calls: &[DraftCall], shared_part: &str) -> String {
    let requests = agents.requests(calls);
    let cost = estimate(shared_part, requests.values().map(String::as_str));
    let mut text = String::new();
    for (index, draft) in agents.drafts.iter().enumerate() {
        let is_asked = calls.iter().any(|call| call.index == index);
        let state = match (&draft.text, is_asked) {
            (_, true) => "to be written",
            (DraftText::Failed(_), false) => "failed with the same facts",
            _ => "unchanged",
        };
        let _ = writeln!(text, "{}: {} ({state})", draft.agent.agent, draft.agent.focus);
    }
    let _ = write!(
        text,
        "{} agents: {} to be written; about {} input and {} output tokens, ${:.2}",
        agents.drafts.len(),
        calls.len(),
        cost.input_tokens,
        cost.output_tokens,
        cost.dollars
    );
    text
}

/// A run whose texts are written.
struct WrittenRun<'a> {
    run: &'a BootstrapRunFiles,
    analysis: &'a ProjectAnalysis,
    repository: &'a BootstrappedClone,
    now: &'a str,
    /// Warnings to print.
    lines: Vec<String>,
}

impl WrittenRun<'_> {
    fn finish(mut self, run: &BootstrapRun, agents: &WrittenAgents<'_>) -> Result<BootstrapEnd, String> {
        let mut metadata = BootstrapMetadata::read(&self.repository.root);
        let directory =
            AgentDirectory::open(&self.repository.root, &run.output_dir, run.existing, &clock::compact())
                .map_err(|error| format!("Error: cannot open {}: {error}", run.output_dir.display()))?;
        let results = self.write_files(agents, &directory, &mut metadata)?;
        self.report_removed(agents, &mut metadata);
        let warning = self.run.write_gates(&self.analysis.agents, &mut metadata)?;
        self.lines.extend(warning.map(|warning| format!("Warning: {warning}")));
        self.run.write_metadata(metadata, self.now)?;
        let validation = AgentValidation::new(self.now.to_owned(), results);
        self.run.write(VALIDATION, &validation)?;
        let cost = agents.drafts.iter().fold(Usd::default(), |mut sum, draft| {
            sum += draft.cost;
            sum
        });
        let asked = agents.drafts.iter().filter(|draft| draft.calls > 0).count();
        let failed = validation.agents_failed;
        let summary = format!(
            "{} agents: {} valid, {failed} failed; {asked} written by a model, {} unchanged; cost ${cost:.2}",
            validation.agents_validated,
            validation.agents_validated - failed,
            agents.drafts.iter().filter(|draft| draft.calls == 0 && draft.answer().is_some()).count(),
        );
        let is_successful =
            (validation.agents_validated - failed) * 100 >= validation.agents_validated * MIN_WRITTEN;
        self.write_reports(agents, &validation, &summary, is_successful)?;
        let mut text = self.lines.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(
            text,
            "Agents: {}\nReport: {}\n{summary}",
            directory.path().display(),
            self.run.dir().join("bootstrap-report.md").display()
        );
        match &agents.end {
            Some(reason) => Err(format!("{text}\n{reason}\nRun the same command to write the other agents.")),
            None if !is_successful => {
                Err(format!("{text}\nFewer than {MIN_WRITTEN}% of the agents could be written."))
            }
            None => Ok(BootstrapEnd::Completed(text)),
        }
    }

    fn write_files(
        &mut self,
        agents: &WrittenAgents<'_>,
        directory: &AgentDirectory,
        metadata: &mut BootstrapMetadata,
    ) -> Result<Vec<AgentFileResult>, String> {
        let mut results = Vec::new();
        for draft in &agents.drafts {
            let name = &draft.agent.agent;
            let mut result = AgentFileResult {
                agent: name.clone(),
                file: String::new(),
                valid: false,
                warnings: Vec::new(),
                errors: Vec::new(),
            };
            if !draft.unknown.is_empty() {
                let unknown = draft.unknown.join(", ");
                result.warnings.push(format!("texts with names that do not occur were left out: {unknown}"));
            }
            match &draft.text {
                DraftText::Missing => result.errors.push("it was not written".to_owned()),
                DraftText::Failed(reason) => result.errors.push(reason.clone()),
                DraftText::Written(answer) => {
                    let text =
                        agent_file(draft.agent, answer, &self.repository.name, &self.analysis.commands);
                    let check = check_agent_file(name, &text);
                    result.errors.extend(check.errors);
                    result.warnings.extend(check.warnings);
                    if result.errors.is_empty() {
                        let known = metadata.agents.get(name).and_then(|known| known.file_hash.as_deref());
                        let outcome = directory
                            .write(name, &text, known)
                            .map_err(|error| format!("Error: cannot write {name}.md: {error}"))?;
                        self.record(draft, &text, outcome, metadata);
                        result.file = directory.path().join(format!("{name}.md")).display().to_string();
                    }
                }
            }
            result.valid = result.errors.is_empty();
            let (errors, warnings) = (result.errors.iter(), result.warnings.iter());
            self.lines.extend(errors.chain(warnings).map(|issue| format!("Warning: {name}: {issue}")));
            results.push(result);
        }
        Ok(results)
    }

    fn record(
        &mut self,
        draft: &super::written_agents::AgentDraft<'_>,
        text: &str,
        outcome: FileOutcome,
        metadata: &mut BootstrapMetadata,
    ) {
        let name = &draft.agent.agent;
        match outcome {
            FileOutcome::KeptExisting => {
                self.lines.push(format!("Warning: {name}: the existing file is kept"));
                return;
            }
            FileOutcome::MovedExisting => {
                self.lines.push(format!("Warning: {name}: the existing file was moved to the backup"));
            }
            FileOutcome::Written | FileOutcome::Unchanged => {}
        }
        let entry = metadata.agents.entry(name.clone()).or_default();
        let is_same = entry.generation_hash.as_deref() == Some(&draft.key);
        let generated = if is_same { entry.generated.clone() } else { self.now.to_owned() };
        *entry = AgentMetadata {
            generated,
            domain: draft.agent.domain.clone(),
            specialization: draft.agent.language.clone(),
            generation_hash: Some(draft.key.clone()),
            file_hash: Some(content_hash(text.as_bytes())),
        };
    }

    /// Reports the agents of earlier runs that are no longer in the roster. Their files stay.
    fn report_removed(&mut self, agents: &WrittenAgents<'_>, metadata: &mut BootstrapMetadata) {
        let is_current = |name: &str| agents.drafts.iter().any(|draft| draft.agent.agent == name);
        let removed: Vec<String> = metadata.agents.keys().filter(|name| !is_current(name)).cloned().collect();
        for name in removed {
            metadata.agents.remove(&name);
            self.lines.push(format!("Warning: {name} is no longer in the roster; nothing is deleted"));
        }
    }

    fn write_reports(
        &self,
        agents: &WrittenAgents<'_>,
        validation: &AgentValidation,
        summary: &str,
        is_successful: bool,
    ) -> Result<(), String> {
        let costs: Vec<_> = agents
            .drafts
            .iter()
            .map(|draft| json!({"agent": draft.agent.agent, "usd": draft.cost, "calls": draft.calls}))
            .collect();
        let document = json!({
            "timestamp": self.now,
            "valid": is_successful && agents.end.is_none(),
            "summary": summary,
            "agents": costs,
            "warnings": self.lines,
        });
        self.run.write("validation-report.json", &document)?;
        let mut report = format!("# Agents of {}\n\n{summary}\n\n", self.repository.name);
        for (draft, result) in agents.drafts.iter().zip(&validation.results) {
            let state = if result.valid { "" } else { "; failed" };
            let _ = writeln!(report, "- `{}`: {}{state}", draft.agent.agent, draft.agent.focus);
        }
        let domains = &self.analysis.domain_report;
        let _ = writeln!(
            report,
            "\n## Found\n\nPrimary language: {}\n",
            self.analysis.languages.primary_language
        );
        for (name, domain) in domains.domains.iter().filter(|(_, domain)| domain.present) {
            let _ = writeln!(report, "- {name}: {}", domain.complexity_reasons.join(", "));
        }
        self.run.write_text("bootstrap-report.md", &report)?;
        let questions: Vec<&String> =
            self.analysis.experts.warnings.iter().chain(&domains.warnings).chain(&self.lines).collect();
        if questions.is_empty() {
            return Ok(());
        }
        let list: String = questions.iter().map(|question| format!("- {question}\n")).collect();
        self.run.write_text("open-questions.md", &format!("# Open questions\n\n{list}"))
    }
}
