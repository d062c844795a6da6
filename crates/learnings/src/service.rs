//! The service that a gateway holds: its parts, wired to each other.

use std::path::PathBuf;
use std::sync::Arc;

use crate::extraction::Extractions;
use crate::processing::{Batch, Processing};
use crate::programs::{LearningPrograms, PluginDirs};
use crate::store::PatternStore;

/// Where the files of learnings are.
#[derive(Debug, Clone)]
pub struct LearningsConfig {
    /// The patterns of the person, `~/.loopgate/learnings`.
    pub directory: PathBuf,
    /// A patterns file that is read when there is none there.
    pub older_patterns: Option<PathBuf>,
    /// Where the script of the self-learning plugin is looked for.
    pub plugins: PluginDirs,
}

/// Work on learnings. Clones share it.
#[derive(Clone)]
pub struct Learnings {
    /// The patterns of the person.
    pub patterns: PatternStore,
    /// From chats to pending learnings.
    pub extractions: Extractions,
    /// From the pending learnings of a worktree to patterns.
    pub processing: Processing,
    /// The same for all worktrees.
    pub batch: Batch,
}

impl Learnings {
    /// Without programs nothing is extracted or processed.
    #[must_use]
    pub fn new(config: LearningsConfig, programs: Option<Arc<dyn LearningPrograms>>) -> Self {
        let processing = Processing::new(programs.clone(), config.plugins);
        Self {
            patterns: PatternStore::new(config.directory.clone(), config.older_patterns),
            extractions: Extractions::new(programs),
            batch: Batch::new(config.directory, processing.clone()),
            processing,
        }
    }
}
