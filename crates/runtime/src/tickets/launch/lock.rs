//! Lock file that allows one launch of a ticket at a time across Loopgate processes. Within one process, the
//! caller serializes launches.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use loopgate_api::names::STATE_DIR;
use loopgate_home::{Directory, Sandbox, SandboxedPath};
use loopgate_tools::process::identity;
use serde_json::{Value, json};

use super::{TicketLaunchError, failed};

const NAME: &str = "launch.lock";
/// Age up to which a lock without an owner may be in the course of being written.
const HALF_WRITTEN: Duration = Duration::from_secs(5);

/// A held lock; its file is removed on drop.
pub(super) struct LaunchLock {
    directory: Directory,
    name: OsString,
}

impl Drop for LaunchLock {
    fn drop(&mut self) {
        // Best-effort: the next launch detects a stale lock.
        let _ = self.directory.remove_file(&self.name);
    }
}

/// Acquires the lock of a worktree; `None` while it is held.
pub(super) fn acquire(
    sandbox: &Sandbox,
    worktree: &SandboxedPath,
) -> Result<Option<LaunchLock>, TicketLaunchError> {
    let parent = worktree.as_path().parent().unwrap_or(Path::new("/"));
    let place = parent.join(STATE_DIR).join("locks").join(worktree.base_name());
    let place = sandbox.check(place).map_err(|_| TicketLaunchError::NotAllowed)?;
    let directory = place.create_directory().map_err(failed)?;
    if is_stale(&directory) {
        let _ = directory.remove_file(OsStr::new(NAME));
    }
    // Exclusive creation: of two concurrent launches, only one succeeds.
    let mut file = match directory.create_file(OsStr::new(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        created => created.map_err(failed)?,
    };
    let lock = LaunchLock { directory, name: NAME.into() };
    let now = jiff::Timestamp::now().as_millisecond();
    let owner = json!({"pid": std::process::id(), "timestamp": now});
    file.write_all(owner.to_string().as_bytes()).map_err(failed)?;
    Ok(Some(lock))
}

/// Returns whether a lock has no live owner: the process has exited, had the same pid as this one before a
/// restart, or never wrote its pid.
fn is_stale(directory: &Directory) -> bool {
    let Ok(mut file) = directory.open_file(Path::new(NAME)) else { return false };
    let mut text = String::new();
    // A partially written file has no owner, like an unreadable one.
    let _ = file.read_to_string(&mut text);
    let owner = serde_json::from_str::<Value>(&text).ok().and_then(|owner| owner["pid"].as_u64());
    match owner {
        // This process serializes its launches, so the lock is from an earlier process with this pid.
        Some(pid) if pid == u64::from(std::process::id()) => true,
        Some(pid) => u32::try_from(pid).ok().and_then(identity).is_none(),
        None => {
            let modified = file.metadata().and_then(|metadata| metadata.modified());
            modified.is_ok_and(|at| SystemTime::now().duration_since(at).unwrap_or_default() > HALF_WRITTEN)
        }
    }
}
