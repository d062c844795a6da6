//! What the files of a clone say of it, read without starting git: where git keeps its records, the
//! repository that it came from, its default branch. A worktree speaks for the clone it belongs to.

use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;

/// The repository that the `origin` remote of a clone names, read from its configuration file
/// without starting git. Worktrees are followed to the clone they belong to.
#[must_use]
pub fn origin_of(clone: &Path) -> Option<RepoFullName> {
    let config = std::fs::read_to_string(git_dir(clone)?.join("config")).ok()?;
    RepoFullName::from_remote_url(&origin_url(&config)?)
}

/// The branch that the remote's HEAD names in a clone, else the one that is checked out; read
/// without starting git.
#[must_use]
pub fn default_branch_of(clone: &Path) -> Option<String> {
    let git_dir = git_dir(clone)?;
    let named = |file: &str, prefix: &str| {
        let text = std::fs::read_to_string(git_dir.join(file)).ok()?;
        Some(text.trim().strip_prefix("ref: ")?.strip_prefix(prefix)?.to_owned())
    };
    named("refs/remotes/origin/HEAD", "refs/remotes/origin/").or_else(|| named("HEAD", "refs/heads/"))
}

/// The directory that all worktrees of a clone share, with links resolved.
#[must_use]
pub fn common_git_dir(checkout: &Path) -> Option<PathBuf> {
    git_dir(checkout)?.canonicalize().ok()
}

/// Where the `.git` file of a worktree or a submodule leads, which may be gone.
#[must_use]
pub fn linked_git_dir(checkout: &Path) -> Option<PathBuf> {
    let pointer = std::fs::read_to_string(checkout.join(".git")).ok()?;
    Some(checkout.join(pointer.strip_prefix("gitdir:")?.trim()))
}

/// The directory that holds the shared configuration of a clone, a worktree or a bare repository.
fn git_dir(checkout: &Path) -> Option<PathBuf> {
    let dot_git = checkout.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let Some(own) = linked_git_dir(checkout) else {
        let bare = checkout.join("HEAD").is_file() && checkout.join("objects").is_dir();
        return bare.then(|| checkout.to_owned());
    };
    match std::fs::read_to_string(own.join("commondir")) {
        Ok(common) => Some(own.join(common.trim())),
        Err(_) => Some(own),
    }
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
}
