//! Work that no remote has, saved under refs of its own before a worktree is removed or a branch
//! begins anew.
//!
//! Saved work is a commit under `refs/loopgate/saved/<key>/<time>`. Work that was not committed is a
//! commit whose tree holds every file that git does not ignore, and whose parents are HEAD and, where
//! something else was staged, a commit of the index. The state directories are left out, as they are of
//! every commit.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_api::ids::{BranchName, slug};
use loopgate_api::launch::Committer;
use loopgate_api::time::now_iso;
use loopgate_home::{Repository, RepositoryError};
use serde::{Deserialize, Serialize};

use super::changes::{WORK, committer_variables};
use super::status::{StatusChange, parse_status};
use super::{CallerPresence, Git, GitError, checked, finish, time};
use crate::process::{Command, Stdin};

/// Where saved work lies.
const SAVED: &str = "refs/loopgate/saved/";
/// Options of `rev-list` that leave out what saved work already holds.
const NOT_SAVED: &str = "--glob=refs/loopgate/saved/*";
/// Name of the index in which the files are collected, among the records of the worktree.
const INDEX: &str = "loopgate-index";
/// Bytes of an index that is copied.
const MAX_INDEX: u64 = 512 * 1024 * 1024;
/// The tree without files, which git knows without having it.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// Mode of a repository inside a tree.
const REPOSITORY_MODE: &str = "160000";

/// Work that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedWork {
    /// `<key>/<time>`, by which it is restored and deleted.
    #[serde(rename = "saved")]
    pub name: String,
    /// Its commit.
    pub commit: String,
    /// The first line of the commit's message.
    pub subject: String,
}

impl Git {
    /// Saves what would be lost with a worktree: files and staged changes that are not committed, and
    /// commits of a HEAD that no branch, tag or remote has. Answers its name; `None` when nothing would
    /// be lost.
    ///
    /// # Errors
    /// [`GitError`], also when the worktree holds what no commit can: another repository, or changes in
    /// a submodule. Commits are saved even then.
    pub async fn save_worktree(&self, directory: &Path) -> Result<Option<String>, GitError> {
        let repository = self.repository(directory).await?;
        if !repository.is_root() || repository.own == repository.common {
            return Err(refused("it is not a worktree"));
        }
        let key = key_of(directory);
        let head = self.commit_of(directory, "HEAD").await?;
        let found = self.commit_of_files(&repository, head.as_deref()).await;
        if let Ok(Some(commit)) = &found {
            return self.save(directory, &key, commit).await.map(Some);
        }
        let saved = match head {
            Some(head) => self.save_head(directory, directory, &head).await?,
            None => None,
        };
        found.map(|_| saved)
    }

    /// Saves the commits of a worktree's HEAD that no branch, tag, remote or saved work has.
    pub(super) async fn save_head(
        &self,
        repository: &Path,
        worktree: &Path,
        head: &str,
    ) -> Result<Option<String>, GitError> {
        let args = ["rev-list", "-n", "1", head, "--not", "--branches", "--tags", "--remotes", NOT_SAVED];
        if self.text(repository, &args, time::LOCAL).await?.is_empty() {
            return Ok(None);
        }
        self.save(repository, &key_of(worktree), head).await.map(Some)
    }

    /// Saves the commits of a branch that `base`, every remote and all saved work lack. Answers the
    /// name; `None` when there are none.
    ///
    /// # Errors
    /// [`GitError`]
    pub(super) async fn save_branch(
        &self,
        repository: &Path,
        branch: &BranchName,
        base: &str,
    ) -> Result<Option<String>, GitError> {
        let local = format!("refs/heads/{branch}");
        let Some(commit) = self.commit_of(repository, &local).await? else { return Ok(None) };
        let args = ["rev-list", "-n", "1", &commit, "--not", base, "--remotes", NOT_SAVED];
        if self.text(repository, &args, time::LOCAL).await?.is_empty() {
            return Ok(None);
        }
        self.save(repository, &slug(branch.as_str()), &commit).await.map(Some)
    }

