//! Stale lock files of git processes that died, as opposed to locks that are held.
//!
//! Git creates a `.lock` file next to each file that it changes and removes it at the end, unless it is
//! killed or the machine crashes. Every later change then fails. A lock is considered held while a git
//! process that is older than the lock works in the repository, or while any process has the file open.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use loopgate_home::{Directory, EntryKind, Repository, Sandbox};

use crate::process::table;

/// Tolerance between start times of processes and modification times of files, in milliseconds: both have a
/// limited resolution and come from different clocks.
const CLOCK_TOLERANCE_MS: u64 = 2_000;
/// Largest file with a ref name or a path that is read, in bytes.
const MAX_POINTER: u64 = 8 * 1024;

/// Removes stale locks that would make the next commit or push of a worktree fail. Returns their paths.
/// Removes nothing in a repository whose git directory is outside the sandbox.
pub async fn remove_stale_locks(sandbox: Arc<Sandbox>, worktree: &Path) -> Vec<PathBuf> {
    let worktree = worktree.to_owned();
    let removed = tokio::task::spawn_blocking(move || {
        let Ok(repository) = sandbox.repository(&worktree) else { return Vec::new() };
        let removed = stale_locks(&repository).into_iter().filter(|lock| lock.remove().is_ok());
        removed.map(|lock| lock.path()).collect()
    });
    let removed = removed.await.unwrap_or_default();
    for lock in &removed {
        tracing::warn!(lock = %lock.display(), "stale git lock removed");
    }
    removed
}

/// A lock file in a git directory.
struct GitLock<'a> {
    handle: &'a Directory,
    directory: &'a Path,
    below: PathBuf,
}

impl GitLock<'_> {
    fn path(&self) -> PathBuf {
        self.directory.join(&self.below)
    }

    // Through the directory handle, so that no symbolic link can redirect the removal.
    fn remove(&self) -> std::io::Result<()> {
        let parent = self.handle.directory(self.below.parent().unwrap_or(Path::new("")))?;
        parent.remove_file(self.below.file_name().unwrap_or_default())
    }
}

fn stale_locks(repository: &Repository) -> Vec<GitLock<'_>> {
    let handles = &repository.handles;
    let own =
        |name: &str| GitLock { handle: &handles.git_dir, directory: &repository.git_dir, below: name.into() };
    // The files that a commit, a push with `-u` and a fetch lock.
    let common = |name: &str| GitLock {
        handle: &handles.common_dir,
        directory: &repository.common_dir,
        below: name.into(),
    };
    let mut candidates =
        vec![own("index.lock"), own("HEAD.lock"), common("config.lock"), common("packed-refs.lock")];
    let head = read(&handles.git_dir, Path::new("HEAD")).unwrap_or_default();
    if let Some(branch) = head.trim().strip_prefix("ref: ") {
        candidates.push(common(&format!("{branch}.lock")));
    }
    candidates.retain(|lock| lock.handle.kind(&lock.below) == Some(EntryKind::File));
    // The usual case. Scanning the process table is skipped.
    if candidates.is_empty() {
        return candidates;
    }
    let places = checkouts(repository);
    let running_gits = table::programs_in("git", &places);
    candidates.retain(|lock| {
        let Some(created) = created_ms(&lock.path()) else { return false };
        let older =
            running_gits.iter().any(|git| git.running && git.started.0 <= created + CLOCK_TOLERANCE_MS);
        !older && !table::is_open(&lock.path())
    });
    candidates
}

/// Returns every directory in which a git process of this repository may run.
fn checkouts(repository: &Repository) -> Vec<PathBuf> {
    let common = &repository.handles.common_dir;
    let linked = common.directory(Path::new("worktrees")).and_then(|linked| linked.entries());
    let linked = linked.unwrap_or_default().into_iter().filter_map(|entry| {
        let pointer = read(common, &Path::new("worktrees").join(entry.name).join("gitdir"))?;
        Path::new(pointer.trim()).parent().map(Path::to_owned)
    });
    let all = [repository.root.clone(), repository.clone_root().to_owned()].into_iter().chain(linked);
    // Canonical, because the kernel reports working directories without symbolic links.
    all.map(|directory| directory.canonicalize().unwrap_or(directory)).collect()
}

