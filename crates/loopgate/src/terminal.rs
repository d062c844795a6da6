//! Terminal input and output: confirmation prompts, errors, and escaping of untrusted text.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

pub use loopgate_api::terminal_text::escape_control;
use owo_colors::OwoColorize as _;

/// Asks the user for confirmation. Returns `None` if standard input is no terminal.
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

/// Prints the error of a failed command.
pub fn print_error(error: &anyhow::Error) {
    anstream::eprintln!("{} {}", "error:".red().bold(), with_causes(error));
}

/// Formats an error with its causes.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Some errors already include their cause in their own message.
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
