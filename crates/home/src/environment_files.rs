//! Files with environment variables, such as `.env`. They are not committed, and programs in a worktree need
//! them too.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::sandbox::{Directory, EntryKind};

/// Maximum size in bytes of a copied file.
const MAX_SIZE: u64 = 1024 * 1024;
/// Maximum depth of searched directories.
const MAX_DEPTH: usize = 8;

/// Copies files with these names from a clone to the same directories of its worktree, where those exist.
/// Existing files in the worktree are kept. `node_modules` and hidden directories are skipped, and symbolic
/// links are not followed. Blocks on disk I/O.
///
/// # Errors
/// Returns the first failure; the remaining files are not copied.
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
    if to.exists(Path::new(name)) {
        return Ok(());
    }
    to.replace(name, &from.read(Path::new(name), MAX_SIZE)?)
}
