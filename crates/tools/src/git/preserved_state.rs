//! State that is in the place of a worktree before git makes it: chats, and what is known of a
//! launch. It waits beside and is put back, so that neither git nor a crash loses it.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_api::time::now_iso;
use loopgate_home::files::sync_directory;

/// Where the state that is in the place of a worktree waits while git makes the worktree. Its name
/// is the same at every launch, so that the next one finds what was left by one that was cut off.
#[derive(Debug, Clone)]
pub struct PreservedState {
    place: PathBuf,
    storage: PathBuf,
}

impl PreservedState {
    /// The state that lies, or waits, for the worktree at this path.
    #[must_use]
    pub fn of(place: &Path) -> Self {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        Self { place: place.to_owned(), storage: place.with_file_name(format!(".{name}.launch-state")) }
    }

    /// Moves our state away, when nothing but it is there.
    ///
    /// # Errors
    /// When anything else is there, and any failure of the file system.
    pub fn preserve(&self) -> io::Result<()> {
        let names: Vec<_> = match std::fs::read_dir(&self.place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => {
                entries?.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?
            }
        };
        if names.iter().any(|name| name != STATE_DIR) {
            return Err(io::Error::other("something else lies in the place of the worktree"));
        }
        if names.is_empty() {
            return Ok(());
        }
        merge(&self.place.join(STATE_DIR), &self.storage)?;
        std::fs::remove_dir_all(&self.place)
    }

    /// Moves our state away, and renames the directory when it holds anything else. Returns its new path.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn preserve_or_rename(&self) -> io::Result<Option<PathBuf>> {
        let is_ours = match std::fs::read_dir(&self.place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => false,
            Ok(entries) => entries.flatten().all(|entry| entry.file_name() == STATE_DIR),
        };
        if is_ours {
            return self.preserve().map(|()| None);
        }
        let state = self.place.join(STATE_DIR);
        if state.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            merge(&state, &self.storage)?;
        }
        rename_out_of_place(&self.place).map(Some)
    }

    /// Puts it back, into the worktree when there is one.
    ///
    /// # Errors
    /// Any failure of the file system; what was not put back stays where it waited.
    pub fn restore(&self) -> io::Result<()> {
        let is_there = self.storage.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_there { merge(&self.storage, &self.place.join(STATE_DIR)) } else { Ok(()) }
    }
}

/// Renames what is at a place to `<name>.aside-<time>`. Answers the new path.
///
/// # Errors
/// Any failure of the file system.
pub fn rename_out_of_place(place: &Path) -> io::Result<PathBuf> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let time = now_iso().replace(['-', ':', '.'], "");
    let renamed = place.with_file_name(format!("{name}.aside-{time}"));
    std::fs::rename(place, &renamed)?;
    sync_directory(renamed.parent().unwrap_or(Path::new("/")))?;
    Ok(renamed)
}

/// Moves everything in a directory into another one. What is there already stays, and the other one
/// of that name is left where it was: nothing is lost.
fn merge(from: &Path, into: &Path) -> io::Result<()> {
    if into.is_symlink() {
        return Err(io::Error::other("a link stands where state belongs"));
    }
    std::fs::create_dir_all(into)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = into.join(entry.file_name());
        match target.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::rename(entry.path(), target)?,
            Err(error) => return Err(error),
            Ok(there) if there.is_dir() && entry.file_type()?.is_dir() => merge(&entry.path(), &target)?,
            Ok(_) => tracing::warn!(kept = %entry.path().display(), "a file of this name is there already"),
        }
    }
    sync_directory(into)?;
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
    fn state_directory_is_preserved() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("shop-7");
        let preserved = PreservedState::of(&place);
        preserved.preserve().unwrap();
        preserved.restore().unwrap();
        assert!(!place.exists(), "nothing is made for nothing");
        write(&place.join(".loopgate/work/chat-history.json"), "said");
        write(&place.join(".loopgate/work/state.json"), "old");
        preserved.preserve().unwrap();
        assert!(!place.exists());
        // What git and others made meanwhile.
        write(&place.join(".loopgate/loops-setup.sh"), "set up");
        write(&place.join(".loopgate/work/state.json"), "new");
        preserved.restore().unwrap();
        let state = place.join(".loopgate");
        assert_eq!(read(&state.join("work/chat-history.json")), "said");
        assert_eq!(read(&state.join("work/state.json")), "new");
        assert_eq!(read(&state.join("loops-setup.sh")), "set up");
        assert_eq!(read(&preserved.storage.join("work/state.json")), "old");
    }

    #[test]
    fn foreign_directory_is_not_renamed() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("shop-7");
        write(&place.join("notes.txt"), "mine");
        PreservedState::of(&place).preserve().unwrap_err();
        assert_eq!(read(&place.join("notes.txt")), "mine");
    }

    #[test]
    fn occupied_directory_is_renamed() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("shop-7");
        let preserved = PreservedState::of(&place);
        assert_eq!(preserved.preserve_or_rename().unwrap(), None);
        write(&place.join("notes.txt"), "mine");
        write(&place.join(".loopgate/work/plan.json"), "{}");
        let moved = preserved.preserve_or_rename().unwrap().unwrap();
        assert!(moved.file_name().unwrap().to_string_lossy().starts_with("shop-7.aside-"), "{moved:?}");
        assert_eq!((read(&moved.join("notes.txt")).as_str(), place.exists()), ("mine", false));
        preserved.restore().unwrap();
        assert_eq!(read(&place.join(".loopgate/work/plan.json")), "{}");
        assert_eq!(preserved.preserve_or_rename().unwrap(), None, "nothing but our state was there");
        std::fs::write(&place, "a file").unwrap();
        assert_eq!(read(&preserved.preserve_or_rename().unwrap().unwrap()), "a file");
    }

    #[test]
    fn state_never_follows_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("shop-7");
        let outside = dir.path().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        let preserved = PreservedState::of(&place);
        write(&place.join(".loopgate/a"), "state");
        preserved.preserve().unwrap();
        std::fs::create_dir(&place).unwrap();
        std::os::unix::fs::symlink(&outside, place.join(".loopgate")).unwrap();
        preserved.restore().unwrap_err();
        assert_eq!(read(&preserved.storage.join("a")), "state");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
}
