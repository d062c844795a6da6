//! Ignore rules of git for entries of a working tree.
//!
//! Rules apply only inside a repository: those of directories above its root do not count. They are read
//! through the handles of their directories.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use loopgate_home::{Directory, EntryKind, Sandbox, SandboxedPath};

/// Entry that marks the root of a repository; a file in a worktree.
pub(super) const GIT: &str = ".git";
/// File with the rules for its directory and everything below it.
pub(super) const RULES_FILE: &str = ".gitignore";
/// Maximum size in bytes of a file of ignore rules. A larger one is treated as missing.
const MAX_RULES: u64 = 1024 * 1024;

/// Rules of a directory, and of those above it in its repository.
pub(super) struct IgnoreRules {
    own: Option<Gitignore>,
    /// Length in bytes of the directory's path, relative to the sandbox, and the slash after it.
    offset: usize,
    parent: ParentRules,
}

enum ParentRules {
    Directory(Arc<IgnoreRules>),
    /// The directory is the root of the repository; contains the rules of `info/exclude` and of the user's
    /// excludes file.
    Root {
        excluded: Option<Gitignore>,
        global: Gitignore,
    },
}

impl IgnoreRules {
    /// Returns the rules that a directory of a tree inherits from the directories above it.
    pub(super) fn above(sandbox: &Sandbox, tree: &SandboxedPath, directory: &str) -> Option<Arc<Self>> {
        let base = Directory::of(tree.base()).ok()?;
        let below = tree.below_base().join(directory);
        let mut all: Vec<&Path> = below.ancestors().skip(1).collect();
        all.reverse();
        all.into_iter().fold(None, |inherited, place| {
            let Ok(handle) = base.directory(place) else { return None };
            Self::of(sandbox, tree, place, &handle, |name| handle.kind(Path::new(name)), inherited)
        })
    }

    /// Returns the rules of an open directory. `place` is its path relative to the sandbox, and `kind_of`
    /// returns the kind of an entry in it.
    pub(super) fn of(
        sandbox: &Sandbox,
        tree: &SandboxedPath,
        place: &Path,
        handle: &Directory,
        kind_of: impl Fn(&str) -> Option<EntryKind>,
        inherited: Option<Arc<Self>>,
    ) -> Option<Arc<Self>> {
        let parent = match kind_of(GIT) {
            Some(kind) => {
                let exclude = Path::new(".git/info/exclude");
                let excluded = match kind {
                    EntryKind::Directory => handle.read(exclude, MAX_RULES).ok(),
                    // A worktree uses the `info/exclude` of its clone.
                    _ => sandbox.repository(&tree.base().join(place)).ok().and_then(|repository| {
                        repository.handles.common_dir.read(Path::new("info/exclude"), MAX_RULES).ok()
                    }),
                };
                let global = GitignoreBuilder::new(".").build_global().0;
                ParentRules::Root { excluded: excluded.and_then(|text| parse(&text)), global }
            }
            None => ParentRules::Directory(inherited?),
        };
        let own = kind_of(RULES_FILE).and_then(|_| handle.read(Path::new(RULES_FILE), MAX_RULES).ok());
        let own = own.and_then(|text| parse(&text));
        // A directory without rules shares those of its parent, which saves an allocation per directory.
        if let (None, ParentRules::Directory(above)) = (&own, &parent) {
            return Some(above.clone());
        }
        let length = place.to_string_lossy().len();
        Some(Arc::new(Self { own, offset: if length == 0 { 0 } else { length + 1 }, parent }))
    }

    /// Returns whether the rules ignore a path, given relative to the sandbox.
    pub(super) fn ignore(&self, path: &str, is_directory: bool) -> bool {
        let relative = path.get(self.offset..).unwrap_or_default();
        let verdict = |rules: &Gitignore| match rules.matched(relative, is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        if let Some(verdict) = self.own.as_ref().and_then(verdict) {
            return verdict;
        }
        match &self.parent {
            ParentRules::Directory(above) => above.ignore(path, is_directory),
            ParentRules::Root { excluded, global } => {
                excluded.as_ref().and_then(verdict).or_else(|| verdict(global)).unwrap_or_default()
            }
        }
    }
}

/// Parses ignore rules. Malformed lines are skipped, as by git.
fn parse(text: &[u8]) -> Option<Gitignore> {
    let mut rules = GitignoreBuilder::new(".");
    let text = String::from_utf8_lossy(text);
    // Git ignores a byte order mark at the start of the file.
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = rules.add_line(None, line);
    }
    rules.build().ok().filter(|rules| !rules.is_empty())
}
