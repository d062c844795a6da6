//! Atomic clones: the destination either appears with the complete clone, or not at all.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;
use thiserror::Error;

use super::{CodeHost, CodeHostError, limits, time};

/// An error while cloning a repository.
#[derive(Debug, Error)]
pub enum CloneError {
    /// The destination exists, and was not changed.
    #[error("the destination already exists")]
    Exists,
    /// The parent of the destination is not a directory.
    #[error("the parent directory of the clone does not exist")]
    NoParent,
    /// The code host's program failed.
    #[error(transparent)]
    CodeHost(#[from] CodeHostError),
    /// The complete clone could not be moved to its destination.
    #[error("the clone could not be moved to its destination: {0}")]
    Io(#[from] io::Error),
}

impl CodeHost {
    /// Clones a repository to a path that does not exist. The clone is created in a temporary sibling
    /// directory and renamed when complete; on an error the sibling is removed. Runs to completion even when
    /// the future is dropped.
    ///
    /// # Errors
    /// Fails with [`CloneError`]; the destination is unchanged then.
    pub async fn clone_repository(
        &self,
        repository: &RepoFullName,
        destination: &Path,
    ) -> Result<(), CloneError> {
        let paths = ClonePaths::new(destination)?;
        let (host, repository) = (self.clone(), repository.clone());
        let work = tokio::spawn(async move { host.clone_into(&repository, paths).await });
        work.await.unwrap_or_else(|error| Err(io::Error::other(error.to_string()).into()))
    }

    async fn clone_into(&self, repository: &RepoFullName, paths: ClonePaths) -> Result<(), CloneError> {
        let cloned = self.fetch_clone(repository, &paths).await;
        let moved = match cloned {
            Ok(()) => paths.move_to_destination().await,
            Err(error) => Err(error.into()),
        };
        if moved.is_err() {
            // Best-effort: a directory that remains is hidden, and its random name is never reused.
            let _ = tokio::fs::remove_dir_all(&paths.temporary).await;
        }
        moved
    }

    async fn fetch_clone(&self, repository: &RepoFullName, paths: &ClonePaths) -> Result<(), CodeHostError> {
        let command = self.command().await.directory(&paths.parent);
        let command = command.args(["repo", "clone", repository.as_str()]).arg(&paths.temporary);
        let output = CodeHostError::check_limits(command.run(limits(time::CLONE)).await?)?;
        if output.status.success() { Ok(()) } else { Err(CodeHostError::failed(&output)) }
    }
}

/// The destination of a clone, and its temporary sibling.
struct ClonePaths {
    parent: PathBuf,
    temporary: PathBuf,
    destination: PathBuf,
}

impl ClonePaths {
    fn new(destination: &Path) -> Result<Self, CloneError> {
        let parent = destination.parent().filter(|parent| parent.is_dir()).ok_or(CloneError::NoParent)?;
        let name = destination.file_name().ok_or(CloneError::NoParent)?;
        if destination.symlink_metadata().is_ok() {
            return Err(CloneError::Exists);
        }
        let temporary = format!(".{}.clone-{:016x}", name.to_string_lossy(), rand::random::<u64>());
        Ok(Self {
            parent: parent.to_owned(),
            temporary: parent.join(temporary),
            destination: destination.to_owned(),
        })
    }

    /// Moves the complete clone to its destination, unless that was created in the meantime.
    async fn move_to_destination(&self) -> Result<(), CloneError> {
        let (from, to) = (self.temporary.clone(), self.destination.clone());
        let moved = tokio::task::spawn_blocking(move || move_without_replacing(&from, &to)).await;
        match moved.map_err(io::Error::other)? {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(CloneError::Exists),
            result => Ok(result?),
        }
    }
}

fn move_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // File systems without RENAME_NOREPLACE. A plain rename still fails on a directory with entries.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => std::fs::rename(from, to),
        result => Ok(result?),
    }
}
