//! The goal of a loop: which categories of learnings come first, and whether the loop reached it.
//!
//! `goal.yaml` comes from a working tree. Only plain keys and values are read, and no command in it is run.

use std::collections::BTreeMap;
use std::path::Path;

use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};

use crate::pending::LEARNINGS_DIR;

const GOAL: &str = "goal.yaml";
const REDUCE_FAILURES: &str = "reduce-failures";
/// Iterations within which a loop reaches the default goal.
const DEFAULT_TARGET: f64 = 3.0;
/// Score of what is not measured.
const UNKNOWN_SCORE: f64 = 0.5;

/// Content of a new `goal.yaml`.
pub(crate) const DEFAULT_GOALS: &str = "active_goal: reduce-failures\ngoals:\n  reduce-failures:\n    \
    description: Finish in few iterations\n    pattern_priority: [mistake, convention, pattern, insight]\n    \
    success_criteria:\n      type: threshold\n      metric: iterations\n      target: 3\n      direction: below\n    \
    metrics: [iterations]\n  minimize-tokens:\n    description: Use few tokens\n    \
    pattern_priority: [pattern, convention, mistake, insight]\n    success_criteria:\n      type: threshold\n      \
    metric: tokens\n      target: 50000\n      direction: below\n    metrics: [tokens]\n";

/// Goal of a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// Name of the goal.
    pub name: String,
    /// Categories of learnings in their order; empty for the default order.
    pub priority: Vec<String>,
    target: f64,
    /// Why the default goal applies instead of the configured one.
    pub warning: Option<String>,
}

/// Result of a loop with regard to its goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoalOutcome {
    /// Name of the goal.
    pub goal: String,
    /// Id of the driver's run.
    pub run_id: String,
    /// Whether the goal is reached.
    pub success: bool,
    /// 0 to 1, with two decimals.
    pub score: f64,
    /// Measured values.
    pub metrics: BTreeMap<String, f64>,
    /// What was compared, for the reader.
    pub details: String,
    /// Time of the evaluation in UTC.
    pub evaluated_at: String,
}

impl Goal {
    /// Reads the goal of a work directory. Any fault leads to the default goal, with a warning; a missing file to the
    /// default goal without one. Performs blocking I/O.
    #[must_use]
    pub fn load(work_dir: &Path) -> Self {
        let text = match untrusted::read_text(&work_dir.join(LEARNINGS_DIR).join(GOAL)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Self::default(),
            Err(error) => return Self { warning: Some(format!("{GOAL}: {error}")), ..Self::default() },
        };
        Self::parse(&text).unwrap_or_else(|fault| Self {
            warning: Some(format!("{GOAL} is not used: {fault}")),
            ..Self::default()
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let values = plain_yaml(text)?;
        let name = values.get("active_goal").ok_or("active_goal is missing")?;
        let member = |key: &str| values.get(&format!("goals.{name}.{key}"));
        member("description").ok_or_else(|| format!("there is no goal {name} with a description"))?;
        let priority = member("pattern_priority").map(|text| list(text)).unwrap_or_default();
        let target = match member("success_criteria.target") {
            Some(text) => text.parse().ok().filter(|target: &f64| target.is_finite() && *target > 0.0),
            None => Some(DEFAULT_TARGET),
        };
        let target = target.ok_or("the target is not a positive number")?;
        Ok(Self { name: name.clone(), priority, target, warning: None })
    }
}

impl Default for Goal {
    fn default() -> Self {
        Self { name: REDUCE_FAILURES.to_owned(), priority: Vec::new(), target: DEFAULT_TARGET, warning: None }
    }
}

/// Evaluates a goal. Goals other than few iterations and few tokens are not measured: their commands would come from the
/// working tree.
#[must_use]
pub fn evaluate(
    goal: &Goal,
    run_id: &str,
    iterations: u64,
    tokens: Option<u64>,
    evaluated_at: String,
) -> GoalOutcome {
    let below = |value: f64| (value <= goal.target, (1.0 - value / (2.0 * goal.target)).clamp(0.0, 1.0));
    let mut metrics = BTreeMap::from([("iterations".to_owned(), iterations as f64)]);
    let (success, score, details) = match (goal.name.as_str(), tokens) {
        (REDUCE_FAILURES, _) => {
            let (success, score) = below(iterations as f64);
            (success, score, format!("{iterations} iterations, target {}", goal.target))
        }
        ("minimize-tokens", Some(tokens)) => {
            metrics.insert("tokens".to_owned(), tokens as f64);
            let (success, score) = below(tokens as f64);
            (success, score, format!("{tokens} tokens, target {}", goal.target))
        }
        _ => (false, UNKNOWN_SCORE, "not measured".to_owned()),
    };
    let score = (score * 100.0).round() / 100.0;
    GoalOutcome {
        goal: goal.name.clone(),
        run_id: run_id.to_owned(),
        success,
        score,
        metrics,
        details,
        evaluated_at,
    }
}

/// Reads the part of YAML that these files use: nested maps with plain values, and lists in brackets or with dashes.
/// Returns the values by path, such as `goals.name.key`; lists separated by commas.
///
/// # Errors
/// Returns the first line that is something else.
pub(crate) fn plain_yaml(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let fault = || format!("the line {content:?} is not understood");
        let indent = line.len() - line.trim_start_matches(' ').len();
        if let Some(item) = content.strip_prefix("- ") {
            let keys: Vec<&str> = path.iter().map(|(_, key)| key.as_str()).collect();
            let list = values.entry(keys.join(".")).or_default();
            if !list.is_empty() {
                list.push(',');
            }
            list.push_str(plain(item));
            continue;
        }
        let (key, value) = content.split_once(':').ok_or_else(fault)?;
        if key.is_empty() || !key.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter)) {
            return Err(fault());
        }
        path.retain(|(depth, _)| *depth < indent);
        path.push((indent, key.to_owned()));
        let value = value.trim();
        if value.starts_with(['{', '&', '*', '!', '|', '>']) {
            return Err(fault());
        }
        if !value.is_empty() {
            let keys: Vec<&str> = path.iter().map(|(_, key)| key.as_str()).collect();
            values.insert(keys.join("."), plain(value).to_owned());
        }
    }
    Ok(values)
}

