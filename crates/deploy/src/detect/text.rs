//! Reading the texts of the files that detection looks at.

/// The first port number in a text that follows one of these words, a regular expression.
pub(super) fn port_after(text: &str, words: &str) -> Option<u16> {
    let pattern = regex::Regex::new(&format!(r"(?i)(?:{words})[\s=]*(\d{{2,5}})\b")).ok()?;
    pattern.captures_iter(text).find_map(|found| found[1].parse().ok().filter(|port| *port > 0))
}

/// Whether a name has no character that is special to a shell.
pub(super) fn is_plain(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(known)
}
