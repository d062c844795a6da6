//! Text functions shared by the detectors.

/// Returns the first port number that follows one of `words`, a regular expression.
pub(super) fn port_after(text: &str, words: &str) -> Option<u16> {
    let pattern = regex::Regex::new(&format!(r"(?i)(?:{words})[\s=]*(\d{{2,5}})\b")).ok()?;
    pattern.captures_iter(text).find_map(|captures| captures[1].parse().ok().filter(|port| *port > 0))
}

/// Returns whether a name contains no shell metacharacters and cannot be read as an option.
pub(super) fn is_plain(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_allowed)
}
