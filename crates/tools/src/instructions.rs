//! Instructions of a checkout: the files that the assistant and other agents send to the model with each request.
//!
//! A link, or an import of such a file, can lead out of the checkout. The model would then receive a file of the user that
//! is not part of the repository, so these files are left out until the user has agreed to them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use loopgate_home::{Directory, EntryKind, expand_home};
use regex::Regex;

/// Names of instruction files, in any directory.
const NAMES: [&str; 5] = ["AGENTS.md", "AGENTS.override.md", "CLAUDE.local.md", "CLAUDE.md", "GEMINI.md"];
/// Directory of the assistant, in any directory. It may contain instructions, and rules at any depth below [`RULES`].
const ASSISTANT_DIRECTORY: &str = ".claude";
const RULES: &str = "rules";
const GIT_DIRECTORY: &str = ".git";
/// Upper bound of the entries of a checkout that are examined.
const MAX_ENTRIES: usize = 1_000_000;
/// Upper bound of the size of an instruction file in bytes. The assistant warns far below. Larger files are left out,
/// because their imports are unknown.
const MAX_BYTES: u64 = 1024 * 1024;
/// Upper bounds of the instruction files of a checkout: their number, and their size together in bytes.
const MAX_FILES: usize = 10_000;
const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// An import, `@path`, with escaped blanks. Finds more than the assistant does, for example in code.
static IMPORT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)(?:^|\s)@((?:[^\s\\]|\\ )+)").ok());

/// The instructions of a checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Paths of the instruction files in the checkout, relative to its root, without imported files.
    pub files: BTreeSet<PathBuf>,
    /// Instructions that lead out of the checkout: their path, or the path and the import, and their target.
    pub leaving: BTreeSet<(String, PathBuf)>,
    /// Paths that the assistant must not read as instructions, with all files below them; those in the checkout also
    /// relative to it. Each with the elements of [`Self::leaving`] for which it is excluded.
    excluded: BTreeMap<PathBuf, BTreeSet<(String, PathBuf)>>,
}

impl Instructions {
    /// Finds the instructions of a checkout. Blocks on disk I/O.
    ///
    /// # Errors
    /// Fails when the checkout cannot be read, or has too many files to examine.
    pub fn of(checkout: &Path) -> io::Result<Self> {
        let root = checkout.canonicalize()?;
        let mut search =
            ImportSearch { root: &root, entries: 0, pending: Vec::new(), found: Self::default() };
        search.walk()?;
        search.follow_imports()?;
        Ok(search.found)
    }

    /// Keeps the instructions to which the user has agreed, by name and target.
    #[must_use]
    pub fn with_agreed(mut self, is_agreed: impl Fn(&str, &Path) -> bool) -> Self {
        self.leaving.retain(|(name, target)| !is_agreed(name, target));
        self.excluded.retain(|_, causes| {
            causes.retain(|(name, target)| !is_agreed(name, target));
            !causes.is_empty()
        });
        self
    }

    /// Returns the patterns for the assistant's setting `claudeMdExcludes`.
    #[must_use]
    pub fn exclusions(&self) -> Vec<String> {
        let patterns = self.excluded.keys().flat_map(|path| {
            // There is no escape for a character with a meaning in patterns, but `?` matches any.
            let is_plain = |c: char| c.is_alphanumeric() || "/._- ".contains(c);
            let path: String =
                path.to_string_lossy().chars().map(|c| if is_plain(c) { c } else { '?' }).collect();
            [format!("{path}/**"), path]
        });
        patterns.collect()
    }

    /// Returns a sentence that names the instructions which are left out; `None` when there are none.
    #[must_use]
    pub fn report(&self) -> Option<String> {
        let names: Vec<String> =
            self.leaving.iter().map(|(name, target)| format!("{name} ({})", target.display())).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Instructions that lead out of the repository are left out, because you have not trusted them: {}.",
                names.join(", ")
            )
        })
    }
}

/// A kind of directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Tree,
    Assistant,
    Rules,
}

impl Place {
    /// Returns whether a file with this name is an instruction file.
    fn has_instructions(self, name: &OsStr) -> bool {
        let is_named = NAMES.iter().any(|expected| name == *expected);
        is_named || (self == Self::Rules && Path::new(name).extension() == Some(OsStr::new("md")))
    }

