//! Staging and committing the changes in a checkout.
//!
//! The state directories of Loopgate and of the assistant are excluded everywhere.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use loopgate_api::launch::Committer;

use super::status::{StatusChange, parse_status};
use super::{DropPolicy, Git, GitError, checked, finish, time};
use crate::process::{Command, Stdin};

/// Pathspec of everything except the state directories.
pub(super) const WORK: [&str; 4] = ["--", ".", ":!.claude", ":!.loopgate"];

impl Git {
    /// Returns the changes since the last commit, outside the state directories and including those inside of
    /// submodules: what would be lost with the working tree.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a working tree.
    pub async fn changes(&self, directory: &Path) -> Result<Vec<StatusChange>, GitError> {
        let repository = self.repository(directory).await?;
        work_changes(self.status_command(&repository).await?).await
    }

    /// Stages all changes outside the state directories.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when another process holds the index lock.
    pub async fn stage(&self, directory: &Path) -> Result<(), GitError> {
        self.stage_except(directory, &HashSet::new()).await
    }

    async fn stage_except(&self, directory: &Path, excluded: &HashSet<Vec<u8>>) -> Result<(), GitError> {
        // `git add` fails when a file vanishes after `git status` listed it, so both are repeated once.
        match self.stage_once(directory, excluded).await {
            Err(GitError::Failed { .. }) => self.stage_once(directory, excluded).await,
            result => result,
        }
    }

    async fn stage_once(&self, directory: &Path, excluded: &HashSet<Vec<u8>>) -> Result<(), GitError> {
        // Paths are listed explicitly: with an exclude pathspec, `git add` fails where a state directory is
        // ignored.
        let changes = self.changes_except(directory, excluded).await?;
        // Staging a file marks its conflicts as resolved.
        self.ensure_no_conflicts(directory, &changes).await?;
        let unstaged = changes.into_iter().filter(|change| change.tree != ' ');
        let paths: Vec<u8> = unstaged.flat_map(|change| change.path.into_iter().chain([0])).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let args = ["--literal-pathspecs", "add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let command = self.stager(directory).await?.session().args(args).stdin(Stdin::Bytes(paths));
        let output = checked(
            &args,
            finish(&command, &args, self.idle_limit(time::COMMIT), DropPolicy::Complete).await?,
        );
        self.with_hint(directory, output).await.map(drop)
    }

    /// Commits the staged changes and returns the commit. Hooks run if the user trusts the repository. A
    /// committer replaces the configured author and committer.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when nothing is staged or a hook rejects the commit.
    pub async fn commit(
        &self,
        directory: &Path,
        message: &str,
        committer: Option<&Committer>,
        within: Duration,
    ) -> Result<String, GitError> {
        let args = ["commit", "-m", message];
        let mut command = self.command(directory).await?.session().args(args);
        for (name, value) in committer.map(committer_variables).into_iter().flatten() {
            command = command.env(name, value);
        }
        let output =
            checked(&args, finish(&command, &args, self.idle_limit(within), DropPolicy::Complete).await?);
        self.with_hint(directory, output).await?;
        self.head(directory).await
    }

    /// Stages and commits all changes outside the state directories. Returns `None` when there are none.
    ///
    /// # Errors
    /// Fails with [`GitError`] as [`Git::stage`] and [`Git::commit`] do.
    pub async fn commit_all(
        &self,
        directory: &Path,
        message: &str,
        committer: Option<&Committer>,
    ) -> Result<Option<String>, GitError> {
        self.commit_all_except(directory, message, committer, &HashSet::new()).await
    }

    /// As [`Git::commit_all`], except for these paths, which are not staged.
    ///
    /// # Errors
    /// Fails with [`GitError`] as [`Git::stage`] and [`Git::commit`] do.
    pub async fn commit_all_except(
        &self,
        directory: &Path,
        message: &str,
        committer: Option<&Committer>,
        excluded: &HashSet<Vec<u8>>,
    ) -> Result<Option<String>, GitError> {
        if self.changes_except(directory, excluded).await?.is_empty() {
            return Ok(None);
        }
        self.stage_except(directory, excluded).await?;
        self.commit(directory, message, committer, time::COMMIT).await.map(Some)
    }

    async fn changes_except(
        &self,
        directory: &Path,
        excluded: &HashSet<Vec<u8>>,
    ) -> Result<Vec<StatusChange>, GitError> {
        if excluded.is_empty() {
            let repository = self.repository(directory).await?;
            return work_changes(self.commit_status_command(&repository).await?).await;
        }
        // File by file: an untracked directory is otherwise a single entry, from which no file can be
        // excluded.
        let mut changes = self.changed_files(directory).await?;
        changes.retain(|change| !excluded.contains(&change.path));
        Ok(changes)
    }

    /// Returns whether a path of the working tree is tracked.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a working tree.
    pub async fn tracks(&self, directory: &Path, path: &str) -> Result<bool, GitError> {
        let args = ["--literal-pathspecs", "ls-files", "--error-unmatch", "--", path];
        self.run_predicate(directory, &args).await
    }
}

/// Runs a `git status` command on everything except the state directories. A rename is reported as two changes, because
/// each of them is staged by its own path.
async fn work_changes(command: Command) -> Result<Vec<StatusChange>, GitError> {
    let (command, args) = (command.arg("--no-renames").args(WORK), ["status"]);
    let output = checked(&args, finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?)?;
    Ok(parse_status(&output.stdout).changes)
}

/// Returns the environment variables that set author and committer of a commit.
#[must_use]
pub fn committer_variables(committer: &Committer) -> [(&'static str, String); 4] {
    [
        ("GIT_AUTHOR_NAME", committer.name.clone()),
        ("GIT_AUTHOR_EMAIL", committer.email.clone()),
        ("GIT_COMMITTER_NAME", committer.name.clone()),
        ("GIT_COMMITTER_EMAIL", committer.email.clone()),
    ]
}
