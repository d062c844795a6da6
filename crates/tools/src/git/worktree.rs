//! Worktrees: listing, making, removing, without losing anybody's commits or files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::ids::BranchName;
use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use thiserror::Error;

use super::checkout::CheckoutKind;
use super::worktree_lock::lock_worktrees;
use super::{Git, GitError, checked, time};

/// Git's exit code for an option that it does not know.
const UNKNOWN_OPTION: i32 = 129;
/// Tries to delete a directory in which something may still be writing.
const DELETE_TRIES: u32 = 5;
/// Wait between these tries.
const DELETE_WAIT: Duration = Duration::from_millis(100);

/// A worktree as git lists it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Worktree {
    /// Its directory.
    pub path: PathBuf,
    /// The commit that is checked out.
    pub head: Option<String>,
    /// The branch that is checked out, without `refs/heads/`; `None` when detached.
    pub branch: Option<String>,
    /// Whether it is the clone itself, which must never be removed.
    pub main: bool,
    /// Whether it has no files.
    pub bare: bool,
    /// Whether its directory is gone.
    pub prunable: bool,
}

/// Why a worktree is still there.
#[derive(Debug, Error)]
pub enum RemoveWorktreeError {
    /// It is a clone, not a worktree.
    #[error("the directory is a repository of its own, not a worktree")]
    NotAWorktree,
    /// Its work could not be saved.
    #[error("the work in it could not be saved: {0}")]
    Unsaved(GitError),
    /// The directory could not be deleted.
    #[error("the worktree could not be deleted: {0}")]
    Delete(std::io::Error),
}

/// Reads `git worktree list --porcelain`, whose lines end with this byte.
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
        let rest = String::from_utf8_lossy(rest);
        match word {
            b"HEAD" => worktree.head = Some(rest.into_owned()),
            b"branch" => worktree.branch = rest.strip_prefix("refs/heads/").map(str::to_owned),
            b"bare" => worktree.bare = true,
            b"prunable" => worktree.prunable = true,
            _ => {}
        }
    }
    worktrees
}

