//! Classification of a directory by its `.git`, without starting git. All functions block.

use std::path::{Path, PathBuf};

use loopgate_home::Directory;

/// Largest `.git` file that is read, in bytes. It contains a single path.
const MAX_POINTER: u64 = 8 * 1024;

/// The kind of a directory, as far as git is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutKind {
    /// A repository with a working tree.
    Clone,
    /// A repository without a working tree.
    Bare,
    /// A linked worktree, with the path of its git directory, which may not exist.
    Linked(PathBuf),
    /// Another directory with a `.git`, such as a submodule.
    Other,
    /// Neither a repository nor a worktree.
    None,
}

impl CheckoutKind {
    /// Classifies a directory without looking at its parents.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        let dot_git = directory.join(".git");
        match dot_git.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => Self::Clone,
            Ok(metadata) if metadata.is_file() => match linked_git_dir(directory) {
                // The git directory of a submodule is in `modules` instead.
                Some(git_dir) if git_dir.parent().is_some_and(|p| p.ends_with("worktrees")) => {
                    Self::Linked(git_dir)
                }
                _ => Self::Other,
            },
            Ok(_) => Self::Other,
            Err(_) if directory.join("HEAD").is_file() && directory.join("objects").is_dir() => Self::Bare,
            Err(_) => Self::None,
        }
    }

    /// Returns whether a directory contains a repository or worktree at any depth. Symbolic links are not
    /// followed. Unreadable directories count as containing one, so that they are not deleted.
    #[must_use]
    pub fn anywhere_in(directory: &Path) -> bool {
        let mut pending = vec![directory.to_owned()];
        while let Some(directory) = pending.pop() {
            if Self::of(&directory) != Self::None {
                return true;
            }
            let Ok(entries) = std::fs::read_dir(&directory) else { return true };
            for entry in entries {
                match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
                    Ok((kind, path)) if kind.is_dir() => pending.push(path),
                    Ok(_) => {}
                    Err(_) => return true,
                }
            }
        }
        false
    }
}

/// Returns the path in the `.git` file of a worktree or submodule, which may not exist.
fn linked_git_dir(checkout: &Path) -> Option<PathBuf> {
    // Read through a directory handle: a `.git` that is a symbolic link or a pipe is not opened.
    let bytes = Directory::of(checkout).ok()?.read(Path::new(".git"), MAX_POINTER).ok()?;
    let pointer = String::from_utf8(bytes).ok()?;
    Some(checkout.join(pointer.strip_prefix("gitdir:")?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_classified_by_its_dot_git() {
        let dir = tempfile::tempdir().unwrap();
        let create = |name: &str, pointer: Option<&str>| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            if let Some(pointer) = pointer {
                std::fs::write(path.join(".git"), pointer).unwrap();
            }
            path
        };
        let (clone, bare) = (create("clone", None), create("bare", None));
        std::fs::create_dir_all(clone.join(".git/worktrees/w")).unwrap();
        std::fs::create_dir_all(bare.join("objects")).unwrap();
        std::fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let linked = create("w", Some("gitdir: ../clone/.git/worktrees/w\n"));
        let orphan = create("orphan", Some("gitdir: /gone/.git/worktrees/orphan\n"));
        let submodule = create("sub", Some("gitdir: ../clone/.git/modules/sub\n"));
        let plain = create("plain/deep", None).parent().unwrap().to_owned();

        assert_eq!(CheckoutKind::of(&clone), CheckoutKind::Clone);
        assert_eq!(CheckoutKind::of(&bare), CheckoutKind::Bare);
        assert!(matches!(CheckoutKind::of(&linked), CheckoutKind::Linked(git_dir) if git_dir.is_dir()));
        assert!(matches!(CheckoutKind::of(&orphan), CheckoutKind::Linked(git_dir) if !git_dir.exists()));
        assert_eq!(CheckoutKind::of(&submodule), CheckoutKind::Other);
        assert_eq!(CheckoutKind::of(&plain), CheckoutKind::None);
        assert_eq!(CheckoutKind::of(&create("broken", Some("nonsense"))), CheckoutKind::Other);

        assert!(!CheckoutKind::anywhere_in(&plain));
        std::os::unix::fs::symlink(&clone, plain.join("link")).unwrap();
        assert!(!CheckoutKind::anywhere_in(&plain), "symbolic links are not followed");
        std::fs::rename(&bare, plain.join("deep/bare")).unwrap();
        assert!(CheckoutKind::anywhere_in(&plain));
    }
}
