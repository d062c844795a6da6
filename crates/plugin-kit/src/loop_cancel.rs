//! `loopgate loop cancel`: stops the loop of the current directory.

use std::io;
use std::process::ExitCode;

use loopgate_home::untrusted;

use crate::console::print_result;
use crate::loop_run::state_file::{self, LoopState, StateFileError};

/// `loopgate loop cancel`: removes the loop's state file, at which its driver ends the assistant and leaves.
#[derive(Debug, clap::Args)]
pub struct CancelArgs {}

impl CancelArgs {
    /// Says which iteration the loop was at, or that there is none; 1 when the file cannot be removed.
    #[must_use]
    pub fn run(self) -> ExitCode {
        print_result(cancel().map_err(|error| format!("Error: the loop could not be stopped: {error}")))
    }
}

fn cancel() -> io::Result<String> {
    let project = std::env::current_dir()?;
    let stopped = match LoopState::load(&project) {
        Err(StateFileError::Absent) => return Ok("No loop is active in this project.".to_owned()),
        Ok(state) => format!("The loop was stopped at iteration {}.", state.iteration),
        Err(StateFileError::Invalid(_)) => {
            "The loop was stopped; its state file could not be read.".to_owned()
        }
    };
    untrusted::remove(&state_file::path(&project))?;
    Ok(stopped)
}