fn plain(value: &str) -> &str {
    let value = value.split(" #").next().unwrap_or_default().trim();
    let value = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(value);
    value.trim().trim_matches(['"', '\''])
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(|item| plain(item).to_owned()).filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // PR-35
    #[test]
    fn broken_goal_file_leads_to_the_default_goal() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(LEARNINGS_DIR)).unwrap();
        assert_eq!(Goal::load(dir.path()), Goal::default());
        for broken in ["goals: {", "active_goal: other\ngoals:\n", "]", "active_goal: &a x", ""] {
            std::fs::write(dir.path().join(LEARNINGS_DIR).join(GOAL), broken).unwrap();
            let goal = Goal::load(dir.path());
            assert!(goal.warning.is_some(), "{broken}");
            assert_eq!((goal.name.as_str(), goal.target), (REDUCE_FAILURES, 3.0));
        }
        let outcome = evaluate(&Goal::default(), "r", 2, None, String::new());
        assert_eq!((outcome.success, outcome.score), (true, 0.67));
        assert!(!evaluate(&Goal::default(), "r", 4, None, String::new()).success);
        assert_eq!(evaluate(&Goal::default(), "r", 9, None, String::new()).score, 0.0);
    }

    #[test]
    fn goal_file_is_read() {
        let goal = Goal::parse(DEFAULT_GOALS).unwrap();
        assert_eq!((goal.name.as_str(), goal.target), (REDUCE_FAILURES, 3.0));
        assert_eq!(goal.priority, ["mistake", "convention", "pattern", "insight"]);
        let other =
            DEFAULT_GOALS.replacen("active_goal: reduce-failures", "active_goal: 'minimize-tokens'", 1);
        let goal = Goal::parse(&other).unwrap();
        assert_eq!((goal.name.as_str(), goal.target), ("minimize-tokens", 50_000.0));
        assert_eq!(evaluate(&goal, "r", 1, Some(25_000), String::new()).score, 0.75);
        assert_eq!(evaluate(&goal, "r", 1, None, String::new()).score, UNKNOWN_SCORE);
        let dashes = "active_goal: a\ngoals:\n  a:\n    description: x\n    pattern_priority:\n      - insight\n      - mistake\n";
        assert_eq!(Goal::parse(dashes).unwrap().priority, ["insight", "mistake"]);
        let commands =
            dashes.replace("description: x", "description: x\n    test_command: rm -rf /\n    type: binary");
        let goal = Goal::parse(&commands).unwrap();
        assert_eq!(evaluate(&goal, "r", 1, None, String::new()).details, "not measured");
    }
}
