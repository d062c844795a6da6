//! Lock that allows one driver per work directory.
//!
//! The driver holds an operating system lock on `<workdir>/.learnings/.lock` while it runs; the file's text
//! identifies it. A file without that lock is taken over when its process has exited or when it was not
//! refreshed for hours; otherwise the owner may be a running process that does not use system locks, and is
//! respected.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use loopgate_home::untrusted;

use super::child;

/// Age at which a lock file without a system lock counts as abandoned. The driver refreshes it every minute.
const STALE_AFTER: Duration = Duration::from_hours(4);

/// Attempts to lock the file while other processes replace it.
const MAX_ATTEMPTS: usize = 8;

/// Held lock; released by [`LoopLock::release`] or when the process exits.
#[derive(Debug)]
pub struct LoopLock {
    file: File,
    path: PathBuf,
}

/// Reason for which the lock was not acquired.
#[derive(Debug)]
pub enum LockError {
    /// Another driver is running; contains the message to print.
    Held(String),
    /// The file cannot be created or locked.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Acquired lock, and a warning when it replaced an abandoned one.
pub type Acquired = (LoopLock, Option<String>);

impl LoopLock {
    /// Acquires the lock of a work directory.
    ///
    /// # Errors
    /// Fails when another driver runs or the file cannot be locked; see [`LockError`].
    pub fn acquire(workdir: &Path, run_id: &str, now: &str) -> Result<Acquired, LockError> {
        let path = workdir.join(".learnings/.lock");
        for _ in 0..MAX_ATTEMPTS {
            let mut file = untrusted::append(&path)?;
            // Read before locking: the text is needed for the message when the lock is held.
            let content = read(&mut file);
            let age = age(&file);
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held(already_running(&path, &content, age)));
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            if !is_at(&file, &path) {
                continue; // released and removed by its owner between our open and our lock
            }
            let warning = takeover(&path, &content, age)?;
            let mut lock = Self { file, path };
            // The text identifies the owner to other drivers; the lock itself is that of the operating
            // system.
            lock.write(run_id, now)?;
            return Ok((lock, warning));
        }
        Err(LockError::Io(io::Error::other("the lock file keeps changing")))
    }

    /// Removes the file, then releases the lock. In this order no other driver can lock a file that is about
    /// to be removed.
    pub fn release(self) {
        let _ = untrusted::remove(&self.path);
    }

    fn write(&mut self, run_id: &str, now: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        write!(self.file, "run_id={run_id}|pid={}|started={now}", std::process::id())
    }
}

/// Refreshes the modification time of the lock file: the heartbeat of its owner.
pub fn refresh(workdir: &Path) {
    // Best-effort: a missed heartbeat matters only when all of them fail for STALE_AFTER.
    let _ = untrusted::open(&workdir.join(".learnings/.lock"))
        // Only the time changes; rewriting the content could race with a reader.
        .and_then(|file| file.set_modified(SystemTime::now()));
}

/// Returns whether a running driver holds the lock of a work directory.
#[must_use]
pub fn is_held(workdir: &Path) -> bool {
    untrusted::open(&workdir.join(".learnings/.lock"))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Decides about a file without a system lock: acquired silently, acquired with a warning, or refused.
fn takeover(path: &Path, content: &str, age: Duration) -> Result<Option<String>, LockError> {
    if content.is_empty() {
        return Ok(None);
    }
    // A reused pid may be our own: then the file was left by an earlier process.
    if pid(content).is_some_and(|pid| pid == std::process::id() || !child::process_exists(pid)) {
        return Ok(Some(format!(
            "Warning: taking over the lock of a loop whose process has exited ({content})"
        )));
    }
    if age < STALE_AFTER {
        return Err(LockError::Held(already_running(path, content, age)));
    }
    Ok(Some(format!("Warning: removing a stale lock, {} minutes old ({content})", age.as_secs() / 60)))
}

fn already_running(path: &Path, content: &str, age: Duration) -> String {
    let path = path.display();
    format!(
        "Error: Another loop is already running in this work directory.\n  Lock: {path}\n  Content: {content}\n  \
         Age: {} minutes\nWait for it to end. If you are sure that it no longer runs, remove the lock: rm \"{path}\"",
        age.as_secs() / 60
    )
}

fn read(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // Unreadable content means an unknown owner; the age of the file decides.
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

/// Returns whether `path` still refers to the open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), untrusted::metadata(path)) {
        (Ok(open), Ok(current)) => open.ino() == current.ino() && open.dev() == current.dev(),
        _ => false,
    }
}

/// Returns whether the file exists; an open file cannot be replaced on this platform.
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
    fn young_lock_is_respected_and_stale_lock_is_replaced() {
        let parent = std::os::unix::process::parent_id();
        // The parent process is alive and does not hold the system lock, so only the age can decide.
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
    fn lock_of_a_dead_process_is_taken_over() {
        // The highest pid that Linux can assign, hardly ever in use.
        let dir = old_lock("run_id=x|pid=4194303|started=y", 0);
        assert!(LoopLock::acquire(dir.path(), "r", "now").is_ok());
    }

    #[test]
    fn held_lock_is_refused_at_any_age_until_release() {
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
