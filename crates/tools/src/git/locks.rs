//! Locks that a git which died left behind, told from those that a living one holds.
//!
//! Git makes a `.lock` file beside what it changes and takes it away at the end, unless it is killed
//! or the machine dies; every later change is then refused. A lock is somebody's while a git works in
//! the repository that is older than the lock, or while anybody has the file open.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use loopgate_home::{common_git_dir, linked_git_dir};

use crate::process::table;

/// Start times are told in steps, and by another clock than those of files.
const CLOCKS_APART_MS: u64 = 2_000;

/// Removes the locks in the way of a worktree's next commit and push that nobody holds any more.
/// Answers which they were.
pub async fn free_locks(worktree: &Path) -> Vec<PathBuf> {
    let worktree = worktree.to_owned();
    let freed = tokio::task::spawn_blocking(move || {
        let mut locks = abandoned(&worktree);
        locks.retain(|lock| std::fs::remove_file(lock).is_ok());
        locks
    });
    let freed = freed.await.unwrap_or_default();
    for lock in &freed {
        tracing::warn!(lock = %lock.display(), "a git that died had left a lock; it is removed");
    }
    freed
}

fn abandoned(worktree: &Path) -> Vec<PathBuf> {
    let Some(common) = common_git_dir(worktree) else { return Vec::new() };
    let own = linked_git_dir(worktree).unwrap_or_else(|| worktree.join(".git"));
    let mut found = vec![
        own.join("index.lock"),
        own.join("HEAD.lock"),
        common.join("config.lock"),
        common.join("packed-refs.lock"),
    ];
    let head = std::fs::read_to_string(own.join("HEAD")).unwrap_or_default();
    if let Some(branch) = head.trim().strip_prefix("ref: ").filter(|name| !name.contains("..")) {
        found.push(common.join(format!("{branch}.lock")));
    }
    found.retain(|lock| lock.is_file());
    if found.is_empty() {
        return found;
    }
    let places = checkouts(worktree, &common);
    let at_work = table::at_work("git", &places);
    found.retain(|lock| {
        let Some(made) = made_ms(lock) else { return false };
        let older = at_work.iter().any(|git| git.running && git.started.0 <= made + CLOCKS_APART_MS);
        !older && !table::is_open(lock)
    });
    found
}

/// Every directory in which a git of this repository may work.
fn checkouts(worktree: &Path, common: &Path) -> Vec<PathBuf> {
    let linked = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let linked = linked.filter_map(|entry| {
        let pointer = std::fs::read_to_string(entry.path().join("gitdir")).ok()?;
        Path::new(pointer.trim()).parent().map(Path::to_owned)
    });
    let clone = common.parent().filter(|_| common.ends_with(".git")).unwrap_or(common);
    let all = [worktree.to_owned(), clone.to_owned()].into_iter().chain(linked);
    all.map(|place| place.canonicalize().unwrap_or(place)).collect()
}

/// When a lock was made, in milliseconds since the epoch; `None` when it is gone.
fn made_ms(lock: &Path) -> Option<u64> {
    let modified = lock.metadata().and_then(|metadata| metadata.modified()).ok()?;
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "sets a test up")]
    fn git(directory: &Path, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .current_dir(directory)
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(args);
        command
    }

    fn run(directory: &Path, args: &[&str]) {
        let ended = git(directory, args).stdout(Stdio::null()).status();
        assert!(ended.is_ok_and(|status| status.success()), "git {args:?}");
    }

    #[tokio::test]
    async fn a_lock_of_a_dead_git_goes_and_one_of_a_living_git_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (clone, worktree) = (dir.path().join("clone"), dir.path().join("worktree"));
        run(dir.path(), &["init", "-q", "-b", "main", "clone"]);
        run(&clone, &["commit", "-q", "--allow-empty", "-m", "first"]);
        run(&clone, &["worktree", "add", "-q", "-b", "side", &worktree.to_string_lossy()]);
        assert!(free_locks(&worktree).await.is_empty());
        let own = clone.join(".git/worktrees/worktree");
        let locks = [
            own.join("index.lock"),
            own.join("HEAD.lock"),
            clone.join(".git/config.lock"),
            clone.join(".git/refs/heads/side.lock"),
        ];
        // A git that waits for a question, older than the locks: they may be its own.
        let mut living = git(&worktree, &["cat-file", "--batch"]);
        let mut living = living.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = living.stdin.as_mut().unwrap();
        stdin.write_all(b"HEAD:none\n").unwrap();
        // It answered, so that it is what it will be.
        living.stdout.as_mut().unwrap().read_exact(&mut [0; 4]).unwrap();
        locks.iter().for_each(|lock| std::fs::write(lock, "").unwrap());
        assert!(free_locks(&worktree).await.is_empty());
        drop(living.stdin.take());
        living.wait().unwrap();
        // One that somebody has open is his, whoever he is.
        let open = std::fs::File::open(&locks[0]).unwrap();
        assert_eq!(free_locks(&worktree).await, locks[1..]);
        drop(open);
        assert_eq!(free_locks(&worktree).await, locks[..1]);
        std::fs::write(worktree.join("new.txt"), "new\n").unwrap();
        run(&worktree, &["add", "-A"]);
        run(&worktree, &["commit", "-q", "-m", "second"]);
    }
}
