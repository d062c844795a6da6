//! The plugin's texts, held against the programs and agents that they name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::Value;

use crate::support::Project;

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/code")
}

/// Every text of the plugin with its path.
fn texts(dir: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(texts(&path));
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            all.push((path, text));
        }
    }
    all
}

fn found(pattern: &str, text: &str) -> BTreeSet<String> {
    Regex::new(pattern).unwrap().captures_iter(text).map(|found| found[1].to_owned()).collect()
}

#[test]
fn every_agent_and_skill_that_is_named_is_there() {
    for (path, text) in texts(&plugin()) {
        for name in found(r"`code:([a-z-]+)`", &text) {
            let agent = plugin().join(format!("agents/{name}.md"));
            let skill = plugin().join(format!("skills/{name}/SKILL.md"));
            assert!(agent.is_file() || skill.is_file(), "{} names code:{name}", path.display());
        }
    }
}

#[test]
fn every_front_matter_names_its_file() {
    for (path, text) in texts(&plugin().join("agents")) {
        let name = found(r"(?m)^name: (.+)$", &text);
        assert_eq!(
            name.first().map(String::as_str),
            path.file_stem().unwrap().to_str(),
            "{}",
            path.display()
        );
        assert!(text.contains("\ndescription: ") && text.contains("\ntools: ") && text.contains("\nmodel: "));
    }
}

#[test]
fn every_program_that_is_named_exists() {
    let project = Project::new();
    let mut named = BTreeSet::new();
    for (_, text) in texts(&plugin()) {
        named.extend(found(r"loopgate ((?:loop|plan|hook|stream) [a-z]+(?:-[a-z]+)*)", &text));
    }
    assert!(named.len() >= 9, "{named:?}");
    for command in named {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let ended = project.loopgate(&words);
        // Set-up has no help: it takes unknown flags for what they are.
        assert!(!ended.stderr.contains("unrecognized subcommand"), "{command}: {}", ended.stderr);
    }
}

#[test]
fn the_template_of_a_plan_is_a_valid_plan() {
    let skill = std::fs::read_to_string(plugin().join("skills/plan-structure/SKILL.md")).unwrap();
    let template = skill.split("```").nth(1).unwrap();
    let project = Project::new();
    std::fs::write(project.workdir.join("plan.md"), template).unwrap();
    let work = project.workdir.display().to_string();
    let built = project.loopgate(&["plan", "build", &work]);
    assert_eq!(built.stdout, "PLAN_BUILT: VALID\n");
    let validated = project.loopgate(&["plan", "validate", &work]);
    let report: Value = serde_json::from_str(&validated.stdout).unwrap();
    assert_eq!(
        (&report["status"], report["pending_tasks"].as_array().unwrap().len()),
        (&Value::from("VALID"), 1)
    );
}

// PL-41
#[test]
fn the_assistants_name_stands_only_where_the_assistant_owns_it() {
    let owned = Regex::new(r"CLAUDE_PLUGIN_ROOT|CLAUDE\.md|\.claude\b|\.claude-plugin").unwrap();
    for (path, text) in texts(&plugin()) {
        let rest = owned.replace_all(&text, "").to_lowercase();
        assert!(!rest.contains("claude"), "{}", path.display());
        let name = path.strip_prefix(plugin()).unwrap().display().to_string();
        assert!(!name.replace(".claude-plugin", "").contains("claude"), "{name}");
    }
}

#[test]
fn hooks_never_end_with_a_refusal_of_their_own() {
    let hooks = std::fs::read_to_string(plugin().join("hooks/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&hooks).unwrap();
    for (event, groups) in hooks["hooks"].as_object().unwrap() {
        let command = groups[0]["hooks"][0]["command"].as_str().unwrap();
        assert!(command.ends_with("|| exit 0"), "{event}: {command}");
    }
}
