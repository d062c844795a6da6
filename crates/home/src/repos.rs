//! List of managed repositories, `repos.json`, which other programs read and write too.
//!
//! The first read moves a malformed file aside and creates an empty one. Programs in the sandbox can write
//! the file, so entries whose path the sandbox does not allow are ignored.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loopgate_api::ids::RepoFullName;
use loopgate_api::names::env;
use loopgate_api::repos::{ManagedRepo, ReposSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::json_file::{JsonFile, JsonFileError};
use crate::path_resolution::expand_home;
use crate::repository_summary::RepositorySummary;
use crate::sandbox::{Sandbox, SandboxedPath};
use crate::settings::SettingsStore;

/// Name of the member that contains the settings.
const SETTINGS: &str = "settings";

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReposFile {
    /// Managed repositories that the sandbox allows.
    pub repos: Vec<ManagedRepo>,
    /// Settings that apply to all repositories.
    pub settings: ReposSettings,
}

#[derive(Debug, Error)]
pub enum ReposError {
    /// No sandbox base directory is configured.
    #[error("Server not configured — complete onboarding")]
    NotConfigured,
    /// The file system returned an error.
    #[error("{0}")]
    Io(#[from] io::Error),
}

#[derive(Debug, Error)]
pub enum AddRepoError {
    /// The repository is already in the list.
    #[error("Repository already configured")]
    AlreadyManaged,
    /// The list cannot be read or written.
    #[error(transparent)]
    Repos(#[from] ReposError),
}

/// The file as stored, including entries and members that other programs wrote.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ReposDocument {
    #[serde(default)]
    repos: Option<Vec<Value>>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The repository list, shared by gateway and runtime.
#[derive(Debug)]
pub struct Repos {
    settings: Arc<SettingsStore>,
    sandbox: Arc<Sandbox>,
    /// Clones that a search has found; `None` until [`Self::discover`] is called.
    discovered: Mutex<Option<HashSet<PathBuf>>>,
}

impl Repos {
    /// Creates a list for the sandbox base directory of the settings.
    #[must_use]
    pub const fn new(settings: Arc<SettingsStore>, sandbox: Arc<Sandbox>) -> Self {
        Self { settings, sandbox, discovered: Mutex::new(None) }
    }

    /// Adds the clones in the sandbox to the list, and returns them all. Clones that an earlier search found are not added
    /// again, because the user may have removed them.
    pub fn discover(&self) -> Vec<(RepoFullName, PathBuf)> {
        // Held during the search, so that an older result cannot replace a newer one.
        let mut discovered = self.discovered.lock().unwrap_or_else(PoisonError::into_inner);
        self.search(&mut discovered)
    }

    /// Adds clones that were created since the last search. A no-op until [`Self::discover`] is called.
    pub fn refresh(&self) {
        let mut discovered = self.discovered.lock().unwrap_or_else(PoisonError::into_inner);
        if discovered.is_some() {
            self.search(&mut discovered);
        }
    }

    fn search(&self, discovered: &mut Option<HashSet<PathBuf>>) -> Vec<(RepoFullName, PathBuf)> {
        let clones = self.sandbox.clones();
        let known = discovered.get_or_insert_default();
        for (name, clone) in clones.iter().filter(|(_, clone)| !known.contains(clone)) {
            if let Ok(path) = self.sandbox.check(clone)
                && let Err(error) = self.add(&path, None, None)
            {
                tracing::debug!(%error, %name, "the clone was not added to repos.json");
            }
        }
        *known = clones.iter().map(|(_, clone)| clone.clone()).collect();
        clones
    }

    /// Returns the path of the file; `None` while no sandbox is configured.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        self.settings.get().orchestrator_dir().map(|dir| dir.join("config").join("repos.json"))
    }

    /// Reads the list, without entries that the sandbox does not allow. Creates an empty file when it is
    /// missing.
    ///
    /// # Errors
    /// Fails with [`ReposError`] when no sandbox is configured or the file cannot be read.
    pub fn list(&self) -> Result<ReposFile, ReposError> {
        let mut list = parse_entries(&self.stored()?);
        list.repos.retain(|repo| self.allows(repo));
        Ok(list)
    }

    fn allows(&self, repo: &ManagedRepo) -> bool {
        self.sandbox.check(&repo.path).is_ok()
    }

    /// Adds a repository to the list.
    ///
    /// # Errors
    /// Fails with [`AddRepoError`] when the repository is already in the list or the file cannot be written.
    pub fn add(
        &self,
        path: &SandboxedPath,
        description: Option<String>,
        deployment: Option<Map<String, Value>>,
    ) -> Result<ManagedRepo, AddRepoError> {
        let repo = ManagedRepo {
            path: shorten_home(path.as_path()),
            description: description.filter(|text| !text.is_empty()),
            deployment,
            added_at: loopgate_api::time::now_iso(),
        };
        // Checked under the lock, so that concurrent requests cannot add the same repository twice.
        let exists = self.change(|entries, _| {
            let exists = entries.iter().filter_map(path_of).any(|listed| is_same_path(listed, &repo.path));
            if !exists {
                entries.push(json!(repo));
            }
            exists
        })?;
        if exists { Err(AddRepoError::AlreadyManaged) } else { Ok(repo) }
    }

    /// Removes a repository. Returns whether it was in the list.
    ///
    /// # Errors
    /// Fails with [`ReposError`] when no sandbox is configured or the file cannot be written.
    pub fn remove(&self, path: &str) -> Result<bool, ReposError> {
        let path = shorten_home(&expand_home(path));
        self.change(|entries, _| {
            let before = entries.len();
            entries.retain(|entry| !path_of(entry).is_some_and(|listed| is_same_path(listed, &path)));
            entries.len() != before
        })
    }

    /// Changes the deployment members of a repository and returns them; `None` when the repository is not in
    /// the list. The `deployment` object is removed when it becomes empty.
    ///
    /// # Errors
    /// Fails with [`ReposError`] when no sandbox is configured or the file cannot be written.
    pub fn update_deployment(
        &self,
        path: &str,
        change: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Option<Map<String, Value>>, ReposError> {
        self.change(|entries, _| {
            let has_path = |entry: &&mut Value| {
                path_of(entry).is_some_and(|listed| listed == path || is_same_path(listed, path))
            };
            let entry = entries.iter_mut().find(has_path)?.as_object_mut()?;
            let mut members = entry.get("deployment").and_then(Value::as_object).cloned().unwrap_or_default();
            change(&mut members);
            if members.is_empty() {
                entry.remove("deployment");
            } else {
                entry.insert("deployment".to_owned(), Value::Object(members.clone()));
            }
            Some(members)
        })
    }

    /// Changes the settings in the file.
    ///
    /// # Errors
    /// Fails with [`ReposError`] when no sandbox is configured or the file cannot be written.
    pub fn update_settings(&self, change: impl FnOnce(&mut ReposSettings)) -> Result<(), ReposError> {
        self.change(|_, others| {
            let mut settings = settings_of(others);
            change(&mut settings);
            // Extend the stored object: members that are unknown, or that have an unexpected type, are
            // preserved.
            match (others.get_mut(SETTINGS), json!(settings)) {
                (Some(Value::Object(stored)), Value::Object(changed)) => stored.extend(changed),
                (_, changed) => drop(others.insert(SETTINGS.to_owned(), changed)),
            }
        })
    }

    /// Sets the worktree parent directory to the sandbox base directory when it is missing or outside the
    /// sandbox, and marks it as confirmed.
    ///
    /// # Errors
    /// Fails with [`ReposError`] when no sandbox is configured or the file cannot be written.
    pub fn seed(&self) -> Result<(), ReposError> {
        let base = self.settings.get().sandbox_base_directory.clone().ok_or(ReposError::NotConfigured)?;
        let settings = self.list()?.settings;
        let inside =
            settings.worktree_parent_dir.as_deref().is_some_and(|dir| self.sandbox.check(dir).is_ok());
        if inside && settings.worktree_parent_dir_confirmed == Some(true) {
            return Ok(());
        }
        self.update_settings(|settings| {
            if !inside {
                settings.worktree_parent_dir = Some(base.to_string_lossy().into_owned());
            }
            settings.worktree_parent_dir_confirmed = Some(true);
        })
    }

    /// Finds the clone of a listed repository by the URL of its `origin` remote. An exact match takes
    /// precedence over one that differs in case, and that over the clone of a fork.
    ///
    /// # Errors
    /// Fails with [`ReposError`] when the list cannot be read.
    pub fn find(&self, name: &RepoFullName) -> Result<Option<PathBuf>, ReposError> {
        let clones = self.summaries()?;
        let with_origin = |is_match: &dyn Fn(&RepoFullName) -> bool| {
            clones.iter().find(|(_, summary)| summary.origin.as_ref().is_some_and(is_match))
        };
        let own =
            with_origin(&|origin| origin == name).or_else(|| with_origin(&|origin| origin.same_as(name)));
        let found = own.or_else(|| {
            let mut with_any_origin = clones.iter().filter(|(_, summary)| summary.origin.is_some());
            with_any_origin.find(|(_, summary)| summary.is_clone_of(name))
        });
        Ok(found.map(|(path, _)| path.clone()))
    }

    /// Returns the full names of all listed repositories that have an `origin` remote.
    ///
    /// # Errors
    /// Fails with [`ReposError`] when the list cannot be read.
    pub fn full_names(&self) -> Result<Vec<RepoFullName>, ReposError> {
        Ok(self.summaries()?.into_iter().filter_map(|(_, summary)| summary.origin).collect())
    }

    fn summaries(&self) -> Result<Vec<(PathBuf, RepositorySummary)>, ReposError> {
        let list = self.list()?;
        let paths = list.repos.iter().map(|repo| expand_home(&repo.path));
        Ok(paths.filter_map(|path| self.sandbox.summary(&path).ok().map(|summary| (path, summary))).collect())
    }

    /// Returns the directories that may contain worktrees of a repository, the preferred one first:
    /// environment variable, setting, parent directory of the repository.
    #[must_use]
    pub fn worktree_parents(&self, repository: &Path) -> Vec<PathBuf> {
        let own = repository.parent().map(Path::to_owned);
        let mut parents: Vec<PathBuf> = self.configured_worktree_parents().into_iter().chain(own).collect();
        parents.dedup();
        parents
    }

    /// Returns the configured worktree parents: environment variable, setting.
    #[must_use]
    pub fn configured_worktree_parents(&self) -> Vec<PathBuf> {
        let from_environment = std::env::var(env::WORKTREE_PARENT).ok();
        let from_settings = self.list().ok().and_then(|list| list.settings.worktree_parent_dir);
        let configured = [from_environment, from_settings].into_iter().flatten();
        configured.filter(|dir| !dir.trim().is_empty()).map(|dir| expand_home(dir.trim())).collect()
    }

    fn file(&self) -> Result<JsonFile<ReposDocument>, ReposError> {
        let path = self.path().ok_or(ReposError::NotConfigured)?;
        Ok(JsonFile::in_working_tree(path).moving_malformed_aside())
    }

    /// Reads the document; an empty one is created when it is missing or malformed.
    fn stored(&self) -> Result<ReposDocument, ReposError> {
        let file = self.file()?;
        match file.read() {
            Ok(Some(document)) => Ok(document),
            Ok(None) | Err(JsonFileError::Malformed { .. }) => {
                // Under the lock another process may have created the file already; keep what it wrote.
                let created = file.update(|document| {
                    let current = document.get_or_insert_with(ReposDocument::empty);
                    Ok::<_, JsonFileError>(ReposDocument {
                        repos: current.repos.clone(),
                        others: current.others.clone(),
                    })
                });
                Ok(created.map_err(io::Error::from)?)
            }
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<Value>, &mut Map<String, Value>) -> T,
    ) -> Result<T, ReposError> {
        let changed = self.file()?.update(|document| {
            let ReposDocument { repos, others } = document.get_or_insert_default();
            Ok::<_, JsonFileError>(change(repos.get_or_insert_default(), others))
        });
        Ok(changed.map_err(io::Error::from)?)
    }
}

impl ReposDocument {
    fn empty() -> Self {
        Self { repos: Some(Vec::new()), others: Map::from_iter([(SETTINGS.to_owned(), json!({}))]) }
    }
}

/// Parses each entry separately, so that a malformed one does not hide the others. An entry with only a
/// usable path keeps that path.
fn parse_entries(document: &ReposDocument) -> ReposFile {
    let entries = document.repos.as_deref().unwrap_or_default();
    let repos = entries
        .iter()
        .filter_map(|entry| {
            serde_json::from_value(entry.clone()).ok().or_else(|| {
                let path = path_of(entry)?.to_owned();
                Some(ManagedRepo { path, description: None, deployment: None, added_at: String::new() })
            })
        })
        .collect();
    ReposFile { repos, settings: settings_of(&document.others) }
}

fn settings_of(others: &Map<String, Value>) -> ReposSettings {
    others.get(SETTINGS).and_then(|settings| ReposSettings::deserialize(settings).ok()).unwrap_or_default()
}

fn path_of(entry: &Value) -> Option<&str> {
    entry.get("path").and_then(Value::as_str)
}

/// Formats a path at or below the home directory with a leading `~`.
fn shorten_home(path: &Path) -> String {
    let Ok(home) = etcetera::home_dir() else { return path.to_string_lossy().into_owned() };
    match path.strip_prefix(&home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.to_string_lossy()),
        Err(_) => path.to_string_lossy().into_owned(),
    }
}

fn is_same_path(one: &str, other: &str) -> bool {
    let trimmed = |path: &str| expand_home(path.trim_end_matches('/'));
    let (one, other) = (trimmed(one), trimmed(other));
    // Canonical paths are compared only when both exist; entries may refer to a clone that was removed.
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::settings::Overrides;

    fn fixture() -> (tempfile::TempDir, Arc<SettingsStore>, Repos, Arc<Sandbox>) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("box");
        std::fs::create_dir_all(&base).unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base), ..Overrides::default() };
        let store = Arc::new(SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap());
        let sandbox = Arc::new(Sandbox::new(store.clone(), &dir.path().join("data")));
        (dir, store.clone(), Repos::new(store, sandbox.clone()), sandbox)
    }

    fn clone_of(dir: &Path, name: &str, url: &str) -> PathBuf {
        let clone = dir.join("box").join(name);
        std::fs::create_dir_all(clone.join(".git/objects")).unwrap();
        let config = format!("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = {url}\n");
        std::fs::write(clone.join(".git/config"), config).unwrap();
        clone
    }

    #[test]
    fn repository_is_found_by_its_origin() {
        let (dir, _, repos, sandbox) = fixture();
        let clone = clone_of(dir.path(), "shop", "git@github.com:Acme/Shop.git");
        repos.add(&sandbox.check(&clone).unwrap(), None, None).unwrap();
        assert_eq!(repos.find(&"acme/shop".parse().unwrap()).unwrap(), Some(clone.clone()));
        assert_eq!(repos.find(&"other/shop".parse().unwrap()).unwrap(), None);
        let again = repos.add(&sandbox.check(&clone).unwrap(), None, None);
        assert!(matches!(again, Err(AddRepoError::AlreadyManaged)));
        assert!(repos.remove(&clone.to_string_lossy()).unwrap());
        assert!(!repos.remove(&clone.to_string_lossy()).unwrap());
    }

    #[test]
    fn new_clones_are_added_and_removed_ones_stay_removed() {
        let (dir, _, repos, _) = fixture();
        let old = clone_of(dir.path(), "old", "git@github.com:acme/old.git");
        repos.refresh();
        let names = || repos.full_names().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(names().is_empty(), "a list without search is the user's");
        assert_eq!(repos.discover(), [("acme/old".parse().unwrap(), old.clone())]);
        clone_of(dir.path(), "github.com/acme/new", "git@github.com:acme/new.git");
        repos.refresh();
        assert_eq!(names(), ["acme/old", "acme/new"]);
        assert!(repos.remove(&old.to_string_lossy()).unwrap());
        repos.refresh();
        assert_eq!(names(), ["acme/new"]);
        // A clone that was deleted and created again is new.
        std::fs::rename(&old, dir.path().join("moved")).unwrap();
        repos.refresh();
        std::fs::rename(dir.path().join("moved"), &old).unwrap();
        repos.refresh();
        assert_eq!(names(), ["acme/new", "acme/old"]);
    }

    #[test]
    fn concurrent_writers_lose_no_entry() {
        let (dir, _, repos, sandbox) = fixture();
        std::thread::scope(|scope| {
            for n in 0..10 {
                let clone = clone_of(dir.path(), &format!("r{n}"), "x/y");
                let (repos, sandbox) = (&repos, &sandbox);
                scope.spawn(move || repos.add(&sandbox.check(&clone).unwrap(), None, None).unwrap());
            }
        });
        assert_eq!(repos.list().unwrap().repos.len(), 10);
    }

    #[test]
    fn malformed_file_is_moved_aside() {
        let (_dir, _, repos, _) = fixture();
        let path = repos.path().unwrap();
        files::write_atomic(&path, b"{").unwrap();
        assert!(repos.list().unwrap().repos.is_empty());
        let aside = std::fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.to_string_lossy().contains("corrupt"))
            .unwrap();
        assert_eq!(std::fs::read(aside).unwrap(), b"{");
    }

    #[test]
    fn changes_by_other_processes_are_read_and_preserved() {
        let (dir, _, repos, _) = fixture();
        assert!(repos.list().unwrap().repos.is_empty());
        let entry = serde_json::json!({"path": dir.path().join("box/a"), "deployment": {"detectedAt": "x"}});
        // The deployment member and the second entry were written by another program.
        let document = serde_json::json!({"repos": [entry, {"nope": 1}], "settings": {"z": 1}});
        std::fs::write(repos.path().unwrap(), document.to_string()).unwrap();
        assert_eq!(repos.list().unwrap().repos.len(), 1);
        repos.seed().unwrap();
        let stored = std::fs::read_to_string(repos.path().unwrap()).unwrap();
        assert!(stored.contains("detectedAt") && stored.contains("\"z\": 1"), "{stored}");
    }

    #[test]
    fn entry_outside_the_sandbox_is_ignored_and_stays_in_the_file() {
        let (dir, _, repos, _) = fixture();
        let inside = clone_of(dir.path(), "shop", "git@github.com:acme/shop.git");
        let outside = clone_of(dir.path(), "../secret", "git@github.com:acme/secret.git");
        let document = serde_json::json!({"repos": [{"path": outside}, {"path": inside}]});
        files::write_atomic(&repos.path().unwrap(), document.to_string().as_bytes()).unwrap();
        let list = repos.list().unwrap();
        assert!(list.repos.len() == 1 && list.repos[0].path == inside.to_string_lossy());
        assert_eq!(repos.find(&"acme/secret".parse().unwrap()).unwrap(), None);
        assert_eq!(repos.find(&"acme/shop".parse().unwrap()).unwrap(), Some(inside));
        repos.update_settings(|settings| settings.worktree_parent_dir_confirmed = Some(true)).unwrap();
        assert!(std::fs::read_to_string(repos.path().unwrap()).unwrap().contains("secret"));
    }

    #[cfg(unix)]
    #[test]
    fn pipe_and_device_are_moved_aside_without_blocking() {
        let (dir, _, repos, sandbox) = fixture();
        let path = repos.path().unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        assert!(repos.list().unwrap().repos.is_empty());
        // A device behind a link would never end when read.
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let clone = clone_of(dir.path(), "shop", "x/y");
        repos.add(&sandbox.check(clone).unwrap(), None, None).unwrap();
        assert_eq!(repos.list().unwrap().repos.len(), 1);
        let names = std::fs::read_dir(path.parent().unwrap()).unwrap();
        let aside = |name: &str| name.contains(".corrupt-");
        assert_eq!(
            names.filter(|entry| aside(&entry.as_ref().unwrap().file_name().to_string_lossy())).count(),
            2
        );
    }

    #[cfg(unix)]
    #[test]
    fn symlinked_directory_is_not_followed() {
        for link in [".loopgate", ".loopgate/config"] {
            let (dir, _, repos, sandbox) = fixture();
            let outside = dir.path().join("outside");
            std::fs::create_dir_all(outside.join("config")).unwrap();
            let link = dir.path().join("box").join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&outside, &link).unwrap();
            let clone = clone_of(dir.path(), "shop", "x/y");
            let error = repos.add(&sandbox.check(clone).unwrap(), None, None).unwrap_err().to_string();
            assert!(error.contains("symbolic link"), "{error}");
            assert!(repos.list().is_err());
            assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
            assert_eq!(std::fs::read_dir(outside.join("config")).unwrap().count(), 0);
        }
    }
}
