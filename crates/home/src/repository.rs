//! What a repository is, decided without git: the nearest working tree or bare repository at or
//! above a directory, never above the sandbox.
//!
//! Everything that git would follow from there is followed here first: the records of the working
//! tree, those that it shares with others, and where it borrows objects. All of it has to be in the
//! sandbox, and the records have to name the working tree that names them. What was looked at is held
//! open, so that git can be given the same directories.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;
use thiserror::Error;

use crate::git_config::{ConfigEntry, parse_git_config};
use crate::sandbox::{Directory, EntryKind, Sandbox, SandboxedPath};

/// Bytes of a file that holds one path.
const MAX_POINTER: u64 = 8 * 1024;
/// Bytes of a configuration file.
const MAX_CONFIG: u64 = 1024 * 1024;
/// Repositories that borrow objects from each other in a row; as many as git follows.
const MAX_ALTERNATES: usize = 5;

/// Records that git opens, where they are.
const RECORDS: [&str; 18] = [
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "info",
    "info/attributes",
    "info/exclude",
    "info/sparse-checkout",
    "logs",
    "modules",
    "objects",
    "objects/info",
    "objects/pack",
    "packed-refs",
    "refs",
    "refs/heads",
    "shallow",
    "worktrees",
];
/// Files of a working tree that git reads by itself.
const RULES: [&str; 4] = [".gitattributes", ".gitignore", ".gitmodules", ".mailmap"];

/// Why a directory is no repository that git is started in.
#[derive(Debug, Error)]
pub enum RepositoryError {
    /// None is there, or none that is in the sandbox.
    #[error("not a git repository")]
    None,
    /// One is there that is not used; the reason.
    #[error("this repository is not used: {0}")]
    Refused(String),
    /// The disk refused.
    #[error("the repository could not be read: {0}")]
    Disk(#[from] io::Error),
}

/// A repository whose every part is in the sandbox.
#[derive(Debug)]
pub struct Repository {
    /// Root of the working tree; the records themselves when it is bare.
    pub root: PathBuf,
    /// The directory that was asked about, below the root.
    pub prefix: PathBuf,
    /// The records of this working tree.
    pub own: PathBuf,
    /// The records that all its working trees share.
    pub common: PathBuf,
    /// Whether it has no working tree.
    pub bare: bool,
    /// What its own configuration files say, those of the working tree last. Files that they include
    /// are not among it.
    pub config: Vec<ConfigEntry>,
    /// The three directories, held open.
    pub handles: RepositoryHandles,
}

/// The directories of a repository as they were found.
#[derive(Debug)]
pub struct RepositoryHandles {
    /// [`Repository::root`].
    pub root: Directory,
    /// [`Repository::own`].
    pub own: Directory,
    /// [`Repository::common`].
    pub common: Directory,
}

fn refused<T>(reason: impl Into<String>) -> Result<T, RepositoryError> {
    Err(RepositoryError::Refused(reason.into()))
}

impl Sandbox {
    /// The repository whose working tree has its root here, or the bare one that is here. Touches the
    /// disk.
    #[must_use]
    pub fn repository_at(&self, directory: &Path) -> Option<Repository> {
        self.repository(directory).ok().filter(Repository::is_root)
    }

    /// The repository that the `origin` remote of a clone or worktree names. Touches the disk.
    #[must_use]
    pub fn origin_of(&self, checkout: &Path) -> Option<RepoFullName> {
        self.repository_at(checkout)?.origin()
    }

