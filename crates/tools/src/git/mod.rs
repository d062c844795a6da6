//! Git, as far as loops and routes need it, with typed operations and results.
//!
//! Runs the user's git program without a shell and with prompts disabled. Names are passed as full refs or
//! after `--end-of-options`, so that none is parsed as an option. Contains no logic of loops.

mod actions;
mod branch;
mod branch_status;
mod branches;
mod changed_files;
mod changes;
mod checkout;
mod cleanup;
mod command;
mod comparison;
mod config;
mod config_listing;
mod error;
mod failure;
mod file_diff;
mod generated;
mod hidden_work;
mod index_copy;
mod known_config;
mod lfs;
mod locks;
mod objects;
mod outgoing;
mod patches;
mod preserved_state;
mod published;
mod remote;
mod removal;
mod saved;
mod status;
mod submodules;
mod trust;
mod unfinished;
mod worktree;
mod worktree_include;
mod worktree_lock;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_home::{Program, Sandbox, TrustStore};

pub use actions::{Action, BranchDiff, SwitchName, SyncStatus, is_base_name, parse_name_status};
pub use branch::{LOOP_NAMESPACE, is_loop_branch};
pub use branch_status::{BranchStatus, BranchStatusBatch};
pub use branches::{Branch, BranchListing, Branches, ListedWorktree, Refs, parse_refs, ticket_in};
pub use changed_files::{CommitSummary, ComparedFile, FileChanges, MAX_CHANGED_FILES};
pub use changes::committer_variables;
pub use checkout::CheckoutKind;
pub use cleanup::{CleanupOutcome, pull_request_worktrees};
pub(crate) use command::REAL_OBJECTS;
pub use comparison::{ChangeKind, ChangeRange, ObjectHash};
pub use config_listing::{ConfigListing, UntraceableConfig};
pub use error::GitError;
pub use failure::{FailureCategory, GitFailure};
pub use file_diff::{FileDiff, FileDiffError, FilePath, MAX_SIDE_BYTES, is_binary};
pub use generated::GeneratedKind;
pub use hidden_work::{BranchTip, HeadMove, IgnoreRule, RemoteRef, Stash};
pub use lfs::LfsGap;
pub use locks::remove_stale_locks;
pub use outgoing::OutgoingFile;
pub use patches::{FilePatch, PatchOptions, Patches};
pub use preserved_state::{PreservedState, rename_aside};
pub use published::UnpublishedSubmodule;
pub use removal::{NamedRemovalError, RemovalMethod};
pub use saved::SavedWork;
pub use status::{ChangedFiles, Status, StatusChange, TreeEntry, parse_status};
pub use submodules::MissingSubmodule;
pub use trust::{ExecutableContent, ExecutablePart, instruction_part};
pub use unfinished::UnfinishedOperation;
pub use worktree::{RemoveWorktreeError, Worktree, parse_worktrees};

use self::known_config::KnownConfigs;
use self::submodules::KnownSubmodules;
use crate::process::{Command, Limits, Output};
use crate::programs::Programs;

/// Timeouts of git commands, by kind. For commands that write or contact a remote, the time without any activity: the
/// line may be slow, and hooks may run tests.
pub mod time {
    use std::time::Duration;

    /// Queries, and small changes of refs and configuration in the clone.
    pub const LOCAL: Duration = Duration::from_secs(10);
    /// Fetching from a remote, and queries to a remote.
    pub const FETCH: Duration = Duration::from_secs(30);
    /// `git worktree add`, which checks out the complete working tree.
    pub const WORKTREE_ADD: Duration = Duration::from_secs(30);
    /// `git worktree remove`, which deletes the working tree.
    pub const WORKTREE_REMOVE: Duration = Duration::from_secs(15);
    /// The commit of a loop, including its hooks.
    pub const COMMIT: Duration = Duration::from_secs(30);
    /// The push of a loop, including its hooks.
    pub const PUSH: Duration = Duration::from_secs(120);
    /// The upload of a loop's files to Git LFS, which may be large. A repetition continues it.
    pub const LFS_PUSH: Duration = Duration::from_secs(600);
    /// Operations that the user requested. Longer, because the user can see the progress of hooks.
    pub const USER_OPERATION: Duration = Duration::from_secs(120);
}

/// Number of retries, and the delay before each, after git found an incomplete worktree.
const INCOMPLETE_RETRIES: usize = 10;
const INCOMPLETE_DELAY: Duration = Duration::from_millis(30);

/// Whether a command depends on its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropPolicy {
    /// A reading command: killed when the future is dropped.
    Kill,
    /// A writing command: runs to completion even when the future is dropped.
    Complete,
    /// A writing command that may end at any point, such as a push: killed when the future is dropped.
    Interrupt,
}

/// The user's git program, restricted to repositories in the sandbox.
#[derive(Debug, Clone)]
pub struct Git {
    programs: Arc<Programs>,
    sandbox: Arc<Sandbox>,
    known_configs: Arc<KnownConfigs>,
    known_submodules: Arc<KnownSubmodules>,
}

