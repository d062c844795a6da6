//! Untrusted text in Markdown that a code host displays.
//!
//! The text cannot change how anything outside of it is displayed, notify an account, refer to an issue, embed an image,
//! or contain HTML.

/// Follows characters that would otherwise begin a mention, a reference or a link. Invisible.
const SEPARATOR: char = '\u{200b}';
/// Characters with a meaning at any position of a line.
const SPECIAL: &str = "\\`*_[]<>&$~|@#";
/// Largest length of the name of a language.
const MAX_LANGUAGE: usize = 16;

/// Returns a text whose characters are displayed as they are. Parts of a line in single backticks remain code.
#[must_use]
pub fn plain_text(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + text.len() / 8);
    let mut is_blank = true;
    for line in text.lines().map(|line| visible(line).collect::<String>()) {
        // White space at the start of a line would begin a block of code.
        let line = line.trim();
        if line.is_empty() {
            if !is_blank {
                result.push('\n');
            }
            is_blank = true;
            continue;
        }
        if !result.is_empty() {
            result.push('\n');
        }
        push_line(&mut result, line);
        is_blank = false;
    }
    result.truncate(result.trim_end().len());
    result
}

/// Returns a text on one line as code. Line breaks become spaces.
#[must_use]
pub fn code_span(text: &str) -> String {
    let text: String =
        text.lines().map(|line| visible(line).collect::<String>()).collect::<Vec<_>>().join(" ");
    let delimiter = "`".repeat(longest_run(&text) + 1);
    // A space at both ends separates backticks from the delimiter. Without any text, two delimiters would be text.
    let is_padded = text.trim().is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let padding = if is_padded { " " } else { "" };
    format!("{delimiter}{padding}{text}{padding}{delimiter}")
}

