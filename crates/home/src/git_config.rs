//! Parser for git configuration files.
//!
//! Includes are not followed and values are not interpreted: the entries of one file are listed in order. The
//! grammar is in git-config(1), "Syntax". Git compares bytes, so keys and values are never converted lossily: what was
//! checked would differ from what git uses.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use thiserror::Error;

/// Sections whose values name repositories. Names that differ from those that git uses would be displayed and checked.
const NAMING_SECTIONS: [&str; 3] = ["branch", "remote", "url"];

/// Why a configuration is not used. Displayed after its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GitConfigError {
    /// Git would reject it.
    #[error("is malformed")]
    Malformed,
    /// Not every key, and every value that names a remote, is UTF-8.
    #[error("has a key or a remote that is not UTF-8")]
    NotUtf8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEntry {
    /// Name of the section, in lower case.
    pub section: String,
    /// Quoted part after the section name, unescaped; case-sensitive.
    pub subsection: Option<String>,
    /// Name of the variable, in lower case.
    pub name: String,
    /// Value of the variable; `None` for a name without `=`, which means true.
    pub value: Option<OsString>,
}

impl fmt::Display for ConfigEntry {
    /// Formats the full key, as `git config --list` prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subsection {
            Some(subsection) => write!(f, "{}.{subsection}.{}", self.section, self.name),
            None => write!(f, "{}.{}", self.section, self.name),
        }
    }
}

impl ConfigEntry {
    /// Splits a key as git prints it. The subsection, which may contain dots, is between the first and the last dot.
    ///
    /// # Errors
    /// Fails when the key is not UTF-8, the value names a remote and is not, or there is no dot in the key.
    pub fn of_key(key: &[u8], value: Option<&[u8]>) -> Result<Self, GitConfigError> {
        let key = str::from_utf8(key).map_err(|_| GitConfigError::NotUtf8)?;
        let (section, rest) = key.split_once('.').ok_or(GitConfigError::Malformed)?;
        let (subsection, name) = rest.rsplit_once('.').map_or((None, rest), |(sub, name)| (Some(sub), name));
        let value = value.map(|value| OsStr::from_bytes(value).to_owned());
        if NAMING_SECTIONS.contains(&section) && value.as_ref().is_some_and(|value| value.to_str().is_none())
        {
            return Err(GitConfigError::NotUtf8);
        }
        Ok(Self {
            section: section.to_owned(),
            subsection: subsection.map(str::to_owned),
            name: name.to_owned(),
            value,
        })
    }

    /// Returns whether the entry has this section and name, and no subsection.
    #[must_use]
    pub fn is(&self, section: &str, name: &str) -> bool {
        self.section == section && self.subsection.is_none() && self.name == name
    }

    /// Returns the value if it is UTF-8, as every value is that names a remote.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.value.as_deref()?.to_str()
    }
}

/// Parses a configuration file.
///
/// # Errors
/// Fails when git would reject it, or [`ConfigEntry::of_key`] does.
pub fn parse_git_config(bytes: &[u8]) -> Result<Vec<ConfigEntry>, GitConfigError> {
    // Git skips a byte order mark and accepts CRLF line endings.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_line_end = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    let text: Vec<u8> = (0..bytes.len()).filter(|at| !is_line_end(*at)).map(|at| bytes[at]).collect();
    // Git would end a string there.
    if text.contains(&0) {
        return Err(GitConfigError::Malformed);
    }
    let mut reader = ConfigReader { rest: &text };
    let mut entries = Vec::new();
    let mut section: Option<Vec<u8>> = None;
    loop {
        reader.skip(is_space);
        match reader.next() {
            None => return Ok(entries),
            Some(b'#' | b';') => reader.skip(|byte| byte != b'\n'),
            Some(b'[') => section = Some(reader.section().ok_or(GitConfigError::Malformed)?),
            Some(first) if first.is_ascii_alphabetic() => {
                let mut key = section.clone().ok_or(GitConfigError::Malformed)?;
                key.extend([b'.', first.to_ascii_lowercase()]);
                key.extend(reader.take(is_name).to_ascii_lowercase());
                let value = reader.value().ok_or(GitConfigError::Malformed)?;
                entries.push(ConfigEntry::of_key(&key, value.as_deref().map(OsStr::as_bytes))?);
            }
            Some(_) => return Err(GitConfigError::Malformed),
        }
    }
}

