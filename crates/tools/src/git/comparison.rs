//! `git diff` between a commit and the working tree, or between two commits: the command, and its output.
//!
//! Uncommitted and untracked files are included, and the repository is not changed: untracked files are added to a
//! copy of the index, as files whose content git reads from the working tree.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use loopgate_home::{Repository, RepositoryError};
use tempfile::TempDir;

use super::index_copy::IndexCopy;
use super::outgoing::listing;
use super::saved::EMPTY_TREE;
use super::{DropPolicy, Git, GitError, finish, time};
use crate::process::{Command, Stdin};

/// Git compares larger files as binary files, because no page displays them. Bounds the size of a patch.
const BIG_FILE: &str = "core.bigFileThreshold=2m";
/// Largest number of untracked files that are compared. More are usually dependencies that are not ignored.
pub(super) const MAX_UNTRACKED: usize = 3000;
const NO_MODE: &str = "000000";

/// Full hash of an object in lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectHash(String);

impl ObjectHash {
    /// Parses a SHA-1 or SHA-256 hash.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        (matches!(text.len(), 40 | 64) && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// Returns the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The two sides of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRange {
    /// Hash of the older side.
    pub(super) from: String,
    /// Hash of the newer side; `None` for the working tree.
    pub(super) to: Option<String>,
}

impl ChangeRange {
    /// Compares a commit with the working tree.
    #[must_use]
    pub fn since(commit: &ObjectHash) -> Self {
        Self { from: commit.0.clone(), to: None }
    }

    /// Compares the empty tree with the working tree.
    #[must_use]
    pub fn everything() -> Self {
        Self { from: EMPTY_TREE.to_owned(), to: None }
    }
}

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    /// The content or the mode differs.
    Modified,
    Deleted,
    Renamed,
    /// A copy of another changed file.
    Copied,
    /// For example, a file became a symbolic link.
    TypeChanged,
}

/// A record of `git diff --raw`. Paths are bytes, because file names need not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawChange {
    pub path: Vec<u8>,
    /// Path before a rename, or of the original of a copy.
    pub from: Option<Vec<u8>>,
    pub kind: ChangeKind,
    /// Mode in octal; `None` without this side.
    pub old_mode: Option<String>,
    pub new_mode: Option<String>,
    /// Hash of the newer content, where git has computed it.
    pub hash: Option<String>,
}

/// Added and removed lines by path; `None` for binary files.
pub(super) type LineCounts = HashMap<Vec<u8>, (Option<u64>, Option<u64>)>;

/// The output of `git diff --raw -z`, followed by that of `--numstat` or `--patch`.
#[derive(Debug, Default)]
pub(super) struct ComparisonOutput<'a> {
    pub changes: Vec<RawChange>,
    pub lines: LineCounts,
    pub patch: &'a [u8],
}

