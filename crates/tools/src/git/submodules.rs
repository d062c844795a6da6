//! Submodules: which of them have a checkout, which are safe to enter, and their checkouts in a worktree.
//!
//! `git status` and `git add` start a child process in a submodule that follows the submodule's own configuration. The
//! overrides of the outer command are inherited, but do not cover variables that only the submodule sets.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{EntryKind, Repository, RepositoryError};

use super::{DropPolicy, Git, GitError, checked, config, finish, time};

/// The mode of a submodule in an index file: 0160000, big-endian.
const MODE: [u8; 4] = [0, 0, 0xe0, 0];
/// Signature of the index extension that refers to a shared index file, which may have further entries.
const SPLIT: &[u8] = b"link";

/// A submodule in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SubmoduleEntry {
    /// Relative to the root of the superproject.
    path: PathBuf,
    /// Full hash of the commit to check out.
    commit: String,
}

/// A submodule without a checkout in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSubmodule {
    /// Relative to the root of the worktree.
    pub path: PathBuf,
    /// Why it was not checked out, and how to change that.
    pub reason: String,
}

impl Git {
    /// Returns the first submodule, at any depth, that is outside the sandbox or is otherwise unusable, or
    /// whose configuration names programs and is not trusted.
    ///
    /// # Errors
    /// Fails with [`GitError`] when the index cannot be listed.
    pub(super) async fn unsafe_submodule(
        &self,
        repository: &Arc<Repository>,
    ) -> Result<Option<PathBuf>, GitError> {
        for SubmoduleEntry { path, .. } in self.submodules(repository).await? {
            let submodule = match self.submodule_at(repository, &path).await {
                Ok(Some(submodule)) => submodule,
                Ok(None) => continue,
                Err(_) => return Ok(Some(path)),
            };
            let is_safe = self.is_safe(&submodule).await;
            if !is_safe || Box::pin(self.unsafe_submodule(&submodule)).await?.is_some() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Returns the submodules that have a checkout in a working tree, at any depth.
    ///
    /// # Errors
    /// Fails with [`GitError`] when one of them is unusable or unsafe, because its content is unknown then.
    pub(super) async fn submodule_checkouts(
        &self,
        repository: &Arc<Repository>,
    ) -> Result<Vec<Arc<Repository>>, GitError> {
        let mut checkouts = Vec::new();
        for SubmoduleEntry { path, .. } in self.submodules(repository).await? {
            let Some(submodule) = self.submodule_at(repository, &path).await? else { continue };
            if !self.is_safe(&submodule).await {
                return Err(GitError::Repository(untrusted(&path, &submodule.root)));
            }
            let nested = Box::pin(self.submodule_checkouts(&submodule)).await?;
            checkouts.push(submodule);
            checkouts.extend(nested);
        }
        Ok(checkouts)
    }

    /// Returns the roots of the submodules that have a checkout in a working tree, at any depth.
    ///
    /// # Errors
    /// Fails with [`GitError`] when one of them is unusable or its configuration names programs and is not trusted.
    pub async fn submodule_roots(&self, directory: &Path) -> Result<Vec<PathBuf>, GitError> {
        let checkouts = self.submodule_checkouts(&self.repository(directory).await?).await?;
        Ok(checkouts.iter().map(|submodule| submodule.root.clone()).collect())
    }

    /// Checks out the submodules of a worktree from the checkouts of the clone: as worktrees of the same
    /// repositories, so that they need no network and their commits survive the worktree. Returns the submodules, at any
    /// depth, that the clone cannot provide.
    ///
    /// # Errors
    /// Fails with [`GitError`] when the index cannot be listed.
    pub async fn check_out_submodules(&self, worktree: &Path) -> Result<Vec<MissingSubmodule>, GitError> {
        let repository = self.repository(worktree).await?;
        let clone = repository.clone_root().to_owned();
        self.check_out_below(&repository, &clone, Path::new("")).await
    }

    async fn check_out_below(
        &self,
        repository: &Arc<Repository>,
        source: &Path,
        prefix: &Path,
    ) -> Result<Vec<MissingSubmodule>, GitError> {
        let mut missing = Vec::new();
        for entry in self.submodules(repository).await? {
            let (path, source) = (prefix.join(&entry.path), source.join(&entry.path));
            match self.checked_out(repository, &entry, &source).await {
                Ok(submodule) => {
                    missing.extend(Box::pin(self.check_out_below(&submodule, &source, &path)).await?)
                }
                Err(reason) => missing.push(MissingSubmodule { path, reason }),
            }
        }
        Ok(missing)
    }

    /// Checks out a submodule unless it has a checkout, and returns its repository. Fails with the reason for users.
    async fn checked_out(
        &self,
        repository: &Arc<Repository>,
        entry: &SubmoduleEntry,
        source: &Path,
    ) -> Result<Arc<Repository>, String> {
        let text = |error: GitError| error.to_string();
        if let Some(existing) = self.submodule_at(repository, &entry.path).await.map_err(text)? {
            return Ok(existing);
        }
        let update =
            format!("git -C {} submodule update --init", source.parent().unwrap_or(source).display());
        let origin = match self.repository(source).await {
            Ok(origin) if origin.root == *source => origin,
            Ok(_) | Err(GitError::Repository(RepositoryError::None)) => {
                return Err(format!("it is not initialized in your clone; run: {update}"));
            }
            Err(error) => return Err(text(error)),
        };
        if !self.is_safe(&origin).await {
            return Err(untrusted(&entry.path, source).to_string());
        }
        if self.commit_of(source, &entry.commit).await.map_err(text)?.is_none() {
            let commit = entry.commit.get(..10).unwrap_or(&entry.commit);
            return Err(format!("your clone does not have its commit {commit}; run: {update}"));
        }
        // Git has created an empty directory. A link could lead out of the worktree.
        let place = repository.root.join(&entry.path);
        if repository.handles.root.kind(&entry.path) != Some(EntryKind::Directory) {
            return Err("its directory in the worktree does not exist".to_owned());
        }
        self.worktree_add_detached(source, &place, &entry.commit).await.map_err(text)?;
        self.repository(&place).await.map_err(text)
    }

    /// Returns the repository of a submodule; `None` when it has no checkout.
    async fn submodule_at(
        &self,
        repository: &Arc<Repository>,
        path: &Path,
    ) -> Result<Option<Arc<Repository>>, GitError> {
        match self.repository(&repository.root.join(path)).await {
            // Not initialized: git finds the superproject in its directory, and does not enter it.
            Ok(submodule) if submodule.root == repository.root => Ok(None),
            Err(GitError::Repository(RepositoryError::None)) => Ok(None),
            submodule => submodule.map(Some),
        }
    }

    async fn is_safe(&self, submodule: &Repository) -> bool {
        let names_programs = config::includes(&submodule.config) || config::has_restricted(&submodule.config);
        !names_programs || self.trusts(&submodule.root).await
    }

    /// Returns the submodules in the index.
    async fn submodules(&self, repository: &Arc<Repository>) -> Result<Vec<SubmoduleEntry>, GitError> {
        let submodule = repository.clone();
        if repository.bare
            || !tokio::task::spawn_blocking(move || may_have_submodules(&submodule)).await.unwrap_or(true)
        {
            return Ok(Vec::new());
        }
        let args = ["ls-files", "--stage", "-z"];
        let command = self.reader_of(repository).await?.args(args);
        let output = checked(&args, finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?)?;
        Ok(parse_submodules(&output.stdout))
    }
}

/// Returns the error for a submodule whose configuration names programs that the user has not trusted.
pub(super) fn untrusted(path: &Path, place: &Path) -> RepositoryError {
    RepositoryError::Refused(format!(
        "the configuration of its submodule {} names programs that you have not trusted; review it with: loopgate trust \
         {}",
        path.display(),
        place.display()
    ))
}

/// Returns whether the index may contain a submodule. A search for its mode avoids a git process for nearly
/// all repositories.
fn may_have_submodules(repository: &Repository) -> bool {
    let Ok(index) = repository.handles.git_dir.read(Path::new("index"), u64::MAX) else {
        return repository.handles.git_dir.exists(Path::new("index"));
    };
    [&MODE, SPLIT].iter().any(|sign| memchr::memmem::find(&index, sign).is_some())
}

/// Parses the submodules in `git ls-files --stage -z`.
fn parse_submodules(printed: &[u8]) -> Vec<SubmoduleEntry> {
    let entry = |entry: &[u8]| {
        let entry = entry.strip_prefix(b"160000 ")?;
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let commit = entry.split(|byte| *byte == b' ').next().unwrap_or_default();
        let path = PathBuf::from(OsStr::from_bytes(&entry[tab + 1..]));
        Some(SubmoduleEntry { path, commit: String::from_utf8_lossy(commit).into_owned() })
    };
    printed.split(|byte| *byte == 0).filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_are_distinguished_from_files() {
        let printed = b"100644 1111 0\ta\x00160000 2222 0\tsub/a b\x00120000 3333 0\t160000 x\0";
        let expected = SubmoduleEntry { path: "sub/a b".into(), commit: "2222".to_owned() };
        assert_eq!(parse_submodules(printed), [expected]);
    }
}
