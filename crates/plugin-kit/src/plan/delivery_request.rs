//! What an EXECUTE prints when its work is complete: the request for the texts of commit and pull request.
//!
//! The runtime commits and opens the pull request with these texts. They are requested at the end, so that the
//! request is not a part of every call to the model.

use std::path::Path;

use loopgate_api::command::LoopCommand;
use loopgate_api::names::{DELIVERY_TAGS, PULL_REQUEST_TEMPLATES};
use loopgate_home::Directory;

use crate::variables as var;

/// Template of the repository for commit messages.
const COMMIT_TEMPLATES: [&str; 1] = [".gitmessage"];
/// 8 KiB: templates are forms of a few lines, and the model pays for each.
const MAX_TEMPLATE: u64 = 8 * 1024;

/// Returns the request for the repository in the current directory; `None` for other commands.
pub(super) fn of_environment() -> Option<String> {
    let command = var::text(var::COMMAND)?;
    (command == LoopCommand::Execute.as_str()).then(|| request(&std::env::current_dir().unwrap_or_default()))
}

fn request(project: &Path) -> String {
    let (begin, end) = DELIVERY_TAGS;
    let mut request = format!(
        "Between the summary and the promise, give the texts of the commit and the pull request in this form:\n\
         {begin}{{\"subject\": \"<what the change does, imperative, at most 72 characters>\", \"body\": \"<why it is \
         done, for the commit message>\", \"pullRequest\": \"<Markdown for reviewers: what has changed, how it was \
         checked, what people still have to do>\"}}{end}\n\
         A further repository may have texts of its own, in the member `repositories` by its name."
    );
    let forms = [("commit message", COMMIT_TEMPLATES.as_slice()), ("pull request", &PULL_REQUEST_TEMPLATES)];
    for (kind, names) in forms {
        if let Some(template) = template(project, names) {
            request.push_str(&format!(
                "\nThe project's form for the {kind}, which its text follows:\n{template}"
            ));
        }
    }
    request
}

fn template(project: &Path, names: &[&str]) -> Option<String> {
    let project = Directory::of(project).ok()?;
    let bytes = names.iter().find_map(|name| project.read(Path::new(name), MAX_TEMPLATE).ok())?;
    let text = String::from_utf8(bytes).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_contains_the_forms_of_the_project() {
        let project = tempfile::tempdir().unwrap();
        let plain = request(project.path());
        assert!(plain.contains("<delivery>{\"subject\"") && !plain.contains("form for the"), "{plain}");
        std::fs::write(project.path().join(".gitmessage"), "Ticket:\n").unwrap();
        std::fs::create_dir(project.path().join(".github")).unwrap();
        std::fs::write(project.path().join(".github/pull_request_template.md"), "## Risk\n").unwrap();
        let with_forms = request(project.path());
        assert!(with_forms.starts_with(&plain), "{with_forms}");
        assert!(with_forms.contains("Ticket:") && with_forms.contains("## Risk"), "{with_forms}");
        // A link may lead to any file of the user.
        std::fs::remove_file(project.path().join(".gitmessage")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", project.path().join(".gitmessage")).unwrap();
        assert!(!request(project.path()).contains("commit message, which"));
    }
}
