//! Which directory Loopgate may work in: the one that was named, else one that a first `loopgate up`
//! takes from where it is started.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use loopgate_home::DataDir;

use crate::args::DesktopArgs;
use crate::home::settings;
use crate::terminal;

/// Places that are never taken without being asked for.
const RISKY: &[&str] = &["/", "/home", "/Users"];
const RISKY_TREES: &[&str] = &["/etc", "/private", "/usr", "/bin", "/sbin", "/var", "/System"];

/// The directory of flag, variable or settings, once it is fit to work in. `None` when none is named.
pub fn named(dir: &DataDir, args: &DesktopArgs) -> anyhow::Result<Option<PathBuf>> {
    let Some(base) = settings(dir, args)?.get().sandbox_base_directory.clone() else { return Ok(None) };
    dir.keep_apart(&base)?;
    match base.metadata() {
        Ok(found) => ensure!(found.is_dir(), "the sandbox {} is not a directory", base.display()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "the sandbox {} does not exist\nhint: make it: mkdir -p {}",
            base.display(),
            shell_word(&base)
        ),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot use the sandbox {}", base.display()));
        }
    }
    let home = etcetera::home_dir().ok();
    if args.sandbox.is_some() && !args.yes && holds_home(&base, home.as_deref()) {
        let question = format!(
            "The sandbox {} holds your home directory: loops and pages could reach everything in it. Go on?",
            base.display()
        );
        let refused = format!(
            "the sandbox {} holds your home directory, so that loops and pages could reach everything in it\n\
             hint: name the directory with your repositories, for example ~/src, or agree with --yes",
            base.display()
        );
        ensure!(terminal::confirm(&question)?.unwrap_or(false), refused);
    }
    Ok(Some(base))
}

/// The directory to work in. At a first start it is chosen from the current directory, shown, and kept
/// in the settings.
pub fn named_or_chosen(dir: &DataDir, args: &DesktopArgs) -> anyhow::Result<PathBuf> {
    if let Some(base) = named(dir, args)? {
        return Ok(base);
    }
    let current = std::env::current_dir().context("cannot tell the current directory")?;
    let base = from_current_directory(&current, etcetera::home_dir().ok().as_deref())?;
    dir.keep_apart(&base)?;
    println!("Loopgate works in one directory, with all repositories in it: {}", base.display());
    println!("It is kept as sandbox_base_directory in settings.toml; --sandbox chooses another.");
    let agreed = args.yes || terminal::confirm("Take it?")?.unwrap_or(true);
    ensure!(agreed, "no sandbox was chosen\nhint: name one, for example: loopgate up --sandbox ~/src");
    settings(dir, args)?.update(|settings| settings.sandbox_base_directory = Some(base.clone()))?;
    Ok(base)
}

/// The parent of a git checkout, else the directory itself; an error when that would open too much of
/// the machine.
fn from_current_directory(current: &Path, home: Option<&Path>) -> anyhow::Result<PathBuf> {
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

/// Whether a directory is the home directory or one above it, by whatever name.
fn holds_home(base: &Path, home: Option<&Path>) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    home.is_some_and(|home| real(home).starts_with(real(base))) || real(base) == Path::new("/")
}

/// A path as one word of a shell.
fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:,".contains(c);
    if text.chars().all(is_plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkout_offers_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        let shop = dir.path().join("src/shop");
        std::fs::create_dir_all(shop.join(".git")).unwrap();
        assert_eq!(from_current_directory(&shop, None).unwrap(), dir.path().join("src"));
        let home = dir.path().join("src");
        assert_eq!(from_current_directory(&shop, Some(&home)).unwrap(), shop, "the home itself is too much");
    }

    #[test]
    fn whole_machine_is_never_taken() {
        for path in ["/", "/etc", "/home/dev", "/usr/local"] {
            assert!(from_current_directory(Path::new(path), None).is_err(), "{path}");
        }
    }

    #[test]
    fn home_directory_and_what_is_above_it_hold_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir_all(home.join("src")).unwrap();
        for (base, holds) in [(home.clone(), true), (dir.path().to_owned(), true), (home.join("src"), false)]
        {
            assert_eq!(holds_home(&base, Some(&home)), holds, "{}", base.display());
        }
        assert!(holds_home(Path::new("/"), None));
    }

    #[test]
    fn path_with_blanks_and_quotes_is_one_word() {
        assert_eq!(shell_word(Path::new("/home/dev/src")), "/home/dev/src");
        assert_eq!(shell_word(Path::new("/it's here")), r"'/it'\''s here'");
    }
}
