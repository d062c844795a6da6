//! `<workdir>/.loopgate/config.env`: settings that set-up and driver store for the hooks.
//!
//! The file contains one `KEY="value"` per line, escaped so that a shell that sources it executes nothing.
//! Set-up rewrites the file; the driver owns two keys, which set-up preserves.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

use crate::quoting;
use crate::variables::{SELF_LEARNING, START_SHA};

/// Keys that the driver writes and set-up preserves. Their values need no quotes.
const DRIVER_KEYS: [&str; 2] = [START_SHA, SELF_LEARNING];

/// Settings of one work directory, in file order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigEnv {
    entries: Vec<(String, String)>,
}

/// Returns the path of the file in a work directory.
#[must_use]
pub fn path(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join("config.env")
}

impl ConfigEnv {
    /// Reads the file of a work directory. A missing file yields no settings.
    ///
    /// # Errors
    /// Fails on any error except a missing file.
    pub fn load(workdir: &Path) -> io::Result<Self> {
        match untrusted::read_text(&path(workdir)) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Parses lines; those without `KEY=value` are skipped.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let entries = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.trim().to_owned(), quoting::unquote(value)))
            .filter(|(key, _)| !key.is_empty() && !key.starts_with('#'))
            .collect();
        Self { entries }
    }

    /// Returns the value of a key. An empty value counts as missing.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        let (_, value) = self.entries.iter().rev().find(|(name, _)| name == key)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// Sets a key, moving it to the end of the file. Line breaks would end the value and are replaced by
    /// spaces.
    pub fn set(&mut self, key: &str, value: &str) {
        self.entries.retain(|(name, _)| name != key);
        self.entries.push((key.to_owned(), value.replace(['\n', '\r'], " ")));
    }

    /// Copies the keys that the driver owns from the previous settings.
    pub fn keep_driver_keys(&mut self, previous: &Self) {
        for key in DRIVER_KEYS {
            if let Some(value) = previous.get(key) {
                self.set(key, value);
            }
        }
    }

    /// Formats the content of the file.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.entries {
            text.push_str(key);
            text.push('=');
            if DRIVER_KEYS.contains(&key.as_str()) {
                text.push_str(value);
            } else {
                text.push_str(&quoting::quote(value));
            }
            text.push('\n');
        }
        text
    }

    /// Replaces the file atomically.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn save(&self, workdir: &Path) -> io::Result<()> {
        untrusted::write(&path(workdir), self.render().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip() {
        let mut config = ConfigEnv::default();
        config.set("LOOPGATE_WORKDIR", "/a/$(touch /tmp/x) \"q\"");
        config.set(START_SHA, "abc");
        let text = config.render();
        assert!(text.contains("LOOPGATE_WORKDIR=\"/a/\\$(touch /tmp/x) \\\"q\\\"\"\n"));
        assert!(text.ends_with("LOOPGATE_START_SHA=abc\n"));
        assert_eq!(ConfigEnv::parse(&text), config);
    }

    #[test]
    fn rewrite_preserves_the_keys_of_the_driver() {
        let previous = ConfigEnv::parse("LOOPGATE_START_SHA=abc\nOTHER=\"x\"\nLOOPGATE_SELF_LEARNING=true\n");
        let mut next = ConfigEnv::default();
        next.keep_driver_keys(&previous);
        assert_eq!(next.render(), "LOOPGATE_START_SHA=abc\nLOOPGATE_SELF_LEARNING=true\n");
    }
}
