//! Work that is on no remote, saved under separate refs before a worktree is removed or a branch is reset.
//!
//! Saved work is a commit under `refs/loopgate/saved/<key>/<time>`. For uncommitted changes it is a commit of
//! all files that are not ignored. Its parents are HEAD and, if the index had other content, a commit of the
//! index. As in every commit, the state directories are excluded.

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
use super::index_copy::IndexCopy;
use super::published::parse_changed_submodules;
use super::status::{StatusChange, parse_status};
use super::{DropPolicy, Git, GitError, checked, finish, time};
use crate::process::{Command, Stdin};

/// Prefix of the refs. Outside `refs/heads`, so that they are neither listed as branches nor pushed.
const SAVED: &str = "refs/loopgate/saved/";
/// Argument of `rev-list` that excludes commits which are already saved.
const NOT_SAVED: &str = "--glob=refs/loopgate/saved/*";
/// Name of the temporary index, in the git directory of the worktree.
const INDEX: &str = "loopgate-index";
/// The empty tree, which is built into git.
pub(super) const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A saved commit and its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedWork {
    /// `<key>/<time>`, the ref without its prefix.
    #[serde(rename = "saved")]
    pub name: String,
    /// Full hash of the commit.
    pub commit: String,
    /// The first line of the commit's message.
    pub subject: String,
}

impl Git {
    /// Saves what would be lost with a worktree: unstaged and staged changes, and commits of HEAD that are on
    /// no branch, tag or remote; the same in its submodules that are worktrees of the clone's. Returns the names.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when the worktree contains work that cannot be saved: a nested repository, or a
    /// submodule whose repository is part of the worktree and has work that no remote has. All other work is saved even
    /// then.
    pub async fn save_worktree(&self, directory: &Path) -> Result<Vec<String>, GitError> {
        let repository = self.repository(directory).await?;
        if !repository.is_root() || !is_linked(&repository) {
            return Err(refused("it is not a worktree"));
        }
        let key = key_of(directory);
        let mut saved = Vec::new();
        let submodules = self.save_submodules(&repository, &key, &mut saved).await;
        let own = self.save_checkout(&repository, &key).await;
        saved.extend(own?);
        submodules.map(|()| saved)
    }

    /// Saves the work in all submodules of a worktree. Continues after a failure, which is returned at the end.
    async fn save_submodules(
        &self,
        repository: &Arc<Repository>,
        key: &str,
        saved: &mut Vec<String>,
    ) -> Result<(), GitError> {
        let mut result = Ok(());
        for submodule in self.submodule_checkouts(repository).await? {
            let path = submodule.root.strip_prefix(&repository.root).unwrap_or(&submodule.root);
            let key = format!("{key}-{}", slug(&path.to_string_lossy()));
            let outcome = if is_linked(&submodule) {
                self.save_checkout(&submodule, &key).await.map(|name| saved.extend(name))
            } else if self.has_work(&submodule).await? {
                Err(GitError::SubmoduleWork(path.to_owned()))
            } else {
                Ok(())
            };
            result = result.and(outcome);
        }
        result
    }

    async fn save_checkout(
        &self,
        repository: &Arc<Repository>,
        key: &str,
    ) -> Result<Option<String>, GitError> {
        let directory = repository.root.as_path();
        let head = self.commit_of(directory, "HEAD").await?;
        let committed_files = self.commit_of_files(repository, head.as_deref()).await;
        if let Ok(Some(commit)) = &committed_files {
            return self.save(directory, key, commit).await.map(Some);
        }
        let saved = match head {
            Some(head) => self.save_head(directory, key, &head).await?,
            None => None,
        };
        committed_files.map(|_| saved)
    }

    /// Returns whether a repository has uncommitted changes, or commits of any ref, also a stash, that no remote has.
    async fn has_work(&self, repository: &Arc<Repository>) -> Result<bool, GitError> {
        let root = repository.root.as_path();
        if !self.changes(root).await?.is_empty() {
            return Ok(true);
        }
        let args = ["rev-list", "-n", "1", "--all", "HEAD", "--not", "--remotes"];
        Ok(!self.text(root, &args, time::LOCAL).await?.is_empty())
    }

