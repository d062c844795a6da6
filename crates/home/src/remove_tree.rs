//! Deletion of directories of any depth.
//!
//! `std::fs::remove_dir_all` calls itself for each level and holds a descriptor for each: directories that a program has
//! nested thousands of times would overflow the stack, which ends the whole process.

use std::ffi::CString;
use std::io;
use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Prefix of the temporary names of directories that have been moved to the root.
const MOVED: &str = ".removed-";

/// Deletes a directory with all its content, or a symbolic link. Links are not followed. Uses a constant number of
/// descriptors and a constant amount of stack. Blocks on disk I/O.
///
/// # Errors
/// Any failure of the file system. The directory may be deleted in part then.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_symlink() {
        return std::fs::remove_file(path);
    }
    let root = openat(CWD, path, DIRECTORY, Mode::empty())?;
    // Each pass deletes the highest level, and moves the one below it to the root.
    let mut moved = 0;
    loop {
        let before = moved;
        for (name, is_directory) in entries(&root)? {
            if is_directory {
                remove_level(&root, &name, &mut moved)?;
            } else {
                unlinkat(&root, &name, AtFlags::empty())?;
            }
        }
        if moved == before {
            return Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?);
        }
    }
}

/// Deletes a directory in the root, and moves its subdirectories that are not empty to the root.
fn remove_level(root: &OwnedFd, name: &CString, moved: &mut u64) -> io::Result<()> {
    if remove_empty(root, name)? {
        return Ok(());
    }
    let directory = openat(root, name, DIRECTORY, Mode::empty())?;
    for (name, is_directory) in entries(&directory)? {
        if !is_directory {
            unlinkat(&directory, &name, AtFlags::empty())?;
        } else if !remove_empty(&directory, &name)? {
            move_to(root, &directory, &name, moved)?;
        }
    }
    Ok(unlinkat(root, name, AtFlags::REMOVEDIR)?)
}

/// Deletes a directory if it is empty. Returns whether it was. Such a directory may not be writable.
fn remove_empty(parent: impl AsFd, name: &CString) -> io::Result<bool> {
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn move_to(root: &OwnedFd, parent: &OwnedFd, name: &CString, moved: &mut u64) -> io::Result<()> {
    loop {
        *moved += 1;
        match renameat(parent, name, root, format!("{MOVED}{moved}")) {
            // The directory contains an entry of this name.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            result => return Ok(result?),
        }
    }
}

/// Returns the names of all entries, and whether each is a directory.
fn entries(directory: &OwnedFd) -> io::Result<Vec<(CString, bool)>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                FileType::from_raw_mode(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
            }
            kind => kind,
        };
        entries.push((name.to_owned(), kind == FileType::Directory));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use rustix::fs::mkdirat;

    use super::*;

    #[test]
    fn deep_directories_are_removed_with_a_small_stack() {
        let parent = tempfile::tempdir().unwrap();
        let tree = parent.path().join("tree");
        fs::create_dir_all(&tree).unwrap();
        let mut directory = openat(CWD, &tree, DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..5000 {
            mkdirat(&directory, "d", Mode::RWXU).unwrap();
            mkdirat(&directory, "empty", Mode::RUSR).unwrap();
            directory = openat(&directory, "d", DIRECTORY, Mode::empty()).unwrap();
        }
        let thread = std::thread::Builder::new().stack_size(64 * 1024);
        let removed = tree.clone();
        thread.spawn(move || remove_tree(&removed)).unwrap().join().unwrap().unwrap();
        assert!(!tree.exists());
    }

    #[test]
    fn links_are_removed_and_their_targets_stay() {
        let parent = tempfile::tempdir().unwrap();
        let (tree, outside) = (parent.path().join("tree"), parent.path().join("outside"));
        fs::create_dir_all(tree.join("a/b/c")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("file"), "kept").unwrap();
        symlink(&outside, tree.join("a/b/c/link")).unwrap();
        symlink(&outside, tree.join("a/link")).unwrap();
        // The name of a moved directory is taken.
        fs::write(tree.join(".removed-1"), "").unwrap();
        fs::create_dir_all(tree.join(".removed-2/x/y")).unwrap();
        fs::write(tree.join("read-only"), "").unwrap();
        fs::set_permissions(tree.join("read-only"), fs::Permissions::from_mode(0o400)).unwrap();
        symlink(&tree, parent.path().join("link")).unwrap();
        remove_tree(&parent.path().join("link")).unwrap();
        assert!(tree.exists(), "only the link is removed");
        remove_tree(&tree).unwrap();
        assert!(!tree.exists() && outside.join("file").exists());
        assert_eq!(remove_tree(&tree).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
