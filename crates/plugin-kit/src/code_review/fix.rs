//! `loopgate code-review fix`: corrects the confirmed findings of a review, one file after the other. The repository's tests
//! run before and after each correction; one that makes a test fail or weakens one is taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::redact;
use loopgate_api::terminal_text::escape_control;
use loopgate_api::test_evidence::TestOutcome;
use loopgate_api::usd::Usd;
use loopgate_code_review::finding::{Finding, IssueSeverity};
use loopgate_code_review::validation::Validation;
use loopgate_evidence::{CompletedRun, compare, diff_flags, run_flags};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::challenge::is_confirmed;
use super::change;
use super::session::{ReviewSession, ReviewSessionId, last_completed};
use crate::console::{print_error, print_line};
use crate::loop_run::{self, stop};
use crate::model_calls::{CallOutcome, IsolatedAssistant, LimitWait, data_mark, mark_data};
use crate::plan::test_run::{self, TestJob};
use crate::project_git::BlockingGit;

const TASK: &str = include_str!("../../../../plugins/code-review/reviewers/fix.md");
/// Model that corrects findings.
const MODEL: &str = "sonnet";
/// File with what became of each finding.
pub const RESULT: &str = "fix_result.json";
/// Exit code of an interrupted fix.
const INTERRUPTED: u8 = 130;
/// Characters of an answer that are kept as the reason.
const REASON_CHARS: usize = 500;

/// Arguments of `code-review fix`.
#[derive(Debug, clap::Args)]
pub struct FixArgs {
    /// Id or directory of the session [default: that of the review that was completed last]
    #[arg(value_name = "SESSION")]
    session: Option<PathBuf>,
    /// Spending limit in US dollars for all corrections together; 0 is no limit
    #[arg(long, value_name = "USD")]
    max_budget_usd: Option<Usd>,
    /// Wait for the end of a usage limit of the assistant's account, as loops do
    #[arg(long)]
    wait_for_limits: bool,
    /// Directory in the repository
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    workdir: PathBuf,
}

/// Corrections to make.
#[derive(Debug, Clone)]
pub struct FixRun {
    /// Directory in the repository.
    pub dir: PathBuf,
    /// `None`: that of the review that was completed last.
    pub session: Option<ReviewSessionId>,
    /// Spending limit of all calls together; `None` without one.
    pub limit: Option<Usd>,
    pub assistant: OsString,
    pub env: BTreeMap<OsString, OsString>,
    /// `None` ends the fix at a usage limit.
    pub wait: Option<LimitWait>,
    pub stop: CancellationToken,
}

/// How a fix ended.
#[derive(Debug)]
pub struct EndedFix {
    pub cost: Usd,
    pub outcome: FixOutcome,
}

#[derive(Debug)]
pub enum FixOutcome {
    Completed(FixResult),
    Interrupted,
    /// Message for the user.
    Failed(String),
}

/// Content of `fix_result.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FixResult {
    /// BLOCKING and HIGH findings of the review, those of them that were confirmed, and those that were corrected.
    pub received: usize,
    pub confirmed: usize,
    pub fixed: usize,
    /// What became of each received finding.
    pub findings: Vec<FixedFinding>,
    /// Command with which the corrections were tested; `None` if the repository has none.
    pub test_command: Option<String>,
    pub cost_usd: Usd,
}

/// What became of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedFinding {
    pub file: String,
    pub line: Option<u64>,
    pub severity: IssueSeverity,
    pub issue: String,
    pub state: FixState,
    /// Reason for the state, or what was changed.
    pub reason: String,
}

/// State of a finding after a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixState {
    Fixed,
    /// The correction made a test fail, or weakened one.
    TakenBack,
    /// No file was changed.
    Unchanged,
    /// There was no attempt, or it failed.
    Failed,
    /// The second reviewer has not confirmed the finding.
    NotConfirmed,
}

