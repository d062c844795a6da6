//! Paths of worktrees: one rule both for creating and for finding them.
//!
//! Parent directories are tried in this order: environment, setting, the repository's own parent. Every
//! returned path is inside the sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_api::ids::TicketId;
use loopgate_home::{Repos, Sandbox, SandboxedPath, is_taken_in_other_case};
use sha2::{Digest as _, Sha256};

use crate::workspace::naming::{WorktreeNames, loop_directory};

/// Determines the directories of worktrees.
#[derive(Debug, Clone)]
pub struct WorktreeLayout {
    repos: Arc<Repos>,
    sandbox: Arc<Sandbox>,
}

impl WorktreeLayout {
    /// Creates a layout over the parents that the list of repositories and the environment define.
    #[must_use]
    pub const fn new(repos: Arc<Repos>, sandbox: Arc<Sandbox>) -> Self {
        Self { repos, sandbox }
    }

    /// Returns the existing worktree of a ticket. Performs blocking I/O.
    #[must_use]
    pub fn ticket_worktree(&self, repository: &SandboxedPath, ticket: &TicketId) -> Option<SandboxedPath> {
        self.find(repository, &name_of(repository, ticket))
    }

    /// Returns the existing worktree with the work on a ticket: its own, or that of loops with the ticket's
    /// id as slug. Performs blocking I/O.
    #[must_use]
    pub fn work_on_ticket(&self, repository: &SandboxedPath, ticket: &TicketId) -> Option<SandboxedPath> {
        let of_loops = || {
            let key = WorktreeNames::of_document(ticket.as_str())?;
            self.find(repository, &loop_directory(&repository.base_name(), &key))
        };
        self.ticket_worktree(repository, ticket).or_else(of_loops)
    }

    /// Returns the path for a new worktree of a ticket. Performs blocking I/O.
    ///
    /// # Errors
    /// Returns the path that is outside the sandbox.
    pub fn for_ticket(
        &self,
        repository: &SandboxedPath,
        ticket: &TicketId,
    ) -> Result<SandboxedPath, PathBuf> {
        self.for_new(repository, &name_of(repository, ticket))
    }

    /// Returns the first existing directory of that name below the parents. Performs blocking I/O.
    #[must_use]
    pub fn find(&self, repository: &SandboxedPath, name: &str) -> Option<SandboxedPath> {
        let parents = self.repos.worktree_parents(repository.as_path());
        let names = [name.to_owned(), distinct_name(name)];
        let places = parents.iter().flat_map(|parent| names.iter().map(|name| parent.join(name)));
        // Paths outside the sandbox are not examined.
        let mut allowed = places.filter_map(|place| self.sandbox.check(place).ok());
        allowed.find(|place| {
            place.as_path().is_dir()
                && !is_taken_in_other_case(place.as_path())
                && !belongs_to_another(&self.sandbox, place, repository)
        })
    }

    /// Returns the path for a new directory of that name; git creates its parents. Performs blocking I/O.
    ///
    /// # Errors
    /// Returns the path that is outside the sandbox.
    pub fn for_new(&self, repository: &SandboxedPath, name: &str) -> Result<SandboxedPath, PathBuf> {
        let check = |place: PathBuf| self.sandbox.check(&place).map_err(|_| place);
        for parent in self.repos.worktree_parents(repository.as_path()) {
            // A path outside the sandbox ends the search, so that the result reveals nothing about its
            // content.
            let mut place = check(parent.join(name))?;
            if is_taken_in_other_case(place.as_path()) {
                place = check(parent.join(distinct_name(name)))?;
            }
            if !belongs_to_another(&self.sandbox, &place, repository) {
                return Ok(place);
            }
        }
        check(repository.as_path().with_file_name(name))
    }

