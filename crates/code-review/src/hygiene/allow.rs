//! Comments that allow a finding: `loopgate: allow <check> — <reason>`, at the end of the line or alone on the line
//! above. A comment without a reason allows nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::HygieneCheck;
use crate::diff_data::PatchLines;

const MARK: &str = "loopgate: allow ";
/// Letters and digits that a reason has at least.
const MIN_REASON: usize = 3;

static COMMENT: LazyLock<Regex> = constant_regex!(
    r"^(?P<code>.*?)(?://+!?|#+|--|/\*+|<!--|;+|%+|\*)[ \t]*loopgate: allow (?P<check>[a-z]+(?:-[a-z]+)*)(?:[ \t]*[—–:]|[ \t]+--?[ \t])(?P<reason>.*)$"
);

/// The allowed findings of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowComments {
    /// Checks that are allowed at a line.
    lines: BTreeMap<u64, BTreeSet<&'static str>>,
}

impl AllowComments {
    /// Reads the comments of the added and of the unchanged lines.
    pub fn of(lines: &PatchLines) -> Self {
        Self::in_lines(lines.added_lines.iter().chain(&lines.context_lines))
    }

    /// Reads the comments of the unchanged lines only.
    pub fn of_unchanged(lines: &PatchLines) -> Self {
        Self::in_lines(lines.context_lines.iter())
    }

    fn in_lines<'a>(lines: impl Iterator<Item = (&'a u64, &'a String)>) -> Self {
        let mut comments = Self::default();
        for (number, line) in lines {
            let Some((check, is_alone)) = comment(line) else { continue };
            let mut allow = |line| comments.lines.entry(line).or_default().insert(check.name());
            allow(*number);
            if is_alone {
                allow(number.saturating_add(1));
            }
        }
        comments
    }

    pub fn allows_line(&self, check: HygieneCheck, line: u64) -> bool {
        self.lines.get(&line).is_some_and(|checks| checks.contains(check.name()))
    }

    /// Returns whether a finding about the whole file is allowed. The comment may be at any line.
    pub fn allows_file(&self, check: HygieneCheck) -> bool {
        self.lines.values().any(|checks| checks.contains(check.name()))
    }
}

/// Returns the check that a line allows, and whether it contains only the comment.
fn comment(line: &str) -> Option<(HygieneCheck, bool)> {
    if !line.contains(MARK) {
        return None;
    }
    let captures = COMMENT.captures(line)?;
    let check = HygieneCheck::ALL.into_iter().find(|check| check.name() == &captures["check"])?;
    let has_reason = captures["reason"].chars().filter(|char| char.is_alphanumeric()).count() >= MIN_REASON;
    has_reason.then(|| (check, captures["code"].trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(line: &str) -> Option<(&'static str, bool)> {
        comment(line).map(|(check, is_alone)| (check.name(), is_alone))
    }

    #[test]
    fn comment_names_a_check_and_a_reason() {
        for (line, expected) in [
            ("let a = 1; // loopgate: allow secret — test server only", Some(("secret", false))),
            ("    # loopgate: allow path-leakage - path inside of the image", Some(("path-leakage", true))),
            ("<!-- loopgate: allow ci-artifact: documented -->", Some(("ci-artifact", true))),
            ("/* loopgate: allow key-material – expired */", Some(("key-material", true))),
            ("-- loopgate: allow gitignore-drift -- sample", Some(("gitignore-drift", true))),
            ("// loopgate: allow secret", None),
            ("// loopgate: allow secret — ", None),
            ("// loopgate: allow secret — */", None),
            ("// loopgate: allow everything — please", None),
            ("x = \"loopgate: allow secret — not a comment\"", None),
            ("// loopgate allow secret — no colon", None),
        ] {
            assert_eq!(allowed(line), expected, "{line}");
        }
    }
}