impl Git {
    /// Returns the range that one commit changed, compared with its first parent.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn range_of_commit(
        &self,
        directory: &Path,
        commit: &ObjectHash,
    ) -> Result<ChangeRange, GitError> {
        let parent = self.commit_of(directory, &format!("{}^", commit.0)).await?;
        let from = parent.unwrap_or_else(|| EMPTY_TREE.to_owned());
        Ok(ChangeRange { from, to: Some(commit.0.clone()) })
    }

    /// Returns the output of `git diff` for these paths, which are patterns unless `literal` is set.
    pub(super) async fn compare(
        &self,
        repository: &Arc<Repository>,
        range: &ChangeRange,
        options: &[&str],
        paths: &Pathspec<'_>,
    ) -> Result<Vec<u8>, GitError> {
        let index = match range.to {
            None => self.index_with_untracked(repository, paths).await?,
            Some(_) => None,
        };
        let command = paths.configure(self.reader_of(repository).await?);
        let command = command.args(["-c", BIG_FILE, "diff", "--raw", "-z", "--no-abbrev"]);
        let command = command.args(["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]);
        let command = command.args(["--find-renames", "--find-copies"]).args(options).arg("--end-of-options");
        let command = command.arg(&range.from).args(&range.to).arg("--").args(paths.arguments());
        let command = match &index {
            Some(directory) => command.env("GIT_INDEX_FILE", directory.path().join("index")),
            None => command,
        };
        listing(command, "diff").await
    }

    /// Returns a directory with a copy of the index that also contains the untracked files at these paths; `None`
    /// if there are none.
    async fn index_with_untracked(
        &self,
        repository: &Arc<Repository>,
        paths: &Pathspec<'_>,
    ) -> Result<Option<TempDir>, GitError> {
        let command = paths.configure(self.reader_of(repository).await?);
        let command = command.args(["ls-files", "--others", "--exclude-standard", "-z", "--"]);
        let untracked = listing(command.args(paths.arguments()), "ls-files").await?;
        // A nested repository is listed with a slash. It cannot be compared.
        let files =
            untracked.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/"));
        let names: Vec<u8> =
            files.take(MAX_UNTRACKED).flat_map(|path| path.iter().copied().chain([0])).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let directory = {
            let repository = repository.clone();
            tokio::task::spawn_blocking(move || copy_index(&repository))
                .await
                .map_err(io::Error::other)
                .flatten()
        };
        let directory = directory.map_err(RepositoryError::Disk).map_err(GitError::Repository)?;
        let args = [
            "--literal-pathspecs",
            "add",
            "--intent-to-add",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        let command = self.reader_of(repository).await?.args(args).stdin(Stdin::Bytes(names));
        let command = command.env("GIT_INDEX_FILE", directory.path().join("index"));
        // The command stores an empty object for all of them.
        let command = command.env("GIT_OBJECT_DIRECTORY", directory.path().join("objects"));
        // The command fails if a file was deleted since it was listed. The result then contains no untracked files.
        let output = finish(&command, &args, time::COMMIT, DropPolicy::Kill).await?;
        Ok(output.status.success().then_some(directory))
    }
}

/// The paths of a comparison.
pub(super) enum Pathspec<'a> {
    Patterns(&'a [&'a str]),
    Literal(&'a [Vec<u8>]),
}

impl Pathspec<'_> {
    fn configure(&self, command: Command) -> Command {
        match self {
            Self::Patterns(_) => command,
            Self::Literal(_) => command.env("GIT_LITERAL_PATHSPECS", "1"),
        }
    }

    fn arguments(&self) -> Vec<&OsStr> {
        match self {
            Self::Patterns(patterns) => patterns.iter().map(OsStr::new).collect(),
            Self::Literal(paths) => paths.iter().map(|path| OsStr::from_bytes(path)).collect(),
        }
    }
}

/// Creates a temporary directory with a directory for objects and a copy of the index. Blocks.
fn copy_index(repository: &Repository) -> io::Result<TempDir> {
    let directory = tempfile::tempdir()?;
    fs::create_dir(directory.path().join("objects"))?;
    if let Some(index) = IndexCopy::read(repository)? {
        let mut file = fs::File::create_new(directory.path().join("index"))?;
        file.write_all(&index.content)?;
        index.set_time(&file)?;
    }
    Ok(directory)
}

/// Parses the output of [`Git::compare`].
pub(super) fn parse_comparison(mut printed: &[u8]) -> ComparisonOutput<'_> {
    let mut output = ComparisonOutput::default();
    while printed.first() == Some(&b':') {
        let Some(change) = raw_change(&mut printed) else { break };
        output.changes.extend(change);
    }
    // An empty record separates a patch.
    match printed.strip_prefix(b"\0") {
        Some(patch) => output.patch = patch,
        None => output.lines = line_counts(printed),
    }
    output
}

/// Removes the bytes up to the next NUL from the input and returns them.
fn field<'a>(printed: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = printed.iter().position(|byte| *byte == 0)?;
    let (field, rest) = printed.split_at(end);
    *printed = &rest[1..];
    Some(field)
}

