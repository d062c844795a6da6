//! Notifications about loops and pending approvals: the table `[notify]` of the settings.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use crate::path_resolution::expand_home;

/// Default timeout of the command in seconds.
const DEFAULT_TIMEOUT: u64 = 30;

/// How the user is notified when a loop has finished or needs input, or a request awaits approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notify {
    /// Whether a desktop notification is shown.
    pub desktop: bool,
    /// A program and its arguments to run; empty for none.
    #[serde(deserialize_with = "program", skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Timeout of the command in seconds.
    pub timeout_seconds: u64,
}

impl Default for Notify {
    fn default() -> Self {
        Self { desktop: true, command: Vec::new(), timeout_seconds: DEFAULT_TIMEOUT }
    }
}

impl Notify {
    /// Validates the table and expands `~` in the path of the program.
    pub(crate) fn normalized(mut self) -> Result<Self, String> {
        // A timeout of zero would terminate every command immediately.
        if self.timeout_seconds == 0 {
            return Err("notify.timeout_seconds must be at least 1".to_owned());
        }
        let Some(program) = self.command.first_mut() else { return Ok(self) };
        let expanded = expand_home(&*program);
        // A relative path would depend on the working directory; a bare name is searched on `PATH`.
        let is_bare = !program.contains(std::path::MAIN_SEPARATOR);
        if program.trim().is_empty() || !(is_bare || Path::new(&expanded).is_absolute()) {
            return Err(format!(
                "notify.command (--notify-command) must begin with an absolute path or the name of a program on PATH, \
                 not \"{program}\""
            ));
        }
        *program = expanded.to_string_lossy().into_owned();
        Ok(self)
    }
}

/// Deserializes a program without arguments, or a list of program and arguments.
fn program<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected the path of a program, or a list of it and its arguments")]
    enum ProgramSetting {
        Program(String),
        ProgramAndArguments(Vec<String>),
    }
    Ok(match ProgramSetting::deserialize(deserializer)? {
        ProgramSetting::Program(program) => vec![program],
        ProgramSetting::ProgramAndArguments(command) => command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(toml: &str) -> Result<Notify, String> {
        let notify: Notify = toml_edit::de::from_str(toml).map_err(|error| error.to_string())?;
        notify.normalized()
    }

    #[test]
    fn command_is_a_program_or_a_list() {
        assert_eq!(parse("").unwrap(), Notify::default());
        assert_eq!(parse("command = \"/opt/alert\"").unwrap().command, ["/opt/alert"]);
        assert_eq!(parse("command = [\"alert\", \"-v\"]").unwrap().command, ["alert", "-v"]);
        let at_home = parse("command = \"~/alert\"").unwrap().command;
        assert!(Path::new(&at_home[0]).is_absolute(), "{at_home:?}");
    }

    #[test]
    fn invalid_value_is_rejected() {
        for (toml, word) in [
            ("command = \"bin/alert\"", "absolute"),
            ("command = \"\"", "absolute"),
            ("command = 5", "path of a program"),
            ("timeout_seconds = 0", "at least 1"),
            ("desktp = false", "desktp"),
        ] {
            let error = parse(toml).unwrap_err();
            assert!(error.contains(word), "{toml}: {error}");
        }
    }
}
