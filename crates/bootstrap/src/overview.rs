//! What the documents of a repository say about all of it.

use std::fmt::Write as _;

use crate::scan::RepositoryScan;

/// Documents that describe the purpose, and those with rules for authors; the first that exists is read.
const PURPOSE: [&str; 4] = ["README.md", "README.rst", "README.txt", "README"];
const RULES: [&str; 3] = ["CLAUDE.md", "AGENTS.md", "CONTRIBUTING.md"];
/// Characters that are read of each.
const MAX_PURPOSE: usize = 1200;
const MAX_RULES: usize = 3000;

/// Excerpts of the documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectOverview {
    /// Name of the document and its beginning.
    pub purpose: Option<(String, String)>,
    /// Name of the document and its beginning.
    pub rules: Option<(String, String)>,
}

/// Reads the documents at the root of a repository.
#[must_use]
pub fn project_overview(scan: &RepositoryScan) -> ProjectOverview {
    let first = |names: &[&str], max: usize| {
        let name = names.iter().find(|name| scan.file(name).is_some())?;
        let text = scan.text(name)?;
        Some(((*name).to_owned(), beginning(&text, max))).filter(|(_, text)| !text.is_empty())
    };
    ProjectOverview { purpose: first(&PURPOSE, MAX_PURPOSE), rules: first(&RULES, MAX_RULES) }
}

impl ProjectOverview {
    /// Returns whether the repository describes itself.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.purpose.is_none() && self.rules.is_none()
    }

    /// Formats the excerpts.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, content) in self.purpose.iter().chain(&self.rules) {
            let _ = write!(text, "Beginning of {name}:\n{content}\n\n");
        }
        text.trim_end().to_owned()
    }
}

/// Returns the first lines of a text, without images, badges and control characters.
fn beginning(text: &str, max: usize) -> String {
    let is_kept = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("[![") && !line.starts_with("![") && !line.starts_with('<')
    };
    let mut kept = String::new();
    for line in text.lines().filter(is_kept) {
        if kept.chars().count() + line.chars().count() > max {
            break;
        }
        kept.extend(line.trim_end().chars().filter(|letter| !letter.is_control() || *letter == '\t'));
        kept.push('\n');
    }
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::tests::scan;

    #[test]
    fn beginnings_of_the_documents_are_read() {
        let long = format!("# Shop\n[![build](x)](y)\n\nSells plants.\n{}\n", "x".repeat(2 * MAX_PURPOSE));
        let fixture =
            scan(&[("README.md", &long), ("AGENTS.md", "Use\u{7} tabs.\n"), ("CONTRIBUTING.md", "No.")]);
        let overview = project_overview(&fixture.scan);
        assert_eq!(
            overview.text(),
            "Beginning of README.md:\n# Shop\n\nSells plants.\n\nBeginning of AGENTS.md:\nUse tabs."
        );
        let fixture = scan(&[("main.rs", ""), ("docs/README.md", "# Inner")]);
        assert!(project_overview(&fixture.scan).is_empty());
    }
}
