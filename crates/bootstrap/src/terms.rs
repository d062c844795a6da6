//! Names that occur in a repository: paths, commands, and words of its texts.

use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

use crate::analysis::ProjectAnalysis;
use crate::languages::extension;

/// Longest extension of a file, in bytes.
const MAX_EXTENSION: usize = 8;
/// Shortest word that is looked up; single letters are variables of types.
const MIN_WORD: usize = 2;

/// Looks up names. The texts of the repository are read at the first name that is no path and no command.
pub struct RepositoryTerms<'a> {
    analysis: &'a ProjectAnalysis,
    directories: BTreeSet<&'a str>,
    words: OnceLock<HashSet<String>>,
}

impl<'a> RepositoryTerms<'a> {
    /// Prepares the lookup.
    #[must_use]
    pub fn new(analysis: &'a ProjectAnalysis) -> Self {
        let paths = analysis.scan.listed().iter();
        let directories =
            paths.flat_map(|path| path.match_indices('/').map(|(end, _)| &path[..end])).collect();
        Self { analysis, directories, words: OnceLock::new() }
    }

    /// Returns the names in backticks, and the paths outside of them, that do not occur in the repository.
    #[must_use]
    pub fn unknown_in(&self, text: &str) -> Vec<String> {
        let mut unknown: Vec<String> = Vec::new();
        for name in names_in(text) {
            if !self.knows(&name) && !unknown.contains(&name) {
                unknown.push(name);
            }
        }
        unknown
    }

    /// Returns whether a name occurs: a path, a pattern that matches a path, a command of the project, a type or another word
    /// of its texts. Words that are joined by `::` or `.` may occur apart from each other; those with white space between
    /// them, `-` or `/` occur as they are.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        let name = plain(name);
        if !name.contains(char::is_alphabetic) {
            return false;
        }
        if self.has_path(name) || self.is_command(name) {
            return true;
        }
        if looks_like_path(name) || name.contains('*') {
            return false;
        }
        if name.contains(|letter: char| letter.is_whitespace() || letter == '-' || letter == '/') {
            return self.occurs(name);
        }
        let mut words = words_of(name).peekable();
        words.peek().is_some() && words.all(|word| self.words().contains(word))
    }

    fn has_path(&self, name: &str) -> bool {
        let listed = self.analysis.scan.listed();
        if listed.contains(name) || self.directories.contains(name) {
            return true;
        }
        let end = format!("/{name}");
        if name.contains('*') {
            return glob(name).is_some_and(|glob| listed.iter().any(|path| glob.is_match(path)));
        }
        // A file or a directory may be named without the directories above it.
        listed.iter().any(|path| path.ends_with(&end))
            || self.directories.iter().any(|directory| directory.ends_with(&end))
    }

    fn is_command(&self, name: &str) -> bool {
        self.analysis.commands.iter().any(|known| {
            let rest = name.strip_prefix(known.command.as_str());
            rest.is_some_and(|rest| {
                // Arguments are names of the repository as well, or options that occur in it.
                rest.is_empty()
                    || rest.starts_with(' ') && rest.split_whitespace().all(|word| self.knows(word))
            })
        })
    }

    /// Returns whether the texts contain a name as it is, not as a part of longer words.
    fn occurs(&self, name: &str) -> bool {
        let is_word =
            |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        self.analysis.scan.files().iter().any(|file| {
            let Some(text) = self.analysis.scan.text(&file.path) else { return false };
            text.match_indices(name).any(|(start, found)| {
                let after = text[start + found.len()..].chars().next();
                !is_word(text[..start].chars().next_back()) && !is_word(after)
            })
        })
    }

    fn words(&self) -> &HashSet<String> {
        self.words.get_or_init(|| {
            let mut words = HashSet::new();
            for file in self.analysis.scan.files() {
                words.extend(words_of(&file.path).map(str::to_owned));
                let text = self.analysis.scan.text(&file.path).unwrap_or_default();
                for word in words_of(&text) {
                    // Most words are known after a few files.
                    if !words.contains(word) {
                        words.insert(word.to_owned());
                    }
                }
            }
            words
        })
    }
}

