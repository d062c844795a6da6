//! Anchors that keep findings at their lines while the code changes.
//!
//! When a finding is stored, its anchor records the text of its line and of the lines around it. When the
//! finding is read, the anchor is located in the current content of the file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use loopgate_api::review::{LineAnchor, ReviewFinding};
use loopgate_home::{Directory, Sandbox, SandboxedPath};

/// Number of context lines before and after the anchored line.
const CONTEXT: usize = 3;
/// Bytes compared and stored per line.
const MAX_LINE_BYTES: usize = 200;
/// Bytes of a file. Larger files are not searched, which bounds memory and time.
const MAX_FILE: u64 = 2 * 1024 * 1024;
/// Bytes of all files read per request, which bounds its duration.
const MAX_FILES: u64 = 32 * 1024 * 1024;
/// Candidate lines with equal text that are compared on each side of the old position. Bounds the cost of
/// lines such as `}`.
const MAX_CANDIDATES: usize = 500;

/// Sets the anchors of findings. Outdated findings, and those whose line cannot be read, keep their previous
/// anchor. Performs blocking I/O.
pub(crate) fn set_anchors(findings: &mut [ReviewFinding], tree: &SourceTree) {
    for_each_file(findings, tree, |finding, content| {
        if let (FileContent::Text(lines), Some(line), false) = (content, finding.line, finding.outdated) {
            finding.anchor = lines.anchor(line).or(finding.anchor.take());
        }
    });
    // `outdated` is determined on each read and not stored.
    findings.iter_mut().for_each(|finding| finding.outdated = false);
}

/// Moves findings to the lines where their anchors are located now. Findings whose anchor is not found keep
/// their line and are marked outdated. Performs blocking I/O.
pub(crate) fn follow_lines(findings: &mut [ReviewFinding], tree: &SourceTree) {
    for_each_file(findings, tree, |finding, content| {
        let Some(anchor) = &finding.anchor else { return };
        match content {
            FileContent::Text(lines) => match lines.find(anchor) {
                Some(line) => finding.line = Some(line),
                None => finding.outdated = true,
            },
            FileContent::Missing => finding.outdated = true,
            // A read error does not prove that the code has changed.
            FileContent::Unreadable => {}
        }
    });
}

