//! What a directory is to git, told by its `.git` alone, without starting git. Touches the disk.

use std::path::{Path, PathBuf};

use loopgate_home::Directory;

/// Bytes of a file that names one path.
const MAX_POINTER: u64 = 8 * 1024;

/// What a directory is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutKind {
    /// A repository with its working tree.
    Clone,
    /// A repository without one.
    Bare,
    /// A worktree of another repository; where that one keeps its records, which may be gone.
    Linked(PathBuf),
    /// Something else that has a `.git`, such as a submodule.
    Other,
    /// Nothing that git knows.
    None,
}

impl CheckoutKind {
    /// Looks at a directory.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        let dot_git = directory.join(".git");
        match dot_git.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => Self::Clone,
            Ok(metadata) if metadata.is_file() => match linked_git_dir(directory) {
                // A submodule's records are in `modules`.
                Some(own) if own.parent().is_some_and(|p| p.ends_with("worktrees")) => Self::Linked(own),
                _ => Self::Other,
            },
            Ok(_) => Self::Other,
            Err(_) if directory.join("HEAD").is_file() && directory.join("objects").is_dir() => Self::Bare,
            Err(_) => Self::None,
        }
    }

    /// Whether anything in a directory, at any depth, is known to git. Links are not followed; what
    /// cannot be read counts as known.
    #[must_use]
    pub fn anywhere_in(directory: &Path) -> bool {
        let mut waiting = vec![directory.to_owned()];
        while let Some(directory) = waiting.pop() {
            if Self::of(&directory) != Self::None {
                return true;
            }
            let Ok(entries) = std::fs::read_dir(&directory) else { return true };
            for entry in entries {
                match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
                    Ok((kind, path)) if kind.is_dir() => waiting.push(path),
                    Ok(_) => {}
                    Err(_) => return true,
                }
            }
        }
        false
    }
}

/// Where the `.git` file of a worktree or a submodule leads, which may be gone.
fn linked_git_dir(checkout: &Path) -> Option<PathBuf> {
    let bytes = Directory::of(checkout).ok()?.read(Path::new(".git"), MAX_POINTER).ok()?;
    let pointer = String::from_utf8(bytes).ok()?;
    Some(checkout.join(pointer.strip_prefix("gitdir:")?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_known_by_its_dot_git() {
        let dir = tempfile::tempdir().unwrap();
        let made = |name: &str, pointer: Option<&str>| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            if let Some(pointer) = pointer {
                std::fs::write(path.join(".git"), pointer).unwrap();
            }
            path
        };
        let (clone, bare) = (made("clone", None), made("bare", None));
        std::fs::create_dir_all(clone.join(".git/worktrees/w")).unwrap();
        std::fs::create_dir_all(bare.join("objects")).unwrap();
        std::fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let linked = made("w", Some("gitdir: ../clone/.git/worktrees/w\n"));
        let orphan = made("orphan", Some("gitdir: /gone/.git/worktrees/orphan\n"));
        let submodule = made("sub", Some("gitdir: ../clone/.git/modules/sub\n"));
        let plain = made("plain/deep", None).parent().unwrap().to_owned();

        assert_eq!(CheckoutKind::of(&clone), CheckoutKind::Clone);
        assert_eq!(CheckoutKind::of(&bare), CheckoutKind::Bare);
        assert!(matches!(CheckoutKind::of(&linked), CheckoutKind::Linked(own) if own.is_dir()));
        assert!(matches!(CheckoutKind::of(&orphan), CheckoutKind::Linked(own) if !own.exists()));
        assert_eq!(CheckoutKind::of(&submodule), CheckoutKind::Other);
        assert_eq!(CheckoutKind::of(&plain), CheckoutKind::None);
        assert_eq!(CheckoutKind::of(&made("broken", Some("nonsense"))), CheckoutKind::Other);

        assert!(!CheckoutKind::anywhere_in(&plain));
        std::os::unix::fs::symlink(&clone, plain.join("link")).unwrap();
        assert!(!CheckoutKind::anywhere_in(&plain), "a link leads elsewhere");
        std::fs::rename(&bare, plain.join("deep/bare")).unwrap();
        assert!(CheckoutKind::anywhere_in(&plain));
    }
}