    /// The repository that a directory belongs to. Touches the disk.
    ///
    /// # Errors
    /// [`RepositoryError`]
    pub fn repository(&self, directory: &Path) -> Result<Repository, RepositoryError> {
        let Ok(asked) = self.check(directory) else { return Err(RepositoryError::None) };
        let base = Directory::of(asked.base())?;
        let mut at = asked.below_base();
        loop {
            let handle = match base.directory(at) {
                Err(error) if at == asked.below_base() && error.kind() == io::ErrorKind::NotFound => {
                    return Err(RepositoryError::None);
                }
                opened => opened?,
            };
            let root = asked.base().join(at);
            // A place that is denied is not looked into from below either, and whoever works in a
            // repository can add everything in it, keys too.
            if self.denies(&root) || self.holds_data_dir(&root) {
                return Err(RepositoryError::None);
            }
            let prefix = || asked.below_base().strip_prefix(at).unwrap_or(Path::new("")).to_owned();
            match handle.kind(Path::new(".git")) {
                None if is_bare(&handle) => {
                    // Within a working tree it is a file like others, which somebody else wrote.
                    if at.ancestors().skip(1).any(|above| base.holds(&above.join(".git"))) {
                        return refused("it is a bare repository inside another one's working tree");
                    }
                    if !prefix().as_os_str().is_empty() {
                        return Err(RepositoryError::None);
                    }
                    return self.bare(root, handle);
                }
                None => {}
                Some(EntryKind::Directory) => {
                    let own = handle.directory(Path::new(".git"))?;
                    return self.with_records(root.clone(), prefix(), handle, root.join(".git"), own);
                }
                Some(EntryKind::File) => return self.linked(root, prefix(), handle),
                Some(EntryKind::Link | EntryKind::Other) => {
                    return refused("its .git is neither a directory nor a file");
                }
            }
            let Some(above) = at.parent() else { return Err(RepositoryError::None) };
            at = above;
        }
    }

    /// A working tree whose `.git` is a file: a linked worktree, or a submodule.
    fn linked(
        &self,
        root: PathBuf,
        prefix: PathBuf,
        handle: Directory,
    ) -> Result<Repository, RepositoryError> {
        let pointer = read_path(&handle, ".git")?;
        let target = pointer.as_deref().and_then(|pointer| strip_word(pointer, b"gitdir:"));
        let Some(target) = target else { return refused("its .git file cannot be read") };
        let own = self.records(&root.join(target))?;
        let repository = self.with_records(
            root.clone(),
            prefix,
            handle,
            own.canonical().to_owned(),
            own.open_directory()?,
        )?;
        let named = match read_path(&repository.handles.own, "gitdir")? {
            // A linked worktree: its records name the file that names them.
            Some(back) => repository.own.join(back).parent().map(Path::to_owned),
            // A submodule: its configuration names its working tree.
            None => repository.setting("core", "worktree").map(|worktree| repository.own.join(worktree)),
        };
        let named = named.and_then(|named| named.canonicalize().ok());
        if named.as_ref() != Some(&root) {
            return refused("its records belong to another working tree");
        }
        Ok(repository)
    }

    fn bare(&self, root: PathBuf, handle: Directory) -> Result<Repository, RepositoryError> {
        let own = handle.directory(Path::new(""))?;
        let mut repository = self.with_records(root.clone(), PathBuf::new(), handle, root, own)?;
        repository.bare = true;
        Ok(repository)
    }

    fn with_records(
        &self,
        root: PathBuf,
        prefix: PathBuf,
        handle: Directory,
        own_path: PathBuf,
        own: Directory,
    ) -> Result<Repository, RepositoryError> {
        if self.denies(&own_path) {
            return refused("its records lie where nothing may be read");
        }
        if RULES.iter().any(|name| handle.kind(Path::new(name)) == Some(EntryKind::Other)) {
            return refused("a file of rules in it is no file");
        }
        check_kinds(&own)?;
        let (common_path, common) = match read_path(&own, "commondir")? {
            Some(pointer) => {
                let place = self.records(&own_path.join(pointer))?;
                let common = place.open_directory()?;
                check_kinds(&common)?;
                (place.canonical().to_owned(), common)
            }
            None => (own_path.clone(), own.directory(Path::new(""))?),
        };
        if !common.holds(Path::new("objects")) {
            return Err(RepositoryError::None);
        }
        self.check_alternates(&common_path.join("objects"), &common.directory(Path::new("objects"))?, 0)?;
        let mut config = read_config(&common, "config")?;
        config.extend(read_config(&own, "config.worktree")?);
        let handles = RepositoryHandles { root: handle, own, common };
        Ok(Repository { root, prefix, own: own_path, common: common_path, bare: false, config, handles })
    }

    /// Where a file of a repository says that records lie.
    fn records(&self, place: &Path) -> Result<SandboxedPath, RepositoryError> {
        self.check(place).or_else(|_| refused("its records lie outside of the sandbox"))
    }

