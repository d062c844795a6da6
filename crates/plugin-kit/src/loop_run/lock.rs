//! One driver a work directory.
//!
//! `<workdir>/.learnings/.lock` is locked by the operating system while its driver lives, and says in
//! its text who that is. A lock that nobody holds any more is taken over when its process is gone, or
//! when it has not been refreshed for hours; an unknown living owner is respected.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use loopgate_home::untrusted;

use super::child;

/// Age from which a lock that the system does not hold counts as abandoned.
const STALE_AFTER: Duration = Duration::from_hours(4);

/// How often a path may be replaced while we lock it.
const TRIES: usize = 8;

/// The lock; released by [`LoopLock::release`] or by the end of the process.
#[derive(Debug)]
pub struct LoopLock {
    file: File,
    path: PathBuf,
}

/// Why the lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Another driver runs: what to show.
    Held(String),
    /// The file cannot be made or locked.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A lock, and a warning when an abandoned one was replaced.
pub type Acquired = (LoopLock, Option<String>);

impl LoopLock {
    /// Takes the lock of a work directory.
    ///
    /// # Errors
    /// See [`LockError`].
    pub fn acquire(workdir: &Path, run_id: &str, now: &str) -> Result<Acquired, LockError> {
        let path = workdir.join(".learnings/.lock");
        for _ in 0..TRIES {
            let mut file = untrusted::append(&path)?;
            let content = read(&mut file);
            let age = age(&file);
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Held(running(&path, &content, age))),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            if !is_at(&file, &path) {
                continue; // released and removed by its owner between our open and our lock
            }
            let warning = takeover(&path, &content, age)?;
            let mut lock = Self { file, path };
            lock.write(run_id, now)?;
            return Ok((lock, warning));
        }
        Err(LockError::Io(io::Error::other("the lock file keeps changing")))
    }

    /// Removes the file, then lets the lock go.
    pub fn release(self) {
        let _ = untrusted::remove(&self.path);
    }

    fn write(&mut self, run_id: &str, now: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        write!(self.file, "run_id={run_id}|pid={}|started={now}", std::process::id())
    }
}

/// Says that the owner of the lock of a work directory still lives.
pub fn refresh(workdir: &Path) {
    // A missed beat only matters when none arrives for hours.
    let _ = untrusted::open(&workdir.join(".learnings/.lock"))
        .and_then(|file| file.set_modified(SystemTime::now()));
}

/// Whether another driver holds the lock of a work directory at this moment.
#[must_use]
pub fn is_held(workdir: &Path) -> bool {
    untrusted::open(&workdir.join(".learnings/.lock"))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Decides about a file that the system does not hold: taken silently, with a warning, or not.
fn takeover(path: &Path, content: &str, age: Duration) -> Result<Option<String>, LockError> {
    if content.is_empty() {
        return Ok(None);
    }
    if pid(content).is_some_and(|pid| pid == std::process::id() || !child::process_exists(pid)) {
        return Ok(Some(format!("Warning: taking over the lock of a loop that is gone ({content})")));
    }
    if age < STALE_AFTER {
        return Err(LockError::Held(running(path, content, age)));
    }
    Ok(Some(format!("Warning: removing a stale lock, {} minutes old ({content})", age.as_secs() / 60)))
}

fn running(path: &Path, content: &str, age: Duration) -> String {
    let path = path.display();
    format!(
        "Error: Another loop is already running in this work directory.\n  Lock: {path}\n  Content: {content}\n  \
         Age: {} minutes\nWait for it to end. If you are sure that it is gone, remove the lock: rm \"{path}\"",
        age.as_secs() / 60
    )
}

fn read(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // A lock that cannot be read is one of an unknown owner, which its age decides about.
    let _ = file.take(1024).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn pid(content: &str) -> Option<u32> {
    content.split('|').find_map(|part| part.strip_prefix("pid="))?.trim().parse().ok()
}

fn age(file: &File) -> Duration {
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default()
}

/// Whether the open file is still the one that the path names.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), untrusted::metadata(path)) {
        (Ok(open), Ok(named)) => open.ino() == named.ino() && open.dev() == named.dev(),
        _ => false,
    }
}

/// An open file cannot be removed here.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old_lock(content: &str, hours: u64) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".learnings")).unwrap();
        let path = dir.path().join(".learnings/.lock");
        std::fs::write(&path, content).unwrap();
        let at = SystemTime::now() - Duration::from_hours(hours);
        File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
        dir
    }

    // PL-16
    #[test]
    fn lock_of_an_hour_is_respected_and_one_of_five_hours_replaced() {
        let parent = std::os::unix::process::parent_id();
        let young = old_lock(&format!("run_id=x|pid={parent}|started=y"), 1);
        let Err(LockError::Held(text)) = LoopLock::acquire(young.path(), "r", "now") else { panic!("taken") };
        assert!(
            text.contains("already running") && text.contains("Age: 60 minutes") && text.contains("run_id=x")
        );
        let old = old_lock(&format!("run_id=x|pid={parent}|started=y"), 5);
        let (_lock, warning) = LoopLock::acquire(old.path(), "r", "now").unwrap();
        assert!(warning.unwrap().contains("stale"));
    }

    #[test]
    fn dead_owner_is_no_owner() {
        let dir = old_lock("run_id=x|pid=4194303|started=y", 0);
        assert!(LoopLock::acquire(dir.path(), "r", "now").is_ok());
    }

    #[test]
    fn held_lock_is_refused_whatever_its_age_and_free_after_release() {
        let dir = tempfile::tempdir().unwrap();
        let (lock, warning) = LoopLock::acquire(dir.path(), "r", "now").unwrap();
        assert!(warning.is_none() && is_held(dir.path()));
        let path = dir.path().join(".learnings/.lock");
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(SystemTime::now() - Duration::from_hours(9))
            .unwrap();
        assert!(matches!(LoopLock::acquire(dir.path(), "s", "now"), Err(LockError::Held(_))));
        lock.release();
        assert!(!path.exists() && !is_held(dir.path()));
        assert!(LoopLock::acquire(dir.path(), "s", "now").is_ok());
    }
}