    /// Returns whether a directory is or contains a directory that must never be removed as a worktree: the
    /// sandbox, the state directory or a managed repository. Performs blocking I/O.
    #[must_use]
    pub fn is_protected(&self, directory: &Path) -> bool {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let base = self.sandbox.base();
        let state = base.as_ref().map(|base| base.join(loopgate_api::names::STATE_DIR));
        // Without the list, any directory could contain a managed repository.
        let Ok(list) = self.repos.list() else { return true };
        let managed = list.repos.iter().map(|repo| loopgate_home::expand_home(&repo.path));
        let directory = real(directory.to_owned());
        base.into_iter().chain(state).chain(managed).any(|precious| real(precious).starts_with(&directory))
    }

    /// Returns whether a directory may be the remainder of a worktree: it is directly below a configured
    /// worktree parent, or next to a managed repository with the repository's name as prefix. Performs
    /// blocking I/O.
    #[must_use]
    pub fn may_be_leftover(&self, directory: &Path) -> bool {
        let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else { return false };
        let name = name.to_string_lossy();
        let is_parent =
            |candidate: &Path| candidate.canonicalize().is_ok_and(|candidate| candidate == parent);
        let adjacent = |repository: PathBuf| {
            let own = repository.file_name().map(|own| format!("{}-", own.to_string_lossy()));
            own.is_some_and(|own| name.starts_with(&own)) && repository.parent().is_some_and(is_parent)
        };
        let Ok(list) = self.repos.list() else { return false };
        !name.starts_with('.')
            && (self.repos.configured_worktree_parents().iter().any(|candidate| is_parent(candidate))
                || list.repos.iter().any(|repo| adjacent(loopgate_home::expand_home(&repo.path))))
    }

    /// Returns a path if the sandbox currently allows it.
    #[must_use]
    pub fn allowed(&self, path: &Path) -> Option<SandboxedPath> {
        self.sandbox.check(path).ok()
    }
}

/// Returns the name of a directory whose usual name is in use, except for its case: with a hash, which the case changes.
fn distinct_name(name: &str) -> String {
    format!("{name}-{}", &hex::encode(Sha256::digest(name.as_bytes()))[..6])
}

/// Returns the directory name of a ticket's worktree.
fn name_of(repository: &SandboxedPath, ticket: &TicketId) -> String {
    format!("{}-{}", repository.base_name(), ticket.safe())
}

/// Returns whether a directory is a checkout of a different repository.
fn belongs_to_another(sandbox: &Sandbox, place: &SandboxedPath, repository: &SandboxedPath) -> bool {
    let records =
        |path: &SandboxedPath| sandbox.repository_at(path.as_path()).map(|location| location.common_dir);
    match records(place) {
        Some(theirs) => records(repository) != Some(theirs),
        // A `.git` directory without records is an unused clone of the user; a `.git` file is a worktree
        // whose clone was deleted.
        None => place.as_path().join(".git").is_dir(),
    }
}

#[cfg(test)]
mod tests {
    use loopgate_home::{Overrides, SettingsStore};

    use super::*;

