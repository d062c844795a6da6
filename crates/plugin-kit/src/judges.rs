//! `loopgate judges …`: what the skill that runs judges has done by code.

mod report;
mod snapshot;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;

use crate::console::print_result;

/// Tools for the reports of judges.
#[derive(Debug, clap::Subcommand)]
pub enum JudgesCommand {
    /// Check a report of judges: its form, and that every judge of its category is there
    Validate(ValidateReportArgs),
    /// Keep the judges' prompts as they were when the run began
    Snapshot(SnapshotArgs),
}

/// Arguments of `judges validate`.
#[derive(Debug, clap::Args)]
pub struct ValidateReportArgs {
    /// Work directory of the run
    #[arg(long)]
    workdir: PathBuf,
    /// The report; `<category>-judges.json` of the work directory when it is not given
    #[arg(long)]
    report_path: Option<PathBuf>,
    /// What was judged
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

/// What judges judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Category {
    /// A plan.
    Plan,
    /// A change of code.
    Code,
    /// Requirements.
    Prd,
    /// A feature of requirements.
    Feature,
}

impl Category {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Code => "code",
            Self::Prd => "prd",
            Self::Feature => "feature",
        }
    }

    /// Ids of the cases that its judges report.
    #[must_use]
    pub const fn judges(self) -> &'static [&'static str] {
        match self {
            Self::Plan => &[
                "brownfield-accuracy-judge",
                "code-organization-judge",
                "codebase-grounding-judge",
                "convention-adherence-judge",
                "custom-best-practices-judge",
                "dry-judge",
                "goal-alignment-judge",
                "kiss-judge",
                "readability-judge",
                "solid-isp-dip-judge",
                "solid-liskov-substitution-judge",
                "solid-open-closed-judge",
                "ssot-judge",
                "technical-accuracy-judge",
                "test-judge",
                "verbosity-judge",
            ],
            Self::Code => &[
                "code-organization-judge",
                "custom-best-practices-judge",
                "dry-judge",
                "kiss-judge",
                "readability-judge",
                "solid-isp-dip-judge",
                "solid-liskov-substitution-judge",
                "solid-open-closed-judge",
                "ssot-judge",
                "technical-accuracy-judge",
                "test-judge",
            ],
            Self::Prd => &["prd-auditor", "prd-dependency-judge", "prd-scope-judge", "prd-testability-judge"],
            Self::Feature => &["feature-completeness-judge", "prd-dependency-judge", "prd-testability-judge"],
        }
    }

    /// Endings that the id of a report may have.
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

impl JudgesCommand {
    /// Runs the tool; 0, or 1 with the reason on standard error. A snapshot that fails is only told of.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match self {
            Self::Validate(args) => print_result(report::validate(&args)),
            Self::Snapshot(args) => {
                let taken = snapshot::take(&args.workdir, &args.plugin_root);
                print_result(Ok::<_, String>(
                    taken.unwrap_or_else(|error| format!("Warning: no snapshot: {error}")),
                ))
            }
        }
    }
}
