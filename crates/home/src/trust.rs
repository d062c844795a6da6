//! Which programs of which repositories the person agreed to run: `trust.json` in the data directory.
//!
//! Agreed to is content, not a place: each part is written down by its name and a digest of what it
//! says, so that a part that changes is asked about again, and a branch that was agreed to stays so.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::time::now_iso;
use serde::{Deserialize, Serialize};

use crate::json_file::{JsonFile, JsonFileError};

/// Name of the file in the data directory.
const FILE: &str = "trust.json";

/// A clone, with the parts of it that the person agreed to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustedRepository {
    /// The clone, with links resolved; its worktrees count as it does.
    pub path: PathBuf,
    /// Each part: a digest, a blank and its name.
    pub parts: BTreeSet<String>,
    /// When the person last agreed; RFC 3339.
    pub trusted_at: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustDocument {
    repositories: Vec<TrustedRepository>,
}

/// The file. Everything here blocks on the disk.
#[derive(Debug, Clone)]
pub struct TrustStore {
    path: PathBuf,
}

impl TrustStore {
    /// The file of a data directory, which need not exist.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FILE) }
    }

    /// Where the file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the person agreed to every one of these parts of a clone. Nobody agreed to nothing.
    #[must_use]
    pub fn trusts(&self, clone: &Path, parts: &BTreeSet<String>) -> bool {
        let repositories = self.list().unwrap_or_else(|error| {
            tracing::error!(file = %self.path.display(), %error, "cannot be read; no repository is trusted");
            Vec::new()
        });
        let known = repositories.iter().find(|repository| repository.path == clone);
        !parts.is_empty() && known.is_some_and(|known| parts.is_subset(&known.parts))
    }

    /// Everything that was agreed to.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn list(&self) -> io::Result<Vec<TrustedRepository>> {
        Ok(self.file().read()?.unwrap_or_default().repositories)
    }

    /// Writes down that these parts of a clone may run, beside those that may already.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn trust(&self, clone: &Path, parts: BTreeSet<String>) -> io::Result<()> {
        self.change(|repositories| {
            match repositories.iter_mut().find(|repository| repository.path == clone) {
                Some(known) => {
                    known.parts.extend(parts);
                    known.trusted_at = now_iso();
                }
                None => {
                    repositories.push(TrustedRepository {
                        path: clone.to_owned(),
                        parts,
                        trusted_at: now_iso(),
                    });
                }
            }
        })
    }

    /// Withdraws what was agreed to of a clone; whether there was anything.
    ///
    /// # Errors
    /// As [`TrustStore::trust`].
    pub fn revoke(&self, clone: &Path) -> io::Result<bool> {
        self.change(|repositories| {
            let before = repositories.len();
            repositories.retain(|known| known.path != clone);
            repositories.len() != before
        })
    }

    fn file(&self) -> JsonFile<TrustDocument> {
        JsonFile::private(self.path.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<TrustedRepository>) -> T) -> io::Result<T> {
        let changed = self.file().update(|document| {
            Ok::<_, JsonFileError>(change(&mut document.get_or_insert_default().repositories))
        });
        Ok(changed?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn trust_ends_when_the_content_changes() {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(dir.path());
        let (clone, other) = (Path::new("/src/shop"), Path::new("/src/other"));
        assert!(!store.trusts(clone, &parts(&["1 hook"])));
        store.trust(clone, parts(&["1 hook", "2 filter"])).unwrap();
        assert!(
            store.trusts(clone, &parts(&["1 hook"])) && store.trusts(clone, &parts(&["1 hook", "2 filter"]))
        );
        assert!(!store.trusts(clone, &parts(&["9 hook", "2 filter"])), "it says something else now");
        assert!(!store.trusts(clone, &parts(&[])), "nobody was asked");
        assert!(!store.trusts(other, &parts(&["1 hook"])));
        store.trust(clone, parts(&["9 hook"])).unwrap();
        assert!(
            store.trusts(clone, &parts(&["1 hook"])) && store.trusts(clone, &parts(&["9 hook", "2 filter"]))
        );
        assert!(store.revoke(clone).unwrap() && !store.revoke(clone).unwrap());
        assert!(!store.trusts(clone, &parts(&["1 hook"])));
    }

    #[test]
    fn a_file_that_cannot_be_read_trusts_nobody_and_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(dir.path());
        for broken in ["{", r#"{"repositories":[],"all":true}"#] {
            std::fs::write(dir.path().join(FILE), broken).unwrap();
            assert!(!store.trusts(Path::new("/x"), &parts(&["1 hook"])));
            assert!(store.trust(Path::new("/x"), parts(&["1 hook"])).is_err());
            assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), broken);
        }
    }
}
