//! Answers of judges by the identity of their prompt, in the data directory. A loop works in a directory of its own, and
//! finds there what an earlier loop has paid for.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use loopgate_home::untrusted;

use crate::model_calls::MAX_ANSWER;

/// Directory in the data directory.
const DIRECTORY: &str = "judge-answers";
/// Age at which an unused answer is removed.
const MAX_AGE: Duration = Duration::from_hours(24 * 60);

/// Stored answers. Failures of the file system count as a missing answer: the judge is then asked again.
#[derive(Debug, Clone)]
pub struct PaidAnswers {
    directory: PathBuf,
}

impl PaidAnswers {
    /// Opens the store of the data directory, and removes old answers. `None` without a data directory.
    pub fn open() -> Option<Self> {
        let store = Self::at(loopgate_home::default_data_dir().ok()?.join(DIRECTORY));
        store.remove_unused(SystemTime::now());
        Some(store)
    }

    /// Uses this directory, which need not exist.
    pub const fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Returns the answer to a prompt. `key`: its identity, of hexadecimal digits.
    pub fn get(&self, key: &str) -> Option<String> {
        let path = self.path(key);
        let answer = String::from_utf8(untrusted::read(&path, MAX_ANSWER).ok()?).ok()?;
        // Best-effort: an answer that is used stays longer.
        let _ = untrusted::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(answer)
    }

    /// Stores the answer to a prompt.
    pub fn put(&self, key: &str, answer: &str) {
        let _ = untrusted::write_private(&self.path(key), answer.as_bytes());
    }

    fn remove_unused(&self, now: SystemTime) {
        for entry in untrusted::entries(&self.directory) {
            let path = self.directory.join(&entry.name);
            let modified = untrusted::metadata(&path).and_then(|metadata| metadata.modified());
            let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
            if age.is_some_and(|age| age > MAX_AGE) {
                let _ = untrusted::remove(&path);
            }
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{key}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_answers_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let store = PaidAnswers::at(directory.path().join("answers"));
        assert_eq!(store.get("0a"), None);
        store.put("0a", "{}");
        store.put("0b", "{}");
        let later = SystemTime::now() + MAX_AGE + Duration::from_secs(60);
        let used = untrusted::open(&store.path("0b")).unwrap();
        used.set_modified(later).unwrap();
        store.remove_unused(later);
        assert_eq!((store.get("0a"), store.get("0b").as_deref()), (None, Some("{}")));
    }
}
