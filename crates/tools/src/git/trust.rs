//! What a repository brings along to be run, and whether the person agreed to it.
//!
//! Of a repository come along: programs that its configuration names, hooks, and what the assistant
//! and the reviewer read in it that makes them run something. Nothing of that runs until the person
//! has seen it and said so with `loopgate trust`. What these programs themselves read or start is not
//! looked at.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Directory, EntryKind, Repository, Sandbox, TrustStore, expand_home};
use sha2::{Digest as _, Sha256};

use super::config::{self, ConfigVariable};
use super::{Git, GitError};

/// Files of a working tree that make somebody run a program: the assistant, the reviewer, a loop that
/// sets its worktree up.
const FILES: [&str; 4] =
    [".claude/settings.json", ".claude/settings.local.json", ".loopgate/loops-setup.sh", ".mcp.json"];
/// Directories of such files.
const DIRECTORIES: [&str; 5] =
    [".claude/agents", ".claude/commands", ".claude/hooks", ".claude/skills", ".codex"];
/// Bytes of one part, and how many parts there may be. What is more is not shown, so not agreed to.
const MAX_PART: u64 = 1024 * 1024;
const MAX_PARTS: usize = 1000;

/// Something that a repository brings along to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutablePart {
    /// What it is: `hook pre-commit`, `setting core.sshcommand`, `file .mcp.json`.
    pub name: String,
    /// What it says.
    pub content: Vec<u8>,
}

/// What a repository brings along to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutableContent {
    /// The clone that is trusted or not; the worktrees count as it does.
    pub clone: PathBuf,
    /// The root of the working tree in which the parts were found.
    pub root: PathBuf,
    /// The parts, by name.
    pub parts: Vec<ExecutablePart>,
}

impl ExecutablePart {
    /// As it is written down when the person agrees to it.
    fn entry(&self) -> String {
        let mut entry = String::new();
        for byte in Sha256::digest(&self.content) {
            let _ = write!(entry, "{byte:02x}");
        }
        entry + " " + &self.name
    }
}

impl ExecutableContent {
    /// The parts as they are written down.
    #[must_use]
    pub fn entries(&self) -> BTreeSet<String> {
        self.parts.iter().map(ExecutablePart::entry).collect()
    }

    /// Whether the person agreed to all of it.
    #[must_use]
    pub fn is_trusted(&self, store: &TrustStore) -> bool {
        store.trusts(&self.clone, &self.entries())
    }

