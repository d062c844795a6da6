//! Input of a hook, and the loop that its session belongs to.

use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use serde::Deserialize;
use serde_json::Value;

use crate::config_env::ConfigEnv;
use crate::variables as var;

/// Members of the input that the hooks use; missing ones are empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct HookInput {
    /// Id of the assistant session.
    pub session_id: String,
    /// Working directory of the session, which changes when the model changes it.
    pub cwd: PathBuf,
    /// Directory in which the session was started, from the environment.
    #[serde(skip)]
    pub project_dir: Option<PathBuf>,
    /// Slash command that is about to be expanded, without the slash.
    pub command_name: String,
    /// Text that the user typed behind the command.
    pub command_args: String,
    /// How the session starts, for example `startup` or `resume`.
    pub source: String,
    /// Tool that is about to be used.
    pub tool_name: String,
    /// Arguments of the tool.
    pub tool_input: Value,
    /// Id of the subagent that starts or stops.
    pub agent_id: String,
    /// Type of the subagent, for example `code:plan-writer`.
    pub agent_type: String,
    /// Last message of the subagent.
    pub last_assistant_message: Option<String>,
    /// Transcript of the subagent.
    pub agent_transcript_path: Option<PathBuf>,
    /// Transcript of the session.
    pub transcript_path: Option<PathBuf>,
}

/// Loop that a session belongs to.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Work directory of the loop.
    pub workdir: PathBuf,
    /// Settings that set-up stored.
    pub config: ConfigEnv,
}

impl HookInput {
    /// Returns the directory of the project: the one in which the session was started.
    pub fn project(&self) -> &Path {
        self.project_dir.as_deref().unwrap_or(&self.cwd)
    }

    /// Returns the project's state directory.
    pub fn state_dir(&self) -> PathBuf {
        self.project().join(STATE_DIR)
    }

    /// Returns the loop to which set-up has mapped this session.
    pub fn loop_context(&self) -> Option<Loop> {
        // The id becomes part of a file name, so it must not contain a path.
        if self.project().as_os_str().is_empty() || !is_name(&self.session_id) {
            return None;
        }
        let mapping = self.state_dir().join(format!("session-{}.workdir", self.session_id));
        // The driver's session has its work directory in the environment as well, which its commands cannot remove.
        let mapped = untrusted::read_text(&mapping).ok().map(|text| PathBuf::from(text.trim()));
        let driven = || var::text(var::RUN_ID).and(var::text(var::WORKDIR)).map(PathBuf::from);
        let workdir = mapped.or_else(driven)?;
        let config = ConfigEnv::load(&workdir).ok()?;
        workdir.is_dir().then_some(Loop { workdir, config })
    }
}

impl Loop {
    /// Returns the path of the file that records a running subagent. `None` for an invalid id.
    pub fn agent_note(&self, agent_id: &str) -> Option<PathBuf> {
        is_name(agent_id).then(|| self.workdir.join(".agent-types").join(agent_id))
    }

    /// Returns the loop's state directory inside the work directory.
    pub fn state_dir(&self) -> PathBuf {
        self.workdir.join(STATE_DIR)
    }

    /// Returns the path of the requirements file, which may not exist.
    pub fn prd(&self) -> PathBuf {
        Path::new(self.config.get(var::PRD_FILE).unwrap_or_default()).to_owned()
    }
}

/// Returns whether a text is a safe component of a file name.
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text != "."
        && text != ".."
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
