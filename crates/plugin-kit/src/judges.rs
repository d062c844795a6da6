//! `loopgate judges …`: commands of the skill that runs the judges.

mod answer;
mod compression;
mod context;
mod envelope;
mod evaluation;
mod own_judges;
mod paid_answers;
mod preparation;
mod project;
mod prompt;
mod quotation;
mod report;
mod requirements;
mod rules;
mod runner;
mod scoring;
mod snapshot;
mod table;
mod thresholds;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use loopgate_api::names::{PLAN_JSON, PLAN_MD};
use loopgate_api::usd::Usd;
use loopgate_home::untrusted;
use serde::Deserialize;

use crate::console::print_result;
use crate::variables as var;

pub(crate) use compression::tokens;
pub(crate) use quotation::ArtifactTexts;
pub use table::{JUDGES, Judge, JudgeModel, ScoringFamily};

/// Tools for the reports of judges.
#[derive(Debug, clap::Subcommand)]
pub enum JudgesCommand {
    /// Check `judge-input.json` and the files that it names, before judges start
    CheckInput(CheckInputArgs),
    /// Collect the documents that judges of a plan or of code read, within 30,000 tokens
    Context(ContextArgs),
    /// Compute the scores from the judges' answers and write the report
    Report(WriteReportArgs),
    /// Ask the judges of a category through the assistant, and write the report
    Run(RunJudgesArgs),
    /// Validate the format of a report and that it contains every judge of its category
    Validate(ValidateReportArgs),
    /// Copy the judges' prompts into the work directory at the start of a run
    Snapshot(SnapshotArgs),
}

/// Arguments of `judges check-input`.
#[derive(Debug, clap::Args)]
pub struct CheckInputArgs {
    /// Work directory of the run
    #[arg(long)]
    workdir: PathBuf,
    /// Kind of the judged object, with which the file must agree [default: any]
    #[arg(long, value_enum)]
    category: Option<Category>,
}

/// Arguments of `judges context`.
#[derive(Debug, clap::Args)]
pub struct ContextArgs {
    /// Work directory of the run
    #[arg(long)]
    workdir: PathBuf,
    /// Kind of the judged object: plan or code
    #[arg(long, value_enum)]
    category: Category,
}

/// Arguments of `judges report`.
#[derive(Debug, clap::Args)]
pub struct WriteReportArgs {
    /// Work directory of the run
    #[arg(long)]
    workdir: PathBuf,
    /// Kind of the judged object
    #[arg(long, value_enum)]
    category: Category,
    /// Directory with one answer per judge, `<judge>.json` [default: judge-answers in the work directory]
    #[arg(long)]
    answers: Option<PathBuf>,
}

/// Arguments of `judges run`.
#[derive(Debug, clap::Args)]
pub struct RunJudgesArgs {
    /// Work directory of the run, created if it does not exist
    #[arg(long, env = "LOOPGATE_WORKDIR", default_value = ".loopgate/judges")]
    workdir: PathBuf,
    /// Kind of the judged object
    #[arg(long, value_enum, alias = "artifact-type", default_value = "plan")]
    category: Category,
    /// Spending limit in US dollars for all judges together; 0 is no limit
    #[arg(long, value_name = "USD")]
    max_budget_usd: Option<Usd>,
    /// Directory of the plugin with the rubrics [default: that of this program]
    #[arg(long)]
    plugin_root: Option<PathBuf>,
    /// Directory of the project [default: that around the current directory]
    #[arg(long)]
    project: Option<PathBuf>,
    /// Print the assistant's output and wait for limits of its account, as loops do
    #[arg(long, hide = true)]
    in_loop: bool,
}

/// Arguments of `judges validate`.
#[derive(Debug, clap::Args)]
pub struct ValidateReportArgs {
    /// Work directory of the run
    #[arg(long)]
    workdir: PathBuf,
    /// Report file [default: <category>-judges.json in the work directory]
    #[arg(long)]
    report_path: Option<PathBuf>,
    /// Kind of the judged object
    #[arg(long, value_enum, default_value = "plan")]
    category: Category,
}