    #[test]
    fn work_on_ticket_falls_back_to_the_worktree_of_its_loops() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base.clone()), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&base.join("s.toml"), overrides).unwrap());
        let sandbox = Arc::new(Sandbox::new(settings.clone(), Path::new("/nonexistent-data")));
        let layout = WorktreeLayout::new(Arc::new(Repos::new(settings, sandbox.clone())), sandbox.clone());
        std::fs::create_dir_all(base.join("shop/.git")).unwrap();
        let repository = sandbox.check(base.join("shop")).unwrap();
        let ticket = TicketId::new("ticket-7");
        let work_dir = || layout.work_on_ticket(&repository, &ticket).map(|place| place.as_path().to_owned());

        assert_eq!(work_dir(), None);
        std::fs::create_dir_all(base.join("shop-loop-ticket-7")).unwrap();
        assert_eq!(work_dir(), Some(base.join("shop-loop-ticket-7")));
        std::fs::create_dir_all(base.join("shop-ticket-7")).unwrap();
        assert_eq!(
            work_dir(),
            Some(base.join("shop-ticket-7")),
            "the ticket's own worktree takes precedence"
        );
        for other in ["ticket-70", "../shop", "loop-ticket-7x"] {
            assert!(layout.work_on_ticket(&repository, &TicketId::new(other)).is_none(), "{other}");
        }
    }

    // Two tickets, or two repositories below the same parent, whose names differ only in case.
    #[test]
    fn names_that_differ_only_in_case_are_different_directories_on_every_disk() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base.clone()), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&base.join("s.toml"), overrides).unwrap());
        let sandbox = Arc::new(Sandbox::new(settings.clone(), Path::new("/nonexistent-data")));
        let places = WorktreeLayout::new(Arc::new(Repos::new(settings, sandbox.clone())), sandbox.clone());
        std::fs::create_dir_all(base.join("shop/.git")).unwrap();
        let repository = sandbox.check(base.join("shop")).unwrap();
        let [upper, lower] = ["SHOP-7", "shop-7"].map(TicketId::new);
        let place = |ticket| places.for_ticket(&repository, ticket).unwrap().as_path().to_owned();
        assert_eq!(place(&upper), base.join("shop-SHOP-7"));
        std::fs::create_dir(place(&upper)).unwrap();
        let other = place(&lower);
        assert!(
            other.to_string_lossy().starts_with(&*base.join("shop-shop-7-").to_string_lossy()),
            "{other:?}"
        );
        assert!(places.ticket_worktree(&repository, &lower).is_none());
        std::fs::create_dir(&other).unwrap();
        assert_eq!(places.ticket_worktree(&repository, &lower).unwrap().as_path(), other);
        assert_eq!(places.ticket_worktree(&repository, &upper).unwrap().as_path(), place(&upper));
    }

    #[test]
    fn configured_parent_precedes_the_repositorys_parent_and_both_are_searched() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base.clone()), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&base.join("s.toml"), overrides).unwrap());
        let sandbox = Arc::new(Sandbox::new(settings.clone(), Path::new("/nonexistent-data")));
        let repos = Arc::new(Repos::new(settings, sandbox.clone()));
        let places = WorktreeLayout::new(repos.clone(), sandbox.clone());
        std::fs::create_dir_all(base.join("code/shop/.git")).unwrap();
        let repository = sandbox.check(base.join("code/shop")).unwrap();

        let adjacent = places.for_new(&repository, "shop-1").unwrap();
        assert_eq!(adjacent.as_path(), base.join("code/shop-1"));
        repos
            .update_settings(|s| s.worktree_parent_dir = Some(base.join("wt").to_string_lossy().into_owned()))
            .unwrap();
        let preferred = places.for_new(&repository, "shop-1").unwrap();
        assert_eq!(preferred.as_path(), base.join("wt/shop-1"));
        assert!(places.find(&repository, "shop-1").is_none());
        std::fs::create_dir_all(base.join("code/shop-1")).unwrap();
        assert_eq!(places.find(&repository, "shop-1").unwrap().as_path(), base.join("code/shop-1"));

        std::fs::create_dir_all(base.join("wt/shop-1/.git")).unwrap();
        assert_eq!(
            places.find(&repository, "shop-1").unwrap().as_path(),
            base.join("code/shop-1"),
            "a checkout of another repository is no match"
        );
        let ticket = TicketId::new("../../etc");
        assert!(places.ticket_worktree(&repository, &ticket).is_none());
        assert!(places.may_be_leftover(&base.join("wt/any")), "below the configured parent");
        assert!(!places.may_be_leftover(&base.join("wt/.hidden")));
        assert!(!places.may_be_leftover(&base.join("wt/any/deeper")));
        assert!(
            !places.may_be_leftover(&base.join("code/shop-1")),
            "next to a repository that is not managed"
        );
        repos.add(&repository, None, None).unwrap();
        assert!(places.may_be_leftover(&base.join("code/shop-1")));
        assert!(!places.may_be_leftover(&base.join("code/notes")));
        for precious in ["", "code", "code/shop", ".loopgate"] {
            assert!(places.is_protected(&base.join(precious)), "{precious}");
        }
        assert!(!places.is_protected(&base.join("code/shop-1")));
        repos.update_settings(|s| s.worktree_parent_dir = Some("/etc".into())).unwrap();
        assert_eq!(places.for_new(&repository, "shop-2").unwrap_err(), Path::new("/etc/shop-2"));
    }
}
