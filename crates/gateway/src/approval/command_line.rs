//! The shell command with which the owner decides pending requests.

use std::path::Path;

use loopgate_api::shell::quoted;
use uuid::Uuid;

/// Length of the id suffix that the command accepts. UUIDv7 starts with a timestamp, so the end distinguishes
/// ids better than the start.
const SHORT_ID: usize = 8;

/// The command for one data directory.
#[derive(Debug, Clone)]
pub(crate) struct ApprovalsCommand(String);

impl ApprovalsCommand {
    /// Omits `--home` for the default data directory, unless an environment variable sets the directory: the
    /// owner's shell may not have that variable.
    pub(crate) fn new(data_dir: &Path) -> Self {
        let is_default = std::env::var_os(loopgate_api::names::env::HOME).is_none()
            && loopgate_home::default_data_dir().is_ok_and(|default| default == data_dir);
        if is_default {
            return Self("loopgate approvals".to_owned());
        }
        Self(format!("loopgate approvals --home {}", quoted(&data_dir.to_string_lossy())))
    }

    /// Returns the command that lists pending requests.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the command that approves a request.
    pub(crate) fn approve(&self, id: Uuid) -> String {
        let id = id.to_string();
        format!("{} approve {}", self.0, &id[id.len() - SHORT_ID..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_directory_is_quoted_for_the_shell() {
        assert_eq!(
            ApprovalsCommand::new(Path::new("/srv/loop-gate")).text(),
            "loopgate approvals --home /srv/loop-gate"
        );
        assert_eq!(
            ApprovalsCommand::new(Path::new("/srv/it's $HOME")).text(),
            r"loopgate approvals --home '/srv/it'\''s $HOME'"
        );
    }
}
