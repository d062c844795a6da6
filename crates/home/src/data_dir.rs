//! The data directory: where it lies, who may enter it, and the lock that keeps a second process out.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use loopgate_api::names::env;
use thiserror::Error;

use crate::files;

/// Why the data directory cannot be used.
#[derive(Debug, Error)]
pub enum DataDirError {
    /// The variable or flag holds a relative path.
    #[error("{} must be an absolute path, not \"{}\"", env::HOME, .0.display())]
    NotAbsolute(PathBuf),
    /// The system names no directory for the user's data.
    #[error("no data directory is known for this user; set {} to an absolute path", env::HOME)]
    NoHome,
    /// Another process holds the lock.
    #[error("another Loopgate is running with the data directory {}; stop it first, or choose another with --home", .0.display())]
    InUse(PathBuf),
    /// The file system refused.
    #[error("cannot use the data directory {}: {source}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The data directory of the running process; holds the single-instance lock while it lives.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

/// The directory that is used when nobody names one: `LOOPGATE_HOME`, else the platform's place
/// for a user's data.
///
/// # Errors
/// A relative `LOOPGATE_HOME`, or a user without a home.
pub fn default_data_dir() -> Result<PathBuf, DataDirError> {
    if let Some(path) = std::env::var_os(env::HOME).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return if path.is_absolute() { Ok(path) } else { Err(DataDirError::NotAbsolute(path)) };
    }
    let strategy = etcetera::base_strategy::choose_native_strategy().map_err(|_| DataDirError::NoHome)?;
    Ok(strategy.data_dir().join("loopgate"))
}

impl DataDir {
    /// Makes the directory for the owner alone and takes its lock.
    ///
    /// # Errors
    /// See [`DataDirError`].
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        if !path.is_absolute() {
            return Err(DataDirError::NotAbsolute(path.to_owned()));
        }
        let io = |source| DataDirError::Io { path: path.to_owned(), source };
        files::create_private_dir(path).map_err(io)?;
        let lock = File::create(path.join("loopgate.lock")).map_err(io)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(DataDirError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where logs are written.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// A file directly in the directory.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataDir::open(dir.path()).unwrap();
        assert!(matches!(DataDir::open(dir.path()), Err(DataDirError::InUse(_))));
        drop(first);
        DataDir::open(dir.path()).unwrap();
    }

    #[test]
    fn a_relative_path_is_refused_by_name() {
        let error = DataDir::open(Path::new("relative")).unwrap_err().to_string();
        assert!(error.contains("LOOPGATE_HOME"), "{error}");
    }
}