    /// The work that is saved in a repository, by name.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn saved_work(&self, repository: &Path) -> Result<Vec<SavedWork>, GitError> {
        let args = ["for-each-ref", "--format=%(refname)%00%(objectname)%00%(contents:subject)", SAVED];
        let listed = self.text(repository, &args, time::LOCAL).await?;
        let entry = |line: &str| {
            let mut parts = line.splitn(3, '\0');
            let name = parts.next()?.strip_prefix(SAVED)?.to_owned();
            Some(SavedWork { name, commit: parts.next()?.to_owned(), subject: parts.next()?.to_owned() })
        };
        Ok(listed.lines().filter_map(entry).collect())
    }

    /// Puts saved work on a branch `saved/<name>`; it stays saved. Answers the branch.
    ///
    /// # Errors
    /// [`GitError`], also when the branch is there with other commits.
    pub async fn restore_saved(&self, repository: &Path, saved: &SavedWork) -> Result<BranchName, GitError> {
        let name = format!("saved/{}", saved.name);
        let branch: BranchName = name.parse().map_err(|_| GitError::Unreadable("for-each-ref"))?;
        let there = self.commit_of(repository, &format!("refs/heads/{branch}")).await?;
        if there.as_ref() != Some(&saved.commit) {
            let args = ["branch", "--no-track", branch.as_str(), &saved.commit];
            self.change(repository, &args, time::LOCAL).await?;
        }
        Ok(branch)
    }

    /// Deletes saved work.
    ///
    /// # Errors
    /// [`GitError`], also when it is not what it was when it was listed.
    pub async fn delete_saved(&self, repository: &Path, saved: &SavedWork) -> Result<(), GitError> {
        let name = format!("{SAVED}{}", saved.name);
        self.change(repository, &["update-ref", "-d", &name, &saved.commit], time::LOCAL).await.map(drop)
    }

    async fn save(&self, directory: &Path, key: &str, commit: &str) -> Result<String, GitError> {
        let time = now_iso().replace(['-', ':'], "");
        let name = format!("{key}/{time}");
        // The empty old value: nothing that is saved is ever replaced.
        let args = ["update-ref", &format!("{SAVED}{name}"), commit, ""];
        self.change(directory, &args, time::LOCAL).await?;
        tracing::info!(name, "work that no remote has is saved");
        Ok(name)
    }

    /// A commit of the files that are not committed; `None` when there are none.
    async fn commit_of_files(
        &self,
        repository: &Arc<Repository>,
        head: Option<&str>,
    ) -> Result<Option<String>, GitError> {
        let index = repository.own.join(INDEX);
        let committed = self.commit_from(repository, &index, head).await;
        let records = repository.clone();
        let removed = tokio::task::spawn_blocking(move || records.handles.own.remove_file(OsStr::new(INDEX)));
        let _ = removed.await;
        committed
    }

    async fn commit_from(
        &self,
        repository: &Arc<Repository>,
        index: &Path,
        head: Option<&str>,
    ) -> Result<Option<String>, GitError> {
        let root = repository.root.as_path();
        let before = match head {
            Some(head) => self.text(root, &["rev-parse", &format!("{head}^{{tree}}")], time::LOCAL).await?,
            None => EMPTY_TREE.to_owned(),
        };
        let records = repository.clone();
        let copied = tokio::task::spawn_blocking(move || copy_index(&records)).await;
        copied
            .map_err(io::Error::other)
            .flatten()
            .map_err(RepositoryError::Disk)
            .map_err(GitError::Repository)?;
        // An index with conflicts, or one that cannot be read, is no tree of its own.
        let staged = self.tree_of(root, index).await.ok();
        if staged.is_none() && self.unstaged(repository, index).await.is_err() {
            let read = if head.is_some() { "HEAD" } else { "--empty" };
            self.in_index(root, index, &["read-tree", read], Vec::new()).await?;
        }
        let changes = self.unstaged(repository, index).await?;
        if !changes.is_empty() {
            let paths = changes.into_iter().flat_map(|change| change.path.into_iter().chain([0])).collect();
            let args = ["--literal-pathspecs", "add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"];
            self.in_index(root, index, &args, paths).await?;
            if !self.unstaged(repository, index).await?.is_empty() {
                return Err(refused("it holds changes that no commit can hold"));
            }
        }
        let after = self.tree_of(root, index).await?;
        if after == before && staged.as_ref().is_none_or(|staged| *staged == before) {
            return Ok(None);
        }
        let differs = self.in_index(root, index, &["diff-tree", "-r", &before, &after], Vec::new()).await?;
        if differs.lines().any(|line| line.split(' ').nth(1) == Some(REPOSITORY_MODE)) {
            return Err(refused("another repository lies in it"));
        }
        let branch = self.current_branch(root).await?.unwrap_or_else(|| "no branch".to_owned());
        let mut parents: Vec<String> = head.map(str::to_owned).into_iter().collect();
        if let Some(staged) = staged.filter(|staged| *staged != before && *staged != after) {
            let subject = format!("Staged changes on {branch}");
            parents.push(self.commit_tree(root, &staged, &parents, &subject).await?);
        }
        let subject = format!("Work on {branch} that was not committed");
        self.commit_tree(root, &after, &parents, &subject).await.map(Some)
    }

    /// Paths outside the state directories that differ from an index.
    async fn unstaged(
        &self,
        repository: &Arc<Repository>,
        index: &Path,
    ) -> Result<Vec<StatusChange>, GitError> {
        let args = ["status"];
        let command = self.status_command(repository).await?.args(WORK).env("GIT_INDEX_FILE", index);
        let output = checked(&args, finish(&command, &args, time::ASKED_FOR, CallerPresence::Needed).await?)?;
        let changes = parse_status(&output.stdout).changes.into_iter();
        Ok(changes.filter(|change| change.tree != ' ').collect())
    }

    async fn tree_of(&self, root: &Path, index: &Path) -> Result<String, GitError> {
        self.in_index(root, index, &["write-tree"], Vec::new()).await
    }

    /// Runs git with an index of ours.
    async fn in_index(
        &self,
        root: &Path,
        index: &Path,
        args: &[&str],
        input: Vec<u8>,
    ) -> Result<String, GitError> {
        let command = self.stager(root).await?.env("GIT_INDEX_FILE", index).stdin(Stdin::Bytes(input));
        self.run_writer(command, args).await
    }

    async fn commit_tree(
        &self,
        root: &Path,
        tree: &str,
        parents: &[String],
        subject: &str,
    ) -> Result<String, GitError> {
        let mut args = vec!["commit-tree", tree, "-m", subject];
        args.extend(parents.iter().flat_map(|parent| ["-p", parent]));
        let own = Committer { name: "Loopgate".to_owned(), email: "loopgate@localhost".to_owned() };
        let command = self.command(root).await?;
        let command =
            committer_variables(&own).into_iter().fold(command, |all, (name, value)| all.env(name, value));
        self.run_writer(command, &args).await
    }

    async fn run_writer(&self, command: Command, args: &[&str]) -> Result<String, GitError> {
        let command = command.session().args(args);
        let output = checked(args, finish(&command, args, time::ASKED_FOR, CallerPresence::MayLeave).await?)?;
        Ok(output.stdout_text().trim().to_owned())
    }
}

/// Copies the index of a worktree; without one, the copy is absent as well. Blocks on the disk.
fn copy_index(repository: &Repository) -> io::Result<()> {
    let own = &repository.handles.own;
    match own.read(Path::new("index"), MAX_INDEX) {
        Ok(bytes) => own.replace(OsStr::new(INDEX), &bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// What the work of a worktree is saved under.
fn key_of(directory: &Path) -> String {
    let name: PathBuf = directory.file_name().unwrap_or_default().into();
    slug(&name.to_string_lossy())
}

fn refused(reason: &str) -> GitError {
    GitError::Repository(RepositoryError::Refused(reason.to_owned()))
}
