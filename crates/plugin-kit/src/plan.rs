//! `loopgate plan …`: what the prompts do with a plan, done by code.
//!
//! `plan.md` is what people and models write; `plan.json` is the same plan for programs. Building one
//! from the other, judging both, ticking a task and setting the phase happen here, each under one lock
//! and in one step, so that subagents may work at the same time.

mod build;
mod document;
mod markdown;
mod paths;
mod state;
pub(crate) mod structure;
mod text_check;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopgate_api::names::PLAN_MD;

use crate::console::{print_error, print_line};

pub use state::SetStateArgs;

/// Tools for the plan of a work directory.
#[derive(Debug, clap::Subcommand)]
pub enum PlanCommand {
    /// Make plan.json from plan.md
    Build(WorkdirArgs),
    /// Judge the structure of plan.json; prints one JSON object
    Validate(ValidateArgs),
    /// Judge the text of a plan against its requirements; the gate of a drafting agent
    Check(CheckArgs),
    /// Write plan.md and open-questions.md from a plan.json
    ExtractMd(ExtractArgs),
    /// Mark a task as done in plan.json and plan.md
    Tick(TickArgs),
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
pub struct ValidateArgs {
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

/// Arguments of `plan tick`.
#[derive(Debug, clap::Args)]
pub struct TickArgs {
    /// Task, for example T-1.2
    task: String,
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
            Self::Tick(args) => document::tick(&args.place.workdir, &args.task),
            Self::SetState(args) => args.apply(),
        };
        match result {
            Ok(text) => {
                print_line(text);
                ExitCode::SUCCESS
            }
            Err(message) => {
                print_error(message);
                ExitCode::FAILURE
            }
        }
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

/// Judges the text of the plan of a work directory; the first line is the judgement.
pub(crate) fn check(prd: &Path, workdir: &Path) -> String {
    text_check::report(prd, workdir)
}
