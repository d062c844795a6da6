//! What the owner types to decide about requests.

use std::path::Path;

use uuid::Uuid;

/// Characters of an id, from its end, that are enough to name it.
const SHORT_ID: usize = 8;

/// The owner's command for one data directory.
#[derive(Debug, Clone)]
pub(crate) struct ApprovalsCommand(String);

impl ApprovalsCommand {
    /// The usual directory need not be named, unless a variable says which it is: the owner's shell may
    /// not have it.
    pub(crate) fn new(data_dir: &Path) -> Self {
        let usual = std::env::var_os(loopgate_api::names::env::HOME).is_none()
            && loopgate_home::default_data_dir().is_ok_and(|usual| usual == data_dir);
        if usual {
            return Self("loopgate approvals".to_owned());
        }
        Self(format!("loopgate approvals --home {}", quoted(&data_dir.to_string_lossy())))
    }

    /// Lists what waits.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Approves a request.
    pub(crate) fn approve(&self, id: Uuid) -> String {
        let id = id.to_string();
        format!("{} approve {}", self.0, &id[id.len() - SHORT_ID..])
    }
}

/// One quoted word of a shell command line.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%:,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_quoted_in_the_command() {
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
