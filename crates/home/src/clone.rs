//! What the files of a clone say of it, read without starting git: where git keeps its records, the
//! repository that it came from, its default branch. A worktree speaks for the clone it belongs to.

use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;

use crate::repository::Repository;
use crate::sandbox::{Directory, Kind, Sandbox};

/// Bytes of a file of records that is read here.
const MAX_RECORD: u64 = 1024 * 1024;

impl Sandbox {
    /// The repository that the `origin` remote of a clone or a worktree names, when all its records lie
    /// in the sandbox. Touches the disk.
    #[must_use]
    pub fn origin_of(&self, clone: &Path) -> Option<RepoFullName> {
        let repository = self.repository_at(clone)?;
        let is_url = |entry: &&crate::ConfigEntry| {
            let of_origin = entry.section == "remote" && entry.subsection.as_deref() == Some("origin");
            of_origin && entry.name == "url"
        };
        RepoFullName::from_remote_url(repository.config.iter().find(is_url)?.value.as_deref()?)
    }

    /// The branch that the remote's HEAD names in a clone, else the one that is checked out, when all
    /// its records lie in the sandbox. Touches the disk.
    #[must_use]
    pub fn default_branch_of(&self, clone: &Path) -> Option<String> {
        default_branch_in(&self.repository_at(clone)?.handles.common)
    }

    /// The repository whose root a directory is.
    fn repository_at(&self, root: &Path) -> Option<Repository> {
        self.repository(root).ok().filter(|repository| repository.prefix.as_os_str().is_empty())
    }
}

/// The repository that the `origin` remote of a clone names, read from its configuration file
/// without starting git. Worktrees are followed to the clone they belong to, wherever it is: for
/// places that a person named.
#[must_use]
pub fn origin_of(clone: &Path) -> Option<RepoFullName> {
    let config = read(&git_dir(clone)?.1, "config")?;
    RepoFullName::from_remote_url(&origin_url(&config)?)
}

fn default_branch_in(records: &Directory) -> Option<String> {
    let named = |file: &str, prefix: &str| {
        let text = read(records, file)?;
        Some(text.trim().strip_prefix("ref: ")?.strip_prefix(prefix)?.to_owned())
    };
    named("refs/remotes/origin/HEAD", "refs/remotes/origin/").or_else(|| named("HEAD", "refs/heads/"))
}

/// The directory that all worktrees of a clone share, with links resolved.
#[must_use]
pub fn common_git_dir(checkout: &Path) -> Option<PathBuf> {
    git_dir(checkout)?.0.canonicalize().ok()
}

/// Where the `.git` file of a worktree or a submodule leads, which may be gone.
#[must_use]
pub fn linked_git_dir(checkout: &Path) -> Option<PathBuf> {
    linked(checkout, &Directory::of(checkout).ok()?)
}

fn linked(checkout: &Path, opened: &Directory) -> Option<PathBuf> {
    Some(checkout.join(read(opened, ".git")?.strip_prefix("gitdir:")?.trim()))
}

/// The directory that holds the shared configuration of a clone, a worktree or a bare repository.
fn git_dir(checkout: &Path) -> Option<(PathBuf, Directory)> {
    let opened = Directory::of(checkout).ok()?;
    if let Ok(records) = opened.directory(Path::new(".git")) {
        return Some((checkout.join(".git"), records));
    }
    let Some(own) = linked(checkout, &opened) else {
        let kind = |name: &str| opened.kind(Path::new(name));
        let bare = kind("HEAD") == Some(Kind::File) && kind("objects") == Some(Kind::Directory);
        return bare.then(|| (checkout.to_owned(), opened));
    };
    let records = Directory::of(&own).ok()?;
    match read(&records, "commondir") {
        Some(common) => {
            let common = own.join(common.trim());
            let records = Directory::of(&common).ok()?;
            Some((common, records))
        }
        None => Some((own, records)),
    }
}

fn read(directory: &Directory, name: &str) -> Option<String> {
    String::from_utf8(directory.read(Path::new(name), MAX_RECORD).ok()?).ok()
}

