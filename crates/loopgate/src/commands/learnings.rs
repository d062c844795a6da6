//! `loopgate learnings`: called by the self-learning plugin.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Subcommand;
use loopgate_api::names::{STATE_DIR, env};
use loopgate_home::{Remotes, parse_config_list};
use loopgate_learnings::{Classification, LearningSource, PatternStore, UnclassifiedLearning};
use loopgate_tools::process::{Command, Limits};

use crate::commands::block_on;

/// Timeout of a git command, which only reads the local repository.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Process the learnings of loops and chats.
#[derive(Debug, Subcommand)]
pub enum LearningsCommand {
    /// Classify the pending learnings of a work directory, and merge them into
    /// ~/.loopgate/learnings/org-patterns.toon.
    Process {
        /// Work directory: `.loopgate/work` of a worktree.
        work_dir: PathBuf,
    },
}

impl LearningsCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let Self::Process { work_dir } = self;
        let work_dir = std::path::absolute(work_dir)?;
        let home = etcetera::home_dir().context("cannot determine your home directory; set HOME")?;
        let store = PatternStore::new(home.join(STATE_DIR).join("learnings"), None);
        // `.loopgate/work` is two levels below the worktree.
        let root = work_dir.ancestors().nth(2).unwrap_or(&work_dir);
        let checkout = block_on(async { Ok(checkout(root).await) })?;
        let report = loopgate_learnings::process(&work_dir, &store, &checkout, classify)
            .map_err(|reason| anyhow!(reason))
            .with_context(|| format!("cannot merge the learnings in {}", work_dir.display()))?;
        anstream::println!(
            "{} added ({} in conflict with older ones), {} merged, {} skipped, {} rejected",
            report.added,
            report.conflicts,
            report.merged,
            report.skipped,
            report.rejected
        );
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the repository and commit of a checkout. Values that git does not report are empty.
async fn checkout(root: &Path) -> LearningSource {
    let git = async |args: &[&str]| {
        let output =
            Command::new("git").args(args).directory(root).run(Limits::time(GIT_TIMEOUT)).await.ok()?;
        output.status.success().then(|| output.stdout_text().trim().to_owned())
    };
    let config = git(&["config", "--null", "--get-regexp", "^remote\\."]).await;
    let base =
        config.and_then(|printed| Remotes::of(&parse_config_list(printed.as_bytes()).ok()?).base_repository);
    let repo = base.map(|repository| repository.full_name.name().to_owned());
    let commit = git(&["rev-parse", "--verify", "--quiet", "HEAD"]).await;
    LearningSource {
        repo: repo.unwrap_or_default(),
        commit: commit.unwrap_or_default(),
        ..LearningSource::default()
    }
}

/// Classifies learnings with the assistant.
fn classify(learnings: &[UnclassifiedLearning]) -> Result<Vec<Classification>, String> {
    let result = block_on(async {
        // In an empty directory, where no repository configures the assistant.
        let directory = tempfile::tempdir().context("cannot create a temporary directory")?;
        let assistant = std::env::var_os(env::ASSISTANT_BIN).filter(|path| !path.is_empty());
        let assistant = Command::new(assistant.unwrap_or_else(|| OsString::from("claude")));
        Ok(loopgate_learnings::classify(assistant.directory(directory.path()), learnings).await)
    });
    result.map_err(|error| error.to_string())?
}
