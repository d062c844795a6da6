//! How the driver's output is written.

use std::io::{self, IsTerminal as _};

/// Forms of the driver's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressForm {
    /// For a person at a terminal: lines, and a status line that is redrawn.
    Live,
    /// For a person: lines without control characters.
    Plain,
    /// For programs: what the assistant says and does.
    Stream,
}

impl ProgressForm {
    /// The form that suits standard output.
    #[must_use]
    pub fn of_stdout() -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match (io::stdout().is_terminal(), is_dumb) {
            (true, false) => Self::Live,
            (true, true) => Self::Plain,
            (false, _) => Self::Stream,
        }
    }
}
