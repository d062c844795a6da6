//! Where worktrees lie: the one rule for making them and for finding them again.
//!
//! Parents are tried in the order environment, setting, the repository's own parent. Every path
//! that comes out of here was allowed by the sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_api::ids::TicketId;
use loopgate_home::{Repos, Sandbox, SandboxedPath};

use crate::workspace::naming::{WorktreeNames, loop_directory};

/// Finds and chooses directories of worktrees.
#[derive(Debug, Clone)]
pub struct WorktreeLayout {
    repos: Arc<Repos>,
    sandbox: Arc<Sandbox>,
}

impl WorktreeLayout {
    /// A layout below the parents that the list of repositories and the environment name.
    #[must_use]
    pub const fn new(repos: Arc<Repos>, sandbox: Arc<Sandbox>) -> Self {
        Self { repos, sandbox }
    }

    /// The worktree of a ticket, when there is one. Looks at the disk.
    #[must_use]
    pub fn ticket_worktree(&self, repository: &SandboxedPath, ticket: &TicketId) -> Option<SandboxedPath> {
        self.find(repository, &name_of(repository, ticket))
    }

    /// Where the work on a ticket lies: its own worktree, else that of the loops that carry its id as their slug.
    /// Looks at the disk.
    #[must_use]
    pub fn work_on_ticket(&self, repository: &SandboxedPath, ticket: &TicketId) -> Option<SandboxedPath> {
        let of_loops = || {
            let key = WorktreeNames::of_document(ticket.as_str())?;
            self.find(repository, &loop_directory(&repository.base_name(), &key))
        };
        self.ticket_worktree(repository, ticket).or_else(of_loops)
    }

    /// Where a new worktree of a ticket goes. Looks at the disk.
    ///
    /// # Errors
    /// The path that the sandbox does not allow.
    pub fn for_ticket(
        &self,
        repository: &SandboxedPath,
        ticket: &TicketId,
    ) -> Result<SandboxedPath, PathBuf> {
        self.for_new(repository, &name_of(repository, ticket))
    }

    /// The first existing directory of that name below the parents. Looks at the disk.
    #[must_use]
    pub fn find(&self, repository: &SandboxedPath, name: &str) -> Option<SandboxedPath> {
        let parents = self.repos.worktree_parents(repository.as_path());
        // What is not allowed is not looked at.
        let mut allowed = parents.iter().filter_map(|parent| self.sandbox.check(parent.join(name)).ok());
        allowed
            .find(|place| place.as_path().is_dir() && !belongs_to_another(&self.sandbox, place, repository))
    }

    /// Where a new directory of that name goes; git makes its parents. Looks at the disk.
    ///
    /// # Errors
    /// The path that the sandbox does not allow.
    pub fn for_new(&self, repository: &SandboxedPath, name: &str) -> Result<SandboxedPath, PathBuf> {
        let check = |place: PathBuf| self.sandbox.check(&place).map_err(|_| place);
        for parent in self.repos.worktree_parents(repository.as_path()) {
            // One that is not allowed ends the search: nobody learns what is there.
            let place = check(parent.join(name))?;
            if !belongs_to_another(&self.sandbox, &place, repository) {
                return Ok(place);
            }
        }
        check(repository.as_path().with_file_name(name))
    }

    /// Whether a directory is, or holds, something that no removal of worktrees may touch: the
    /// sandbox, the state directory, or a managed repository. Looks at the disk.
    #[must_use]
    pub fn is_precious(&self, directory: &Path) -> bool {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let base = self.sandbox.base();
        let state = base.as_ref().map(|base| base.join(loopgate_api::names::STATE_DIR));
        // A list that cannot be read may name anything.
        let Ok(list) = self.repos.list() else { return true };
        let managed = list.repos.iter().map(|repo| loopgate_home::expand_home(&repo.path));
        let directory = real(directory.to_owned());
        base.into_iter().chain(state).chain(managed).any(|precious| real(precious).starts_with(&directory))
    }

    /// Whether a directory is where worktrees are made, so that it may be what is left of one:
    /// directly below a parent that was named for them, or beside a managed repository under its
    /// name. Looks at the disk.
    #[must_use]
    pub fn may_be_leftover(&self, directory: &Path) -> bool {
        let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else { return false };
        let name = name.to_string_lossy();
        let is_parent = |known: &Path| known.canonicalize().is_ok_and(|known| known == parent);
        let beside = |repository: PathBuf| {
            let own = repository.file_name().map(|own| format!("{}-", own.to_string_lossy()));
            own.is_some_and(|own| name.starts_with(&own)) && repository.parent().is_some_and(is_parent)
        };
        let Ok(list) = self.repos.list() else { return false };
        !name.starts_with('.')
            && (self.repos.named_worktree_parents().iter().any(|known| is_parent(known))
                || list.repos.iter().any(|repo| beside(loopgate_home::expand_home(&repo.path))))
    }

