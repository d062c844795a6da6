//! Answers of models in a directory. An answer is used again for the same prompt, so that a run that was interrupted asks
//! only what has no answer.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_home::untrusted;
use sha2::{Digest as _, Sha256};

use super::call_text::MAX_ANSWER;
use crate::console::print_error;

/// Version of the stored keys.
const KEY_VERSION: &str = "1";

/// Directory with two files for each answer: `<name>.json`, and `<name>.key` with the identity of its prompt.
#[derive(Debug, Clone)]
pub struct PromptAnswers {
    directory: PathBuf,
}

impl PromptAnswers {
    /// Creates a store in a directory, which need not exist.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the stored answer to a prompt.
    pub fn answer(&self, name: &str, key: &str) -> Option<String> {
        let stored = untrusted::read_text(&self.path(name, "key")).ok()?;
        let answer = untrusted::read(&self.path(name, "json"), MAX_ANSWER).ok()?;
        if stored.trim() == key { String::from_utf8(answer).ok() } else { None }
    }

    /// Stores an answer with the identity of its prompt.
    pub fn store(&self, name: &str, key: &str, answer: &str) {
        self.write(name, "json", answer);
        // Written last: an answer without a key is not taken for a complete one.
        self.write(name, "key", &format!("{key}\n"));
    }

    /// Stores a text in place of an answer. Without a key, the next run asks again.
    pub fn store_failure(&self, name: &str, text: &str) {
        self.remove(name);
        self.write(name, "json", text);
    }

    /// Removes an answer.
    pub fn remove(&self, name: &str) {
        for extension in ["key", "json"] {
            let path = self.path(name, extension);
            if let Err(error) = untrusted::remove(&path)
                && error.kind() != io::ErrorKind::NotFound
            {
                print_error(format!("Warning: cannot remove {}: {error}", path.display()));
            }
        }
    }

    fn write(&self, name: &str, extension: &str, text: &str) {
        let path = self.path(name, extension);
        // The result then says that there is no answer.
        if let Err(error) = untrusted::write(&path, text.as_bytes()) {
            print_error(format!("Warning: cannot write {}: {error}", path.display()));
        }
    }

    fn path(&self, name: &str, extension: &str) -> PathBuf {
        Path::new(&self.directory).join(format!("{name}.{extension}"))
    }
}

/// Returns the identity of a prompt: a hash of the parts on which the answer depends.
pub fn prompt_key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in std::iter::once(&KEY_VERSION).chain(parts) {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_used_again_for_the_same_prompt_only() {
        let dir = tempfile::tempdir().unwrap();
        let store = PromptAnswers::in_directory(dir.path().join("answers"));
        let key = prompt_key(&["sonnet", "a", "b"]);
        assert_ne!(key, prompt_key(&["sonnet", "ab", ""]));
        assert_eq!(store.answer("one", &key), None);
        store.store("one", &key, "{}");
        assert_eq!(store.answer("one", &key).as_deref(), Some("{}"));
        assert_eq!(store.answer("one", &prompt_key(&["opus", "a", "b"])), None);
        store.store_failure("one", "{\"error\": \"x\"}");
        assert_eq!(store.answer("one", &key), None);
        assert!(dir.path().join("answers/one.json").exists());
    }
}
