//! Reading the files that detection looks at.

use std::path::Path;

use loopgate_home::{Directory, EntryKind};
use serde_json::Value;

/// Bytes of a file; larger ones are not read.
const MAX_SIZE: u64 = 1024 * 1024;

/// The top of a working tree.
pub(super) struct Files<'a>(&'a Directory);

impl<'a> Files<'a> {
    pub(super) const fn new(tree: &'a Directory) -> Self {
        Self(tree)
    }

    /// Whether there is a regular file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.kind(Path::new(name)) == Some(EntryKind::File)
    }

    /// The first of these names that a regular file has.
    pub(super) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        String::from_utf8(self.0.read(Path::new(name), MAX_SIZE).ok()?).ok()
    }

    pub(super) fn json(&self, name: &str) -> Option<Value> {
        serde_json::from_str(&self.text(name)?).ok()
    }
}

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
