//! Double quotes of POSIX shells, and splitting of a text into words that may be quoted.
//!
//! The same escapes are used for the slash command's arguments, the commands in prompts and `config.env`. A
//! value with quotes, dollar signs or backticks therefore remains data in all of them, even in a shell that
//! evaluates it.

/// Wraps a value in double quotes and escapes the characters that are special inside them.
pub fn quote(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for c in value.chars() {
        if matches!(c, '\\' | '"' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

/// Reverses [`quote`]: removes surrounding double quotes and escapes. A value without quotes is returned
/// unchanged.
pub fn unquote(text: &str) -> String {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && matches!(next, '\\' | '"' | '$' | '`') => {
                value.push(next);
                chars.next();
            }
            _ => value.push(c),
        }
    }
    value
}

/// A word of a text, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Offset in bytes of the word, or of its quote.
    pub start: usize,
    /// The word.
    pub value: String,
}

/// Splits a text at whitespace. A word that starts with a quote extends to the next quote of the same kind
/// that ends a word; inside double quotes the escapes of [`quote`] are removed. All other characters are
/// literal: apostrophes, semicolons, dollar signs, and an unclosed quote.
pub fn positions(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let length = quoted_length(rest).or_else(|| rest.find(char::is_whitespace)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let value = match word.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\'')) {
            Some(inner) => inner.to_owned(),
            None => unquote(word),
        };
        words.push(Word { start: text.len() - rest.len(), value });
        rest = after.trim_start();
    }
    words
}

/// Returns the length in bytes of the quoted word at the start of a text, with its quotes. `None` if it is
/// not quoted.
fn quoted_length(text: &str) -> Option<usize> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' && mark == '"' {
            escaped = true;
        } else if c == mark {
            let after = &text[at + 1..];
            // A quote in the middle of a word, as in `it's`, does not end a quotation.
            if after.is_empty() || after.starts_with(char::is_whitespace) {
                return Some(at + 1);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        positions(text).into_iter().map(|word| word.value).collect()
    }

    #[test]
    fn shell_special_characters_are_escaped() {
        assert_eq!(quote(r#"/a/My $HOME "x" `id` \"#), r#""/a/My \$HOME \"x\" \`id\` \\""#);
        assert_eq!(unquote("plain"), "plain");
        assert_eq!(unquote(r#""C:\new""#), r"C:\new");
    }

    #[test]
    fn words_are_quoted_or_literal() {
        assert_eq!(
            words("work; touch /tmp/x it's  'my dir' \"a \\\"b\\\"\" \"open end"),
            ["work;", "touch", "/tmp/x", "it's", "my dir", "a \"b\"", "\"open", "end"]
        );
        assert_eq!(words(" \n"), Vec::<String>::new());
        assert_eq!(words(r#""" x"#), ["", "x"]);
    }

    proptest! {
        #[test]
        fn quoted_words_round_trip(list in proptest::collection::vec("[^\n\r]{0,20}", 0..6)) {
            let line = list.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(words(&line), list);
        }

        #[test]
        fn arbitrary_text_is_split_without_panic(text in ".{0,60}") {
            words(&text);
        }

        #[test]
        fn unquote_reverses_quote(value in "[^\n\r]{0,60}") {
            prop_assert_eq!(unquote(&quote(&value)), value);
        }
    }
}