/// Parses the output of `git config --null --list`, or of `--get-regexp`.
///
/// # Errors
/// Fails as [`ConfigEntry::of_key`] does.
pub fn parse_config_list(printed: &[u8]) -> Result<Vec<ConfigEntry>, GitConfigError> {
    let lines = printed.split(|byte| *byte == 0).filter(|line| !line.trim_ascii().is_empty());
    lines.map(parse_config_line).collect()
}

/// Parses a variable as `git config --null` prints it: key, newline, value.
///
/// # Errors
/// Fails as [`ConfigEntry::of_key`] does.
pub fn parse_config_line(line: &[u8]) -> Result<ConfigEntry, GitConfigError> {
    let mut parts = line.splitn(2, |byte| *byte == b'\n');
    ConfigEntry::of_key(parts.next().unwrap_or_default(), parts.next())
}

/// The white space of git, which is less than that of Unicode.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

struct ConfigReader<'a> {
    rest: &'a [u8],
}

impl<'a> ConfigReader<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (next, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*next)
    }

    fn take(&mut self, predicate: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !predicate(*byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, predicate: impl Fn(u8) -> bool) {
        let _ = self.take(predicate);
    }

    /// Parses a section header after its opening bracket. Returns the start of its keys: section, or section, dot and
    /// subsection.
    fn section(&mut self) -> Option<Vec<u8>> {
        let mut section = self.take(|byte| is_name(byte) || byte == b'.').to_ascii_lowercase();
        let blanks = self.take(|byte| is_space(byte) && byte != b'\n');
        if self.peek() != Some(b'"') {
            // The deprecated form `[section.subsection]`.
            return (blanks.is_empty() && self.next() == Some(b']')).then_some(section);
        }
        self.next();
        section.push(b'.');
        loop {
            match self.next()? {
                b'"' => break,
                b'\n' => return None,
                b'\\' => section.push(self.next().filter(|byte| *byte != b'\n')?),
                other => section.push(other),
            }
        }
        (self.next() == Some(b']')).then_some(section)
    }

    /// Parses the part after a name: nothing, or `=` and a value. Returns `None` when it is malformed.
    #[expect(clippy::option_option, reason = "distinguishes a malformed value from a missing one")]
    fn value(&mut self) -> Option<Option<OsString>> {
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
        match self.next() {
            None | Some(b'\n') => return Some(None),
            Some(b'#' | b';') => {
                self.skip(|byte| byte != b'\n');
                return Some(None);
            }
            Some(b'=') => {}
            Some(_) => return None,
        }
        self.skip(|byte| is_space(byte) && byte != b'\n');
        let (mut value, mut quoted, mut length) = (Vec::new(), false, 0);
        loop {
            match self.next() {
                None | Some(b'\n') if quoted => return None,
                None | Some(b'\n') => break,
                Some(b'#' | b';') if !quoted => {
                    self.skip(|byte| byte != b'\n');
                    continue;
                }
                Some(b'"') => quoted = !quoted,
                Some(b'\\') => match self.next() {
                    None => break,
                    Some(b'\n') => continue,
                    Some(b'n') => value.push(b'\n'),
                    Some(b't') => value.push(b'\t'),
                    Some(b'b') => value.push(8),
                    Some(same @ (b'"' | b'\\')) => value.push(same),
                    Some(_) => return None,
                },
                Some(blank) if is_space(blank) && !quoted => {
                    value.push(blank);
                    // Trailing whitespace is not part of the value, so the length is not updated.
                    continue;
                }
                Some(other) => value.push(other),
            }
            length = value.len();
        }
        value.truncate(length);
        Some(Some(OsString::from_vec(value)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Option<Vec<(String, Option<String>)>> {
        let entries = parse_git_config(text.as_bytes()).ok()?;
        let texts = entries.iter().map(|entry| (entry.to_string(), entry.text().map(str::to_owned)));
        Some(texts.collect())
    }

    fn entry(key: &str, value: &str) -> (String, Option<String>) {
        (key.to_owned(), Some(value.to_owned()))
    }

    #[test]
    fn sections_names_and_values_are_parsed() {
        let text = "; a comment\n[core]\n\tBare = false # no\n[Remote \"Ori\\\"gin\"] url = \"a b ; c\" \n\
            [branch.old] merge=x\\\n y\n[x]\n  alone\n\tlast = a\\tb\\\\  ";
        let expected = vec![
            entry("core.bare", "false"),
            entry("remote.Ori\"gin.url", "a b ; c"),
            entry("branch.old.merge", "x y"),
            ("x.alone".to_owned(), None),
            entry("x.last", "a\tb\\"),
        ];
        assert_eq!(parsed(text), Some(expected));
    }

    #[test]
    fn malformed_file_is_rejected() {
        for text in
            ["x = 1", "[a\nb = 1", "[a \"b]\n", "[a]\n1 = 2", "[a]\nb = \"c\n", "[a]\nb = \\x", "[a] b c"]
        {
            assert_eq!(parsed(text), None, "{text:?}");
        }
    }

    #[test]
    fn keys_and_names_of_remotes_are_utf8_and_other_values_any_bytes() {
        let refused = Err(GitConfigError::NotUtf8);
        for text in [
            b"[filter \"\xff\"]\nclean = x".as_slice(),
            b"[remote \"origin\"]\nurl = https://example.org/\xff",
            b"[branch \"main\"]\nremote = \xff",
            b"[url \"https://example.org/\"]\ninsteadOf = \xff",
        ] {
            assert_eq!(parse_git_config(text), refused);
        }
        let entries = parse_git_config(b"[user]\nname = J\xf6rg").unwrap();
        assert_eq!(entries[0].value.as_deref().unwrap().as_bytes(), b"J\xf6rg");
        assert_eq!(parse_config_list(b"filter.\xff.clean\nx\0"), refused);
        // White space of Unicode is none of git, which would end a string at NUL.
        for text in ["\u{a0}[core]\nbare = true", "[core]\nbare = \0"] {
            assert_eq!(parse_git_config(text.as_bytes()), Err(GitConfigError::Malformed));
        }
    }

    #[test]
    fn dots_before_a_quoted_subsection_belong_to_the_subsection() {
        let entries = parse_git_config(b"[filter.a \"b\"]\nclean = x").unwrap();
        let entry = &entries[0];
        assert_eq!((entry.section.as_str(), entry.subsection.as_deref()), ("filter", Some("a.b")));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let lines = bytes.len();
            prop_assert!(parse_git_config(&bytes).map_or(true, |entries| entries.len() <= lines));
        }

        #[test]
        fn quoted_values_round_trip(
            entries in proptest::collection::vec(
                ("[a-z]{1,8}", proptest::option::of("[^\n\r\0]{0,8}"), "[a-z][a-z0-9-]{0,8}", "[^\r\0\u{8}]{0,12}"),
                0..6,
            )
        ) {
            let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let mut text = String::new();
            let mut expected = Vec::new();
            for (section, subsection, name, value) in entries {
                match &subsection {
                    Some(subsection) => text += &format!("[{section} \"{}\"]\n", escaped(subsection)),
                    None => text += &format!("[{section}]\n"),
                }
                text += &format!("{name} = \"{}\"\n", escaped(&value));
                expected.push(ConfigEntry { section, subsection, name, value: Some(value.into()) });
            }
            prop_assert_eq!(parse_git_config(text.as_bytes()), Ok(expected));
        }
    }
}
