//! How the user is notified of loops and of requests that wait for approval: the table
//! `[notify]` of the settings.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use crate::path_resolution::expand_home;

/// Seconds that a command may take when nothing else is said.
const DEFAULT_TIMEOUT: u64 = 30;

/// What happens when a loop has ended or waits for a person, or a request waits for approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notify {
    /// Whether the desktop shows a notification.
    pub desktop: bool,
    /// A program with its arguments that is run; empty for none.
    #[serde(deserialize_with = "program", skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Seconds that the command may take.
    pub timeout_seconds: u64,
}

impl Default for Notify {
    fn default() -> Self {
        Self { desktop: true, command: Vec::new(), timeout_seconds: DEFAULT_TIMEOUT }
    }
}

impl Notify {
    /// With the program's path in full.
    pub(crate) fn normalized(mut self) -> Result<Self, String> {
        if self.timeout_seconds == 0 {
            return Err("notify.timeout_seconds must be at least 1".to_owned());
        }
        let Some(program) = self.command.first_mut() else { return Ok(self) };
        let expanded = expand_home(program);
        let is_bare = !program.contains(std::path::MAIN_SEPARATOR);
        if program.trim().is_empty() || !(is_bare || Path::new(&expanded).is_absolute()) {
            return Err(format!(
                "notify.command (--notify-command) must begin with an absolute path or the name of a program, \
                 not \"{program}\""
            ));
        }
        *program = expanded.to_string_lossy().into_owned();
        Ok(self)
    }
}

/// A list of words, or the program alone.
fn program<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected the path of a program, or a list of it and its arguments")]
    enum Words {
        Alone(String),
        All(Vec<String>),
    }
    Ok(match Words::deserialize(deserializer)? {
        Words::Alone(program) => vec![program],
        Words::All(words) => words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str) -> Result<Notify, String> {
        let notify: Notify = toml_edit::de::from_str(toml).map_err(|error| error.to_string())?;
        notify.normalized()
    }

    #[test]
    fn program_is_a_path_or_a_list() {
        assert_eq!(read("").unwrap(), Notify::default());
        assert_eq!(read("command = \"/opt/tell\"").unwrap().command, ["/opt/tell"]);
        assert_eq!(read("command = [\"tell\", \"-v\"]").unwrap().command, ["tell", "-v"]);
        let at_home = read("command = \"~/tell\"").unwrap().command;
        assert!(Path::new(&at_home[0]).is_absolute(), "{at_home:?}");
    }

    #[test]
    fn invalid_program_is_refused() {
        for (toml, word) in [
            ("command = \"bin/tell\"", "absolute"),
            ("command = \"\"", "absolute"),
            ("command = 5", "path of a program"),
            ("timeout_seconds = 0", "at least 1"),
            ("desktp = false", "desktp"),
        ] {
            let error = read(toml).unwrap_err();
            assert!(error.contains(word), "{toml}: {error}");
        }
    }
}
