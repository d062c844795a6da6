//! `diff_data.json`: a change as the steps of a code review exchange it.
//!
//! Paths and lines are text, with invalid UTF-8 replaced. All members are optional when it is read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::diff::{DiffLine, FileKind, ReviewedChange, ReviewedFile};

/// First and last line.
pub type LineRange = [u64; 2];

/// A change as the steps of a code review exchange it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DiffData {
    /// Paths of the changed files; a renamed file by its new path.
    pub files_to_review: Vec<String>,
    /// Kind of change by path.
    pub file_statuses: BTreeMap<String, ChangeStatus>,
    /// Numbers of changed lines by path; 0 for binary files.
    pub file_loc: BTreeMap<String, ChangedLineCount>,
    /// Number of all added and removed lines.
    pub total_loc: u64,
    /// Changed lines by path.
    pub changed_ranges: BTreeMap<String, ChangedRanges>,
    /// Texts of the changed lines by path.
    pub patch_lines: BTreeMap<String, PatchLines>,
    /// Kinds of the files that are not ordinary source files, by path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub file_kinds: BTreeMap<String, FileKind>,
}

/// Kind of change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeStatus {
    /// The file is new.
    Added,
    /// Content, mode, type or name differs.
    Modified,
    /// The file no longer exists.
    Removed,
}

/// Numbers of changed lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedLineCount {
    /// Added lines.
    pub added: u64,
    /// Removed lines.
    pub removed: u64,
}

impl ChangedLineCount {
    /// Returns the number of changed lines.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.added.saturating_add(self.removed)
    }
}

/// Ranges of the changed lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedRanges {
    /// Added lines, by their numbers in the new file.
    pub added: Vec<LineRange>,
    /// Removed lines, by their numbers in the old file.
    pub removed: Vec<LineRange>,
    /// For each range of removed lines, the line of the new file before which they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_at: Vec<u64>,
}

/// Texts of the changed lines of a file, by line number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchLines {
    /// Added lines, by their numbers in the new file.
    pub added_lines: BTreeMap<u64, String>,
    /// Removed lines, by their numbers in the old file.
    pub removed_lines: BTreeMap<u64, String>,
    /// Unchanged lines around them, by their numbers in the new file; none in a patch without context.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub context_lines: BTreeMap<u64, String>,
}

impl DiffData {
    /// Returns the number of changed lines of a file.
    #[must_use]
    pub fn line_count(&self, path: &str) -> u64 {
        self.file_loc.get(path).copied().unwrap_or_default().total()
    }

    /// Returns the change of some of its files.
    #[must_use]
    pub fn with_files(&self, paths: &BTreeSet<&str>) -> Self {
        fn part<T: Clone>(all: &BTreeMap<String, T>, paths: &BTreeSet<&str>) -> BTreeMap<String, T> {
            let is_part = |(path, _): &(&String, &T)| paths.contains(path.as_str());
            all.iter().filter(is_part).map(|(path, value)| (path.clone(), value.clone())).collect()
        }
        let files_to_review: Vec<String> =
            self.files_to_review.iter().filter(|path| paths.contains(path.as_str())).cloned().collect();
        Self {
            total_loc: files_to_review.iter().map(|path| self.line_count(path)).sum(),
            files_to_review,
            file_statuses: part(&self.file_statuses, paths),
            file_loc: part(&self.file_loc, paths),
            changed_ranges: part(&self.changed_ranges, paths),
            patch_lines: part(&self.patch_lines, paths),
            file_kinds: part(&self.file_kinds, paths),
        }
    }

    /// Returns what a file contains. Without an entry, its name decides.
    #[must_use]
    pub fn kind(&self, path: &str) -> FileKind {
        self.file_kinds.get(path).copied().unwrap_or_else(|| FileKind::of_name(path))
    }
}

impl From<&ReviewedChange<'_>> for DiffData {
    fn from(change: &ReviewedChange<'_>) -> Self {
        let mut data = Self::default();
        let mut paths = BTreeSet::new();
        for file in &change.files {
            let path = file.path_text();
            // Two names that are not UTF-8 may have the same text. The lines of both are then at this path.
            if paths.insert(path.clone()) {
                data.files_to_review.push(path.clone());
            }
            data.add(path, file);
        }
        data
    }
}

impl DiffData {
    fn add(&mut self, path: String, file: &ReviewedFile<'_>) {
        let status = match file.status {
            b'A' => ChangeStatus::Added,
            b'D' => ChangeStatus::Removed,
            _ => ChangeStatus::Modified,
        };
        self.file_statuses.insert(path.clone(), status);
        let (added, removed) = file.line_count.unwrap_or_default();
        let count = self.file_loc.entry(path.clone()).or_default();
        count.added += added;
        count.removed += removed;
        self.total_loc += added + removed;
        if file.kind != FileKind::Source {
            self.file_kinds.insert(path.clone(), file.kind);
        }
        let ranges = self.changed_ranges.entry(path.clone()).or_default();
        for hunk in &file.hunks {
            ranges.added.extend(range(hunk.new));
            ranges.removed.extend(range(hunk.old));
            ranges.removed_at.extend(range(hunk.old).map(|_| hunk.new.0));
        }
        let lines = self.patch_lines.entry(path).or_default();
        lines.added_lines.extend(file.added().map(text));
        lines.removed_lines.extend(file.removed().map(text));
        lines.context_lines.extend(file.unchanged.iter().map(text));
    }
}

fn range((first, count): (u64, u64)) -> Option<LineRange> {
    (count > 0).then(|| [first, first + count - 1])
}

fn text(line: &DiffLine<'_>) -> (u64, String) {
    (line.number, String::from_utf8_lossy(line.text).into_owned())
}
