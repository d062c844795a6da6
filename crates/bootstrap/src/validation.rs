//! Validation of a roster before agents are written, and the results of the checks of written agents.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::gates::{critic_gates, gates_faults};
use crate::roster::{DecomposedRoster, REQUIRED, UNIVERSAL};

/// Numbers of agents that cause a warning.
const FEW: usize = 5;
const MANY: usize = 25;
/// Longest name of an agent.
const MAX_NAME: usize = 64;

/// Content of `generation-validation.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GenerationValidation {
    /// Time of the run.
    pub timestamp: String,
    /// Whether agents may be written.
    pub valid: bool,
    /// Number of agents.
    pub agent_count: usize,
    /// Checks by name.
    pub checks: BTreeMap<&'static str, RosterCheck>,
    /// Remarks.
    pub warnings: Vec<String>,
    /// Faults with which no agent is written.
    pub errors: Vec<String>,
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RosterCheck {
    passed: bool,
    issues: Vec<String>,
}

/// Content of `agent-validation.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AgentValidation {
    /// Time of the run.
    pub timestamp: String,
    /// Number of checked agents.
    pub agents_validated: usize,
    /// Agents without errors and warnings.
    pub agents_passed: usize,
    /// Agents with warnings.
    pub agents_with_warnings: usize,
    /// Agents with errors.
    pub agents_failed: usize,
    /// Results by agent.
    pub results: Vec<AgentFileResult>,
}

/// Result of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentFileResult {
    /// Name.
    pub agent: String,
    /// Path of its file; empty if it was not written.
    pub file: String,
    /// Whether it has no errors.
    pub valid: bool,
    /// Remarks.
    pub warnings: Vec<String>,
    /// Faults.
    pub errors: Vec<String>,
}

impl AgentValidation {
    /// Counts results.
    #[must_use]
    pub fn new(timestamp: String, results: Vec<AgentFileResult>) -> Self {
        let count = |is: fn(&AgentFileResult) -> bool| results.iter().filter(|result| is(result)).count();
        Self {
            timestamp,
            agents_validated: results.len(),
            agents_passed: count(|result| result.valid && result.warnings.is_empty()),
            agents_with_warnings: count(|result| result.valid && !result.warnings.is_empty()),
            agents_failed: count(|result| !result.valid),
            results,
        }
    }
}

/// Validates a roster.
#[must_use]
pub fn validate_generation(roster: &DecomposedRoster, timestamp: String) -> GenerationValidation {
    let agents = &roster.final_agents;
    let names: Vec<&str> = agents.iter().map(|agent| agent.agent.as_str()).collect();
    let mut checks = BTreeMap::new();
    let mut add = |name, issues: Vec<String>| {
        checks.insert(name, RosterCheck { passed: issues.is_empty(), issues });
    };
    let is_kebab = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let is_name = |name: &str| !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_kebab);
    let invalid =
        names.iter().filter(|name| !is_name(name)).map(|name| format!("{name:?} is no name of an agent"));
    add("schema", invalid.collect());
    let missing = REQUIRED.iter().filter(|name| !names.contains(name));
    add("required_agents", missing.map(|name| format!("{name} is missing")).collect());
    let universal = UNIVERSAL.iter().filter(|name| names.contains(name));
    add(
        "universal_agents",
        universal.map(|name| format!("{name} is not written for a repository")).collect(),
    );
    add("unique_names", repeated(names.iter().map(|name| (*name).to_owned())));
    let reviews =
        agents.iter().flat_map(|agent| &agent.produces).filter(|path| path.ends_with(".review.json"));
    add("unique_reviews", repeated(reviews.cloned()));
    let outside = |path: &&String| path.starts_with('/') || path.split('/').any(|part| part == "..");
    let produced = agents.iter().flat_map(|agent| &agent.produces).filter(outside);
    add("paths", produced.map(|path| format!("{path} is outside of the work directory")).collect());
    let circular =
        agents.iter().filter(|agent| agent.requires.iter().any(|path| agent.produces.contains(path)));
    add("dependencies", circular.map(|agent| format!("{} requires its own output", agent.agent)).collect());
    add("critic_gates", gates_faults(&critic_gates(roster), roster));
    let mut warnings = Vec::new();
    if names.len() < FEW {
        warnings.push(format!("{} agents are few", names.len()));
    }
    if names.len() > MANY {
        warnings.push(format!("{} agents are many; each may be paid for with a plan", names.len()));
    }
    if roster.language_experts.is_empty() {
        warnings.push("there is no agent for a language".to_owned());
    }
    if agents.len() == REQUIRED.len() + roster.language_experts.len() {
        warnings.push("there is no agent for a domain".to_owned());
    }
    let errors: Vec<String> = checks.values().flat_map(|check| check.issues.clone()).collect();
    GenerationValidation {
        timestamp,
        valid: errors.is_empty(),
        agent_count: names.len(),
        checks,
        warnings,
        errors,
    }
}

fn repeated(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts
        .into_iter()
        .filter(|(_, count)| *count > 1)
        .map(|(name, _)| format!("{name} occurs twice"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::{SAMPLE, analysis};
    use crate::roster::FinalAgent;

    fn errors(change: impl FnOnce(&mut Vec<FinalAgent>)) -> String {
        let mut roster = analysis(&SAMPLE).analysis.agents;
        change(&mut roster.final_agents);
        validate_generation(&roster, String::new()).errors.join("; ")
    }

    #[test]
    fn roster_of_the_sample_is_valid() {
        let roster = analysis(&SAMPLE).analysis.agents;
        let validation = validate_generation(&roster, String::new());
        assert!(validation.valid && validation.warnings.is_empty(), "{validation:?}");
        assert_eq!((validation.agent_count, validation.checks.len()), (7, 8));
    }

    #[test]
    fn faults_of_a_roster_are_found() {
        assert!(
            errors(|agents| agents[2].agent = "Python Expert".to_owned()).contains("is no name of an agent")
        );
        assert!(errors(|agents| drop(agents.remove(0))).contains("test-strategist is missing"));
        assert!(
            errors(|agents| agents[4].agent = "plan-writer".to_owned())
                .contains("not written for a repository")
        );
        assert!(errors(|agents| agents.push(agents[4].clone())).contains("occurs twice"));
        assert!(
            errors(|agents| agents[4].produces = agents[5].produces.clone())
                .contains("review.json occurs twice")
        );
        assert!(errors(|agents| agents[4].produces = vec!["../x".to_owned()]).contains("outside"));
        assert!(
            errors(|agents| agents[4].requires = agents[4].produces.clone()).contains("requires its own")
        );
        let none = analysis(&[("README.md", "# Text")]).analysis.agents;
        assert_eq!(validate_generation(&none, String::new()).warnings.len(), 3);
    }
}
