//! Which directory a first `loopgate up` may work in when nobody has said so.

use std::path::{Path, PathBuf};

use anyhow::bail;

/// Places that are never taken without being asked for.
const RISKY: &[&str] = &["/", "/home", "/Users"];
const RISKY_TREES: &[&str] = &["/etc", "/private", "/usr", "/bin", "/sbin", "/var", "/System"];

/// Chooses from the directory in which the command was started: the parent of a git checkout,
/// else the directory itself; an error when that would open too much of the machine.
pub fn from_current_directory(current: &Path, home: Option<&Path>) -> anyhow::Result<PathBuf> {
    let is_checkout = current.join(".git").exists();
    let candidates = [current.parent().filter(|_| is_checkout), Some(current)];
    match candidates.into_iter().flatten().find(|path| !is_risky(path, home)) {
        Some(path) => Ok(path.to_owned()),
        None => bail!(
            "Loopgate works in one directory only, and {} would open too much of this machine.\n\
             hint: say which one holds your repositories, for example: loopgate up --sandbox ~/src",
            current.display()
        ),
    }
}

fn is_risky(path: &Path, home: Option<&Path>) -> bool {
    let below_homes =
        path.parent().is_some_and(|parent| parent == Path::new("/home") || parent == Path::new("/Users"));
    home == Some(path)
        || below_homes
        || RISKY.iter().any(|risky| path == Path::new(risky))
        || RISKY_TREES.iter().any(|risky| path.starts_with(risky))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_offers_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        let shop = dir.path().join("src/shop");
        std::fs::create_dir_all(shop.join(".git")).unwrap();
        assert_eq!(from_current_directory(&shop, None).unwrap(), dir.path().join("src"));
        let home = dir.path().join("src");
        assert_eq!(from_current_directory(&shop, Some(&home)).unwrap(), shop, "the home itself is too much");
    }

    #[test]
    fn the_whole_machine_is_never_taken() {
        for path in ["/", "/etc", "/home/dev", "/usr/local"] {
            assert!(from_current_directory(Path::new(path), None).is_err(), "{path}");
        }
    }
}
