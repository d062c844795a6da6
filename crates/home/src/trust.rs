//! Programs of repositories that the user agreed to run: `trust.json` in the data directory.
//!
//! Trust applies to content, not to a path: each part is stored as its name and a digest of its content. A
//! part that changes needs consent again, and content of a branch that was trusted before stays trusted. The
//! command that runs a repository's tests is trusted separately, by its text.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::shell::quoted;
use loopgate_api::time::now_iso;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::json_file::{JsonFile, JsonFileError};

const FILE_NAME: &str = "trust.json";

/// Returns the command that shows the programs of a clone and asks for consent.
#[must_use]
pub fn trust_command(clone: &Path) -> String {
    format!("loopgate trust {}", quoted(&clone.to_string_lossy()))
}

/// A clone, and its parts that the user agreed to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustedRepository {
    /// Root of the clone with symbolic links resolved. Its worktrees share the entry.
    pub path: PathBuf,
    /// Trusted parts, each as digest, space and name.
    pub parts: BTreeSet<String>,
    /// Command with which loops may run the repository's tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_command: Option<String>,
    /// Commands that deployments may run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub deploy_commands: BTreeSet<String>,
    /// Time of the latest consent, RFC 3339.
    pub trusted_at: String,
    /// Unknown members, written by other versions.
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TrustDocument {
    repositories: Vec<TrustedRepository>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Store of trusted repositories. All methods block on disk I/O.
#[derive(Debug, Clone)]
pub struct TrustStore {
    path: PathBuf,
}

impl TrustStore {
    /// Refers to the file of a data directory, which need not exist.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self { path: data_dir.join(FILE_NAME) }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the user trusts all of these parts of a clone. An empty set is not trusted: there was
    /// no consent.
    #[must_use]
    pub fn trusts(&self, clone: &Path, parts: &BTreeSet<String>) -> bool {
        !parts.is_empty() && self.entry(clone).is_some_and(|repository| parts.is_subset(&repository.parts))
    }

    /// Returns the command with which loops may run the tests of a clone.
    #[must_use]
    pub fn test_command(&self, clone: &Path) -> Option<String> {
        self.entry(clone)?.test_command
    }

    /// Returns the stored entry of a clone. An unreadable file is logged and yields `None`.
    #[must_use]
    pub fn entry(&self, clone: &Path) -> Option<TrustedRepository> {
        let repositories = self.list().unwrap_or_else(|error| {
            tracing::error!(file = %self.path.display(), %error, "cannot read trusted repositories; no repository is trusted");
            Vec::new()
        });
        repositories.into_iter().find(|repository| repository.path == clone)
    }

    /// Returns all stored entries.
    ///
    /// # Errors
    /// Fails when the file exists and cannot be read.
    pub fn list(&self) -> io::Result<Vec<TrustedRepository>> {
        Ok(self.file().read()?.unwrap_or_default().repositories)
    }

    /// Trusts these parts of a clone, in addition to those that are already trusted.
    ///
    /// # Errors
    /// Fails when the file cannot be read or written.
    pub fn trust(&self, clone: &Path, parts: BTreeSet<String>) -> io::Result<()> {
        self.change_one(clone, |repository| repository.parts.extend(parts))
    }

    /// Sets the command with which loops may run the tests of a clone; `None` removes it.
    ///
    /// # Errors
    /// As [`TrustStore::trust`].
    pub fn set_test_command(&self, clone: &Path, command: Option<&str>) -> io::Result<()> {
        self.change_one(clone, |repository| repository.test_command = command.map(str::to_owned))
    }

    /// Returns the commands that deployments of a clone may run.
    #[must_use]
    pub fn deploy_commands(&self, clone: &Path) -> BTreeSet<String> {
        self.entry(clone).map(|repository| repository.deploy_commands).unwrap_or_default()
    }

    /// Lets deployments of a clone run these commands, in addition to those that they already may run.
    ///
    /// # Errors
    /// As [`TrustStore::trust`].
    pub fn trust_deploy_commands(&self, clone: &Path, commands: &[String]) -> io::Result<()> {
        self.change_one(clone, |repository| repository.deploy_commands.extend(commands.iter().cloned()))
    }

    /// Lets deployments of a clone run no command.
    ///
    /// # Errors
    /// As [`TrustStore::trust`].
    pub fn revoke_deploy_commands(&self, clone: &Path) -> io::Result<()> {
        self.change_one(clone, |repository| repository.deploy_commands.clear())
    }

    fn change_one(&self, clone: &Path, change: impl FnOnce(&mut TrustedRepository)) -> io::Result<()> {
        self.change(|repositories| {
            let position = repositories.iter().position(|repository| repository.path == clone);
            let index = position.unwrap_or_else(|| {
                repositories.push(TrustedRepository {
                    path: clone.to_owned(),
                    parts: BTreeSet::new(),
                    test_command: None,
                    deploy_commands: BTreeSet::new(),
                    trusted_at: String::new(),
                    other: Map::new(),
                });
                repositories.len() - 1
            });
            let repository = &mut repositories[index];
            change(repository);
            repository.trusted_at = now_iso();
            // Removing the only item of consent leaves nothing to list or revoke.
            let has_command = repository.test_command.is_some() || !repository.deploy_commands.is_empty();
            if repository.parts.is_empty() && !has_command {
                repositories.remove(index);
            }
        })
    }

    /// Removes the entry of a clone. Returns whether there was one.
    ///
    /// # Errors
    /// As [`TrustStore::trust`].
    pub fn revoke(&self, clone: &Path) -> io::Result<bool> {
        self.change(|repositories| {
            let before = repositories.len();
            repositories.retain(|repository| repository.path != clone);
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
        assert!(!store.trusts(clone, &parts(&["9 hook", "2 filter"])), "its content has changed");
        assert!(!store.trusts(clone, &parts(&[])), "an empty set needs consent too");
        assert!(!store.trusts(other, &parts(&["1 hook"])));
        store.trust(clone, parts(&["9 hook"])).unwrap();
        assert!(
            store.trusts(clone, &parts(&["1 hook"])) && store.trusts(clone, &parts(&["9 hook", "2 filter"]))
        );
        assert!(store.revoke(clone).unwrap() && !store.revoke(clone).unwrap());
        assert!(!store.trusts(clone, &parts(&["1 hook"])));
    }

    #[test]
    fn unreadable_file_trusts_nothing_and_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(dir.path());
        for broken in ["{", r#"{"repositories":{}}"#] {
            std::fs::write(dir.path().join(FILE_NAME), broken).unwrap();
            assert!(!store.trusts(Path::new("/x"), &parts(&["1 hook"])));
            assert_eq!(store.test_command(Path::new("/x")), None);
            assert!(store.trust(Path::new("/x"), parts(&["1 hook"])).is_err());
            assert_eq!(std::fs::read_to_string(dir.path().join(FILE_NAME)).unwrap(), broken);
        }
    }

    #[test]
    fn test_command_is_trusted_separately_from_parts() {
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
        assert_eq!(store.list().unwrap(), [], "an entry without parts and command is removed");
    }

    #[test]
    fn deploy_commands_are_trusted_separately() {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(dir.path());
        let clone = Path::new("/src/shop");
        store.trust_deploy_commands(clone, &["npm install".to_owned()]).unwrap();
        store.trust_deploy_commands(clone, &["npm run dev".to_owned()]).unwrap();
        assert_eq!(store.deploy_commands(clone), ["npm install", "npm run dev"].map(str::to_owned).into());
        assert!(!store.trusts(clone, &parts(&["1 hook"])) && store.test_command(clone).is_none());
        assert!(store.deploy_commands(Path::new("/src/other")).is_empty());
        store.revoke_deploy_commands(clone).unwrap();
        assert_eq!(store.list().unwrap(), [], "an entry without consent is removed");
    }

    #[test]
    fn members_of_other_versions_survive_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(dir.path());
        let older =
            r#"{"later":1,"repositories":[{"path":"/x","parts":["1 hook"],"trustedAt":"then","more":2}]}"#;
        std::fs::write(dir.path().join(FILE_NAME), older).unwrap();
        assert!(store.trusts(Path::new("/x"), &parts(&["1 hook"])));
        store.set_test_command(Path::new("/x"), Some("make test")).unwrap();
        let written: Value =
            serde_json::from_str(&std::fs::read_to_string(dir.path().join(FILE_NAME)).unwrap()).unwrap();
        assert_eq!(written["later"], 1);
        assert_eq!(written["repositories"][0]["more"], 2);
        assert_eq!(written["repositories"][0]["testCommand"], "make test");
    }
}
