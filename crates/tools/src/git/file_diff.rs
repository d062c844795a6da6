//! Both versions of a changed file, for display as a diff.
//!
//! The new version is in the working tree or in HEAD, the old one in git's object database. Symbolic links
//! are not followed, and a version that exceeds the limit is an error rather than empty.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Directory, EntryKind, Repository};
use thiserror::Error;

use super::comparison::ChangeRange;
use super::objects::{BlobContent, parse_batch, parse_tree_entry};
use super::status::{StatusChange, TreeEntry, parse_status};
use super::{DropPolicy, Git, GitError, checked, finish, time};
use crate::process::{Command, Stdin};

/// Largest version that is shown, in bytes. A browser cannot display the diff of a larger file.
pub const MAX_SIDE_BYTES: usize = 5 * 1024 * 1024;

/// The path of a file in a repository: relative, without `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePath(PathBuf);

impl FilePath {
    /// Normalizes a path. Returns `None` when it is absolute, empty, or leaves the repository.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut clean = PathBuf::new();
        for component in Path::new(text).components() {
            match component {
                Component::Normal(part) => clean.push(part),
                Component::CurDir => {}
                Component::ParentDir if clean.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        (!text.contains('\0') && !clean.as_os_str().is_empty()).then_some(Self(clean))
    }

    /// Returns the path relative to the root, for a path that is relative to `directory`.
    #[must_use]
    pub fn below(&self, directory: &Path) -> Self {
        Self(directory.join(&self.0))
    }

    /// Returns the relative path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

/// Both versions of a file; `None` where the file does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDiff {
    /// Content in the older revision.
    pub old: Option<Vec<u8>>,
    /// Content in the newer revision or in the working tree.
    pub new: Option<Vec<u8>>,
}

/// An error while reading the versions of a file.
#[derive(Debug, Error)]
pub enum FileDiffError {
    /// The file is identical to that in HEAD.
    #[error("File has no changes")]
    Unchanged,
    /// A version is larger than [`MAX_SIDE_BYTES`].
    #[error("File too large to diff")]
    TooLarge,
    /// A git command failed.
    #[error(transparent)]
    Git(GitError),
    /// The file in the working tree could not be read.
    #[error("the file could not be read: {0}")]
    Disk(#[from] io::Error),
}

impl From<GitError> for FileDiffError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::TooMuchOutput { .. } => Self::TooLarge,
            other => Self::Git(other),
        }
    }
}

impl Git {
    /// Returns a file as of HEAD and as in the working tree.
    ///
    /// # Errors
    /// Fails with [`FileDiffError`], also for a file without changes.
    pub async fn diff_to_worktree(
        &self,
        directory: &Path,
        path: &FilePath,
    ) -> Result<FileDiff, FileDiffError> {
        let repository = self.repository(directory).await?;
        let path = path.below(&repository.prefix);
        let changes = self.changes_of(&repository, &path);
        let head = self.files_in(&repository, ["HEAD"], &path);
        // Both start together: HEAD's content is almost always needed, and a git process takes several
        // milliseconds.
        let (changes, [head]) = tokio::join!(changes, head);
        let changes = changes?;
        if changes.is_empty() {
            return Err(FileDiffError::Unchanged);
        }
        let before = changes.into_iter().find_map(|change| change.before);
        // HEAD may have moved between the two commands; the content must match the reported change.
        let head = head.filter(|(id, _)| before.as_ref().is_some_and(|object| object.id == *id));
        let entry = {
            let (repository, path) = (repository.clone(), path.clone());
            let read = move || read_from_disk(&repository.handles.root, path.as_path());
            let read = tokio::task::spawn_blocking(read);
            read.await.map_err(|error| io::Error::other(error.to_string()))??
        };
        let new = match entry {
            WorktreeEntry::Nothing => None,
            WorktreeEntry::Bytes(bytes) => Some(bytes),
            WorktreeEntry::Directory if before.as_ref().is_some_and(TreeEntry::is_submodule) => {
                self.submodule_commit(&repository.root.join(path.as_path())).await?
            }
            WorktreeEntry::Directory => None,
        };
        let old = match (&before, head) {
            (Some(_), Some((_, content))) => Some(content),
            (Some(object), None) => Some(self.content(&repository, object).await?),
            (None, _) => None,
        };
        let plain = before.as_ref().is_some_and(|object| !object.is_link() && !object.is_submodule());
        let old = match (old, &new, before) {
            (Some(old), Some(new), Some(object)) if plain => {
                Some(self.with_line_ends(&repository, &path, &object, old, new).await?)
            }
            (old, ..) => old,
        };
        limited(FileDiff { old, new })
    }

