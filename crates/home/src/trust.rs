//! Which programs of which repositories the person agreed to run: `trust.json` in the data directory.
//!
//! Agreed to is content, not a place: each part is written down by its name and a digest of what it
//! says, so that a part that changes is asked about again, and a branch that was agreed to stays so. The command
//! that runs a repository's tests is agreed to apart from that, by its text.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::time::now_iso;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::json_file::{JsonFile, JsonFileError};

/// Name of the file in the data directory.
const FILE: &str = "trust.json";

/// A clone, with the parts of it that the person agreed to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustedRepository {
    /// The clone, with links resolved; its worktrees count as it does.
    pub path: PathBuf,
    /// Each part: a digest, a blank and its name.
    pub parts: BTreeSet<String>,
    /// The command by which loops may run the repository's tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_command: Option<String>,
    /// When the person last agreed; RFC 3339.
    pub trusted_at: String,
    /// Members of other versions.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TrustDocument {
    repositories: Vec<TrustedRepository>,
    #[serde(flatten)]
    other: Map<String, Value>,
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
        !parts.is_empty() && self.known(clone).is_some_and(|known| parts.is_subset(&known.parts))
    }

    /// The command by which the person lets loops run the tests of a clone.
    #[must_use]
    pub fn test_command(&self, clone: &Path) -> Option<String> {
        self.known(clone)?.test_command
    }

    /// Everything that the person agreed to of a clone.
    #[must_use]
    pub fn known(&self, clone: &Path) -> Option<TrustedRepository> {
        let repositories = self.list().unwrap_or_else(|error| {
            tracing::error!(file = %self.path.display(), %error, "cannot be read; no repository is trusted");
            Vec::new()
        });
        repositories.into_iter().find(|repository| repository.path == clone)
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
        self.change_one(clone, |known| known.parts.extend(parts))
    }

    /// Writes down the command by which loops may run the tests of a clone; `None` takes it away.
    ///
    /// # Errors
    /// As [`TrustStore::trust`].
    pub fn set_test_command(&self, clone: &Path, command: Option<&str>) -> io::Result<()> {
        self.change_one(clone, |known| known.test_command = command.map(str::to_owned))
    }

    fn change_one(&self, clone: &Path, change: impl FnOnce(&mut TrustedRepository)) -> io::Result<()> {
        self.change(|repositories| {
            let known = repositories.iter().position(|repository| repository.path == clone);
            let at = known.unwrap_or_else(|| {
                repositories.push(TrustedRepository {
                    path: clone.to_owned(),
                    parts: BTreeSet::new(),
                    test_command: None,
                    trusted_at: String::new(),
                    other: Map::new(),
                });
                repositories.len() - 1
            });
            let repository = &mut repositories[at];
            change(repository);
            repository.trusted_at = now_iso();
            if repository.parts.is_empty() && repository.test_command.is_none() {
                repositories.remove(at);
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
    fn file_that_cannot_be_read_trusts_nobody_and_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(dir.path());
        for broken in ["{", r#"{"repositories":{}}"#] {
            std::fs::write(dir.path().join(FILE), broken).unwrap();
            assert!(!store.trusts(Path::new("/x"), &parts(&["1 hook"])));
            assert_eq!(store.test_command(Path::new("/x")), None);
            assert!(store.trust(Path::new("/x"), parts(&["1 hook"])).is_err());
            assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), broken);
        }
    }

    #[test]
    fn test_command_is_agreed_to_apart_from_the_parts() {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(dir.path());
        let clone = Path::new("/src/shop");
        store.set_test_command(clone, Some("npm test")).unwrap();
        assert_eq!(store.test_command(clone).as_deref(), Some("npm test"));
        assert!(!store.trusts(clone, &parts(&["1 hook"])) && !store.trusts(clone, &parts(&[])));
        store.trust(clone, parts(&["1 hook"])).unwrap();
        store.set_test_command(clone, None).unwrap();
        assert!(store.trusts(clone, &parts(&["1 hook"])) && store.test_command(clone).is_none());
        store.set_test_command(clone, Some("make test")).unwrap();
        assert!(store.revoke(clone).unwrap());
        assert_eq!(store.test_command(clone), None);
        store.set_test_command(clone, Some("make test")).unwrap();
        store.set_test_command(clone, None).unwrap();
        assert_eq!(store.list().unwrap(), [], "nothing is left to list");
    }

    #[test]
    fn members_of_other_versions_survive_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(dir.path());
        let older =
            r#"{"later":1,"repositories":[{"path":"/x","parts":["1 hook"],"trustedAt":"then","more":2}]}"#;
        std::fs::write(dir.path().join(FILE), older).unwrap();
        assert!(store.trusts(Path::new("/x"), &parts(&["1 hook"])));
        store.set_test_command(Path::new("/x"), Some("make test")).unwrap();
        let written: Value =
            serde_json::from_str(&std::fs::read_to_string(dir.path().join(FILE)).unwrap()).unwrap();
        assert_eq!(written["later"], 1);
        assert_eq!(written["repositories"][0]["more"], 2);
        assert_eq!(written["repositories"][0]["testCommand"], "make test");
    }
}
