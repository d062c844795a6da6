//! Submodules, into which git looks by itself when it is asked for the state of the tree around them.
//!
//! Git then starts another git there, which goes by the submodule's own configuration. What ours is
//! told reaches that one too, but not what only that configuration names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Repository, RepositoryError};

use super::{CallerPresence, Git, GitError, checked, config, finish, time};

/// The mode of a submodule in an index file.
const MODE: [u8; 4] = [0, 0, 0xe0, 0];
/// Begins the part of an index file that names another one, which holds the rest.
const SPLIT: &[u8] = b"link";

impl Git {
    /// The first submodule, at any depth, that is no repository of the sandbox, or whose configuration
    /// names programs and is not trusted.
    ///
    /// # Errors
    /// [`GitError`] when git could not list what is there.
    pub(super) async fn odd_submodule(
        &self,
        repository: &Arc<Repository>,
    ) -> Result<Option<PathBuf>, GitError> {
        for path in self.submodules(repository).await? {
            let found = match self.repository(&repository.root.join(&path)).await {
                Ok(found) if found.root == repository.root => continue,
                Ok(found) => found,
                Err(GitError::Repository(RepositoryError::None)) => continue,
                Err(_) => return Ok(Some(path)),
            };
            let names_programs = config::includes(&found.config) || config::withheld(&found.config);
            let odd = names_programs && !self.trusts(&found.root).await;
            if odd || Box::pin(self.odd_submodule(&found)).await?.is_some() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Where the index has submodules.
    async fn submodules(&self, repository: &Arc<Repository>) -> Result<Vec<PathBuf>, GitError> {
        let found = repository.clone();
        if repository.bare || !tokio::task::spawn_blocking(move || may_have_any(&found)).await.unwrap_or(true)
        {
            return Ok(Vec::new());
        }
        let args = ["ls-files", "--stage", "-z"];
        let command = self.reader_of(repository).await?.args(args);
        let output = checked(&args, finish(&command, &args, time::LOCAL, CallerPresence::Needed).await?)?;
        Ok(parse_submodules(&output.stdout))
    }
}

/// Whether the index may hold a submodule; tells at once of nearly every one that it does not.
fn may_have_any(repository: &Repository) -> bool {
    let Ok(index) = repository.handles.own.read(Path::new("index"), u64::MAX) else {
        return repository.handles.own.holds(Path::new("index"));
    };
    [&MODE, SPLIT].iter().any(|sign| memchr::memmem::find(&index, sign).is_some())
}

/// Reads the submodules in `git ls-files --stage -z`.
fn parse_submodules(printed: &[u8]) -> Vec<PathBuf> {
    let entries = printed.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 "));
    let paths = entries.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
    paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_are_told_from_files() {
        let printed = b"100644 1111 0\ta\x00160000 2222 0\tsub/a b\x00120000 3333 0\t160000 x\0";
        assert_eq!(parse_submodules(printed), [PathBuf::from("sub/a b")]);
    }
}
