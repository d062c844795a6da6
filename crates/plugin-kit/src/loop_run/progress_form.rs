//! Output format of the driver.

use std::io::{self, IsTerminal as _};

/// Output format of the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressForm {
    /// For a user at a terminal: permanent lines, and a status line that is redrawn.
    Live,
    /// For a user: lines without control characters.
    Plain,
    /// For programs: the text and the tool calls of the assistant.
    Stream,
}

impl ProgressForm {
    /// Returns the format that suits standard output.
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