/// Parses a record such as `:100644 100644 <hash> <hash> R90`, and its paths. `Some(None)` for an unmerged file, which
/// has a second record if the working tree contains it.
fn raw_change(printed: &mut &[u8]) -> Option<Option<RawChange>> {
    let head = str::from_utf8(field(printed)?).ok()?.strip_prefix(':')?;
    let parts: Vec<&str> = head.split(' ').collect();
    let [old_mode, new_mode, _, hash, status] = parts.as_slice() else { return None };
    let kind = match status.as_bytes().first()? {
        b'A' => ChangeKind::Added,
        b'D' => ChangeKind::Deleted,
        b'R' => ChangeKind::Renamed,
        b'C' => ChangeKind::Copied,
        b'T' => ChangeKind::TypeChanged,
        b'U' => {
            field(printed)?;
            return Some(None);
        }
        _ => ChangeKind::Modified,
    };
    let from = match kind {
        ChangeKind::Renamed | ChangeKind::Copied => Some(field(printed)?.to_vec()),
        _ => None,
    };
    let mode = |mode: &str| (mode != NO_MODE).then(|| mode.to_owned());
    Some(Some(RawChange {
        path: field(printed)?.to_vec(),
        from,
        kind,
        old_mode: mode(old_mode),
        new_mode: mode(new_mode),
        hash: (!hash.bytes().all(|byte| byte == b'0')).then(|| (*hash).to_owned()),
    }))
}

/// Parses the records of `--numstat`: two numbers and the path, or the numbers and, as separate records, both paths.
fn line_counts(mut printed: &[u8]) -> LineCounts {
    let mut counts = LineCounts::new();
    while let Some(record) = field(&mut printed) {
        let mut parts = record.splitn(3, |byte| *byte == b'\t');
        let mut number = || str::from_utf8(parts.next()?).ok()?.parse().ok();
        let numbers = (number(), number());
        let path = match parts.next() {
            Some([]) => field(&mut printed).and_then(|_| field(&mut printed)),
            path => path,
        };
        let Some(path) = path else { break };
        counts.insert(path.to_vec(), numbers);
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OLD: &str = "de980441c3ab03a8c07dda1ad27b8a11f39deb1e";
    const NONE: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn raw_records_and_line_counts_are_parsed() {
        let text = format!(
            ":100644 100755 {OLD} {NONE} M\0a\nb\0:100644 100644 {OLD} {OLD} R090\0old\0new\0\
             :000000 000000 {NONE} {NONE} U\0both\0:100644 000000 {OLD} {NONE} D\0x\0\
             1\t2\ta\nb\0-\t-\t\0old\0new\0"
        );
        let output = parse_comparison(text.as_bytes());
        let [modified, renamed, deleted] = output.changes.as_slice() else { panic!("{output:?}") };
        assert_eq!((modified.path.as_slice(), modified.kind), (b"a\nb".as_slice(), ChangeKind::Modified));
        assert_eq!((modified.new_mode.as_deref(), &modified.hash), (Some("100755"), &None));
        assert_eq!((renamed.from.as_deref(), renamed.hash.as_deref()), (Some(b"old".as_slice()), Some(OLD)));
        assert_eq!((deleted.kind, &deleted.new_mode), (ChangeKind::Deleted, &None));
        assert_eq!(output.lines[b"a\nb".as_slice()], (Some(1), Some(2)));
        assert_eq!(output.lines[b"new".as_slice()], (None, None));
    }

    #[test]
    fn patch_follows_an_empty_record() {
        let text = format!(":100644 100644 {OLD} {NONE} M\0a\0\0diff --git a/a b/a\n");
        assert_eq!(parse_comparison(text.as_bytes()).patch, b"diff --git a/a b/a\n");
    }

    #[test]
    fn only_a_full_hash_is_a_hash() {
        assert!(ObjectHash::parse(OLD).is_some());
        for text in
            ["", "HEAD", "de98044", &OLD.to_uppercase(), &format!("{OLD}^"), &format!("-{}", &OLD[1..])]
        {
            assert_eq!(ObjectHash::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_output_is_parsed(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut text = b":100644 100644 a b M\0".to_vec();
            text.extend(&bytes);
            prop_assert!(parse_comparison(&text).changes.len() <= text.len());
        }
    }
}
