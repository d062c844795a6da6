//! Discovery of a repository without git: the nearest working tree or bare repository at or above a
//! directory, never above the sandbox base directory.
//!
//! Every path that git would follow from there is checked first: the git directory, the common directory and
//! alternate object directories. All of them must be in the sandbox, and the git directory must refer back to
//! the working tree that refers to it. The checked directories stay open, so that git can be given the same
//! ones.

mod layout;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;
use thiserror::Error;

use crate::git_config::{ConfigEntry, parse_git_config};
use crate::path_resolution::canonical_form;
use crate::remotes::Remotes;
use crate::sandbox::{Directory, EntryKind, Sandbox, SandboxedPath};

/// Maximum size in bytes of a file that contains one path, such as `.git` or `commondir`: twice `PATH_MAX`.
const MAX_POINTER: u64 = 8 * 1024;
/// Maximum size in bytes of a configuration or alternates file.
const MAX_CONFIG: u64 = 1024 * 1024;
/// Maximum depth of alternates that refer to further alternates; git has the same limit.
const MAX_ALTERNATES: usize = 5;

/// Files and directories that git opens in a git directory.
const GIT_DIR_ENTRIES: [&str; 18] = [
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
/// Directories with remotes in the formats before the configuration file. Git reads a remote there that the configuration
/// does not have, so that its URL would be neither displayed nor checked. `git init` creates an empty `branches`.
const LEGACY_REMOTES: [&str; 2] = ["branches", "remotes"];
/// Extensions of the format of a repository, in lower case. Git reads them from the repository only, so that nothing
/// overrides them. A later one may name a place outside of the repository.
const EXTENSIONS: [&str; 10] = [
    "compatobjectformat",
    "noop",
    "noop-v1",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "submodulepathconfig",
    "worktreeconfig",
];
/// Values of `extensions.refStorage`. Git 2.54 and later also accept a format with the URL of a directory.
const REF_STORAGES: [&str; 2] = ["files", "reftable"];
/// Files that git reads in a working tree on its own.
const WORKING_TREE_FILES: [&str; 4] = [".gitattributes", ".gitignore", ".gitmodules", ".mailmap"];

/// Why git is not started in a directory.
#[derive(Debug, Error)]
pub enum RepositoryError {
    /// No repository was found in the sandbox.
    #[error("not a git repository")]
    None,
    /// A repository was found but is unsafe to use; contains the reason.
    #[error("unsafe repository: {0}")]
    Refused(String),
    /// The file system returned an error.
    #[error("the repository could not be read: {0}")]
    Disk(#[from] io::Error),
}

/// A repository of which every part is in the sandbox.
#[derive(Debug)]
pub struct Repository {
    /// Root of the working tree; the git directory itself for a bare repository.
    pub root: PathBuf,
    /// Path of the requested directory relative to the root.
    pub prefix: PathBuf,
    /// Git directory of this working tree (`git rev-parse --git-dir`).
    pub git_dir: PathBuf,
    /// Git directory that all worktrees share (`git rev-parse --git-common-dir`).
    pub common_dir: PathBuf,
    /// Whether the repository has no working tree.
    pub bare: bool,
    /// Entries of the repository's own configuration files, those of `config.worktree` last. Included files
    /// are not read.
    pub config: Vec<ConfigEntry>,
    /// Open handles of the three directories.
    pub handles: RepositoryHandles,
}

/// Directories of a repository, opened when they were checked.
#[derive(Debug)]
pub struct RepositoryHandles {
    /// Open handle of [`Repository::root`].
    pub root: Directory,
    /// Open handle of [`Repository::git_dir`].
    pub git_dir: Directory,
    /// Open handle of [`Repository::common_dir`].
    pub common_dir: Directory,
}

fn refused<T>(reason: impl Into<String>) -> Result<T, RepositoryError> {
    Err(RepositoryError::Refused(reason.into()))
}

impl Sandbox {
    /// Returns the repository whose working tree has its root at this directory, or the bare repository at
    /// it. Reads the disk.
    #[must_use]
    pub fn repository_at(&self, directory: &Path) -> Option<Repository> {
        self.repository(directory).ok().filter(Repository::is_root)
    }

    /// Returns the full name from the URL of the `origin` remote, or of the only one, of a clone or worktree. Reads the
    /// disk.
    #[must_use]
    pub fn origin_of(&self, checkout: &Path) -> Option<RepoFullName> {
        self.repository_at(checkout)?.origin()
    }

    /// Returns the repository that a directory belongs to. Reads the disk.
    ///
    /// # Errors
    /// Fails with [`RepositoryError`] when the directory is in no repository, or in one that is unsafe to
    /// use.
    pub fn repository(&self, directory: &Path) -> Result<Repository, RepositoryError> {
        let Ok(requested) = self.check(directory) else { return Err(RepositoryError::None) };
        let base = Directory::of(requested.base())?;
        let mut at = requested.below_base();
        loop {
            let handle = match base.directory(at) {
                Err(error) if at == requested.below_base() && error.kind() == io::ErrorKind::NotFound => {
                    return Err(RepositoryError::None);
                }
                opened => opened?,
            };
            let root = requested.base().join(at);
            // The deny list holds for directories above the requested one as well. A repository that contains
            // the data directory is refused because `git add` could stage the keys.
            if self.denies(&root) || self.holds_data_dir(&root) {
                return Err(RepositoryError::None);
            }
            let prefix = || requested.below_base().strip_prefix(at).unwrap_or(Path::new("")).to_owned();
            match handle.kind(Path::new(".git")) {
                None if is_bare(&handle) => {
                    // Inside another working tree these files may be committed content, and their
                    // configuration can run programs. A file `.git` is never committed.
                    let names_it =
                        |above: &Path| names_git_dir(&base, above, &requested.base().join(above), &root);
                    let is_inside = |above: &Path| base.exists(&above.join(".git")) && !names_it(above);
                    if at.ancestors().skip(1).any(is_inside) {
                        return refused(
                            "it is a bare repository inside the working tree of another repository",
                        );
                    }
                    if !prefix().as_os_str().is_empty() {
                        return Err(RepositoryError::None);
                    }
                    return self.bare(root, handle);
                }
                None => {}
                Some(EntryKind::Directory) => {
                    let git_dir = handle.directory(Path::new(".git"))?;
                    return self.with_git_dir(root.clone(), prefix(), handle, root.join(".git"), git_dir);
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

    /// Opens a working tree whose `.git` is a file: a linked worktree, a submodule, or one with a separate git directory.
    /// The file may also name a bare repository below it, next to the worktrees of that repository.
    fn linked(
        &self,
        root: PathBuf,
        prefix: PathBuf,
        handle: Directory,
    ) -> Result<Repository, RepositoryError> {
        let pointer = read_path(&handle, ".git")?;
        let target = pointer.as_deref().and_then(|pointer| strip_keyword(pointer, b"gitdir: "));
        let Some(target) = target else { return refused("its .git file cannot be read") };
        let own = self.checked_git_dir(&root.join(target))?;
        let repository = self.with_git_dir(
            root.clone(),
            prefix,
            handle,
            own.canonical().to_owned(),
            own.open_directory()?,
        )?;
        let working_tree = match read_path(&repository.handles.git_dir, "gitdir")? {
            // A linked worktree: `gitdir` contains the path of the worktree's `.git` file.
            Some(dot_git) => repository.git_dir.join(dot_git).parent().map(Path::to_owned),
            // A submodule: `core.worktree` contains the path of its working tree.
            None => repository.setting("core", "worktree").map(|worktree| repository.git_dir.join(worktree)),
        };
        // A directory named `.git` belongs to the working tree that contains it.
        if working_tree.is_none() && !repository.git_dir.ends_with(".git") {
            if !repository.git_dir.starts_with(&root) {
                return refused(
                    "its git directory does not name its working tree; if they belong together, run there: git config \
                     core.worktree \"$PWD\"",
                );
            }
            // What is below the directory belongs to it, like a `.git` directory.
            if repository.setting("core", "bare").is_some_and(|bare| bare.eq_ignore_ascii_case("true")) {
                return self.bare(repository.git_dir, own.open_directory()?);
            }
            return Ok(repository);
        }
        let working_tree = working_tree.and_then(|path| path.canonicalize().ok());
        if working_tree.as_ref() != Some(&root) {
            return refused("its git directory belongs to another working tree");
        }
        Ok(repository)
    }

    fn bare(&self, root: PathBuf, handle: Directory) -> Result<Repository, RepositoryError> {
        let git_dir = handle.directory(Path::new(""))?;
        let mut repository = self.with_git_dir(root.clone(), PathBuf::new(), handle, root, git_dir)?;
        repository.bare = true;
        Ok(repository)
    }

    fn with_git_dir(
        &self,
        root: PathBuf,
        prefix: PathBuf,
        handle: Directory,
        own_path: PathBuf,
        git_dir: Directory,
    ) -> Result<Repository, RepositoryError> {
        if self.denies(&own_path) {
            return refused("its git directory is in a denied directory");
        }
        // A pipe here would make git hang, and a device would never end.
        if WORKING_TREE_FILES.iter().any(|name| handle.kind(Path::new(name)) == Some(EntryKind::Other)) {
            return refused(
                ".gitattributes, .gitignore, .gitmodules or .mailmap is a pipe, socket or device",
            );
        }
        check_kinds(&git_dir)?;
        let (common_path, common_dir) = match read_path(&git_dir, "commondir")? {
            Some(pointer) => {
                let place = self.checked_git_dir(&own_path.join(pointer))?;
                let common_dir = place.open_directory()?;
                check_kinds(&common_dir)?;
                (place.canonical().to_owned(), common_dir)
            }
            None => (own_path.clone(), git_dir.directory(Path::new(""))?),
        };
        if !common_dir.exists(Path::new("objects")) {
            return Err(RepositoryError::None);
        }
        self.check_alternates(&common_path.join("objects"), &common_dir.directory(Path::new("objects"))?, 0)?;
        let mut config = read_config(&common_dir, "config")?;
        config.extend(read_config(&git_dir, "config.worktree")?);
        check_extensions(&config)?;
        let handles = RepositoryHandles { root: handle, git_dir, common_dir };
        Ok(Repository {
            root,
            prefix,
            git_dir: own_path,
            common_dir: common_path,
            bare: false,
            config,
            handles,
        })
    }

    /// Checks the path of a git directory that a file of the repository contains.
    fn checked_git_dir(&self, place: &Path) -> Result<SandboxedPath, RepositoryError> {
        let checked = self.checked_pointer(place);
        checked.map_or_else(|| refused("its git directory is outside of the sandbox"), Ok)
    }

    /// Checks a path that a file of a repository contains; `None` when it is not in the sandbox. The parent of a link
    /// (`link/..`) is refused: [`Sandbox::check`] and some versions of git remove both names, the system and other versions
    /// of git resolve the link first. Reads the disk.
    #[must_use]
    pub fn checked_pointer(&self, place: &Path) -> Option<SandboxedPath> {
        let checked = self.check(place).ok()?;
        (canonical_form(place).as_deref() == Some(checked.canonical())).then_some(checked)
    }

    fn check_alternates(
        &self,
        objects: &Path,
        handle: &Directory,
        depth: usize,
    ) -> Result<(), RepositoryError> {
        let Some(alternates) = read(handle, "info/alternates", MAX_CONFIG)? else { return Ok(()) };
        for line in alternates.split(|byte| *byte == b'\n') {
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let place = objects.join(OsStr::from_bytes(line));
            // Git accepts quoted paths in alternates; they are rare, and unquoting is not worth a second
            // parser.
            let allowed = if line.starts_with(b"\"") { None } else { self.checked_pointer(&place) };
            let Some(allowed) = allowed else {
                return refused("its alternates refer to a directory outside of the sandbox");
            };
            if depth >= MAX_ALTERNATES {
                return refused(format!("its alternates are nested more than {MAX_ALTERNATES} levels deep"));
            }
            // Git ignores alternates that do not exist.
            match allowed.open_directory() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                opened => {
                    let opened = opened?;
                    layout::check_objects(&opened)?;
                    self.check_alternates(allowed.canonical(), &opened, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}

impl Repository {
    /// Returns the root of the clone that a worktree belongs to, which identifies its common directory.
    #[must_use]
    pub fn clone_root(&self) -> &Path {
        let root = self.common_dir.parent().filter(|_| self.common_dir.ends_with(".git"));
        root.unwrap_or(&self.common_dir)
    }

    /// Returns whether the requested directory is the root of the working tree.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.prefix.as_os_str().is_empty()
    }

    /// Returns the remotes of the repository's own configuration.
    #[must_use]
    pub fn remotes(&self) -> Remotes {
        Remotes::of(&self.config)
    }

    /// Returns the full name from the URL of the `origin` remote, or of the only one.
    #[must_use]
    pub fn origin(&self) -> Option<RepoFullName> {
        self.remotes().clone_repository
    }

    /// Returns whether the repository is a clone of this one, or of a fork whose work is proposed to it.
    #[must_use]
    pub fn is_clone_of(&self, name: &RepoFullName) -> bool {
        let Remotes { clone_repository, base_repository, .. } = self.remotes();
        let base = base_repository.map(|repository| repository.full_name);
        clone_repository.into_iter().chain(base).any(|own| own.same_as(name))
    }

    /// Returns the default branch of the base repository as recorded in the clone; without it, the branch that is
    /// checked out in the clone.
    #[must_use]
    pub fn default_branch(&self) -> Option<String> {
        let branch_in = |file: &str, prefix: &str| {
            let bytes = self.handles.common_dir.read(Path::new(file), MAX_POINTER).ok()?;
            let text = String::from_utf8(bytes).ok()?;
            Some(text.trim().strip_prefix("ref: ")?.strip_prefix(prefix)?.to_owned())
        };
        let prefix = self.remotes().base_ref("");
        branch_in(&format!("{prefix}HEAD"), &prefix).or_else(|| branch_in("HEAD", "refs/heads/"))
    }

    /// Returns the last value of a variable without a subsection, from the repository's own files.
    #[must_use]
    pub fn setting(&self, section: &str, name: &str) -> Option<&OsStr> {
        let entry = self.config.iter().rev().find(|entry| entry.is(section, name))?;
        entry.value.as_deref()
    }
}

/// Returns the full name from the URL of the `origin` remote, or of the only one, of a clone outside or inside the
/// sandbox. Only for paths that the user chose. Reads the disk.
#[must_use]
pub fn origin_of_clone(clone: &Path) -> Option<RepoFullName> {
    let bytes = Directory::of(clone).ok()?.read(Path::new(".git/config"), MAX_CONFIG).ok()?;
    Remotes::of(&parse_git_config(&bytes).ok()?).clone_repository
}

/// Returns whether the file `.git` in a directory, which is at `path` and `above` relative to `base`, names a git directory.
fn names_git_dir(base: &Directory, above: &Path, path: &Path, git_dir: &Path) -> bool {
    let pointer = base.directory(above).ok().and_then(|handle| read_path(&handle, ".git").ok().flatten());
    let target = pointer.as_deref().and_then(|pointer| strip_keyword(pointer, b"gitdir: "));
    target.is_some_and(|target| path.join(target).components().eq(git_dir.components()))
}

/// Returns whether git would take a directory for a bare repository.
fn is_bare(directory: &Directory) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| directory.exists(Path::new(name)))
}

fn check_kinds(git_dir: &Directory) -> Result<(), RepositoryError> {
    for name in LEGACY_REMOTES {
        let is_empty = match git_dir.kind(Path::new(name)) {
            None => true,
            Some(EntryKind::Directory) => git_dir.directory(Path::new(name))?.entries()?.is_empty(),
            Some(_) => false,
        };
        if !is_empty {
            return refused(format!(
                "{name} in its git directory contains remotes in an old format; add them with git remote add, and remove \
                 the files"
            ));
        }
    }
    let is_special =
        |name: &&&str| matches!(git_dir.kind(Path::new(name)), Some(EntryKind::Link | EntryKind::Other));
    match GIT_DIR_ENTRIES.iter().find(is_special) {
        Some(name) => refused(format!("{name} in its git directory is neither a file nor a directory")),
        None => Ok(()),
    }
}

/// Refuses extensions that are unknown or store the refs elsewhere.
fn check_extensions(config: &[ConfigEntry]) -> Result<(), RepositoryError> {
    for entry in config.iter().filter(|entry| entry.section == "extensions") {
        let is_known = entry.subsection.is_none() && EXTENSIONS.contains(&entry.name.as_str());
        let is_elsewhere = entry.name == "refstorage"
            && entry.text().is_none_or(|value| !REF_STORAGES.contains(&value.to_ascii_lowercase().as_str()));
        if !is_known || is_elsewhere {
            return refused(format!(
                "its configuration has an extension that Loopgate does not know: {entry}"
            ));
        }
    }
    Ok(())
}

/// Reads a file of a git directory; `None` when it does not exist.
fn read(directory: &Directory, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
    match directory.read(Path::new(name), max_bytes) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !directory.exists(Path::new(name)) => {
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => refused(format!("{name} cannot be read: {error}")),
    }
}

/// Reads a file that contains exactly one path.
fn read_path(directory: &Directory, name: &str) -> Result<Option<PathBuf>, RepositoryError> {
    let Some(bytes) = read(directory, name, MAX_POINTER)? else { return Ok(None) };
    // As git does: a blank at the end is part of the path, so that another directory would be checked.
    let end = bytes.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    Ok(Some(PathBuf::from(OsStr::from_bytes(&bytes[..end]))))
}

fn read_config(directory: &Directory, name: &str) -> Result<Vec<ConfigEntry>, RepositoryError> {
    let Some(bytes) = read(directory, name, MAX_CONFIG)? else { return Ok(Vec::new()) };
    parse_git_config(&bytes).or_else(|error| refused(format!("{name} in its git directory {error}")))
}

fn strip_keyword(path: &Path, keyword: &[u8]) -> Option<PathBuf> {
    let rest = path.as_os_str().as_bytes().strip_prefix(keyword)?;
    (!rest.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(rest)))
}

#[cfg(test)]
mod tests;
