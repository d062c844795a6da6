//! Files of a launch in the work directory of its worktree.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use loopgate_api::names::{LAUNCH_METADATA, WORK_DIR};
use loopgate_home::SandboxedPath;
use loopgate_home::untrusted::MAX_DOCUMENT;
use serde_json::{Map, Value};

/// Writes a file and creates its directory.
pub(super) fn put(worktree: &SandboxedPath, name: &str, bytes: &[u8]) -> io::Result<()> {
    let worktree = worktree.create_directory()?;
    let work_dir = worktree.create_directory(Path::new(WORK_DIR))?;
    work_dir.replace(OsStr::new(name), bytes)
}

/// Returns the text of a file; `None` when it cannot be read.
pub(crate) fn get(worktree: &SandboxedPath, name: &str) -> Option<String> {
    let path = Path::new(WORK_DIR).join(name);
    String::from_utf8(worktree.open_directory().ok()?.read(&path, MAX_DOCUMENT).ok()?).ok()
}

/// Returns the metadata of earlier launches; empty when it cannot be read.
pub(super) fn metadata_of(worktree: &SandboxedPath) -> Map<String, Value> {
    get(worktree, LAUNCH_METADATA).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Merges values into the metadata of earlier launches; `None` keeps an earlier value.
pub(crate) fn merge_metadata(
    worktree: &SandboxedPath,
    facts: impl IntoIterator<Item = (&'static str, Option<String>)>,
) -> io::Result<()> {
    let mut metadata = metadata_of(worktree);
    for (name, value) in facts {
        if let Some(value) = value {
            metadata.insert(name.to_owned(), value.into());
        }
    }
    put(worktree, LAUNCH_METADATA, &serde_json::to_vec_pretty(&metadata)?)
}
