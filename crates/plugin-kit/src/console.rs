//! Lines for the person or log behind the process. A reader that is gone is not an error.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

/// A line on standard output.
pub fn print_line(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A line on standard error.
pub fn print_error(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints what a command has to say: its text and exit code 0, or the reason on standard error and exit code 1.
pub fn print_result(result: Result<impl Display, impl Display>) -> ExitCode {
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
