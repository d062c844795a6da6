//! `loopgate plan …`: deterministic operations on a plan, called by the prompts.
//!
//! Users and models write `plan.md`; `plan.json` is the same plan for programs. Building one from the other,
//! validating both, ticking a task and setting the phase happen here. Each operation holds one lock and
//! writes files atomically, so that subagents may work concurrently.

#[cfg(test)]
mod acceptance_tests;
mod agreement;
mod amend;
mod blocked;
mod brief;
mod build;
mod common_text;
mod corrections;
mod delivery_request;
mod document;
pub(crate) mod evaluation;
mod markdown;
mod paths;
mod proof;
mod review_answer;
mod rounds;
mod scratch_copy;
mod state;
mod statements;
pub(crate) mod structure;
mod sync;
mod task_changes;
mod task_report;
pub(crate) mod test_run;
mod text_check;
mod tick;
mod validation;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::names::PLAN_MD;
use loopgate_home::untrusted;
use serde_json::{Map, Value};

use crate::console::print_result;
use crate::hook::answers;
use crate::loop_run::WORK_RECORD;
use crate::quoting::quote;

pub(crate) use agreement::{changed_tasks, completed_in_loop, is_recorded, record_completed};
pub use amend::AmendCommand;
pub(crate) use amend::prepare as prepare_amendment;
pub(crate) use corrections::of_answers as corrections_of_answers;
pub(crate) use document::PlanLock;
pub use review_answer::AnswerArgs;
pub use state::SetStateArgs;
pub(crate) use state::{await_user, record_phase, set_waiting_until};
pub(crate) use statements::AgentStatement;
pub(crate) use task_changes::{START, record_loop_start, start_trees};
pub(crate) use task_report::{says_stuck, task_of_answer};

/// Tools for the plan of a work directory.
#[derive(Debug, clap::Subcommand)]
pub enum PlanCommand {
    /// Build plan.json from plan.md
    Build(WorkdirArgs),
    /// Validate the structure of plan.json and print the report as a JSON object
    Validate(ValidatePlanArgs),
    /// Check the text of a plan; the gate of a drafting agent
    Check(CheckArgs),
    /// Write plan.md and open-questions.md from a plan.json
    ExtractMd(ExtractArgs),
    /// Mark a task as done in plan.json and plan.md
    Tick(TickArgs),
    /// Synchronize plan.json and plan.md after one of them was edited
    Sync(WorkdirArgs),
    /// Apply the last answer of a subagent about a task: tick the task, or record why it is blocked
    Report(TickArgs),
    /// Write what an agent has to know about a task, or about the whole `change`, and print the path of the file
    Brief(BriefArgs),
    /// List the files that have changed since the start of a task or of the loop
    Changed(ChangedArgs),
    /// Restore files as they were at the start of a task
    Restore(RestoreArgs),
    /// Run a command for a task and record its exit code and output
    Run(RunArgs),
    /// Run the tests of a task on the files at its start, where they must fail, and on the current files
    Prove(TickArgs),
    /// Answer a comment of a review, and list the comments without an answer
    Answer(AnswerArgs),
    /// Run the project's tests before anything is changed, and record the results
    Baseline(WorkdirArgs),
    /// Run the project's tests and compare them with the baseline
    Test(WorkdirArgs),
    /// Count a round of a step that may be repeated up to a limit
    Round(RoundArgs),
    /// Print whether the plan is small, and which critics review it
    Evaluate(WorkdirArgs),
    /// Record the conversation about changes of a plan, and apply them
    #[command(subcommand)]
    Amend(AmendCommand),
    /// Write state.json: phase, status, and the requested action of the user
    SetState(SetStateArgs),
}

/// Argument that selects the work directory.
#[derive(Debug, clap::Args)]
pub struct WorkdirArgs {
    /// Work directory of the loop
    #[arg(env = "LOOPGATE_WORKDIR")]
    workdir: PathBuf,
}

/// Arguments of `plan validate`.
#[derive(Debug, clap::Args)]
pub struct ValidatePlanArgs {
    #[command(flatten)]
    place: WorkdirArgs,
}

