//! Quoting of file names in git's patches.

/// Returns a name after a prefix as git prints both in the header of a patch. A name with a quotation mark, a backslash or
/// a control character is in quotation marks, with escapes. `quotes_non_ascii`: whether bytes above 0x7f are escaped, as
/// git does with its setting `core.quotePath`, which is on by default.
#[must_use]
pub fn quoted_name(prefix: &str, name: &[u8], quotes_non_ascii: bool) -> Vec<u8> {
    let mut text = prefix.as_bytes().to_vec();
    for byte in name {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            0x07 => text.extend(b"\\a"),
            0x08 => text.extend(b"\\b"),
            b'\t' => text.extend(b"\\t"),
            b'\n' => text.extend(b"\\n"),
            0x0b => text.extend(b"\\v"),
            0x0c => text.extend(b"\\f"),
            b'\r' => text.extend(b"\\r"),
            0x20..=0x7e => text.push(*byte),
            0x80.. if !quotes_non_ascii => text.push(*byte),
            _ => text.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    if text.len() == prefix.len() + name.len() { text } else { [b"\"", text.as_slice(), b"\""].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_git_quotes_them() {
        assert_eq!(quoted_name("a/", b"plain name", true), b"a/plain name");
        assert_eq!(
            quoted_name("b/", b"new\nfile \"q\"\\\xff\x01", true),
            br#""b/new\nfile \"q\"\\\377\001""#
        );
        assert_eq!(quoted_name("b/", "größe".as_bytes(), true), br#""b/gr\303\266\303\237e""#);
        assert_eq!(quoted_name("b/", "größe".as_bytes(), false), "b/größe".as_bytes());
        assert_eq!(quoted_name("b/", "ö\u{7f}".as_bytes(), false), b"\"b/\xc3\xb6\\177\"");
    }
}
