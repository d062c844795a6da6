//! Requirements file of a ticket, which the loop reads.

use std::path::{Component, Path, PathBuf};

/// Text of a ticket, as a page sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TicketText {
    pub title: Option<String>,
    /// Identifier in the tracker.
    pub identifier: Option<String>,
    /// URL of its page.
    pub url: Option<String>,
    /// Description of the work.
    pub description: Option<String>,
    /// Additional instructions of the user.
    pub additional: Option<String>,
    /// Paths of context repositories.
    pub context: Vec<PathBuf>,
    /// Referenced files: repository and path in it.
    pub files: Vec<(PathBuf, PathBuf)>,
}

impl TicketText {
    /// Renders the document. Files of the ticket's own repository refer to its worktree; a path that leaves
    /// its repository is omitted.
    pub(super) fn markdown(&self, worktree: &Path, repository: &str) -> String {
        let title = self.title.as_deref().unwrap_or("Untitled Ticket");
        let identifier = self.identifier.as_deref().unwrap_or("UNKNOWN");
        let url = self.url.as_deref().unwrap_or_default();
        let description = self.description.as_deref().unwrap_or_default();
        let mut text =
            format!("# {title}\n\n**Ticket:** [{identifier}]({url})\n\n## Description\n\n{description}\n");
        if let Some(additional) = &self.additional {
            text.push_str(&format!("\n## Additional Instructions\n\n{additional}\n"));
        }
        let context = self.context.iter().map(PathBuf::as_path).map(quoted);
        section(&mut text, "Context Repositories", context.collect());
        let files = self.files.iter().filter(|(_, path)| stays_inside(path)).map(|(of, path)| {
            let own = of.file_name().is_some_and(|name| name == repository);
            quoted(&if own { worktree.join(path) } else { of.join(path) })
        });
        section(&mut text, "Referenced Files", files.collect());
        text
    }
}

fn quoted(path: &Path) -> String {
    format!("- `{}`\n", path.display())
}

fn section(text: &mut String, heading: &str, bullets: String) {
    if !bullets.is_empty() {
        text.push_str(&format!("\n## {heading}\n\n{bullets}"));
    }
}

fn stays_inside(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn referenced_files_stay_inside_their_repositories() {
        let file = |of: &str, path: &str| (PathBuf::from(of), PathBuf::from(path));
        let text = TicketText {
            title: Some("Cache".to_owned()),
            context: vec!["/code/other".into()],
            files: vec![
                file("/code/shop", "src/a.rs"),
                file("/code/other", "b.rs"),
                file("/code/other", "../secret"),
                file("/code/other", "/etc/passwd"),
            ],
            ..TicketText::default()
        };
        let text = text.markdown(Path::new("/wt/shop-7"), "shop");
        let expected = "# Cache\n\n**Ticket:** [UNKNOWN]()\n\n## Description\n\n\n\
            \n## Context Repositories\n\n- `/code/other`\n\
            \n## Referenced Files\n\n- `/wt/shop-7/src/a.rs`\n- `/code/other/b.rs`\n";
        assert_eq!(text, expected);
    }
}
