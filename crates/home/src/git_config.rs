//! Parser for git configuration files.
//!
//! Includes are not followed and values are not interpreted: the entries of one file are listed in order. The
//! grammar is in git-config(1), "Syntax".

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEntry {
    /// Name of the section, in lower case.
    pub section: String,
    /// Quoted part after the section name, unescaped; case-sensitive.
    pub subsection: Option<String>,
    /// Name of the variable, in lower case.
    pub name: String,
    /// Value of the variable; `None` for a name without `=`, which means true.
    pub value: Option<String>,
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
    #[must_use]
    pub fn of_key(key: &str, value: Option<&str>) -> Option<Self> {
        let (section, rest) = key.split_once('.')?;
        let (subsection, name) = rest.rsplit_once('.').map_or((None, rest), |(sub, name)| (Some(sub), name));
        Some(Self {
            section: section.to_owned(),
            subsection: subsection.map(str::to_owned),
            name: name.to_owned(),
            value: value.map(str::to_owned),
        })
    }

    /// Returns whether the entry has this section and name, and no subsection.
    #[must_use]
    pub fn is(&self, section: &str, name: &str) -> bool {
        self.section == section && self.subsection.is_none() && self.name == name
    }
}

/// Parses a configuration file. Returns `None` when git would reject it.
#[must_use]
pub fn parse_git_config(bytes: &[u8]) -> Option<Vec<ConfigEntry>> {
    let text = String::from_utf8_lossy(bytes);
    // Git skips a byte order mark and accepts CRLF line endings.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
    let mut reader = ConfigReader { rest: &text };
    let mut entries = Vec::new();
    let mut section: Option<(String, Option<String>)> = None;
    loop {
        reader.skip(char::is_whitespace);
        match reader.next() {
            None => return Some(entries),
            Some('#' | ';') => reader.skip(|c| c != '\n'),
            Some('[') => section = Some(reader.section()?),
            Some(first) if first.is_ascii_alphabetic() => {
                let (section, subsection) = section.clone()?;
                let name = format!("{first}{}", reader.take(|c| c.is_ascii_alphanumeric() || c == '-'));
                let value = reader.value()?;
                entries.push(ConfigEntry { section, subsection, name: name.to_ascii_lowercase(), value });
            }
            Some(_) => return None,
        }
    }
}

/// Parses the output of `git config --null --list`, or of `--get-regexp`.
#[must_use]
pub fn parse_config_list(printed: &str) -> Vec<ConfigEntry> {
    let entry = |line: &str| match line.split_once('\n') {
        Some((key, value)) => ConfigEntry::of_key(key, Some(value)),
        None => ConfigEntry::of_key(line, None),
    };
    printed.split('\0').filter_map(entry).collect()
}

struct ConfigReader<'a> {
    rest: &'a str,
}

impl<'a> ConfigReader<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn take(&mut self, predicate: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !predicate(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, predicate: impl Fn(char) -> bool) {
        let _ = self.take(predicate);
    }

    /// Parses a section header after its opening bracket.
    fn section(&mut self) -> Option<(String, Option<String>)> {
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.').to_ascii_lowercase();
        let blanks = self.take(|c| matches!(c, ' ' | '\t'));
        if self.peek() != Some('"') {
            // The deprecated form `[section.subsection]`.
            let (section, subsection) = match name.split_once('.') {
                Some((section, subsection)) => (section.to_owned(), Some(subsection.to_owned())),
                None => (name, None),
            };
            return (blanks.is_empty() && self.next() == Some(']')).then_some((section, subsection));
        }
        self.next();
        let mut subsection = String::new();
        loop {
            match self.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => subsection.push(self.next().filter(|c| *c != '\n')?),
                other => subsection.push(other),
            }
        }
        (self.next() == Some(']')).then_some((name, Some(subsection)))
    }

    /// Parses the part after a name: nothing, or `=` and a value. Returns `None` when it is malformed.
    #[expect(clippy::option_option, reason = "distinguishes a malformed value from a missing one")]
    fn value(&mut self) -> Option<Option<String>> {
        self.skip(|c| matches!(c, ' ' | '\t'));
        match self.next() {
            None | Some('\n') => return Some(None),
            Some('#' | ';') => {
                self.skip(|c| c != '\n');
                return Some(None);
            }
            Some('=') => {}
            Some(_) => return None,
        }
        self.skip(|c| matches!(c, ' ' | '\t'));
        let (mut value, mut quoted, mut length) = (String::new(), false, 0);
        loop {
            match self.next() {
                None | Some('\n') if quoted => return None,
                None | Some('\n') => break,
                Some('#' | ';') if !quoted => {
                    self.skip(|c| c != '\n');
                    continue;
                }
                Some('"') => quoted = !quoted,
                Some('\\') => match self.next() {
                    None => break,
                    Some('\n') => continue,
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some(same @ ('"' | '\\')) => value.push(same),
                    Some(_) => return None,
                },
                Some(blank @ (' ' | '\t')) if !quoted => {
                    value.push(blank);
                    // Trailing whitespace is not part of the value, so the length is not updated.
                    continue;
                }
                Some(other) => value.push(other),
            }
            length = value.len();
        }
        value.truncate(length);
        Some(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Option<Vec<(String, Option<String>)>> {
        let entries = parse_git_config(text.as_bytes())?;
        Some(entries.into_iter().map(|entry| (entry.to_string(), entry.value)).collect())
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

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let lines = bytes.len();
            prop_assert!(parse_git_config(&bytes).is_none_or(|entries| entries.len() <= lines));
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
                expected.push(ConfigEntry { section, subsection, name, value: Some(value) });
            }
            prop_assert_eq!(parse_git_config(text.as_bytes()), Some(expected));
        }
    }
}