impl std::fmt::Debug for RepositoryTerms<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RepositoryTerms").finish_non_exhaustive()
    }
}

/// Returns the names that a text contains: what is in backticks, and paths of files outside of them.
pub fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            names.push(part.to_owned());
        } else {
            let words = part.split(|letter: char| letter.is_whitespace() || "()[]{},;\"'".contains(letter));
            names.extend(words.map(plain).filter(|word| looks_like_path(word)).map(str::to_owned));
        }
    }
    names
}

/// Removes what is written around a name: `./`, a trailing slash or point, `()` and a line number.
fn plain(name: &str) -> &str {
    let mut name = name.trim().trim_end_matches(['.', ',', ';', ':']);
    name = name.strip_prefix("./").unwrap_or(name);
    name = name.strip_suffix("()").unwrap_or(name);
    if let Some((path, line)) = name.rsplit_once(':')
        && !line.is_empty()
        && line.chars().all(|letter| letter.is_ascii_digit() || letter == '-')
    {
        name = path;
    }
    if name.len() > 1 { name.trim_end_matches('/') } else { name }
}

/// Returns whether a name has directories and an extension, so that it can only be a file. Addresses are none.
fn looks_like_path(name: &str) -> bool {
    let is_extension = |end: &str| {
        end.len() <= MAX_EXTENSION
            && !end.is_empty()
            && end.chars().all(|letter| letter.is_ascii_alphanumeric())
    };
    let (is_address, is_absolute) = (name.contains("://"), name.starts_with('/'));
    let has_letters = name.contains(char::is_alphabetic);
    name.contains('/')
        && !is_address
        && !is_absolute
        && has_letters
        && extension(name).is_some_and(is_extension)
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| word.len() >= MIN_WORD && !word.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Compiles a pattern of paths: `*` stands for anything within a component, `**` for several of them. Without a slash, it is
/// a pattern of file names.
fn glob(pattern: &str) -> Option<regex::Regex> {
    let escaped = regex::escape(pattern);
    let escaped = escaped.replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*");
    let start = if pattern.contains('/') { "^" } else { "(?:^|/)" };
    regex::Regex::new(&format!("{start}{escaped}$")).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::tests::{SAMPLE, analysis, with};

    #[test]
    fn paths_commands_types_and_terms_are_looked_up() {
        let fixture =
            analysis(&with(&SAMPLE, "docs/notes.md", "Run `make build` with --release. sea-orm.\n"));
        let terms = RepositoryTerms::new(&fixture.analysis);
        for name in [
            "shop/store/orders.py",
            "./shop/store/",
            "orders.py",
            "shop/store/orders.py:3",
            "shop/store/*.py",
            "web/**/*.tsx",
            "test_*.py",
            "OrderStore",
            "OrderStore.save",
            "OrderStore.save()",
            "OrderStore::save",
            "flask",
            "python3 -m pytest",
            "python3 -m pytest tests/test_orders.py",
            "make build",
            "sea-orm",
        ] {
            assert!(terms.knows(name), "{name}");
        }
        for name in [
            "shop/store/refunds.py",
            "shop/ledger",
            "RefundStore",
            "OrderStore.refund",
            "python3 -m pytest tests/test_refunds.py",
            "python3 -m pytest --cov",
            "make deploy",
            "list create_app",
            "order-store",
            "shop/store/*.rs",
            "",
            "()",
            "*",
        ] {
            assert!(!terms.knows(name), "{name}");
        }
    }

    #[test]
    fn names_are_found_in_and_outside_of_backticks() {
        let fixture = analysis(&SAMPLE);
        let terms = RepositoryTerms::new(&fixture.analysis);
        let text = "Check `OrderStore` and `Ledger` in shop/ledger/book.py, and/or (web/state.ts). See https://a.b/c.html.";
        assert_eq!(terms.unknown_in(text), ["Ledger", "shop/ledger/book.py"]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_up(text in "[a-z`/*.:() \\PC]{0,60}") {
            let fixture = analysis(&SAMPLE[..2]);
            let terms = RepositoryTerms::new(&fixture.analysis);
            prop_assert!(terms.unknown_in(&text).len() <= names_in(&text).len());
        }
    }
}
