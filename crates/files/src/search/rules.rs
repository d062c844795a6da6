//! Which entries of a working tree git ignores, by the rules of each directory.
//!
//! Rules hold in a repository alone: from its root downwards, and nothing above it counts. They are read
//! through the handles of their directories.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use loopgate_home::{Directory, EntryKind, Sandbox, SandboxedPath};

/// Where a repository begins; a file in a worktree.
pub(super) const GIT: &str = ".git";
/// Files whose rules decide about what is below their directory.
pub(super) const RULES_FILE: &str = ".gitignore";
/// Bytes of a file of rules; one that is larger has none.
const MAX_RULES: u64 = 1024 * 1024;

/// The rules of a directory, and of those above it in its repository.
pub(super) struct IgnoreRules {
    own: Option<Gitignore>,
    /// Bytes of a path, relative to the sandbox, before what these rules are about.
    offset: usize,
    above: ParentRules,
}

enum ParentRules {
    Directory(Arc<IgnoreRules>),
    /// The directory is the repository's root: what else the repository and the person ignore.
    Nothing {
        excluded: Option<Gitignore>,
        global: Gitignore,
    },
}

impl IgnoreRules {
    /// Those that hold in a directory of a tree because of the directories above it.
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

    /// Those that hold in an open directory. `place` is relative to the sandbox, and `kind_of` answers
    /// what an entry of the directory is.
    pub(super) fn of(
        sandbox: &Sandbox,
        tree: &SandboxedPath,
        place: &Path,
        handle: &Directory,
        kind_of: impl Fn(&str) -> Option<EntryKind>,
        inherited: Option<Arc<Self>>,
    ) -> Option<Arc<Self>> {
        let above = match kind_of(GIT) {
            Some(kind) => {
                let records = Path::new(".git/info/exclude");
                let excluded = match kind {
                    EntryKind::Directory => handle.read(records, MAX_RULES).ok(),
                    // Of a worktree, its clone has them.
                    _ => sandbox.repository(&tree.base().join(place)).ok().and_then(|repository| {
                        repository.handles.common.read(Path::new("info/exclude"), MAX_RULES).ok()
                    }),
                };
                let global = GitignoreBuilder::new(".").build_global().0;
                ParentRules::Nothing { excluded: excluded.and_then(|text| parse(&text)), global }
            }
            None => ParentRules::Directory(inherited?),
        };
        let own = kind_of(RULES_FILE).and_then(|_| handle.read(Path::new(RULES_FILE), MAX_RULES).ok());
        let own = own.and_then(|text| parse(&text));
        if let (None, ParentRules::Directory(above)) = (&own, &above) {
            return Some(above.clone());
        }
        let length = place.to_string_lossy().len();
        Some(Arc::new(Self { own, offset: if length == 0 { 0 } else { length + 1 }, above }))
    }

    /// Whether they ignore a path, which is relative to the sandbox.
    pub(super) fn ignore(&self, path: &str, is_directory: bool) -> bool {
        let relative = path.get(self.offset..).unwrap_or_default();
        let decided = |rules: &Gitignore| match rules.matched(relative, is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        if let Some(decided) = self.own.as_ref().and_then(decided) {
            return decided;
        }
        match &self.above {
            ParentRules::Directory(above) => above.ignore(path, is_directory),
            ParentRules::Nothing { excluded, global } => {
                excluded.as_ref().and_then(decided).or_else(|| decided(global)).unwrap_or_default()
            }
        }
    }
}

/// The rules in a text; a line that is none is passed over.
fn parse(text: &[u8]) -> Option<Gitignore> {
    let mut rules = GitignoreBuilder::new(".");
    let text = String::from_utf8_lossy(text);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = rules.add_line(None, line);
    }
    rules.build().ok().filter(|rules| !rules.is_empty())
}
