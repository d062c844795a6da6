//! Keeps findings at their lines while the code moves.
//!
//! When a finding is stored, it gets the text of its line and of the lines around it as its anchor. When it is
//! read, the anchor is looked for in the file as it is now.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use loopgate_api::review::{LineAnchor, ReviewFinding};
use loopgate_home::{Directory, Sandbox, SandboxedPath};

/// Lines before and after an anchor's own.
const CONTEXT: usize = 3;
/// Bytes of a line in an anchor, its beginning.
const MAX_LINE_BYTES: usize = 200;
/// Bytes of a file; larger ones are not searched.
const MAX_FILE: u64 = 2 * 1024 * 1024;
/// Bytes of all files that one request reads.
const MAX_FILES: u64 = 32 * 1024 * 1024;
/// Equal lines that are compared on each side of an anchor's old place.
const MAX_CANDIDATES: usize = 500;

/// Gives findings the anchors of their lines. An outdated finding keeps the one it has, as does one whose line
/// cannot be read. Blocks on the disk.
pub(crate) fn set_anchors(findings: &mut [ReviewFinding], tree: &SourceTree) {
    for_each_file(findings, tree, |finding, content| {
        if let (FileContent::Text(lines), Some(line), false) = (content, finding.line, finding.outdated) {
            finding.anchor = lines.anchor(line).or(finding.anchor.take());
        }
    });
    findings.iter_mut().for_each(|finding| finding.outdated = false);
}

/// Moves findings to the lines where their anchors are now. Those whose anchor is gone stay, and are
/// outdated. Blocks on the disk.
pub(crate) fn follow_lines(findings: &mut [ReviewFinding], tree: &SourceTree) {
    for_each_file(findings, tree, |finding, content| {
        let Some(anchor) = &finding.anchor else { return };
        match content {
            FileContent::Text(lines) => match lines.find(anchor) {
                Some(line) => finding.line = Some(line),
                None => finding.outdated = true,
            },
            FileContent::Missing => finding.outdated = true,
            FileContent::Unreadable => {}
        }
    });
}

/// Visits every finding that names a file, beside what the file holds; each file is read once.
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

/// What a file of a worktree holds.
enum FileContent<'a> {
    Text(SourceLines<'a>),
    Missing,
    /// It is too large, no text, or outside of the worktree.
    Unreadable,
}

/// The files of a worktree.
#[derive(Debug, Clone)]
pub(crate) struct SourceTree {
    sandbox: Arc<Sandbox>,
    worktree: SandboxedPath,
}

impl SourceTree {
    pub(crate) const fn new(sandbox: Arc<Sandbox>, worktree: SandboxedPath) -> Self {
        Self { sandbox, worktree }
    }

    /// A text of at most so many bytes; the path is relative to the worktree, or absolute in it.
    fn read(&self, root: &Directory, file: &str, max_bytes: u64) -> io::Result<String> {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let checked = self.sandbox.check(self.worktree.as_path().join(file)).map_err(|_| denied())?;
        let below = checked.canonical().strip_prefix(self.worktree.canonical()).map_err(|_| denied())?;
        String::from_utf8(root.read(below, max_bytes)?).map_err(io::Error::other)
    }
}

/// The lines of a text, and where each stands.
struct SourceLines<'a> {
    lines: Vec<&'a str>,
    /// Positions by text, in ascending order.
    positions: HashMap<&'a str, Vec<usize>>,
}

