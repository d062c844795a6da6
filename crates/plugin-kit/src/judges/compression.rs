//! Shortens documents to a number of tokens. Parts are removed by their structure and never rewritten, so that quotations
//! of judges remain words of the document. Each removed part is replaced by a line that says how much is missing.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

/// Items of a long array that are kept at its start and at its end.
const ARRAY_ENDS: (usize, usize) = (5, 2);
/// Length up to which arrays are kept whole.
const MAX_ARRAY: usize = 10;
/// Characters of a JSON string that are kept.
const MAX_STRING: usize = 200;
/// Lines that are kept at the start and at the end of a log.
const LOG_ENDS: usize = 10;
/// Tokens for the line that names the missing tokens.
const MARKER_TOKENS: usize = 20;

/// Lines of code that name a definition or a dependency. The first column of a diff is removed before.
static SIGNATURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "pub|fn|async|def|class|function|interface|struct|enum|impl|trait|type|const|static|import|use|\
                 export|from|package|public|private|protected|func|module|namespace|abstract|override";
    Regex::new(&format!(r"^\s*(?:(?:{words})\b|@\w|#\[)")).ok()
});

/// Structure of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextStructure {
    Diff,
    Json,
    Log,
    Markdown,
}

/// A document within its number of tokens.
#[derive(Debug, PartialEq, Eq)]
pub struct CompressedText {
    pub text: String,
    /// The end of the document is missing.
    pub is_truncated: bool,
}

/// Estimates the number of tokens: one for four ASCII characters and for each other character, which is about
/// right for English text, for code, and for scripts without an alphabet.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + text.chars().filter(|letter| !letter.is_ascii()).count()
}

/// Shortens a document to at most `budget` tokens: unchanged, else by its structure, else also cut at a paragraph.
pub fn compress(kind: TextStructure, name: &str, text: &str, budget: usize) -> CompressedText {
    if tokens(text) <= budget {
        return CompressedText { text: text.to_owned(), is_truncated: false };
    }
    let text = match kind {
        TextStructure::Diff => diff(text),
        TextStructure::Json => json_document(text, budget),
        TextStructure::Log => log(text),
        TextStructure::Markdown => markdown(text),
    };
    if tokens(&text) <= budget {
        return CompressedText { text, is_truncated: false };
    }
    CompressedText { text: cut(&text, name, budget), is_truncated: true }
}

/// Keeps headers and signatures.
fn diff(text: &str) -> String {
    // A removed line can look like a header of a file, so hunks are followed by the counts of their lines.
    let (mut old, mut new) = (0usize, 0usize);
    keep_lines(text, |line| {
        if old == 0 && new == 0 {
            if let Some((old_lines, new_lines)) = hunk_lines(line) {
                (old, new) = (old_lines, new_lines);
            }
            return true;
        }
        match line.as_bytes().first() {
            Some(b'+') => new = new.saturating_sub(1),
            Some(b'-') => old = old.saturating_sub(1),
            Some(b'\\') => {}
            _ => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
        }
        let code = line.get(1..).unwrap_or_default();
        SIGNATURE.as_ref().is_some_and(|signature| signature.is_match(code))
    })
}

/// Returns the numbers of old and new lines in `@@ -1,2 +3,4 @@`.
fn hunk_lines(line: &str) -> Option<(usize, usize)> {
    let mut ranges = line.strip_prefix("@@ -")?.split(' ');
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(ranges.next()?)?, count(ranges.next()?.strip_prefix('+')?)?))
}

/// Removes the indentation, and then shortens arrays and strings.
fn json_document(text: &str, budget: usize) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    let compact = value.to_string();
    if tokens(&compact) <= budget {
        return compact;
    }
    shorten(&mut value);
    value.to_string()
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => {
            let missing = text.chars().count().saturating_sub(MAX_STRING);
            if let Some((at, _)) = text.char_indices().nth(MAX_STRING) {
                text.truncate(at);
                *text += &format!(" {}", omitted(missing, "character"));
            }
        }
        Value::Array(items) => {
            let (first, last) = ARRAY_ENDS;
            if items.len() > MAX_ARRAY {
                let missing = items.len() - first - last;
                let marker = json!(omitted(missing, "item"));
                items.splice(first..first + missing, [marker]);
            }
            items.iter_mut().for_each(shorten);
        }
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

/// Keeps errors and warnings, and the first and last lines.
fn log(text: &str) -> String {
    let count = text.lines().count();
    let mut number = 0;
    keep_lines(text, |line| {
        number += 1;
        let line = line.to_ascii_lowercase();
        let is_end = number <= LOG_ENDS || number + LOG_ENDS > count;
        is_end || ["error", "warn", "fail", "panic"].iter().any(|word| line.contains(word))
    })
}

/// Keeps headings, lists, tables and code.
fn markdown(text: &str) -> String {
    let mut in_code = false;
    keep_lines(text, |line| {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            return true;
        }
        let is_numbered =
            line.split_once(['.', ')']).is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        in_code || is_numbered || line.starts_with(['#', '|', '-', '*', '+'])
    })
}

/// Keeps lines, and replaces each run of others by a line with their number. Empty lines are kept only next to kept ones.
fn keep_lines(text: &str, mut is_kept: impl FnMut(&str) -> bool) -> String {
    let (mut kept, mut missing, mut empty) = (Vec::new(), 0usize, false);
    for line in text.lines() {
        if line.trim().is_empty() && !is_kept(line) {
            empty = true;
            continue;
        }
        if line.trim().is_empty() || is_kept(line) {
            if missing > 0 {
                kept.push(omitted(missing, "line"));
            }
            if empty {
                kept.push(String::new());
            }
            (missing, empty) = (0, false);
            kept.push(line.to_owned());
        } else {
            missing += 1;
        }
    }
    if missing > 0 {
        kept.push(omitted(missing, "line"));
    }
    kept.join("\n")
}

