//! Lines for the person or log behind the process. A reader that is gone is not an error.

use std::fmt::Display;
use std::io::Write as _;

/// A line on standard output.
pub fn print_line(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A line on standard error.
pub fn print_error(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
