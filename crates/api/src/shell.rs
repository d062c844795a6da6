//! Words of commands for POSIX shells, in scripts and in texts that a person pastes into a terminal.

/// Quotes one word, if necessary. A word with line breaks stays one word.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:,%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_need_it_are_quoted() {
        for plain in ["/srv/loop-gate", "/home/grün/src", "a@b:1,2%"] {
            assert_eq!(quoted(plain), plain);
        }
        for (word, expected) in
            [("", "''"), ("it's $HOME", r"'it'\''s $HOME'"), ("a\nb", "'a\nb'"), ("~/x", "'~/x'")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
