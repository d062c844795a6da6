//! A copy of a working tree in which tests run, so that the project's files do not change.
//!
//! Contains the tracked and untracked files, the ignored ones as far as a limit allows, and a repository of its own.
//! Files are copied, never linked: a test may write into a directory of dependencies, or empty it. File systems that
//! can share the blocks of two files do so.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_evidence::is_test_file;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::task_changes::TreePair;
use crate::loop_run::child::process_exists;
use crate::project_git::BlockingGit;

/// Upper bound in bytes of the ignored files that are copied. Copying this much takes seconds, not minutes.
const IGNORED_LIMIT: u64 = 2 * 1024 * 1024 * 1024;
/// Part of the copy's name between the name of the repository and the id of the process that uses it.
const NAME: &str = "-loop-proof-";

/// A copy of the working tree of a repository. Dropping it removes the files.
pub struct ScratchCopy {
    root: TempDir,
    /// Root directory of the repository that is copied.
    source: PathBuf,
    /// Path of the tested directory in both.
    directory: PathBuf,
    left_out: Vec<PathBuf>,
}

impl ScratchCopy {
    /// Copies the current files of the repository in `dir`, without the loop's own files.
    ///
    /// # Errors
    /// Returns why there is no copy.
    pub fn create(
        git: &BlockingGit,
        dir: &Path,
        workdir: &Path,
        stop: &CancellationToken,
    ) -> Result<Self, String> {
        let unknown = || format!("git cannot list the files of {}", dir.display());
        let (source, directory) = git.position(dir).ok_or_else(unknown)?;
        let ignored = git.ignored(&source).ok_or_else(unknown)?;
        let cannot = |error: io::Error| format!("cannot copy the files of {}: {error}", source.display());
        let root = create_root(&source).map_err(cannot)?;
        let mut copy = Self { root, source: source.clone(), directory, left_out: Vec::new() };
        // Without the slash at the end of a directory.
        let ignored: Vec<PathBuf> =
            ignored.iter().map(|path| source.join(path).components().collect()).collect();
        // The repository is not copied as files: it may be large, and that of a worktree is elsewhere.
        let mut skipped: HashSet<PathBuf> =
            [source.join(".git"), fs::canonicalize(workdir).unwrap_or_default()].into();
        skipped.extend(ignored.iter().cloned());
        let mut tree = TreeCopy { source: &source, target: copy.root.path(), skipped, stop };
        tree.copy(&source).map_err(cannot)?;
        tree.skipped.clear();
        // Logs and records of loops.
        let of_tests =
            ignored.into_iter().filter(|path| path.components().all(|part| part.as_os_str() != STATE_DIR));
        copy.left_out = tree.copy_smallest(of_tests.collect()).map_err(cannot)?;
        git.copy_repository(&source, copy.root.path())
            .ok_or_else(|| format!("git cannot copy the repository of {}", source.display()))?;
        Ok(copy)
    }

    /// Returns the directory in the copy that corresponds to the tested directory.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.root.path().join(&self.directory)
    }

    /// Returns the ignored files and directories that are not in the copy, relative to the repository.
    #[must_use]
    pub fn left_out(&self) -> &[PathBuf] {
        &self.left_out
    }

    /// Replaces the files that the task changed by their versions at its start, except test files.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn put_back(&self, git: &BlockingGit, pair: &TreePair) -> Result<(), String> {
        let changed = git
            .changed_between(&self.source, &pair.from, &pair.to)
            .ok_or_else(|| format!("Error: git cannot compare {}", self.source.display()))?;
        let changed = changed.iter().filter_map(|line| line.split_once('\t'));
        let (added, old): (Vec<_>, Vec<_>) =
            changed.filter(|(_, path)| !is_test_file(path)).partition(|(status, _)| *status == "A");
        for (_, path) in added {
            let path = self.root.path().join(path);
            let _ = fs::remove_file(&path);
            // Git has no empty directories, and a program may treat one as a package.
            for parent in path.ancestors().skip(1).take_while(|parent| *parent != self.root.path()) {
                if fs::remove_dir(parent).is_err() {
                    break;
                }
            }
        }
        let old: Vec<&str> = old.into_iter().map(|(_, path)| path).collect();
        git.export(&self.source, &pair.from, &old, self.root.path())
            .ok_or_else(|| format!("Error: git cannot copy the files of {}", self.source.display()))
    }
}

