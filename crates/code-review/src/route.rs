//! Decides by counting how a change is reviewed: `route.json`.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use loopgate_api::critic_gates::CriticGates;
use serde::{Deserialize, Serialize};

use crate::diff_data::DiffData;

/// Largest number of changed lines of a small and of a medium change.
const SMALL: u64 = 500;
const MEDIUM: u64 = 2000;
/// Largest number of changed lines that one reviewer reviews in all respects.
const FAST_PATH: u64 = 200;
/// A file with more changed lines has a higher risk.
const MANY_LINES: u64 = 50;
const MAX_HIGH_RISK_FILES: usize = 5;
/// Largest number of domain critics.
const MAX_CRITICS: usize = 1;
/// Reviewers that run at the same time, and those of them that review the whole change.
const MAX_AGENTS: u64 = 9;
const WHOLE_CHANGE_AGENTS: u64 = 3;
const LARGE_MODEL: &str = "opus";
const SMALL_MODEL: &str = "sonnet";

/// How a change is reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRoute {
    /// Size of the change.
    pub size_category: SizeCategory,
    /// Number of changed lines.
    pub total_loc: u64,
    /// Whether one reviewer reviews the change in all respects.
    pub fast_path: bool,
    /// Models of the reviewers.
    pub models: ReviewModels,
    /// Files with the highest risk, at most 5.
    pub high_risk_files: Vec<String>,
    /// Critics of the changed modules, at most 1.
    pub domain_critics: Vec<String>,
    /// Largest number of reviewers that share the change.
    pub max_bha_agents: u64,
}

/// Size of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SizeCategory {
    /// At most 500 changed lines.
    Small,
    /// At most 2,000 changed lines.
    Medium,
    /// More changed lines.
    Large,
}

/// Models of the reviewers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewModels {
    /// Reviewers that share the change.
    pub bug_hunter_a: SharedReviewModels,
    /// Reviewer of relations between files.
    pub bug_hunter_b: String,
    /// Reviewer of the project's rules.
    pub unified_auditor: String,
    /// Reviewer of the need for the change.
    pub premise_reviewer: String,
    /// Reviewer of a small change in all respects.
    pub fast_path_reviewer: String,
}

/// Models of the reviewers that share the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedReviewModels {
    /// Model in general.
    pub default: String,
    /// Model for parts that contain only tests.
    pub test_only: String,
}

/// Purpose of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewIntent {
    /// New behavior.
    Feature,
    /// Correction of a defect.
    Fix,
    /// Other structure, same behavior.
    Refactor,
    /// Several of them, or unknown.
    #[default]
    Mixed,
}

/// Decides how a change is reviewed.
#[must_use]
pub fn route(data: &DiffData, gates: &CriticGates, intent: ReviewIntent) -> ReviewRoute {
    let total_loc = data.total_loc;
    let size_category = match total_loc {
        lines if lines <= SMALL => SizeCategory::Small,
        lines if lines <= MEDIUM => SizeCategory::Medium,
        _ => SizeCategory::Large,
    };
    let domain_critics = domain_critics(data, gates);
    let premise_model = if intent == ReviewIntent::Feature { SMALL_MODEL } else { LARGE_MODEL };
    ReviewRoute {
        size_category,
        total_loc,
        fast_path: total_loc <= FAST_PATH,
        models: ReviewModels {
            bug_hunter_a: SharedReviewModels {
                default: LARGE_MODEL.to_owned(),
                test_only: SMALL_MODEL.to_owned(),
            },
            bug_hunter_b: SMALL_MODEL.to_owned(),
            unified_auditor: SMALL_MODEL.to_owned(),
            premise_reviewer: premise_model.to_owned(),
            fast_path_reviewer: SMALL_MODEL.to_owned(),
        },
        high_risk_files: high_risk_files(data, gates),
        max_bha_agents: MAX_AGENTS - WHOLE_CHANGE_AGENTS - domain_critics.len() as u64,
        domain_critics,
    }
}

/// Returns whether a path contains one of the patterns. An empty pattern would match every path.
fn matches(patterns: &[String], path: &str) -> bool {
    patterns.iter().any(|pattern| !pattern.is_empty() && path.contains(pattern.as_str()))
}

/// Returns the files with a risk, the highest first.
fn high_risk_files(data: &DiffData, gates: &CriticGates) -> Vec<String> {
    let risk = |path: &str| {
        let modules = gates.module_critics.iter().filter(|module| matches(&module.patterns, path)).count();
        2 * modules + usize::from(data.line_count(path) > MANY_LINES)
    };
    let mut files: Vec<(Reverse<usize>, &String)> =
        data.files_to_review.iter().map(|path| (Reverse(risk(path)), path)).collect();
    files.retain(|(risk, _)| risk.0 > 0);
    files.sort_unstable();
    files.into_iter().take(MAX_HIGH_RISK_FILES).map(|(_, path)| path.clone()).collect()
}

