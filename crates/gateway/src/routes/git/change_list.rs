//! The list of a loop's changes in one repository, as responses contain it.

use std::path::Path;

use loopgate_tools::git::{ChangeKind, CommitSummary, ComparedFile, FileChanges, GeneratedKind};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// What a loop has changed in a repository.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(example()))]
pub(crate) struct RepositoryChanges {
    /// Full name, else the name of the worktree's directory.
    name: String,
    /// Path of the worktree; null if it was removed.
    #[schema(required)]
    worktree: Option<String>,
    /// Branch of the worktree; null if HEAD is detached.
    #[schema(required)]
    branch: Option<String>,
    /// Commit with which the worktree is compared; null in a repository that had no commit.
    #[schema(required)]
    base: Option<ChangeBase>,
    /// Full hash of HEAD; null without a commit.
    #[schema(required)]
    head: Option<String>,
    /// Commits since the base, the newest first; at most 200.
    commits: Vec<ChangeCommit>,
    /// Changed files in the order of their paths; at most 3000.
    files: Vec<ListedFile>,
    /// Number of changed files without that limit.
    file_count: usize,
}

/// The commit with which a worktree is compared.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"name": "main", "commit": "de980441c3ab03a8c07dda1ad27b8a11f39deb1e"}))]
pub(crate) struct ChangeBase {
    /// Base branch of the loop; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Full hash.
    commit: String,
}

/// A commit of a loop.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade", "author": "Sam", "time": "2031-04-02T10:11:12+02:00", "subject": "Rename the shop"}))]
pub(crate) struct ChangeCommit {
    /// Full hash.
    id: String,
    author: String,
    /// ISO 8601.
    time: String,
    /// First line of the message.
    subject: String,
}

/// Kind of a change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum FileStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
    Copied,
    TypeChanged,
}

/// Why a file is not read line by line.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum FileGeneration {
    /// Versions of dependencies.
    LockFile,
    /// Other output of a program.
    Generated,
}

/// A changed file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"path": "README.md", "status": "modified", "additions": 1, "deletions": 1, "binary": false, "oldMode": "100644", "newMode": "100644", "hash": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade"}))]
pub(crate) struct ListedFile {
    /// Path relative to the root. Bytes that are not UTF-8 are replaced with `U+FFFD`.
    path: String,
    /// Path before a rename, or of the original of a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_path: Option<String>,
    status: FileStatus,
    /// Added lines; 0 for a binary file.
    additions: u64,
    /// Removed lines; 0 for a binary file.
    deletions: u64,
    /// Whether the file is binary or larger than 2 MiB. Its patch has no lines.
    binary: bool,
    /// Mode in octal, such as `100644`; absent for a new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_mode: Option<String>,
    /// Absent for a deleted file.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_mode: Option<String>,
    /// Hash of the newer content, which stays the same when the content is committed. Absent for a deleted file, a
    /// submodule, and a file of more than 5 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    /// Size of the newer content in bytes; only for binary files.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Why the file is not read line by line; absent for other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    generated: Option<FileGeneration>,
}

/// Returns the example of a repository.
pub(super) fn example() -> Value {
    json!({
        "name": "acme/shop", "worktree": "/home/sam/src/worktrees/shop-AB-1", "branch": "loopgate/ab-1",
        "base": {"name": "main", "commit": "de980441c3ab03a8c07dda1ad27b8a11f39deb1e"},
        "head": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade",
        "commits": [], "files": [], "fileCount": 0,
    })
}

impl RepositoryChanges {
    pub(super) fn without_worktree(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub(super) fn new(
        name: &str,
        worktree: &Path,
        base: Option<(Option<&str>, &str)>,
        head: Option<String>,
        branch: Option<String>,
        commits: Vec<CommitSummary>,
        changes: FileChanges,
    ) -> Self {
        let base = base.map(|(name, commit)| ChangeBase {
            name: name.map(ToOwned::to_owned),
            commit: commit.to_owned(),
        });
        Self {
            name: name.to_owned(),
            worktree: Some(worktree.to_string_lossy().into_owned()),
            branch,
            base,
            head,
            commits: commits.into_iter().map(Into::into).collect(),
            files: changes.files.into_iter().map(Into::into).collect(),
            file_count: changes.count,
        }
    }
}

impl From<CommitSummary> for ChangeCommit {
    fn from(CommitSummary { id, author, time, subject }: CommitSummary) -> Self {
        Self { id, author, time, subject }
    }
}

impl From<ComparedFile> for ListedFile {
    fn from(file: ComparedFile) -> Self {
        let text = |path: Vec<u8>| String::from_utf8_lossy(&path).into_owned();
        Self {
            path: text(file.path),
            old_path: file.from.map(text),
            status: match file.kind {
                ChangeKind::Added => FileStatus::Added,
                ChangeKind::Modified => FileStatus::Modified,
                ChangeKind::Deleted => FileStatus::Deleted,
                ChangeKind::Renamed => FileStatus::Renamed,
                ChangeKind::Copied => FileStatus::Copied,
                ChangeKind::TypeChanged => FileStatus::TypeChanged,
            },
            additions: file.additions.unwrap_or_default(),
            deletions: file.deletions.unwrap_or_default(),
            binary: file.additions.is_none(),
            old_mode: file.old_mode,
            new_mode: file.new_mode,
            hash: file.hash,
            size: file.size,
            generated: file.generated.map(|kind| match kind {
                GeneratedKind::LockFile => FileGeneration::LockFile,
                GeneratedKind::Generated => FileGeneration::Generated,
            }),
        }
    }
}
