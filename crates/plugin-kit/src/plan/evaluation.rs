//! Decides whether a plan is small enough to skip the critics, and which critics review a larger one.
//!
//! Both are determined by counting, without a model. The result is cached with a hash of its inputs and
//! recomputed when they change.

use std::path::{Path, PathBuf};

use loopgate_api::critic_gates::CriticGates;
use loopgate_api::names::{PLAN_JSON, STATE_DIR};
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::document::{self, PlanLock, tasks};
use super::paths::plan_path;
use crate::config_env::ConfigEnv;
use crate::variables as var;

/// File name of the cached result in the work directory.
const EVALUATION: &str = "plan-evaluation.json";
/// Upper bounds of a small plan: words of the requirements, criteria, pending tasks and open questions.
const SMALL_PLAN_LIMITS: [(&str, usize); 4] = [
    ("prd_word_count", 400),
    ("acceptance_criteria_count", 4),
    ("task_count", 6),
    ("open_questions_count", 3),
];
/// Prefixes of words that indicate risky changes. A plan that contains one is not small.
const FORBIDDEN_TERMS: [&str; 7] =
    ["database", "migration", "infra", "auth", "security", "payments", "concurrency"];
/// Terms that indicate a change of more than one component.
const CROSS_REPO_KEYWORDS: [&str; 5] = ["backend", "frontend", "mobile", "api contract", "shared library"];
/// Content of the cached result.
#[derive(Debug, Serialize, Deserialize)]
struct Evaluation {
    simple_mode: bool,
    signals: Map<String, Value>,
    selected_critics: Vec<String>,
    evaluation_summary: String,
    /// Hash of plan, requirements and critic gates.
    input_hash: String,
}

impl Evaluation {
    fn lines(&self) -> String {
        format!(
            "simple_mode: {}\nselected_critics: {}\nsummary: {}",
            self.simple_mode,
            json!(self.selected_critics),
            self.evaluation_summary
        )
    }
}

/// Evaluates the plan of a work directory and caches the result. The returned text starts with
/// `EVALUATION_RESULT`.
///
/// # Errors
/// Returns the line to print.
pub fn evaluate(workdir: &Path) -> Result<String, String> {
    let _lock = PlanLock::take(workdir)?;
    let plan = document::read(&plan_path(workdir))?;
    let config = ConfigEnv::load(workdir).unwrap_or_default();
    let prd = config.get(var::PRD_FILE).map(PathBuf::from).unwrap_or_else(|| workdir.join("prd.md"));
    let evaluation = Evaluation {
        input_hash: input_hash(workdir)?,
        ..judge(&plan, untrusted::read_text(&prd).ok().as_deref(), &config, &gates(workdir))
    };
    // Stored also when the plan is not small: the critics are read from the cached result.
    let text = serde_json::to_string_pretty(&evaluation).map_err(|error| format!("Error: {error}"))?;
    untrusted::write(&workdir.join(EVALUATION), text.as_bytes())
        .map_err(|error| format!("Error: cannot write the evaluation: {error}"))?;
    Ok(format!("EVALUATION_RESULT\n{}", evaluation.lines()))
}

/// Returns the cached result if its inputs are unchanged.
///
/// # Errors
/// Returns the reason of the cache miss.
pub fn cached(workdir: &Path) -> Result<String, &'static str> {
    let path = workdir.join(EVALUATION);
    if untrusted::kind(&path).is_none() {
        return Err("there is no plan-evaluation.json");
    }
    let evaluation: Evaluation =
        untrusted::read_json(&path).ok_or("plan-evaluation.json is malformed or has no input_hash")?;
    let hash = input_hash(workdir).map_err(|_| "there is no plan.json")?;
    if evaluation.input_hash == hash {
        Ok(evaluation.lines())
    } else {
        Err("plan, requirements or critic gates have changed")
    }
}

fn judge(
    plan: &Map<String, Value>,
    prd: Option<&str>,
    config: &ConfigEnv,
    gates: &CriticGates,
) -> Evaluation {
    let content = plan.get("content").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let counts = [
        // Unreadable requirements count as long, so that they never make a plan small.
        prd.map_or(usize::MAX, |text| text.split_whitespace().count()),
        tasks(plan, "acceptanceCriteria").len(),
        tasks(plan, "pendingTasks").len(),
        tasks(plan, "openQuestions").len(),
    ];
    let mut signals = Map::new();
    let mut failed = Vec::new();
    let mut signal = |name: &str, value: Value, threshold: Value, pass: bool| {
        signals.insert(name.to_owned(), json!({"value": value, "threshold": threshold, "pass": pass}));
        if !pass {
            failed.push(name.to_owned());
        }
    };
    for ((name, limit), count) in SMALL_PLAN_LIMITS.into_iter().zip(counts) {
        let value = if count == usize::MAX { Value::Null } else { count.into() };
        signal(name, value, limit.into(), count <= limit);
    }
    for (name, terms) in
        [("forbidden_terms", &FORBIDDEN_TERMS[..]), ("cross_repo_keywords", &CROSS_REPO_KEYWORDS)]
    {
        let matches: Vec<&str> = terms.iter().copied().filter(|term| has_word(&content, term)).collect();
        signal(name, json!(matches), json!([]), matches.is_empty());
    }
    let peers = config.get(var::ADD_DIRS).map_or(0, |dirs| dirs.split('|').count());
    signal("add_dir_repos", peers.into(), 0.into(), peers == 0);
    let simple_mode = failed.is_empty();
    let selected_critics = if simple_mode { Vec::new() } else { critics(&content, gates) };
    let evaluation_summary = if simple_mode {
        "small: every signal passes".to_owned()
    } else {
        format!("not small: {}", failed.join(", "))
    };
    Evaluation { simple_mode, signals, selected_critics, evaluation_summary, input_hash: String::new() }
}

