//! The model of a change, from the output of `git diff-tree -z --raw --numstat --patch`.
//!
//! The patch is read by the line counts of its hunks: a line of a file never decides where a hunk or a file ends.
//! Names are compared as bytes with those of the raw records, which git does not quote.

use std::collections::HashMap;

use loopgate_api::generated_files::{GeneratedKind, generated_kind};
use loopgate_api::git_quoting::quoted_name;
use loopgate_api::held_back::generated_directory;
use thiserror::Error;

/// First words of the header of a file.
const FILE_HEADER: &[u8] = b"diff --git ";
/// First characters of the header of a hunk.
pub(crate) const HUNK_HEADER: &[u8] = b"@@ ";
/// Line in place of the patch of a file with conflicts.
const UNMERGED: &[u8] = b"* Unmerged path ";
/// Mode of an object that does not exist.
const NO_MODE: &str = "000000";
const SUBMODULE_MODE: &str = "160000";
const LINK_MODE: &str = "120000";
/// Directories with copies of other projects' code, in addition to those of package managers.
const VENDOR_DIRECTORIES: [&str; 4] = ["3rdparty", "third_party", "third-party", "vendor"];

/// Reason for which the output of git was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseDiffError {
    /// A raw record, or its end, is not as git prints it.
    #[error("the list of changed files is malformed")]
    Record,
    /// The numbers of changed lines are not as git prints them.
    #[error("the list of changed lines is malformed")]
    Count,
    /// The patch contains a file that is not among the raw records, or in another order.
    #[error("the patch contains a file that is not in the list of changed files, at byte {0}")]
    File(usize),
    /// A hunk has fewer or more lines than its header says, or its header is malformed.
    #[error("a hunk of the patch is malformed, at byte {0}")]
    Hunk(usize),
    /// The patch of a file has another number of lines than the list of changed lines says.
    #[error("the patch of {0} has another number of lines than the list of changed lines says")]
    Mismatch(String),
}

/// A change: the files in the order of git.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewedChange<'a> {
    /// Changed files. A path occurs once.
    pub files: Vec<ReviewedFile<'a>>,
}

/// A changed file. Paths and lines are bytes, because neither need be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedFile<'a> {
    /// Path relative to the root of the repository.
    pub path: &'a [u8],
    /// Path before a rename, or of the original of a copy.
    pub from: Option<&'a [u8]>,
    /// Letter by which git denotes the kind of change: `A`, `C`, `D`, `M`, `R`, `T` or `U`.
    pub status: u8,
    /// Mode in octal, such as `100644`; `None` without this side.
    pub old_mode: Option<&'a str>,
    /// Mode in octal; `None` without this side.
    pub new_mode: Option<&'a str>,
    /// Numbers of added and removed lines; `None` for a binary file.
    pub line_count: Option<(u64, u64)>,
    /// What the file contains.
    pub kind: FileKind,
    /// Hunks in the order of the file. Empty for a binary file and without a change of the content.
    pub hunks: Vec<Hunk<'a>>,
    /// Unchanged lines around the hunks, with their numbers in the new file; none in a patch without context.
    pub unchanged: Vec<DiffLine<'a>>,
}

/// What a file contains, which decides how it is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// Text that people write.
    Source,
    /// Versions of dependencies.
    Lock,
    /// Other output of a program.
    Generated,
    /// A copy of another project's code.
    Vendored,
    /// Content that git does not compare by lines.
    Binary,
    /// A commit of another repository.
    Submodule,
    /// A symbolic link, whose content is the path that it leads to.
    Link,
}

/// Consecutive changed lines without an unchanged line between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk<'a> {
    /// First line and number of lines in the old file. Without lines, the line before which the new ones were inserted.
    pub old: (u64, u64),
    /// First line and number of lines in the new file. Without lines, the line before which the old ones were removed.
    pub new: (u64, u64),
    /// Removed lines, with their numbers in the old file.
    pub removed: Vec<DiffLine<'a>>,
    /// Added lines, with their numbers in the new file.
    pub added: Vec<DiffLine<'a>>,
}

impl Hunk<'_> {
    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Returns the hunk if it contains lines, and leaves an empty one.
    fn take_if_changed(&mut self) -> Option<Self> {
        let mut hunk = std::mem::take(self);
        hunk.old.1 = hunk.removed.len() as u64;
        hunk.new.1 = hunk.added.len() as u64;
        (!hunk.is_empty()).then_some(hunk)
    }
}

