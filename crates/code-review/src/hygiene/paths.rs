//! Absolute paths of machines in added lines.
//!
//! A path begins at a character that cannot belong to a longer path, so that paths of URLs do not count. Paths that the
//! line passes to a router, and comments, are no paths of a machine.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::HygieneCheck;
use super::added_text::AddedText;

/// Lines with this text contain paths that a package manager wrote.
const PACKAGES: &str = "node_modules";
/// Start of a URL of a local file, before its path.
const FILE_URL: &str = "file://";
/// Starts of lines that contain only a comment.
const COMMENTS: [&str; 12] =
    ["//", "/*", "* ", "** ", "*/", "# ", "-- ", "; ", "<!--", "\"\"\"", "'''", "%% "];

/// The beginnings of all paths.
static START: LazyLock<Regex> = constant_regex!(r"/home/|/Users/|/github/workspace/|[A-Z]:\\");
static CI: LazyLock<Regex> = constant_regex!(r"^(?:/home/runner/|/github/workspace/)");
// A single word after `/home/` is more often a page than a user.
static MACHINE: LazyLock<Regex> =
    constant_regex!(r"^(?:/home/\w[\w.-]*/[\w.]|/Users/\w|[A-Z]:\\{1,2}[\w.][\w. -])");
/// Directories that are the same on every machine with Windows, and the one that browsers show instead of the real one.
static SYSTEM: LazyLock<Regex> = constant_regex!(
    r"(?i)^[A-Z]:\\{1,2}(?:Windows|Program Files(?: \(x86\))?|ProgramData|fakepath)(?:[^\w.-]|$)"
);
/// Code before a path that makes it the path of a page or of a request.
static ROUTE: LazyLock<Regex> = constant_regex!(
    r#"(?ix)(?:
        \b(?:href|to|src|action|url|uri|redirect\w*|endpoint|pathname)['"]?\s*[=:(]\s*[\[({]?\s*
        |\.(?:get|post|put|patch|delete|head|all|use|push|replace|navigate|link|startsWith|visit)\(\s*
        |\b(?:fetch|navigate|redirect\w*|goto|visit|\w*mapping|\w*route\w*)\(\s*
        |\b(?:get|post|put|patch|delete|head|options)\s+
    )['"`]?$"#
);
static ROUTE_LINE: LazyLock<Regex> = constant_regex!(r"(?i)<route\b|\broutes?\b|router");

/// Returns the byte offset of the first path of each kind in each line.
pub fn find(text: &AddedText) -> Vec<(usize, HygieneCheck)> {
    let mut found = Vec::new();
    let mut current: Option<LinePaths> = None;
    for start in START.find_iter(text.as_str()) {
        let at = start.start();
        if current.as_ref().is_none_or(|line| !line.range.contains(&at)) {
            current = Some(LinePaths::new(text, at));
        }
        let Some(line) = &mut current else { continue };
        let (before, rest) = (&text.as_str()[line.range.start..at], &text.as_str()[at..line.range.end]);
        if line.is_complete() || !begins_path(before, rest) {
            continue;
        }
        if !line.has_ci && CI.is_match(rest) {
            line.has_ci = true;
            found.push((at, HygieneCheck::CiArtifact));
        }
        if line.may_leak && MACHINE.is_match(rest) && !SYSTEM.is_match(rest) && !is_route(before) {
            line.may_leak = false;
            found.push((at, HygieneCheck::PathLeakage));
        }
    }
    found
}

/// State of the search in one line, so that a long line with many paths takes linear time.
struct LinePaths {
    range: Range<usize>,
    has_ci: bool,
    /// Whether a path of a machine is to be reported: the line is no comment, and none was found yet.
    may_leak: bool,
}

impl LinePaths {
    fn new(text: &AddedText, at: usize) -> Self {
        let range = text.line_range(at);
        let line = &text.as_str()[range.clone()];
        let is_comment = COMMENTS.iter().any(|start| line.trim_start().starts_with(start));
        let may_leak = !is_comment && !line.contains(PACKAGES) && !ROUTE_LINE.is_match(line);
        Self { range, has_ci: false, may_leak }
    }

    const fn is_complete(&self) -> bool {
        self.has_ci && !self.may_leak
    }
}

/// Returns whether a path starts after this text, and not a part of a longer path, a URL or a word.
fn begins_path(before: &str, path: &str) -> bool {
    let Some(last) = before.chars().next_back() else { return true };
    if path.starts_with('/') {
        before.ends_with(FILE_URL)
            || !(last.is_alphanumeric()
                || matches!(
                    last,
                    '_' | '.' | '-' | '~' | '/' | '%' | '@' | '}' | ')' | ']' | '>' | '*' | '$'
                ))
    } else {
        !(last.is_alphanumeric() || last == '_')
    }
}

/// Returns whether the code before a path makes it the path of a page or of a request.
fn is_route(before: &str) -> bool {
    /// Bytes that decide: a long line with many paths takes linear time.
    const MAX_BEFORE: usize = 64;
    let mut start = before.len().saturating_sub(MAX_BEFORE);
    while !before.is_char_boundary(start) {
        start += 1;
    }
    ROUTE.is_match(&before[start..])
}
