//! Git, as far as loops and routes need it: typed questions, typed answers.
//!
//! Everything runs the user's git program without a shell and without a way to ask anybody for a
//! password. Names given to git are full refs or follow `--end-of-options`, so that none is ever
//! read as an option. Decides nothing about loops.

mod actions;
mod branch;
mod branch_status;
mod branches;
mod changes;
mod checkout;
mod cleanup;
mod command;
mod config;
mod error;
mod failure;
mod file_diff;
mod locks;
mod objects;
mod outgoing;
mod preserved_state;
mod remote;
mod removal;
mod saved;
mod status;
mod submodules;
mod trust;
mod worktree;
mod worktree_lock;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_home::{Program, Sandbox, TrustStore};

pub use actions::{Action, BranchDiff, SwitchName, SyncStatus, is_base_name, parse_name_status};
pub use branch_status::{BranchStatus, BranchStatusBatch};
pub use branches::{Branch, BranchListing, Branches, ListedWorktree, Refs, parse_refs, ticket_in};
pub use changes::committer_variables;
pub use checkout::CheckoutKind;
pub use cleanup::{CleanupOutcome, pull_request_worktrees};
pub use error::GitError;
pub use failure::{FailureCategory, GitFailure};
pub use file_diff::{FileDiff, FileDiffError, FilePath, MAX_SIDE_BYTES, is_binary};
pub use locks::free_locks;
pub use outgoing::OutgoingFile;
pub use preserved_state::{PreservedState, rename_out_of_place};
pub use removal::{NamedRemovalError, RemovalMethod};
pub use saved::SavedWork;
pub use status::{ChangedFiles, Status, StatusChange, TreeEntry, parse_status};
pub use trust::{ExecutableContent, ExecutablePart};
pub use worktree::{RemoveWorktreeError, Worktree, parse_worktrees};

use crate::process::{Command, Limits, Output};
use crate::programs::Programs;

/// How long each kind of command may take.
pub mod time {
    use std::time::Duration;

    /// Questions and small changes in the clone.
    pub const LOCAL: Duration = Duration::from_secs(10);
    /// Asking a remote for what is new.
    pub const FETCH: Duration = Duration::from_secs(30);
    /// Making a worktree.
    pub const WORKTREE_ADD: Duration = Duration::from_secs(30);
    /// Removing a worktree.
    pub const WORKTREE_REMOVE: Duration = Duration::from_secs(15);
    /// A loop's commit, hooks included.
    pub const COMMIT: Duration = Duration::from_secs(30);
    /// A loop's push.
    pub const PUSH: Duration = Duration::from_secs(60);
    /// A commit, push or pull that a person asked for.
    pub const ASKED_FOR: Duration = Duration::from_secs(120);
}

/// How often, and after which pause, git is asked again that met a half-made worktree.
const HALF_MADE_TRIES: usize = 10;
const HALF_MADE_PAUSE: Duration = Duration::from_millis(30);

/// What becomes of a command when its caller goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerPresence {
    /// It only reads: it ends with its caller.
    Needed,
    /// It writes: it runs to its end.
    MayLeave,
}

/// The user's git.
#[derive(Debug, Clone)]
pub struct Git {
    programs: Arc<Programs>,
    sandbox: Arc<Sandbox>,
}

impl Git {
    /// Git as the settings and the login shell's PATH name it, in repositories of the sandbox.
    #[must_use]
    pub fn new(programs: Arc<Programs>, sandbox: Arc<Sandbox>) -> Self {
        Self { programs, sandbox }
    }

    /// The git program that the settings name.
    pub async fn executable(&self) -> PathBuf {
        self.programs.executable(Program::Git).await
    }

    /// The environment in which git runs.
    pub async fn environment(&self) -> BTreeMap<OsString, OsString> {
        self.programs.environment().await
    }

    /// The file that records which repositories the person trusts, which decides what git may run.
    #[must_use]
    pub fn trust_file(&self) -> PathBuf {
        TrustStore::new(self.sandbox.data_dir()).path().to_owned()
    }

    /// Runs git with these arguments; any exit code is an answer.
    ///
    /// # Errors
    /// [`GitError`] when it did not start, took too long or printed too much.
    pub async fn output(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
    ) -> Result<Output, GitError> {
        let command = self.reader(directory).await?.args(args);
        finish(&command, args, within, CallerPresence::Needed).await
    }

    /// Runs git with these arguments and returns what it printed, trimmed.
    ///
    /// # Errors
    /// [`GitError`], also for an exit code other than 0.
    pub async fn text(&self, directory: &Path, args: &[&str], within: Duration) -> Result<String, GitError> {
        let output = checked(args, self.output(directory, args, within).await?)?;
        Ok(output.stdout_text().trim().to_owned())
    }

    /// Whether a yes-or-no command says yes: code 0. Code 1 is no.
    async fn says_yes(&self, directory: &Path, args: &[&str]) -> Result<bool, GitError> {
        let output = self.output(directory, args, time::LOCAL).await?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(GitError::failed(args, &output)),
        }
    }

    /// Runs a command that writes or touches the network: without a terminal, and to its end even
    /// when the caller goes away.
    ///
    /// # Errors
    /// [`GitError`], also for an exit code other than 0.
    pub async fn change(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
    ) -> Result<Output, GitError> {
        let command = self.command(directory).await?.session().args(args);
        let done = checked(args, finish(&command, args, within, CallerPresence::MayLeave).await?);
        self.with_hint(directory, done).await
    }
}

/// Runs a prepared command and turns limits into errors.
///
/// # Errors
/// [`GitError`] when it did not start, took too long or printed too much.
pub async fn finish(
    command: &Command,
    args: &[&str],
    within: Duration,
    caller: CallerPresence,
) -> Result<Output, GitError> {
    let limits = Limits::time(within);
    let run = async || match caller {
        CallerPresence::Needed => command.run(limits).await,
        CallerPresence::MayLeave => command.run_undisturbed(limits).await,
    };
    let mut output = run().await.map_err(|source| GitError::not_started(args, source))?;
    for _ in 0..HALF_MADE_TRIES {
        if !met_half_made_worktree(&output) {
            break;
        }
        tokio::time::sleep(HALF_MADE_PAUSE).await;
        output = run().await.map_err(|source| GitError::not_started(args, source))?;
    }
    GitError::check_limits(args, output, within)
}

/// Whether git gave up because another git was just adding a worktree, whose files it reads before
/// they are all written, or pruning, which takes away what an `add` has just begun.
fn met_half_made_worktree(output: &Output) -> bool {
    let message = |text: &str| output.stderr_text().contains(text);
    !output.status.success() && (message("/commondir: ") || message("/locked' for writing: "))
}

fn checked(args: &[&str], output: Output) -> Result<Output, GitError> {
    if output.status.success() { Ok(output) } else { Err(GitError::failed(args, &output)) }
}