/// A line of a file, without its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLine<'a> {
    /// Number of the line, from 1.
    pub number: u64,
    /// Content, possibly with a carriage return at the end.
    pub text: &'a [u8],
}

impl<'a> ReviewedChange<'a> {
    /// Parses the output of one command that prints all three parts, such as
    /// `git diff-tree -r -z --raw --numstat --patch --unified=0 <tree> <tree>`.
    ///
    /// # Errors
    /// Fails with [`ParseDiffError`]. An incomplete output never yields an incomplete change.
    pub fn parse(output: &'a [u8]) -> Result<Self, ParseDiffError> {
        let mut input = Input { bytes: output, at: 0 };
        while input.rest().first() == Some(&b':') {
            input.skip_raw_record()?;
        }
        let raw = &output[..input.at];
        let counts = input.at;
        // An empty record separates the patch. Without a changed file there is no output at all.
        while !input.rest().is_empty() && input.rest()[0] != 0 {
            input.skip_count()?;
        }
        let numstat = &output[counts..input.at];
        match input.rest().get(1..) {
            None if !raw.is_empty() => Err(ParseDiffError::Count),
            patch => Self::parse_parts(raw, numstat, patch.unwrap_or_default()),
        }
    }

    /// Parses the three parts, which git has printed for the same two trees: `--raw -z`, `--numstat -z`, `--patch`.
    ///
    /// # Errors
    /// Fails with [`ParseDiffError`].
    pub fn parse_parts(raw: &'a [u8], numstat: &'a [u8], patch: &'a [u8]) -> Result<Self, ParseDiffError> {
        let counts = line_counts(numstat)?;
        let mut input = Input { bytes: raw, at: 0 };
        let mut files: Vec<ReviewedFile<'a>> = Vec::new();
        while !input.rest().is_empty() {
            let mut file = input.raw_record()?;
            // Git may count no lines of a file with conflicts.
            let count = counts.get(file.path).copied().or((file.status == b'U').then_some(Some((0, 0))));
            file.line_count = count.ok_or(ParseDiffError::Count)?;
            file.kind = kind(&file);
            match files.last_mut() {
                // A file with conflicts has a second record if the working tree contains it.
                Some(unmerged) if unmerged.path == file.path && unmerged.status == b'U' => *unmerged = file,
                _ => files.push(file),
            }
        }
        read_patch(&mut files, patch)?;
        match files.iter().find(|file| !file.has_counted_lines()) {
            Some(file) => Err(ParseDiffError::Mismatch(file.path_text())),
            None => Ok(Self { files }),
        }
    }
}

impl ReviewedFile<'_> {
    /// Returns the path as text, with invalid UTF-8 replaced.
    #[must_use]
    pub fn path_text(&self) -> String {
        String::from_utf8_lossy(self.path).into_owned()
    }

    /// Returns whether the hunks have the number of lines that git counted.
    fn has_counted_lines(&self) -> bool {
        let lines = (self.added().count() as u64, self.removed().count() as u64);
        self.line_count.is_none_or(|count| count == lines)
    }

    /// Returns the added lines of all hunks.
    pub fn added(&self) -> impl Iterator<Item = &DiffLine<'_>> {
        self.hunks.iter().flat_map(|hunk| &hunk.added)
    }

    /// Returns the removed lines of all hunks.
    pub fn removed(&self) -> impl Iterator<Item = &DiffLine<'_>> {
        self.hunks.iter().flat_map(|hunk| &hunk.removed)
    }
}

