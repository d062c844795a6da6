//! The data directory: where it lies, who may enter it, and the lock that keeps a second process out.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etcetera::BaseStrategy as _;
use loopgate_api::names::env;
use thiserror::Error;

use crate::files;

/// How long the lock of a process that was killed may stay with a program that it was just starting.
const LAST_START: Duration = Duration::from_secs(2);
/// Between two looks at such a lock; the system does not tell when it is free.
const LOOK: Duration = Duration::from_millis(10);

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
        match lock(&path.join("loopgate.lock")).map_err(io)? {
            Some(lock) => Ok(Self { path: path.to_owned(), _lock: lock }),
            None => Err(DataDirError::InUse(path.to_owned())),
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

/// Takes the lock, and writes into its file who has it; `None` while somebody else does.
#[expect(clippy::disallowed_methods, reason = "there is no signal to wait for")]
fn lock(path: &Path) -> io::Result<Option<File>> {
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    let begun = Instant::now();
    while let Err(error) = file.try_lock() {
        match error {
            TryLockError::Error(error) => return Err(error),
            TryLockError::WouldBlock if holder_lives(path) || begun.elapsed() > LAST_START => {
                return Ok(None);
            }
            TryLockError::WouldBlock => std::thread::sleep(LOOK),
        }
    }
    file.set_len(0)?;
    file.write_all(std::process::id().to_string().as_bytes())?;
    Ok(Some(file))
}

/// Whether the process that took the lock still runs. One of which nothing is known does.
#[cfg(unix)]
fn holder_lives(path: &Path) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_string(&mut text));
    let pid = read.ok().and_then(|_| text.parse().ok()).and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn holder_lives(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a program does that somebody was starting when he was killed.
    #[cfg(unix)]
    #[test]
    fn the_lock_of_the_dead_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("loopgate.lock");
        let first = DataDir::open(dir.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), std::process::id().to_string());
        // No process has this one.
        std::fs::write(&path, i32::MAX.to_string()).unwrap();
        let second = std::thread::spawn({
            let dir = dir.path().to_owned();
            move || DataDir::open(&dir).map(drop)
        });
        drop(first);
        second.join().unwrap().unwrap();
    }

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
