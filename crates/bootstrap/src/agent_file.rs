//! Agent files: the fixed parts and what a model has written, and the check of any agent file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::answer::ExpertText;
use crate::commands::ProjectCommand;
use crate::roster::FinalAgent;

/// Model of the written agents.
pub const AGENT_MODEL: &str = "sonnet";
/// Tools of the written agents: they read, and write their review.
const TOOLS: &str = "Read, Grep, Glob, Write";
/// Members of the front matter.
const KEYS: [&str; 7] = ["name", "description", "model", "color", "tools", "skills", "permissionMode"];
const COLORS: [&str; 8] = ["red", "orange", "yellow", "green", "blue", "cyan", "purple", "pink"];
/// Lines within which the front matter ends.
const MAX_FRONT_MATTER: usize = 20;
/// Limits of names and descriptions in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const LONG_DESCRIPTION: usize = 200;
/// Sizes in bytes that cause a warning, and an error.
const LARGE: usize = 80 * 1024;
const TOO_LARGE: usize = 150 * 1024;
/// Files that an agent names in addition to what the model has written.
const NAMED_FILES: usize = 12;
const CRITIC_SECTIONS: [&str; 5] = [
    "## Execution Modes",
    "## Inputs",
    "## Outputs",
    "## Critic Responsibilities",
    "## Reference Guidance (all modes)",
];
const OTHER_SECTIONS: [&str; 4] = ["## Role", "## Inputs", "## Task", "## Output Format"];

/// Builds the file of an agent. `repository`: its name, for the reader.
#[must_use]
pub fn agent_file(
    agent: &FinalAgent,
    answer: &ExpertText,
    repository: &str,
    commands: &[ProjectCommand],
) -> String {
    let name = &agent.agent;
    // Readers of front matter do not agree on escapes.
    let description = answer.description.replace('"', "'").replace('\\', "/");
    let mut text = format!(
        "---\nname: {name}\ndescription: \"{description}\"\nmodel: {AGENT_MODEL}\ntools: {TOOLS}\n---\n\n# {name}\n\nReviews \
         plans for {} of the repository {}. Written by Loopgate from the files of the repository.\n\n",
        agent.focus,
        one_word(repository)
    );
    let output = agent.produces.first().map(String::as_str).unwrap_or_default();
    let _ = write!(
        text,
        "## Execution Modes\n\n- critic: review the plan before it is implemented. Change nothing but the review.\n- legacy: the \
         same, without a plan in tasks.\n\n## Inputs\n\n- `plan.md` and `prd.md` in the work directory that the request \
         names\n- the files of the repository\n\n## Outputs\n\n`{output}` in the work directory: one JSON object \
         `{{\"agent\": \"{name}\", \"mode\": \"critic\", \"items\": [{{\"anchor_id\", \"severity\": \
         \"blocking|major|minor\", \"rationale\", \"proposed_change\"}}]}}`. A plan without faults has no items. Report what you \
         have seen in the plan or in a file, and quote it.\n\n## Critic Responsibilities\n\n"
    );
    for area in &answer.responsibilities {
        let _ = writeln!(text, "### {}\n", area.area);
        for (title, items) in [("Blocking", &area.blocking), ("Major", &area.major), ("Minor", &area.minor)] {
            if !items.is_empty() {
                let _ = writeln!(text, "{title}:\n\n{}", list(items));
            }
        }
    }
    let _ = writeln!(text, "## Reference Guidance (all modes)\n\n{}", list(&answer.guidance));
    let files: Vec<String> = agent.files.iter().take(NAMED_FILES).map(|file| format!("`{file}`")).collect();
    if !files.is_empty() {
        let more = if agent.files.len() > NAMED_FILES { " and others" } else { "" };
        let _ = writeln!(text, "Files: {}{more}.\n", files.join(", "));
    }
    let commands: Vec<String> = commands.iter().map(ProjectCommand::description).collect();
    if !commands.is_empty() {
        let _ = writeln!(text, "Commands of the repository: {}.", commands.join(", "));
    }
    text
}

fn list(items: &[String]) -> String {
    items.iter().fold(String::new(), |mut text, item| {
        let _ = writeln!(text, "- {item}");
        text
    })
}

fn one_word(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() && !"`<>".contains(*letter)).collect()
}

/// Result of the check of an agent file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFileCheck {
    /// Faults with which the file is not used.
    pub errors: Vec<String>,
    /// Other remarks.
    pub warnings: Vec<String>,
}