/// Runs the command to its end. Creates an async runtime, so it must not be called from within one.
pub fn run(args: &FixArgs) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
        runtime.block_on(async {
            let stop = CancellationToken::new();
            stop::on_signals(stop.clone()).map_err(|error| error.to_string())?;
            let name =
                args.session.as_deref().map(|path| path.file_name().unwrap_or_default().to_string_lossy());
            let run = FixRun {
                dir: args.workdir.clone(),
                session: name.map(|name| name.parse()).transpose()?,
                limit: args.max_budget_usd.filter(|usd| !usd.is_zero()),
                assistant: loop_run::assistant(),
                env: loop_run::environment(),
                wait: args.wait_for_limits.then(LimitWait::of_environment),
                stop,
            };
            Ok(run.run().await)
        })
    });
    match ended.map(|ended| ended.outcome) {
        Ok(FixOutcome::Completed(result)) => {
            print_line(result.text());
            ExitCode::SUCCESS
        }
        Ok(FixOutcome::Interrupted) => {
            print_error("The fix was interrupted. Corrections that were tested are kept.");
            ExitCode::from(INTERRUPTED)
        }
        Ok(FixOutcome::Failed(message)) | Err(message) => {
            print_error(format!("Error: {message}"));
            ExitCode::FAILURE
        }
    }
}

impl FixResult {
    /// Returns the report.
    pub fn text(&self) -> String {
        if self.received == 0 {
            return "No actionable findings. Review complete.".to_owned();
        }
        let mut text = String::new();
        for FixedFinding { file, line, issue, state, reason, .. } in &self.findings {
            let state = serde_json::to_value(state).unwrap_or_default();
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            let entry = format!("{}: {file}{line} {issue} ({reason})", state.as_str().unwrap_or_default());
            let _ = writeln!(text, "{}", escape_control(&entry));
        }
        let tests = match &self.test_command {
            Some(command) => format!("tested with `{command}`"),
            None => "not tested: the repository has no test command".to_owned(),
        };
        let _ = write!(
            text,
            "{} findings, {} confirmed, {} fixed; {tests}; cost ${:.2}",
            self.received, self.confirmed, self.fixed, self.cost_usd
        );
        text
    }
}

impl FixRun {
    /// Corrects the findings.
    pub async fn run(&self) -> EndedFix {
        let mut result = FixResult::default();
        let ended = self.fix(&mut result).await;
        let outcome = match ended {
            _ if self.stop.is_cancelled() => FixOutcome::Interrupted,
            Ok(()) => FixOutcome::Completed(result.clone()),
            Err(message) => FixOutcome::Failed(message),
        };
        EndedFix { cost: result.cost_usd, outcome }
    }

    async fn fix(&self, result: &mut FixResult) -> Result<(), String> {
        let (dir, id) = (self.dir.clone(), self.session.clone());
        // Git and the tests wait with runtimes of their own, which cannot be nested.
        let (root, session) = blocking(move || {
            let root = change::root(&BlockingGit::new()?, &dir)?;
            let id = id.or_else(|| last_completed(&root));
            let id = id.ok_or("No code review session found. Run a code review first.")?;
            let session = ReviewSession::existing(&root, &id)?;
            Ok((root, session))
        })
        .await?;
        let validation: Option<Validation> = session.read_json("validate_output.json");
        let validation =
            validation.ok_or_else(|| format!("The review {} is not complete. Run it again.", session.id))?;
        let is_severe =
            |finding: &Finding| matches!(finding.severity, IssueSeverity::Blocking | IssueSeverity::High);
        let received: Vec<Finding> = validation.validated.into_iter().filter(is_severe).collect();
        result.received = received.len();
        let (confirmed, others): (Vec<Finding>, Vec<Finding>) = received.into_iter().partition(is_confirmed);
        result.confirmed = confirmed.len();
        result.add(&others, FixState::NotConfirmed, "no second reviewer has confirmed it");
        let ended = if confirmed.is_empty() {
            Ok(())
        } else {
            self.correct(&root, &session, confirmed, result).await
        };
        session.write_json(RESULT, result)?;
        ended
    }

