//! The list of files that differ between a commit and the working tree, or between two commits.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use loopgate_home::Directory;
use sha1::{Digest as _, Sha1};

use super::changes::WORK;
use super::comparison::{ChangeKind, ChangeRange, Pathspec, RawChange, parse_comparison};
use super::file_diff::{WorktreeEntry, read_from_disk};
use super::generated::GeneratedKind;
use super::{Git, GitError, checked, time};

/// Largest number of files that a list contains.
pub const MAX_CHANGED_FILES: usize = 3000;
/// Largest number of commits that a list contains.
const MAX_COMMITS: &str = "--max-count=200";

/// A file that differs. Paths are bytes, because file names need not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedFile {
    /// Path relative to the root of the working tree.
    pub path: Vec<u8>,
    /// Path before a rename, or of the original of a copy.
    pub from: Option<Vec<u8>>,
    pub kind: ChangeKind,
    /// Mode in octal, such as `100644`; `None` without this side.
    pub old_mode: Option<String>,
    pub new_mode: Option<String>,
    /// Added lines; `None` for a binary file.
    pub additions: Option<u64>,
    /// Removed lines; `None` for a binary file.
    pub deletions: Option<u64>,
    /// Hash of the newer content, which stays the same when the content is committed. `None` for a deleted file, a
    /// submodule, and a file that is too large to display.
    pub hash: Option<String>,
    /// Size of the newer content in bytes, of a binary file.
    pub size: Option<u64>,
    /// Why the file is not read line by line.
    pub generated: Option<GeneratedKind>,
}

/// The files of a comparison, in the order of their paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChanges {
    /// At most [`MAX_CHANGED_FILES`].
    pub files: Vec<ComparedFile>,
    /// Number of files without that limit.
    pub count: usize,
}

/// A commit, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSummary {
    /// Full hash.
    pub id: String,
    pub author: String,
    /// Time of the author, ISO 8601.
    pub time: String,
    /// First line of the message.
    pub subject: String,
}

impl Git {
    /// Returns the files that differ, without the state directories.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown commit.
    pub async fn file_changes(&self, directory: &Path, range: &ChangeRange) -> Result<FileChanges, GitError> {
        let repository = self.repository(directory).await?;
        // The first of the arguments separates paths from revisions.
        let paths = Pathspec::Patterns(&WORK[1..]);
        let printed = self.compare(&repository, range, &["--numstat"], &paths).await?;
        let output = parse_comparison(&printed);
        let count = output.changes.len();
        let listed: Vec<&RawChange> = output.changes.iter().take(MAX_CHANGED_FILES).collect();
        let names: Vec<&[u8]> = listed.iter().map(|change| change.path.as_slice()).collect();
        let generated = self.generated_kinds(&repository, &names).await?;
        let files = listed.into_iter().zip(generated).map(|(change, generated)| {
            let change = change.clone();
            let (additions, deletions) = output.lines.get(&change.path).copied().unwrap_or_default();
            let RawChange { path, from, kind, old_mode, new_mode, hash } = change;
            ComparedFile {
                path,
                from,
                kind,
                old_mode,
                new_mode,
                additions,
                deletions,
                hash,
                size: None,
                generated,
            }
        });
        let mut files: Vec<ComparedFile> = files.collect();
        self.add_sizes(directory, &mut files).await?;
        let read_files =
            move || files.into_iter().map(|file| with_content(&repository.handles.root, file)).collect();
        let files =
            tokio::task::spawn_blocking(read_files).await.map_err(|_| GitError::Unreadable("diff"))?;
        Ok(FileChanges { files, count })
    }

    /// Adds the sizes of binary files whose content is in the repository.
    async fn add_sizes(&self, directory: &Path, files: &mut [ComparedFile]) -> Result<(), GitError> {
        let is_hashed = |file: &&mut ComparedFile| file.additions.is_none() && file.hash.is_some();
        let mut binary: Vec<&mut ComparedFile> = files.iter_mut().filter(is_hashed).collect();
        let hashes: Vec<String> = binary.iter().filter_map(|file| file.hash.clone()).collect();
        if hashes.is_empty() {
            return Ok(());
        }
        let hashes: Vec<&[u8]> = hashes.iter().map(String::as_bytes).collect();
        for (file, size) in binary.iter_mut().zip(self.sizes(directory, &hashes).await?) {
            file.size = size;
        }
        Ok(())
    }

    /// Returns the newest commits of HEAD since a commit, or all if there is none.
    ///
    /// # Errors
    /// Fails with [`GitError`], also in a repository without commits.
    pub async fn commits_since(
        &self,
        directory: &Path,
        base: Option<&str>,
    ) -> Result<Vec<CommitSummary>, GitError> {
        let range = base.map_or_else(|| "HEAD".to_owned(), |base| format!("{base}..HEAD"));
        // No field contains a line feed: git replaces it in names, and `%s` is one line.
        let args =
            ["log", "-z", "--format=%H%n%an%n%aI%n%s", MAX_COMMITS, "--end-of-options", range.as_str(), "--"];
        let output = checked(&args, self.output(directory, &args, time::LOCAL).await?)?;
        Ok(output.stdout.split(|byte| *byte == 0).filter_map(parse_commit).collect())
    }
}

fn parse_commit(record: &[u8]) -> Option<CommitSummary> {
    let text = String::from_utf8_lossy(record);
    let mut lines = text.splitn(4, '\n').map(str::to_owned);
    Some(CommitSummary {
        id: lines.next()?,
        author: lines.next()?,
        time: lines.next()?,
        subject: lines.next()?,
    })
}

/// Adds hash and size of a file whose content is only in the working tree. Blocks.
fn with_content(root: &Directory, file: ComparedFile) -> ComparedFile {
    let is_complete = file.hash.is_some() && (file.additions.is_some() || file.size.is_some());
    if is_complete || file.new_mode.is_none() {
        return file;
    }
    match read_from_disk(root, Path::new(OsStr::from_bytes(&file.path))) {
        Ok(WorktreeEntry::Bytes(bytes)) => {
            let size = file.additions.is_none().then_some(bytes.len() as u64);
            ComparedFile { hash: file.hash.or_else(|| Some(blob_hash(&bytes))), size, ..file }
        }
        // A submodule, or a file that vanished or is too large.
        _ => file,
    }
}

/// Returns the hash by which git stores a content in a repository with SHA-1.
fn blob_hash(content: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(content);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blob_has_the_hash_of_git() {
        assert_eq!(blob_hash(b"a\nb\nc\n"), "de980441c3ab03a8c07dda1ad27b8a11f39deb1e");
    }

    #[test]
    fn incomplete_commit_is_skipped() {
        let commit = parse_commit(b"abc\nAda\n2031-04-02T10:11:12Z\nFirst\n").unwrap();
        assert_eq!((commit.author.as_str(), commit.subject.as_str()), ("Ada", "First\n"));
        assert_eq!(parse_commit(b"abc\nAda"), None);
    }
}
