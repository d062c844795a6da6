//! Chooses the sandbox: the configured directory, or at the first `loopgate up` one derived from the current
//! directory.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use loopgate_api::shell::quoted;
use loopgate_home::DataDir;

use crate::args::DesktopArgs;
use crate::home::settings;
use crate::terminal;

/// Directories that are never chosen implicitly: they contain the files of all users.
const RISKY: &[&str] = &["/", "/home", "/Users"];
/// Directories that are never chosen implicitly, nor any directory below them.
const RISKY_TREES: &[&str] = &["/etc", "/private", "/usr", "/bin", "/sbin", "/var", "/System"];

/// Returns the sandbox that flag, environment variable or settings configure, if any, after validating it.
pub fn configured(dir: &DataDir, args: &DesktopArgs) -> anyhow::Result<Option<PathBuf>> {
    let Some(base) = settings(dir, args)?.get().sandbox_base_directory.clone() else { return Ok(None) };
    dir.check_no_overlap(&base)?;
    match base.metadata() {
        Ok(metadata) => ensure!(metadata.is_dir(), "the sandbox {} is not a directory", base.display()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "the sandbox {} does not exist\nhint: create it with: mkdir -p {}",
            base.display(),
            quoted(&base.to_string_lossy())
        ),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot use the sandbox {}", base.display()));
        }
    }
    let home = etcetera::home_dir().ok();
    // Only a flag or variable is confirmed. A stored sandbox would be confirmed at every start.
    if args.sandbox.is_some() && !args.yes && contains_home(&base, home.as_deref()) {
        let question = format!(
            "The sandbox {} contains your home directory: loops and pages could access everything in it. Continue?",
            base.display()
        );
        let refusal = format!(
            "the sandbox {} contains your home directory, so loops and pages could access everything in it\n\
             hint: choose the directory that contains your repositories, for example ~/src, or pass --yes to confirm",
            base.display()
        );
        ensure!(terminal::confirm(&question)?.unwrap_or(false), refusal);
    }
    Ok(Some(base))
}

/// Returns the configured sandbox. At the first start derives it from the current directory, asks for
/// confirmation, and stores it in the settings.
pub fn configured_or_chosen(dir: &DataDir, args: &DesktopArgs) -> anyhow::Result<PathBuf> {
    if let Some(base) = configured(dir, args)? {
        return Ok(base);
    }
    let current = std::env::current_dir().context("cannot determine the current directory")?;
    let base = from_current_directory(&current, etcetera::home_dir().ok().as_deref())?;
    dir.check_no_overlap(&base)?;
    println!("Loopgate works in one directory, with all repositories in it: {}", base.display());
    println!("It is stored as sandbox_base_directory in settings.toml; choose another one with --sandbox.");
    // Without a terminal the directory is used: directories that expose too much were rejected above.
    let is_confirmed = args.yes || terminal::confirm("Use it?")?.unwrap_or(true);
    ensure!(is_confirmed, "no sandbox was chosen\nhint: pass one, for example: loopgate up --sandbox ~/src");
    settings(dir, args)?.update(|settings| settings.sandbox_base_directory = Some(base.clone()))?;
    Ok(base)
}

/// Returns the parent of a git checkout, otherwise the directory itself. Fails when either would expose too
/// much of the machine.
fn from_current_directory(current: &Path, home: Option<&Path>) -> anyhow::Result<PathBuf> {
    let is_checkout = current.join(".git").exists();
    let candidates = [current.parent().filter(|_| is_checkout), Some(current)];
    match candidates.into_iter().flatten().find(|path| !is_risky(path, home)) {
        Some(path) => Ok(path.to_owned()),
        None => bail!(
            "Loopgate works in one directory only, and {} would expose too much of this machine.\n\
             hint: pass the one that contains your repositories, for example: loopgate up --sandbox ~/src",
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

/// Returns whether a directory is the home directory or an ancestor of it.
fn contains_home(base: &Path, home: Option<&Path>) -> bool {
    // Resolved, because a symbolic link can name the home directory.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    home.is_some_and(|home| real(home).starts_with(real(base))) || real(base) == Path::new("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_of_a_checkout_is_chosen() {
        let dir = tempfile::tempdir().unwrap();
        let shop = dir.path().join("src/shop");
        std::fs::create_dir_all(shop.join(".git")).unwrap();
        assert_eq!(from_current_directory(&shop, None).unwrap(), dir.path().join("src"));
        let home = dir.path().join("src");
        assert_eq!(
            from_current_directory(&shop, Some(&home)).unwrap(),
            shop,
            "the home directory is not chosen"
        );
    }

    #[test]
    fn system_directories_are_not_chosen() {
        for path in ["/", "/etc", "/home/dev", "/usr/local"] {
            assert!(from_current_directory(Path::new(path), None).is_err(), "{path}");
        }
    }

    #[test]
    fn home_directory_is_contained_in_its_ancestors() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir_all(home.join("src")).unwrap();
        for (base, expected) in
            [(home.clone(), true), (dir.path().to_owned(), true), (home.join("src"), false)]
        {
            assert_eq!(contains_home(&base, Some(&home)), expected, "{}", base.display());
        }
        assert!(contains_home(Path::new("/"), None));
    }
}
