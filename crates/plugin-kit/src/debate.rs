//! `loopgate debate …`: a plan that the assistant writes and the reviewer argues about, round by round.

mod options;
mod reviewer_step;
mod rounds;
mod state;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::console::{print_error, print_line};

/// Rounds of a debate that was interrupted end with this code.
const INTERRUPTED: u8 = 130;

/// Debates a plan with the reviewer.
#[derive(Debug, clap::Subcommand)]
pub enum DebateCommand {
    /// Write a plan and let the reviewer argue until it approves
    #[command(disable_help_flag = true)]
    Run(DebateArgs),
    /// Ask the reviewer once about a plan
    #[command(disable_help_flag = true)]
    Review(DebateArgs),
}

/// Arguments, read by hand: the exact words of each refusal and the exit code 1 are known to callers.
#[derive(Debug, clap::Args)]
pub struct DebateArgs {
    /// Options; `--help` explains them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

impl DebateCommand {
    /// Runs the debate or the step; 0, 1 with the reason on standard error, or 130.
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