/// Creates the directory of a copy next to the repository: relative paths such as `../library` lead to the same files,
/// and the file system is the same. If that is not possible, in the directory for temporary files.
fn create_root(source: &Path) -> io::Result<TempDir> {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let next_to_it = source.parent().and_then(|parent| {
        remove_abandoned(parent, &format!("{name}{NAME}"));
        let prefix = format!("{name}{NAME}{}-", std::process::id());
        tempfile::Builder::new().prefix(&prefix).tempdir_in(parent).ok()
    });
    next_to_it.map_or_else(|| tempfile::Builder::new().prefix("loopgate-proof-").tempdir(), Ok)
}

/// Removes the copies of killed processes.
fn remove_abandoned(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split_once('-')?.0.parse().ok());
        if pid.is_some_and(|pid| !process_exists(pid)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

struct TreeCopy<'a> {
    source: &'a Path,
    target: &'a Path,
    /// Paths in `source` that are not copied.
    skipped: HashSet<PathBuf>,
    stop: &'a CancellationToken,
}

impl TreeCopy<'_> {
    /// Copies a file, a symbolic link, or a directory with all that it contains.
    fn copy(&self, path: &Path) -> io::Result<()> {
        if self.stop.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let target = self.target.join(path.strip_prefix(self.source).unwrap_or(path));
        let metadata = fs::symlink_metadata(path)?;
        if metadata.is_symlink() {
            let link = fs::read_link(path)?;
            // An absolute link into the project would let a test change the project's files.
            let inside = link.strip_prefix(self.source).map(|below| self.target.join(below));
            return std::os::unix::fs::symlink(inside.unwrap_or(link), target);
        }
        if metadata.is_file() {
            fs::copy(path, &target)?;
            // Build tools compare the times of sources and output.
            return File::open(target)?.set_modified(metadata.modified()?);
        }
        // Sockets, pipes and devices are left out.
        if metadata.is_dir() {
            fs::create_dir_all(&target)?;
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                // The file `.git` of a submodule or worktree leads to the repository of the project.
                let is_git_file = entry.file_name() == ".git" && !entry.path().is_dir();
                if !is_git_file && !self.skipped.contains(&entry.path()) {
                    self.copy(&entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Copies files and directories, the smallest ones first, until [`IGNORED_LIMIT`] is reached. Returns what was not
    /// copied, relative to the source.
    fn copy_smallest(&self, paths: Vec<PathBuf>) -> io::Result<Vec<PathBuf>> {
        let mut sized: Vec<(u64, PathBuf)> = paths.into_iter().map(|path| (size(&path), path)).collect();
        sized.sort();
        let (mut total, mut left_out) = (0_u64, Vec::new());
        for (size, path) in sized {
            total = total.saturating_add(size);
            // The parent may contain ignored files only.
            let parent = path.parent().and_then(|parent| parent.strip_prefix(self.source).ok());
            let parent = self.target.join(parent.unwrap_or(Path::new("")));
            let copied =
                total <= IGNORED_LIMIT && fs::create_dir_all(parent).and_then(|()| self.copy(&path)).is_ok();
            if self.stop.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if !copied {
                // For example the data of a database that runs as another user. A part of it would mislead tests.
                let below = path.strip_prefix(self.source).unwrap_or(&path).to_owned();
                let _ = fs::remove_dir_all(self.target.join(&below));
                left_out.push(below);
            }
        }
        Ok(left_out)
    }
}

/// Returns the size of a file or of all files in a directory, in bytes.
fn size(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size(&entry.path())).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_ended_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let source = parent.path().join("shop");
        let abandoned = parent.path().join(format!("shop{NAME}{}-a", u32::MAX));
        let others = [abandoned.join("a"), parent.path().join("shop-loop-proof-b"), source.clone()];
        for directory in &others {
            fs::create_dir_all(directory).unwrap();
        }
        let first = create_root(&source).unwrap();
        let second = create_root(&source).unwrap();
        assert!(!abandoned.exists() && first.path().exists() && second.path().exists());
        assert!(others[1].exists() && source.exists());
        assert_eq!(first.path().parent(), Some(parent.path()));
    }
}
