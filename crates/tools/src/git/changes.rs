//! Staging and committing the work in a checkout.
//!
//! The state directories of Loopgate and of the assistant are never looked at and never staged.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use loopgate_api::launch::Committer;

use super::status::{StatusChange, parse_status};
use super::{CallerPresence, Git, GitError, checked, finish, time};
use crate::process::Stdin;

/// Everything but the state directories.
pub(super) const WORK: [&str; 4] = ["--", ".", ":!.claude", ":!.loopgate"];

impl Git {
    /// What changed since the last commit, outside the state directories.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn changes(&self, directory: &Path) -> Result<Vec<StatusChange>, GitError> {
        let repository = self.repository(directory).await?;
        let (command, args) = (self.status_command(&repository).await?.args(WORK), ["status"]);
        let output = checked(&args, finish(&command, &args, time::LOCAL, CallerPresence::Needed).await?)?;
        Ok(parse_status(&output.stdout).changes)
    }

    /// Stages every change outside the state directories.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn stage(&self, directory: &Path) -> Result<(), GitError> {
        self.stage_but(directory, &HashSet::new()).await
    }

    async fn stage_but(&self, directory: &Path, left_out: &HashSet<Vec<u8>>) -> Result<(), GitError> {
        // A file may vanish between the look and the staging; then both are done again.
        match self.stage_once(directory, left_out).await {
            Err(GitError::Failed { .. }) => self.stage_once(directory, left_out).await,
            result => result,
        }
    }

    async fn stage_once(&self, directory: &Path, left_out: &HashSet<Vec<u8>>) -> Result<(), GitError> {
        // Handing the exclusions to `add` would fail wherever a state directory is ignored.
        let changes = self.changes_but(directory, left_out).await?;
        let unstaged = changes.into_iter().filter(|change| change.tree != ' ');
        let paths: Vec<u8> = unstaged.flat_map(|change| change.path.into_iter().chain([0])).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let args = ["--literal-pathspecs", "add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let command = self.stager(directory).await?.session().args(args).stdin(Stdin::Bytes(paths));
        let done = checked(&args, finish(&command, &args, time::LOCAL, CallerPresence::MayLeave).await?);
        self.with_hint(directory, done).await.map(drop)
    }

    /// Commits what is staged and returns the commit. Hooks run when they are trusted; the committer's name replaces the
    /// configured one when given.
    ///
    /// # Errors
    /// [`GitError`], also when nothing is staged or a hook refuses.
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
        let done = checked(&args, finish(&command, &args, within, CallerPresence::MayLeave).await?);
        self.with_hint(directory, done).await?;
        self.head(directory).await
    }

    /// Stages and commits everything outside the state directories; `None` when nothing changed.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn commit_all(
        &self,
        directory: &Path,
        message: &str,
        committer: Option<&Committer>,
    ) -> Result<Option<String>, GitError> {
        self.commit_all_but(directory, message, committer, &HashSet::new()).await
    }

    /// As [`Git::commit_all`], without these paths, which must not be staged.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn commit_all_but(
        &self,
        directory: &Path,
        message: &str,
        committer: Option<&Committer>,
        left_out: &HashSet<Vec<u8>>,
    ) -> Result<Option<String>, GitError> {
        if self.changes_but(directory, left_out).await?.is_empty() {
            return Ok(None);
        }
        self.stage_but(directory, left_out).await?;
        self.commit(directory, message, committer, time::COMMIT).await.map(Some)
    }

    async fn changes_but(
        &self,
        directory: &Path,
        left_out: &HashSet<Vec<u8>>,
    ) -> Result<Vec<StatusChange>, GitError> {
        if left_out.is_empty() {
            return self.changes(directory).await;
        }
        let mut changes = self.changed_files(directory).await?;
        changes.retain(|change| !left_out.contains(&change.path));
        Ok(changes)
    }

    /// Whether git tracks this path of the working tree.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn tracks(&self, directory: &Path, path: &str) -> Result<bool, GitError> {
        let args = ["--literal-pathspecs", "ls-files", "--error-unmatch", "--", path];
        self.says_yes(directory, &args).await
    }
}

/// The variables with which git takes a name from the environment.
#[must_use]
pub fn committer_variables(committer: &Committer) -> [(&'static str, String); 4] {
    [
        ("GIT_AUTHOR_NAME", committer.name.clone()),
        ("GIT_AUTHOR_EMAIL", committer.email.clone()),
        ("GIT_COMMITTER_NAME", committer.name.clone()),
        ("GIT_COMMITTER_EMAIL", committer.email.clone()),
    ]
}