    /// Returns the kind of a subdirectory, also of one behind a link.
    fn subdirectory(self, name: &OsStr) -> Self {
        match self {
            Self::Assistant if name == RULES => Self::Rules,
            Self::Rules => Self::Rules,
            _ if name == ASSISTANT_DIRECTORY => Self::Assistant,
            _ => Self::Tree,
        }
    }
}

struct ImportSearch<'a> {
    root: &'a Path,
    entries: usize,
    /// Files whose imports have not been read, as absolute paths without links, each with the directory to which its imports
    /// are relative. For a link, that may be its own directory or that of its target.
    pending: Vec<(PathBuf, PathBuf)>,
    found: Instructions,
}

impl ImportSearch<'_> {
    /// Examines the whole checkout. Not recursive: the depth of the directories is up to its author.
    fn walk(&mut self) -> io::Result<()> {
        let root = Directory::of(self.root)?;
        let mut directories = vec![(PathBuf::new(), Place::Tree)];
        while let Some((below, place)) = directories.pop() {
            let entries = match root.directory(&below).and_then(|directory| directory.entries()) {
                // It no longer exists.
                Err(error) if matches!(error.kind(), NotFound | NotADirectory) => continue,
                Err(error) if error.kind() == PermissionDenied => {
                    let path = self.root.join(&below);
                    // Files in it can be opened by their names, although they cannot be listed.
                    if rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).is_ok() {
                        self.exclude(&path, &(below.to_string_lossy().into_owned(), PathBuf::new()));
                    }
                    continue;
                }
                entries => entries?,
            };
            for entry in entries {
                self.entries += 1;
                if self.entries > MAX_ENTRIES {
                    return Err(io::Error::other(format!("it has more than {MAX_ENTRIES} files")));
                }
                let path = below.join(&entry.name);
                let subdirectory = place.subdirectory(&entry.name);
                let is_instruction = place.has_instructions(&entry.name);
                match entry.kind {
                    EntryKind::Directory if entry.name != GIT_DIRECTORY => {
                        directories.push((path, subdirectory));
                    }
                    EntryKind::File if is_instruction => {
                        self.pending.push((self.root.join(&path), self.root.join(&below)));
                        self.found.files.insert(path);
                    }
                    EntryKind::Link if is_instruction || subdirectory != Place::Tree => {
                        let name = path.to_string_lossy().into_owned();
                        if self.is_inside(name, self.root.join(&path), is_instruction) {
                            self.found.files.insert(path);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Excludes a file or directory whose links lead out of the checkout. Returns whether it is an existing file in it.
    fn is_inside(&mut self, name: String, path: PathBuf, is_file: bool) -> bool {
        match path.canonicalize() {
            Ok(target) if target.starts_with(self.root) && is_file => {
                let directories = [path.parent(), target.parent()].into_iter().flatten();
                self.pending.extend(directories.map(|directory| (target.clone(), directory.to_owned())));
                return true;
            }
            // A linked directory: its files would have to be found through the link, which nothing needs.
            Ok(target) => {
                let cause = (name, target);
                self.exclude(&path, &cause);
                self.found.excluded.entry(cause.1.clone()).or_default().insert(cause.clone());
                self.found.leaving.insert(cause);
            }
            // The target may be created later.
            Err(_) => self.exclude(&path, &(name, PathBuf::new())),
        }
        false
    }

    /// Excludes a path. The assistant names files of its working directory by their relative paths.
    fn exclude(&mut self, path: &Path, cause: &(String, PathBuf)) {
        let relative = path.strip_prefix(self.root).map(Path::to_owned).ok();
        for path in relative.into_iter().chain([path.to_owned()]) {
            self.found.excluded.entry(path).or_default().insert(cause.clone());
        }
    }

    fn follow_imports(&mut self) -> io::Result<()> {
        let root = Directory::of(self.root)?;
        let (mut read, mut bytes) = (BTreeSet::new(), 0);
        while let Some(pending) = self.pending.pop() {
            let (path, directory) = &pending;
            if read.contains(&pending) {
                continue;
            }
            let name = path.strip_prefix(self.root).unwrap_or(path).to_path_buf();
            let Ok(content) = root.read(&name, MAX_BYTES) else {
                self.exclude(path, &(name.to_string_lossy().into_owned(), PathBuf::new()));
                continue;
            };
            bytes += content.len();
            if read.len() >= MAX_FILES || bytes > MAX_TOTAL_BYTES {
                return Err(io::Error::other("it has too many instruction files"));
            }
            let text = String::from_utf8_lossy(&content);
            let Some(imports) = IMPORT.as_ref() else { continue };
            for import in imports.captures_iter(&text).filter_map(|found| found.get(1)) {
                self.import(directory, &name, &import.as_str().replace("\\ ", " "));
            }
            read.insert(pending);
        }
        Ok(())
    }

    fn import(&mut self, directory: &Path, name: &Path, import: &str) {
        // The assistant ignores a fragment. Punctuation behind a path may belong to the sentence.
        let path = import.split('#').next().unwrap_or(import);
        let spellings: BTreeSet<&str> = [path, path.trim_end_matches(['.', ',', ';', ':', ')'])].into();
        for spelling in spellings.into_iter().filter(|spelling| !spelling.is_empty()) {
            let path = directory.join(expand_home(spelling));
            // Only an existing file can be read. Most words behind an `@` name no file.
            if path.is_file() {
                self.is_inside(format!("{}: @{spelling}", name.display()), path, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    struct Checkout(tempfile::TempDir);

    impl Checkout {
        fn new() -> Self {
            let checkout = Self(tempfile::tempdir().unwrap());
            checkout.write("outside/secret.md", "SECRET");
            checkout.write("outside/rules/secret.md", "SECRET");
            fs::create_dir(checkout.at("tree")).unwrap();
            checkout
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.at(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn link(&self, name: &str, target: &str) {
            fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
            symlink(self.at(target), self.at(name)).unwrap();
        }

        fn found(&self) -> Instructions {
            Instructions::of(&self.at("tree")).unwrap()
        }

        fn leaving(&self) -> Vec<String> {
            self.found().leaving.into_iter().map(|(name, _)| name).collect()
        }
    }

    #[test]
    fn links_that_lead_out_are_excluded() {
        let checkout = Checkout::new();
        checkout.write("tree/CLAUDE.md", "Be kind.");
        checkout.write("tree/.claude/rules/deep/own.md", "Be kind.");
        checkout.link("tree/docs/AGENTS.md", "tree/CLAUDE.md");
        checkout.link("tree/unrelated.md", "outside/secret.md");
        let found = checkout.found();
        assert!(found.leaving.is_empty() && found.exclusions().is_empty() && found.report().is_none());
        let files = [".claude/rules/deep/own.md", "CLAUDE.md", "docs/AGENTS.md"];
        assert_eq!(found.files, files.map(PathBuf::from).into());

        for name in
            ["AGENTS.md", "CLAUDE.local.md", "a/b/CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/x.md"]
        {
            checkout.link(&format!("tree/{name}"), "outside/secret.md");
        }
        checkout.link("tree/.claude/rules/linked", "outside/rules");
        checkout.link("tree/package/.claude", "outside");
        checkout.link("tree/other/.claude/rules", "outside/rules");
        checkout.link("tree/later/CLAUDE.md", "outside/later");
        let expected = [
            ".claude/CLAUDE.md",
            ".claude/rules/linked",
            ".claude/rules/x.md",
            "AGENTS.md",
            "CLAUDE.local.md",
            "a/b/CLAUDE.md",
            "other/.claude/rules",
            "package/.claude",
        ];
        assert_eq!(checkout.leaving(), expected);
        let exclusions = checkout.found().exclusions();
        for excluded in
            ["tree/AGENTS.md", "tree/package/.claude/**", "outside/rules/**", "tree/later/CLAUDE.md"]
        {
            assert!(
                exclusions.contains(&checkout.at(excluded).display().to_string()),
                "{excluded}: {exclusions:?}"
            );
        }
        assert!(exclusions.contains(&".claude/CLAUDE.md".to_owned()), "{exclusions:?}");
        assert!(checkout.found().report().unwrap().contains("AGENTS.md ("));
    }

    #[test]
    fn imports_that_lead_out_are_excluded() {
        let checkout = Checkout::new();
        checkout.link("tree/docs/linked.md", "outside/secret.md");
        checkout.link("tree/docs/directory", "outside");
        checkout.write("tree/docs/inside.md", "See @directory/secret.md.");
        let absolute = checkout.at("outside/secret.md");
        checkout.write("tree/with blank.md", "@docs/linked.md#part");
        let text = format!(
            "ask @someone\n@docs/inside.md @../outside/secret.md\n{} @with\\ blank.md mail@example.org",
            format_args!("@{}", absolute.display())
        );
        checkout.write("tree/CLAUDE.md", &text);
        let expected = [
            "CLAUDE.md: @../outside/secret.md".to_owned(),
            format!("CLAUDE.md: @{}", absolute.display()),
            "docs/inside.md: @directory/secret.md".to_owned(),
            "with blank.md: @docs/linked.md".to_owned(),
        ];
        assert_eq!(checkout.leaving(), expected);
        let exclusions = checkout.found().exclusions();
        for excluded in ["tree/docs/linked.md", "outside/secret.md"] {
            assert!(exclusions.contains(&checkout.at(excluded).display().to_string()), "{exclusions:?}");
        }
    }

    #[test]
    fn imports_of_a_link_are_relative_to_the_link_and_to_its_target() {
        let checkout = Checkout::new();
        checkout.write("tree/a/b/notes.md", "@../outside/secret.md");
        checkout.link("tree/CLAUDE.md", "tree/a/b/notes.md");
        assert_eq!(checkout.leaving(), ["a/b/notes.md: @../outside/secret.md"]);
    }

    #[test]
    fn instructions_that_cannot_be_examined_are_excluded() {
        let checkout = Checkout::new();
        let size = usize::try_from(MAX_BYTES).unwrap();
        checkout.write("tree/CLAUDE.md", &format!("{}@../outside/secret.md", " ".repeat(size)));
        assert!(checkout.found().exclusions().contains(&"CLAUDE.md".to_owned()));
        checkout.write("tree/CLAUDE.md", "Be kind.");
        for number in 0..=MAX_FILES {
            checkout.write(&format!("tree/.claude/rules/{number}.md"), "");
        }
        Instructions::of(&checkout.at("tree")).unwrap_err();
    }

    #[test]
    fn deep_directories_are_examined_or_refused() {
        use rustix::fs::{OFlags, mkdirat, open, openat};
        let checkout = Checkout::new();
        let tree = checkout.at("tree");
        let mut directory = open(&tree, OFlags::DIRECTORY, 0o700.into()).unwrap();
        let mut descend = |name: &str| {
            mkdirat(&directory, name, 0o700.into()).unwrap();
            directory = openat(&directory, name, OFlags::DIRECTORY, 0o700.into()).unwrap();
        };
        (0..900).for_each(|_| descend("d"));
        checkout.link(&format!("tree/{}CLAUDE.md", "d/".repeat(900)), "outside/secret.md");
        // A recursive search would need a larger stack.
        let search = std::thread::Builder::new().stack_size(128 * 1024);
        let found = search.spawn(move || Instructions::of(&tree)).unwrap().join().unwrap();
        assert_eq!(found.unwrap().leaving.len(), 1);
        // Longer than any path that a program could open.
        (0..20).for_each(|_| descend(&"d".repeat(200)));
        Instructions::of(&checkout.at("tree")).unwrap_err();
    }

    #[test]
    fn agreed_instructions_are_not_excluded() {
        let checkout = Checkout::new();
        checkout.link("tree/CLAUDE.md", "outside/secret.md");
        checkout.link("tree/docs/CLAUDE.md", "outside/rules/secret.md");
        let target = checkout.at("outside/secret.md");
        let agreed = |name: &str, to: &Path| name == "CLAUDE.md" && to == target;
        let exclusions = checkout.found().with_agreed(agreed).exclusions();
        assert!(exclusions.contains(&"docs/CLAUDE.md".to_owned()), "{exclusions:?}");
        assert!(!exclusions.iter().any(|path| path == "CLAUDE.md" || path.ends_with("outside/secret.md")));
        // The link has another target than the one that the user has seen.
        fs::remove_file(checkout.at("tree/CLAUDE.md")).unwrap();
        checkout.link("tree/CLAUDE.md", "outside/rules/secret.md");
        assert_eq!(checkout.found().with_agreed(agreed).leaving.len(), 2);
    }

    #[test]
    fn characters_with_a_meaning_in_patterns_match_any() {
        let excluded = [(PathBuf::from("/a[b]/{c}*/CLAUDE.md"), BTreeSet::new())].into();
        let exclusions = Instructions { excluded, ..Instructions::default() }.exclusions();
        assert_eq!(exclusions, ["/a?b?/?c??/CLAUDE.md/**", "/a?b?/?c??/CLAUDE.md"]);
    }
}
