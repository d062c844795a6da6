//! Both sides of one changed file, so that the page can show what is different.
//!
//! The working side is what is on the disk, the other what git holds. Nothing here follows a link
//! out of the repository, and what is too much is never taken for nothing.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Directory, EntryKind, Repository};
use thiserror::Error;

use super::objects::{BlobContent, parse_batch, parse_tree_entry};
use super::status::{StatusChange, TreeEntry, parse_status};
use super::{CallerPresence, Git, GitError, checked, finish, time};
use crate::process::{Command, Stdin};

/// Bytes of the largest side that is shown.
pub const MAX_SIDE_BYTES: usize = 5 * 1024 * 1024;

/// A file of a repository: relative, without `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePath(PathBuf);

impl FilePath {
    /// Reads a path; `None` when it is absolute, names no file, or leaves the repository.
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

    /// The same file, told from the root that this directory is below.
    #[must_use]
    pub fn below(&self, directory: &Path) -> Self {
        Self(directory.join(&self.0))
    }

    /// The path, relative to the repository.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

/// The two sides of a file; `None` where there is none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDiff {
    /// Before.
    pub old: Option<Vec<u8>>,
    /// Now.
    pub new: Option<Vec<u8>>,
}

/// Why a file is not shown.
#[derive(Debug, Error)]
pub enum FileDiffError {
    /// It is as it was.
    #[error("File has no changes")]
    Unchanged,
    /// A side is larger than [`MAX_SIDE_BYTES`].
    #[error("File too large to diff")]
    TooLarge,
    /// Git could not tell.
    #[error(transparent)]
    Git(GitError),
    /// The disk refused.
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
    /// A file as HEAD has it, and as it is in the working tree.
    ///
    /// # Errors
    /// [`FileDiffError`], also for a file that has not changed.
    pub async fn diff_to_worktree(
        &self,
        directory: &Path,
        path: &FilePath,
    ) -> Result<FileDiff, FileDiffError> {
        let repository = self.repository(directory).await?;
        let path = path.below(&repository.prefix);
        let changes = self.changes_of(&repository, &path);
        let head = self.files_in(&repository, ["HEAD"], &path);
        let (changes, [head]) = tokio::join!(changes, head);
        let changes = changes?;
        if changes.is_empty() {
            return Err(FileDiffError::Unchanged);
        }
        let before = changes.into_iter().find_map(|change| change.before);
        let head = head.filter(|(id, _)| before.as_ref().is_some_and(|object| object.id == *id));
        let found = {
            let (repository, path) = (repository.clone(), path.clone());
            let look = move || read_from_disk(&repository.handles.root, path.as_path());
            let look = tokio::task::spawn_blocking(look);
            look.await.map_err(|error| io::Error::other(error.to_string()))??
        };
        let new = match found {
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

    /// A file as a branch of `origin` has it, and as HEAD has it. A side that git does not find is
    /// `None`.
    ///
    /// # Errors
    /// [`FileDiffError`] when git could not be asked, or a side is too large.
    pub async fn diff_to_base(
        &self,
        directory: &Path,
        path: &FilePath,
        base: &str,
    ) -> Result<FileDiff, FileDiffError> {
        let repository = self.repository(directory).await?;
        let path = path.below(&repository.prefix);
        let base = format!("refs/remotes/origin/{base}");
        let [old, new] = self.files_in(&repository, [&base, "HEAD"], &path).await;
        let at = async |revision, known: BlobContent| match known {
            Some((_, content)) => Ok(Some(content)),
            None => self.at(&repository, revision, &path).await,
        };
        let (old, new) = tokio::try_join!(at(&base, old), at("HEAD", new))?;
        limited(FileDiff { old, new })
    }

    /// The entries of exactly this file.
    async fn changes_of(
        &self,
        repository: &Arc<Repository>,
        path: &FilePath,
    ) -> Result<Vec<StatusChange>, GitError> {
        let command = self.status_command(repository).await?.env("GIT_LITERAL_PATHSPECS", "1");
        let command = command.args(["--no-renames", "--untracked-files=all", "--"]).arg(path.as_path());
        let args = ["status"];
        let output = checked(&args, finish(&command, &args, time::LOCAL, CallerPresence::Needed).await?)?;
        let mut changes = parse_status(&output.stdout).changes;
        changes.retain(|change| change.path == path.as_path().as_os_str().as_bytes());
        Ok(changes)
    }

    /// The ids and the contents of a file in revisions, from one git. `None` for what is no file, is
    /// not there, or has to be asked for in another way.
    async fn files_in<const N: usize>(
        &self,
        repository: &Arc<Repository>,
        revisions: [&str; N],
        path: &FilePath,
    ) -> [BlobContent; N] {
        let nothing = [const { None }; N];
        let Some(path) = path.as_path().to_str().filter(|path| !path.contains('\n')) else {
            return nothing;
        };
        let args = ["cat-file", "--batch"];
        let asked: String = revisions.iter().map(|revision| format!("{revision}:{path}\n")).collect();
        let Ok(command) = self.reader_of(repository).await else { return nothing };
        let command = command.args(args).stdin(Stdin::Bytes(asked.into_bytes()));
        match finish(&command, &args, time::LOCAL, CallerPresence::Needed).await {
            Ok(output) => parse_batch(&output.stdout),
            Err(_) => nothing,
        }
    }

    /// The content of a file in a revision.
    async fn at(
        &self,
        repository: &Arc<Repository>,
        revision: &str,
        path: &FilePath,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let args = ["ls-tree", "-z", revision, "--"];
        let command = self.literal(repository).await?.args(args).arg(path.as_path());
        let output = finish(&command, &args, time::LOCAL, CallerPresence::Needed).await?;
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

    /// The content of an object.
    async fn content(&self, repository: &Arc<Repository>, object: &TreeEntry) -> Result<Vec<u8>, GitError> {
        if object.is_submodule() {
            return Ok(submodule_line(&object.id));
        }
        let args = ["cat-file", "blob", &object.id];
        let command = self.reader_of(repository).await?.args(args);
        Ok(checked(&args, finish(&command, &args, time::LOCAL, CallerPresence::Needed).await?)?.stdout)
    }

    async fn submodule_commit(&self, place: &Path) -> Result<Option<Vec<u8>>, GitError> {
        // Without a repository of its own, git would answer for the one around it.
        if tokio::fs::symlink_metadata(place.join(".git")).await.is_err() {
            return Ok(None);
        }
        match self.commit_of(place, "HEAD").await {
            Err(GitError::Repository(_)) => Ok(None),
            commit => Ok(commit?.as_deref().map(submodule_line)),
        }
    }

    /// The old side as it would be in this working tree: git may turn line ends around on the way,
    /// and then they are no change. Asked only when the sides differ in that.
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
        let turned = turned(&old);
        let args = ["hash-object", "--stdin"];
        let mut option = OsString::from("--path=");
        option.push(path.as_path());
        let command = self.literal(repository).await?.args(args).arg(option);
        let command = command.stdin(Stdin::Bytes(turned.clone()));
        let output = finish(&command, &args, time::LOCAL, CallerPresence::Needed).await?;
        let same = output.status.success() && output.stdout_text().trim() == object.id;
        Ok(if same { turned } else { old })
    }

    /// A command to which paths are no patterns.
    async fn literal(&self, repository: &Arc<Repository>) -> Result<Command, GitError> {
        Ok(self.reader_of(repository).await?.env("GIT_LITERAL_PATHSPECS", "1"))
    }
}

/// With carriage returns before the line feeds.
fn turned(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    for byte in text {
        if *byte == b'\n' {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

/// Whether a content is no text: a zero byte near its beginning, as git decides it.
#[must_use]
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(8000).any(|byte| *byte == 0)
}

/// Git's own words for a submodule's state.
fn submodule_line(commit: &str) -> Vec<u8> {
    format!("Subproject commit {commit}\n").into_bytes()
}

fn limited(diff: FileDiff) -> Result<FileDiff, FileDiffError> {
    let large = |side: &Option<Vec<u8>>| side.as_ref().is_some_and(|bytes| bytes.len() > MAX_SIDE_BYTES);
    if large(&diff.old) || large(&diff.new) { Err(FileDiffError::TooLarge) } else { Ok(diff) }
}

enum WorktreeEntry {
    Nothing,
    Directory,
    Bytes(Vec<u8>),
}

/// Reads what is at a path: the bytes of a file, the target of a link. Anything that is neither has
/// no content, and no link leads there.
fn read_from_disk(root: &Directory, path: &Path) -> Result<WorktreeEntry, FileDiffError> {
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
    fn path_stays_in_the_repository() {
        let parse = |text: &str| FilePath::parse(text).map(|path| path.0);
        assert_eq!(parse("src/./a//b/../c.rs"), Some("src/a/c.rs".into()));
        assert_eq!(parse("-x"), Some("-x".into()));
        for refused in ["", ".", "/etc/passwd", "../other/secret", "a/../../b", "a/..", "a\0b"] {
            assert_eq!(parse(refused), None, "{refused:?}");
        }
    }

    proptest! {
        #[test]
        fn parsed_output_has_no_secrets(text in "[a./\0-]{0,20}") {
            if let Some(path) = FilePath::parse(&text) {
                prop_assert!(path.0.components().all(|part| matches!(part, Component::Normal(_))));
                prop_assert!(path.0.components().next().is_some());
            }
        }

        #[test]
        fn turning_line_ends_changes_nothing_else(text in "[a\n]{0,40}") {
            let turned = String::from_utf8(turned(text.as_bytes())).unwrap();
            prop_assert_eq!(turned.replace("\r\n", "\n"), text);
        }
    }
}
