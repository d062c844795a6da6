//! Locks that a git which died left behind, told from those that a living one holds.
//!
//! Git makes a `.lock` file beside what it changes and takes it away at the end, unless it is killed
//! or the machine dies; every later change is then refused. A lock is somebody's while a git works in
//! the repository that is older than the lock, or while anybody has the file open.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use loopgate_home::Repository;

use super::Git;
use crate::process::table;

/// Start times are told in steps, and by another clock than those of files.
const CLOCKS_APART_MS: u64 = 2_000;
/// Bytes of a file that names one ref or one path.
const MAX_HEAD: u64 = 8 * 1024;

impl Git {
    /// Removes the locks in the way of a worktree's next commit and push that nobody holds any more.
    /// Answers which they were.
    pub async fn free_locks(&self, worktree: &Path) -> Vec<PathBuf> {
        let Ok(repository) = self.repository(worktree).await else { return Vec::new() };
        let freed = tokio::task::spawn_blocking(move || free(&repository)).await.unwrap_or_default();
        for lock in &freed {
            tracing::warn!(lock = %lock.display(), "a git that died had left a lock; it is removed");
        }
        freed
    }
}

fn free(repository: &Repository) -> Vec<PathBuf> {
    let mut locks = abandoned(repository);
    locks.retain(|lock| std::fs::remove_file(lock).is_ok());
    locks
}

fn abandoned(repository: &Repository) -> Vec<PathBuf> {
    let Repository { own, common, handles, .. } = repository;
    let mut found = vec![
        own.join("index.lock"),
        own.join("HEAD.lock"),
        common.join("config.lock"),
        common.join("packed-refs.lock"),
    ];
    let head = handles.own.read(Path::new("HEAD"), MAX_HEAD).unwrap_or_default();
    let head = String::from_utf8_lossy(&head);
    if let Some(branch) = head.trim().strip_prefix("ref: ").filter(|name| !name.contains("..")) {
        found.push(common.join(format!("{branch}.lock")));
    }
    found.retain(|lock| lock.is_file());
    if found.is_empty() {
        return found;
    }
    let places = checkouts(repository);
    let at_work = table::at_work("git", &places);
    found.retain(|lock| {
        let Some(made) = made_ms(lock) else { return false };
        let older = at_work.iter().any(|git| git.running && git.started.0 <= made + CLOCKS_APART_MS);
        !older && !table::is_open(lock)
    });
    found
}

/// Every directory in which a git of this repository may work.
fn checkouts(repository: &Repository) -> Vec<PathBuf> {
    let worktrees = repository.handles.common.directory(Path::new("worktrees"));
    let linked = worktrees.into_iter().flat_map(|worktrees| {
        let entries = worktrees.entries().unwrap_or_default();
        entries.into_iter().filter_map(move |entry| {
            let pointer = worktrees.read(&Path::new(&entry.name).join("gitdir"), MAX_HEAD).ok()?;
            let pointer = String::from_utf8_lossy(&pointer).into_owned();
            Path::new(pointer.trim()).parent().map(Path::to_owned)
        })
    });
    let own = [repository.root.clone(), repository.clone_root().to_owned()];
    let all = own.into_iter().chain(linked);
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
    use std::sync::Arc;

    use loopgate_home::{Overrides, Sandbox, SettingsStore};

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

    #[test]
    fn a_lock_of_a_dead_git_goes_and_one_of_a_living_git_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (clone, worktree) = (dir.path().join("clone"), dir.path().join("worktree"));
        run(dir.path(), &["init", "-q", "-b", "main", "clone"]);
        run(&clone, &["commit", "-q", "--allow-empty", "-m", "first"]);
        run(&clone, &["worktree", "add", "-q", "-b", "side", &worktree.to_string_lossy()]);
        let base = Overrides { sandbox_base_directory: Some(dir.path().to_owned()), ..Overrides::default() };
        let settings = SettingsStore::open(&dir.path().join("settings.toml"), base).unwrap();
        let sandbox = Sandbox::new(Arc::new(settings), Path::new("/nonexistent-data"));
        let repository = sandbox.repository(&worktree).unwrap();
        assert!(free(&repository).is_empty());
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
        assert!(free(&repository).is_empty());
        drop(living.stdin.take());
        living.wait().unwrap();
        // One that somebody has open is his, whoever he is.
        let open = std::fs::File::open(&locks[0]).unwrap();
        assert_eq!(free(&repository), locks[1..]);
        drop(open);
        assert_eq!(free(&repository), locks[..1]);
        std::fs::write(worktree.join("new.txt"), "new\n").unwrap();
        run(&worktree, &["add", "-A"]);
        run(&worktree, &["commit", "-q", "-m", "second"]);
    }
}
