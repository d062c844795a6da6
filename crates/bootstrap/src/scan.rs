//! The files of a repository that people write. Generated, vendored and Loopgate's own files are left out by name, and
//! generated ones also by their first lines.

use std::collections::BTreeSet;
use std::path::Path;

use loopgate_api::generated_files::{GeneratedKind, generated_kind};
use loopgate_api::held_back::generated_directory;
use loopgate_evidence::is_test_file;
use loopgate_home::Directory;

use crate::definitions::{self, FileOutline};
use crate::languages::{LanguageSyntax, SourceLanguage};

/// Largest file in bytes whose text is read.
const MAX_FILE: u64 = 256 * 1024;
/// Bytes of sources that are read for definitions and imports.
const MAX_TOTAL: usize = 256 * 1024 * 1024;
/// Longest line in bytes that a person writes.
const MAX_LINE: usize = 4096;
/// Lines at the beginning of a file in which generators leave their mark.
const MARK_LINES: usize = 10;
const MARKS: [&str; 2] = ["@generated", "DO NOT EDIT"];
/// Directories with files of others.
const VENDORED: [&str; 8] =
    ["Carthage", "Pods", "bower_components", "dist", "node_modules", "third-party", "third_party", "vendor"];
/// Directories of the assistant, of Loopgate and of git.
const OWN: [&str; 3] = [".claude/", ".loopgate/", ".git/"];

/// A file that people write.
#[derive(Debug, Clone)]
pub struct ScannedFile {
    /// Path relative to the root.
    pub path: String,
    /// Whether it contains tests.
    pub is_test: bool,
    /// What it defines and imports; empty for files in other languages.
    pub(crate) outline: FileOutline,
    language: Option<&'static SourceLanguage>,
}

impl ScannedFile {
    pub(crate) const fn language(&self) -> Option<&'static SourceLanguage> {
        self.language
    }

    /// Returns the name of the file's language.
    #[must_use]
    pub fn language_name(&self) -> Option<&'static str> {
        self.language.map(|language| language.name)
    }
}

/// A file that is not analyzed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedFile {
    /// Path relative to the root; a directory ends with a slash.
    pub path: String,
    /// Reason.
    pub reason: &'static str,
}

/// The files of a repository.
#[derive(Debug)]
pub struct RepositoryScan {
    tree: Directory,
    /// All files that git lists, with those that are left out.
    listed: BTreeSet<String>,
    files: Vec<ScannedFile>,
    excluded: Vec<ExcludedFile>,
    warnings: Vec<String>,
}

impl RepositoryScan {
    /// Classifies the files of a working tree, and reads the sources among them. `paths`: the files that git lists,
    /// relative to the root. Blocks on disk I/O.
    #[must_use]
    pub fn new(tree: Directory, paths: impl IntoIterator<Item = String>) -> Self {
        let listed: BTreeSet<String> = paths.into_iter().filter(|path| !path.is_empty()).collect();
        let mut scan = Self { tree, listed, files: Vec::new(), excluded: Vec::new(), warnings: Vec::new() };
        let (mut unusual, mut total) = (0, 0);
        // Sorted, so that the facts of a commit are always the same.
        for path in scan.listed.clone() {
            if OWN.iter().any(|own| path.starts_with(own)) {
                continue;
            }
            // Such a name cannot be quoted in a prompt as one word.
            if path.contains(|letter: char| letter.is_control() || letter == '`' || letter == '\u{fffd}') {
                unusual += 1;
                continue;
            }
            if let Some(excluded) = excluded_by_name(&path) {
                scan.exclude(excluded);
                continue;
            }
            let language = SourceLanguage::of(&path);
            let mut outline = FileOutline::default();
            let syntax = language.map_or(LanguageSyntax::None, |language| language.syntax);
            if language.is_some() && total < MAX_TOTAL {
                let text = scan.text(&path).unwrap_or_default();
                total += text.len();
                if let Some(reason) = generated_text(&text) {
                    scan.exclude(ExcludedFile { path, reason });
                    continue;
                }
                outline = definitions::outline(&text, syntax);
            }
            let is_test = is_test_file(&path);
            scan.files.push(ScannedFile { path, is_test, outline, language });
        }
        if unusual > 0 {
            scan.warnings.push(format!(
                "{unusual} files have names with control characters or backticks, and are left out"
            ));
        }
        if total >= MAX_TOTAL {
            scan.warnings.push(format!("only the first {} MiB of sources are read", MAX_TOTAL >> 20));
        }
        scan
    }

    /// Returns the files, sorted by path.
    #[must_use]
    pub fn files(&self) -> &[ScannedFile] {
        &self.files
    }

