//! The terminal: questions to the person, errors, and texts of others.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

pub use loopgate_api::terminal_text::escape_control;
use owo_colors::OwoColorize as _;

/// Asks the person at the terminal; `None` where there is none.
pub fn confirm(question: &str) -> io::Result<Option<bool>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    print!("{question} [y/N] ");
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(Some(matches!(answer.trim(), "y" | "Y" | "yes")))
}

/// Prints why a command could not do its work.
pub fn print_error(error: &anyhow::Error) {
    anstream::eprintln!("{} {}", "error:".red().bold(), with_causes(error));
}

/// An error with its causes. A cause with which the text ends already is left out.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            let _ = write!(text, ": {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use loopgate_home::SettingsError;

    use super::*;

    #[test]
    fn cause_is_printed_once() {
        let error = SettingsError::Io { path: "/a".into(), source: io::Error::other("disk on fire") };
        let error = anyhow::Error::new(error).context("the start");
        assert_eq!(with_causes(&error), "the start: cannot use /a: disk on fire");
    }
}
