//! The service used by a gateway, with its parts connected.

use std::path::PathBuf;
use std::sync::Arc;

use crate::extraction::Extractions;
use crate::processing::{Batch, Processing};
use crate::programs::{LearningPrograms, PluginDirs};
use crate::store::PatternStore;

/// Locations of files for learnings.
#[derive(Debug, Clone)]
pub struct LearningsConfig {
    /// Directory of the user's patterns, `~/.loopgate/learnings`.
    pub directory: PathBuf,
    /// Patterns file of an earlier installation, read when `directory` has none.
    pub legacy_patterns: Option<PathBuf>,
    /// Directories in which the script of the self-learning plugin is searched.
    pub plugins: PluginDirs,
}

/// All operations on learnings. Clones share their state.
#[derive(Clone)]
pub struct Learnings {
    /// The user's patterns with their records.
    pub patterns: PatternStore,
    /// Extraction of pending learnings from chats.
    pub extractions: Extractions,
    /// Merging of one worktree's pending learnings into the patterns.
    pub processing: Processing,
    /// Merging of all worktrees' pending learnings.
    pub batch: Batch,
}

impl Learnings {
    /// Creates the service. Without `programs`, extraction and processing fail.
    #[must_use]
    pub fn new(config: LearningsConfig, programs: Option<Arc<dyn LearningPrograms>>) -> Self {
        let processing = Processing::new(programs.clone(), config.plugins);
        Self {
            patterns: PatternStore::new(config.directory.clone(), config.legacy_patterns),
            extractions: Extractions::new(programs),
            batch: Batch::new(config.directory, processing.clone()),
            processing,
        }
    }
}