fn omitted(count: usize, unit: &str) -> String {
    format!("[{count} {unit}{} omitted]", if count == 1 { "" } else { "s" })
}

/// Cuts a text at the last paragraph, else line, that fits with the line that names the missing tokens.
fn cut(text: &str, name: &str, budget: usize) -> String {
    let end = fitting(text, budget.saturating_sub(MARKER_TOKENS + tokens(name)));
    let fits = &text[..end];
    // A document of one long paragraph must not lose most of its text.
    let paragraph = fits.rfind("\n\n").filter(|at| *at >= end / 2);
    let at = paragraph.or_else(|| fits.rfind('\n').filter(|at| *at >= end / 2)).unwrap_or(end);
    let marker = format!("[about {} tokens of {name} omitted]", tokens(&text[at..]));
    let cut = format!("{}\n\n{marker}", &text[..at]);
    if tokens(&cut) <= budget { cut } else { String::new() }
}

/// Returns the length in bytes of the longest start of a text with at most `budget` tokens.
fn fitting(text: &str, budget: usize) -> usize {
    let (mut ascii, mut others) = (0usize, 0usize);
    for (at, letter) in text.char_indices() {
        if letter.is_ascii() {
            ascii += 1;
        } else {
            others += 1;
        }
        if ascii.div_ceil(4) + others > budget {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn document_within_its_budget_is_unchanged() {
        let compressed = compress(TextStructure::Markdown, "a.md", "Text\n\nof prose", 4);
        assert_eq!(compressed, CompressedText { text: "Text\n\nof prose".into(), is_truncated: false });
        assert_eq!((tokens(""), tokens("abcde"), tokens("äb")), (0, 2, 2));
    }

    #[test]
    fn signatures_of_a_diff_are_kept() {
        let text = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,4 @@ mod a\n pub fn old() {\n\
                    +    let x = 1;\n--- a removed comment\n+    pub fn new(&self) {\n }\n\
                    diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y";
        assert_eq!(
            diff(text),
            "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,4 @@ mod a\n pub fn old() {\n\
             [2 lines omitted]\n+    pub fn new(&self) {\n[1 line omitted]\n\
             diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n[2 lines omitted]"
        );
    }

    #[test]
    fn long_arrays_and_strings_of_json_are_shortened() {
        let items: Vec<usize> = (0..12).collect();
        let document = json!({"items": items, "few": [1, 2], "text": "ä".repeat(203)});
        let pretty = format!("{document:#}");
        assert_eq!(json_document(&pretty, tokens(&document.to_string())), document.to_string());
        let short: Value = serde_json::from_str(&json_document(&pretty, 0)).unwrap();
        assert_eq!(short["items"], json!([0, 1, 2, 3, 4, "[5 items omitted]", 10, 11]));
        assert_eq!(short["few"], json!([1, 2]));
        assert_eq!(short["text"], format!("{} [3 characters omitted]", "ä".repeat(200)));
        assert_eq!(json_document("{", 0), "{");
    }

    #[test]
    fn ends_and_errors_of_a_log_are_kept() {
        let lines: Vec<String> =
            (1..=40).map(|at| if at == 20 { "WARNING: slow".into() } else { format!("line {at}") }).collect();
        let short = log(&lines.join("\n"));
        assert!(short.starts_with("line 1\n") && short.ends_with("\nline 40"), "{short}");
        assert!(short.contains("line 10\n[9 lines omitted]\nWARNING: slow\n[10 lines omitted]\nline 31"));
    }

    #[test]
    fn structure_of_markdown_is_kept() {
        let text =
            "# A\n\nProse of\ntwo lines.\n\n- item\n\n| a | b |\n```\ncode\n\nmore\n```\n1. first\nEnd.";
        assert_eq!(
            markdown(text),
            "# A\n[2 lines omitted]\n\n- item\n\n| a | b |\n```\ncode\n\nmore\n```\n1. first\n[1 line omitted]"
        );
    }

    #[test]
    fn text_is_cut_at_a_paragraph_and_says_what_is_missing() {
        let text = format!("{}\n\n{}\n\n{}", "- a ".repeat(50), "- b ".repeat(50), "- c ".repeat(50));
        let compressed = compress(TextStructure::Markdown, "plan.md", &text, 140);
        assert!(compressed.is_truncated && compressed.text.contains("- b"), "{compressed:?}");
        assert!(!compressed.text.contains("- c"), "{compressed:?}");
        assert!(compressed.text.ends_with("\n\n[about 51 tokens of plan.md omitted]"), "{compressed:?}");
        assert_eq!(compress(TextStructure::Markdown, "plan.md", &text, 3).text, "");
    }

    proptest! {
        #[test]
        fn compressed_document_never_exceeds_its_budget(
            lines in proptest::collection::vec("([-+ @#|]|```)?[ a-zä{}\\[\\]\",:0-9]{0,80}", 0..60),
            budget in 0..400usize,
        ) {
            let text = lines.join("\n");
            for kind in [TextStructure::Diff, TextStructure::Json, TextStructure::Log, TextStructure::Markdown] {
                let compressed = compress(kind, "name", &text, budget);
                prop_assert!(tokens(&compressed.text) <= budget);
            }
        }
    }
}