/// Returns a text as a block of code, without a line feed at the end. Characters of `language` other than letters, digits,
/// `+`, `#` and `-` are left out.
#[must_use]
pub fn code_block(text: &str, language: &str) -> String {
    const MIN_FENCE: usize = 3;
    let text = text.lines().map(|line| visible(line).collect::<String>()).collect::<Vec<_>>().join("\n");
    let fence = "`".repeat((longest_run(&text) + 1).max(MIN_FENCE));
    let is_name = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '+' | '#' | '-');
    let language: String = language.chars().filter(is_name).take(MAX_LANGUAGE).collect();
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Returns the characters of a line without those that are not displayed, or that change the order of others.
fn visible(line: &str) -> impl Iterator<Item = char> {
    let is_hidden = |char: &char| {
        (char.is_control() && *char != '\t')
            || matches!(*char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    line.chars().filter(move |char| !is_hidden(char))
}

fn push_line(result: &mut String, line: &str) {
    let mut rest = line;
    // A list, a heading or a line below a heading begins at the start of a line.
    let digits = line.len() - line.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    let marker = if digits > 0 { ".)" } else { "+-=:" };
    if line[digits..].starts_with(|char| marker.contains(char)) {
        result.push_str(&line[..digits]);
        result.push('\\');
        result.push_str(&line[digits..=digits]);
        rest = &line[digits + 1..];
    }
    while let Some(char) = rest.chars().next() {
        if let Some((code, after)) = code_at_start(rest) {
            result.push_str(&code_span(code));
            rest = after;
            continue;
        }
        if SPECIAL.contains(char) {
            result.push('\\');
        }
        result.push(char);
        // `@name`, `#1`, `https://…` and `www.…`, which code hosts recognize in the displayed text.
        let is_link = rest.starts_with("://") || ends_with_www(result);
        if matches!(char, '@' | '#') || is_link {
            result.push(SEPARATOR);
        }
        rest = &rest[char.len_utf8()..];
    }
}

fn ends_with_www(text: &str) -> bool {
    text.len() >= 3 && text.as_bytes()[text.len() - 3..].eq_ignore_ascii_case(b"www")
}

/// Returns the code in single backticks with which a text begins, and the rest.
fn code_at_start(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('`')?;
    let (code, after) = inside.split_once('`')?;
    let is_code = !code.trim().is_empty() && !after.starts_with('`');
    is_code.then_some((code, after))
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_displayed_as_it_is() {
        for (text, expected) in [
            ("plain words, also (these).", "plain words, also (these)."),
            ("call `f(x)` first", "call `f(x)` first"),
            ("a <b>c</b> & d", "a \\<b\\>c\\</b\\> \\& d"),
            ("<!-- x -->", "\\<!-- x --\\>"),
            ("ask @ann or @org/team", "ask \\@\u{200b}ann or \\@\u{200b}org/team"),
            ("as in #12", "as in \\#\u{200b}12"),
            ("![x](https://example.com/a)", "!\\[x\\](https:\u{200b}//example.com/a)"),
            ("www.example.com", "www\u{200b}.example.com"),
            ("```\ncode\n```", "\\`\\`\\`\ncode\n\\`\\`\\`"),
            ("~~~", "\\~\\~\\~"),
            (
                "# a\n- b\n1. c\n2) d\n+ e\n===\n---",
                "\\#\u{200b} a\n\\- b\n1\\. c\n2\\) d\n\\+ e\n\\===\n\\---",
            ),
            ("    indented\n\n\n\tafter", "indented\n\nafter"),
            ("a`b", "a\\`b"),
            ("``x``", "\\`\\`x\\`\\`"),
            ("a\u{202e}b\u{7}", "ab"),
            ("", ""),
        ] {
            assert_eq!(plain_text(text), expected, "{text:?}");
        }
    }

    #[test]
    fn code_is_longer_than_its_backticks() {
        assert_eq!(code_span("a.rs"), "`a.rs`");
        assert_eq!(code_span("a`b\n`"), "`` a`b ` ``");
        assert_eq!(code_span(""), "`  `");
        assert_eq!(code_block("let a = 1;", "rs"), "```rs\nlet a = 1;\n```");
        assert_eq!(code_block("````\n@ann", "r s`\n"), "`````rs\n````\n@ann\n`````");
        // Characters that are left out join runs of backticks.
        assert_eq!(code_block("``\r`", ""), "````\n```\n````");
    }

    proptest! {
        #[test]
        fn code_cannot_end_early(text in "(?s)[`a\n\r@ ]{0,20}") {
            let span = code_span(&text);
            let delimiter = &span[..span.len() - span.trim_start_matches('`').len()];
            let inside = &span[delimiter.len()..span.len() - delimiter.len()];
            prop_assert!(span.ends_with(delimiter) && !inside.contains(delimiter) && !inside.contains('\n'));
            let block = code_block(&text, "");
            let (fence, rest) = block.split_once('\n').unwrap();
            let inside = rest.strip_suffix(fence).unwrap();
            prop_assert!(inside.lines().all(|line| !line.contains(fence)));
        }

        #[test]
        fn text_has_no_unescaped_markup(text in "(?s)[-a`<>@#\\[\\]!:/w.&*\n ]{0,40}") {
            let escaped = plain_text(&text);
            // Without escaped characters and code, nothing with a meaning remains.
            let mut outside = String::new();
            let mut rest = escaped.as_str();
            while let Some(char) = rest.chars().next() {
                if let Some(after) = rest.strip_prefix('\\') {
                    outside.push('x');
                    rest = &after[1..];
                } else if char == '`' {
                    let run = rest.len() - rest.trim_start_matches('`').len();
                    let end = rest[run..].find(&rest[..run]);
                    prop_assert!(end.is_some(), "{escaped:?}");
                    rest = &rest[run + end.unwrap() + run..];
                } else {
                    outside.push(char);
                    rest = &rest[char.len_utf8()..];
                }
            }
            prop_assert!(!outside.contains(['<', '>', '@', '#', '[', ']', '&', '*']), "{escaped:?}");
            prop_assert!(!outside.contains("://"), "{escaped:?}");
            prop_assert!(escaped.lines().all(|line| !line.starts_with(['-', ' '])), "{escaped:?}");
        }
    }
}
