//! Submodules, which `git status` and `git add` enter automatically.
//!
//! Git starts a child process there that follows the submodule's own configuration. The overrides of the
//! outer command are inherited, but do not cover variables that only the submodule sets.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Repository, RepositoryError, untrusted};

use super::{DropPolicy, Git, GitError, checked, config, finish, time};

/// The mode of a submodule in an index file: 0160000, big-endian.
const MODE: [u8; 4] = [0, 0, 0xe0, 0];
/// Signature of the index extension that refers to a shared index file, which may have further entries.
const SPLIT: &[u8] = b"link";

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
        for path in self.submodules(repository).await? {
            let submodule = match self.repository(&repository.root.join(&path)).await {
                // Not initialized: git finds the superproject in its directory, and does not enter it.
                Ok(submodule) if submodule.root == repository.root => continue,
                Ok(submodule) => submodule,
                Err(GitError::Repository(RepositoryError::None)) => continue,
                Err(_) => return Ok(Some(path)),
            };
            let names_programs =
                config::includes(&submodule.config) || config::has_restricted(&submodule.config);
            let is_unsafe = names_programs && !self.trusts(&submodule.root).await;
            if is_unsafe || Box::pin(self.unsafe_submodule(&submodule)).await?.is_some() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Returns the submodules of a working tree that are checked out, relative to its root.
    ///
    /// # Errors
    /// Fails with [`GitError`], also outside a repository.
    pub async fn checked_out_submodules(&self, directory: &Path) -> Result<Vec<PathBuf>, GitError> {
        let repository = self.repository(directory).await?;
        let mut paths = self.submodules(&repository).await?;
        paths.retain(|path| untrusted::kind(&repository.root.join(path).join(".git")).is_some());
        Ok(paths)
    }

    /// Returns the paths of the submodules in the index.
    async fn submodules(&self, repository: &Arc<Repository>) -> Result<Vec<PathBuf>, GitError> {
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

/// Returns whether the index may contain a submodule. A search for its mode avoids a git process for nearly
/// all repositories.
fn may_have_submodules(repository: &Repository) -> bool {
    let Ok(index) = repository.handles.git_dir.read(Path::new("index"), u64::MAX) else {
        return repository.handles.git_dir.exists(Path::new("index"));
    };
    [&MODE, SPLIT].iter().any(|sign| memchr::memmem::find(&index, sign).is_some())
}

/// Parses the submodules in `git ls-files --stage -z`.
fn parse_submodules(printed: &[u8]) -> Vec<PathBuf> {
    let entries = printed.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 "));
    let paths = entries.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
    paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_are_distinguished_from_files() {
        let printed = b"100644 1111 0\ta\x00160000 2222 0\tsub/a b\x00120000 3333 0\t160000 x\0";
        assert_eq!(parse_submodules(printed), [PathBuf::from("sub/a b")]);
    }
}
