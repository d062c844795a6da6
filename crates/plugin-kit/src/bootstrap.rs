//! `loopgate bootstrap …`: writes the agents of a repository, which review plans of its loops. What can be found without a
//! model is found by `loopgate-bootstrap`; models write the texts of the agents only.

mod agent_files;
mod estimate;
mod prompt;
mod run_files;
mod runner;
#[cfg(test)]
mod tests;
mod written_agents;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use loopgate_api::bootstrap::BootstrapDepth;
use loopgate_api::usd::Usd;
use loopgate_bootstrap::RosterOptions;

use crate::console::print_result;

/// Version of the metadata, that of the plugin.
const BOOTSTRAP_VERSION: &str = "1.2.0";

/// Writes and checks the agents of a repository.
#[derive(Debug, clap::Subcommand)]
pub enum BootstrapCommand {
    /// Write agents for the repository of the current directory
    Run(RunBootstrapArgs),
    /// Check the agent files of a directory
    Validate(ValidateAgentsArgs),
}

/// Arguments of `bootstrap run`.
#[derive(Debug, clap::Args)]
pub struct RunBootstrapArgs {
    /// Directory of the agent files, relative to the root of the repository
    #[arg(long, default_value = ".claude/agents")]
    output_dir: PathBuf,
    /// Command whose plans the agents review
    #[arg(long, default_value = "code", value_parser = ["code"])]
    target_command: String,
    /// How many agents: quick, medium or deep
    #[arg(long, default_value = "medium", value_parser = parse_depth)]
    depth: BootstrapDepth,
    /// Only agents for domains with this text in their name, besides those for all repositories and languages
    #[arg(long)]
    focus: Option<String>,
    /// Another domain: a word of the paths of its files; can be repeated
    #[arg(long, value_name = "DOMAIN", value_parser = parse_domain)]
    add_domain: Vec<String>,
    /// Only the agents that every repository has, and that of the primary language
    #[arg(long)]
    minimal: bool,
    /// What happens to existing files of the same name that were not written by this command, or changed since
    #[arg(long, value_enum, default_value = "backup")]
    strategy: ExistingFiles,
    /// Keep changed files and replace the others: the same as `--strategy skip`, except for files that this command wrote
    #[arg(long, conflicts_with_all = ["enhance", "strategy"])]
    update: bool,
    /// Add missing agents only
    #[arg(long, conflicts_with = "strategy")]
    enhance: bool,
    /// Print the agents and what they would cost, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask again for an agent that failed with the same facts
    #[arg(long)]
    skip_failed: bool,
    /// Wait for the end of a usage limit of the account, and do not end the run
    #[arg(long)]
    wait_for_limits: bool,
    /// Spending limit in US dollars for all agents together; 0 is no limit
    #[arg(long, value_name = "USD", env = "LOOPGATE_MAX_SPEND_USD")]
    max_budget_usd: Option<Usd>,
}

/// Arguments of `bootstrap validate`.
#[derive(Debug, clap::Args)]
pub struct ValidateAgentsArgs {
    /// Directory of the agent files
    #[arg(long, default_value = ".claude/agents")]
    output_dir: PathBuf,
    /// Check all files, and not only those that `bootstrap run` wrote
    #[arg(long)]
    legacy: bool,
}

/// What happens to existing agent files of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExistingFiles {
    /// Moved to `backup-<time>` in the same directory
    Backup,
    /// Kept; the new agent is not written
    Skip,
    /// Replaced
    Overwrite,
}

fn parse_depth(text: &str) -> Result<BootstrapDepth, String> {
    let depths = [BootstrapDepth::Quick, BootstrapDepth::Medium, BootstrapDepth::Deep];
    let depth = depths.into_iter().find(|depth| depth.as_str() == text);
    depth.ok_or_else(|| "expected quick, medium or deep".to_owned())
}

fn parse_domain(text: &str) -> Result<String, String> {
    let is_kebab = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let is_valid = !text.trim_matches('-').is_empty() && text.len() <= 40 && text.chars().all(is_kebab);
    if is_valid {
        Ok(text.to_owned())
    } else {
        Err("expected lower case letters, digits and hyphens".to_owned())
    }
}

impl RunBootstrapArgs {
    fn roster_options(&self) -> RosterOptions {
        RosterOptions {
            depth: self.depth,
            minimal: self.minimal,
            focus: self
                .focus
                .as_ref()
                .map(|focus| focus.trim().to_lowercase())
                .filter(|focus| !focus.is_empty()),
            added: self.add_domain.clone(),
        }
    }

    /// Returns what happens to files of the user, and whether files of an earlier run are kept as well.
    const fn existing_files(&self) -> (ExistingFiles, bool) {
        if self.enhance {
            (ExistingFiles::Skip, true)
        } else if self.update {
            (ExistingFiles::Skip, false)
        } else {
            (self.strategy, matches!(self.strategy, ExistingFiles::Skip))
        }
    }
}

impl BootstrapCommand {
    /// Runs the command. Exits with 0, with 1 and the reason on standard error, or with 130 if it was interrupted. Creates an
    /// async runtime, so it must not be called from within one.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match self {
            Self::Run(args) => runner::run(&args),
            Self::Validate(args) => print_result(agent_files::validate(&args)),
        }
    }
}

#[cfg(test)]
mod option_tests {
    use clap::{FromArgMatches as _, Subcommand as _};

    use super::*;

    fn parse(line: &str) -> Result<BootstrapCommand, clap::Error> {
        let command = BootstrapCommand::augment_subcommands(clap::Command::new("bootstrap"));
        BootstrapCommand::from_arg_matches(&command.try_get_matches_from(line.split(' '))?)
    }

    #[test]
    fn options_of_the_command() {
        for line in [
            "run",
            "run --output-dir .claude/agents/ --depth deep --focus data --add-domain billing --add-domain tax",
            "run --minimal --dry-run --strategy overwrite --target-command code",
            "run --update --depth quick",
            "validate --legacy",
        ] {
            assert!(parse(&format!("bootstrap {line}")).is_ok(), "{line}");
        }
        for line in [
            "run --depth deepest",
            "run --add-domain ../x",
            "run --target-command other",
            "run --update --enhance",
            "run --strategy interactive",
            "run extra",
        ] {
            assert!(parse(&format!("bootstrap {line}")).is_err(), "{line}");
        }
        let existing = |line: &str| match parse(&format!("bootstrap run{line}")).unwrap() {
            BootstrapCommand::Run(args) => args.existing_files(),
            other => panic!("{other:?}"),
        };
        assert_eq!(existing(""), (ExistingFiles::Backup, false));
        assert_eq!(existing(" --update"), (ExistingFiles::Skip, false));
        assert_eq!(existing(" --enhance"), (ExistingFiles::Skip, true));
        assert_eq!(existing(" --strategy skip"), (ExistingFiles::Skip, true));
    }
}
