//! The executable content of a repository, and whether the user trusts it.
//!
//! Executable content is: programs in the repository's configuration, hooks, and files that make the
//! assistant or the reviewer run programs. None of it is executed until the user has reviewed it with
//! `loopgate trust`. Files that these programs themselves read or start are not covered.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{
    Directory, EntryKind, Repository, RepositoryError, Sandbox, TrustStore, expand_home, trust_command,
};
use sha2::{Digest as _, Sha256};

use super::config::{self, ConfigVariable};
use super::lfs::is_missing;
use super::{Git, GitError};
use crate::instructions::Instructions;

/// Files of a working tree that make a program run: read by the assistant or the reviewer, or executed by a
/// loop to set up its worktree.
const FILES: [&str; 4] =
    [".claude/settings.json", ".claude/settings.local.json", ".loopgate/loops-setup.sh", ".mcp.json"];
/// Instructions that are often links to files of the user. They are left out until the user trusts the repository, so
/// links that lead out of it are parts that the user can trust.
const INSTRUCTIONS: [&str; 4] = ["AGENTS.md", "CLAUDE.local.md", "CLAUDE.md", ".claude/CLAUDE.md"];
/// Directories with such files.
const DIRECTORIES: [&str; 5] =
    [".claude/agents", ".claude/commands", ".claude/hooks", ".claude/skills", ".codex"];
/// Maximum size of a part in bytes, and maximum number of parts. A user could not review more, so a
/// repository that exceeds them is never trusted.
const MAX_PART_BYTES: u64 = 1024 * 1024;
const MAX_PARTS: usize = 1000;

/// A part of a repository that can execute a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutablePart {
    /// Kind and name of the part: `hook pre-commit`, `setting core.sshcommand`, `file .mcp.json`.
    pub name: String,
    /// Content of the file, or values of the setting, one per line.
    pub content: Vec<u8>,
}

/// The executable content of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutableContent {
    /// The root of the clone, to which trust applies. Its worktrees share it.
    pub clone: PathBuf,
    /// The root of the working tree that was inspected.
    pub root: PathBuf,
    /// The parts, sorted by name.
    pub parts: Vec<ExecutablePart>,
}

impl ExecutablePart {
    /// Returns the line that is recorded when the user trusts the part: the hash of its content and its name.
    #[must_use]
    pub fn entry(&self) -> String {
        let mut entry = String::new();
        for byte in Sha256::digest(&self.content) {
            let _ = write!(entry, "{byte:02x}");
        }
        entry + " " + &self.name
    }
}

impl ExecutableContent {
    /// Returns the lines to record for all parts.
    #[must_use]
    pub fn entries(&self) -> BTreeSet<String> {
        self.parts.iter().map(ExecutablePart::entry).collect()
    }

    /// Returns whether the user trusts all parts with their current content.
    #[must_use]
    pub fn is_trusted(&self, store: &TrustStore) -> bool {
        store.trusts(&self.clone, &self.entries())
    }