    /// The names of the parts, joined by commas.
    #[must_use]
    pub fn names(&self) -> String {
        self.parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl Git {
    /// What the repository of a directory brings along to be run.
    ///
    /// # Errors
    /// [`GitError`] when there is none, or its parts cannot be read.
    pub async fn executable_content(&self, directory: &Path) -> Result<ExecutableContent, GitError> {
        let repository = self.repository(directory).await?;
        let told = self.effective_config(&repository).await?;
        self.executable_content_of(&repository, told).await
    }

    /// Whether the person agreed to everything that the repository of a directory brings along. What
    /// brings nothing, or cannot be looked at, is not trusted.
    pub async fn trusts(&self, directory: &Path) -> bool {
        let Ok(brought) = self.executable_content(directory).await else { return false };
        self.agreed(brought).await
    }

    /// Adds to what a failed change complained of which programs it was not allowed to run; without them it
    /// may have failed. Who only said that there is nothing to do missed none.
    pub(super) async fn with_hint<T>(
        &self,
        directory: &Path,
        done: Result<T, GitError>,
    ) -> Result<T, GitError> {
        let Err(GitError::Failed { command, code, stdout, mut stderr }) = done else { return done };
        if !stderr.trim().is_empty()
            && let Ok(brought) = self.executable_content(directory).await
            && !brought.parts.is_empty()
            && !self.agreed(brought.clone()).await
        {
            let _ = write!(
                stderr,
                "\nNot run, because you have not trusted this repository: {}. Look at it with: loopgate trust {}",
                brought.names(),
                brought.root.display()
            );
        }
        Err(GitError::Failed { command, code, stdout, stderr })
    }

    pub(super) async fn agreed(&self, brought: ExecutableContent) -> bool {
        let store = TrustStore::new(self.sandbox.data_dir());
        let asked = tokio::task::spawn_blocking(move || brought.is_trusted(&store));
        asked.await.unwrap_or(false)
    }

    /// As [`Git::executable_content`], of a repository whose configuration is known.
    pub(super) async fn executable_content_of(
        &self,
        repository: &Arc<Repository>,
        told: Vec<ConfigVariable>,
    ) -> Result<ExecutableContent, GitError> {
        let (sandbox, repository) = (self.sandbox.clone(), repository.clone());
        let found = tokio::task::spawn_blocking(move || collect(&sandbox, &repository, &told)).await;
        found
            .unwrap_or_else(|error| Err(io::Error::other(error)))
            .map_err(|error| GitError::Repository(error.into()))
    }
}

fn collect(
    sandbox: &Sandbox,
    repository: &Repository,
    told: &[ConfigVariable],
) -> io::Result<ExecutableContent> {
    let mut parts: Vec<ExecutablePart> = config::executable_variables(told)
        .into_iter()
        .map(|(key, values)| ExecutablePart { name: format!("setting {key}"), content: values.into_bytes() })
        .collect();
    let named = told.iter().rev().find(|told| told.key == "core.hookspath");
    let hooks = match named {
        // Those of the person come from elsewhere.
        Some(own) if !own.by_repository => None,
        Some(named) => Some(repository.root.join(expand_home(named.value.as_deref().unwrap_or_default()))),
        None => Some(repository.common.join("hooks")),
    };
    if let Some(hooks) = hooks {
        let place = sandbox.check(&hooks).map_err(io::Error::other)?;
        if let Some(directory) = there(place.open_directory())? {
            let hook = |name: &str| (!name.ends_with(".sample")).then(|| format!("hook {name}"));
            add_files(&directory, Path::new(""), &hook, &mut parts)?;
        }
    }
    if !repository.bare {
        let root = &repository.handles.root;
        for name in FILES {
            add_file(root, Path::new(name), format!("file {name}"), &mut parts)?;
        }
        for name in DIRECTORIES {
            if root.holds(Path::new(name)) {
                let file = |path: &str| Some(format!("file {name}/{path}"));
                add_files(&root.directory(Path::new(name))?, Path::new(""), &file, &mut parts)?;
            }
        }
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(ExecutableContent { clone: repository.clone_root().to_owned(), root: repository.root.clone(), parts })
}

/// Adds the files of a directory, at any depth, under the names that `name` gives them.
fn add_files(
    directory: &Directory,
    below: &Path,
    name: &dyn Fn(&str) -> Option<String>,
    parts: &mut Vec<ExecutablePart>,
) -> io::Result<()> {
    for entry in directory.entries()? {
        let path = below.join(&entry.name);
        if entry.kind == EntryKind::Directory {
            add_files(&directory.directory(Path::new(&entry.name))?, &path, name, parts)?;
        } else if let Some(name) = name(&path.to_string_lossy()) {
            add_file(directory, Path::new(&entry.name), name, parts)?;
        }
    }
    Ok(())
}

fn add_file(
    directory: &Directory,
    path: &Path,
    name: String,
    parts: &mut Vec<ExecutablePart>,
) -> io::Result<()> {
    if !directory.holds(path) {
        return Ok(());
    }
    if parts.len() >= MAX_PARTS {
        return Err(io::Error::other("it brings along more than can be shown"));
    }
    let content = directory
        .read(path, MAX_PART)
        .map_err(|error| io::Error::other(format!("{name} cannot be looked at: {error}")))?;
    parts.push(ExecutablePart { name, content });
    Ok(())
}

/// What was opened; `None` when it is not there.
fn there<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        opened => opened.map(Some),
    }
}
