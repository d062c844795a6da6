//! The facts that an agent is written from. They depend on the files of its domain only, and on nothing that every commit
//! changes, such as numbers of files: their hash is the key of the agent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::analysis::ProjectAnalysis;
use crate::commands::{CommandPurpose, ProjectCommand};
use crate::languages::{SourceLanguage, extension};
use crate::roster::FinalAgent;
use crate::scan::ScannedFile;
use crate::signals::{DOMAINS, SECURITY, TESTING};

/// Files that are described with their definitions, and files that are named.
const DESCRIBED_FILES: usize = 20;
const NAMED_FILES: usize = 60;
/// Definitions that are named per file.
const DEFINITIONS: usize = 12;
/// Directories and packages that are named.
const DIRECTORIES: usize = 30;
const PACKAGES: usize = 60;
/// Files of a language from which a directory is named.
const DIRECTORY_FILES: usize = 2;
/// Files that configure the checks of a language, by the beginnings or ends of their names.
const CHECK_FILES: [&str; 16] = [
    ".editorconfig",
    ".eslintrc",
    ".golangci",
    ".prettierrc",
    ".rubocop",
    "biome.json",
    "clippy.toml",
    "deny.toml",
    "eslint.config",
    "mypy.ini",
    "pyproject.toml",
    "rustfmt.toml",
    "ruff.toml",
    "setup.cfg",
    "tox.ini",
    "tsconfig",
];

/// Facts for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFacts {
    /// Text for the model.
    pub text: String,
    /// Paths, names, packages and commands in the text.
    pub names: BTreeSet<String>,
}

impl AgentFacts {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn names(&mut self, title: &str, names: impl IntoIterator<Item = String>) {
        let names: Vec<String> = names.into_iter().collect();
        if names.is_empty() {
            return;
        }
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        self.line(&format!("{title}: {}", quoted.join(", ")));
        self.names.extend(names);
    }

    fn commands<'a>(&mut self, commands: impl IntoIterator<Item = &'a ProjectCommand>) {
        let commands: Vec<&ProjectCommand> = commands.into_iter().collect();
        let descriptions: Vec<String> = commands.iter().map(|command| command.description()).collect();
        if !descriptions.is_empty() {
            self.line(&format!("Commands: {}", descriptions.join(", ")));
            let directories = commands.iter().map(|command| &command.directory);
            self.names.extend(directories.filter(|directory| !directory.is_empty()).cloned());
            self.names.extend(commands.iter().map(|command| command.command.clone()));
        }
    }
}

/// Collects the facts for an agent.
#[must_use]
pub fn agent_facts(agent: &FinalAgent, analysis: &ProjectAnalysis) -> AgentFacts {
    let mut facts = AgentFacts { text: String::new(), names: BTreeSet::new() };
    facts.line(&format!("Agent: {}", agent.agent));
    facts.line(&format!("It reviews plans for {}.", agent.focus));
    match (agent.agent.as_str(), agent.language.as_deref().and_then(SourceLanguage::named)) {
        (_, Some(language)) => of_language(&mut facts, language, analysis),
        ("security-privacy", None) => of_security(&mut facts, agent, analysis),
        _ => of_domain(&mut facts, agent, analysis),
    }
    facts
}

fn of_domain(facts: &mut AgentFacts, agent: &FinalAgent, analysis: &ProjectAnalysis) {
    let is_testing = agent.domain.as_deref() == Some(TESTING);
    if is_testing {
        let tests = |command: &&ProjectCommand| command.purpose == CommandPurpose::Test;
        facts.commands(analysis.commands.iter().filter(tests));
    }
    facts.names("Packages", agent_packages(agent, analysis));
    facts.names("Directories", directories(agent.files.iter().map(String::as_str), 1));
    files(facts, &agent.files, analysis);
}

fn agent_packages(agent: &FinalAgent, analysis: &ProjectAnalysis) -> Vec<String> {
    let domain = agent.domain.as_deref().unwrap_or_default();
    analysis.domains.technologies.get(domain).into_iter().flatten().take(PACKAGES).cloned().collect()
}

fn of_security(facts: &mut AgentFacts, agent: &FinalAgent, analysis: &ProjectAnalysis) {
    let packages: BTreeSet<&String> =
        SECURITY.iter().filter_map(|domain| analysis.domains.technologies.get(*domain)).flatten().collect();
    facts.names("Packages for security", packages.into_iter().cloned());
    let security = SECURITY.iter().flat_map(|domain| analysis.domains.files_of(domain));
    facts.names("Directories of security", directories(security.map(String::as_str), 1));
    // Directories only: their files are the facts of other agents.
    for domain in ["api-backend", "data-persistence", "build-deployment"] {
        let files = analysis.domains.files_of(domain).iter().map(String::as_str);
        facts.names(&format!("Directories of {domain}"), directories(files, 1));
    }
    files(facts, &agent.files, analysis);
}

