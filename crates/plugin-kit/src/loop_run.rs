//! `loopgate loop run`: the driver that starts the assistant once per iteration until it keeps its completion
//! promise.
//!
//! Owns the loop's state file, lock, stream file, `runs.log` and timing events. It never edits the plan or
//! the sources. Every exit path releases the lock; only an interrupted loop keeps its state file, to be
//! resumed.

mod account_wait;
mod agent_results;
mod archive;
mod assistant_run;
pub(crate) mod child;
mod context;
mod corrections;
mod display;
mod driver;
mod exit_code;
mod failure;
mod fingerprint;
mod iterations;
mod journal;
mod judgement;
mod learning;
pub(crate) mod limit_wait;
pub(crate) mod limits;
mod lock;
mod loop_end;
mod marker;
mod options;
mod pipeline;
mod progress;
mod progress_form;
mod progress_view;
mod review;
mod session_check;
mod single_run;
mod spending;
mod spurious;
pub(crate) mod state_file;
pub(crate) mod stop;
mod stream;
mod summary;
mod user_report;
mod work_check;

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) use self::assistant_run::AssistantRun;
pub(crate) use self::context::{assistant, environment, pause, plugin_dirs, settings, waits_for_limits};
pub(crate) use self::corrections::FAILED_CHECK;
pub(crate) use self::failure::FailureKind;
pub(crate) use self::iterations::exclude_state_dir;
pub(crate) use self::learning::patterns;
pub(crate) use self::lock::is_held as is_running;
pub use self::single_run::AssistantArgs;
pub(crate) use self::stream::RunSummary;
pub(crate) use self::work_check::WORK_RECORD;

use self::exit_code::FAILED;
use crate::console::{print_error, print_line};

/// Arguments of `loopgate loop run`; `--help` prints [`options::USAGE`].
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct LoopRunArgs {
    /// Work directory and options; see `--help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

impl LoopRunArgs {
    /// Runs the loop to its end and returns the exit code: 0 = finished, 1 = failed, 130 = interrupted.
    /// Creates an async runtime, so it must not be called from within one.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let words: Result<Vec<String>, OsString> =
            self.words.into_iter().map(OsString::into_string).collect();
        let options = match words {
            Ok(words) => options::parse(words),
            Err(word) => Err(format!("Error: argument is not valid text: {}", word.display())),
        };
        match options {
            Ok(options::ParsedArguments::Help) => {
                print_line(options::USAGE.trim_end());
                ExitCode::SUCCESS
            }
            Ok(options::ParsedArguments::Run(options)) => ExitCode::from(run(&options)),
            Err(message) => {
                print_error(message);
                ExitCode::from(FAILED)
            }
        }
    }
}

fn run(options: &options::LoopOptions) -> u8 {
    // Current-thread: the driver waits for one child process at a time, and its stream handling needs no
    // parallelism.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(iterations::run(options)),
        Err(error) => {
            print_error(format!("Error: cannot start: {error}"));
            FAILED
        }
    }
}