/// Arguments of `plan check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Requirements file, usually prd.md
    prd: PathBuf,
    #[command(flatten)]
    place: WorkdirArgs,
}

/// Arguments of `plan extract-md`.
#[derive(Debug, clap::Args)]
pub struct ExtractArgs {
    /// Plan file, with the ending .json
    plan: PathBuf,
}

/// Arguments of `plan tick` and `plan report`.
#[derive(Debug, clap::Args)]
pub struct TickArgs {
    /// Task, for example T-1.2
    task: String,
    #[command(flatten)]
    place: WorkdirArgs,
}

/// Arguments of `plan brief`.
#[derive(Debug, clap::Args)]
pub struct BriefArgs {
    /// Task, for example T-1.2, or `change`
    subject: String,
    #[command(flatten)]
    place: WorkdirArgs,
}

/// Arguments of `plan changed`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("start").required(true))]
pub struct ChangedArgs {
    /// Task whose start was recorded by set-state, for example T-1.2
    #[arg(long, group = "start")]
    since_task: Option<String>,
    /// Compare with the files at the start of the loop
    #[arg(long, group = "start")]
    since_start: bool,
    /// Write a patch as well, and print its path first
    #[arg(long)]
    patch: bool,
    #[command(flatten)]
    place: WorkdirArgs,
}

/// Arguments of `plan run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Task whose start was recorded by set-state, for example T-1.2
    task: String,
    /// Work directory of the loop
    #[arg(long, env = "LOOPGATE_WORKDIR")]
    workdir: PathBuf,
    /// Command with its arguments; a single word is run by a shell
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Arguments of `plan restore`.
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// Task whose start was recorded by set-state, for example T-1.2
    task: String,
    /// Files or directories to restore, relative to the project [default: all]
    #[arg(long = "path")]
    paths: Vec<String>,
    #[command(flatten)]
    place: WorkdirArgs,
}

/// Arguments of `plan round`.
#[derive(Debug, clap::Args)]
pub struct RoundArgs {
    /// Name of the step, for example validation
    step: String,
    /// Maximum number of rounds
    #[arg(long)]
    max: u32,
    #[command(flatten)]
    place: WorkdirArgs,
}

impl PlanCommand {
    /// Runs the command. Exits with 0, or with 1 and the reason on standard error.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let result = match self {
            Self::Build(args) => build::build(&args.workdir),
            Self::Validate(args) => Ok(structure::report(&args.place.workdir).to_string()),
            Self::Check(args) => Ok(text_check::report(&args.prd, &args.place.workdir)),
            Self::ExtractMd(args) => extract(&args.plan),
            Self::Tick(args) => tick::complete(&args.place.workdir, &args.task),
            Self::Sync(args) => sync(&args.workdir),
            Self::Report(args) => task_report::apply(&args.place.workdir, &args.task),
            Self::Brief(args) => brief::write(&args.place.workdir, &args.subject),
            Self::Changed(args) => args.apply(),
            Self::Restore(args) => task_changes::restore(&args.place.workdir, &args.task, &args.paths),
            Self::Run(args) => proof::run(&args.workdir, &args.task, &args.shell_command()),
            Self::Prove(args) => proof::prove(&args.place.workdir, &args.task),
            Self::Answer(args) => args.apply(),
            Self::Baseline(args) => validation::baseline(&args.workdir),
            Self::Test(args) => validation::validate(&args.workdir),
            Self::Round(args) => rounds::next(&args.place.workdir, &args.step, args.max),
            Self::Evaluate(args) => evaluation::evaluate(&args.workdir),
            Self::Amend(command) => command.apply(),
            Self::SetState(args) => args.apply(),
        };
        print_result(result)
    }
}

impl ChangedArgs {
    fn apply(&self) -> Result<String, String> {
        let start = self.since_task.as_deref().unwrap_or(task_changes::START);
        if self.patch {
            task_changes::write_patch(&self.place.workdir, start)
        } else {
            task_changes::list(&self.place.workdir, start)
        }
    }
}