fn of_language(facts: &mut AgentFacts, language: &'static SourceLanguage, analysis: &ProjectAnalysis) {
    let of_language: Vec<&str> = analysis
        .scan
        .files()
        .iter()
        // Tests are the facts of the test strategist.
        .filter(|file| file.language() == Some(language) && !file.is_test)
        .map(|file| file.path.as_str())
        .collect();
    facts.names("Directories", directories(of_language.into_iter(), DIRECTORY_FILES));
    let is_manifest = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        match language.name {
            "Rust" => name == "Cargo.toml",
            "TypeScript" | "JavaScript" | "Vue" | "Svelte" => name == "package.json",
            "Python" => name == "pyproject.toml" || name.ends_with(".txt"),
            "Go" => name == "go.mod",
            "Java" | "Kotlin" | "Scala" => name.starts_with("build.gradle") || name == "pom.xml",
            "Ruby" => name == "Gemfile",
            "PHP" => name == "composer.json",
            "Dart" => name == "pubspec.yaml",
            "C#" | "F#" => extension(name).is_some_and(|end| end.ends_with("proj")),
            _ => false,
        }
    };
    let manifests: BTreeMap<_, _> =
        analysis.dependencies.by_manifest.iter().filter(|(path, _)| is_manifest(path)).collect();
    let packages: BTreeSet<&String> = manifests.values().copied().flatten().collect();
    facts.names("Manifests", manifests.keys().take(DIRECTORIES).map(|path| (*path).clone()));
    facts.names("Packages", packages.into_iter().take(PACKAGES).cloned());
    let checks = analysis.scan.files().iter().filter(|file| {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        CHECK_FILES.iter().any(|known| name.starts_with(known))
    });
    facts.names("Settings of checks", checks.take(DIRECTORIES).map(|file| file.path.clone()));
    facts.commands(&analysis.commands);
}

/// Returns the directories that contain at least `least` of the files, sorted.
fn directories<'a>(files: impl Iterator<Item = &'a str>, least: usize) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        if let Some((directory, _)) = file.rsplit_once('/') {
            *counts.entry(directory).or_default() += 1;
        }
    }
    let named = counts.into_iter().filter(|(_, count)| *count >= least);
    named.take(DIRECTORIES).map(|(directory, _)| directory.to_owned()).collect()
}

/// Describes the files with most definitions, and names others.
fn files(facts: &mut AgentFacts, paths: &[String], analysis: &ProjectAnalysis) {
    let mut known: Vec<&ScannedFile> = paths.iter().filter_map(|path| analysis.scan.file(path)).collect();
    known.sort_by(|one, other| {
        let sizes = other.outline.definitions.len().cmp(&one.outline.definitions.len());
        sizes.then_with(|| one.path.cmp(&other.path))
    });
    let (described, named) = known.split_at(known.len().min(DESCRIBED_FILES));
    let mut described = described.to_vec();
    described.sort_by(|one, other| one.path.cmp(&other.path));
    if described.is_empty() {
        facts.line("Files: none found");
        return;
    }
    facts.line("Files:");
    for file in described {
        let mut line = format!("- `{}`", file.path);
        facts.names.insert(file.path.clone());
        if !file.outline.summary.is_empty() {
            let _ = write!(line, " ({})", file.outline.summary.replace('`', "'"));
        }
        let names: Vec<String> = file.outline.definitions.iter().take(DEFINITIONS).cloned().collect();
        if !names.is_empty() {
            let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let _ = write!(line, " defines {}", quoted.join(", "));
        }
        facts.names.extend(names);
        facts.line(&line);
    }
    let mut named: Vec<String> = named.iter().map(|file| file.path.clone()).collect();
    named.sort();
    named.truncate(NAMED_FILES);
    facts.names("Further files", named);
}

/// Returns the words by which a plan shows that it is about a domain.
pub fn domain_words(domain: &str) -> &'static [&'static str] {
    DOMAINS.iter().find(|known| known.name == domain).map_or(&[], |known| known.words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::{SAMPLE, analysis, with};

    fn facts(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let fixture = analysis(files);
        let agents = &fixture.analysis.agents.final_agents;
        agents.iter().map(|agent| (agent.agent.clone(), agent_facts(agent, &fixture.analysis).text)).collect()
    }

    #[test]
    fn facts_are_those_of_the_agent() {
        let facts = facts(&SAMPLE);
        let store = &facts["data-persistence"];
        assert!(
            store.contains("- `shop/store/orders.py` (Stores orders) defines `OrderStore`, `open_store`"),
            "{store}"
        );
        assert!(store.contains("Packages: `sqlalchemy`"), "{store}");
        assert!(
            facts["test-strategist"].contains("Commands: `python3 -m pytest`"),
            "{}",
            facts["test-strategist"]
        );
        assert!(
            facts["python-expert"].contains("Settings of checks: `pyproject.toml`, `ruff.toml`"),
            "{}",
            facts["python-expert"]
        );
        assert!(
            facts["security-privacy"].contains("- `shop/auth/tokens.py`"),
            "{}",
            facts["security-privacy"]
        );
    }

    #[test]
    fn change_of_one_domain_changes_the_facts_of_one_agent() {
        let before = facts(&SAMPLE);
        let changed = |name: &str, text: &str| {
            let after = facts(&with(&SAMPLE, name, text));
            let differing = |(name, text): &(&String, &String)| before.get(*name) != Some(*text);
            after.iter().filter(differing).map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(changed("shop/store/orders.py", "class Refund: ...\n"), ["data-persistence"]);
        assert_eq!(changed("shop/store/refunds.py", "class Refund: ...\n"), ["data-persistence"]);
        assert_eq!(changed("web/pages/Cart.tsx", "export function Cart() {}\n"), ["web-frontend"]);
        assert_eq!(changed("tests/test_refunds.py", "def test_x(): ...\n"), ["test-strategist"]);
        // Bodies are no facts.
        let text = format!("{}    # more\n", SAMPLE[3].1);
        assert!(changed(SAMPLE[3].0, &text).is_empty());
    }
}
