//! `loopgate plan …`: what the prompts do with a plan, done by code.
//!
//! `plan.md` is what people and models write; `plan.json` is the same plan for programs. Building one
//! from the other, judging both, ticking a task and setting the phase happen here, each under one lock
//! and in one step, so that subagents may work at the same time.

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

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::names::PLAN_MD;
use loopgate_home::untrusted;
use serde_json::{Map, Value};

use crate::console::print_result;

pub use amend::AmendCommand;
pub use state::SetStateArgs;
pub(crate) use state::{await_user, record_phase, set_waiting_until};
pub(crate) use task_report::says_blocked;

/// Longest answer of a subagent that is read.
const ANSWER_CAP: u64 = 1024 * 1024;

/// Tools for the plan of a work directory.
#[derive(Debug, clap::Subcommand)]
pub enum PlanCommand {
    /// Make plan.json from plan.md
    Build(WorkdirArgs),
    /// Judge the structure of plan.json; prints one JSON object
    Validate(ValidatePlanArgs),
    /// Judge the text of a plan against its requirements; the gate of a drafting agent
    Check(CheckArgs),
    /// Write plan.md and open-questions.md from a plan.json
    ExtractMd(ExtractArgs),
    /// Mark a task as done in plan.json and plan.md
    Tick(TickArgs),
    /// Bring plan.json and plan.md together after one of them was changed alone
    Sync(WorkdirArgs),
    /// Take the answer of a subagent about a task from standard input: tick the task, or keep why it is blocked
    Report(TickArgs),
    /// List the files that have changed since a task began
    Changed(ChangedArgs),
    /// Count a round of a step that is repeated up to a limit
    Round(RoundArgs),
    /// Say whether the plan is small, and which critics it gets
    Evaluate(WorkdirArgs),
    /// Keep the conversation about changes of a plan, and apply them
    #[command(subcommand)]
    Amend(AmendCommand),
    /// Write state.json: phase, status, and what the user should do
    SetState(SetStateArgs),
}

/// A work directory.
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
    /// Taken for compatibility; the structure is built in
    #[arg(long, hide = true)]
    schema_path: Option<PathBuf>,
}

/// Arguments of `plan check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Requirements file
    prd: PathBuf,
    #[command(flatten)]
    place: WorkdirArgs,
}

/// Arguments of `plan extract-md`.
#[derive(Debug, clap::Args)]
pub struct ExtractArgs {
    /// The plan
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
    /// Task that has begun, for example T-1.2
    #[arg(long)]
    since_task: String,
    /// Print the patch instead
    #[arg(long)]
    patch: bool,
    #[command(flatten)]
    place: WorkdirArgs,
}

/// Arguments of `plan round`.
#[derive(Debug, clap::Args)]
pub struct RoundArgs {
    /// Name of the step, for example validation
    step: String,
    /// Rounds at most
    #[arg(long)]
    max: u32,
    #[command(flatten)]
    place: WorkdirArgs,
}

impl PlanCommand {
    /// Runs the tool; 0, or 1 with the reason on standard error.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let result = match self {
            Self::Build(args) => build::build(&args.workdir),
            Self::Validate(args) => {
                let _ = args.schema_path;
                Ok(structure::report(&args.place.workdir).to_string())
            }
            Self::Check(args) => Ok(text_check::report(&args.prd, &args.place.workdir)),
            Self::ExtractMd(args) => extract(&args.plan),
            Self::Tick(args) => tick::tick(&args.place.workdir, &args.task),
            Self::Sync(args) => sync(&args.workdir),
            Self::Report(args) => report(&args),
            Self::Changed(args) => task_changes::since(&args.place.workdir, &args.since_task, args.patch),
            Self::Round(args) => rounds::next(&args.place.workdir, &args.step, args.max),
            Self::Evaluate(args) => evaluation::evaluate(&args.workdir),
            Self::Amend(command) => command.apply(),
            Self::SetState(args) => args.apply(),
        };
        print_result(result)
    }
}

fn extract(path: &Path) -> Result<String, String> {
    if path.extension().is_none_or(|ending| ending != "json") {
        return Err(format!("Error: not a .json file: {}", path.display()));
    }
    let plan = document::read(path)?;
    let dir = path.parent().unwrap_or(Path::new("."));
    document::write_mirrors(dir, &plan)?;
    Ok(format!("Wrote {}", dir.join(PLAN_MD).display()))
}

/// Brings the plan of a work directory and its text together; the line to print.
///
/// # Errors
/// The line to print.
pub(crate) fn sync(workdir: &Path) -> Result<String, String> {
    sync::sync(workdir).map(|outcome| outcome.to_string())
}

fn report(args: &TickArgs) -> Result<String, String> {
    let mut answer = String::new();
    std::io::stdin()
        .take(ANSWER_CAP)
        .read_to_string(&mut answer)
        .map_err(|error| format!("Error: cannot read the answer: {error}"))?;
    task_report::apply(&args.place.workdir, &args.task, &answer)
}

/// Forgets what an earlier loop on a work directory counted and recorded: its rounds, the trees of its tasks,
/// and which tasks were blocked.
///
/// # Errors
/// The line to print.
pub(crate) fn start_over(workdir: &Path) -> Result<(), String> {
    for record in [rounds::record(workdir), task_changes::record(workdir)] {
        match untrusted::remove(&record) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("Error: cannot remove {}: {error}", record.display()));
            }
            _ => {}
        }
    }
    task_report::unblock_all(workdir)
}

/// The plan of a work directory, when there is one that can be read.
pub(crate) fn read(workdir: &Path) -> Option<Map<String, Value>> {
    document::read(&paths::plan_path(workdir)).ok()
}

/// The pending tasks of a work directory's plan, a line each with the reason, when all of them are blocked.
pub(crate) fn all_blocked(workdir: &Path) -> Option<Vec<String>> {
    let plan = read(workdir)?;
    let tasks = blocked::blocked(&plan);
    let all = !tasks.is_empty() && tasks.len() == document::tasks(&plan, "pendingTasks").len();
    let text =
        |task: &Value, name: &str| task.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    all.then(|| tasks.iter().map(|task| format!("{}: {}", text(task, "id"), text(task, "reason"))).collect())
}

/// Judges the text of the plan of a work directory; the first line is the judgement.
pub(crate) fn check(prd: &Path, workdir: &Path) -> String {
    text_check::report(prd, workdir)
}
