//! Files at the top level of a working tree that identify the type of a project. The tree is untrusted: files
//! are opened relative to its handle, up to a maximum size, and without following symbolic links.

use std::path::Path;

use serde_json::Value;

use crate::{Directory, EntryKind};

/// Maximum size in bytes of a file; larger ones count as missing.
const MAX_SIZE: u64 = 1024 * 1024;

/// Lock files, and the JavaScript package manager that writes each. The last file is no lock file, but only pnpm
/// has it.
const LOCKS: [(&str, &str); 7] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
    ("pnpm-workspace.yaml", "pnpm"),
];

/// Reads files of a working tree by name. All methods block on disk I/O.
#[derive(Debug, Clone, Copy)]
pub struct ProjectFiles<'a>(&'a Directory);

impl<'a> ProjectFiles<'a> {
    /// Creates a reader for the files of a tree.
    #[must_use]
    pub const fn new(tree: &'a Directory) -> Self {
        Self(tree)
    }

    /// Returns whether a regular file has this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.kind(Path::new(name)) == Some(EntryKind::File)
    }

    /// Returns the first of these names that a regular file has.
    #[must_use]
    pub fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// Returns the content of a UTF-8 file.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        String::from_utf8(self.0.read(Path::new(name), MAX_SIZE).ok()?).ok()
    }

    /// Returns the content of a JSON file.
    #[must_use]
    pub fn json(&self, name: &str) -> Option<Value> {
        serde_json::from_str(&self.text(name)?).ok()
    }

    /// Returns the names of the regular files in a directory of the tree; none when it cannot be read.
    #[must_use]
    pub fn names_in(&self, directory: &str) -> Vec<String> {
        let entries = match directory {
            "" => self.0.entries(),
            directory => self.0.directory(Path::new(directory)).and_then(|directory| directory.entries()),
        };
        let files = entries.unwrap_or_default().into_iter().filter(|entry| entry.kind == EntryKind::File);
        files.filter_map(|entry| entry.name.into_string().ok()).collect()
    }

    /// Returns a script of `package.json`, unless it is blank.
    #[must_use]
    pub fn package_script(&self, name: &str) -> Option<String> {
        let manifest = self.json("package.json")?;
        let script = manifest.get("scripts")?.get(name)?.as_str()?;
        (!script.trim().is_empty()).then(|| script.to_owned())
    }

    /// Returns the lock file of a JavaScript package manager, and the name of that manager.
    #[must_use]
    pub fn package_lock(&self) -> Option<(&'static str, &'static str)> {
        LOCKS.into_iter().find(|(file, _)| self.has(file))
    }

    /// Returns the first of these targets that the Makefile defines.
    #[must_use]
    pub fn make_target<'n>(&self, targets: &[&'n str]) -> Option<&'n str> {
        let text = self.text("Makefile")?;
        let defined = |target: &&str| {
            text.lines().any(|line| {
                line.split_once(':').is_some_and(|(names, rest)| {
                    // `name := value` assigns a variable.
                    !rest.starts_with('=') && names.split_whitespace().any(|name| name == *target)
                })
            })
        };
        targets.iter().copied().find(defined)
    }
}
