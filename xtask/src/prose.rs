//! Measures the language of comments, messages, pages and documentation.
//!
//! The list of words is `prose.toml`. In comments the words are limited to a rate, because a comment may
//! quote one; in texts that users read each is an error. Duplicate type names are an error too: a name that
//! is defined twice is too vague in both places.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, tokenize};
use regex::Regex;
use serde::Deserialize;

use crate::root;

const CONFIG: &str = "xtask/prose.toml";
/// Folders whose contents are built or downloaded.
const GENERATED_FOLDERS: [&str; 5] = ["node_modules", "target", "dist", ".git", "test-results"];
/// Doc comments up to this number of words usually repeat the name below them.
const SHORT_DOC_WORDS: usize = 3;

/// Count discouraged words in comments, messages, pages and documentation.
#[derive(Args)]
pub struct Prose {
    /// Print each line that counts, with the word.
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProseConfig {
    max_per_1000_comment_lines: f64,
    words: Vec<String>,
    allowed: Vec<String>,
    shared_types: Vec<String>,
    sources: Vec<TextFolder>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextFolder {
    folder: PathBuf,
    extensions: Vec<String>,
    /// Endings of file names that are left out.
    #[serde(default)]
    except: Vec<String>,
}

/// Where a text is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextAudience {
    /// Comments in the source, for developers.
    Developers,
    /// Strings, pages and documentation.
    Users,
}

/// A piece of text and the line that it begins in, counted from 1.
struct TextPiece<'a> {
    audience: TextAudience,
    line: usize,
    text: &'a str,
}

/// A signal word, `path:line: word`.
struct SignalWordHit {
    audience: TextAudience,
    place: String,
}

/// The figures of the Rust sources.
#[derive(Default)]
struct ProseFigures {
    comment_lines: usize,
    plain_comment_lines: usize,
    code_lines: usize,
    short_doc_comments: usize,
    /// Files that define a type, by its name.
    types: BTreeMap<String, BTreeSet<String>>,
}

impl Prose {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        check(self.verbose)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the figures; fails when one is out of bounds, after naming the lines.
pub fn check(verbose: bool) -> anyhow::Result<()> {
    let text = fs::read_to_string(root().join(CONFIG)).with_context(|| format!("cannot read {CONFIG}"))?;
    let config: ProseConfig =
        toml_edit::de::from_str(&text).with_context(|| format!("{CONFIG} is invalid"))?;
    let words = SignalWords::new(&config)?;
    let (mut figures, mut hits) = (ProseFigures::default(), Vec::new());
    for source in &config.sources {
        for path in files(&root().join(&source.folder), source)? {
            let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {shown}"))?;
            let texts = if path.extension().is_some_and(|extension| extension == "rs") {
                figures.add(&shown, &text);
                rust_texts(&shown, &text)
            } else {
                vec![TextPiece { audience: TextAudience::Users, line: 1, text: &text }]
            };
            hits.extend(texts.iter().flat_map(|text| words.hits(&shown, text)));
        }
    }
    figures.report(&config, &hits, verbose)
}

impl ProseFigures {
    /// Counts the lines and the type definitions of a Rust file.
    fn add(&mut self, path: &str, text: &str) {
        let mut doc_words = None;
        for line in text.lines().map(str::trim).chain([""]) {
            if let Some(doc) = line.strip_prefix("///") {
                *doc_words.get_or_insert(0) += doc.split_whitespace().count();
            } else if doc_words.take().is_some_and(|count| count <= SHORT_DOC_WORDS) {
                self.short_doc_comments += 1;
            }
            if line.starts_with("//") {
                self.comment_lines += 1;
                self.plain_comment_lines += usize::from(line.starts_with("// "));
            } else {
                self.code_lines += usize::from(!line.is_empty());
            }
        }
        for name in type_names(without_tests(path, text)) {
            self.types.entry(name.to_owned()).or_default().insert(path.to_owned());
        }
    }