impl<'a> SourceLines<'a> {
    fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().map(comparable).collect();
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (position, line) in lines.iter().enumerate() {
            positions.entry(line).or_default().push(position);
        }
        Self { lines, positions }
    }

    /// The anchor of a line; `None` when there is no such line.
    fn anchor(&self, line: u64) -> Option<LineAnchor> {
        let position = usize::try_from(line).ok()?.checked_sub(1)?;
        let text = (*self.lines.get(position)?).to_owned();
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let before = owned(&self.lines[position.saturating_sub(CONTEXT)..position]);
        let after = owned(&self.lines[position + 1..self.lines.len().min(position + 1 + CONTEXT)]);
        Some(LineAnchor { line, before, text, after })
    }

    /// The line where an anchor is now: of the lines with its text the one with the most of its neighbours,
    /// then the one nearest to its old place. A line elsewhere that has none of its neighbours counts only when
    /// no other line has its text.
    fn find(&self, anchor: &LineAnchor) -> Option<u64> {
        let positions = self.positions.get(anchor.text.as_str())?;
        let old = usize::try_from(anchor.line).ok()?.saturating_sub(1);
        let middle = positions.partition_point(|position| *position < old);
        let end = positions.len().min(middle.saturating_add(MAX_CANDIDATES));
        let candidates = positions[middle.saturating_sub(MAX_CANDIDATES)..end].iter().copied();
        let rank = |position: usize| (self.neighbours(anchor, position), Reverse(position.abs_diff(old)));
        let best = candidates.max_by_key(|position| rank(*position))?;
        let is_only = positions.len() == 1 && anchor.text.contains(char::is_alphanumeric);
        let is_found = best == old || is_only || self.neighbours(anchor, best) > 0;
        is_found.then_some(best as u64 + 1)
    }

    /// How many of an anchor's neighbours are beside a line; blank ones do not count.
    fn neighbours(&self, anchor: &LineAnchor, position: usize) -> usize {
        let before = anchor.before.iter().rev().zip(self.lines[..position].iter().rev());
        let after = anchor.after.iter().zip(&self.lines[position + 1..]);
        before.chain(after).filter(|(expected, line)| !line.is_empty() && expected == *line).count()
    }
}

/// The part of a line that is compared, so that another indentation changes nothing.
fn comparable(line: &str) -> &str {
    let line = line.trim();
    line[..line.floor_char_boundary(MAX_LINE_BYTES)].trim_end()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(before: &str, line: u64, now: &str) -> Option<u64> {
        SourceLines::new(now).find(&SourceLines::new(before).anchor(line).unwrap())
    }

    #[test]
    fn lines_are_found_where_they_went() {
        let text = "fn a() {\n    x();\n}\n\nfn b() {\n    x();\n}\n";
        assert_eq!(found(text, 6, text), Some(6));
        let moved = "use y;\nfn b() {\n  if z {\n        x();\n  }\n}\nfn a() {\n    x();\n}\n";
        assert_eq!(found(text, 1, moved), Some(7));
        assert_eq!(found(text, 2, "fn b() {\n    x();\n}\nfn a() {\n    x();\n}\n"), Some(5));
        assert_eq!(found(text, 2, "fn a() {\n    y();\n}\n"), None);
        assert_eq!(found(text, 7, "mod q {\n\n}\n"), None, "a brace without its neighbours is another one");
        assert_eq!(found("x();\n", 1, "a\nb\nx();\n"), Some(3));
        assert_eq!(found("x();\n", 1, "a\nx();\nb\nx();\n"), None);
        assert!(SourceLines::new(text).anchor(8).is_none() && SourceLines::new(text).anchor(0).is_none());
    }

    proptest! {
        #[test]
        fn line_is_where_it_was_in_the_same_text(
            lines in proptest::collection::vec("[a-c }é]{0,3}", 1..30), at in any::<prop::sample::Index>(),
        ) {
            let text = lines.join("\n") + "\n";
            let line = at.index(lines.len()) as u64 + 1;
            prop_assert_eq!(found(&text, line, &text), Some(line));
        }

        #[test]
        fn line_moves_by_what_is_inserted_before_it(
            kept in 1..20_usize, at in any::<prop::sample::Index>(),
            inserted in proptest::collection::vec("new [a-z]{0,5}", 0..20), place in any::<prop::sample::Index>(),
        ) {
            let old: Vec<String> = (0..kept).map(|number| format!("line {number}")).collect();
            let (position, place) = (at.index(kept), place.index(kept + 1));
            let mut new = old.clone();
            new.splice(place..place, inserted.clone());
            let shift = if place <= position { inserted.len() } else { 0 };
            let line = found(&old.join("\n"), position as u64 + 1, &new.join("\n"));
            prop_assert_eq!(line, Some((position + shift) as u64 + 1));
            new.remove(position + shift);
            let line = found(&old.join("\n"), position as u64 + 1, &new.join("\n"));
            prop_assert_eq!(line, None);
        }

        #[test]
        fn any_anchor_leads_to_its_own_text(
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