/// Visits every finding that has a file, with the content of the file. Each file is read once.
fn for_each_file(
    findings: &mut [ReviewFinding],
    tree: &SourceTree,
    visit: impl Fn(&mut ReviewFinding, &FileContent<'_>),
) {
    let mut by_file: BTreeMap<String, Vec<&mut ReviewFinding>> = BTreeMap::new();
    for finding in findings {
        if let Some(file) = finding.file.clone() {
            by_file.entry(file).or_default().push(finding);
        }
    }
    // Without the worktree, findings keep their lines.
    let Ok(root) = tree.worktree.open_directory() else { return };
    let mut bytes_left = MAX_FILES;
    for (file, findings) in by_file {
        let text = tree.read(&root, &file, bytes_left.min(MAX_FILE));
        if let Ok(text) = &text {
            bytes_left = bytes_left.saturating_sub(text.len() as u64);
        }
        let content = match &text {
            Ok(text) => FileContent::Text(SourceLines::new(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileContent::Missing,
            Err(_) => FileContent::Unreadable,
        };
        findings.into_iter().for_each(|finding| visit(finding, &content));
    }
}

/// Content of a file in the worktree.
enum FileContent<'a> {
    Text(SourceLines<'a>),
    Missing,
    /// The file is too large, not UTF-8, or outside the worktree.
    Unreadable,
}

/// Reads source files of a worktree.
#[derive(Debug, Clone)]
pub(crate) struct SourceTree {
    sandbox: Arc<Sandbox>,
    worktree: SandboxedPath,
}

impl SourceTree {
    pub(crate) const fn new(sandbox: Arc<Sandbox>, worktree: SandboxedPath) -> Self {
        Self { sandbox, worktree }
    }

    /// Reads a text file. The path is relative to the worktree, or absolute inside it. Fails above
    /// `max_bytes`.
    fn read(&self, root: &Directory, file: &str, max_bytes: u64) -> io::Result<String> {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let checked = self.sandbox.check(self.worktree.as_path().join(file)).map_err(|_| denied())?;
        let below = checked.canonical().strip_prefix(self.worktree.canonical()).map_err(|_| denied())?;
        String::from_utf8(root.read(below, max_bytes)?).map_err(io::Error::other)
    }
}

/// Lines of a text with an index by content.
#[derive(Debug)]
pub struct SourceLines<'a> {
    lines: Vec<&'a str>,
    /// Positions by text, in ascending order.
    positions: HashMap<&'a str, Vec<usize>>,
}

impl<'a> SourceLines<'a> {
    /// Indexes the lines of a text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().map(comparable).collect();
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (position, line) in lines.iter().enumerate() {
            positions.entry(line).or_default().push(position);
        }
        Self { lines, positions }
    }

    /// Returns the anchor of a line, or `None` if there is no such line.
    #[must_use]
    pub fn anchor(&self, line: u64) -> Option<LineAnchor> {
        let position = usize::try_from(line).ok()?.checked_sub(1)?;
        let text = (*self.lines.get(position)?).to_owned();
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let before = owned(&self.lines[position.saturating_sub(CONTEXT)..position]);
        let after = owned(&self.lines[position + 1..self.lines.len().min(position + 1 + CONTEXT)]);
        Some(LineAnchor { line, before, text, after })
    }

    /// Locates an anchor. Among the lines with its text, the one with the most matching context lines wins,
    /// then the one nearest to the old position. A line without matching context is accepted only at the old
    /// position or if its text is unique.
    #[must_use]
    pub fn find(&self, anchor: &LineAnchor) -> Option<u64> {
        let positions = self.positions.get(anchor.text.as_str())?;
        let old = usize::try_from(anchor.line).ok()?.saturating_sub(1);
        let middle = positions.partition_point(|position| *position < old);
        let end = positions.len().min(middle.saturating_add(MAX_CANDIDATES));
        let candidates = positions[middle.saturating_sub(MAX_CANDIDATES)..end].iter().copied();
        let rank = |position: usize| (self.neighbours(anchor, position), Reverse(position.abs_diff(old)));
        let best = candidates.max_by_key(|position| rank(*position))?;
        // Punctuation such as `}` does not identify a location, even if it is unique.
        let is_only = positions.len() == 1 && anchor.text.contains(char::is_alphanumeric);
        let is_match = best == old || is_only || self.neighbours(anchor, best) > 0;
        is_match.then_some(best as u64 + 1)
    }

    /// Counts the context lines of an anchor that match around a position. Blank lines are not counted.
    fn neighbours(&self, anchor: &LineAnchor, position: usize) -> usize {
        let before = anchor.before.iter().rev().zip(self.lines[..position].iter().rev());
        let after = anchor.after.iter().zip(&self.lines[position + 1..]);
        before.chain(after).filter(|(expected, line)| !line.is_empty() && expected == *line).count()
    }
}

/// Returns the part of a line that is compared: without indentation, so that reindenting does not matter.
fn comparable(line: &str) -> &str {
    let line = line.trim();
    line[..line.floor_char_boundary(MAX_LINE_BYTES)].trim_end()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn locate(before: &str, line: u64, now: &str) -> Option<u64> {
        SourceLines::new(now).find(&SourceLines::new(before).anchor(line).unwrap())
    }

    #[test]
    fn moved_lines_are_located() {
        let text = "fn a() {\n    x();\n}\n\nfn b() {\n    x();\n}\n";
        assert_eq!(locate(text, 6, text), Some(6));
        let moved = "use y;\nfn b() {\n  if z {\n        x();\n  }\n}\nfn a() {\n    x();\n}\n";
        assert_eq!(locate(text, 1, moved), Some(7));
        assert_eq!(locate(text, 2, "fn b() {\n    x();\n}\nfn a() {\n    x();\n}\n"), Some(5));
        assert_eq!(locate(text, 2, "fn a() {\n    y();\n}\n"), None);
        assert_eq!(
            locate(text, 7, "mod q {\n\n}\n"),
            None,
            "a brace without matching context is not accepted"
        );
        assert_eq!(locate("x();\n", 1, "a\nb\nx();\n"), Some(3));
        assert_eq!(locate("x();\n", 1, "a\nx();\nb\nx();\n"), None);
        assert!(SourceLines::new(text).anchor(8).is_none() && SourceLines::new(text).anchor(0).is_none());
    }

    proptest! {
        #[test]
        fn line_of_an_unchanged_text_is_located(
            lines in proptest::collection::vec("[a-c }é]{0,3}", 1..30), at in any::<prop::sample::Index>(),
        ) {
            let text = lines.join("\n") + "\n";
            let line = at.index(lines.len()) as u64 + 1;
            prop_assert_eq!(locate(&text, line, &text), Some(line));
        }

        #[test]
        fn line_moves_with_inserted_lines(
            count in 1..20_usize, at in any::<prop::sample::Index>(),
            inserted in proptest::collection::vec("new [a-z]{0,5}", 0..20), place in any::<prop::sample::Index>(),
        ) {
            let old: Vec<String> = (0..count).map(|number| format!("line {number}")).collect();
            let (position, place) = (at.index(count), place.index(count + 1));
            let mut new = old.clone();
            new.splice(place..place, inserted.clone());
            let shift = if place <= position { inserted.len() } else { 0 };
            let line = locate(&old.join("\n"), position as u64 + 1, &new.join("\n"));
            prop_assert_eq!(line, Some((position + shift) as u64 + 1));
            new.remove(position + shift);
            let line = locate(&old.join("\n"), position as u64 + 1, &new.join("\n"));
            prop_assert_eq!(line, None);
        }

        #[test]
        fn located_line_has_the_text_of_the_anchor(
            lines in proptest::collection::vec("[a-c]{0,2}", 0..40), line in 0..40_u64, own in "[a-c]{0,2}",
            around in proptest::collection::vec("[a-c]{0,2}", 0..6),
        ) {
            let text = lines.join("\n");
            let anchor = LineAnchor { line, before: around.clone(), text: own.clone(), after: around };
            let lines = SourceLines::new(&text);
            if let Some(line) = lines.find(&anchor) {
                prop_assert_eq!(lines.lines[line as usize - 1], own);
            }
        }
    }
}