    async fn correct(
        &self,
        root: &Path,
        session: &ReviewSession,
        confirmed: Vec<Finding>,
        result: &mut FixResult,
    ) -> Result<(), String> {
        let mut by_file: Vec<(String, Vec<Finding>)> = Vec::new();
        for finding in confirmed {
            match by_file.iter_mut().find(|(file, _)| *file == finding.file) {
                Some((_, findings)) => findings.push(finding),
                None => by_file.push((finding.file.clone(), vec![finding])),
            }
        }
        let mut tests = RepositoryTests::before(root, session.directory(), &self.stop).await?;
        result.test_command.clone_from(&tests.command);
        let assistant = IsolatedAssistant::new(
            self.assistant.clone(),
            self.env.clone(),
            self.wait.clone(),
            self.stop.clone(),
        )
        .map_err(|error| error.to_string())?;
        let mut end = None;
        for (file, findings) in by_file {
            let left = self.limit.map(|limit| limit.saturating_sub(result.cost_usd));
            if end.is_none() && left.is_some_and(Usd::is_zero) {
                end = Some("the spending limit is reached".to_owned());
            }
            if let Some(reason) = &end {
                result.add(&findings, FixState::Failed, reason);
                continue;
            }
            let before = tests.snapshot().await?;
            let request = request(&file, &findings);
            let call = assistant.edit(MODEL, &request, root, left).await;
            result.cost_usd += call.cost;
            let answer = match call.outcome {
                CallOutcome::Answer(text) => Ok(redact::shorten(&redact::message(text.trim()), REASON_CHARS)),
                CallOutcome::Oversized => Ok("the answer is too long to be shown".to_owned()),
                CallOutcome::Failed(reason) => Err(reason),
                CallOutcome::Fatal(reason) => {
                    end = Some(reason.clone());
                    Err(reason)
                }
                CallOutcome::Stopped => {
                    end = Some("the fix was interrupted".to_owned());
                    Err("the fix was interrupted".to_owned())
                }
            };
            let (state, reason) = match answer {
                Ok(answer) => tests.judge(&before, answer).await?,
                Err(reason) => {
                    // A part of a correction is none.
                    tests.take_back(&before).await?;
                    (FixState::Failed, reason)
                }
            };
            result.add(&findings, state, &reason);
        }
        match end {
            Some(reason) if !self.stop.is_cancelled() => Err(reason),
            _ => Ok(()),
        }
    }
}

impl FixResult {
    fn add(&mut self, findings: &[Finding], state: FixState, reason: &str) {
        if state == FixState::Fixed {
            self.fixed += findings.len();
        }
        self.findings.extend(findings.iter().map(|finding| FixedFinding {
            file: finding.file.clone(),
            line: finding.line,
            severity: finding.severity.clone(),
            issue: finding.issue.clone(),
            state,
            reason: reason.to_owned(),
        }));
    }
}

fn request(file: &str, findings: &[Finding]) -> String {
    let mut list = String::new();
    for finding in findings {
        let document = json!({"file": file, "line": finding.line, "code": finding.code_snippet, "title": finding.issue,
            "explanation": finding.explanation, "recommendation": finding.recommendation});
        let _ = writeln!(list, "{document}");
    }
    let documents = [("faults".to_owned(), list)];
    let mark = data_mark(&documents);
    let mut text = format!("{}\n\nData is between two lines with the mark {mark}.\n", TASK.trim());
    mark_data(&mut text, &mark, &documents);
    text
}

/// The tests of the repository, and the last run of them that is the base of the next comparison.
struct RepositoryTests {
    root: PathBuf,
    /// Directory that receives the logs.
    logs: PathBuf,
    /// `None` if the repository has no command.
    command: Option<String>,
    base: Option<CompletedRun>,
    runs: usize,
    stop: CancellationToken,
}