    fn report(&self, config: &ProseConfig, hits: &[SignalWordHit], verbose: bool) -> anyhow::Result<()> {
        let in_comments = hits.iter().filter(|hit| hit.audience == TextAudience::Developers).count();
        let for_users = hits.len() - in_comments;
        let rate = per(1000, in_comments, self.comment_lines);
        let too_many = rate > config.max_per_1000_comment_lines;
        let twice: Vec<_> = self
            .types
            .iter()
            .filter(|(name, paths)| paths.len() > 1 && !config.shared_types.contains(name))
            .collect();
        for hit in hits {
            if verbose || hit.audience == TextAudience::Users || too_many {
                eprintln!("{}", hit.place);
            }
        }
        for (name, paths) in &twice {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            eprintln!("{name} is defined {} times: {}", paths.len(), paths.join(", "));
        }
        eprintln!(
            "{in_comments} signal words in {} comment lines: {rate:.1} per 1,000 (at most {})",
            self.comment_lines, config.max_per_1000_comment_lines
        );
        eprintln!("{for_users} signal words in strings, pages and documentation (none allowed)");
        eprintln!(
            "{:.1} % plain comments in {} lines of code",
            per(100, self.plain_comment_lines, self.code_lines),
            self.code_lines
        );
        eprintln!("{} doc comments of {SHORT_DOC_WORDS} words or fewer", self.short_doc_comments);
        eprintln!("{} type names with several definitions (none allowed)", twice.len());
        if too_many || for_users > 0 || !twice.is_empty() {
            bail!("texts or names break the rules of {CONFIG}");
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines are far below 2^52")]
fn per(unit: usize, count: usize, total: usize) -> f64 {
    (unit * count) as f64 / total.max(1) as f64
}

/// The words of the configuration, compiled.
struct SignalWords {
    words: Regex,
    allowed: Option<Regex>,
}

impl SignalWords {
    fn new(config: &ProseConfig) -> anyhow::Result<Self> {
        let any = |patterns: &[String]| Regex::new(&format!(r"(?i)\b(?:{})\b", patterns.join("|")));
        let allowed = (!config.allowed.is_empty()).then(|| any(&config.allowed)).transpose()?;
        Ok(Self { words: any(&config.words)?, allowed })
    }

    fn hits(&self, path: &str, text: &TextPiece<'_>) -> Vec<SignalWordHit> {
        let mut hits = Vec::new();
        for (offset, line) in text.text.lines().enumerate() {
            let line = match &self.allowed {
                Some(allowed) => allowed.replace_all(line, ""),
                None => line.into(),
            };
            hits.extend(self.words.find_iter(&line).map(|word| SignalWordHit {
                audience: text.audience,
                place: format!("{path}:{}: {}", text.line + offset, word.as_str()),
            }));
        }
        hits
    }
}

/// Returns the part of a Rust file that is not test code. By convention a module of tests ends its file.
fn without_tests<'a>(path: &str, source: &'a str) -> &'a str {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs") || path.starts_with("fuzz/");
    if is_test || path.contains("/examples/") {
        return "";
    }
    source.find("#[cfg(test)]\nmod tests {").map_or(source, |end| &source[..end])
}

/// Returns the comments of a Rust file, and the string literals with a space that are not part of a test.
fn rust_texts<'a>(path: &str, source: &'a str) -> Vec<TextPiece<'a>> {
    let for_users = without_tests(path, source).len();
    let (mut texts, mut offset, mut line) = (Vec::new(), 0, 1);
    for token in tokenize(source, FrontmatterAllowed::No) {
        let text = &source[offset..offset + token.len as usize];
        let audience = match token.kind {
            TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => Some(TextAudience::Developers),
            TokenKind::Literal { .. } if text.contains('"') && text.contains(' ') => {
                (offset < for_users).then_some(TextAudience::Users)
            }
            _ => None,
        };
        texts.extend(audience.map(|audience| TextPiece { audience, line, text }));
        offset += text.len();
        line += text.matches('\n').count();
    }
    texts
}

/// Returns the names of the structs, enums and traits that Rust code defines. Type aliases are not counted:
/// associated types look the same.
fn type_names(source: &str) -> Vec<&str> {
    let (mut names, mut offset, mut after_keyword) = (Vec::new(), 0, false);
    for token in tokenize(source, FrontmatterAllowed::No) {
        let text = &source[offset..offset + token.len as usize];
        offset += text.len();
        match token.kind {
            TokenKind::Whitespace => {}
            TokenKind::Ident => {
                if after_keyword {
                    names.push(text);
                }
                after_keyword = matches!(text, "struct" | "enum" | "trait");
            }
            _ => after_keyword = false,
        }
    }
    names
}

/// Returns the files of a source, sorted.
fn files(folder: &Path, source: &TextFolder) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type()?.is_dir() {
            // The entry of the root covers only the files directly in it; each folder with text has its own
            // entry.
            if folder != root() && !GENERATED_FOLDERS.contains(&name.as_str()) {
                found.extend(files(&path, source)?);
            }
        } else if path.extension().is_some_and(|this| source.extensions.iter().any(|known| this == &**known))
            && !source.except.iter().any(|ending| name.ends_with(ending))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> SignalWords {
        SignalWords::new(&ProseConfig {
            max_per_1000_comment_lines: 2.0,
            words: vec!["nobody".to_owned(), "goes on".to_owned()],
            allowed: vec!["nobody:nogroup".to_owned()],
            shared_types: Vec::new(),
            sources: Vec::new(),
        })
        .unwrap()
    }

    #[test]
    fn comments_and_messages_count_and_code_and_tests_do_not() {
        let source = "// Nobody waits.\nfn nobody() { info!(\"it goes on\"); let x = \"nobody\"; }\n\
            #[cfg(test)]\nmod tests { const X: &str = \"it goes on\"; }\n";
        let texts = rust_texts("crates/x/src/a.rs", source);
        let hits: Vec<SignalWordHit> = texts.iter().flat_map(|text| words().hits("a.rs", text)).collect();
        let places: Vec<&str> = hits.iter().map(|hit| hit.place.as_str()).collect();
        assert_eq!(places, ["a.rs:1: Nobody", "a.rs:2: goes on"]);
        assert!(hits[0].audience == TextAudience::Developers && hits[1].audience == TextAudience::Users);
    }

    #[test]
    fn allowed_phrase_does_not_count() {
        let text =
            TextPiece { audience: TextAudience::Users, line: 7, text: "runs as nobody:nogroup\nfor nobody" };
        let places: Vec<String> = words().hits("d.md", &text).into_iter().map(|hit| hit.place).collect();
        assert_eq!(places, ["d.md:8: nobody"]);
    }

    #[test]
    fn figures_count_short_doc_comments_and_types() {
        let mut figures = ProseFigures::default();
        figures.add(
            "a.rs",
            "/// The end.\nstruct End;\n\n/// A comment that\n/// has more words.\nenum Long {}\n",
        );
        figures.add("b.rs", "// Because of this.\nstruct End;\nfn f(x: u8) {}\n");
        assert_eq!((figures.short_doc_comments, figures.plain_comment_lines), (1, 1));
        assert_eq!((figures.comment_lines, figures.code_lines), (4, 4));
        assert!(figures.types["End"].iter().eq(["a.rs", "b.rs"]));
    }
}
