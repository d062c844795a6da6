//! The changed lines of files as reviewers read them: each line with its number, so that a finding can name it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use loopgate_api::redact;
use serde_json::Value;

use crate::diff_data::{ChangeStatus, DiffData, LineRange};
use crate::partition::PartitionEntry;

/// Characters of a line that are shown. Longer lines are seldom written by a person.
const MAX_LINE: usize = 1000;
/// Unchanged lines that belong to a part of a file on each side.
const CONTEXT: u64 = 10;

/// Order of lines at one place of the new file: removed lines are before those that replace them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LineKind {
    Removed,
    Added,
    Unchanged,
}

/// Writes the changed lines of an entry: `+` added and ` ` unchanged lines with their numbers in the new file, `-` removed
/// lines with their numbers in the old one. `…` marks left out lines.
#[must_use]
pub fn patch_text(data: &DiffData, entry: &PartitionEntry) -> String {
    let path = &entry.file;
    let status = match data.file_statuses.get(path) {
        Some(ChangeStatus::Added) => "added",
        Some(ChangeStatus::Removed) => "removed",
        _ => "modified",
    };
    let mut text = format!("=== {} ({status}", Value::from(path.as_str()));
    if let Some([first, last]) = entry.line_range {
        let _ = write!(text, ", lines {first}-{last}");
    }
    text.push_str(")\n");
    let Some(lines) = data.patch_lines.get(path) else { return text };
    let is_removed = status == "removed";
    let mut previous: Option<(u64, LineKind)> = None;
    for ((place, kind, number), line) in ordered(data, path, is_removed) {
        if !entry.line_range.is_none_or(|range| is_in(range, place, kind)) {
            continue;
        }
        let is_next = previous.is_none_or(|(last, last_kind)| {
            place == last || place == last + u64::from(last_kind != LineKind::Removed || is_removed)
        });
        if !is_next {
            text.push_str("…\n");
        }
        previous = Some((place, kind));
        let sign = match kind {
            LineKind::Removed => '-',
            LineKind::Added => '+',
            LineKind::Unchanged => ' ',
        };
        let shown = redact::shorten(line.trim_end_matches('\r'), MAX_LINE);
        let _ = writeln!(text, "{sign}{number:>6} {shown}");
    }
    if lines.added_lines.is_empty() && lines.removed_lines.is_empty() {
        text.push_str("(no changed lines: another name, mode or type)\n");
    }
    text
}

/// Returns whether a line belongs to a part of a file. Unchanged lines around it do.
fn is_in([first, last]: LineRange, place: u64, kind: LineKind) -> bool {
    let margin = if kind == LineKind::Unchanged { CONTEXT } else { 0 };
    place.saturating_add(margin) >= first && place <= last.saturating_add(margin)
}

/// Returns the lines by their place in the new file, in the old one if the file was removed.
fn ordered<'a>(data: &'a DiffData, path: &str, is_removed: bool) -> BTreeMap<(u64, LineKind, u64), &'a str> {
    let mut ordered = BTreeMap::new();
    let (Some(lines), Some(ranges)) = (data.patch_lines.get(path), data.changed_ranges.get(path)) else {
        return ordered;
    };
    for (number, line) in &lines.added_lines {
        ordered.insert((*number, LineKind::Added, *number), line.as_str());
    }
    for (number, line) in &lines.context_lines {
        ordered.insert((*number, LineKind::Unchanged, *number), line.as_str());
    }
    for (index, [first, last]) in ranges.removed.iter().enumerate() {
        let at = ranges.removed_at.get(index).copied().unwrap_or(*first);
        for (number, line) in lines.removed_lines.range(*first..=*last) {
            let place = if is_removed { *number } else { at };
            ordered.insert((place, LineKind::Removed, *number), line.as_str());
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::ReviewedChange;

    const PATCH: &str = "diff --git a/a.rs b/a.rs\nindex 1..2 100644\n--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three\n\
        @@ -20 +21,2 @@ x\n-t\n+u\n+v\n";

    fn data() -> DiffData {
        let raw = b":100644 100644 1 2 M\0a.rs\0";
        DiffData::from(&ReviewedChange::parse_parts(raw, b"4\t2\ta.rs\0", PATCH.as_bytes()).unwrap())
    }

    fn entry(line_range: Option<LineRange>) -> PartitionEntry {
        PartitionEntry { file: "a.rs".to_owned(), loc: 0, is_test: false, line_range }
    }

    #[test]
    fn lines_have_their_numbers() {
        let text = patch_text(&data(), &entry(None));
        let expected = "=== \"a.rs\" (modified)\n      1 one\n-     2 two\n+     2 2\n+     3 2b\n      4 three\n…\n-    20 t\n+    21 u\n+    22 v\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn part_of_a_file_contains_its_lines() {
        let text = patch_text(&data(), &entry(Some([21, 22])));
        assert_eq!(text, "=== \"a.rs\" (modified, lines 21-22)\n-    20 t\n+    21 u\n+    22 v\n");
        let none = DiffData { files_to_review: vec!["a.rs".to_owned()], ..DiffData::default() };
        assert_eq!(patch_text(&none, &entry(None)), "=== \"a.rs\" (modified)\n");
    }
}
