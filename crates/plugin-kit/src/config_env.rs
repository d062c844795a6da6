//! `<workdir>/.loopgate/config.env`: settings that set-up and driver leave for the hooks.
//!
//! The file is data: `KEY="value"` a line, escaped so that even a shell that reads it runs nothing.
//! Set-up rewrites it; the driver owns two keys that survive each rewrite.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

use crate::quoting;
use crate::variables::{SELF_LEARNING, START_SHA};

/// Keys that the driver writes and set-up keeps; their values are never quoted.
const DRIVER_KEYS: [&str; 2] = [START_SHA, SELF_LEARNING];

/// The settings of one work directory, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigEnv {
    entries: Vec<(String, String)>,
}

/// Path of the file of a work directory.
#[must_use]
pub fn path(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join("config.env")
}

impl ConfigEnv {
    /// Reads the file of a work directory; absent is empty.
    ///
    /// # Errors
    /// Any failure to read other than absence.
    pub fn load(workdir: &Path) -> io::Result<Self> {
        match untrusted::read_text(&path(workdir)) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Reads lines; what is no `KEY=value` is skipped.
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

    /// Value of a key; empty counts as absent.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        let (_, value) = self.entries.iter().rev().find(|(name, _)| name == key)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// Sets a key at the end of the file; line breaks would end the value and become blanks.
    pub fn set(&mut self, key: &str, value: &str) {
        self.entries.retain(|(name, _)| name != key);
        self.entries.push((key.to_owned(), value.replace(['\n', '\r'], " ")));
    }

    /// Takes over the keys that belong to the driver.
    pub fn keep_driver_keys(&mut self, previous: &Self) {
        for key in DRIVER_KEYS {
            if let Some(value) = previous.get(key) {
                self.set(key, value);
            }
        }
    }

    /// The file's content.
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

    /// Replaces the file in one step.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn save(&self, workdir: &Path) -> io::Result<()> {
        untrusted::write(&path(workdir), self.render().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_went_in() {
        let mut config = ConfigEnv::default();
        config.set("LOOPGATE_WORKDIR", "/a/$(touch /tmp/x) \"q\"");
        config.set(START_SHA, "abc");
        let text = config.render();
        assert!(text.contains("LOOPGATE_WORKDIR=\"/a/\\$(touch /tmp/x) \\\"q\\\"\"\n"));
        assert!(text.ends_with("LOOPGATE_START_SHA=abc\n"));
        assert_eq!(ConfigEnv::parse(&text), config);
    }

    #[test]
    fn rewrite_keeps_the_drivers_keys_once() {
        let previous = ConfigEnv::parse("LOOPGATE_START_SHA=abc\nOTHER=\"x\"\nLOOPGATE_SELF_LEARNING=true\n");
        let mut next = ConfigEnv::default();
        next.keep_driver_keys(&previous);
        assert_eq!(next.render(), "LOOPGATE_START_SHA=abc\nLOOPGATE_SELF_LEARNING=true\n");
    }
}