/// Checks an agent file. `stem`: its name without the extension.
#[must_use]
pub fn check_agent_file(stem: &str, text: &str) -> AgentFileCheck {
    let mut check = AgentFileCheck::default();
    if text.len() > TOO_LARGE {
        check.errors.push(format!("{} bytes; at most {TOO_LARGE} are allowed", text.len()));
    } else if text.len() > LARGE {
        check.warnings.push(format!("{} bytes; an agent is read with every plan", text.len()));
    }
    let mut lines = text.lines();
    if lines.next() != Some("---") {
        check.errors.push("the front matter does not begin on line 1".to_owned());
        return check;
    }
    let members: Vec<&str> =
        lines.by_ref().take(MAX_FRONT_MATTER).take_while(|line| *line != "---").collect();
    if members.len() >= MAX_FRONT_MATTER - 1 || text.lines().skip(1).all(|line| line != "---") {
        check.errors.push(format!("the front matter does not end within {MAX_FRONT_MATTER} lines"));
        return check;
    }
    check.front_matter(stem, &members);
    let headings: BTreeSet<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    let missing = |sections: &[&'static str]| -> Vec<&'static str> {
        sections.iter().copied().filter(|section| !headings.contains(section)).collect()
    };
    let (critic, other) = (missing(&CRITIC_SECTIONS), missing(&OTHER_SECTIONS));
    let is_critic =
        headings.contains("## Execution Modes") || headings.contains("## Critic Responsibilities");
    let missing = if is_critic || critic.len() <= other.len() { critic } else { other };
    check.errors.extend(missing.iter().map(|section| format!("the section {section:?} is missing")));
    check
}

impl AgentFileCheck {
    fn front_matter(&mut self, stem: &str, members: &[&str]) {
        let mut values = std::collections::BTreeMap::new();
        for member in members {
            match member.split_once(':') {
                Some((key, value)) if KEYS.contains(&key) => {
                    let value = value.trim().trim_matches(['"', '\'']);
                    if values.insert(key, value).is_some() {
                        self.errors.push(format!("{key} occurs twice"));
                    }
                }
                Some((key, _)) if !key.starts_with(' ') => self.errors.push(format!("unknown member {key}")),
                _ => self.errors.push(format!("no member with a value on one line: {member:?}")),
            }
        }
        let value = |key: &str| values.get(key).copied().unwrap_or_default();
        let name = value("name");
        let is_kebab = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if name != stem || name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_kebab) {
            self.errors
                .push(format!("the name {name:?} is not that of the file, in lower case with hyphens"));
        }
        match value("description").chars().count() {
            0 => self.errors.push("the description is missing".to_owned()),
            length if length > MAX_DESCRIPTION => {
                self.errors.push(format!("the description has {length} characters"));
            }
            length if length > LONG_DESCRIPTION => {
                self.warnings.push(format!("the description has {length} characters"));
            }
            _ => {}
        }
        if value("model").is_empty() {
            self.errors.push("the model is missing".to_owned());
        }
        if values.contains_key("color") && !COLORS.contains(&value("color")) {
            self.errors.push(format!("unknown color {:?}", value("color")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::{SAMPLE, analysis};
    use crate::answer::parse_answer;

    fn file() -> String {
        let fixture = analysis(&SAMPLE);
        let agents = &fixture.analysis.agents.final_agents;
        let agent = agents.iter().find(|agent| agent.agent == "data-persistence").unwrap();
        let answer = parse_answer(&crate::answer::tests::answer().to_string()).unwrap();
        agent_file(agent, &answer, "acme/shop", &fixture.analysis.commands)
    }

    #[test]
    fn written_agent_is_valid_and_small() {
        let text = file();
        assert_eq!(check_agent_file("data-persistence", &text), AgentFileCheck::default(), "{text}");
        assert!(text.len() < 4096, "{}", text.len());
        for part in [
            "name: data-persistence\n",
            "of the repository acme/shop",
            "`reviews/data-persistence.review.json`",
            "### Storage of orders\n\nBlocking:\n\n- `OrderStore` is bypassed.\n",
            "Files: `shop/store/orders.py`, `shop/store/plants.py`.",
            "`npm test` in `web`",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn faults_of_an_agent_file_are_named() {
        let text = file();
        let errors = |stem: &str, text: &str| check_agent_file(stem, text).errors.join("; ");
        assert!(errors("other", &text).contains("is not that of the file"));
        assert!(errors("data-persistence", &format!("\n{text}")).contains("line 1"));
        let without = |part: &str, by: &str| errors("data-persistence", &text.replacen(part, by, 1));
        assert!(without("model: sonnet\n", "").contains("the model is missing"));
        assert!(without("model: sonnet\n", "model: sonnet\nmemory: all\n").contains("unknown member memory"));
        assert!(without("tools: Read, Grep, Glob, Write", "tools:\n  - Read").contains("on one line"));
        assert!(without("## Outputs", "## Result").contains("\"## Outputs\" is missing"));
        assert!(without("model: sonnet\n", "model: sonnet\ncolor: Red\n").contains("unknown color"));
        assert!(without("---\n\n#", "\n\n#").contains("does not end"));
        assert!(errors("data-persistence", &format!("{text}{}", "x".repeat(TOO_LARGE))).contains("bytes"));
        let other = "---\nname: a\ndescription: b\nmodel: haiku\n---\n## Role\n## Inputs\n## Task\n## Output Format\n";
        assert_eq!(errors("a", other), "");
        let long = other.replace("description: b", &format!("description: {}", "b".repeat(300)));
        assert_eq!(check_agent_file("a", &long).warnings.len(), 1);
    }
}
