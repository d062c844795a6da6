//! State in the directory of a future worktree: chats, and the record of a launch. `git worktree add`
//! requires an empty directory, so the state is moved to a sibling directory and restored afterwards; a crash
//! in between does not lose it.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_api::time::now_iso;
use loopgate_home::files::sync_directory;

/// The state of a worktree, and the sibling directory that stores it while git creates the worktree. The
/// sibling's name depends only on the worktree, so that a later launch restores what an interrupted one left
/// there.
#[derive(Debug, Clone)]
pub struct PreservedState {
    directory: PathBuf,
    storage: PathBuf,
}

impl PreservedState {
    /// Creates a handle for the worktree at this path.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        Self {
            directory: directory.to_owned(),
            storage: directory.with_file_name(format!(".{name}.launch-state")),
        }
    }

    /// Moves the state directory to the storage, if the worktree's directory contains nothing else.
    ///
    /// # Errors
    /// Fails when the directory contains anything else, and on any error of the file system.
    pub fn preserve(&self) -> io::Result<()> {
        let names: Vec<_> = match std::fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => {
                entries?.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?
            }
        };
        if names.iter().any(|name| name != STATE_DIR) {
            return Err(io::Error::other("the directory of the worktree is not empty"));
        }
        if names.is_empty() {
            return Ok(());
        }
        merge(&self.directory.join(STATE_DIR), &self.storage)?;
        std::fs::remove_dir_all(&self.directory)
    }

    /// Moves the state directory to the storage, and renames the worktree's directory if it contains anything
    /// else. Returns its new path.
    ///
    /// # Errors
    /// Fails on any error of the file system.
    pub fn preserve_or_rename(&self) -> io::Result<Option<PathBuf>> {
        let only_state = match std::fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => false,
            Ok(entries) => entries.flatten().all(|entry| entry.file_name() == STATE_DIR),
        };
        if only_state {
            return self.preserve().map(|()| None);
        }
        let state = self.directory.join(STATE_DIR);
        if state.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            merge(&state, &self.storage)?;
        }
        rename_aside(&self.directory).map(Some)
    }

    /// Restores the state from the storage into the directory, whether or not a worktree was created there.
    ///
    /// # Errors
    /// Fails on any error of the file system. State that was not restored stays in the storage.
    pub fn restore(&self) -> io::Result<()> {
        let is_directory = self.storage.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        if is_directory { merge(&self.storage, &self.directory.join(STATE_DIR)) } else { Ok(()) }
    }
}

/// Renames a file or directory to `<name>.aside-<time>`. Returns the new path.
///
/// # Errors
/// Fails on any error of the file system.
pub fn rename_aside(directory: &Path) -> io::Result<PathBuf> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let time = now_iso().replace(['-', ':', '.'], "");
    let new_path = directory.with_file_name(format!("{name}.aside-{time}"));
    std::fs::rename(directory, &new_path)?;
    // Makes the rename durable before git creates a new directory with the old name.
    sync_directory(new_path.parent().unwrap_or(Path::new("/")))?;
    Ok(new_path)
}

/// Moves the entries of a directory into another one. An entry that exists in both is kept in both, so that
/// nothing is overwritten.
fn merge(from: &Path, into: &Path) -> io::Result<()> {
    // The repository could have checked in a link to redirect the state.
    if into.is_symlink() {
        return Err(io::Error::other("the state directory is a symbolic link"));
    }
    std::fs::create_dir_all(into)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = into.join(entry.file_name());
        match target.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::rename(entry.path(), target)?,
            Err(error) => return Err(error),
            Ok(existing) if existing.is_dir() && entry.file_type()?.is_dir() => {
                merge(&entry.path(), &target)?
            }
            Ok(_) => {
                tracing::warn!(path = %entry.path().display(), "file exists in both directories; not merged")
            }
        }
    }
    sync_directory(into)?;
    // Not empty when an entry existed in both. It stays, and is restored by a later launch.
    match std::fs::remove_dir(from) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn state_is_preserved_and_merged() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("shop-7");
        let preserved = PreservedState::of(&directory);
        preserved.preserve().unwrap();
        preserved.restore().unwrap();
        assert!(!directory.exists(), "without state no directory is created");
        write(&directory.join(".loopgate/work/chat-history.json"), "said");
        write(&directory.join(".loopgate/work/state.json"), "old");
        preserved.preserve().unwrap();
        assert!(!directory.exists());
        // Simulates files that git and a set-up script create after the state was moved.
        write(&directory.join(".loopgate/loops-setup.sh"), "set up");
        write(&directory.join(".loopgate/work/state.json"), "new");
        preserved.restore().unwrap();
        let state = directory.join(".loopgate");
        assert_eq!(read(&state.join("work/chat-history.json")), "said");
        assert_eq!(read(&state.join("work/state.json")), "new");
        assert_eq!(read(&state.join("loops-setup.sh")), "set up");
        assert_eq!(read(&preserved.storage.join("work/state.json")), "old");
    }

    #[test]
    fn other_content_is_not_moved() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("shop-7");
        write(&directory.join("notes.txt"), "mine");
        PreservedState::of(&directory).preserve().unwrap_err();
        assert_eq!(read(&directory.join("notes.txt")), "mine");
    }

    #[test]
    fn directory_with_other_content_is_renamed() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("shop-7");
        let preserved = PreservedState::of(&directory);
        assert_eq!(preserved.preserve_or_rename().unwrap(), None);
        write(&directory.join("notes.txt"), "mine");
        write(&directory.join(".loopgate/work/plan.json"), "{}");
        let moved = preserved.preserve_or_rename().unwrap().unwrap();
        assert!(moved.file_name().unwrap().to_string_lossy().starts_with("shop-7.aside-"), "{moved:?}");
        assert_eq!((read(&moved.join("notes.txt")).as_str(), directory.exists()), ("mine", false));
        preserved.restore().unwrap();
        assert_eq!(read(&directory.join(".loopgate/work/plan.json")), "{}");
        assert_eq!(preserved.preserve_or_rename().unwrap(), None, "the directory contained only the state");
        std::fs::write(&directory, "a file").unwrap();
        assert_eq!(read(&preserved.preserve_or_rename().unwrap().unwrap()), "a file");
    }

    #[test]
    fn state_never_follows_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("shop-7");
        let outside = dir.path().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        let preserved = PreservedState::of(&directory);
        write(&directory.join(".loopgate/a"), "state");
        preserved.preserve().unwrap();
        std::fs::create_dir(&directory).unwrap();
        std::os::unix::fs::symlink(&outside, directory.join(".loopgate")).unwrap();
        preserved.restore().unwrap_err();
        assert_eq!(read(&preserved.storage.join("a")), "state");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
}