/// Arguments of `judges snapshot`.
#[derive(Debug, clap::Args)]
pub struct SnapshotArgs {
    /// Work directory of the run
    #[arg(long)]
    workdir: PathBuf,
    /// Directory of the plugin
    #[arg(long, env = "CLAUDE_PLUGIN_ROOT")]
    plugin_root: PathBuf,
}

/// Kind of an object that judges evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Implementation plan of a loop
    Plan,
    /// Change of the source code
    Code,
    /// Document with product requirements
    Prd,
    /// Single feature of the requirements
    Feature,
}

impl Category {
    /// Returns the name used on the command line and in file names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Code => "code",
            Self::Prd => "prd",
            Self::Feature => "feature",
        }
    }

    /// Returns the file name of a report in the work directory.
    #[must_use]
    pub fn report_name(self) -> String {
        format!("{}-judges.json", self.name())
    }

    /// Returns the judges that evaluate this kind of object, by name. A report must contain each of them.
    pub fn judges(self) -> impl Iterator<Item = &'static Judge> {
        JUDGES.iter().filter(move |judge| judge.categories.contains(&self))
    }

    /// Returns the valid endings of a report's id.
    #[must_use]
    pub const fn id_endings(self) -> &'static [&'static str] {
        match self {
            Self::Plan => &["-plan-judges", "-judges"],
            Self::Code => &["-code-judges"],
            Self::Prd => &["-prd-judges"],
            Self::Feature => &["-feature-judges"],
        }
    }
}

/// Returns the name of the document with the plan in a work directory: with its tasks, else its text only.
fn plan_document(workdir: &Path) -> Option<&'static str> {
    [PLAN_JSON, PLAN_MD].into_iter().find(|name| untrusted::is_file(&workdir.join(name)))
}

/// Returns the id of the driver's run, else the name of the work directory.
fn run_id(workdir: &Path) -> String {
    var::text(var::RUN_ID).unwrap_or_else(|| {
        // `.` has no name.
        let resolved = workdir.canonicalize();
        let name = resolved.as_deref().unwrap_or(workdir).file_name();
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    })
}

impl JudgesCommand {
    /// Runs the command. Exits with 0, or with 1 and the reason on standard error. A failed snapshot is only
    /// a warning: the run of the judges does not depend on it.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match self {
            Self::CheckInput(args) => print_result(envelope::check(&args)),
            Self::Context(args) => print_result(context::write(&args)),
            Self::Report(args) => print_result(evaluation::write(&args)),
            Self::Run(args) => runner::run(&args),
            Self::Validate(args) => print_result(report::validate(&args)),
            Self::Snapshot(args) => {
                let result = snapshot::take(&args.workdir, &args.plugin_root);
                print_result(Ok::<_, String>(
                    result.unwrap_or_else(|error| format!("Warning: the snapshot failed: {error}")),
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches as _, Subcommand as _};

    use super::*;

    fn parse(line: &str) -> Result<JudgesCommand, clap::Error> {
        let command = JudgesCommand::augment_subcommands(clap::Command::new("judges"));
        JudgesCommand::from_arg_matches(&command.try_get_matches_from(line.split(' '))?)
    }

    #[test]
    fn commands_except_run_need_a_work_directory_and_those_that_write_a_category() {
        for line in [
            "check-input --workdir w",
            "validate --workdir w",
            "report --workdir w --category code",
            "context --workdir w --category plan",
            "report --workdir w --category prd --answers a",
            "run",
            "run --workdir w --artifact-type code --max-budget-usd 1.5",
        ] {
            assert!(parse(&format!("judges {line}")).is_ok(), "{line}");
        }
        for line in [
            "check-input",
            "report --workdir w",
            "context --workdir w",
            "report --workdir w --category poem",
            "run --category poem",
            "run --max-budget-usd -1",
        ] {
            assert!(parse(&format!("judges {line}")).is_err(), "{line}");
        }
    }
}
