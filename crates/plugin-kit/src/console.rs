//! Lines for the person or log behind the process. A reader that is gone is not an error.

use std::fmt::Display;
use std::io::Write as _;

/// A line on standard output.
pub fn say(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A line on standard error.
pub fn complain(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
