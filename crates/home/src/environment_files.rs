//! Files with environment variables, which are not committed and which programs in a worktree need as well.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::sandbox::{Directory, EntryKind};

/// Bytes of such a file.
const MAX_SIZE: u64 = 1024 * 1024;
/// Levels of directories that are searched.
const MAX_DEPTH: usize = 8;

/// Copies files of these names from a clone to the same places in its worktree, in all directories that both have.
/// What exists in the worktree stays as it is. `node_modules` and hidden directories are not searched, and links are
/// not followed. Blocks on the disk.
///
/// # Errors
/// The first failure; files after it are not copied.
pub fn copy_environment_files(from: &Directory, to: &Directory, names: &[&str]) -> io::Result<()> {
    let mut pending = vec![PathBuf::new()];
    while let Some(below) = pending.pop() {
        let (Ok(source), Ok(target)) = (from.directory(&below), to.directory(&below)) else { continue };
        for entry in source.entries()? {
            let name = entry.name.to_string_lossy();
            if entry.kind == EntryKind::Directory
                && !name.starts_with('.')
                && name != "node_modules"
                && below.components().count() < MAX_DEPTH
            {
                pending.push(below.join(&entry.name));
            } else if entry.kind == EntryKind::File && names.contains(&&*name) {
                copy_missing(&source, &target, &entry.name)?;
            }
        }
    }
    Ok(())
}

fn copy_missing(from: &Directory, to: &Directory, name: &OsStr) -> io::Result<()> {
    if to.holds(Path::new(name)) {
        return Ok(());
    }
    to.replace(name, &from.read(Path::new(name), MAX_SIZE)?)
}