    /// Returns the names of the parts, joined by commas.
    #[must_use]
    pub fn names(&self) -> String {
        self.parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl Git {
    /// Collects the executable content of the repository that contains a directory.
    ///
    /// # Errors
    /// Fails with [`GitError`] when there is no repository, or a part cannot be read.
    pub async fn executable_content(&self, directory: &Path) -> Result<ExecutableContent, GitError> {
        let repository = self.repository(directory).await?;
        let variables = self.effective_config(&repository).await?;
        self.executable_content_of(&repository, variables).await
    }

    /// Returns whether the user trusts the repository that contains a directory. Returns `false` when it
    /// cannot be inspected.
    pub async fn trusts(&self, directory: &Path) -> bool {
        let Ok(content) = self.executable_content(directory).await else { return false };
        self.is_content_trusted(content).await
    }

    /// Finds the instructions of a checkout, of which those that lead out of it are left out until the user agrees to them.
    /// In a directory of a repository, these are the ones of the whole working tree: agents read those of the directories
    /// above, too.
    ///
    /// # Errors
    /// Fails when the checkout cannot be examined.
    pub async fn instructions(&self, checkout: &Path) -> io::Result<Instructions> {
        let root = match self.repository(checkout).await {
            Ok(repository) => repository.root.clone(),
            Err(GitError::Repository(RepositoryError::None)) => checkout.to_owned(),
            Err(error) => return Err(io::Error::other(error)),
        };
        let content = self.executable_content(checkout).await.ok();
        let store = TrustStore::new(self.sandbox.data_dir());
        let find = move || {
            let found = Instructions::of(&root)?;
            let Some(content) = content.filter(|_| !found.leaving.is_empty()) else { return Ok(found) };
            let is_trusted = content.is_trusted(&store);
            let agreed = store.entry(&content.clone).map(|entry| entry.parts).unwrap_or_default();
            Ok(found.with_agreed(|name, target| {
                // A link in the root is a part of the content.
                (is_trusted && INSTRUCTIONS.contains(&name))
                    || agreed.contains(&instruction_part(name, target).entry())
            }))
        };
        tokio::task::spawn_blocking(find).await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Adds a list of the programs that were disabled to the error of a failed command, because the command
    /// may depend on them, or names git-lfs if it is missing. An error without messages on standard error, such as nothing to commit, is left
    /// unchanged.
    pub(super) async fn with_hint<T>(
        &self,
        directory: &Path,
        result: Result<T, GitError>,
    ) -> Result<T, GitError> {
        // Trust does not help then.
        let lfs_is_missing = result.as_ref().is_err_and(is_missing);
        let Err(GitError::Failed { command, code, stdout, mut stderr }) = result else { return result };
        if lfs_is_missing {
            stderr.push_str(
                "\ngit-lfs, which this repository needs, is not installed or not on Loopgate's PATH. Install it, and restart \
                 Loopgate if the PATH changed.",
            );
            return Err(GitError::Failed { command, code, stdout, stderr });
        }
        if !stderr.trim().is_empty()
            && let Ok(content) = self.executable_content(directory).await
            && !content.parts.is_empty()
            && !self.is_content_trusted(content.clone()).await
        {
            let _ = write!(
                stderr,
                "\nNot run, because you have not trusted this repository: {}. Review it with: {}",
                content.names(),
                trust_command(&content.root)
            );
        }
        Err(GitError::Failed { command, code, stdout, stderr })
    }

    pub(super) async fn is_content_trusted(&self, content: ExecutableContent) -> bool {
        let store = TrustStore::new(self.sandbox.data_dir());
        let trusted = tokio::task::spawn_blocking(move || content.is_trusted(&store));
        trusted.await.unwrap_or(false)
    }

    /// As [`Git::executable_content`], for a repository whose configuration was read before.
    pub(super) async fn executable_content_of(
        &self,
        repository: &Arc<Repository>,
        variables: Vec<ConfigVariable>,
    ) -> Result<ExecutableContent, GitError> {
        let (sandbox, repository) = (self.sandbox.clone(), repository.clone());
        let found = tokio::task::spawn_blocking(move || collect(&sandbox, &repository, &variables)).await;
        found
            .unwrap_or_else(|error| Err(io::Error::other(error)))
            .map_err(|error| GitError::Repository(error.into()))
    }
}

/// Returns the part with which the user agrees to instructions that lead out of the checkout.
#[must_use]
pub fn instruction_part(name: &str, target: &Path) -> ExecutablePart {
    ExecutablePart {
        name: format!("instruction {name}"),
        content: target.as_os_str().as_encoded_bytes().to_vec(),
    }
}

fn collect(
    sandbox: &Sandbox,
    repository: &Repository,
    variables: &[ConfigVariable],
) -> io::Result<ExecutableContent> {
    let mut parts: Vec<ExecutablePart> = config::executable_variables(variables)
        .into_iter()
        .map(|(key, values)| ExecutablePart { name: format!("setting {key}"), content: values })
        .collect();
    let hooks_path = variables.iter().rev().find(|variable| variable.entry.is("core", "hookspath"));
    let hooks = match hooks_path {
        // Hooks of the user's own configuration are not part of the repository.
        Some(own) if !own.by_repository => None,
        Some(hooks_path) => {
            let path = hooks_path.entry.value.as_deref().unwrap_or_default();
            Some(repository.root.join(expand_home(path)))
        }
        None => Some(repository.common_dir.join("hooks")),
    };
    if let Some(hooks) = hooks {
        let place = sandbox.checked_pointer(&hooks).ok_or_else(|| {
            io::Error::other(format!("its hooks in {} are outside of the sandbox", hooks.display()))
        })?;
        if let Some(directory) = if_exists(place.open_directory())? {
            let hook = |name: &str| (!name.ends_with(".sample")).then(|| format!("hook {name}"));
            add_files(&directory, &hook, &mut parts)?;
        }
    }
    if !repository.bare {
        let root = &repository.handles.root;
        for name in INSTRUCTIONS {
            add_leaving_link(repository, name, &mut parts)?;
        }
        for name in FILES {
            add_file(root, Path::new(name), format!("file {name}"), &mut parts)?;
        }
        for name in DIRECTORIES {
            if root.exists(Path::new(name)) {
                let file = |path: &str| Some(format!("file {name}/{path}"));
                add_files(&root.directory(Path::new(name))?, &file, &mut parts)?;
            }
        }
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(ExecutableContent { clone: repository.clone_root().to_owned(), root: repository.root.clone(), parts })
}

/// Adds the files of a directory at any depth as parts. `name` maps a path to the name of the part, or omits
/// it. Not recursive: the depth is up to the repository's author.
fn add_files(
    root: &Directory,
    name: &dyn Fn(&str) -> Option<String>,
    parts: &mut Vec<ExecutablePart>,
) -> io::Result<()> {
    let mut directories = vec![PathBuf::new()];
    while let Some(below) = directories.pop() {
        for entry in root.directory(&below)?.entries()? {
            let path = below.join(&entry.name);
            if entry.kind == EntryKind::Directory {
                directories.push(path);
                continue;
            }
            // Names that differ only in invalid bytes would be the same for the user and in the record of trust.
            let text = path.to_str().ok_or_else(|| {
                io::Error::other(format!("{} cannot be reviewed: its name is not UTF-8", path.display()))
            })?;
            let Some(name) = name(text) else { continue };
            add_file(root, &path, name, parts)?;
        }
    }
    Ok(())
}

/// Adds a link that leads out of the working tree, with its target.
fn add_leaving_link(repository: &Repository, name: &str, parts: &mut Vec<ExecutablePart>) -> io::Result<()> {
    let root = &repository.handles.root;
    if root.kind(Path::new(name)) != Some(EntryKind::Link) {
        return Ok(());
    }
    let target = repository.root.join(name).canonicalize();
    if !target.is_ok_and(|target| target.starts_with(&repository.root)) {
        let content = root.read_link(Path::new(name))?.into_os_string().into_encoded_bytes();
        parts.push(ExecutablePart { name: format!("link {name}"), content });
    }
    Ok(())
}

fn add_file(
    directory: &Directory,
    path: &Path,
    name: String,
    parts: &mut Vec<ExecutablePart>,
) -> io::Result<()> {
    if !directory.exists(path) {
        return Ok(());
    }
    if parts.len() >= MAX_PARTS {
        return Err(io::Error::other(format!(
            "it has more than {MAX_PARTS} files and settings that can run programs"
        )));
    }
    let content = directory
        .read(path, MAX_PART_BYTES)
        .map_err(|error| io::Error::other(format!("{name} cannot be read: {error}")))?;
    parts.push(ExecutablePart { name, content });
    Ok(())
}

/// Maps an error for a path that does not exist to `None`.
fn if_exists<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        opened => opened.map(Some),
    }
}
