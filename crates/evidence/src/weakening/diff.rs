//! Parser of unified diffs in git's format.

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Context(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// The part of a diff that concerns one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DiffFile<'a> {
    pub path: String,
    /// The part of the diff, from its header on.
    pub text: &'a str,
    pub is_deleted: bool,
    pub lines: Vec<Line<'a>>,
}

impl<'a> DiffFile<'a> {
    /// Returns the lines of the old file that the diff contains.
    pub fn lines_before(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter_map(|line| match line {
            Line::Context(text) | Line::Removed(text) => Some(*text),
            Line::Added(_) => None,
        })
    }

    /// Returns the lines of the new file that the diff contains.
    pub fn lines_after(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter_map(|line| match line {
            Line::Context(text) | Line::Added(text) => Some(*text),
            Line::Removed(_) => None,
        })
    }

    pub fn removed(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter_map(|line| if let Line::Removed(text) = line { Some(*text) } else { None })
    }

    pub fn added(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter_map(|line| if let Line::Added(text) = line { Some(*text) } else { None })
    }
}

/// Parses a diff with the prefixes `a/` and `b/`.
pub(super) fn parse(diff: &str) -> Vec<DiffFile<'_>> {
    let mut files: Vec<DiffFile<'_>> = Vec::new();
    // Remaining lines of the old and the new file in the current hunk. Counting them distinguishes a removed
    // line that begins with `-- a/` from a header.
    let (mut old, mut new) = (0_usize, 0_usize);
    // Offsets of the file's header and of the next line.
    let (mut start, mut end) = (0, 0);
    for line in diff.split_inclusive('\n') {
        let begin = end;
        end += line.len();
        let text = line.trim_end_matches(['\n', '\r']);
        if text.starts_with("diff --git ") && old == 0 && new == 0 {
            files.push(DiffFile::default());
            start = begin;
        }
        let Some(file) = files.last_mut() else { continue };
        file.text = &diff[start..end];
        if begin == start {
            continue;
        }
        if old > 0 || new > 0 {
            let (sign, rest) = text.split_at_checked(1).unwrap_or((" ", ""));
            let line = match sign {
                "-" => {
                    old = old.saturating_sub(1);
                    Line::Removed(rest)
                }
                "+" => {
                    new = new.saturating_sub(1);
                    Line::Added(rest)
                }
                " " => {
                    (old, new) = (old.saturating_sub(1), new.saturating_sub(1));
                    Line::Context(rest)
                }
                _ => continue,
            };
            file.lines.push(line);
        } else if let Some(hunk) = text.strip_prefix("@@ -") {
            (old, new) = hunk_lengths(hunk).unwrap_or((0, 0));
        } else if text.starts_with("deleted file mode ") {
            file.is_deleted = true;
        } else if let Some(path) = text.strip_prefix("--- ").and_then(|path| path_of(path, "a/")) {
            file.path = path;
        } else if let Some(path) = text.strip_prefix("+++ ").and_then(|path| path_of(path, "b/")) {
            file.path = path;
        }
    }
    files
}

/// Parses the line counts of `-1,3 +1,4 @@`. A missing count means one line.
fn hunk_lengths(hunk: &str) -> Option<(usize, usize)> {
    let (old, rest) = hunk.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let length = |range: &str| match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => Some(1),
    };
    Some((length(old)?, length(new)?))
}

/// Parses a path of a header. Returns `None` for `/dev/null`, the missing side of a new or deleted file. Git
/// quotes unusual names and appends a tab to names with spaces.
fn path_of(text: &str, prefix: &str) -> Option<String> {
    let text = text.trim_end_matches('\t').trim_matches('"');
    text.strip_prefix(prefix).map(str::to_owned)
}