    fn check_alternates(
        &self,
        objects: &Path,
        handle: &Directory,
        depth: usize,
    ) -> Result<(), RepositoryError> {
        let Some(listed) = read(handle, "info/alternates", MAX_CONFIG)? else { return Ok(()) };
        for line in listed.split(|byte| *byte == b'\n') {
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let place = objects.join(OsStr::from_bytes(line));
            // One in quotes is not read; git knows them, and hardly anybody writes them.
            let allowed = if line.starts_with(b"\"") { None } else { self.check(&place).ok() };
            let Some(allowed) = allowed else {
                return refused("it borrows objects from outside of the sandbox");
            };
            if depth >= MAX_ALTERNATES {
                return refused("it borrows objects over too many others");
            }
            match allowed.open_directory() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                opened => self.check_alternates(allowed.canonical(), &opened?, depth + 1)?,
            }
        }
        Ok(())
    }
}

impl Repository {
    /// The clone that a worktree belongs to: where the shared records are told by.
    #[must_use]
    pub fn clone_root(&self) -> &Path {
        let holder = self.common.parent().filter(|_| self.common.ends_with(".git"));
        holder.unwrap_or(&self.common)
    }

    /// Whether a directory is the root of its working tree, and not one below it.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.prefix.as_os_str().is_empty()
    }

    /// The repository that its `origin` remote names.
    #[must_use]
    pub fn origin(&self) -> Option<RepoFullName> {
        origin_in(&self.config)
    }

    /// The branch that the remote's HEAD names, else the one that is checked out in the clone.
    #[must_use]
    pub fn default_branch(&self) -> Option<String> {
        let named = |file: &str, prefix: &str| {
            let bytes = self.handles.common.read(Path::new(file), MAX_POINTER).ok()?;
            let text = String::from_utf8(bytes).ok()?;
            Some(text.trim().strip_prefix("ref: ")?.strip_prefix(prefix)?.to_owned())
        };
        named("refs/remotes/origin/HEAD", "refs/remotes/origin/").or_else(|| named("HEAD", "refs/heads/"))
    }

    /// The last value of a variable without a subsection, in the repository's own files.
    #[must_use]
    pub fn setting(&self, section: &str, name: &str) -> Option<&str> {
        let found = self.config.iter().rev().find(|entry| entry.is(section, name))?;
        found.value.as_deref()
    }
}

/// The repository that the `origin` remote of a clone names, wherever the clone lies: for a place that the
/// person chose. Touches the disk.
#[must_use]
pub fn origin_of_chosen(clone: &Path) -> Option<RepoFullName> {
    let bytes = Directory::of(clone).ok()?.read(Path::new(".git/config"), MAX_CONFIG).ok()?;
    origin_in(&parse_git_config(&bytes)?)
}

fn origin_in(config: &[ConfigEntry]) -> Option<RepoFullName> {
    let url = config.iter().find(|entry| {
        entry.section == "remote" && entry.subsection.as_deref() == Some("origin") && entry.name == "url"
    })?;
    RepoFullName::from_remote_url(url.value.as_deref()?)
}

/// Whether a directory has what makes git take it for a bare repository.
fn is_bare(directory: &Directory) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| directory.holds(Path::new(name)))
}

fn check_kinds(records: &Directory) -> Result<(), RepositoryError> {
    let odd =
        |name: &&&str| matches!(records.kind(Path::new(name)), Some(EntryKind::Link | EntryKind::Other));
    match RECORDS.iter().find(odd) {
        Some(name) => refused(format!("{name} among its records is neither a file nor a directory")),
        None => Ok(()),
    }
}

/// A file of records; `None` when there is none.
fn read(directory: &Directory, name: &str, most: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
    match directory.read(Path::new(name), most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !directory.holds(Path::new(name)) => {
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => refused(format!("{name} among its records cannot be read: {error}")),
    }
}

/// The path in a file that holds nothing else.
fn read_path(directory: &Directory, name: &str) -> Result<Option<PathBuf>, RepositoryError> {
    let Some(bytes) = read(directory, name, MAX_POINTER)? else { return Ok(None) };
    Ok(Some(PathBuf::from(OsStr::from_bytes(bytes.trim_ascii_end()))))
}

fn read_config(directory: &Directory, name: &str) -> Result<Vec<ConfigEntry>, RepositoryError> {
    let Some(bytes) = read(directory, name, MAX_CONFIG)? else { return Ok(Vec::new()) };
    parse_git_config(&bytes).map_or_else(|| refused(format!("{name} among its records is malformed")), Ok)
}

/// The path after a keyword and whitespace.
fn strip_word(path: &Path, word: &[u8]) -> Option<PathBuf> {
    let rest = path.as_os_str().as_bytes().strip_prefix(word)?.trim_ascii_start();
    (!rest.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(rest)))
}

#[cfg(test)]
mod tests;
