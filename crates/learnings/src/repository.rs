//! Identity of a repository, by which its learnings are distinguished from those of others.

use std::path::{Path, PathBuf};

use loopgate_home::{Remotes, parse_git_config};
use sha2::{Digest as _, Sha256};

/// Maximum size of a git configuration file in bytes.
const MAX_CONFIG: u64 = 1024 * 1024;
/// Owner of repositories without a remote, which have none at a host.
const LOCAL_OWNER: &str = "local";
/// Digits of the hash that distinguishes local repositories of the same name.
const HASH_DIGITS: usize = 8;

/// Returns the owner and name of the repository that contains a directory: those at its host, by its `origin` or only
/// remote, else `local/<name>-<hash of its path>`. All worktrees of a clone have the same. Reads the disk.
#[must_use]
pub fn repository_key(directory: &Path) -> String {
    let git_dir = directory.ancestors().find_map(common_git_dir);
    let config = git_dir.as_deref().and_then(|dir| read(&dir.join("config")));
    let remotes = config.and_then(|bytes| Some(Remotes::of(&parse_git_config(&bytes).ok()?)));
    if let Some(name) = remotes.and_then(|remotes| remotes.clone_repository) {
        return name.as_str().to_owned();
    }
    let path = git_dir.unwrap_or_else(|| directory.to_owned());
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let root = if path.ends_with(".git") { path.parent().unwrap_or(&path) } else { &path };
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let digest = hex::encode(Sha256::digest(root.as_os_str().as_encoded_bytes()));
    let hash = digest.get(..HASH_DIGITS).unwrap_or_default();
    format!("{LOCAL_OWNER}/{name}-{hash}")
}

/// Returns the git directory that all worktrees of the repository at `root` share.
fn common_git_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let pointed = |path: &Path, prefix: &str| {
        let text = String::from_utf8(read(path)?).ok()?;
        Some(PathBuf::from(text.trim().strip_prefix(prefix)?.trim()))
    };
    let git_dir = root.join(pointed(&git, "gitdir:")?);
    match pointed(&git_dir.join("commondir"), "") {
        Some(common) => std::fs::canonicalize(git_dir.join(common)).ok(),
        None => Some(git_dir),
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let metadata = std::fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= MAX_CONFIG).then(|| std::fs::read(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(dir: &Path, url: Option<&str>) {
        std::fs::create_dir_all(dir.join(".git/worktrees/w")).unwrap();
        let remote = url.map(|url| format!("[remote \"origin\"]\n\turl = {url}\n")).unwrap_or_default();
        std::fs::write(dir.join(".git/config"), remote).unwrap();
    }

    #[test]
    fn worktrees_have_the_owner_and_name_of_their_clone() {
        let dir = tempfile::tempdir().unwrap();
        let clone = dir.path().join("clone");
        repository(&clone, Some("git@github.com:acme/shop.git"));
        let worktree = dir.path().join("other-name");
        std::fs::create_dir_all(worktree.join("src")).unwrap();
        let git_dir = clone.join(".git/worktrees/w");
        std::fs::write(git_dir.join("commondir"), "../..\n").unwrap();
        std::fs::write(worktree.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        assert_eq!(repository_key(&clone), "acme/shop");
        assert_eq!(repository_key(&worktree.join("src")), "acme/shop");
    }

    #[test]
    fn repositories_of_the_same_name_without_a_remote_differ() {
        let dir = tempfile::tempdir().unwrap();
        let keys = ["a/shop", "b/shop"].map(|path| {
            repository(&dir.path().join(path), None);
            repository_key(&dir.path().join(path))
        });
        assert!(keys.iter().all(|key| key.starts_with("local/shop-")), "{keys:?}");
        assert_ne!(keys[0], keys[1]);
    }
}