    /// Returns a file as of a branch of the base repository and as of HEAD. A version that does not exist is `None`.
    ///
    /// # Errors
    /// Fails with [`FileDiffError`] when git cannot run, or a version is too large.
    pub async fn diff_to_base(
        &self,
        directory: &Path,
        path: &FilePath,
        base: &str,
    ) -> Result<FileDiff, FileDiffError> {
        let repository = self.repository(directory).await?;
        let path = path.below(&repository.prefix);
        let base = self.remotes(directory).await?.base_ref(base);
        let [old, new] = self.files_in(&repository, [&base, "HEAD"], &path).await;
        let at = async |revision, content: BlobContent| match content {
            Some((_, content)) => Ok(Some(content)),
            None => self.at(&repository, revision, &path).await,
        };
        let (old, new) = tokio::try_join!(at(&base, old), at("HEAD", new))?;
        limited(FileDiff { old, new })
    }

    /// Returns a file on both sides of a comparison; `old` is its path before a rename. A version that does not exist is
    /// `None`.
    ///
    /// # Errors
    /// Fails with [`FileDiffError`] when git cannot run, or a version is too large.
    pub async fn compared_file(
        &self,
        directory: &Path,
        range: &ChangeRange,
        old: &FilePath,
        new: &FilePath,
    ) -> Result<FileDiff, FileDiffError> {
        let repository = self.repository(directory).await?;
        let (old, new) = (old.below(&repository.prefix), new.below(&repository.prefix));
        let before = self.at(&repository, &range.from, &old).await?;
        let after = match &range.to {
            Some(commit) => self.at(&repository, commit, &new).await?,
            None => {
                let read = move || read_from_disk(&repository.handles.root, new.as_path());
                let entry = tokio::task::spawn_blocking(read);
                match entry.await.map_err(|error| io::Error::other(error.to_string()))?? {
                    WorktreeEntry::Bytes(bytes) => Some(bytes),
                    WorktreeEntry::Nothing | WorktreeEntry::Directory => None,
                }
            }
        };
        limited(FileDiff { old: before, new: after })
    }

    /// Returns the status entries of exactly this file.
    async fn changes_of(
        &self,
        repository: &Arc<Repository>,
        path: &FilePath,
    ) -> Result<Vec<StatusChange>, GitError> {
        let command = self.status_command(repository).await?.env("GIT_LITERAL_PATHSPECS", "1");
        let command = command.args(["--no-renames", "--untracked-files=all", "--"]).arg(path.as_path());
        let args = ["status"];
        let output = checked(&args, finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?)?;
        let mut changes = parse_status(&output.stdout).changes;
        changes.retain(|change| change.path == path.as_path().as_os_str().as_bytes());
        Ok(changes)
    }

    /// Returns the ids and contents of a file in several revisions with a single git process. `None` for an
    /// entry that is not a file, does not exist, or must be read with [`Self::at`].
    async fn files_in<const N: usize>(
        &self,
        repository: &Arc<Repository>,
        revisions: [&str; N],
        path: &FilePath,
    ) -> [BlobContent; N] {
        let nothing = [const { None }; N];
        // `cat-file --batch` reads one object name per line.
        let Some(path) = path.as_path().to_str().filter(|path| !path.contains('\n')) else {
            return nothing;
        };
        let args = ["cat-file", "--batch"];
        let names: String = revisions.iter().map(|revision| format!("{revision}:{path}\n")).collect();
        let Ok(command) = self.reader_of(repository).await else { return nothing };
        let command = command.args(args).stdin(Stdin::Bytes(names.into_bytes()));
        match finish(&command, &args, time::LOCAL, DropPolicy::Kill).await {
            Ok(output) => parse_batch(&output.stdout),
            Err(_) => nothing,
        }
    }

    /// Returns the content of a file in a revision, including that of symbolic links and submodules.
    async fn at(
        &self,
        repository: &Arc<Repository>,
        revision: &str,
        path: &FilePath,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let args = ["ls-tree", "-z", revision, "--"];
        let command = self.literal(repository).await?.args(args).arg(path.as_path());
        let output = finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?;
        match parse_tree_entry(&output.stdout) {
            Some((object, kind)) if output.status.success() && kind != "tree" => {
                match self.content(repository, &object).await {
                    Err(GitError::Failed { .. }) => Ok(None),
                    content => content.map(Some),
                }
            }
            _ => Ok(None),
        }
    }

    /// Returns the content of an object.
    async fn content(&self, repository: &Arc<Repository>, object: &TreeEntry) -> Result<Vec<u8>, GitError> {
        if object.is_submodule() {
            return Ok(submodule_line(&object.id));
        }
        let args = ["cat-file", "blob", &object.id];
        let command = self.reader_of(repository).await?.args(args);
        Ok(checked(&args, finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?)?.stdout)
    }

