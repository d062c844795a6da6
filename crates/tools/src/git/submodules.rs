//! Submodules: which of them have a checkout, which are safe to enter, and their checkouts in a worktree.
//!
//! `git status` and `git add` start a child process in a submodule that follows the submodule's own configuration. The
//! overrides of the outer command are inherited, but do not cover variables that only the submodule sets.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loopgate_home::{EntryKind, Repository, RepositoryError, trust_command};
use sha2::{Digest as _, Sha256};

use super::{DropPolicy, Git, GitError, checked, config, finish, time};

/// Signature of the index extension that refers to a shared index file, which may have further entries.
const SPLIT: &[u8] = b"link";
/// Name prefix of shared index files in the git directory.
const SHARED_INDEX: &str = "sharedindex.";
/// Number of bytes of an index that are searched at once.
const SEARCH_BLOCK: usize = 4096;
/// Maximum number of known index files; all are dropped when it is reached.
const MAX_INDEXES: usize = 1000;

/// The submodules in index files that git has listed, by the hash of the file. The hash and not the metadata: whether git
/// starts in a submodule depends on it, and a mapped file can be written without a change of its metadata.
#[derive(Debug, Default)]
pub(super) struct KnownSubmodules(Mutex<HashMap<[u8; 32], Vec<SubmoduleEntry>>>);

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
        if repository.bare {
            return Ok(Vec::new());
        }
        let searched = repository.clone();
        let search = tokio::task::spawn_blocking(move || search_index(&searched)).await;
        let hash = match search.unwrap_or(IndexSearch::MayContainSubmodules { hash: None }) {
            IndexSearch::NoSubmodules => return Ok(Vec::new()),
            IndexSearch::MayContainSubmodules { hash } => hash,
        };
        if let Some(known) = hash.and_then(|hash| self.known_submodules.get(&hash)) {
            return Ok(known);
        }
        let args = ["ls-files", "--stage", "-z"];
        let command = self.reader_of(repository).await?.args(args);
        let output = checked(&args, finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?)?;
        let submodules = parse_submodules(&output.stdout);
        if let Some(hash) = hash {
            // The index may have been replaced before git read it.
            let searched = repository.clone();
            let search = tokio::task::spawn_blocking(move || search_index(&searched)).await;
            if search.is_ok_and(|search| search == IndexSearch::MayContainSubmodules { hash: Some(hash) }) {
                self.known_submodules.insert(hash, submodules.clone());
            }
        }
        Ok(submodules)
    }
}

impl KnownSubmodules {
    fn get(&self, hash: &[u8; 32]) -> Option<Vec<SubmoduleEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    fn insert(&self, hash: [u8; 32], submodules: Vec<SubmoduleEntry>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_INDEXES {
            known.clear();
        }
        known.insert(hash, submodules);
    }
}

/// Returns the error for a submodule whose configuration names programs that the user has not trusted.
pub(super) fn untrusted(path: &Path, place: &Path) -> RepositoryError {
    RepositoryError::Refused(format!(
        "the configuration of its submodule {} names programs that you have not trusted; review it with: {}",
        path.display(),
        trust_command(place)
    ))
}

/// Result of a search in an index file, which avoids a git process for nearly all repositories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexSearch {
    NoSubmodules,
    /// `hash` identifies the content; `None` when it depends on another file, or cannot be read.
    MayContainSubmodules {
        hash: Option<[u8; 32]>,
    },
}

fn search_index(repository: &Repository) -> IndexSearch {
    let git_dir = &repository.handles.git_dir;
    let index = match git_dir.read(Path::new("index"), u64::MAX) {
        Ok(index) => index,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !git_dir.exists(Path::new("index")) => {
            return IndexSearch::NoSubmodules;
        }
        Err(_) => return IndexSearch::MayContainSubmodules { hash: None },
    };
    if !may_contain_submodule_mode(&index) && memchr::memmem::find(&index, SPLIT).is_none() {
        return IndexSearch::NoSubmodules;
    }
    // Without a shared index file, git fails if the index refers to one.
    let is_shared = |name: &OsStr| name.as_bytes().starts_with(SHARED_INDEX.as_bytes());
    let may_be_split =
        git_dir.entries().map_or(true, |entries| entries.iter().any(|entry| is_shared(&entry.name)));
    IndexSearch::MayContainSubmodules { hash: (!may_be_split).then(|| Sha256::digest(&index).into()) }
}

/// Returns whether an index may contain the mode of a submodule, 0160000 in 32 bits, big-endian. Git accepts any
/// permission bits with it.
fn may_contain_submodule_mode(index: &[u8]) -> bool {
    // Blocks without a branch for each byte, so that the compiler vectorizes the loop.
    let is_mode = |at: &[u8]| (at[0] == 0) & (at[1] == 0) & (at[2] & 0xf0 == 0xe0);
    (0..index.len()).step_by(SEARCH_BLOCK).any(|start| {
        let block = &index[start..index.len().min(start + SEARCH_BLOCK + 2)];
        block.windows(3).fold(false, |found, at| found | is_mode(at))
    })
}

/// Parses the submodules in `git ls-files --stage -z`.
fn parse_submodules(printed: &[u8]) -> Vec<SubmoduleEntry> {
    let entry = |entry: &[u8]| {
        // `16` is a submodule; the permission bits after it are 0 unless the index was not written by git.
        let (_, entry) = entry.strip_prefix(b"16")?.split_at_checked(5)?;
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
        let with_permissions = parse_submodules(b"160644 2222 0\tsub\0");
        assert_eq!(with_permissions[0].path, Path::new("sub"));
    }

    #[test]
    fn mode_of_a_submodule_is_found_anywhere() {
        for length in [3, 100, SEARCH_BLOCK - 1, SEARCH_BLOCK, SEARCH_BLOCK + 1, 3 * SEARCH_BLOCK + 2] {
            let mut index = vec![1; length];
            assert!(!may_contain_submodule_mode(&index), "{length}");
            index[length - 3..].copy_from_slice(&[0, 0, 0xe1]);
            assert!(may_contain_submodule_mode(&index), "{length}");
        }
        assert!(!may_contain_submodule_mode(b"") && !may_contain_submodule_mode(&[0, 0]));
        assert!(!may_contain_submodule_mode(&[0, 0, 0x81, 0xa4, 0, 0, 0xa0, 0]), "files and links");
    }
}
