//! `loopgate learnings`: what the self-learning plugin calls.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;
use loopgate_api::names::STATE_DIR;
use loopgate_learnings::PatternStore;

/// Work on what loops and chats taught.
#[derive(Debug, Subcommand)]
pub enum LearningsCommand {
    /// Merge the pending learnings of a work directory into ~/.loopgate/learnings/org-patterns.toon.
    Process {
        /// Work directory: `.loopgate/work` of a worktree.
        work_dir: PathBuf,
    },
}

impl LearningsCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let Self::Process { work_dir } = self;
        let work_dir = std::path::absolute(work_dir)?;
        let home = etcetera::home_dir().context("there is no home directory")?;
        let store = PatternStore::new(home.join(STATE_DIR).join("learnings"), None);
        let report = loopgate_learnings::process(&work_dir, &store)
            .with_context(|| format!("the learnings in {} were not merged", work_dir.display()))?;
        anstream::println!(
            "{} added ({} in conflict with older ones), {} merged, {} skipped",
            report.added,
            report.conflicts,
            report.merged,
            report.skipped
        );
        Ok(ExitCode::SUCCESS)
    }
}