    async fn submodule_commit(&self, place: &Path) -> Result<Option<Vec<u8>>, GitError> {
        // In a directory without its own repository, git would report the commit of the superproject.
        if tokio::fs::symlink_metadata(place.join(".git")).await.is_err() {
            return Ok(None);
        }
        match self.commit_of(place, "HEAD").await {
            Err(GitError::Repository(_)) => Ok(None),
            commit => Ok(commit?.as_deref().map(submodule_line)),
        }
    }

    /// Returns the old version as git would write it to this working tree. With `core.autocrlf`, line endings
    /// are converted at checkout and are not a change. Git is queried only if the versions differ in line
    /// endings.
    async fn with_line_ends(
        &self,
        repository: &Arc<Repository>,
        path: &FilePath,
        object: &TreeEntry,
        old: Vec<u8>,
        new: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        let has_carriage_returns = |text: &[u8]| memchr::memmem::find(text, b"\r\n").is_some();
        if is_binary(&old) || has_carriage_returns(&old) || !has_carriage_returns(new) {
            return Ok(old);
        }
        let with_crlf = with_crlf(&old);
        // Applies the configured conversion to the text with CRLF. If the result is the old object, only the
        // line endings differ.
        let args = ["hash-object", "--stdin"];
        let mut option = OsString::from("--path=");
        option.push(path.as_path());
        let command = self.literal(repository).await?.args(args).arg(option);
        let command = command.stdin(Stdin::Bytes(with_crlf.clone()));
        let output = finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?;
        let is_same_object = output.status.success() && output.stdout_text().trim() == object.id;
        Ok(if is_same_object { with_crlf } else { old })
    }

    /// Creates a reading command that takes paths literally instead of as patterns.
    async fn literal(&self, repository: &Arc<Repository>) -> Result<Command, GitError> {
        Ok(self.reader_of(repository).await?.env("GIT_LITERAL_PATHSPECS", "1"))
    }
}

/// Converts LF to CRLF.
fn with_crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    for byte in text {
        if *byte == b'\n' {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

/// Returns whether a content is binary: it has a NUL in its first 8000 bytes, which is git's own heuristic.
#[must_use]
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(8000).any(|byte| *byte == 0)
}

/// Returns the text with which `git diff` represents a submodule.
fn submodule_line(commit: &str) -> Vec<u8> {
    format!("Subproject commit {commit}\n").into_bytes()
}

fn limited(diff: FileDiff) -> Result<FileDiff, FileDiffError> {
    let large = |side: &Option<Vec<u8>>| side.as_ref().is_some_and(|bytes| bytes.len() > MAX_SIDE_BYTES);
    if large(&diff.old) || large(&diff.new) { Err(FileDiffError::TooLarge) } else { Ok(diff) }
}

pub(super) enum WorktreeEntry {
    Nothing,
    Directory,
    Bytes(Vec<u8>),
}

/// Reads an entry of the working tree: the bytes of a file, or the target of a symbolic link. Other types,
/// such as pipes, have no content. No component of the path is followed as a link.
pub(super) fn read_from_disk(root: &Directory, path: &Path) -> Result<WorktreeEntry, FileDiffError> {
    match root.kind(path) {
        None => Ok(WorktreeEntry::Nothing),
        Some(EntryKind::Directory) => Ok(WorktreeEntry::Directory),
        Some(EntryKind::Link) => {
            Ok(WorktreeEntry::Bytes(root.read_link(path)?.into_os_string().as_bytes().to_vec()))
        }
        Some(EntryKind::Other) => Ok(WorktreeEntry::Bytes(Vec::new())),
        Some(EntryKind::File) => match root.read(path, MAX_SIDE_BYTES as u64) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(FileDiffError::TooLarge),
            read => Ok(WorktreeEntry::Bytes(read?)),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn path_cannot_leave_the_repository() {
        let parse = |text: &str| FilePath::parse(text).map(|path| path.0);
        assert_eq!(parse("src/./a//b/../c.rs"), Some("src/a/c.rs".into()));
        assert_eq!(parse("-x"), Some("-x".into()));
        for rejected in ["", ".", "/etc/passwd", "../other/secret", "a/../../b", "a/..", "a\0b"] {
            assert_eq!(parse(rejected), None, "{rejected:?}");
        }
    }

    proptest! {
        #[test]
        fn parsed_path_has_only_normal_components(text in "[a./\0-]{0,20}") {
            if let Some(path) = FilePath::parse(&text) {
                prop_assert!(path.0.components().all(|part| matches!(part, Component::Normal(_))));
                prop_assert!(path.0.components().next().is_some());
            }
        }

        #[test]
        fn crlf_conversion_changes_only_line_endings(text in "[a\n]{0,40}") {
            let with_crlf = String::from_utf8(with_crlf(text.as_bytes())).unwrap();
            prop_assert_eq!(with_crlf.replace("\r\n", "\n"), text);
        }
    }
}
