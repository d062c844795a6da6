//! `loopgate plan …`: deterministic operations on a plan, called by the prompts.
//!
//! Users and models write `plan.md`; `plan.json` is the same plan for programs. Building one from the other,
//! validating both, ticking a task and setting the phase happen here. Each operation holds one lock and
//! writes files atomically, so that subagents may work concurrently.

#[cfg(test)]
mod acceptance_tests;
mod amend;
mod blocked;
mod build;
mod common_text;
mod document;
pub(crate) mod evaluation;
mod markdown;
mod paths;
mod rounds;
mod state;
pub(crate) mod structure;
mod sync;
mod task_changes;
mod task_report;
mod text_check;
mod tick;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::names::PLAN_MD;
use loopgate_home::untrusted;
use serde_json::{Map, Value};

use crate::console::print_result;
use crate::hook::answers;

pub use amend::AmendCommand;
pub(crate) use amend::prepare as prepare_amendment;
pub use state::SetStateArgs;
pub(crate) use state::{await_user, record_phase, set_waiting_until};
pub(crate) use task_report::says_blocked;

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
    /// List the files that have changed since the start of a task
    Changed(ChangedArgs),
    /// Restore files as they were at the start of a task
    Restore(RestoreArgs),
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

/// Arguments of `plan changed`.
#[derive(Debug, clap::Args)]
pub struct ChangedArgs {
    /// Task whose start was recorded by set-state, for example T-1.2
    #[arg(long)]
    since_task: String,
    /// Print a patch instead of the list
    #[arg(long)]
    patch: bool,
    #[command(flatten)]
    place: WorkdirArgs,
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
            Self::Tick(args) => tick::tick(&args.place.workdir, &args.task),
            Self::Sync(args) => sync(&args.workdir),
            Self::Report(args) => task_report::apply(&args.place.workdir, &args.task),
            Self::Changed(args) => task_changes::since(&args.place.workdir, &args.since_task, args.patch),
            Self::Restore(args) => task_changes::restore(&args.place.workdir, &args.task, &args.paths),
            Self::Round(args) => rounds::next(&args.place.workdir, &args.step, args.max),
            Self::Evaluate(args) => evaluation::evaluate(&args.workdir),
            Self::Amend(command) => command.apply(),
            Self::SetState(args) => args.apply(),
        };
        print_result(result)
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

/// Deletes the records of an earlier loop on a work directory: its rounds, the trees of its tasks, and its
/// blocked tasks.
///
/// # Errors
/// Returns the line to print.
pub(crate) fn start_over(workdir: &Path) -> Result<(), String> {
    for record in [rounds::record(workdir), task_changes::record(workdir)] {
        match untrusted::remove(&record) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("Error: cannot remove {}: {error}", record.display()));
            }
            _ => {}
        }
    }
    answers::clear(workdir)
        .map_err(|error| format!("Error: cannot remove the answers of agents: {error}"))?;
    task_report::unblock_all(workdir)
}

/// Reads the plan of a work directory. `None` when it is missing or invalid.
pub(crate) fn read(workdir: &Path) -> Option<Map<String, Value>> {
    document::read(&paths::plan_path(workdir)).ok()
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