/// Git's output, and the position of the next byte to read.
#[derive(Debug, Clone, Copy)]
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Reads up to a byte, which is skipped.
    fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let length = self.rest().iter().position(|byte| *byte == end)?;
        let field = &self.rest()[..length];
        self.at += length + 1;
        Some(field)
    }

    /// Reads a line without its line feed, which the last line may lack. `None` at the end.
    fn line(&mut self) -> Option<&'a [u8]> {
        if self.rest().is_empty() {
            return None;
        }
        self.until(b'\n').or_else(|| {
            let line = self.rest();
            self.at = self.bytes.len();
            Some(line)
        })
    }

    fn skip_raw_record(&mut self) -> Result<(), ParseDiffError> {
        self.raw_record().map(drop)
    }

    /// Reads a record such as `:100644 100644 <hash> <hash> R90`, and its paths.
    fn raw_record(&mut self) -> Result<ReviewedFile<'a>, ParseDiffError> {
        let head = self.until(0).ok_or(ParseDiffError::Record)?;
        let head = str::from_utf8(head).ok().and_then(|head| head.strip_prefix(':'));
        let parts: Vec<&str> = head.ok_or(ParseDiffError::Record)?.split(' ').collect();
        let [old_mode, new_mode, _, _, status] = parts.as_slice() else { return Err(ParseDiffError::Record) };
        let status = *status.as_bytes().first().ok_or(ParseDiffError::Record)?;
        let from = match status {
            b'R' | b'C' => Some(self.until(0).ok_or(ParseDiffError::Record)?),
            _ => None,
        };
        let path = self.until(0).filter(|path| !path.is_empty()).ok_or(ParseDiffError::Record)?;
        let mode = |mode: &'a str| (mode != NO_MODE).then_some(mode);
        Ok(ReviewedFile {
            path,
            from,
            status,
            old_mode: mode(old_mode),
            new_mode: mode(new_mode),
            line_count: None,
            kind: FileKind::Source,
            hunks: Vec::new(),
            unchanged: Vec::new(),
        })
    }

    fn skip_count(&mut self) -> Result<(), ParseDiffError> {
        self.count().map(drop)
    }

    /// Reads two numbers and a path, or the numbers and, as separate records, the paths before and after a rename.
    fn count(&mut self) -> Result<(&'a [u8], AddedAndRemoved), ParseDiffError> {
        let record = self.until(0).ok_or(ParseDiffError::Count)?;
        let mut parts = record.splitn(3, |byte| *byte == b'\t');
        let mut number = || parts.next().and_then(|text| str::from_utf8(text).ok());
        let numbers = match (number(), number()) {
            (Some("-"), Some("-")) => None,
            (Some(added), Some(removed)) => match (added.parse(), removed.parse()) {
                (Ok(added), Ok(removed)) => Some((added, removed)),
                _ => return Err(ParseDiffError::Count),
            },
            _ => return Err(ParseDiffError::Count),
        };
        let path = match parts.next() {
            Some([]) => self.until(0).and_then(|_| self.until(0)),
            path => path,
        };
        Ok((path.ok_or(ParseDiffError::Count)?, numbers))
    }
}

/// Numbers of added and removed lines; `None` for binary files.
type AddedAndRemoved = Option<(u64, u64)>;

/// Numbers of changed lines by path.
type CountsByPath<'a> = HashMap<&'a [u8], AddedAndRemoved>;

fn line_counts(numstat: &[u8]) -> Result<CountsByPath<'_>, ParseDiffError> {
    let mut input = Input { bytes: numstat, at: 0 };
    let mut counts = HashMap::new();
    while !input.rest().is_empty() {
        let (path, count) = input.count()?;
        counts.insert(path, count);
    }
    Ok(counts)
}

fn kind(file: &ReviewedFile<'_>) -> FileKind {
    match (file.new_mode.or(file.old_mode), FileKind::of_name(&file.path_text())) {
        (Some(SUBMODULE_MODE), _) => FileKind::Submodule,
        (Some(LINK_MODE), _) => FileKind::Link,
        (_, FileKind::Lock) => FileKind::Lock,
        _ if file.line_count.is_none() => FileKind::Binary,
        (_, kind) => kind,
    }
}

impl FileKind {
    /// Returns the kind of a regular file that its path suggests.
    #[must_use]
    pub fn of_name(path: &str) -> Self {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let is_vendored = generated_directory(path).is_some()
            || directory.split('/').any(|name| VENDOR_DIRECTORIES.contains(&name));
        match generated_kind(path) {
            Some(GeneratedKind::LockFile) => Self::Lock,
            _ if is_vendored => Self::Vendored,
            Some(GeneratedKind::Generated) => Self::Generated,
            None => Self::Source,
        }
    }
}

/// Adds the hunks of a patch to the files, which are in the same order. A file without a difference in its content may
/// have no part in the patch, and a file whose type changed has two.
fn read_patch<'a>(files: &mut [ReviewedFile<'a>], patch: &'a [u8]) -> Result<(), ParseDiffError> {
    let mut input = Input { bytes: patch, at: 0 };
    let mut files = files.iter_mut();
    let mut current: Option<&mut ReviewedFile<'a>> = None;
    loop {
        let start = input.at;
        let Some(line) = input.line() else { return Ok(()) };
        if line.is_empty() || line.starts_with(UNMERGED) {
            continue;
        }
        if !line.starts_with(FILE_HEADER) {
            return Err(ParseDiffError::File(start));
        }
        let is_second = current.as_ref().is_some_and(|file| file.status == b'T' && has_header(file, line));
        if !is_second {
            current = files.find(|file| has_header(file, line));
        }
        let file = current.as_mut().ok_or(ParseDiffError::File(start))?;
        read_file(&mut input, file)?;
    }
}

