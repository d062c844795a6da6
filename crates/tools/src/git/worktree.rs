//! Worktrees: list, add and remove, without losing commits or files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::ids::BranchName;
use loopgate_api::names::STATE_DIR;
use loopgate_home::{remove_tree, untrusted};
use thiserror::Error;

use super::checkout::CheckoutKind;
use super::saved::key_of;
use super::worktree_lock::lock_worktrees;
use super::{Git, GitError, checked, time};

/// Exit code of git for an unknown option.
const UNKNOWN_OPTION: i32 = 129;
/// Attempts to delete a directory. A process that still writes into it makes an attempt fail with ENOTEMPTY.
const DELETE_ATTEMPTS: u32 = 5;
/// Delay between these attempts.
const DELETE_DELAY: Duration = Duration::from_millis(100);

/// An entry of `git worktree list`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Worktree {
    /// Absolute path of the working tree.
    pub path: PathBuf,
    /// Full hash of HEAD; `None` for a bare repository.
    pub head: Option<String>,
    /// The current branch, without `refs/heads/`; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// Whether this is the main working tree, which must never be removed.
    pub main: bool,
    /// Whether this is a bare repository, without a working tree.
    pub bare: bool,
    /// Whether the directory no longer exists.
    pub prunable: bool,
}

/// An error while removing a worktree.
#[derive(Debug, Error)]
pub enum RemoveWorktreeError {
    /// The directory is a clone, not a worktree.
    #[error("the directory is a repository, not a worktree")]
    NotAWorktree,
    /// The uncommitted work could not be saved, so nothing was removed.
    #[error("the work in the worktree could not be saved: {0}")]
    Unsaved(GitError),
    /// An error of the file system.
    #[error("the worktree could not be deleted: {0}")]
    Delete(std::io::Error),
}

/// Parses `git worktree list --porcelain`, whose lines are terminated by `end`.
#[must_use]
pub fn parse_worktrees(printed: &[u8], end: u8) -> Vec<Worktree> {
    let mut worktrees: Vec<Worktree> = Vec::new();
    for line in printed.split(|byte| *byte == end) {
        let blank = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (word, rest) = (&line[..blank], line.get(blank + 1..).unwrap_or_default());
        if word == b"worktree" {
            let (path, main) = (OsStr::from_bytes(rest).into(), worktrees.is_empty());
            worktrees.push(Worktree { path, main, ..Worktree::default() });
            continue;
        }
        let Some(worktree) = worktrees.last_mut() else { continue };
        // Another branch could have the name that a lossy conversion returns.
        let text = str::from_utf8(rest).ok();
        match word {
            b"HEAD" => worktree.head = text.map(str::to_owned),
            b"branch" => {
                worktree.branch = text.and_then(|name| name.strip_prefix("refs/heads/")).map(str::to_owned);
            }
            b"bare" => worktree.bare = true,
            b"prunable" => worktree.prunable = true,
            _ => {}
        }
    }
    worktrees
}

impl Git {
    /// Lists the worktrees of a repository, the main one first.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example outside a repository.
    pub async fn worktrees(&self, repository: &Path) -> Result<Vec<Worktree>, GitError> {
        let args = ["worktree", "list", "--porcelain", "-z"];
        let output = self.output(repository, &args, time::LOCAL).await?;
        if output.status.code() != Some(UNKNOWN_OPTION) {
            return Ok(parse_worktrees(&checked(&args, output)?.stdout, 0));
        }
        // Git before 2.36 has no `-z` here.
        let args = ["worktree", "list", "--porcelain"];
        let output = checked(&args, self.output(repository, &args, time::LOCAL).await?)?;
        Ok(parse_worktrees(&output.stdout, b'\n'))
    }

    /// Returns the linked worktree whose current branch is this one.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example outside a repository.
    pub async fn worktree_on(
        &self,
        repository: &Path,
        branch: &BranchName,
    ) -> Result<Option<PathBuf>, GitError> {
        let usable = |worktree: &Worktree| !worktree.main && !worktree.bare && !worktree.prunable;
        let on_branch = |worktree: &Worktree| worktree.branch.as_deref() == Some(branch.as_str());
        let worktrees = self.worktrees(repository).await?;
        Ok(worktrees
            .into_iter()
            .find(|worktree| usable(worktree) && on_branch(worktree))
            .map(|worktree| worktree.path))
    }

    /// Adds a worktree with a branch that is created at, or reset to, `base`, which is a full ref or a
    /// commit. Returns the name under which commits that only the branch had were saved.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when the branch is checked out elsewhere.
    pub async fn worktree_add(
        &self,
        repository: &Path,
        directory: &Path,
        branch: &BranchName,
        base: &str,
    ) -> Result<Option<String>, GitError> {
        let _lock = lock_worktrees(repository).await;
        // `git worktree add` fails when the records of a deleted worktree still name its path or branch.
        self.prune(repository).await;
        let saved = self.save_branch(repository, branch, base).await?;
        // With an upstream, a plain `git push` from the worktree could push to the base branch.
        let args = ["worktree", "add", "--no-track", "-B", branch.as_str(), "--"];
        let rest = [directory.as_os_str(), OsStr::new(base)];
        self.change_at(repository, &args, &rest, time::WORKTREE_ADD).await?;
        Ok(saved)
    }

