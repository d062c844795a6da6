//! Locks that a git which died left behind, told from those that a living one holds.
//!
//! Git makes a `.lock` file beside what it changes and takes it away at the end, unless it is killed
//! or the machine dies; every later change is then refused. A lock is somebody's while a git works in
//! the repository that is older than the lock, or while anybody has the file open.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use loopgate_home::{Directory, EntryKind, Repository, Sandbox};

use crate::process::table;

/// Start times are told in steps, and by another clock than those of files.
const CLOCKS_APART_MS: u64 = 2_000;
/// Bytes of a file that holds one name or one path.
const MAX_POINTER: u64 = 8 * 1024;

/// Removes the locks in the way of a worktree's next commit and push that nobody holds any more.
/// Answers which they were. Nothing is removed of a repository whose records leave the sandbox.
pub async fn free_locks(sandbox: Arc<Sandbox>, worktree: &Path) -> Vec<PathBuf> {
    let worktree = worktree.to_owned();
    let freed = tokio::task::spawn_blocking(move || {
        let Ok(repository) = sandbox.repository(&worktree) else { return Vec::new() };
        let freed = abandoned(&repository).into_iter().filter(|lock| lock.remove().is_ok());
        freed.map(|lock| lock.path()).collect()
    });
    let freed = freed.await.unwrap_or_default();
    for lock in &freed {
        tracing::warn!(lock = %lock.display(), "a git that died had left a lock; it is removed");
    }
    freed
}

/// A file among the records of a repository.
struct GitLock<'a> {
    records: &'a Directory,
    place: &'a Path,
    below: PathBuf,
}

impl GitLock<'_> {
    fn path(&self) -> PathBuf {
        self.place.join(&self.below)
    }

    fn remove(&self) -> std::io::Result<()> {
        let parent = self.records.directory(self.below.parent().unwrap_or(Path::new("")))?;
        parent.remove_file(self.below.file_name().unwrap_or_default())
    }
}

fn abandoned(repository: &Repository) -> Vec<GitLock<'_>> {
    let handles = &repository.handles;
    let own = |name: &str| GitLock { records: &handles.own, place: &repository.own, below: name.into() };
    let common =
        |name: &str| GitLock { records: &handles.common, place: &repository.common, below: name.into() };
    let mut found =
        vec![own("index.lock"), own("HEAD.lock"), common("config.lock"), common("packed-refs.lock")];
    let head = read(&handles.own, Path::new("HEAD")).unwrap_or_default();
    if let Some(branch) = head.trim().strip_prefix("ref: ") {
        found.push(common(&format!("{branch}.lock")));
    }
    found.retain(|lock| lock.records.kind(&lock.below) == Some(EntryKind::File));
    if found.is_empty() {
        return found;
    }
    let places = checkouts(repository);
    let at_work = table::at_work("git", &places);
    found.retain(|lock| {
        let Some(made) = made_ms(&lock.path()) else { return false };
        let older = at_work.iter().any(|git| git.running && git.started.0 <= made + CLOCKS_APART_MS);
        !older && !table::is_open(&lock.path())
    });
    found
}

/// Every directory in which a git of this repository may work.
fn checkouts(repository: &Repository) -> Vec<PathBuf> {
    let common = &repository.handles.common;
    let linked = common.directory(Path::new("worktrees")).and_then(|linked| linked.entries());
    let linked = linked.unwrap_or_default().into_iter().filter_map(|entry| {
        let pointer = read(common, &Path::new("worktrees").join(entry.name).join("gitdir"))?;
        Path::new(pointer.trim()).parent().map(Path::to_owned)
    });
    let all = [repository.root.clone(), repository.clone_root().to_owned()].into_iter().chain(linked);
    all.map(|place| place.canonicalize().unwrap_or(place)).collect()
}

fn read(records: &Directory, file: &Path) -> Option<String> {
    String::from_utf8(records.read(file, MAX_POINTER).ok()?).ok()
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
    async fn lock_of_a_dead_git_goes_and_one_of_a_living_git_stays() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = loopgate_home::Overrides { sandbox_base_directory: Some(base), ..Default::default() };
        let settings = loopgate_home::SettingsStore::open(&dir.path().join("s.toml"), overrides).unwrap();
        let sandbox = Arc::new(Sandbox::new(Arc::new(settings), Path::new("/nonexistent-data")));
        let free_locks = |worktree| free_locks(sandbox.clone(), worktree);
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

    #[tokio::test]
    async fn locks_outside_of_the_sandbox_stay() {
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
        assert!(free_locks(sandbox, &base.join("tree")).await.is_empty());
        assert!(lock.is_file());
    }
}