impl RunArgs {
    fn shell_command(&self) -> String {
        match self.command.as_slice() {
            [line] => line.clone(),
            words => words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
        }
    }
}

fn extract(path: &Path) -> Result<String, String> {
    // The mirrors are written next to the file, so a wrong argument would overwrite a plan.md there.
    if path.extension().is_none_or(|ending| ending != "json") {
        return Err(format!("Error: not a .json file: {}", path.display()));
    }
    let plan = document::read(path)?;
    let dir = path.parent().unwrap_or(Path::new("."));
    document::write_mirrors(dir, &plan)?;
    Ok(format!("Wrote {}", dir.join(PLAN_MD).display()))
}

/// Synchronizes `plan.json` and `plan.md` of a work directory and returns the line to print.
///
/// # Errors
/// Returns the line to print.
pub(crate) fn sync(workdir: &Path) -> Result<String, String> {
    sync::sync(workdir).map(|outcome| outcome.to_string())
}

/// Deletes the records of an earlier loop on a work directory: its rounds, the trees and the evidence of its tasks, and its
/// blocked tasks. Derives the lists of the plan from its text, and records which tasks are completed already: those of an
/// earlier loop, if a checking agent completed them.
///
/// # Errors
/// Returns the line to print.
pub(crate) fn start_over(workdir: &Path) -> Result<(), String> {
    if is_recorded(workdir) && sync::is_unchanged(workdir) {
        // A loop that was killed could not take back its unchecked ticks.
        agreement::reopen_unchecked(workdir, None)?;
    }
    for record in [rounds::record(workdir), task_changes::record(workdir), proof::record(workdir)] {
        match untrusted::remove(&record) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("Error: cannot remove {}: {error}", record.display()));
            }
            _ => {}
        }
    }
    answers::clear(workdir)
        .map_err(|error| format!("Error: cannot remove the answers of agents: {error}"))?;
    task_report::unblock_all(workdir)?;
    sync::derive_lists(workdir)?;
    record_completed(workdir)
}

/// Reads the plan of a work directory. `None` when it is missing or invalid.
pub(crate) fn read(workdir: &Path) -> Option<Map<String, Value>> {
    document::read(&paths::plan_path(workdir)).ok()
}

/// Brings the plan in line with the answers of agents after an iteration: reopens tasks that were ticked without one,
/// and blocks tasks that are stuck. `statements` are the answers in the assistant's stream so far. Returns the reopened
/// tasks.
///
/// # Errors
/// Returns the line to print.
pub(crate) fn settle(workdir: &Path, statements: &[AgentStatement]) -> Result<Vec<String>, String> {
    task_report::block_stuck(workdir)?;
    agreement::reopen_unchecked(workdir, Some(statements))
}

/// Files with the learnings of a user. An agent that could write them could teach other repositories.
const PATTERN_FILES: [&str; 2] = ["org-patterns.toon", "pattern-records.json"];

/// Returns whether a path is a record that only Loopgate and the user write, because it decides about the completion of
/// tasks, or is learned in all loops.
pub(crate) fn is_record(path: &Path) -> bool {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str);
    answers::is_record(path)
        || name.is_some_and(|name| {
            [agreement::AGREEMENT, task_changes::RECORD, proof::EVIDENCE, WORK_RECORD].contains(&name)
                || PATTERN_FILES.contains(&name)
        })
}

/// Lists the pending tasks with their reasons, one line each, if all pending tasks are blocked.
pub(crate) fn all_blocked(workdir: &Path) -> Option<Vec<String>> {
    let plan = read(workdir)?;
    let tasks = blocked::blocked(&plan);
    // One task that is not blocked is enough to continue.
    let all = !tasks.is_empty() && tasks.len() == document::tasks(&plan, "pendingTasks").len();
    let text =
        |task: &Value, name: &str| task.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    all.then(|| tasks.iter().map(|task| format!("{}: {}", text(task, "id"), text(task, "reason"))).collect())
}

/// Checks the text of a work directory's plan. The first line of the report is the result.
pub(crate) fn check(prd: &Path, workdir: &Path) -> String {
    text_check::report(prd, workdir)
}