impl RepositoryTests {
    /// Runs the tests before the first correction.
    async fn before(root: &Path, logs: &Path, stop: &CancellationToken) -> Result<Self, String> {
        let place = root.to_owned();
        let command = blocking(move || Ok(test_run::command_of(&BlockingGit::new()?, &place))).await?;
        let (root, logs, stop) = (root.to_owned(), logs.to_owned(), stop.clone());
        let mut tests = Self { root, logs, command, base: None, runs: 0, stop };
        let tree = tests.snapshot().await?;
        tests.base = tests.run(tree).await?;
        Ok(tests)
    }

    async fn snapshot(&self) -> Result<String, String> {
        let root = self.root.clone();
        blocking(move || {
            BlockingGit::new()?.snapshot(&root).ok_or_else(|| "git cannot read the working tree".to_owned())
        })
        .await
    }

    async fn run(&mut self, tree: String) -> Result<Option<CompletedRun>, String> {
        let Some(command) = self.command.clone() else { return Ok(None) };
        let (root, logs, stop, log) =
            (self.root.clone(), self.logs.clone(), self.stop.clone(), format!("fix-{}", self.runs));
        self.runs += 1;
        blocking(move || {
            TestJob { workdir: &logs, dir: &root, command: &command, tree, log, stop: &stop }
                .run(&[])
                .map(Some)
        })
        .await
    }

    /// Decides about a correction, and takes it back if necessary.
    async fn judge(&mut self, before: &str, answer: String) -> Result<(FixState, String), String> {
        let after = self.snapshot().await?;
        if after == before {
            return Ok((FixState::Unchanged, answer));
        }
        let (root, from, to) = (self.root.clone(), before.to_owned(), after.clone());
        let patch = blocking(move || {
            BlockingGit::new()?
                .patch_between(&root, &from, &to)
                .ok_or_else(|| "git cannot compare the files".to_owned())
        })
        .await?;
        let flags = diff_flags(&patch);
        if let Some(flag) = flags.first() {
            self.take_back(before).await?;
            return Ok((FixState::TakenBack, format!("it weakens a test: {}", flag.detail)));
        }
        let run = match self.run(after).await {
            Ok(run) => run,
            Err(message) => {
                self.take_back(before).await?;
                return Err(message);
            }
        };
        if let (Some(base), Some(head), Some(command)) = (&self.base, &run, &self.command) {
            let comparison = compare(command, base, head);
            let lost = run_flags(base, head, &flags);
            let reason = match comparison.outcome {
                TestOutcome::NewFailures => {
                    Some(format!("tests fail after it: {}", comparison.new_failures.join(", ")))
                }
                TestOutcome::Inconclusive => comparison.note,
                _ => lost.first().map(|flag| format!("a test no longer runs: {}", flag.detail)),
            };
            if let Some(reason) = reason {
                self.take_back(before).await?;
                return Ok((FixState::TakenBack, reason));
            }
        }
        self.base = run.or(self.base.take());
        Ok((FixState::Fixed, answer))
    }

    /// Restores the files as they were.
    async fn take_back(&self, before: &str) -> Result<(), String> {
        let (root, before) = (self.root.clone(), before.to_owned());
        blocking(move || {
            let git = BlockingGit::new()?;
            let failed = || "a correction cannot be taken back; look at the working tree".to_owned();
            let current = git.snapshot(&root).ok_or_else(failed)?;
            let changed: BTreeSet<String> = git.changed_names(&root, &before, &current).ok_or_else(failed)?;
            if changed.is_empty() {
                return Ok(());
            }
            let paths: Vec<String> = changed.iter().map(|path| format!(":(top,literal){path}")).collect();
            git.restore(&root, &before, &paths).ok_or_else(failed)?;
            if git.snapshot(&root).as_deref() == Some(before.as_str()) { Ok(()) } else { Err(failed()) }
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests;
