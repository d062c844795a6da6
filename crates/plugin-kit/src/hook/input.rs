//! What the assistant tells a hook, and the loop that it belongs to.

use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use serde::Deserialize;
use serde_json::Value;

use crate::config_env::ConfigEnv;

/// The members that the hooks read; absent ones are empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct HookInput {
    /// Session of the assistant.
    pub session_id: String,
    /// Directory that the session runs in.
    pub cwd: PathBuf,
    /// Tool that is about to be used.
    pub tool_name: String,
    /// Its arguments.
    pub tool_input: Value,
    /// Subagent that starts or stops.
    pub agent_id: String,
    /// Its type, for example `code:plan-writer`.
    pub agent_type: String,
    /// What the subagent said last.
    pub last_assistant_message: Option<String>,
    /// Record of the subagent's session.
    pub agent_transcript_path: Option<PathBuf>,
    /// Record of the session.
    pub transcript_path: Option<PathBuf>,
}

/// The loop of a session.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Work directory.
    pub workdir: PathBuf,
    /// Settings that set-up left.
    pub config: ConfigEnv,
}

impl HookInput {
    /// The project's state directory.
    pub fn state_dir(&self) -> PathBuf {
        self.cwd.join(STATE_DIR)
    }

    /// The loop that set-up has mapped this session to.
    pub fn loop_context(&self) -> Option<Loop> {
        if self.cwd.as_os_str().is_empty() || !is_name(&self.session_id) {
            return None;
        }
        let mapping = self.state_dir().join(format!("session-{}.workdir", self.session_id));
        let workdir = PathBuf::from(untrusted::read_text(&mapping).ok()?.trim());
        let config = ConfigEnv::load(&workdir).ok()?;
        workdir.is_dir().then_some(Loop { workdir, config })
    }
}

impl Loop {
    /// Where the types of running subagents are noted.
    pub fn agent_note(&self, agent_id: &str) -> Option<PathBuf> {
        is_name(agent_id).then(|| self.workdir.join(".agent-types").join(agent_id))
    }

    /// The loop's state directory inside the work directory.
    pub fn state_dir(&self) -> PathBuf {
        self.workdir.join(STATE_DIR)
    }

    /// Requirements file, which may not exist.
    pub fn prd(&self) -> PathBuf {
        Path::new(self.config.get(crate::variables::PRD_FILE).unwrap_or_default()).to_owned()
    }
}

/// Whether a text can be part of a file name.
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text != "."
        && text != ".."
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
