//! Output to the user or the log. Write errors are ignored: a closed reader must not end a loop.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

/// Prints a line to standard output.
pub fn print_line(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a line to standard error.
pub fn print_error(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints the result of a command: its text and exit code 0, or the reason on standard error and exit code 1.
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