impl Git {
    /// Creates a handle that uses the configured git, or the first one on the login shell's PATH.
    #[must_use]
    pub fn new(programs: Arc<Programs>, sandbox: Arc<Sandbox>) -> Self {
        Self { programs, sandbox, known_configs: Arc::default(), known_submodules: Arc::default() }
    }

    /// Returns the path of the git program.
    pub async fn executable(&self) -> PathBuf {
        self.programs.executable(Program::Git).await
    }

    /// Returns the environment in which git runs.
    pub async fn environment(&self) -> BTreeMap<OsString, OsString> {
        self.programs.environment().await
    }

    /// Returns the file that records which repositories the user trusts.
    #[must_use]
    pub fn trust_file(&self) -> PathBuf {
        TrustStore::new(self.sandbox.data_dir()).path().to_owned()
    }

    /// Runs a reading command. An exit code other than 0 is not an error.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git did not start, or exceeded its time limit or output cap.
    pub async fn output(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
    ) -> Result<Output, GitError> {
        let command = self.reader(directory).await?.args(args);
        finish(&command, args, within, DropPolicy::Kill).await
    }

    /// Runs a reading command and returns its output without surrounding whitespace.
    ///
    /// # Errors
    /// Fails with [`GitError`], also for an exit code other than 0.
    pub async fn text(&self, directory: &Path, args: &[&str], within: Duration) -> Result<String, GitError> {
        let output = checked(args, self.output(directory, args, within).await?)?;
        Ok(output.stdout_text().trim().to_owned())
    }

    /// Runs a command that answers by exit code: 0 is `true`, 1 is `false`.
    async fn run_predicate(&self, directory: &Path, args: &[&str]) -> Result<bool, GitError> {
        let output = self.output(directory, args, time::LOCAL).await?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(GitError::failed(args, &output)),
        }
    }

    /// Runs a command that writes or contacts a remote: in a session without a terminal, and to completion
    /// even when the future is dropped.
    ///
    /// # Errors
    /// Fails with [`GitError`], also for an exit code other than 0.
    pub async fn change(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
    ) -> Result<Output, GitError> {
        self.change_with(directory, args, within, DropPolicy::Complete).await
    }

    /// As [`Git::change`], with further arguments such as paths, whose bytes need not be UTF-8.
    async fn change_at(
        &self,
        directory: &Path,
        args: &[&str],
        rest: &[&OsStr],
        within: Duration,
    ) -> Result<Output, GitError> {
        let command = self.command(directory).await?.session().args(args).args(rest);
        let output = finish(&command, args, self.idle_limit(within), DropPolicy::Complete).await?;
        self.with_hint(directory, checked(args, output)).await
    }

    async fn change_with(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
        on_drop: DropPolicy,
    ) -> Result<Output, GitError> {
        let command = self.command(directory).await?.session().args(args);
        let output = checked(args, finish(&command, args, self.idle_limit(within), on_drop).await?);
        self.with_hint(directory, output).await
    }

    /// Returns how long a writing command may show no activity. The user's setting takes precedence.
    fn idle_limit(&self, within: Duration) -> Duration {
        self.programs.git_idle_limit().unwrap_or(within)
    }
}

/// Runs a prepared command and converts exceeded limits to errors. Retries when it met an incomplete
/// worktree. For a writing command, `within` limits the time without activity.
///
/// # Errors
/// Fails with [`GitError`] when git did not start, or exceeded its time limit or output cap.
pub async fn finish(
    command: &Command,
    args: &[&str],
    within: Duration,
    on_drop: DropPolicy,
) -> Result<Output, GitError> {
    let limits = match on_drop {
        DropPolicy::Kill => Limits::time(within),
        DropPolicy::Interrupt | DropPolicy::Complete => Limits::idle(within),
    };
    let run = async || match on_drop {
        DropPolicy::Kill | DropPolicy::Interrupt => command.run(limits).await,
        DropPolicy::Complete => command.run_to_completion(limits).await,
    };
    let mut output = run().await.map_err(|source| GitError::not_started(args, source))?;
    for _ in 0..INCOMPLETE_RETRIES {
        if !met_incomplete_worktree(&output) {
            break;
        }
        tokio::time::sleep(INCOMPLETE_DELAY).await;
        output = run().await.map_err(|source| GitError::not_started(args, source))?;
    }
    GitError::check_limits(args, output, limits)
}

/// Returns whether git failed because of a concurrent `git worktree add`, which creates the files of a
/// worktree one by one, or `git worktree prune`, which removes incomplete worktrees.
fn met_incomplete_worktree(output: &Output) -> bool {
    let message = |text: &str| output.stderr_text().contains(text);
    !output.status.success() && (message("/commondir: ") || message("/locked' for writing: "))
}

fn checked(args: &[&str], output: Output) -> Result<Output, GitError> {
    if output.status.success() { Ok(output) } else { Err(GitError::failed(args, &output)) }
}