    /// Returns whether a submodule of a working tree has commits that are neither on a remote nor on a branch or tag of
    /// the clone's submodule.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when a submodule cannot be examined.
    pub async fn has_unpushed_submodules(&self, directory: &Path) -> Result<bool, GitError> {
        for submodule in self.submodule_checkouts(&self.repository(directory).await?).await? {
            let has_work = if is_linked(&submodule) {
                self.has_unpushed_commits(&submodule.root).await?
            } else {
                self.has_work(&submodule).await?
            };
            if has_work {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Saves the commits of a worktree's HEAD that are on no branch, tag or remote, and not saved yet.
    pub(super) async fn save_head(
        &self,
        repository: &Path,
        key: &str,
        head: &str,
    ) -> Result<Option<String>, GitError> {
        let args = ["rev-list", "-n", "1", head, "--not", "--branches", "--tags", "--remotes", NOT_SAVED];
        if self.text(repository, &args, time::LOCAL).await?.is_empty() {
            return Ok(None);
        }
        self.save(repository, key, head).await.map(Some)
    }

    /// Saves the commits of a branch that are neither on `base`, nor on any remote, nor saved yet. Returns
    /// the name; `None` when there are none.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown `base`.
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

    /// Lists the saved work of a repository, sorted by name.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example outside a repository.
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

    /// Creates the branch `saved/<name>` at saved work, which stays saved. Returns the branch.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when the branch exists with another commit.
    pub async fn restore_saved(&self, repository: &Path, saved: &SavedWork) -> Result<BranchName, GitError> {
        let name = format!("saved/{}", saved.name);
        let branch: BranchName = name.parse().map_err(|_| GitError::Unreadable("for-each-ref"))?;
        let existing = self.commit_of(repository, &format!("refs/heads/{branch}")).await?;
        if existing.as_ref() != Some(&saved.commit) {
            let args = ["branch", "--no-track", branch.as_str(), &saved.commit];
            self.change(repository, &args, time::LOCAL).await?;
        }
        Ok(branch)
    }

    /// Deletes saved work. Its commits are garbage-collected by git later.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when the ref changed since it was listed.
    pub async fn delete_saved(&self, repository: &Path, saved: &SavedWork) -> Result<(), GitError> {
        let name = format!("{SAVED}{}", saved.name);
        self.change(repository, &["update-ref", "-d", &name, &saved.commit], time::LOCAL).await.map(drop)
    }

    async fn save(&self, directory: &Path, key: &str, commit: &str) -> Result<String, GitError> {
        let time = now_iso().replace(['-', ':'], "");
        let name = format!("{key}/{time}");
        // With an empty old value, `update-ref` fails if the ref exists, so saved work is never replaced.
        let args = ["update-ref", &format!("{SAVED}{name}"), commit, ""];
        self.change(directory, &args, time::LOCAL).await?;
        tracing::info!(name, "unpushed work saved");
        Ok(name)
    }

    /// Creates a commit of the uncommitted changes; returns `None` when there are none.
    async fn commit_of_files(
        &self,
        repository: &Arc<Repository>,
        head: Option<&str>,
    ) -> Result<Option<String>, GitError> {
        let index = repository.git_dir.join(INDEX);
        let committed = self.commit_from(repository, &index, head).await;
        let records = repository.clone();
        let removed =
            tokio::task::spawn_blocking(move || records.handles.git_dir.remove_file(OsStr::new(INDEX)));
        // Best-effort: a temporary index that remains is overwritten by the next save.
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
        let head_tree = match head {
            Some(head) => self.text(root, &["rev-parse", &format!("{head}^{{tree}}")], time::LOCAL).await?,
            None => EMPTY_TREE.to_owned(),
        };
        // A copy of the index, so that the user's own staging is unaffected and unchanged files are not
        // hashed again.
        let records = repository.clone();
        let copied = tokio::task::spawn_blocking(move || copy_index(&records)).await;
        copied
            .map_err(io::Error::other)
            .flatten()
            .map_err(RepositoryError::Disk)
            .map_err(GitError::Repository)?;
        // An index with conflicts cannot be written as a tree; then only the files are saved.
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
            // `git add` skips changes inside submodules without an error.
            if !self.unstaged(repository, index).await?.is_empty() {
                return Err(refused("it contains changes that cannot be committed"));
            }
        }
        let new_tree = self.tree_of(root, index).await?;
        if new_tree == head_tree && staged.as_ref().is_none_or(|staged| *staged == head_tree) {
            return Ok(None);
        }
        let args = ["diff-tree", "-r", "-z", "--ignore-submodules=none", &head_tree, &new_tree];
        let differs = self.in_index(root, index, &args, Vec::new()).await?;
        let mut repositories = parse_changed_submodules(differs.as_bytes());
        if !repositories.is_empty() {
            // Submodules are saved separately.
            let submodules = self.submodule_roots(root).await?;
            repositories.retain(|(path, _)| !submodules.contains(&root.join(path)));
        }
        // A nested repository would be recorded as a commit id only, and its content lost.
        if !repositories.is_empty() {
            return Err(refused("it contains another repository"));
        }
        let branch = self.current_branch(root).await?.unwrap_or_else(|| "a detached HEAD".to_owned());
        let mut parents: Vec<String> = head.map(str::to_owned).into_iter().collect();
        if let Some(staged) = staged.filter(|staged| *staged != head_tree && *staged != new_tree) {
            let subject = format!("Staged changes on {branch}");
            parents.push(self.commit_tree(root, &staged, &parents, &subject).await?);
        }
        let subject = format!("Uncommitted work on {branch}");
        self.commit_tree(root, &new_tree, &parents, &subject).await.map(Some)
    }

    /// Returns the changes outside the state directories between an index and the working tree, without those inside of
    /// submodules.
    async fn unstaged(
        &self,
        repository: &Arc<Repository>,
        index: &Path,
    ) -> Result<Vec<StatusChange>, GitError> {
        let args = ["status"];
        let command = self.commit_status_command(repository).await?.arg("--no-renames").args(WORK);
        let command = command.env("GIT_INDEX_FILE", index);
        let output = checked(&args, finish(&command, &args, time::USER_OPERATION, DropPolicy::Kill).await?)?;
        let changes = parse_status(&output.stdout).changes.into_iter();
        Ok(changes.filter(|change| change.tree != ' ').collect())
    }

    async fn tree_of(&self, root: &Path, index: &Path) -> Result<String, GitError> {
        self.in_index(root, index, &["write-tree"], Vec::new()).await
    }

    /// Runs a command with the temporary index.
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
        // A fixed identity, because `git commit-tree` fails when the user has configured none.
        let own = Committer { name: "Loopgate".to_owned(), email: "loopgate@localhost".to_owned() };
        let command = self.command(root).await?;
        let command =
            committer_variables(&own).into_iter().fold(command, |all, (name, value)| all.env(name, value));
        self.run_writer(command, &args).await
    }

    async fn run_writer(&self, command: Command, args: &[&str]) -> Result<String, GitError> {
        let command = command.session().args(args);
        let output = checked(
            args,
            finish(&command, args, self.idle_limit(time::USER_OPERATION), DropPolicy::Complete).await?,
        )?;
        Ok(output.stdout_text().trim().to_owned())
    }
}

/// Copies the index of a worktree to the temporary index. Without an index, none is created. Blocks.
fn copy_index(repository: &Repository) -> io::Result<()> {
    let own = &repository.handles.git_dir;
    let Some(index) = IndexCopy::read(repository)? else { return Ok(()) };
    own.replace(OsStr::new(INDEX), &index.content)?;
    index.set_time(&own.open_file(Path::new(INDEX))?)
}

/// Returns whether the objects and refs of a working tree are in the repository of another one, so that they survive it.
fn is_linked(repository: &Repository) -> bool {
    repository.git_dir != repository.common_dir
}

/// Returns the key under which the work of a worktree is saved: the name of its directory as a slug.
pub(super) fn key_of(directory: &Path) -> String {
    let name: PathBuf = directory.file_name().unwrap_or_default().into();
    slug(&name.to_string_lossy())
}

fn refused(reason: &str) -> GitError {
    GitError::Repository(RepositoryError::Refused(reason.to_owned()))
}