impl Git {
    /// Every worktree of a repository, the clone itself first.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn worktrees(&self, repository: &Path) -> Result<Vec<Worktree>, GitError> {
        let args = ["worktree", "list", "--porcelain", "-z"];
        let output = self.output(repository, &args, time::LOCAL).await?;
        if output.status.code() != Some(UNKNOWN_OPTION) {
            return Ok(parse_worktrees(&checked(&args, output)?.stdout, 0));
        }
        // Git before 2.36 only knows lines.
        let args = ["worktree", "list", "--porcelain"];
        let output = checked(&args, self.output(repository, &args, time::LOCAL).await?)?;
        Ok(parse_worktrees(&output.stdout, b'\n'))
    }

    /// The worktree, other than the clone itself, in which exactly this branch is checked out.
    ///
    /// # Errors
    /// [`GitError`]
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
            .map(|found| found.path))
    }

    /// Makes a worktree on a branch that begins anew at `base`, a full ref or a commit. Answers the
    /// name under which commits that only the branch had are saved.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn worktree_add(
        &self,
        repository: &Path,
        directory: &Path,
        branch: &BranchName,
        base: &str,
    ) -> Result<Option<String>, GitError> {
        let _turn = lock_worktrees(repository).await;
        self.prune(repository).await;
        let saved = self.save_branch(repository, branch, base).await?;
        let place = directory.to_string_lossy();
        // Without tracking: a plain push from the worktree must never reach the base branch.
        let args = ["worktree", "add", "--no-track", "-B", branch.as_str(), "--", &place, base];
        self.change(repository, &args, time::WORKTREE_ADD).await?;
        Ok(saved)
    }

    /// Makes a worktree on no branch.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn worktree_add_detached(
        &self,
        repository: &Path,
        directory: &Path,
        base: &str,
    ) -> Result<(), GitError> {
        let _turn = lock_worktrees(repository).await;
        self.prune(repository).await;
        let place = directory.to_string_lossy();
        let args = ["worktree", "add", "--detach", "--", &place, base];
        self.change(repository, &args, time::WORKTREE_ADD).await.map(drop)
    }

    /// Puts a worktree on a branch, with the work that is in it. A branch with which HEAD shares all of
    /// its own commits is checked out; else the branch begins anew at HEAD, and files and index stay as
    /// they are. Answers the name of what was saved, which the worktree or the branch no longer hold.
    ///
    /// # Errors
    /// [`GitError`], also when the branch is checked out in another worktree.
    pub async fn return_to_branch(
        &self,
        worktree: &Path,
        branch: &BranchName,
    ) -> Result<Option<String>, GitError> {
        let (head, full) = (self.head(worktree).await?, format!("refs/heads/{branch}"));
        // A rebase would go on from where it stood; without one this fails.
        let _ = self.change(worktree, &["rebase", "--quit"], time::LOCAL).await;
        let known = self.commit_of(worktree, &full).await?;
        if let Some(known) = known.filter(|known| *known != head) {
            let args = ["merge-base", "--is-ancestor", &head, &known];
            if self.says_yes(worktree, &args).await? {
                let checkout =
                    |force| [["checkout", "-q"].as_slice(), force, &[branch.as_str(), "--"]].concat();
                if self.change(worktree, &checkout(&[]), time::WORKTREE_ADD).await.is_ok() {
                    return Ok(None);
                }
                // Changes in files that differ between both are in the way.
                let saved = self.save_worktree(worktree).await?;
                self.change(worktree, &checkout(&["--force"]), time::WORKTREE_ADD).await?;
                return Ok(saved);
            }
        }
        let saved = self.save_branch(worktree, branch, &head).await?;
        self.change(worktree, &["branch", "--no-track", "--force", branch.as_str(), &head], time::LOCAL)
            .await?;
        self.change(worktree, &["symbolic-ref", "HEAD", &full], time::LOCAL).await?;
        Ok(saved)
    }

    /// Forgets worktrees whose directories are gone, after commits that only their HEAD had were saved;
    /// failing at that harms nothing.
    pub async fn prune(&self, repository: &Path) {
        let pruned = async {
            for gone in self.worktrees(repository).await?.into_iter().filter(|worktree| worktree.prunable) {
                if let Some(head) = &gone.head {
                    self.save_head(repository, &gone.path, head).await?;
                }
            }
            self.change(repository, &["worktree", "prune"], time::LOCAL).await
        };
        if let Err(error) = pruned.await {
            tracing::debug!(%error, "worktrees were not pruned");
        }
    }

    /// Writes the `.git` files of worktrees anew that were deleted or lead elsewhere.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn worktree_repair(&self, repository: &Path) -> Result<(), GitError> {
        let _turn = lock_worktrees(repository).await;
        self.change(repository, &["worktree", "repair"], time::LOCAL).await.map(drop)
    }

    /// Keeps the state directory of a worktree out of every commit made there, whoever makes it, unless the
    /// repository itself has rules for it.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub async fn hide_state_dir(&self, worktree: &Path) -> std::io::Result<()> {
        let rules = Path::new(STATE_DIR).join(".gitignore");
        if self.tracks(worktree, &rules.to_string_lossy()).await.unwrap_or(false) {
            return Ok(());
        }
        let rules = worktree.join(rules);
        let written = tokio::task::spawn_blocking(move || untrusted::write(&rules, b"*\n")).await;
        written.map_err(std::io::Error::other)?
    }

    /// Removes a worktree, after the work in it that nothing else holds was saved. Answers the name of
    /// what was saved.
    ///
    /// # Errors
    /// [`RemoveWorktreeError`]; a clone is never removed, nor a worktree whose work cannot be saved.
    pub async fn worktree_remove(
        &self,
        repository: &Path,
        directory: &Path,
    ) -> Result<Option<String>, RemoveWorktreeError> {
        let place = directory.to_owned();
        let holds_files = tokio::task::spawn_blocking(move || {
            std::fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some())
        });
        let saved = if holds_files.await.unwrap_or(true) {
            is_removable(repository, directory).await?;
            self.save_worktree(directory).await.map_err(RemoveWorktreeError::Unsaved)?
        } else {
            None
        };
        self.worktree_delete(repository, directory).await?;
        Ok(saved)
    }

    /// Removes a worktree with everything in it, saving nothing: through git, else by deleting and pruning.
    ///
    /// # Errors
    /// [`RemoveWorktreeError`]; a clone is never removed.
    pub async fn worktree_delete(
        &self,
        repository: &Path,
        directory: &Path,
    ) -> Result<(), RemoveWorktreeError> {
        is_removable(repository, directory).await?;
        let place = directory.to_string_lossy();
        let _turn = lock_worktrees(repository).await;
        // Twice `--force`: a locked worktree goes as well.
        let args = ["worktree", "remove", "--force", "--force", "--", &place];
        if let Err(error) = self.change(repository, &args, time::WORKTREE_REMOVE).await {
            tracing::debug!(%error, "git did not remove the worktree; deleting it");
        }
        delete(directory).await.map_err(RemoveWorktreeError::Delete)?;
        self.prune(repository).await;
        Ok(())
    }
}

async fn is_removable(repository: &Path, directory: &Path) -> Result<(), RemoveWorktreeError> {
    let (inner, outer) = (repository.to_owned(), directory.to_owned());
    let precious = tokio::task::spawn_blocking(move || holds_repository(&outer, &inner)).await;
    if precious.unwrap_or(true) { Err(RemoveWorktreeError::NotAWorktree) } else { Ok(()) }
}

/// Whether the directory is, or contains, this repository, or is another one.
fn holds_repository(directory: &Path, repository: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = matches!(CheckoutKind::of(directory), CheckoutKind::Clone | CheckoutKind::Bare);
    own || real(repository).starts_with(real(directory))
}

/// Deletes a directory with everything in it; links are deleted, not followed.
pub(super) async fn delete(directory: &Path) -> std::io::Result<()> {
    let mut tries = 1;
    loop {
        match tokio::fs::remove_dir_all(directory).await {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(_) if tries < DELETE_TRIES => tokio::time::sleep(DELETE_WAIT).await,
            result => return result,
        }
        tries += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn list_is_read_as_git_writes_it() {
        let printed = "worktree /code/widget\nHEAD 1111\nbranch refs/heads/main\n\n\
            worktree /code/widget loop\nHEAD 2222\nbranch refs/heads/orchestrator/a/main\nlocked why not\n\n\
            worktree /code/detached\nHEAD 3333\ndetached\n\n\
            worktree /code/gone\nHEAD 4444\nbranch refs/heads/x\nprunable gitdir file points nowhere\n";
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
        fn written_value_is_read_back(mut worktrees in proptest::collection::vec(worktree(), 0..6)) {
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
