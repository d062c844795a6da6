//! The external programs for learnings: the assistant, and the script of the self-learning plugin.

use std::path::{Path, PathBuf};
use std::pin::Pin;

use loopgate_home::newest_version_with;
use loopgate_tools::process::Command;

use crate::worktree::LearningCheckout;

const PLUGIN: &str = "self-learning";
const SCRIPT: &str = "scripts/process-chat-learnings.sh";

/// A boxed future, for the methods of a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Creates the commands that learnings need, such that no code or settings of a checkout are executed.
pub trait LearningPrograms: Send + Sync {
    /// Returns the assistant's command for a worktree, without arguments of the caller.
    fn assistant<'a>(&'a self, worktree: &'a Path) -> BoxFuture<'a, Command>;
    /// Returns the command of a plugin's script, with the work directory as its argument.
    fn script<'a>(&'a self, script: &'a Path, worktree: &'a LearningCheckout) -> BoxFuture<'a, Command>;
}

/// Directories that contain plugins.
#[derive(Debug, Clone, Default)]
pub struct PluginDirs {
    /// Directory of the plugins bundled with Loopgate, one subdirectory each.
    pub bundled: Option<PathBuf>,
    /// Directory of the plugins that the assistant installed, one subdirectory per plugin and version.
    pub installed: Option<PathBuf>,
}

impl PluginDirs {
    /// Returns the path of the processing script: the bundled one, else that of the newest installed version.
    /// Performs blocking I/O.
    pub(crate) fn processing_script(&self) -> Option<PathBuf> {
        let bundled = self.bundled.as_ref().map(|root| root.join(PLUGIN).join(SCRIPT));
        if let Some(bundled) = bundled.filter(|script| script.is_file()) {
            return Some(bundled);
        }
        newest_version_with(&self.installed.as_ref()?.join(PLUGIN), SCRIPT).map(|plugin| plugin.join(SCRIPT))
    }
}
