//! `loopgate loop cancel`: cancels the loop of the current directory.

use std::io;
use std::process::ExitCode;

use loopgate_home::untrusted;

use crate::console::print_result;
use crate::loop_run::state_file::{self, LoopState, StateFileError};

/// Removes the loop's state file; its driver then stops the assistant and exits.
#[derive(Debug, clap::Args)]
pub struct CancelArgs {}

impl CancelArgs {
    /// Prints the iteration that was stopped, or that no loop is active. Exits with 1 when the file cannot be
    /// removed.
    #[must_use]
    pub fn run(self) -> ExitCode {
        print_result(cancel().map_err(|error| format!("Error: cannot stop the loop: {error}")))
    }
}

fn cancel() -> io::Result<String> {
    let project = std::env::current_dir()?;
    let message = match LoopState::load(&project) {
        Err(StateFileError::Absent) => return Ok("No loop is active in this project.".to_owned()),
        Ok(state) => format!("The loop was stopped at iteration {}.", state.iteration),
        // A malformed state file still stops the loop when it is removed.
        Err(StateFileError::Invalid(_)) => {
            "The loop was stopped; its state file could not be read.".to_owned()
        }
    };
    untrusted::remove(&state_file::path(&project))?;
    Ok(message)
}