fn origin_url(config: &str) -> Option<String> {
    let mut in_origin = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_origin =
                line.strip_prefix("[remote").is_some_and(|rest| rest.trim_start().starts_with("\"origin\"]"));
        } else if in_origin
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("url")
        {
            return Some(value.trim().trim_matches('"').to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clone_in(dir: &Path, config: &str) -> PathBuf {
        let clone = dir.join("shop");
        std::fs::create_dir_all(clone.join(".git/worktrees/one")).unwrap();
        std::fs::write(clone.join(".git/config"), config).unwrap();
        clone
    }

    #[test]
    fn the_default_branch_stands_in_the_clone() {
        let dir = tempfile::tempdir().unwrap();
        let clone = clone_in(dir.path(), "");
        let default_branch_of = |clone: &Path| default_branch_in(&git_dir(clone).unwrap().1);
        assert_eq!(default_branch_of(&clone), None);
        std::fs::write(clone.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        assert_eq!(default_branch_of(&clone).as_deref(), Some("feature/x"));
        std::fs::create_dir_all(clone.join(".git/refs/remotes/origin")).unwrap();
        let head = clone.join(".git/refs/remotes/origin/HEAD");
        std::fs::write(head, "ref: refs/remotes/origin/trunk\n").unwrap();
        assert_eq!(default_branch_of(&clone).as_deref(), Some("trunk"));
    }

    #[test]
    fn a_worktree_speaks_for_its_clone_and_a_bare_repository_for_itself() {
        let dir = tempfile::tempdir().unwrap();
        let clone = clone_in(dir.path(), "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n");
        std::fs::write(clone.join(".git/worktrees/one/commondir"), "../..\n").unwrap();
        let worktree = dir.path().join("one");
        std::fs::create_dir(&worktree).unwrap();
        std::fs::write(worktree.join(".git"), "gitdir: ../shop/.git/worktrees/one\n").unwrap();
        let shared = clone.join(".git").canonicalize().unwrap();
        assert_eq!(common_git_dir(&clone).as_ref(), Some(&shared));
        assert_eq!(common_git_dir(&worktree), Some(shared));
        assert_eq!(origin_of(&worktree).unwrap().as_str(), "acme/shop");

        let bare = dir.path().join("bare.git");
        std::fs::rename(clone.join(".git"), &bare).unwrap();
        std::fs::create_dir(bare.join("objects")).unwrap();
        assert_eq!(common_git_dir(&bare), None, "without HEAD it is none");
        std::fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(common_git_dir(&bare), Some(bare.canonicalize().unwrap()));
        assert_eq!(common_git_dir(&worktree), None, "its clone is gone");
        assert!(linked_git_dir(&worktree).is_some_and(|own| !own.exists()));
    }

    #[test]
    fn what_lies_outside_of_the_sandbox_is_not_told() {
        use std::sync::Arc;
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("box");
        std::fs::create_dir(&base).unwrap();
        let overrides = crate::Overrides { sandbox_base_directory: Some(base.clone()), ..Default::default() };
        let store = crate::SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        let sandbox = Sandbox::new(Arc::new(store), &dir.path().join("data"));
        let config = "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n";
        let (inside, outside) = (clone_in(&base, config), clone_in(dir.path(), config));
        for clone in [&inside, &outside] {
            std::fs::create_dir(clone.join(".git/objects")).unwrap();
            std::fs::write(clone.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        assert_eq!(sandbox.origin_of(&inside).unwrap().as_str(), "acme/shop");
        assert_eq!(sandbox.default_branch_of(&inside).as_deref(), Some("main"));
        assert_eq!(sandbox.origin_of(&inside.join(".git")), None);
        assert_eq!((sandbox.origin_of(&outside), sandbox.default_branch_of(&outside)), (None, None));
        let pointing = base.join("pointing");
        std::fs::create_dir(&pointing).unwrap();
        std::fs::write(pointing.join(".git"), format!("gitdir: {}/.git", outside.display())).unwrap();
        assert_eq!((sandbox.origin_of(&pointing), sandbox.default_branch_of(&pointing)), (None, None));
    }
}