    /// Returns the paths of all files that git lists.
    pub(crate) const fn listed(&self) -> &BTreeSet<String> {
        &self.listed
    }

    /// Returns what was left out.
    #[must_use]
    pub fn excluded(&self) -> &[ExcludedFile] {
        &self.excluded
    }

    /// Returns warnings for the user.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the handle of the working tree.
    #[must_use]
    pub const fn tree(&self) -> &Directory {
        &self.tree
    }

    /// Reads the text of a file; `None` if it is missing, too large, a link or no text.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = self.tree.read(Path::new(path), MAX_FILE).ok()?;
        String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
    }

    /// Returns a file with this path.
    pub(crate) fn file(&self, path: &str) -> Option<&ScannedFile> {
        let index = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(index)
    }

    fn exclude(&mut self, excluded: ExcludedFile) {
        // A vendored directory is named once.
        if self.excluded.last().is_none_or(|last| last.path != excluded.path) {
            self.excluded.push(excluded);
        }
    }
}

fn excluded_by_name(path: &str) -> Option<ExcludedFile> {
    if let Some(directory) = generated_directory(path) {
        return Some(ExcludedFile { path: directory.to_owned(), reason: "generated" });
    }
    for (end, _) in path.match_indices('/') {
        let name = path[..end].rsplit('/').next().unwrap_or_default();
        if VENDORED.contains(&name) {
            return Some(ExcludedFile { path: format!("{}/", &path[..end]), reason: "vendored" });
        }
    }
    let reason = match generated_kind(path)? {
        GeneratedKind::LockFile => "lock file",
        GeneratedKind::Generated => "generated",
    };
    Some(ExcludedFile { path: path.to_owned(), reason })
}

/// Returns why the text of a source is not analyzed.
fn generated_text(text: &str) -> Option<&'static str> {
    if text.lines().take(MARK_LINES).any(|line| MARKS.iter().any(|mark| line.contains(mark))) {
        return Some("generated");
    }
    text.lines().any(|line| line.len() > MAX_LINE).then_some("minified")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A scan of a temporary directory.
    pub struct ScanFixture {
        pub scan: RepositoryScan,
        pub root: tempfile::TempDir,
    }

    /// Writes files and scans them.
    pub fn scan(files: &[(&str, &str)]) -> ScanFixture {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = Directory::of(root.path()).unwrap();
        let paths = files.iter().map(|(name, _)| (*name).to_owned());
        ScanFixture { scan: RepositoryScan::new(tree, paths), root }
    }

    #[test]
    fn only_files_that_people_write_are_analyzed() {
        let minified = "x".repeat(MAX_LINE + 1);
        let fixture = scan(&[
            ("src/main.rs", "fn main() {}"),
            ("Cargo.lock", ""),
            ("vendor/a/one.go", ""),
            ("vendor/a/two.go", ""),
            ("web/app.min.js", ""),
            ("web/packed.js", &minified),
            ("api/types.ts", "// @generated by a tool\nexport type A = 1;"),
            (".claude/agents/tester.md", ""),
            (".loopgate/settings/critic-gates.json", ""),
            ("bad\nname.rs", ""),
            ("ba`d.rs", ""),
            ("tests/main.rs", ""),
        ]);
        let files: Vec<(&str, bool)> =
            fixture.scan.files().iter().map(|file| (file.path.as_str(), file.is_test)).collect();
        assert_eq!(files, [("src/main.rs", false), ("tests/main.rs", true)]);
        let excluded: Vec<(&str, &str)> =
            fixture.scan.excluded().iter().map(|file| (file.path.as_str(), file.reason)).collect();
        let expected = [
            ("Cargo.lock", "lock file"),
            ("api/types.ts", "generated"),
            ("vendor/", "vendored"),
            ("web/app.min.js", "generated"),
            ("web/packed.js", "minified"),
        ];
        assert_eq!(excluded, expected);
        assert!(fixture.scan.warnings()[0].starts_with("2 files have names"));
        assert!(fixture.scan.file("src/main.rs").is_some() && fixture.scan.file("Cargo.lock").is_none());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.rs"), "pub struct Secret;").unwrap();
        let fixture = scan(&[("a.rs", "pub struct A;")]);
        let link = fixture.root.path().join("b.rs");
        std::os::unix::fs::symlink(outside.path().join("secret.rs"), link).unwrap();
        let tree = Directory::of(fixture.root.path()).unwrap();
        let scan = RepositoryScan::new(tree, ["a.rs".to_owned(), "b.rs".to_owned()]);
        assert_eq!(scan.text("b.rs"), None);
        assert!(scan.files()[1].outline.definitions.is_empty());
        assert_eq!(scan.files()[0].outline.definitions, ["A"]);
    }
}
