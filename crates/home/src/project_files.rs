//! The files at the top of a working tree from which a project is recognized. The tree is untrusted: files are
//! opened relative to its handle, up to a size, and without following links.

use std::path::Path;

use serde_json::Value;

use crate::{Directory, EntryKind};

/// Bytes of a file; larger ones are not read.
const MAX_SIZE: u64 = 1024 * 1024;

/// Lock file, and the package manager of JavaScript that writes it.
const LOCKS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

/// Reads the files of a working tree by their names. Everything here blocks on the disk.
#[derive(Debug, Clone, Copy)]
pub struct ProjectFiles<'a>(&'a Directory);

impl<'a> ProjectFiles<'a> {
    /// The files of this tree.
    #[must_use]
    pub const fn new(tree: &'a Directory) -> Self {
        Self(tree)
    }

    /// Whether there is a regular file of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.kind(Path::new(name)) == Some(EntryKind::File)
    }

    /// The first of these names that a regular file has.
    #[must_use]
    pub fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        String::from_utf8(self.0.read(Path::new(name), MAX_SIZE).ok()?).ok()
    }

    /// A file as JSON.
    #[must_use]
    pub fn json(&self, name: &str) -> Option<Value> {
        serde_json::from_str(&self.text(name)?).ok()
    }

    /// The names of the regular files in a directory of the tree; none when it cannot be read.
    #[must_use]
    pub fn names_in(&self, directory: &str) -> Vec<String> {
        let entries = match directory {
            "" => self.0.entries(),
            directory => self.0.directory(Path::new(directory)).and_then(|directory| directory.entries()),
        };
        let files = entries.unwrap_or_default().into_iter().filter(|entry| entry.kind == EntryKind::File);
        files.filter_map(|entry| entry.name.into_string().ok()).collect()
    }

    /// A script of `package.json` that is not blank.
    #[must_use]
    pub fn package_script(&self, name: &str) -> Option<String> {
        let manifest = self.json("package.json")?;
        let script = manifest.get("scripts")?.get(name)?.as_str()?;
        (!script.trim().is_empty()).then(|| script.to_owned())
    }

    /// The lock file of a JavaScript package manager, and the manager that writes it.
    #[must_use]
    pub fn package_lock(&self) -> Option<(&'static str, &'static str)> {
        LOCKS.into_iter().find(|(file, _)| self.has(file))
    }

    /// The first of these targets that the Makefile defines.
    #[must_use]
    pub fn make_target<'n>(&self, targets: &[&'n str]) -> Option<&'n str> {
        let text = self.text("Makefile")?;
        let defined = |target: &&str| {
            text.lines().any(|line| {
                line.split_once(':').is_some_and(|(names, rest)| {
                    !rest.starts_with('=') && names.split_whitespace().any(|name| name == *target)
                })
            })
        };
        targets.iter().copied().find(defined)
    }
}