/// Returns whether a word of the text starts with `term`.
fn has_word(text: &str, term: &str) -> bool {
    text.match_indices(term).any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

fn critics(content: &str, gates: &CriticGates) -> Vec<String> {
    let of_modules = gates
        .module_critics
        .iter()
        .filter(|module| module.patterns.iter().any(|pattern| content.contains(&pattern.to_lowercase())))
        .flat_map(|module| &module.critics);
    let mut selected: Vec<String> = Vec::new();
    for critic in gates.defaults.base_critics.iter().chain(of_modules) {
        if !selected.contains(critic) {
            selected.push(critic.clone());
        }
    }
    // Base critics come first and therefore survive the truncation.
    selected.truncate(gates.review_budget());
    selected
}

fn gates(workdir: &Path) -> CriticGates {
    gates_file(workdir).and_then(|path| untrusted::read_json(&path)).unwrap_or_default()
}

/// Finds `critic-gates.json` in the project, which is the current directory, or next to the work directory.
pub fn gates_file(workdir: &Path) -> Option<PathBuf> {
    let project = std::env::current_dir().ok().map(|root| root.join(STATE_DIR));
    let dirs = project.into_iter().chain(workdir.parent().map(Path::to_owned));
    dirs.map(|dir| dir.join("settings/critic-gates.json")).find(|path| untrusted::is_file(path))
}

fn input_hash(workdir: &Path) -> Result<String, String> {
    let config = ConfigEnv::load(workdir).unwrap_or_default();
    let prd = config.get(var::PRD_FILE).map(PathBuf::from).unwrap_or_else(|| workdir.join("prd.md"));
    let mut hash = Sha256::new();
    for (path, required) in
        [(Some(workdir.join(PLAN_JSON)), true), (Some(prd), false), (gates_file(workdir), false)]
    {
        match path.map(|path| untrusted::read_text(&path)) {
            // Marks a missing optional input, so that its later creation changes the hash.
            Some(Ok(text)) => hash.update(Sha256::digest(text.as_bytes())),
            Some(Err(error)) if required => return Err(format!("Error: cannot read the plan: {error}")),
            _ => hash.update([0]),
        }
    }
    Ok(hex::encode(hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::super::build::from_markdown;
    use super::super::structure::tests::CONTENT;
    use super::*;

    fn gates() -> CriticGates {
        serde_json::from_value(json!({
            "defaults": {"baseCritics": ["tests", "privacy"], "reviewBudget": 3},
            "moduleCritics": [{"patterns": ["Page"], "critics": ["privacy", "ui", "late"]}],
        }))
        .unwrap()
    }

    #[test]
    fn small_plan_has_no_critics() {
        let plan = from_markdown(CONTENT, Map::new());
        let evaluation = judge(&plan, Some("greet the user"), &ConfigEnv::default(), &gates());
        assert!(evaluation.simple_mode, "{}", evaluation.evaluation_summary);
        assert!(evaluation.selected_critics.is_empty());
    }

    #[test]
    fn plan_is_not_small_when_a_signal_fails() {
        let content = CONTENT.replace("A page.", "A page behind an authentication in the frontend.");
        let plan = from_markdown(&content, Map::new());
        let mut config = ConfigEnv::default();
        config.set(var::ADD_DIRS, "/a|/b");
        let evaluation = judge(&plan, None, &config, &gates());
        assert_eq!(
            evaluation.evaluation_summary,
            "not small: prd_word_count, forbidden_terms, cross_repo_keywords, add_dir_repos"
        );
        assert_eq!(evaluation.signals["forbidden_terms"]["value"], json!(["auth"]));
        assert_eq!(evaluation.selected_critics, ["tests", "privacy", "ui"], "each once, up to the budget");
        assert!(!has_word("the coauthor", "auth"));
    }

    #[test]
    fn cached_result_is_valid_until_an_input_changes() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(cached(dir.path()), Err("there is no plan-evaluation.json"));
        let plan = Value::Object(from_markdown(CONTENT, Map::new())).to_string();
        std::fs::write(plan_path(dir.path()), plan).unwrap();
        std::fs::write(dir.path().join("prd.md"), "greet").unwrap();
        assert!(
            evaluate(dir.path())
                .unwrap()
                .starts_with("EVALUATION_RESULT\nsimple_mode: true\nselected_critics: []\n")
        );
        assert!(cached(dir.path()).unwrap().starts_with("simple_mode: true\n"));
        std::fs::write(dir.path().join("prd.md"), "greet twice").unwrap();
        assert_eq!(cached(dir.path()), Err("plan, requirements or critic gates have changed"));
        std::fs::write(dir.path().join(EVALUATION), "{").unwrap();
        assert!(cached(dir.path()).unwrap_err().contains("malformed"));
    }
}