    /// Adds a worktree with a detached HEAD.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown `base`.
    pub async fn worktree_add_detached(
        &self,
        repository: &Path,
        directory: &Path,
        base: &str,
    ) -> Result<(), GitError> {
        let _lock = lock_worktrees(repository).await;
        self.prune(repository).await;
        let args = ["worktree", "add", "--detach", "--"];
        let rest = [directory.as_os_str(), OsStr::new(base)];
        self.change_at(repository, &args, &rest, time::WORKTREE_ADD).await.map(drop)
    }

    /// Switches a worktree to a branch without losing its changes. If the branch contains HEAD, it is checked
    /// out. Otherwise the branch is reset to HEAD, and files and index are left unchanged. Returns the names
    /// under which work was saved that neither the worktree nor the branch contains now.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when the branch is checked out in another worktree.
    pub async fn return_to_branch(
        &self,
        worktree: &Path,
        branch: &BranchName,
    ) -> Result<Vec<String>, GitError> {
        let (head, full) = (self.head(worktree).await?, format!("refs/heads/{branch}"));
        // Git refuses to switch branches during a rebase. Fails when there is none, which is the usual case.
        let _ = self.change(worktree, &["rebase", "--quit"], time::LOCAL).await;
        let commit = self.commit_of(worktree, &full).await?;
        if let Some(commit) = commit.filter(|commit| *commit != head) {
            let args = ["merge-base", "--is-ancestor", &head, &commit];
            if self.run_predicate(worktree, &args).await? {
                let checkout =
                    |force| [["checkout", "-q"].as_slice(), force, &[branch.as_str(), "--"]].concat();
                if self.change(worktree, &checkout(&[]), time::WORKTREE_ADD).await.is_ok() {
                    return Ok(Vec::new());
                }
                // Local changes would be overwritten by the checkout.
                let saved = self.save_worktree(worktree).await?;
                self.change(worktree, &checkout(&["--force"]), time::WORKTREE_ADD).await?;
                return Ok(saved);
            }
        }
        let saved = self.save_branch(worktree, branch, &head).await?;
        self.change(worktree, &["branch", "--no-track", "--force", branch.as_str(), &head], time::LOCAL)
            .await?;
        // `symbolic-ref` moves HEAD without touching the files, unlike a checkout.
        self.change(worktree, &["symbolic-ref", "HEAD", &full], time::LOCAL).await?;
        Ok(saved.into_iter().collect())
    }

    /// Removes the records of worktrees whose directories do not exist, after saving commits that only their
    /// HEAD had. Best-effort: records that remain only take space.
    pub async fn prune(&self, repository: &Path) {
        let pruned = async {
            for prunable in self.worktrees(repository).await?.into_iter().filter(|worktree| worktree.prunable)
            {
                if let Some(head) = &prunable.head {
                    self.save_head(repository, &key_of(&prunable.path), head).await?;
                }
            }
            self.change(repository, &["worktree", "prune"], time::LOCAL).await
        };
        if let Err(error) = pruned.await {
            tracing::debug!(%error, "worktrees could not be pruned");
        }
    }

    /// Rewrites missing or wrong `.git` files of worktrees.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example outside a repository.
    pub async fn worktree_repair(&self, repository: &Path) -> Result<(), GitError> {
        let _lock = lock_worktrees(repository).await;
        self.change(repository, &["worktree", "repair"], time::LOCAL).await.map(drop)
    }

    /// Excludes the state directory of a worktree from commits by any program, through a `.gitignore` in it.
    /// Does nothing if the repository tracks such a file.
    ///
    /// # Errors
    /// Fails on any error of the file system.
    pub async fn hide_state_dir(&self, worktree: &Path) -> std::io::Result<()> {
        let rules = Path::new(STATE_DIR).join(".gitignore");
        if self.tracks(worktree, &rules.to_string_lossy()).await.unwrap_or(false) {
            return Ok(());
        }
        let rules = worktree.join(rules);
        let written = tokio::task::spawn_blocking(move || untrusted::write(&rules, b"*\n")).await;
        written.map_err(std::io::Error::other)?
    }

    /// Removes a worktree after saving the work in it that exists nowhere else. Returns the names under which
    /// it was saved.
    ///
    /// # Errors
    /// Fails with [`RemoveWorktreeError`]. Never removes a clone, nor a worktree whose work cannot be saved.
    pub async fn worktree_remove(
        &self,
        repository: &Path,
        directory: &Path,
    ) -> Result<Vec<String>, RemoveWorktreeError> {
        let path = directory.to_owned();
        let holds_files = tokio::task::spawn_blocking(move || {
            std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
        });
        let saved = if holds_files.await.unwrap_or(true) {
            is_removable(repository, directory).await?;
            self.save_worktree(directory).await.map_err(RemoveWorktreeError::Unsaved)?
        } else {
            Vec::new()
        };
        self.worktree_delete(repository, directory).await?;
        Ok(saved)
    }

