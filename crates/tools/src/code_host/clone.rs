//! Cloning a repository so that its directory appears whole, or not at all.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;
use thiserror::Error;

use super::{CodeHost, CodeHostError, limits, time};

/// Why a clone is not there.
#[derive(Debug, Error)]
pub enum CloneError {
    /// Something has its name already; it was not touched.
    #[error("the destination already exists")]
    Exists,
    /// The directory it should be in is missing, or no directory.
    #[error("the directory for clones does not exist")]
    NoParent,
    /// The code host said no, or took too long.
    #[error(transparent)]
    CodeHost(#[from] CodeHostError),
    /// The finished clone could not be put in its place.
    #[error("the clone could not be put in its place: {0}")]
    Io(#[from] io::Error),
}

impl CodeHost {
    /// Clones a repository to a directory that does not exist yet. It is made beside its place and
    /// moved there when complete; when anything fails, nothing is left. Runs to its end even when
    /// the caller goes away.
    ///
    /// # Errors
    /// [`CloneError`]
    pub async fn clone_repository(
        &self,
        repository: &RepoFullName,
        destination: &Path,
    ) -> Result<(), CloneError> {
        let place = ClonePaths::beside(destination)?;
        let (host, repository) = (self.clone(), repository.clone());
        let work = tokio::spawn(async move { host.clone_into(&repository, place).await });
        work.await.unwrap_or_else(|error| Err(io::Error::other(error.to_string()).into()))
    }

    async fn clone_into(&self, repository: &RepoFullName, place: ClonePaths) -> Result<(), CloneError> {
        let cloned = self.fetch_clone(repository, &place).await;
        let moved = match cloned {
            Ok(()) => place.settle().await,
            Err(error) => Err(error.into()),
        };
        if moved.is_err() {
            let _ = tokio::fs::remove_dir_all(&place.temporary).await;
        }
        moved
    }

    async fn fetch_clone(&self, repository: &RepoFullName, place: &ClonePaths) -> Result<(), CodeHostError> {
        let command = self.command().await.directory(&place.parent);
        let command = command.args(["repo", "clone", repository.as_str()]).arg(&place.temporary);
        let output = CodeHostError::check_limits(command.run(limits(time::CLONE)).await?)?;
        if output.status.success() { Ok(()) } else { Err(CodeHostError::failed(&output)) }
    }
}

/// Where a clone goes, and where it is made.
struct ClonePaths {
    parent: PathBuf,
    temporary: PathBuf,
    destination: PathBuf,
}

impl ClonePaths {
    fn beside(destination: &Path) -> Result<Self, CloneError> {
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

    /// Moves the finished clone to its path, unless that exists by now.
    async fn settle(&self) -> Result<(), CloneError> {
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
        // Some file systems cannot promise it; a rename never replaces a directory that has files.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => std::fs::rename(from, to),
        result => Ok(result?),
    }
}