fn read(handle: &Directory, file: &Path) -> Option<String> {
    String::from_utf8(handle.read(file, MAX_POINTER).ok()?).ok()
}

/// Returns when a lock was created, in milliseconds since the epoch; `None` when it no longer exists.
fn created_ms(lock: &Path) -> Option<u64> {
    let modified = lock.metadata().and_then(|metadata| metadata.modified()).ok()?;
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "sets up a test")]
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
    async fn stale_lock_is_removed_and_held_lock_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = loopgate_home::Overrides { sandbox_base_directory: Some(base), ..Default::default() };
        let settings = loopgate_home::SettingsStore::open(&dir.path().join("s.toml"), overrides).unwrap();
        let sandbox = Arc::new(Sandbox::new(Arc::new(settings), Path::new("/nonexistent-data")));
        let remove_stale_locks = |worktree| remove_stale_locks(sandbox.clone(), worktree);
        let (clone, worktree) = (dir.path().join("clone"), dir.path().join("worktree"));
        run(dir.path(), &["init", "-q", "-b", "main", "clone"]);
        run(&clone, &["commit", "-q", "--allow-empty", "-m", "first"]);
        run(&clone, &["worktree", "add", "-q", "-b", "side", &worktree.to_string_lossy()]);
        assert!(remove_stale_locks(&worktree).await.is_empty());
        let own = clone.join(".git/worktrees/worktree");
        let locks = [
            own.join("index.lock"),
            own.join("HEAD.lock"),
            clone.join(".git/config.lock"),
            clone.join(".git/refs/heads/side.lock"),
        ];
        // A running git process that is older than the locks, so that they may be its locks.
        let mut running_git = git(&worktree, &["cat-file", "--batch"]);
        let mut running_git = running_git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = running_git.stdin.as_mut().unwrap();
        stdin.write_all(b"HEAD:none\n").unwrap();
        // After the first answer, `exec` has completed: the process table has its final name and directory.
        running_git.stdout.as_mut().unwrap().read_exact(&mut [0; 4]).unwrap();
        locks.iter().for_each(|lock| std::fs::write(lock, "").unwrap());
        assert!(remove_stale_locks(&worktree).await.is_empty());
        drop(running_git.stdin.take());
        running_git.wait().unwrap();
        // A lock that a process has open is kept, whatever program that is.
        let open = std::fs::File::open(&locks[0]).unwrap();
        assert_eq!(remove_stale_locks(&worktree).await, locks[1..]);
        drop(open);
        assert_eq!(remove_stale_locks(&worktree).await, locks[..1]);
        std::fs::write(worktree.join("new.txt"), "new\n").unwrap();
        run(&worktree, &["add", "-A"]);
        run(&worktree, &["commit", "-q", "-m", "second"]);
    }

    #[tokio::test]
    async fn locks_outside_the_sandbox_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap().join("box");
        std::fs::create_dir_all(base.join("tree")).unwrap();
        let overrides =
            loopgate_home::Overrides { sandbox_base_directory: Some(base.clone()), ..Default::default() };
        let settings = loopgate_home::SettingsStore::open(&dir.path().join("s.toml"), overrides).unwrap();
        let sandbox = Arc::new(Sandbox::new(Arc::new(settings), Path::new("/nonexistent-data")));
        run(dir.path(), &["init", "-q", "-b", "main", "outside"]);
        let lock = dir.path().join("outside/.git/index.lock");
        std::fs::write(&lock, "").unwrap();
        let pointer = format!("gitdir: {}\n", dir.path().join("outside/.git").display());
        std::fs::write(base.join("tree/.git"), pointer).unwrap();
        assert!(remove_stale_locks(sandbox, &base.join("tree")).await.is_empty());
        assert!(lock.is_file());
    }
}
