//! What a user types after a command of the plugin: options, then free text.
//!
//! Options count only at the beginning, and `--` ends them. The rest is text, which is kept as it was typed.

use std::path::Path;

use loopgate_home::expand_home;

use crate::quoting::{self, Word};

/// Word that ends the options, so that a text may begin with an option.
pub const END_OF_OPTIONS: &str = "--";

/// A line that is consumed word by word.
#[derive(Debug, Clone)]
pub struct CommandLine {
    text: String,
    words: Vec<Word>,
    /// Number of consumed words.
    at: usize,
}

impl CommandLine {
    /// Splits what a user typed; words may be quoted.
    #[must_use]
    pub fn typed(text: &str) -> Self {
        Self { text: text.to_owned(), words: quoting::positions(text), at: 0 }
    }

    /// Takes the arguments of a program, which a shell has split already.
    #[must_use]
    pub fn of_arguments(arguments: impl IntoIterator<Item = String>) -> Self {
        let (mut text, mut words) = (String::new(), Vec::new());
        for value in arguments {
            if !text.is_empty() {
                text.push(' ');
            }
            words.push(Word { start: text.len(), value: value.clone() });
            text.push_str(&value);
        }
        Self { text, words, at: 0 }
    }

    /// Returns the words that are not consumed.
    pub fn words(&self) -> impl Iterator<Item = &str> + Clone {
        self.words[self.at..].iter().map(|word| word.value.as_str())
    }

    /// Consumes the next word.
    pub fn take(&mut self) -> Option<String> {
        let word = self.words().next()?.to_owned();
        self.at += 1;
        Some(word)
    }

    /// Consumes the next word if it is this one.
    pub fn take_if(&mut self, word: &str) -> bool {
        let is_next = self.words().next() == Some(word);
        self.at += usize::from(is_next);
        is_next
    }

    /// Consumes words and joins them with spaces.
    pub fn take_joined(&mut self, count: usize) -> String {
        let joined = self.words().take(count).collect::<Vec<_>>().join(" ");
        self.at += count;
        joined
    }

    /// Consumes a path, which needs no quotes: the longest one that exists, relative to `root`. Without an existing one,
    /// all words up to the next option, so that the error names all of them. `None` without a word.
    pub fn take_path(&mut self, root: &Path) -> Option<String> {
        let words: Vec<&str> = self.words().take_while(|word| !word.starts_with("--")).collect();
        let exists = |count: &usize| root.join(expand_home(words[..*count].join(" "))).exists();
        let count = (1..=words.len()).rev().find(exists).unwrap_or(words.len());
        (count > 0).then(|| self.take_joined(count))
    }

    /// Returns the text from the next word on, as it was typed.
    #[must_use]
    pub fn rest(&self) -> &str {
        self.words.get(self.at).map(|word| self.text[word.start..].trim_end()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_existing_path_is_taken() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("my work")).unwrap();
        for (line, path, rest) in [
            ("my work add \"a\"  flag\n", Some("my work"), "add \"a\"  flag"),
            ("'my work' add", Some("my work"), "add"),
            ("/nope add --x", Some("/nope add"), "--x"),
            ("--x", None, "--x"),
            ("", None, ""),
        ] {
            let mut line = CommandLine::typed(line);
            assert_eq!(line.take_path(root.path()).as_deref(), path, "{line:?}");
            assert_eq!(line.rest(), rest);
        }
    }

    #[test]
    fn arguments_of_a_program_are_joined() {
        let mut line = CommandLine::of_arguments(["--", "a  b", "c"].map(str::to_owned));
        assert!(line.take_if(END_OF_OPTIONS) && !line.take_if(END_OF_OPTIONS));
        assert_eq!(line.rest(), "a  b c");
        assert_eq!((line.take().as_deref(), line.rest()), (Some("a  b"), "c"));
    }
}
