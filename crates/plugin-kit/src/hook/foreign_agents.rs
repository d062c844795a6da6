//! Agent definitions of a repository that could replace agents of the plugin.
//!
//! The assistant prefers the definition of a project over that of a plugin when both have the same name. So a
//! repository could bring its own reviewer, which accepts everything.

use std::path::{Path, PathBuf};

use loopgate_home::{EntryKind, untrusted};

/// Directories that lead to a project's agent definitions.
const AGENTS: [&str; 2] = [".claude", ".claude/agents"];
/// Levels of subdirectories that are searched.
const MAX_DEPTH: usize = 8;

/// Returns the definition in a project that may have the name of a plugin's agent. Plain names cannot: those of
/// plugins contain a colon. What cannot be read here, such as a link, may be readable to the assistant, and counts.
#[must_use]
pub fn replacing(project: &Path) -> Option<PathBuf> {
    for dir in AGENTS.map(|dir| project.join(dir)) {
        match untrusted::kind(&dir) {
            None => return None,
            Some(EntryKind::Directory) => {}
            Some(_) => return Some(dir),
        }
    }
    find(&project.join(AGENTS[1]), MAX_DEPTH)
}

fn find(dir: &Path, depth: usize) -> Option<PathBuf> {
    untrusted::entries(dir).into_iter().find_map(|entry| {
        let path = dir.join(&entry.name);
        let is_definition = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
        match entry.kind {
            EntryKind::Directory if depth > 0 => find(&path, depth - 1),
            EntryKind::Directory | EntryKind::Link => Some(path),
            EntryKind::File if is_definition => {
                untrusted::read_text(&path).map_or(true, |text| !has_plain_name(&text)).then_some(path)
            }
            _ => None,
        }
    })
}

/// Returns whether every line of a definition that can be its name contains a plain name only. Quotes, escapes and
/// block scalars of YAML do not count as plain.
fn has_plain_name(text: &str) -> bool {
    let is_plain = |value: &str| {
        !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' '))
    };
    let front_matter = text.trim_start().strip_prefix("---").unwrap_or_default();
    let front_matter = front_matter.split_once("\n---").map_or(front_matter, |(matter, _)| matter);
    let names = front_matter
        .lines()
        .filter(|line| line.trim_start().trim_matches(['"', '\'', '{', '?', ' ']).starts_with("name"));
    names.filter_map(|line| line.split_once(':')).all(|(_, value)| is_plain(value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_cannot_replace_an_agent_of_the_plugin() {
        let plain =
            ["---\nname: reviewer\ndescription: Reviews: all\n---\nname: code:x", "no front matter", ""];
        for text in plain {
            assert!(has_plain_name(text), "{text}");
        }
        for name in [
            "code:task-reviewer",
            "'code:task-reviewer'",
            "\"code\\x3atask-reviewer\"",
            ">-\n  code:task-reviewer",
        ] {
            assert!(!has_plain_name(&format!("---\nname: {name}\n---\n")), "{name}");
        }
        assert!(!has_plain_name("---\n\"name\": code:task-reviewer\n---\n"));
    }

    #[test]
    fn definitions_are_found_in_subdirectories() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(replacing(dir.path()), None);
        let agents = dir.path().join(AGENTS[1]).join("team");
        std::fs::create_dir_all(&agents).unwrap();
        std::fs::write(agents.join("own.md"), "---\nname: own\n---\n").unwrap();
        assert_eq!(replacing(dir.path()), None);
        std::fs::write(agents.join("other.md"), "---\nname: code:task-reviewer\n---\n").unwrap();
        assert_eq!(replacing(dir.path()), Some(agents.join("other.md")));
    }

    #[cfg(unix)]
    #[test]
    fn link_counts_as_a_replacement() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::create_dir(dir.path().join(".claude")).unwrap();
        let agents = dir.path().join(AGENTS[1]);
        std::os::unix::fs::symlink(&elsewhere, &agents).unwrap();
        assert_eq!(replacing(dir.path()), Some(agents));
    }
}
