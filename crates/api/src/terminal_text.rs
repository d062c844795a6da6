//! Escaping of untrusted text for terminals.

/// Escapes control characters and bidirectional formatting characters of untrusted text.
///
/// These characters could move the cursor, change colors or reorder the displayed text.
#[must_use]
pub fn escape_control(text: &str) -> String {
    let is_bidi = |c: char| matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_bidi(c) {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_control("/src/grüße \u{1b}[2J\n"), r"/src/grüße \u{1b}[2J\u{a}");
        assert_eq!(escape_control("/a\u{202e}b\u{9b}c"), r"/a\u{202e}b\u{9b}c");
    }
}