fn domain_critics(data: &DiffData, gates: &CriticGates) -> Vec<String> {
    let is_changed = |patterns: &[String]| data.files_to_review.iter().any(|path| matches(patterns, path));
    let modules = gates.module_critics.iter().filter(|module| is_changed(&module.patterns));
    let critics: BTreeSet<&String> = modules.flat_map(|module| &module.critics).collect();
    critics.into_iter().take(gates.review_budget().min(MAX_CRITICS)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::diff_data::ChangedLineCount;

    fn data(files: &[(&str, u64)]) -> DiffData {
        let count = |added| ChangedLineCount { added, removed: 0 };
        DiffData {
            files_to_review: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            file_loc: files.iter().map(|(path, lines)| ((*path).to_owned(), count(*lines))).collect(),
            total_loc: files.iter().map(|(_, lines)| lines).sum(),
            ..DiffData::default()
        }
    }

    fn gates(value: serde_json::Value) -> CriticGates {
        serde_json::from_value(value).unwrap()
    }

    // PR-11
    #[test]
    fn change_of_200_lines_takes_the_fast_path() {
        let of = |lines| route(&data(&[("a.rs", lines)]), &CriticGates::default(), ReviewIntent::Mixed);
        assert!(of(200).fast_path);
        assert!(!of(201).fast_path);
        let sizes = [0, 500, 501, 2000, 2001].map(|lines| of(lines).size_category);
        assert_eq!(
            sizes,
            [
                SizeCategory::Small,
                SizeCategory::Small,
                SizeCategory::Medium,
                SizeCategory::Medium,
                SizeCategory::Large
            ]
        );
    }

    #[test]
    fn route_has_the_documented_members() {
        let gates = gates(json!({"defaults": {"reviewBudget": 8}, "moduleCritics": [
            {"patterns": ["auth", "login"], "critics": ["security-privacy", "auth-critic"]},
            {"patterns": ["src/"], "critics": ["zebra"]},
            {"patterns": [""], "critics": ["aardvark"]}]}));
        let files = [
            ("src/auth/a.rs", 5),
            ("src/b.rs", 60),
            ("src/a.rs", 60),
            ("doc.md", 51),
            ("x", 1),
            ("src/z.rs", 1),
            ("src/y.rs", 1),
        ];
        let routed = route(&data(&files), &gates, ReviewIntent::Feature);
        assert_eq!(
            serde_json::to_value(&routed).unwrap(),
            json!({"size_category": "Small", "total_loc": 179, "fast_path": true,
                "models": {"bug_hunter_a": {"default": "opus", "test_only": "sonnet"}, "bug_hunter_b": "sonnet",
                    "unified_auditor": "sonnet", "premise_reviewer": "sonnet", "fast_path_reviewer": "sonnet"},
                "high_risk_files": ["src/auth/a.rs", "src/a.rs", "src/b.rs", "src/y.rs", "src/z.rs"],
                "domain_critics": ["auth-critic"], "max_bha_agents": 5})
        );
        for intent in [ReviewIntent::Fix, ReviewIntent::Refactor, ReviewIntent::Mixed] {
            assert_eq!(route(&data(&files), &gates, intent).models.premise_reviewer, "opus");
        }
        let plain = route(&data(&files), &CriticGates::default(), ReviewIntent::Fix);
        assert_eq!(
            (plain.high_risk_files.len(), plain.domain_critics.len(), plain.max_bha_agents),
            (3, 0, 6)
        );
    }

    #[test]
    fn budget_without_critics_selects_none() {
        let gates = gates(
            json!({"defaults": {"reviewBudget": 0}, "moduleCritics": [{"patterns": ["a"], "critics": ["b"]}]}),
        );
        assert_eq!(route(&data(&[("a", 1)]), &gates, ReviewIntent::Fix).domain_critics, [""; 0]);
    }

    proptest! {
        #[test]
        fn risk_decides_before_the_path(
            files in proptest::collection::btree_map("[ab]{1,3}", 0..120_u64, 0..12),
            patterns in proptest::collection::vec("[ab]{1,2}", 0..4),
        ) {
            let modules: Vec<_> = patterns.iter().map(|pattern| json!({"patterns": [pattern], "critics": [pattern]})).collect();
            let gates = gates(json!({"moduleCritics": modules}));
            let list: Vec<(&str, u64)> = files.iter().map(|(path, lines)| (path.as_str(), *lines)).collect();
            let routed = route(&data(&list), &gates, ReviewIntent::Mixed);
            let score = |path: &str| 2 * patterns.iter().filter(|pattern| path.contains(*pattern)).count() + usize::from(files[path] > 50);
            let selected = &routed.high_risk_files;
            prop_assert!(selected.len() <= 5 && routed.domain_critics.len() <= 1);
            prop_assert!(selected.windows(2).all(|pair| (Reverse(score(&pair[0])), &pair[0]) < (Reverse(score(&pair[1])), &pair[1])));
            let last = selected.last().map_or(0, |path| score(path));
            for path in files.keys().filter(|path| !selected.contains(path)) {
                prop_assert!(score(path) == 0 || selected.len() == 5 && score(path) <= last);
            }
            prop_assert_eq!(routed.max_bha_agents, 6 - routed.domain_critics.len() as u64);
        }
    }
}