    /// Whether the sandbox allows a path at this moment.
    #[must_use]
    pub fn allowed(&self, path: &Path) -> Option<SandboxedPath> {
        self.sandbox.check(path).ok()
    }
}

/// Name of a ticket's worktree.
fn name_of(repository: &SandboxedPath, ticket: &TicketId) -> String {
    format!("{}-{}", repository.base_name(), ticket.safe())
}

/// Whether a directory is a checkout of some other repository than this one.
fn belongs_to_another(sandbox: &Sandbox, place: &SandboxedPath, repository: &SandboxedPath) -> bool {
    let records = |path: &SandboxedPath| sandbox.repository_at(path.as_path()).map(|found| found.common);
    match records(place) {
        Some(theirs) => records(repository) != Some(theirs),
        // An unused clone belongs to the user; a worktree whose clone is gone does not.
        None => place.as_path().join(".git").is_dir(),
    }
}

#[cfg(test)]
mod tests {
    use loopgate_home::{Overrides, SettingsStore};

    use super::*;

    #[test]
    fn work_on_a_ticket_is_found_where_its_loops_left_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base.clone()), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&base.join("s.toml"), overrides).unwrap());
        let sandbox = Arc::new(Sandbox::new(settings.clone(), Path::new("/nonexistent-data")));
        let layout = WorktreeLayout::new(Arc::new(Repos::new(settings, sandbox.clone())), sandbox.clone());
        std::fs::create_dir_all(base.join("shop/.git")).unwrap();
        let repository = sandbox.check(base.join("shop")).unwrap();
        let ticket = TicketId::new("ticket-7");
        let found = || layout.work_on_ticket(&repository, &ticket).map(|place| place.as_path().to_owned());

        assert_eq!(found(), None);
        std::fs::create_dir_all(base.join("shop-loop-ticket-7")).unwrap();
        assert_eq!(found(), Some(base.join("shop-loop-ticket-7")));
        std::fs::create_dir_all(base.join("shop-ticket-7")).unwrap();
        assert_eq!(found(), Some(base.join("shop-ticket-7")), "the ticket's own goes first");
        for other in ["ticket-70", "../shop", "loop-ticket-7x"] {
            assert!(layout.work_on_ticket(&repository, &TicketId::new(other)).is_none(), "{other}");
        }
    }

    #[test]
    fn setting_goes_before_the_repositorys_own_parent_and_both_are_searched() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base.clone()), ..Overrides::default() };
        let settings = Arc::new(SettingsStore::open(&base.join("s.toml"), overrides).unwrap());
        let sandbox = Arc::new(Sandbox::new(settings.clone(), Path::new("/nonexistent-data")));
        let repos = Arc::new(Repos::new(settings, sandbox.clone()));
        let places = WorktreeLayout::new(repos.clone(), sandbox.clone());
        std::fs::create_dir_all(base.join("code/shop/.git")).unwrap();
        let repository = sandbox.check(base.join("code/shop")).unwrap();

        let beside = places.for_new(&repository, "shop-1").unwrap();
        assert_eq!(beside.as_path(), base.join("code/shop-1"));
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
        assert!(places.may_be_leftover(&base.join("wt/any")), "below the parent that was set");
        assert!(!places.may_be_leftover(&base.join("wt/.hidden")));
        assert!(!places.may_be_leftover(&base.join("wt/any/deeper")));
        assert!(
            !places.may_be_leftover(&base.join("code/shop-1")),
            "beside a repository that is not managed"
        );
        repos.add(&repository, None, None).unwrap();
        assert!(places.may_be_leftover(&base.join("code/shop-1")));
        assert!(!places.may_be_leftover(&base.join("code/notes")));
        for precious in ["", "code", "code/shop", ".loopgate"] {
            assert!(places.is_precious(&base.join(precious)), "{precious}");
        }
        assert!(!places.is_precious(&base.join("code/shop-1")));
        repos.update_settings(|s| s.worktree_parent_dir = Some("/etc".into())).unwrap();
        assert_eq!(places.for_new(&repository, "shop-2").unwrap_err(), Path::new("/etc/shop-2"));
    }
}