/// Reads the rest of the header of a file, and its hunks.
fn read_file<'a>(input: &mut Input<'a>, file: &mut ReviewedFile<'a>) -> Result<(), ParseDiffError> {
    let is_at = |input: &Input<'_>, start: &[u8]| input.rest().starts_with(start);
    // Names in these lines are quoted if they contain a line feed, so that each line of the header is one line.
    while !input.rest().is_empty() && ![HUNK_HEADER, FILE_HEADER, UNMERGED].iter().any(|at| is_at(input, at))
    {
        input.line();
    }
    while is_at(input, HUNK_HEADER) {
        read_hunk(input, file)?;
    }
    Ok(())
}

fn read_hunk<'a>(input: &mut Input<'a>, file: &mut ReviewedFile<'a>) -> Result<(), ParseDiffError> {
    let error = ParseDiffError::Hunk(input.at);
    let (old, new) = input.line().and_then(hunk_header).ok_or_else(|| error.clone())?;
    let (mut old_left, mut new_left) = (old.1, new.1);
    // Without lines, a side names the line before the hunk.
    let first = |(line, count): HunkSide| if count == 0 { line + 1 } else { line };
    let (mut old_line, mut new_line) = (first(old), first(new));
    let mut hunk = Hunk::default();
    while old_left > 0 || new_left > 0 {
        // Git ends each of these lines with a line feed, so that a cut line is recognized.
        let line = input.until(b'\n').ok_or_else(|| error.clone())?;
        let (sign, text) = line.split_first().unwrap_or((&b' ', line));
        let (is_old, is_new) = match sign {
            b'-' => (true, false),
            b'+' => (false, true),
            b' ' => (true, true),
            // `\ No newline at end of file`, in the language of the user.
            b'\\' => continue,
            _ => return Err(error),
        };
        if is_old && old_left == 0 || is_new && new_left == 0 {
            return Err(error);
        }
        if is_old && is_new {
            file.unchanged.push(DiffLine { number: new_line, text });
            file.hunks.extend(hunk.take_if_changed());
        } else if hunk.is_empty() {
            (hunk.old.0, hunk.new.0) = (old_line, new_line);
        }
        if is_old && !is_new {
            hunk.removed.push(DiffLine { number: old_line, text });
        }
        if is_new && !is_old {
            hunk.added.push(DiffLine { number: new_line, text });
        }
        (old_left, old_line) = (old_left - u64::from(is_old), old_line + u64::from(is_old));
        (new_left, new_line) = (new_left - u64::from(is_new), new_line + u64::from(is_new));
    }
    file.hunks.extend(hunk.take_if_changed());
    while input.rest().starts_with(b"\\") {
        input.line();
    }
    Ok(())
}

/// First line and number of lines.
pub(crate) type HunkSide = (u64, u64);

/// Parses `@@ -<line>[,<count>] +<line>[,<count>] @@`, possibly with text after it.
pub(crate) fn hunk_header(line: &[u8]) -> Option<(HunkSide, HunkSide)> {
    let mut parts = line.splitn(5, |byte| *byte == b' ');
    let (at, old, new, end) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let side = |text: &[u8], sign: &str| {
        let text = str::from_utf8(text).ok()?.strip_prefix(sign)?;
        let (line, count) = text.split_once(',').unwrap_or((text, "1"));
        let (line, count): (u64, u64) = (line.parse().ok()?, count.parse().ok()?);
        line.checked_add(count)?;
        Some((line, count))
    };
    (at == b"@@" && end == b"@@").then_some((side(old, "-")?, side(new, "+")?))
}

/// Returns whether a line is the first line of the file's part of a patch. Git quotes bytes that are not ASCII only
/// with `core.quotePath`.
fn has_header(file: &ReviewedFile<'_>, line: &[u8]) -> bool {
    let old = file.from.unwrap_or(file.path);
    [true, false].iter().any(|quotes_high| {
        let names =
            [quoted_name("a/", old, *quotes_high), b" ".to_vec(), quoted_name("b/", file.path, *quotes_high)];
        line.strip_prefix(FILE_HEADER) == Some(names.concat().as_slice())
    })
}

#[cfg(test)]
mod tests;
