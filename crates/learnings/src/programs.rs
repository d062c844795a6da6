//! The programs that work on learnings: the assistant, and the script of the self-learning plugin.

use std::path::{Path, PathBuf};
use std::pin::Pin;

use loopgate_home::newest_version_with;
use loopgate_tools::process::Command;

use crate::worktree::Worktree;

const PLUGIN: &str = "self-learning";
const SCRIPT: &str = "scripts/process-chat-learnings.sh";

/// A boxed future, for the methods of a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Prepares the programs that learnings need, so that nothing runs that a checkout brings along.
pub trait LearningPrograms: Send + Sync {
    /// The assistant in a worktree, without arguments of the caller.
    fn assistant<'a>(&'a self, worktree: &'a Path) -> BoxFuture<'a, Command>;
    /// A script of a plugin, with the work directory as its argument.
    fn script<'a>(&'a self, script: &'a Path, worktree: &'a Worktree) -> BoxFuture<'a, Command>;
}

/// Where plugins are installed.
#[derive(Debug, Clone, Default)]
pub struct PluginDirs {
    /// One folder a plugin: those that Loopgate brings along.
    pub bundled: Option<PathBuf>,
    /// One folder a plugin with one folder a version: those that the assistant installed.
    pub installed: Option<PathBuf>,
}

impl PluginDirs {
    /// The script that processes a work directory: the bundled one, else that of the newest version. Blocks on
    /// the disk.
    pub(crate) fn processing_script(&self) -> Option<PathBuf> {
        let bundled = self.bundled.as_ref().map(|root| root.join(PLUGIN).join(SCRIPT));
        if let Some(bundled) = bundled.filter(|script| script.is_file()) {
            return Some(bundled);
        }
        newest_version_with(&self.installed.as_ref()?.join(PLUGIN), SCRIPT).map(|plugin| plugin.join(SCRIPT))
    }
}
