//! `loopgate debate …`: the assistant writes a plan, and the reviewer reviews it round by round.

mod options;
mod reviewer_step;
mod rounds;
mod state;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::console::{print_error, print_line};

/// Exit code of an interrupted debate: 128 + SIGINT, as shells report it.
const INTERRUPTED: u8 = 130;

/// Debates a plan with the reviewer.
#[derive(Debug, clap::Subcommand)]
pub enum DebateCommand {
    /// Let the assistant write a plan and revise it until the reviewer approves
    #[command(disable_help_flag = true)]
    Run(DebateArgs),
    /// Let the reviewer review a plan once
    #[command(disable_help_flag = true)]
    Review(DebateArgs),
}

/// Arguments, parsed by hand instead of with clap: callers depend on the exact error messages and on exit
/// code 1.
#[derive(Debug, clap::Args)]
pub struct DebateArgs {
    /// Options; see `--help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

impl DebateCommand {
    /// Runs the command. Exits with 0, with 1 and the reason on standard error, or with 130 when interrupted.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let (args, usage) = match &self {
            Self::Run(args) => (args, options::RUN_USAGE),
            Self::Review(args) => (args, options::REVIEW_USAGE),
        };
        if args.words.iter().any(|word| word == "-h" || word == "--help") {
            print_line(usage.trim_end());
            return ExitCode::SUCCESS;
        }
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return refuse(&format!("Error: cannot start: {error}")),
        };
        runtime.block_on(async {
            let result = match self {
                Self::Run(args) => match options::DebateOptions::parse(args.words()) {
                    Ok(options) => rounds::run(options).await,
                    Err(message) => Err(message),
                },
                Self::Review(args) => match options::ReviewOptions::parse(args.words()) {
                    Ok(options) => reviewer_step::print(options).await,
                    Err(message) => Err(message),
                },
            };
            match result {
                Ok(code) => code,
                Err(message) => refuse(&message),
            }
        })
    }
}

impl DebateArgs {
    fn words(self) -> Vec<String> {
        self.words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}

fn refuse(message: &str) -> ExitCode {
    print_error(message);
    ExitCode::FAILURE
}