    /// Removes a worktree without saving anything: through git, else by deleting the directory and pruning.
    ///
    /// # Errors
    /// Fails with [`RemoveWorktreeError`]. Never removes a clone.
    pub async fn worktree_delete(
        &self,
        repository: &Path,
        directory: &Path,
    ) -> Result<(), RemoveWorktreeError> {
        is_removable(repository, directory).await?;
        let _lock = lock_worktrees(repository).await;
        // A second `--force` removes a locked worktree as well.
        let args = ["worktree", "remove", "--force", "--force", "--"];
        let removed =
            self.change_at(repository, &args, &[directory.as_os_str()], time::WORKTREE_REMOVE).await;
        if let Err(error) = removed {
            tracing::debug!(%error, "git could not remove the worktree; deleting its directory");
        }
        // A no-op when git removed the directory.
        delete(directory).await.map_err(RemoveWorktreeError::Delete)?;
        self.prune(repository).await;
        Ok(())
    }
}

async fn is_removable(repository: &Path, directory: &Path) -> Result<(), RemoveWorktreeError> {
    let (inner, outer) = (repository.to_owned(), directory.to_owned());
    let is_repository = tokio::task::spawn_blocking(move || holds_repository(&outer, &inner)).await;
    if is_repository.unwrap_or(true) { Err(RemoveWorktreeError::NotAWorktree) } else { Ok(()) }
}

/// Returns whether the directory is a repository, or contains this one.
fn holds_repository(directory: &Path, repository: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = matches!(CheckoutKind::of(directory), CheckoutKind::Clone | CheckoutKind::Bare);
    own || canonical(repository).starts_with(canonical(directory))
}

/// Deletes a directory recursively. Symbolic links are deleted, not followed.
pub(super) async fn delete(directory: &Path) -> std::io::Result<()> {
    let mut attempt = 1;
    loop {
        let removed = directory.to_owned();
        let removal = tokio::task::spawn_blocking(move || remove_tree(&removed)).await;
        match removal.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(_) if attempt < DELETE_ATTEMPTS => tokio::time::sleep(DELETE_DELAY).await,
            result => return result,
        }
        attempt += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn git_output_is_parsed() {
        let printed = "worktree /code/widget\nHEAD 1111\nbranch refs/heads/main\n\n\
            worktree /code/widget loop\nHEAD 2222\nbranch refs/heads/orchestrator/a/main\nlocked why not\n\n\
            worktree /code/detached\nHEAD 3333\ndetached\n\n\
            worktree /code/prunable\nHEAD 4444\nbranch refs/heads/x\nprunable gitdir file points nowhere\n";
        let worktrees = parse_worktrees(printed.as_bytes(), b'\n');
        let branches: Vec<_> = worktrees.iter().map(|worktree| worktree.branch.as_deref()).collect();
        assert_eq!(branches, [Some("main"), Some("orchestrator/a/main"), None, Some("x")]);
        assert_eq!(worktrees[1].path, Path::new("/code/widget loop"));
        assert!(worktrees[0].main && !worktrees[1].main && worktrees[3].prunable);
    }

    fn worktree() -> impl Strategy<Value = Worktree> {
        (
            proptest::collection::vec(1..=u8::MAX, 0..20),
            proptest::option::of("[0-9a-f]{40}"),
            proptest::option::of("[a-z/ü]{1,20}"),
            any::<bool>(),
            any::<bool>(),
        )
            .prop_map(|(path, head, branch, bare, prunable)| Worktree {
                path: OsStr::from_bytes(&path).into(),
                head,
                branch,
                main: false,
                bare,
                prunable,
            })
    }

    proptest! {
        #[test]
        fn printed_worktrees_are_parsed(mut worktrees in proptest::collection::vec(worktree(), 0..6)) {
            if let Some(first) = worktrees.first_mut() {
                first.main = true;
            }
            let mut printed: Vec<u8> = Vec::new();
            let mut line = |parts: &[&[u8]]| printed.extend(parts.concat().into_iter().chain([0]));
            for worktree in &worktrees {
                line(&[b"worktree ", worktree.path.as_os_str().as_bytes()]);
                for (word, value) in [("HEAD ", &worktree.head), ("branch refs/heads/", &worktree.branch)] {
                    if let Some(value) = value {
                        line(&[word.as_bytes(), value.as_bytes()]);
                    }
                }
                for (word, set) in [("bare", worktree.bare), ("prunable gone", worktree.prunable)] {
                    if set {
                        line(&[word.as_bytes()]);
                    }
                }
                line(&[]);
            }
            prop_assert_eq!(parse_worktrees(&printed, 0), worktrees);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(printed in proptest::collection::vec(any::<u8>(), 0..200), end in any::<u8>()) {
            let lines = printed.split(|byte| *byte == end).count();
            prop_assert!(parse_worktrees(&printed, end).len() <= lines);
        }
    }
}
